#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Variables that a model keeps by name, in the plain model and as tensors of the compiled
# one.

load lib/common
load lib/model
load lib/state

target=(-a ethos-u55-128 --system-config RTSS_HE_SRAM_MRAM --memory-mode Shared_Sram)

compile()
{
	tfl-partition "$@" m.tflite | npu-sched "${target[@]}" 2>/dev/null |
		npu-wenc | npu-cmdgen -o c.tflite
	[ "$(npu-dis --verify c.tflite | grep -c ', 0 errors, 0 warnings$')" = 1 ]
}

# byte_at OUTPUT FRAME INDEX: a byte of the stacked outputs of frames of 8 bytes
byte_at()
{
	tail -c +129 "$1" | od -An -v -tu1 -w8 | sed -n "$(($2 + 1))p" |
		awk -v i="$3" '{ print $(i + 1) }'
}

same()
{
	npu-sim --frames=7 --seed=3 --compare=m.tflite c.tflite
	npu-sim --frames=3 --reset --compare=m.tflite c.tflite
	tfl-partition --report --fail-on-cpu m.tflite | grep -q ', 0 on the CPU, 2 left out$'
}

@test "a plain model keeps its variables from frame to frame" {
	ring 9 5 1,2,3,4,5,6
	printf '\12\13\24\25\36\37' >in
	npu-sim --frames=3 -i in -o out m.tflite
	# first frame: the initial value, followed by the input
	for i in 0 1 2 3 4 5; do
		[ "$(byte_at out/output_0.npy 0 $i)" = $((i + 1)) ]
	done
	[ "$(byte_at out/output_0.npy 0 6)" = 10 ]
	# third frame: 5 6, then all three inputs
	[ "$(byte_at out/output_0.npy 2 0)" = 5 ]
	[ "$(byte_at out/output_0.npy 2 2)" = 10 ]
	[ "$(byte_at out/output_0.npy 2 7)" = 31 ]
	npu-sim --frames=3 --reset -i in -o anew m.tflite
	[ "$(byte_at anew/output_0.npy 2 0)" = 1 ]
}

@test "without CALL_ONCE a variable begins at the zero point" {
	ring 9 -7 1,2,3,4,5,6 'del(.subgraphs[1]) | del(.subgraphs[0].operators[0])'
	npu-sim -o out m.tflite
	[ "$(byte_at out/output_0.npy 0 0)" = 249 ]
	compile
	npu-sim --frames=5 --compare=m.tflite c.tflite
}

@test "variables become tensors: one operator, none on the CPU" {
	ring 9 -5 251,251,251,251,251,251
	compile
	same
	npu-sim --json c.tflite >/dev/null
	# the subgraph that initialised the variables is not needed any more
	npu-dis c.tflite >/dev/null
	flatc -t --strict-json --raw-binary "$TOP/tests/models/tflite.fbs" -- c.tflite
	jq -e '(.subgraphs | length) == 1 and (.subgraphs[0].operators | length) == 1 and
		([.subgraphs[0].tensors[] | select(.is_variable)] | length) == 1 and
		([.subgraphs[0].tensors[] | select(.is_variable)][0] | .name == "ring" and
			.quantization.zero_point == [-5])' c.json
}

@test "initial values that differ from the zero point may be any bytes of any type" {
	ring 9 -5 7,7,7,7,7,7	# INT8, one value that is not the zero point
	compile
	same
	ring 9 -5 1,2,3,4,5,200	# one for each element
	compile
	same
	ring 3 5 128,128,128,128,128,128
	compile
	same
	ring 3 5 0,1,2,253,254,255
	compile
	same
	ring 7 0 0,0,0,0,0,0,0,0,0,0,0,0
	compile
	same
	ring 7 0 0,1,2,3,255,255,0,128,255,127,1,0
	compile
	same
	for a in ethos-u55-32:Ethos_U55_High_End_Embedded ethos-u65-256:Ethos_U65_High_End; do
		tfl-partition m.tflite | npu-sched -a "${a%:*}" --system-config "${a#*:}" \
			--memory-mode Shared_Sram | npu-wenc | npu-cmdgen -o c.tflite
		npu-sim --frames=4 --compare=m.tflite c.tflite
	done
}

@test "several reads and assignments see the values before them" {
	# read, assign the slice, read again (an output), assign the value of the first read
	ring 9 -5 1,2,3,4,5,6 '.subgraphs[0].tensors += [{name:"again",shape:[1,3,2],type:9,quantization:{scale:[0.5],zero_point:[-5]}}]
		| .subgraphs[0].operators += [{opcode_index:2,inputs:[1],outputs:[8],builtin_options_type:112,builtin_options:{}}]
		| .subgraphs[0].outputs += [8]'
	compile
	npu-sim --frames=5 --compare=m.tflite c.tflite
	ring 9 -5 1,2,3,4,5,6 '.subgraphs[0].tensors += [{name:"again",shape:[1,3,2],type:9,quantization:{scale:[0.5],zero_point:[-5]}}]
		| .subgraphs[0].operators += [{opcode_index:2,inputs:[1],outputs:[8],builtin_options_type:112,builtin_options:{}},
			{opcode_index:5,inputs:[1,2],outputs:[],builtin_options_type:113,builtin_options:{}}]
		| .subgraphs[0].outputs += [8]'
	compile
	npu-sim --frames=5 --compare=m.tflite c.tflite
	# never read: nothing to keep
	ring 9 -5 1,2,3,4,5,6 '.subgraphs[0].operators |= map(select(.opcode_index != 2)) | .subgraphs[0].inputs = [0,2]'
	compile
	npu-sim --frames=3 --compare=m.tflite c.tflite
}

@test "variables on the CPU work as before" {
	ring 9 -5 1,2,3,4,5,6
	compile --cpu=READ_VARIABLE 2>err
	npu-sim --frames=5 --compare=m.tflite c.tflite
	compile --cpu=CALL_ONCE 2>err
	npu-sim --frames=5 --compare=m.tflite c.tflite
}

@test "a faulty variable is refused with its place" {
	ring 9 -5 1,2,3,4,5,6 '.subgraphs[0].operators[5].inputs[1] = 3'
	refuses 2 'm.tflite: error: operator 5 (ASSIGN_VARIABLE): its value has another size than the variable' \
		npu-sim m.tflite
	ring 9 -5 1,2,3,4,5,6 '.subgraphs[0].operators[2].inputs = [0]'
	refuses 2 "operator 2 (READ_VARIABLE): its first input is not from a VAR_HANDLE" npu-sim m.tflite
	ring 9 -5 1,2,3,4,5,6 '.subgraphs[0].operators[0].builtin_options.init_subgraph_index = 7'
	refuses 2 'operator 0 (CALL_ONCE): it does not call a subgraph that initialises variables' npu-sim m.tflite
	ring 9 -5 1,2,3,4,5,6 '.subgraphs[1].operators += [{opcode_index:0,inputs:[],outputs:[],builtin_options_type:103,builtin_options:{init_subgraph_index:1}}]'
	refuses 2 'subgraph 1, operator 2 (CALL_ONCE): it does not call a subgraph that initialises variables' npu-sim m.tflite
	ring 9 -5 1,2,3,4,5,6 '.subgraphs[0].operators[5].inputs = [1]'
	refuses 2 'operator 5 (ASSIGN_VARIABLE): wrong number of inputs or outputs' npu-sim m.tflite
}

@test "published wake words run on the NPU alone and are exact over 200 frames" {
	local m models=("$SHARED"/models-real/wakeword_{okay_nabu,vad}.tflite)
	[ -n "$SHARED" ] || models=("$(network lstm)")
	for m in "${models[@]}"; do
		cp "$m" m.tflite
		compile --fail-on-cpu
		npu-sim --frames=200 --compare=m.tflite c.tflite
	done
}

@test "the header says how to reset the state" {
	ring 9 -5 251,251,251,251,251,251
	compile
	tfl2c -n net c.tflite >net.h
	grep -qx '#define NET_STATES 1' net.h
	grep -qx '#define NET_STATE_0_BYTES 6' net.h
	grep -qx '#define NET_STATE_0_FILL 0xfb' net.h
	at=$(sed -n 's/^#define NET_STATE_0_ARENA_OFFSET //p' net.h)
	printf '%s\n' '#include "net.h"' 'static uint8_t scratch[NET_NPU_SCRATCH_BYTES];' \
		'int main(void) { net_reset(scratch);' \
		"return scratch[$at] != 0xfb || scratch[$at + 5] != 0xfb || scratch[$at + 6] == 0xfb; }" >t.c
	"${CC:-cc}" -Wall -Wextra -Werror -o t t.c
	./t
	# initial values that the NPU adds: the flag is one more state
	ring 9 -5 1,2,3,4,5,6
	compile
	tfl2c -n net c.tflite | grep -qx '#define NET_STATES 2'
}

@test "a handle is not a number" {
	ring 9 0 1,2,3,4,5,6 '.subgraphs[0].tensors[1].type=2'
	run -2 npu-sim m.tflite
	[[ $output = "npu-sim: m.tflite: error: operator 1 (VAR_HANDLE): its output is not of type RESOURCE" ]]
	ring 9 0 1,2,3,4,5,6 '.subgraphs[0].outputs=[3,1]'
	run -2 npu-sim m.tflite
	[[ $output = *"operator 1 (VAR_HANDLE): its handle is an output of the model" ]]
}

@test "a guard keeps variables from an interpreter's buffers" {
	need jq
	ends_on_cpu
	compile
	npu-sim --frames=5 --compare=m.tflite c.tflite
	flatc -t --strict-json --raw-binary "$TOP/tests/models/tflite.fbs" -- c.tflite
	# its memory covers the variable, and it is no operator for the other programs
	jq -e '.subgraphs[0] as $g | $g.operators[-1] as $o | ($o.outputs // []) == [] and
		$g.tensors[$o.inputs[2]].name == "npu_kept" and
		($g.tensors[$o.inputs[2]].shape[0] >= $g.tensors[[$g.tensors[].name] | index("npu_scratch")].shape[0])' c.json
	[ "$(npu-perf --json c.tflite | jq .npu_operators)" = 1 ]
	tfl2c --format=call -o c.c c.tflite
	[ "$(grep -c 'status = .*_npu(' c.c)" = 1 ]
	# a last conversion takes no buffers, and an operator of the NPU has the memory itself
	ring 9 5 1,2,3,4,5,6
	compile
	flatc -t --strict-json --raw-binary "$TOP/tests/models/tflite.fbs" -- c.tflite
	jq -e '[.subgraphs[0].tensors[].name] | index("npu_kept") == null' c.json
}
