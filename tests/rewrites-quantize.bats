#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The rule "quantize" of nputools-rewrites(7): convolutions read the operand of a QUANTIZE that
# only moves the zero point.

load lib/common
load lib/model
load lib/rewrites

# quantized FROM ZERO TO ZERO SCALE [JQ-PROGRAM]: a QUANTIZE between the types FROM and TO (3: u8,
# 9: i8), from scale 0.5 to SCALE, and a CONV_2D of 3x3 with padding
quantized()
{
	model m "def map(\$s; \$n; \$y; \$q; \$z): {shape:\$s, type:\$y, name:\$n,
			quantization:{scale:[\$q], zero_point:[\$z]}};
		.operator_codes = [{deprecated_builtin_code:114, builtin_code:114},
			{deprecated_builtin_code:3, builtin_code:3}]
		| $t = [map([1,16,16,8]; \"in\"; $1; 0.5; $2), map([1,16,16,8]; \"mid\"; $3; $5; $4),
			{shape:[16,3,3,8], type:9, buffer:1, name:\"w\",
			 quantization:{scale:[0.02], zero_point:[0]}},
			{shape:[16], type:2, buffer:2, name:\"b\",
			 quantization:{scale:[0.02 * $5], zero_point:[0]}},
			map([1,16,16,16]; \"out\"; $3; 4.0; $4)]
		| .subgraphs[0] |= (.inputs = [0] | .outputs = [4]
			| .operators = [{inputs:[0], outputs:[1]},
			  {opcode_index:1, inputs:[1,2,3], outputs:[4], builtin_options_type:1,
			   builtin_options:{padding:0, stride_w:1, stride_h:1,
				dilation_w_factor:1, dilation_h_factor:1}}])
		| .buffers = [{}, {data:[range(1152) | (. * 37 + 11) % 251]},
			{data:[range(64) | if . % 4 == 0 then . else 0 end]}]
		${6:+| $6}"
}

@test "quantize: a zero point that moves between UINT8 and INT8 moves into the convolution" {
	quantized 3 125 9 -3 0.5
	tfl-partition -a ethos-u55-128 m.tflite >m.part
	grep -q '^op .* do=conv .* ifm=t0 .* ifm-zero=125 ' m.part
	[ "$(grep -c '^op ' m.part)" = 1 ]
	grep -q '^rewrite .*text="a zero point that moves by -128 moves into 1 convolution"' m.part
	often quantize m.tflite
}

@test "quantize: near misses stay as they are" {
	quantized 3 125 9 -3 0.25 # another scale
	nowhere quantize m.tflite
	quantized 3 125 9 -4 0.5 # the least value is clamped
	nowhere quantize m.tflite
	equal m.tflite ethos-u55-128
	quantized 3 125 9 -3 0.5 '.subgraphs[0].outputs = [1,4]' # the application reads it, too
	nowhere quantize m.tflite
	equal m.tflite ethos-u65-512
	quantized 3 125 9 -3 0.5
	nowhere quantize m.tflite --cpu=CONV_2D
	nowhere quantize m.tflite --no-rewrite=quantize
}

@test "quantize: drawn networks compute the same bytes" {
	NATIVE=1 ACCELERATORS=$EVERY drawn 20 10 QUANTIZE_CONV
	among 20 QUANTIZE_CONV 8 applies quantize m.tflite ethos-u55-128
}
