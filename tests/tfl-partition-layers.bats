#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# tfl-partition: movements, convolutions, pools.

load lib/common
load lib/model
load lib/partition
# shellcheck disable=SC2154 # t is set there

I8=9 U8=3 I16=7 I32=2 # types
AVERAGE_POOL_2D=1 BATCH_MATMUL=126 BROADCAST_TO=130 CONCATENATION=2 CONV_2D=3
DEPTHWISE_CONV_2D=4 FULLY_CONNECTED=9 GATHER=36 MAX_POOL_2D=17 MIRROR_PAD=100 PAD=34 PADV2=60
QUANTIZE=114 RELU=19 RELU6=21 RELU_N1_TO_1=20 RESHAPE=22 RESIZE_BILINEAR=23 RESIZE_NEAREST_NEIGHBOR=97 REVERSE_V2=105 SHAPE=77
SLICE=65 SPACE_TO_BATCH_ND=38 SPACE_TO_DEPTH=26 SPLIT=49 STRIDED_SLICE=45
TILE=69 TRANSPOSE=39 TRANSPOSE_CONV=67 UNPACK=88
shape="${t}[1].shape ="

zeros() { local n; printf -v n ',0%.0s' $(seq "$1"); echo "[${n#,}]"; }
noise() { local i v=; for ((i = 1; i <= $1; i++)); do v+=,$((i * 37 % 251)); done; echo "[${v#,}]"; }
# conv IFM WEIGHTS SIZE OFM OPTIONS: a convolution with weights [O,H,W,I] and these options
conv() { op m $CONV_2D $I8 "$1" "$(second $I8 "$2" "$(zeros "$3")") | $shape $4 | $(with 1 "$5")"; }

@test "rows that see only padding are exact, in bands of rows without padding" {
	op m $AVERAGE_POOL_2D $I16 '[1,4,5,48]' "$shape [1,2,5,48] | $(with 5 '{padding:0,stride_w:1,stride_h:3,filter_width:1,filter_height:2}')"
	exact m
}

@test "the block of a band is used if the block of the whole does not fit" {
	op m $QUANTIZE $I16 '[12,17,58]' "${t}[1].type = 9"
	exact m
}

# padded_conv IFM PADS OPTIONS OFM [JQ-PROGRAM]: PAD by [y0,y1,x0,x1], then a convolution of
# 3x3, then changed by the program; IFM and OFM are HxW
padded_conv()
{
	local in=$1 pads=$2 options=$3 out=$4 y0 y1 x0 x1
	IFS=, read -r y0 y1 x0 x1 <<<"$pads"
	local h=${in%x*} w=${in#*x}
	op m $PAD $I8 "[1,$h,$w,5]" "$(ints '[4,2]' 0 0 "$y0" "$y1" "$x0" "$x1" 0 0)
		| $shape [1,$((h + y0 + y1)),$((w + x0 + x1)),5] | ${t}[0].quantization.zero_point = [-3]
		| ${t}[1].quantization.zero_point = [-3]
		| .operator_codes += [{deprecated_builtin_code:$CONV_2D,builtin_code:$CONV_2D,version:1}]
		| .buffers += [{data:$(noise 315)}]
		| $t += [{shape:[7,3,3,5],type:9,name:\"w\",quantization:{scale:[0.01],zero_point:[0]},buffer:(.buffers|length-1)},
			{shape:[1,${out%x*},${out#*x},7],type:9,name:\"sum\",quantization:{scale:[0.4],zero_point:[9]}}]
		| .subgraphs[0].outputs = [4]
		| .subgraphs[0].operators += [{opcode_index:1,inputs:[1,3],outputs:[4],builtin_options_type:1,builtin_options:$options}] ${5:+| $5}"
}

# folded_conv ...: the same as one operation
folded_conv() { padded_conv "$@" && [ "$(npu_ops m)" = 1 ] && exact m; }

@test "a PAD of a constant is computed before, not merged with a convolution" {
	padded_conv 8x8 0,1,0,1 '{padding:0,stride_w:2,stride_h:2}' 5x5 ".subgraphs[0].inputs = []
		| .buffers += [{data:$(noise 320)}] | ${t}[0].buffer = (.buffers|length-1)"
	tfl-partition m.tflite >part
	grep -q '^op .*do=conv.* ofm=' part
	tfl-partition --report m.tflite >report
	! grep 'padding of the next' report
}

@test "a PAD is merged with the padding of the convolution behind it" {
	local same1='{padding:0,stride_w:1,stride_h:1}' same2='{padding:0,stride_w:2,stride_h:2}'
	folded_conv 8x8 0,1,0,1 "$same2" 5x5
	folded_conv 7x10 1,1,0,1 "$same1" 9x11
	folded_conv 6x9 1,0,1,1 "$same2" 4x6
	folded_conv 5x6 2,1,0,2 '{padding:1,stride_w:1,stride_h:1}' 6x6
	# three rows beside a window of three
	padded_conv 5x6 2,2,0,1 "$same1" 9x7
	[ "$(npu_ops m)" -gt 1 ]
	exact m
}

@test "a PAD is merged if it is thinner than the dilated window" {
	local dilated='{padding:1,stride_w:1,stride_h:1,dilation_h_factor:2,dilation_w_factor:2}'
	folded_conv 9x9 4,3,2,4 "$dilated" 12x11
	padded_conv 9x9 5,3,2,4 "$dilated" 13x11 # a window of five rows
	[ "$(npu_ops m)" -gt 1 ]
	exact m
}

@test "a PADV2 is merged if its value is the zero point" {
	local value="quantization:{scale:[0.05],zero_point:[-3]}" program
	program=".operator_codes[0][] = $PADV2 | .operator_codes[0].version = 1
		| $t += [{shape:[],type:9,name:\"value\",$value,buffer:(.buffers|length)}]
		| .subgraphs[0].operators[0].inputs += [5]"
	folded_conv 8x8 1,1,1,1 '{padding:1,stride_w:1,stride_h:1}' 8x8 "$program | .buffers += [{data:[253]}]"
	padded_conv 8x8 1,1,1,1 '{padding:1,stride_w:1,stride_h:1}' 8x8 "$program | .buffers += [{data:[252]}]"
	[ "$(npu_ops m)" -gt 1 ]
	exact m
}

# padded_pool BEFORE ZERO PADS PADDING [PROGRAM]: operator BEFORE, a PAD by [y0,y1,x0,x1], then
# a maximum of 3x3 with stride 2.  The zero point, the value of the border, is ZERO.
padded_pool()
{
	local zero=$2 y0 y1 x0 x1 oh ow
	IFS=, read -r y0 y1 x0 x1 <<<"$3"
	local h=$((11 + y0 + y1)) w=$((8 + x0 + x1)) quant="quantization:{scale:[0.05],zero_point:[$zero]}"
	oh=$(((h - 1) / 2)) ow=$(((w - 1) / 2))
	[ "$4" = 1 ] || oh=$(((h + 1) / 2)) ow=$(((w + 1) / 2))
	op m "$1" $I8 '[1,11,8,6]' "${t}[0,1].quantization.zero_point = [$zero]
		| .operator_codes += [$PAD, $MAX_POOL_2D | {deprecated_builtin_code:.,builtin_code:.,version:1}]
		| .buffers += [{data:[(0, 0, $y0, $y1, $x0, $x1, 0, 0) | ., 0, 0, 0]}]
		| $t += [{shape:[4,2],type:2,name:\"pads\",buffer:(.buffers|length-1)},
			{shape:[1,$h,$w,6],type:9,name:\"padded\",$quant},
			{shape:[1,$oh,$ow,6],type:9,name:\"most\",$quant}]
		| .subgraphs[0].outputs = [4]
		| .subgraphs[0].operators += [{opcode_index:1,inputs:[1,2],outputs:[3]},
			{opcode_index:2,inputs:[3],outputs:[4],builtin_options_type:5,builtin_options:
			{padding:$4,stride_w:2,stride_h:2,filter_width:3,filter_height:3}}]${5:+ | $5}"
}

@test "a PAD is merged with a maximum pool whose elements are no less than the border" {
	local pads
	for pads in 1,1,1,1 2,0,0,1 0,2,1,0 1,2,2,2; do
		padded_pool $RELU -3 $pads 1
		[ "$(npu_ops m)" = 2 ]
		exact m
	done
	padded_pool $RELU6 12 1,1,0,1 0
	[ "$(npu_ops m)" = 2 ]
	exact m
	# the clamp of any operator in front
	padded_pool $AVERAGE_POOL_2D -3 1,1,1,1 1 '.subgraphs[0].operators[0] += {builtin_options_type:5,
		builtin_options:{padding:1,stride_w:1,stride_h:1,filter_width:1,filter_height:1,fused_activation_function:1}}'
	[ "$(npu_ops m)" = 2 ]
	exact m
	# the border is the least value of int8
	padded_pool $RELU_N1_TO_1 -128 1,1,1,1 1
	[ "$(npu_ops m)" = 2 ]
	exact m
	# PADV2 with the least value
	padded_pool $RELU_N1_TO_1 7 1,1,1,1 1 ".operator_codes[1][] = $PADV2 | .operator_codes[1].version = 1
		| .buffers += [{data:[128]}]
		| $t += [{shape:[],type:9,name:\"least\",quantization:{scale:[0.05],zero_point:[7]},buffer:(.buffers|length-1)}]
		| .subgraphs[0].operators[1].inputs = [1,2,5]"
	[ "$(npu_ops m)" = 2 ]
	exact m
}

@test "several operators take the padding of one PAD, or none of them does" {
	local second='.subgraphs[0] |= (.tensors += [.tensors[4]] | .outputs += [5]
		| .operators += [.operators[2] | .outputs = [5]])'
	padded_pool $RELU -3 1,1,1,1 1 "$second"
	[ "$(npu_ops m)" = 3 ]
	exact m
	# an average counts the elements of the border
	padded_pool $RELU -3 1,1,1,1 1 "$second | .subgraphs[0].operators[3].opcode_index = 3
		| .operator_codes += [{deprecated_builtin_code:1,builtin_code:1,version:1}]"
	[ "$(npu_ops m)" -gt 4 ]
	exact m
}

@test "a PAD stays if its border may be the maximum, or another operator reads it" {
	padded_pool $RELU_N1_TO_1 7 1,1,1,1 1
	[ "$(npu_ops m)" -gt 2 ]
	exact m
	padded_pool $RELU -3 3,0,0,0 1 # some windows hold nothing but the border
	[ "$(npu_ops m)" -gt 2 ]
	exact m
	padded_pool $RELU -3 1,1,1,1 1 '.subgraphs[0].outputs += [3]'
	[ "$(npu_ops m)" -gt 2 ]
	exact m
}

@test "the operator before a PAD writes what is between the borders" {
	padded_pool $RELU_N1_TO_1 7 1,1,1,1 1
	[ "$(npu_ops m)" = 6 ] # four sides, no copy
	exact m
	padded_pool $RELU_N1_TO_1 7 0,11,8,0 1 # as many rows and columns as it has
	[ "$(npu_ops m)" = 4 ]
	exact m
	padded_pool $RELU_N1_TO_1 7 2,1,0,3 1 '.subgraphs[0].outputs += [1]'
	[ "$(npu_ops m)" = 6 ]
	exact m
	# MIRROR_PAD: the sides mirror what is there
	padded_pool $RELU_N1_TO_1 7 1,2,1,0 1 ".operator_codes[1][] = $MIRROR_PAD | .operator_codes[1].version = 1
		| .subgraphs[0].operators[1] += {builtin_options_type:77,builtin_options:{mode:1}}"
	exact m
	tfl-partition m.tflite >part
	[ "$(grep -c '^op .*do=avgpool .*tfl=0.1 .*ofm=t[0-9]*\[11,8,6\]' part)" = 0 ]
}

@test "a PAD copies what is no result of an operator, or thinner than a side" {
	padded_pool $RELU_N1_TO_1 7 1,1,1,1 1 '.subgraphs[0].inputs = [1] | del(.subgraphs[0].operators[0])'
	[ "$(npu_ops m)" = 6 ] # a copy, four sides, the pool
	exact m
	padded_pool $RELU_N1_TO_1 7 12,0,0,0 1
	tfl-partition m.tflite >part
	[ "$(grep -c '^op .*tfl=0.1 ' part)" = 3 ] # a line, the side of its copies, the middle
	exact m
}

# bilinear TYPE IN OUT OPTIONS: resizes HxWxC to HxW
bilinear()
{
	local h w c oh=${3%x*} ow=${3#*x}
	IFS=x read -r h w c <<<"$2"
	op m $RESIZE_BILINEAR "$1" "[1,$h,$w,$c]" \
		"$(ints '[2]' "$oh" "$ow") | $shape [1,$oh,$ow,$c] | $(with 15 "$4")"
}

@test "a bilinear resize is exact for equal sizes, for one input and when it selects inputs" {
	bilinear $I8 9x7x5 9x7 '{half_pixel_centers:true}'
	[ "$(npu_ops m)" = 1 ] # the output is not the input
	exact m
	bilinear $I8 1x1x40 17x9 '{align_corners:true}'
	[ "$(npu_ops m)" -le 2 ]
	exact m
	bilinear $I8 12x8x20 4x4 '{}'
	[ "$(npu_ops m)" -le 2 ]
	exact m
}

@test "a bilinear resize by whole factors has one operation for each phase" {
	bilinear $I8 9x6x33 33x21 '{align_corners:true}'
	[ "$(npu_ops m)" = 16 ]
	exact m
	bilinear $U8 5x5x17 65x65 '{align_corners:true}'
	[ "$(npu_ops m)" = 256 ]
	exact m
	bilinear $I8 10x12x40 20x24 '{half_pixel_centers:true}'
	[ "$(npu_ops m)" = 16 ]
	exact m
	# two factors
	bilinear $I8 6x10x18 24x20 '{}'
	[ "$(npu_ops m)" -le 24 ]
	exact m
	# few values: a mean of neighbours that are repeated
	bilinear $I8 3x3x40 9x9 '{align_corners:true}'
	[ "$(npu_ops m)" -lt 16 ]
	exact m
}

@test "a convolution may be split into pieces of its kernel" {
	op m $CONV_2D $I8 '[1,90,3,2]' "$(second $I8 '[3,81,1,2]' "$(noise 486)") | $shape [1,10,3,3] | $(with 1 '{padding:1,stride_w:1,stride_h:1}') | ${t}[1].quantization.scale = [3.1]"
	exact m
}

@test "a FULLY_CONNECTED may have computed weights" {
	op m $FULLY_CONNECTED $I8 '[5,24]' "$(second $I8 '[7,24]') | $shape [5,7] | $(with 8 '{}')"
	exact m
}

@test "operators with constant results are folded" {
	op m $SHAPE $I8 '[2,3,4]' "$shape [3] | ${t}[1].type = 2"
	exact m
	# a constant result is not part of the concatenation until it is copied there
	op m 2 $I8 '[1,2,3,4]' "$(second $I8 '[1,2,3,1]' '[1,2,3,4,5,6]') |
		$t[1].shape=[1,2,3,5] | $t += [$t[2]+{buffer:0,name:\"floor\"}]
		| .operator_codes += [{deprecated_builtin_code:21,builtin_code:21,version:1}]
		| .subgraphs[0].inputs=[0]
		| .subgraphs[0].operators[0] |= (.inputs=[0,3] | .builtin_options_type=10
			| .builtin_options={axis:3})
		| .subgraphs[0].operators = [{opcode_index:1,inputs:[2],outputs:[3]}] + .subgraphs[0].operators"
	exact m
}

@test "the report says why a movement runs on the CPU" {
	op m $RESHAPE $I8 '[4,6]' "$shape [24] | $(second $I32 '[1]')"
	stays m "the new shape is not constant"
	op m $RESHAPE 0 '[4,6]' "$shape [24]"
	stays m "IFM is FLOAT32"
	op m $RESHAPE $I8 '[4,6]' "$shape [24] | ${t}[0].shape_signature = [4,-1]"
	stays m "IFM has a dynamic shape"
	op m $TRANSPOSE $I8 '[4,6]' "$(second $I32 '[2]')"
	stays m "the permutation is not constant"
	op m $TRANSPOSE $I8 '[4,6]' "$(ints '[2]' 0 0)"
	stays m "the permutation is not valid"
	op m $REVERSE_V2 $I8 '[4,6]' "$(ints '[1]' 2)"
	stays m "an axis is out of range or named twice"
	op m $SPACE_TO_DEPTH $I8 '[1,4,6,1]' "$(with 19 '{block_size:3}')"
	refused m "do not suit a block size of 3"
	op m $SLICE $I8 '[4,6]' "$(second $I32 '[2]') | $(ints '[2]' 1 1)"
	stays m "begin or size is not constant"
	op m $SLICE $I8 '[4,6]' "$(ints '[2]' 3 0) | $(ints '[2]' 2 6) | $shape [2,6]"
	stays m "the slice exceeds dimension 0"
	op m $STRIDED_SLICE $I8 '[4,6]' "$(ints '[2]' 0 0) | $(ints '[2]' 4 6) | $(ints '[2]' 1 1) | $(with 32 '{offset:true}')"
	stays m "the option offset is set"
	op m $STRIDED_SLICE $I8 '[4]' "$(ints '[2]' 0 0) | $(ints '[2]' 4 6) | $(ints '[2]' 1 1) | $(with 32 '{}')"
	refused m "2 begins, 2 ends and 2 strides for rank 1"
	op m $STRIDED_SLICE $I8 '[4,6]' "$(ints '[2]' 0 0) | $(ints '[2]' 4 6) | $(ints '[2]' 0 1) | $(with 32 '{}')"
	stays m "dimension 0 has a bad stride"
	op m $PAD $I8 '[4,6]' "$(second $I32 '[2,2]')"
	stays m "the padding is not constant"
	op m $MIRROR_PAD $I8 '[3]' "$(ints '[1,2]' 3 0) | $shape [6] | $(with 77 '{mode:0}')"
	stays m "the padding of dimension 0 is larger"
	op m $TILE $I8 '[4,6]' "$(ints '[2]' 1 2)"
	refused m "2 times 6 is not 6"
	op m $GATHER $I8 '[4,6]' "$(second $I32 '[4]') | $(with 23 '{}')"
	stays m "the indices are not constant, and addresses"
	op m $GATHER $I8 '[4,6]' "$(ints '[4]' 0 1 2 4) | $(with 23 '{}')"
	stays m "an index is out of range"
	op m $CONCATENATION $I8 '[4,6]' "$(second $I8 '[4,2]') | $(with 10 '{axis:1}')"
	refused m "inputs are longer than the output"
	op m $CONCATENATION $I8 '[4,6]' "$(second $I16 '[4,6]') | $shape [8,6] | $(with 10 '{axis:0}')"
	refused m "types of t2 and out differ: INT16, INT8"
	op m $SPLIT $I8 '[4,6]' "$(second $I32 '[1]') | .subgraphs[0].operators[0].inputs |= reverse | $(with 35 '{num_splits:1}')"
	stays m "the axis is not constant"
	op m $UNPACK $I8 '[1,6]' "$shape [6] | $(with 64 '{num:1,axis:2}')"
	stays m "the axis is out of range"
	op m $BROADCAST_TO $I8 '[4,6]' "$(ints '[2]' 4 12) | $shape [4,12]"
	refused m "do not broadcast"
	op m $SPACE_TO_BATCH_ND $I8 '[1,4,6]' "$(ints '[1]' 2) | $(ints '[1,2]' 1 0) | $shape [2,2,6]"
	refused m "in batches of 1 are no"
	op m $RESIZE_NEAREST_NEIGHBOR $I8 '[1,2,2,1]' "$(ints '[2]' 4 4) | $shape [1,4,4,1] | $(with 74 '{align_corners:true,half_pixel_centers:true}')"
	stays m "align_corners and half_pixel_centers are both set"
	op m $QUANTIZE $I8 '[4,6]' "$shape [24,2]"
	refused m "in has 24 elements, out has 48"
}

@test "words are padded with any value, also with padding much larger than the input" {
	op m $PADV2 $I32 '[4]' "$(ints '[1,2]' 1 0) | $(ints '[1]' 70000) | $shape [5]"
	exact m
	op m $PAD $I8 '[2,3]' "$(ints '[2,2]' 20 30 17 9) | $shape [52,29]"
	exact m
}

@test "a transposed convolution may have output beyond the reach of its input" {
	local weights dims
	weights="[$(seq -s, 1 16)]"
	# shellcheck disable=SC2086 # numbers of a shape
	for dims in '1 8 8 4' '1 3 9 4'; do
		op m $TRANSPOSE_CONV $I8 '[1,2,3,4]' "$(second $I8 '[4,1,1,4]' "$weights") | ${t}[1].shape = [${dims// /,}] | $(ints "[4]" $dims) | .subgraphs[0].operators[0].inputs = [3,2,0] | $(with 49 '{padding:1,stride_w:2,stride_h:2}')"
		exact m
		op m $TRANSPOSE_CONV $I8 '[1,2,3,4]' "$(second $I8 '[4,1,1,4]' "$weights") | ${t}[1].shape = [${dims// /,}] | $(ints "[4]" $dims) | .subgraphs[0].operators[0].inputs = [3,2,0] | $(with 49 '{stride_w:17,stride_h:17}')"
		exact m
	done
}

@test "a kernel of more than 64 rows and a convolution with much padding are one operation" {
	local type
	for type in $I8 $I16; do
		op m $CONV_2D "$type" '[1,90,3,2]' "$(second $I8 '[2,81,1,2]' "[$(seq -s, 0 80),$(seq -s, 0 80),$(seq -s, 0 80),$(seq -s, 0 80)]") | $shape [1,10,3,2] | $(with 1 '{padding:1,stride_w:1,stride_h:1}')"
		[ "$(npu_ops m)" = 1 ]
		exact m
	done
	op m $TRANSPOSE_CONV $I8 '[1,8,8,1]' "$(second $I8 '[1,70,1,1]' "[$(seq -s, 1 70)]") | $(ints '[4]' 1 8 8 1) | .subgraphs[0].operators[0].inputs = [3,2,0] | $(with 49 '{stride_w:1,stride_h:1}')"
	exact m
	op m $CONV_2D $I8 '[1,2,9,1]' "$(second $I8 '[1,1,301,1]' "[$(seq -s, 1 120),$(seq -s, 1 120),$(seq -s, 1 61)]") | $(with 1 '{padding:0,stride_w:1,stride_h:1}')"
	exact m
}

@test "the report says why a convolution runs on the CPU" {
	conv '[1,8,8,4]' '[2,1,1,4]' 8 '[1,8,8,2]' '{padding:0,stride_w:1,stride_h:0}'
	stays m "CONV_2D has stride 0x1, dilation 1x1"
	conv '[1,8,8,4]' '[2,1,1,4]' 8 '[1,4,8,2]' '{padding:0,stride_w:1,stride_h:1}'
	refused m "gives another"
	conv '[1,8,8,4]' '[2,1,1,3]' 6 '[1,8,8,2]' '{padding:0,stride_w:1,stride_h:1}'
	refused m "4 channels in, 2 out"
	op m $CONV_2D $I8 '[1,8,8,4]' "$(second $I8 '[4,1,1,4]') | $(with 1 '{stride_w:1,stride_h:1}')"
	stays m "weights are not constant"
	op m $CONV_2D $I8 '[1,8,8,4]' "$(second $I16 '[4,1,1,4]' "$(zeros 32)") | $(with 1 '{stride_w:1,stride_h:1}')"
	stays m "weights are INT16"
	op m $CONV_2D $I8 '[1,8,8,4]' "$(second $I8 '[4,1,1,4]' "$(zeros 16)") | $(with 1 '{stride_w:1,stride_h:1}') | ${t}[2].quantization.zero_point = [300]"
	stays m "a zero point of the weights is out of range"
	op m $CONV_2D $I8 '[1,8,8,4]' "$(second $I8 '[4,1,1,4]' "$(zeros 16)") | $(second $I32 '[4]') | $(with 1 '{stride_w:1,stride_h:1}')"
	stays m "bias is not constant"
	op m $CONV_2D $I16 '[1,90,90,2]' "$(second $I8 '[2,81,81,2]' "$(zeros 26244)") | $shape [1,10,10,2] | $(with 1 '{padding:1,stride_w:1,stride_h:1}')"
	stays m "a kernel of this size with 16 bits"
	op m $DEPTHWISE_CONV_2D $I8 '[1,8,8,4]' "$(second $I8 '[1,1,1,4]' "$(zeros 4)") | ${t}[1].type = 7 | $(with 2 '{stride_w:1,stride_h:1,depth_multiplier:1}')"
	stays m "IFM and OFM differ in type"
	op m $TRANSPOSE_CONV $I8 '[1,8,8,1]' "$(second $I8 '[1,70,70,1]' "$(zeros 4900)") | $(ints '[4]' 1 8 8 1) | .subgraphs[0].operators[0].inputs = [3,2,0] | $(with 49 '{stride_w:1,stride_h:1}')"
	stays m "kernel 70x70 of stride 1x1"
	op m $FULLY_CONNECTED $I16 '[5,24]' "$(second $I8 '[7,24]') | $shape [5,7] | $(with 8 '{}')"
	stays m "IFM is INT16"
	op m $FULLY_CONNECTED $I8 '[5,24]' "$(second $I8 '[7,24]' "$(zeros 168)") | $shape [5,7] | $(with 8 '{weights_format:1}')"
	stays m "weights are shuffled"
	op m $BATCH_MATMUL $I16 '[4,4]' "$(second $I8 '[4,4]') | $(with 101 '{}')"
	stays m "IFM, IFM2 and OFM differ in type"
	op m $BATCH_MATMUL $I8 '[4,6]' "$(second $I8 '[4,6]') | $(with 101 '{}')"
	refused m "does not give the output's shape"
	op m 17 $I8 '[1,4,4,2]' "$(with 5 '{padding:1,stride_w:3,stride_h:3,filter_width:2,filter_height:2}')"
	refused m "output size is 4, input 4 with kernel 2, stride 3, dilation 1 gives another"
	op m $AVERAGE_POOL_2D $I8 '[1,300,2,1]' "$shape [1,1,2,1] | $(with 5 '{padding:1,stride_w:1,stride_h:1,filter_width:1,filter_height:300}')"
	stays m "window 300x1 is larger than 256 rows or 65536"
}

@test "a step of LSTM overwrites its gates in place: only one tensor of gates is live" {
	gen=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model
	[ -x "$gen" ] || skip "no $gen"
	"$gen" 28 UNIDIRECTIONAL_SEQUENCE_LSTM >lstm.tflite
	tfl-partition -o lstm.part lstm.tflite
	sed -n 's/.* ifm=\(t[^ ]*\) .*ofm=\(t[^ ]*\) .*act=sigmoid.*/\1 \2/p' lstm.part >gates
	[ -s gates ]
	awk '$1 != $2 { exit 1 }' gates
	# 752 bytes with a second tensor
	run -1 npu-sched -a ethos-u55-128 --system-config Ethos_U55_High_End_Embedded \
		--memory-mode Shared_Sram --arena-cache-size=16 lstm.part
	[ "${output##* }" -le 672 ]
}
