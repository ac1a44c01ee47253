# SPDX-License-Identifier: Apache-2.0
# A quantization that a model declares is computed, or a rule of tfl-quantcheck refuses the
# model: nothing is ignored.

load lib/common
load lib/model
load lib/partition

GEN=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model
L2='.subgraphs[0].operators[0] += {builtin_options_type:24,builtin_options:{}}'
I8=9 U8=3 I16=7

# breaks NAME RULE: tfl-quantcheck finds an error of this rule, and --pass writes nothing
breaks()
{
	run tfl-quantcheck --json "$1.tflite"
	[ "$status" = 1 ] || { echo "$1: status $status"; return 1; }
	jq -e --arg r "$2" 'any(.findings[]; .severity == "error" and .rule == $r)' \
		<<<"$output" >/dev/null || { echo "$1: $output"; return 1; }
	refuses 1 "$2" tfl-quantcheck --pass "$1.tflite"
}

# fixed NAME CODE TYPES SCALE ZERO [OPTIONS]: the output's quantization is fixed; types are
# those of the input and of the output
fixed()
{
	local in=${3%:*} out=${3#*:} q
	one()
	{
		op "$1" "$2" "$in" '[1,6]' "$t[1].type=$out | $t[1].quantization={scale:[$3],zero_point:[$4]}
			${5:+| $5}"
	}
	one "$1" "$2" "$4" "$5" "${6-}"
	tfl-quantcheck --pass "$1.tflite" >copy
	for q in "$4*0.9 $5" "$4*1.01 $5" "$4 $5+1"; do
		one "$1" "$2" "${q% *}" "${q#* }" "${6-}"
		breaks "$1" output-quantization || return
		# no advice to allow what the stages refuse
		run tfl-quantcheck --pass "$1.tflite"
		[[ $output == *"; the later stages refuse output-quantization, too" ]] || return
		# the stages refuse the model without tfl-quantcheck, too
		refuses 2 "but the kernel of TensorFlow Lite Micro has" npu-sim "$1.tflite" || return
		refuses 2 "can't run on the CPU: output scale" tfl-partition "$1.tflite" || return
	done
}

@test "another output quantization than the kernel's fixed one is refused" {
	fixed logistic16 14 $I16:$I16 1/32768 0
	fixed tanh16 28 $I16:$I16 1/32768 0
	fixed softmax 25 $I8:$I8 1/256 -128 "$(with 9 '{beta:1}')"
	fixed softmaxu 25 $U8:$U8 1/256 0 "$(with 9 '{beta:1}')"
	fixed softmax8to16 25 $I8:$I16 1/65536 -32768 "$(with 9 '{beta:1}')"
	fixed softmax16 25 $I16:$I16 1/32768 0 "$(with 9 '{beta:1}')"
	fixed logsoftmax 50 $I8:$I8 1/16 127
	fixed l2 11 $I8:$I8 1/128 0 "$L2"
}

# computed NAME: the plain model is within half a step of the real numbers, and the compiled
# one equals it on all eleven accelerators.  The CPU's kernel would not compute it.
computed()
{
	local a sys mode
	tfl-quantcheck --json "$1.tflite" >report
	jq -e --arg r "$2" '.errors == 0 and any(.findings[]; .rule == $r)' report
	npu-eval --layers --json "$1.tflite" "${@:4}" |
		jq -e '.layers[-1].own_steps <= 0.501'
	refuses 2 "can't run on the CPU: " tfl-partition --cpu="$3" "$1.tflite"
	for a in $(sed -n 's/^ACCEL([^"]*"\([^"]*\)".*/\1/p' "$TOP/schema/target.def"); do
		sys=Ethos_U55_High_End_Embedded mode=Shared_Sram
		case $a in
		*u65*) sys=Ethos_U65_High_End mode=Dedicated_Sram ;;
		*u85*) sys=Ethos_U85_SYS_DRAM_Mid mode=Dedicated_Sram ;;
		esac
		npucc -a "$a" --any-accelerator --system-config=$sys --memory-mode=$mode --check \
			--fail-on-cpu -o npu.tflite "$1.tflite" 2>notes || { cat notes; return 1; }
	done
}

@test "LOGISTIC, TANH and CONCATENATION of 8 bits compute the declared quantization" {
	local k scale zero bytes
	bytes=$(printf '\\x%02x' {0..255})
	{
		printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
			"{'descr': '|i1', 'fortran_order': False, 'shape': (1, 1, 256), }"
		printf '%b' "$bytes"
	} >all.npy
	for k in 0 1 2; do
		scale=$((RANDOM % 90 + 20))e-4 zero=$((RANDOM % 200 - 100))
		echo "scale $scale zero point $zero"
		op squash $((k % 2 ? 28 : 14)) $I8 '[1,256]' \
			"$t[1].quantization={scale:[$scale],zero_point:[$zero]}"
		computed squash output-quantization "$([ $((k % 2)) = 1 ] && echo TANH || echo LOGISTIC)" all.npy
		op concat 2 $I8 '[1,256]' "$(second $I8 '[1,256]') | $t[1].shape=[1,512]
			| $t[0].quantization={scale:[$scale],zero_point:[$zero]}
			| $(with 10 '{axis:1}')"
		computed concat unequal-quantization CONCATENATION all.npy all.npy
	done
}

# not_rescaled NAME: every program refuses the model by the rule unequal-quantization.  If the
# kernel copies, the model compiles with --allow, and the NPU copies, too.
not_rescaled()
{
	breaks "$1" unequal-quantization || return
	# TensorFlow Lite Micro has outputs of RELU6 with two scales: tfl-partition takes it
	if [ "$1" != RELU6 ]; then
		refuses 2 "): unequal-quantization: scale " tfl-partition "$1.tflite" || return
		grep -q 'or --allow=unequal-quantization copies the integers$' refuses.err || return 0
	fi
	n_copied=$((n_copied + 1))
	npucc -q -a ethos-u55-128 --allow=dead-branch,unequal-quantization --check -o npu.tflite \
		--system-config=Ethos_U55_High_End_Embedded --memory-mode=Shared_Sram "$1.tflite"
}

# unequal NAME CHANGE: a drawn operator whose first output has another quantization
unequal()
{
	local seed
	for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
		"$GEN" $seed "$1" >"$1.tflite" || return
		flatc --json --strict-json --raw-binary "$TOP/tests/models/tflite.fbs" -- "$1.tflite"
		jq -e ".subgraphs[0] as \$g | \$g.operators[-1].outputs[0] as \$o
			| select(\$g.tensors[\$o].quantization.scale and \$g.tensors[\$o].type != \"INT32\")
			| select(.subgraphs[0].operators | length == 1)
			| .subgraphs[0].tensors[\$o].quantization |= ($2)" "$1.json" \
			>"$1.other.json" || continue
		mv "$1.other.json" "$1.json"
		flatc -b --strict-json "$TOP/tests/models/tflite.fbs" "$1.json"
		not_rescaled "$1"
		return
	done
	echo "$1: no seed draws one operator with a scale"
	return 1
}

@test "operators that copy or compare values are refused if scales differ" {
	local name n=0 n_copied=0
	need flatc jq
	# the kernel of these only moves elements: schema/operators.def
	for name in $(operators '$3 == "move"' | grep -Fxf <("$GEN" -l)) \
		MAX_POOL_2D AVERAGE_POOL_2D REDUCE_MAX REDUCE_MIN MAXIMUM MINIMUM RELU6 NEG \
		SELECT SELECT_V2 SCATTER_ND RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR; do
		case $name in CONCATENATION | CAST | SHAPE) continue ;; esac
		unequal "$name" '.scale[0] *= 1.5'
		# the zero point of 16 bits is 0 by another rule; NEG takes any
		case $name in NEG | RELU6 | MAXIMUM | MINIMUM) continue ;; esac
		unequal "$name" '.zero_point[0] += if .zero_point[0] > 0 then -1 else 1 end'
		n=$((n + 1))
	done
	[ $n -gt 30 ]
	[ $n_copied -gt 50 ]
	# of 16 bits, nothing rescales
	op concat 2 $I16 '[1,6]' "$(second $I16 '[1,6]') | $t[1].shape=[1,12]
		| $t[0].quantization={scale:[0.01],zero_point:[0]} | $(with 10 '{axis:1}')"
	not_rescaled concat
}

@test "IF and WHILE are refused if a body has other scales than its operator" {
	local kind n_copied=0
	need flatc jq
	for kind in if while; do
		"$GEN" 2 RESHAPE | "${GEN%/*}/control-model" $kind 1 >body.tflite
		flatc --json --strict-json --raw-binary "$TOP/tests/models/tflite.fbs" -- body.tflite
		npucc -q --part=himax-we2 --check -o npu.tflite body.tflite
		cp body.json whole.json
		# both tensors of the body, so that its RESHAPE keeps its scales
		jq '.subgraphs[2].tensors |= map(if .quantization.scale
			then .quantization.scale[0] *= 2 else . end)' whole.json >body.json
		flatc -b --strict-json "$TOP/tests/models/tflite.fbs" body.json
		not_rescaled body
	done
	[ $n_copied = 2 ]
}

@test "a variable that is read in another scale than it is assigned is refused" {
	load lib/state
	local n_copied=0
	ring 9 0 "0,0,0,0,0,0" '.subgraphs[0].tensors[2].quantization.scale=[0.25]'
	not_rescaled m
	[ $n_copied = 1 ]
	ring 9 0 "0,0,0,0,0,0" '.subgraphs[1].tensors[1].quantization.scale=[0.25]'
	breaks m unequal-quantization
	refuses 2 "subgraph 1, operator 1 (ASSIGN_VARIABLE), tensor 1 (first): unequal-quantization: scale " \
		tfl-partition m.tflite
}

# With a scale of 0.0005 each row is nearly flat: its sum is nearly its number of elements.
# TensorFlow Lite Micro stops where the sum is 512 or more.
@test "flat rows of SOFTMAX with more than 511 elements are exact" {
	local n a sys mode type
	for n in 511 512 513 700 4000; do
		type=$((n % 2 ? U8 : I8))
		op soft 25 $type "[2,$n]" "$(with 9 '{beta:1}') | $t[0].quantization.scale=[0.0005]
			| $t[1].quantization={scale:[1/256],zero_point:[$((type == I8 ? -128 : 0))]}"
		for a in ethos-u55-32 ethos-u65-512 ethos-u85-256; do
			sys=Ethos_U55_High_End_Embedded mode=Shared_Sram
			case $a in
			*u65*) sys=Ethos_U65_High_End mode=Dedicated_Sram ;;
			*u85*) sys=Ethos_U85_SYS_DRAM_Mid mode=Dedicated_Sram ;;
			esac
			npucc -a $a --system-config=$sys --memory-mode=$mode --check --fail-on-cpu \
				-o npu.tflite soft.tflite 2>notes || { cat notes; return 1; }
		done
	done
}
