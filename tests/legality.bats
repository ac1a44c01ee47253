# SPDX-License-Identifier: Apache-2.0
# Every operator that goes to the NPU can also run in the reference kernels.  A lowering
# alone would accept each of these models.

load lib/common
load lib/model
load lib/partition

# kept WHY MODEL: the operator runs on the CPU, and npu-sim refuses the model for the same
# reason
kept()
{
	tfl-partition --report "$2.tflite" >report
	grep '^ *0  CPU' report | grep -qF -- "$1" || { cat report; return 1; }
	refuses 2 "${3-$1}" npu-sim "$2.tflite"
}

@test "shapes that contradict the options are refused" {
	op d2s 5 9 '[1,2,2,8]' "$(with 94 '{block_size:2}') | $t[1].shape=[4,4,2]"
	refused d2s "has rank 3, not 4"
	op s2d 26 9 '[1,4,4,2]' "$(with 19 '{block_size:2}') | $t[1].shape=[2,2,8]"
	refused s2d "has rank 3, not 4"
	op turn 39 9 '[1,2,3,4]' "$(ints '[4]' 0 2 1 3) | $t[1].shape=[1,2,3,4]"
	refused turn "output shape is not the permuted input shape"
	op soft 25 9 '[1,2,3,4]' "$(with 9 '{beta:1}') | $t[1].shape=[1,3,2,4]
		| $t[1].quantization={scale:[0.00390625],zero_point:[-128]}"
	refused soft "shapes of in and out differ"
}

@test "an operator whose scale overflows runs on the CPU" {
	op q 114 9 '[1,4]' "$t[0].quantization.scale=[1] | $t[1].quantization.scale=[0.00000001]"
	kept "which values of 255 overflow" q
	op q 114 9 '[1,4]' "$t[0].quantization.scale=[1] | $t[1].quantization.scale=[0.000001]"
	tfl-partition --report q.tflite | grep -q '^ *0  NPU'
}

@test "an operator whose two operands' scales overflow runs on the CPU" {
	local code
	for code in 0 41 99; do # ADD, SUB, SQUARED_DIFFERENCE
		op two $code 9 '[1,4]' "$(second 9 '[1,4]') | $t[1].quantization.scale=[1e-9]"
		kept overflow two
		op two $code 9 '[1,4]' "$(second 9 '[1,4]') | $t[1].quantization.scale=[1e-6]"
		tfl-partition --report two.tflite | grep -q '^ *0  NPU'
	done
}

@test "a table of 16 bits with slopes of more bits runs on the CPU" {
	op exp 47 7 '[1,4]' "$t[0].quantization.scale=[0.0083544]
		| $t[1].quantization={scale:[0.0083544],zero_point:[-70]}"
	tfl-partition --report exp.tflite >report
	grep -qF '0  CPU  EXP' report || { cat report; false; }
}

@test "sums whose scale overflows run on the CPU" {
	model sum "$t[3].quantization.scale=[0.000003]"
	# 4 taps of 255 times 255, and 100
	kept "which values of 260200 overflow" sum
	model sum "$t[3].quantization.scale=[0.0003]"
	tfl-partition --report sum.tflite | grep -q '^ *0  NPU'
}

@test "a tensor that nothing writes is refused, and a constant network input runs on the CPU" {
	local program
	op none 0 9 '[1,4]' "$(second 9 '[1,4]') | .subgraphs[0].inputs=[0]"
	for program in tfl-quantcheck tfl-partition npu-sim tfl2c; do
		refuses 2 "$program: none.tflite: error: subgraph 0: operator 0 (ADD) reads tensor 2 (t2), which nothing writes" \
			"$program" none.tflite
	done
	op both 0 9 '[1,4]' "$(second 9 '[1,4]' '[1,2,3,4]') | .subgraphs[0].inputs=[0,2]"
	tfl-partition --report both.tflite | grep -F "input 1 is both an input of the model and constant"
	op out 0 9 '[1,4]' "$(second 9 '[1,4]' '[1,2,3,4]') | .subgraphs[0].outputs=[1,3]
		| $t += [{shape:[4],type:9,name:\"empty\"}]"
	refuses 2 'out.tflite: error: subgraph 0: the output empty is written by no operator' \
		tfl-partition out.tflite
}

@test "padding of plain integers is 0, whatever their zero point" {
	op s2b 38 2 '[1,2,2,1]' "$t[1].shape=[4,2,2,1] | $(ints '[2]' 2 2) |
		$(ints '[2,2]' 1 1 1 1) | $t[1].quantization.zero_point=[7]"
	npucc -a ethos-u55-128 --system-config=RTSS_HE_SRAM_MRAM \
		--memory-mode=Shared_Sram -o npu.tflite s2b.tflite
	npu-sim --compare=s2b.tflite npu.tflite
}

@test "an operator whose bias and products may exceed 32 bits runs on the CPU" {
	local w='[200,3,100,255, 1,2,3,4, 5,6,7,8, 9,9,9,9]' more
	for more in 'zero_point:[63]' 'zero_point:[255]'; do
		op fc 9 3 '[1,4]' "$(second 3 '[4,4]' "$w") | $(ints '[4]' -2147483648 0 0 7)
			| $(with 8 '{}') | $t[0].quantization={scale:[0.05],$more}"
		kept "channel 0 are between -2147" fc
	done
	op fc 9 3 '[1,4]' "$(second 3 '[4,4]' "$w") | $(ints '[4]' -2147000000 0 0 7)
		| $(with 8 '{}') | $t[0].quantization={scale:[0.05],zero_point:[63]}"
	exact fc
}

@test "a scale so small that -1 is beyond all integers gives exact results" {
	op relu 20 9 '[1,4]' "$t[].quantization={scale:[1e-38],zero_point:[-42]}" # RELU_N1_TO_1
	exact relu
}

@test "more lines than an int32 counts are refused" {
	op many 0 9 '[1,4]' "$(second 9 '[1,4]') | $t[].shape=[2147483647,2,4]"
	refuses 2 'many.tflite: error: subgraph 0: tensor 0 (in): 4294967294 lines of 4 elements' \
		tfl-partition many.tflite
}

@test "a tensor of more than 2 GB is refused" {
	op large 19 9 '[1,32768,32768,3]' "$t[1].shape=[1,32768,32768,3]"
	refuses 2 'large.tflite: error: subgraph 0: tensor 0 (in) takes 3221225472 bytes, more than the 2147483647 of the largest memory' \
		tfl-partition large.tflite
}

@test "integers of 32 bits have no zero point" {
	local code
	printf '\1\0\0\0\375\377\377\377\0\1\0\0\377\77\0\0' >x.bin
	for code in 0 18 41 55 99; do # ADD, MUL, SUB, MAXIMUM, SQUARED_DIFFERENCE
		op two $code 2 '[1,4]' "$(ints '[1,4]' 1 -2 3 0) |
			$t[1].quantization.zero_point=[9] | $t[2].quantization.zero_point=[32]"
		tfl-partition --report two.tflite | grep -q '^ *0  NPU'
		npucc -a ethos-u55-128 --system-config=RTSS_HE_SRAM_MRAM \
			--memory-mode=Shared_Sram -o npu.tflite two.tflite
		npu-sim --input=x.bin --compare=two.tflite npu.tflite
	done
}

@test "an input may share its buffer with a constant that other operators read" {
	# "again" is an input in the buffer of the second operand
	op both 0 9 '[1,4]' "$(second 9 '[1,4]' '[1,2,3,4]')
		| $t += [{shape:[1,4],type:9,name:\"again\",buffer:1,quantization:$t[0].quantization},
			{shape:[1,4],type:9,name:\"same\",quantization:$t[0].quantization}]
		| .operator_codes += [{deprecated_builtin_code:19,builtin_code:19,version:1}]
		| .subgraphs[0].operators += [{opcode_index:1,inputs:[3],outputs:[4]}]
		| .subgraphs[0].inputs=[0,3] | .subgraphs[0].outputs=[1,4]"
	npucc -a ethos-u55-128 --system-config=RTSS_HE_SRAM_MRAM \
		--memory-mode=Shared_Sram -o npu.tflite both.tflite
	npu-sim --frames=3 --compare=both.tflite npu.tflite
	printf '\0\0\0\0' >zero.bin
	printf '\144\144\144\144' >many.bin
	npu-sim --input=zero.bin --input=many.bin -o . both.tflite
	[ "$(od -An -td1 -j128 output_0.npy)" = "    1    2    3    4" ]
}

@test "an operator whose state another operator writes runs on the CPU" {
	need flatc jq
	"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model" 20001 SVDF >svdf.tflite
	tfl-partition --report svdf.tflite | grep -q '^ *0  NPU  SVDF'
	flatc --json --strict-json --raw-binary "$TOP/tests/models/tflite.fbs" -- svdf.tflite
	jq '.subgraphs[0] |= (.operators[0].inputs[4] as $s | .operators = [{opcode_index:1,
		inputs:[$s],outputs:[$s]}] + .operators)
		| .operator_codes += [{deprecated_builtin_code:28,builtin_code:28,version:1}]' \
		svdf.json >two.json
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" two.json
	tfl-partition --report two.tflite >report
	grep -qF "the state is used more than once" report || { cat report; false; }
	# sums that TensorFlow Lite Micro shifts out of 32 bits: of features, over time
	for t in 1 2; do
		jq --argjson t $t '.subgraphs[0].operators[0].inputs[$t] as $w |
			.subgraphs[0].tensors[$w].quantization.scale = [1e6]' \
			svdf.json >wide.json
		flatc -b --strict-json "$TOP/tests/models/tflite.fbs" wide.json
		tfl-partition --report wide.tflite >report
		grep -qF "scaled sums exceed 32 bits" report || { cat report; false; }
	done
}

@test "an LSTM whose sums exceed 32 bits runs on the CPU" {
	local t
	need flatc jq
	"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model" 20001 \
		UNIDIRECTIONAL_SEQUENCE_LSTM >lstm.tflite
	tfl-partition --report lstm.tflite | grep -q '^ *0  NPU  UNIDIRECTIONAL'
	flatc --json --strict-json --raw-binary "$TOP/tests/models/tflite.fbs" -- lstm.tflite
	# weights of a gate's input and of its recurrence; the cell
	for t in 2 6 19; do
		jq --argjson t $t '.subgraphs[0].operators[0].inputs[$t] as $w |
			.subgraphs[0].tensors[$w].quantization.scale = [1e6]' \
			lstm.json >wide.json
		flatc -b --strict-json "$TOP/tests/models/tflite.fbs" wide.json
		tfl-partition --report wide.tflite >report
		grep -qF "scaled sums exceed 32 bits" report || { cat report; false; }
	done
	# a bias at the end of its range
	jq '.subgraphs[0].operators[0].inputs[13] as $b | .subgraphs[0].tensors[$b].buffer as $u |
		.buffers[$u].data |= [range(0; length) | if . % 4 == 3 then 127 else 255 end]' \
		lstm.json >wide.json
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" wide.json
	tfl-partition --report wide.tflite >report
	grep -qF "scaled sums exceed 32 bits" report || { cat report; false; }
}

@test "two joined conversions whose shapes differ are refused" {
	op pair 6 7 '[1,4]' "$t[1].type=0 | del($t[1].quantization) | $t[1].shape=[1,5]
		| $t += [{shape:[1,4],type:9,name:\"q\",quantization:{scale:[0.01],zero_point:[3]}}]
		| .operator_codes += [{deprecated_builtin_code:114,builtin_code:114,version:1}]
		| .subgraphs[0].operators += [{opcode_index:1,inputs:[1],outputs:[2]}]
		| .subgraphs[0].outputs=[2]"
	refused pair "in has 4 elements, out has 5"
}

# the stages run without tfl-quantcheck here, which refuses these models
@test "a negative slope of 16 bits with a negative zero point runs on the CPU" {
	local leaky
	leaky="$(with 75 '{alpha:-1.5}') | $t[0].quantization.scale=[0.0012]"
	op leaky 98 7 '[159]' "$leaky | $t[1].quantization={scale:[0.0003],zero_point:[0]}"
	exact leaky
	# a graph for all accelerators must suit Ethos-U85, too
	op leaky 98 7 '[159]' "$leaky | $t[1].quantization={scale:[0.0003],zero_point:[16]}"
	stays leaky "ethos-u85-128 has no zero point 16 for an IFM of 16 bits"
	stages_of ethos-u55-128 leaky
	grep -q '^node .*on=npu' part
	op leaky 98 7 '[159]' "$(with 75 '{alpha:-1.5}') | $t[0].quantization.scale=[0.0012]
		| $t[1].quantization={scale:[0.0003],zero_point:[-16]}"
	stays leaky "alpha is negative, and so is the OFM's zero point of 16 bits"
}

@test "a zero point without a scale counts as 0" {
	op pad 34 9 '[12,28]' "$(ints '[2,2]' 4 1 4 0) | $t[1].shape=[17,32]
		| $t[0].quantization.zero_point=[-63] | $t[1].quantization={zero_point:[-63]}"
	exact pad
}

# stages_of ACCELERATOR NAME: compiles for one accelerator; each operator runs on the NPU or
# on the CPU
stages_of()
{
	tfl-partition -a "$1" -o part "$2.tflite" 2>/dev/null || return
	npu-sched -a "$1" --any-accelerator --system-config "$(sized "$1")" \
		--memory-mode Dedicated_Sram part |
		npu-wenc | npu-cmdgen -o npu.tflite || return
	npu-sim --compare=npu.tflite "$2.tflite"
}

@test "sums of 32 bits of 16-bit values are exact, with a bias or without" {
	local a k bias w conv fc
	bias=$(ints '[4]' 1000 -1000 70000 0)
	w="[$(seq -s, 1 16)]"
	conv="$(second 9 '[4,1,1,4]' "$w") | $bias | $(with 1 '{stride_w:1,stride_h:1}')"
	fc="$(second 9 '[4,4]' "$w") | $bias | $(with 8 '{}')"
	op conv 3 7 '[1,8,8,4]' "$conv"
	op dw 4 7 '[1,8,8,4]' "$(second 9 '[1,1,1,4]' '[1,2,3,4]') | $bias
		| $(with 2 '{stride_w:1,stride_h:1,depth_multiplier:1}')"
	op fc 9 7 '[5,4]' "$fc"
	op bare 9 7 '[5,4]' "$(second 9 '[4,4]' "$w") | $(with 8 '{quantized_bias_type:2}')"
	op trans 67 7 '[1,3,3,4]' "$(second 9 '[4,1,1,4]' "$w") | $(ints '[4]' 1 3 3 4) | $bias
		| .subgraphs[0].operators[0].inputs = [3,2,0,4] | $(with 49 '{stride_w:1,stride_h:1}')"
	for k in conv dw fc bare trans; do
		for a in ethos-u55-128 ethos-u85-128 ethos-u85-1024; do
			stages_of $a $k || { echo "$k on $a"; false; }
			! grep '^node .*on=cpu' part
		done
	done
}

@test "PRELU of 16 bits by one slope of 8 bits with a zero point runs on the NPU" {
	op prelu 54 7 '[1,4,4,4]' "$(second 9 '[1]' '[200]') | $t[2].quantization={scale:[0.02],zero_point:[44]}"
	stages_of ethos-u85-256 prelu
	stages_of ethos-u55-128 prelu
	! grep '^node .*on=cpu' part
}

@test "an operator that npu-cmdgen would refuse for an accelerator runs on the CPU there" {
	op neg 59 7 '[1,4,4,4]' "$t[].quantization.zero_point=[5]"
	tfl-partition -a ethos-u55-128 --report neg.tflite | grep '^ *0  NPU'
	stages_of ethos-u85-256 neg
	tfl-partition -a ethos-u85-256 --report neg.tflite >report
	grep '^ *0  CPU .*because: ethos-u85-256 has no zero point 5 for an IFM of 16 bits' report
}

@test "weights that do not fit into one stream become several operations" {
	# a quick run only has a channel whose weights are added up, as they may be too many
	local channels=520 parts=2
	[ -z "${NPUTOOLS_QUICK-}" ] || channels=3 parts=1
	local chain=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model
	[ -x "$chain" ] || skip "no $chain"
	# 34,078,720 weights, 33,554,432 in an operation
	"$chain" fc $channels 16 256 >fc.tflite
	stages_of ethos-u55-256 fc
	[ "$(grep -c '^op .*do=fc' part)" = $parts ]
}

# malformed NAME WORDS: the programs refuse the operator, and do not leave it to the CPU
malformed()
{
	local program
	for program in tfl-quantcheck tfl-partition npu-sim; do
		refuses 2 "$1.tflite: error: operator " "$program" "$1.tflite" || return
		grep -qF -- "$2" refuses.err || { cat refuses.err; return 1; }
	done
}

@test "an operator with too many or too few inputs is refused" {
	local name most n=0 gen=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model
	need flatc jq
	while read -r name most; do
		"$gen" -l | grep -qx "$name" || continue
		n=$((n + 1))
		"$gen" 1 "$name" >m.tflite
		flatc --json --strict-json --raw-binary "$TOP/tests/models/tflite.fbs" -- m.tflite
		jq --argjson n "$most" '.subgraphs[0].operators[-1].inputs |=
			. + [range($n + 1 - length) as $k | .[0]]' m.json >more.json
		jq '.subgraphs[0].operators[-1].inputs = []' m.json >none.json
		flatc -b --strict-json "$TOP/tests/models/tflite.fbs" more.json none.json
		refuses 2 "takes " tfl-partition more.tflite || { echo "$name"; return 1; }
		refuses 2 "has 0 inputs, takes " tfl-partition none.tflite ||
			{ echo "$name"; return 1; }
	done < <(sed -n 's/^OPERATOR(\([A-Z0-9_]*\), [a-z].* TAKES(\([1-9]\), \([0-9]*\)).*/\1 \3/p' \
		"$TOP/schema/operators.def")
	[ $n -gt 40 ]
}

@test "an unknown activation is refused" {
	op pool 17 9 '[1,4,4,2]' "$(with 5 '{padding:0,stride_w:1,stride_h:1,filter_width:2,filter_height:2,fused_activation_function:6}')"
	malformed pool "fused activation 6 is not supported"
}

# as TensorFlow Lite Micro takes them: it does not resize tensors
@test "open shapes that contradict each other in the file are refused" {
	op pool 17 9 '[1,4,4,2]' "$(with 5 '{padding:0,stride_w:1,stride_h:1,filter_width:2,filter_height:2}')
		| $t[0].shape=[1,4,4,-1]"
	refuses 2 "input is 1 batches of 1 channels, output 1 of 2" tfl-partition pool.tflite
	op unpack 88 9 '[4]' "$(with 64 '{num:2,axis:0}') | $t[0].shape=[2,4]
		| $t += [$t[1] | .shape=[] | .name=\"empty\"] | .subgraphs[0].operators[0].outputs=[1,2]
		| .subgraphs[0].outputs=[1,2]"
	refuses 2 "shape of empty is not that of in without dimension 0" tfl-partition unpack.tflite
	# a runtime on Linux resizes tensors
	tfl-partition -a ethos-u65-256 --target=linux -o part unpack.tflite
}

@test "a bias of 64 bits that scales beyond 32 bits runs on the CPU" {
	local top conv
	conv="$(second 9 '[1,1,1,2]' '[100,156]') | $(with 1 '{stride_w:1,stride_h:1}')
		| $t[1].shape=[1,2,2,1] | $t[1].quantization.scale=[0.01]
		| $t[2].quantization.scale=[0.1]"
	# the scale of a sum is 0.5: 2^32 is the limit
	for top in 127 63 16 2 1; do
		op wide 3 7 '[1,2,2,2]' "$conv | $(second 4 '[1]' "[0,0,0,0,$top,0,0,0]")"
		stays wide "scaled sums may exceed 32 bits, to which the reference wraps"
	done
	op wide 3 7 '[1,2,2,2]' "$conv | $(second 4 '[1]' "[255,255,0,240,0,0,0,0]")"
	exact wide
	stages_of ethos-u85-256 wide
}
