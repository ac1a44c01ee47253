#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# SPDX-License-Identifier: Apache-2.0
# The rule "pairs" of nputools-rewrites(7) 13: one operation with strides does what two equal
# elementwise operations do on columns.

load lib/common
load lib/model
load lib/rewrites

# softmax ROWS CLASSES [TYPE SCALE ZERO]: a SOFTMAX of INT8, and the type of the OFM
softmax()
{
	model m ".operator_codes[0] |= (.deprecated_builtin_code = 25 | .builtin_code = 25)
		| $t = [$t[0], $t[3]] | $t[0].shape = [$1,$2] | $t[1].shape = [$1,$2]
		| $t[1].quantization = {scale:[${4-0.00390625}], zero_point:[${5--128}]}
		| $t[1].type = ${3-9} | $t[0].quantization.scale = [0.1]
		| .subgraphs[0] |= (.outputs = [1] | .operators = [{inputs:[0], outputs:[1],
			builtin_options_type:9, builtin_options:{beta:1.0}}])"
}

@test "pairs: a SOFTMAX of two classes has two operations, one of which runs backwards" {
	softmax 1 2
	tfl-partition -a ethos-u65-512 m.tflite >m.part
	[ "$(grep -c '^op ' m.part)" = 2 ]
	grep -q '^op .* ifm=t0\[1,2,1\] ifm2=t0\[1,2,1\]+1:2,-1,1 ofm=t2 ' m.part
	grep -q '^rewrite .*text="two equal operations on columns become one"' m.part
	often pairs m.tflite
	softmax 1 2 7 0.0000152587890625 -32768 # the results are halves of words
	often pairs m.tflite
	softmax 40 2
	often pairs m.tflite
}

@test "pairs: near misses stay as they are" {
	softmax 1 3 # no pair
	nowhere pairs m.tflite
	softmax 1 2
	nowhere pairs m.tflite --no-rewrite=pairs
	# a Linux driver accepts no negative strides
	run ! applies pairs m.tflite ethos-u65-256 --target=linux
}

@test "pairs: drawn networks compute the same bytes" {
	NATIVE=1 ACCELERATORS=$EVERY drawn 30 10 SOFTMAX
	among 30 SOFTMAX 3 applies pairs m.tflite ethos-u65-512
}
