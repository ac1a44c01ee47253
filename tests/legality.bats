# SPDX-License-Identifier: Apache-2.0
# What goes to the NPU, the reference kernels run, too: each of these models is
# one that a lowering by itself would take.

load lib/common
load lib/model
load lib/partition

# kept WHY MODEL: its operator stays on the CPU, and npu-sim refuses it alike
kept()
{
	tfl-partition --report "$2.tflite" >report
	grep '^ *0  CPU' report | grep -qF -- "$1" || { cat report; return 1; }
	refuses 2 "${3-$1}" npu-sim "$2.tflite"
}

@test "shapes that the options do not give" {
	op d2s 5 9 '[1,2,2,8]' "$(with 94 '{block_size:2}') | $t[1].shape=[4,4,2]"
	kept "has rank 3, not 4" d2s
	op s2d 26 9 '[1,4,4,2]' "$(with 19 '{block_size:2}') | $t[1].shape=[2,2,8]"
	kept "has rank 3, not 4" s2d
	op turn 39 9 '[1,2,3,4]' "$(ints '[4]' 0 2 1 3) | $t[1].shape=[1,2,3,4]"
	kept "output shape is not the permuted input shape" turn
	op soft 25 9 '[1,2,3,4]' "$(with 9 '{beta:1}') | $t[1].shape=[1,3,2,4]
		| $t[1].quantization={scale:[0.00390625],zero_point:[-128]}"
	kept "IFM and OFM differ in shape" soft "shape"
}

@test "scales that overflow" {
	op q 114 9 '[1,4]' "$t[0].quantization.scale=[1] | $t[1].quantization.scale=[0.00000001]"
	kept "which values of 255 overflow" q
	op q 114 9 '[1,4]' "$t[0].quantization.scale=[1] | $t[1].quantization.scale=[0.000001]"
	tfl-partition --report q.tflite | grep -q '^ *0  NPU'
}

@test "scales of two operands that overflow" {
	local code
	for code in 0 41 99; do # ADD, SUB, SQUARED_DIFFERENCE
		op two $code 9 '[1,4]' "$(second 9 '[1,4]') | $t[1].quantization.scale=[1e-9]"
		kept overflow two
		op two $code 9 '[1,4]' "$(second 9 '[1,4]') | $t[1].quantization.scale=[1e-6]"
		tfl-partition --report two.tflite | grep -q '^ *0  NPU'
	done
}

@test "a table of 16 bits whose slopes have more" {
	op exp 47 7 '[1,4]' "$t[0].quantization.scale=[0.0083544]
		| $t[1].quantization={scale:[0.0083544],zero_point:[-70]}"
	tfl-partition --report exp.tflite >report
	grep -qF '0  CPU  EXP' report || { cat report; false; }
}

@test "sums whose scale overflows" {
	model sum "$t[3].quantization.scale=[0.000003]"
	# 4 taps of 255 times 255, and 100
	kept "which values of 260200 overflow" sum
	model sum "$t[3].quantization.scale=[0.0003]"
	tfl-partition --report sum.tflite | grep -q '^ *0  NPU'
}

@test "values that nobody gives, or that the application gives though constant" {
	op none 0 9 '[1,4]' "$(second 9 '[1,4]') | .subgraphs[0].inputs=[0]"
	kept "input 1 is made by nobody" none "which nothing writes"
	op both 0 9 '[1,4]' "$(second 9 '[1,4]' '[1,2,3,4]') | .subgraphs[0].inputs=[0,2]"
	tfl-partition --report both.tflite | grep -F "input 1 is the model's, and constant"
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
