#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# SPDX-License-Identifier: Apache-2.0
# The rule "tables" of nputools-rewrites(7) 12: a convolution looks up a table behind it
# that changes the type.

load lib/common
load lib/model
load lib/rewrites

# ended TO ZERO [JQ-PROGRAM]: a CONV_2D of INT8, a LOGISTIC, and a QUANTIZE to the type TO (3: u8, 9: i8)
ended()
{
	model m "def map(\$s; \$n; \$y; \$q; \$z): {shape:\$s, type:\$y, name:\$n,
			quantization:{scale:[\$q], zero_point:[\$z]}};
		.operator_codes = [{deprecated_builtin_code:114, builtin_code:114},
			{deprecated_builtin_code:3, builtin_code:3},
			{deprecated_builtin_code:14, builtin_code:14}]
		| $t = [map([1,16,16,8]; \"in\"; 9; 0.5; 5),
			{shape:[16,3,3,8], type:9, buffer:1, name:\"w\",
			 quantization:{scale:[0.02], zero_point:[0]}},
			{shape:[16], type:2, buffer:2, name:\"b\",
			 quantization:{scale:[0.01], zero_point:[0]}},
			map([1,16,16,16]; \"mid\"; 9; 0.1; -3),
			map([1,16,16,16]; \"out\"; $1; 0.005; $2),
			map([1,16,16,16]; \"curve\"; 9; 0.00390625; -128)]
		| .subgraphs[0] |= (.inputs = [0] | .outputs = [4]
			| .operators = [{opcode_index:1, inputs:[0,1,2], outputs:[3], builtin_options_type:1,
			   builtin_options:{padding:0, stride_w:1, stride_h:1,
				dilation_w_factor:1, dilation_h_factor:1}},
			  {opcode_index:2, inputs:[3], outputs:[5]}, {inputs:[5], outputs:[4]}])
		| .buffers = [{}, {data:[range(1152) | (. * 37 + 11) % 251]},
			{data:[range(64) | if . % 4 == 0 then . else 0 end]}]
		${3:+| $3}"
}

@test "tables: a convolution looks up a table that changes the type" {
	ended 3 7
	tfl-partition -a ethos-u55-128 m.tflite >m.part
	[ "$(grep -c '^op ' m.part)" = 1 ]
	grep -q '^op .* do=conv .* ofm=t1 .* ofm-zero=125 .* act=lut lut=l0 clamp=0:255' m.part
	grep -q '^rewrite .*text="a convolution looks up the table behind it"' m.part
	often tables m.tflite
	run ! applies tables m.tflite ethos-u55-32 # no banks for tables
}

@test "tables: near misses stay as they are" {
	ended 3 7 '.subgraphs[0].outputs = [3,4]' # the application reads what the convolution makes
	nowhere tables m.tflite
	equal m.tflite ethos-u65-512
	ended 9 -7 # the type stays, and the lowering moves the table
	nowhere tables m.tflite
	ended 3 7
	nowhere tables m.tflite --cpu=CONV_2D
	nowhere tables m.tflite --no-rewrite=tables
}

@test "tables: drawn networks compute the same bytes" {
	NATIVE=1 ACCELERATORS=$EVERY drawn 20 10 TABLES
	among 20 TABLES 8 applies tables m.tflite ethos-u55-128
}
