# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# After lib/model:  load lib/partition
# helpers for models of one operator, which runs on the NPU, or on the CPU with a reason
# shellcheck disable=SC2154 # t is of lib/model

# op NAME CODE TYPE SHAPE [JQ]: one operator whose input and output have the same type,
# shape and quantization
op()
{
	model "$1" ".operator_codes = [{deprecated_builtin_code:([$2,127]|min),builtin_code:$2,version:1}]
		| $t = [{shape:$4,type:$3,name:\"in\",quantization:{scale:[0.05],zero_point:[0]}},
			{shape:$4,type:$3,name:\"out\",quantization:{scale:[0.05],zero_point:[0]}}]
		| .subgraphs[0].inputs = [0] | .subgraphs[0].outputs = [1]
		| .subgraphs[0].operators = [{inputs:[0],outputs:[1]}]
		| .buffers = [{}]${5:+ | $5}"
}

# second TYPE SHAPE [BYTES]: adds an input, which is constant if BYTES are passed and
# computed otherwise
second()
{
	local more=".subgraphs[0].inputs += [($t|length)-1]" buffer=
	[ -z "${3-}" ] || more=".buffers += [{data:$3}]" buffer=",buffer:(.buffers|length)"
	echo "$t += [{shape:$2,type:$1,name:\"t\\($t|length)\",quantization:{scale:[0.05],zero_point:[0]}$buffer}]
		| .subgraphs[0].operators[0].inputs += [($t|length)-1] | $more"
}

# ints SHAPE VALUE...: adds a constant input of int32 values
ints()
{
	local v bytes=
	for v in "${@:2}"; do
		bytes+=,$((v & 255)),$((v >> 8 & 255)),$((v >> 16 & 255)),$((v >> 24 & 255))
	done
	second 2 "$1" "[${bytes#,}]"
}

# with TAG JSON: sets the operator's options
with()
{
	echo ".subgraphs[0].operators[0] += {builtin_options_type:$1,builtin_options:$2}"
}

npu_ops()
{
	tfl-partition "$1.tflite" | grep -c '^op '
}

# exact NAME: the NPU computes the same bytes as the plain model.  The test runs on the
# smallest and the largest accelerator and on two others in turn (NPUTOOLS_ALL: on all;
# NPUTOOLS_QUICK: on the smallest or the largest one in turn).
n_exact=0
exact()
{
	local a sys mode commands on=(ethos-u55-32 ethos-u55-64 ethos-u55-256 ethos-u65-512)
	[ $((n_exact++ % 2)) = 0 ] || on=(ethos-u55-32 ethos-u55-128 ethos-u65-256 ethos-u65-512)
	[ -z "${NPUTOOLS_QUICK-}" ] || on=("${on[n_exact % 2 * 3]}")
	[ -z "${NPUTOOLS_ALL-}" ] || on=(ethos-u55-{32,64,128,256} ethos-u65-{256,512})
	commands=("tfl-partition --fail-on-cpu -o $1.part $1.tflite")
	for a in "${on[@]}"; do
		sys=Ethos_U55_High_End_Embedded
		case $a in *u65*) sys=Ethos_U65_High_End ;; esac
		mode=Shared_Sram
		[ $a != ethos-u65-512 ] || mode=Dedicated_Sram
		commands+=("npu-sched -a $a --system-config $sys --memory-mode $mode -o $1.sched $1.part"
			"npu-wenc -o $1.wenc $1.sched" "npu-cmdgen -o $1.npu $1.wenc"
			"npu-sim --compare=$1.npu $1.tflite" "npu-dis -q --verify $1.npu")
	done
	in_process "${commands[@]}"
}

# stays NAME REASON: the operator runs on the CPU, and the report gives REASON
stays()
{
	tfl-partition --report "$1.tflite" >report
	cat report
	grep -qF "because: $2" report
}

# refused NAME RULE: the shapes of NAME contradict each other, and all programs report the
# contradiction with the same words
refused()
{
	local program
	for program in tfl-quantcheck tfl-partition tfl2c npu-sim npu-perf npu-dis; do
		refuses 2 "$program: $1.tflite: error: operator " "$program" "$1.tflite"
		grep -F -- "$2" refuses.err | grep -q '), tensor [0-9]* (.*): ' ||
			{ cat refuses.err; return 1; }
	done
}
