#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The rules "newton", "scalars" and "repeat" of nputools-rewrites(7): SOFTMAX and other arithmetic of
# 32 bits in fewer kernels on Ethos-U65, and in longer chains on Ethos-U85.

bats_require_minimum_version 1.5.0
load lib/common
load lib/model
load lib/rewrites

# softmax [ROWS]: a SOFTMAX of rows of 12
softmax()
{
	model m ".operator_codes[0] |= (.deprecated_builtin_code = 25 | .builtin_code = 25)
		| $t = [$t[0], $t[3]] | $t[0].shape = [${1-1},12] | $t[1].shape = [${1-1},12]
		| $t[1].quantization = {scale:[0.00390625], zero_point:[-128]}
		| $t[0].quantization.scale = [0.1]
		| .subgraphs[0] |= (.outputs = [1] | .operators = [{inputs:[0], outputs:[1],
			builtin_options_type:9, builtin_options:{beta:1.0}}])"
}

# on_u85 RULE: applies on all five sizes, and the results are equal with the rule and without it
on_u85()
{
	local a
	for a in ethos-u85-{128,256,512,1024,2048}; do
		applies "$1" m.tflite "$a"
		equal m.tflite "$a"
		equal m.tflite "$a" --no-rewrite="$1"
	done
}

@test "scalars: SOFTMAX on Ethos-U85 has longer chains" {
	local memory with without
	softmax
	on_u85 scalars
	memory ethos-u85-256
	npucc -q -a ethos-u85-256 "${memory[@]}" -o with.sched m.tflite
	npucc -q -a ethos-u85-256 "${memory[@]}" --no-rewrite=scalars -o without.sched m.tflite
	with=$(grep -c ' chain=' with.sched) without=$(grep -c ' chain=' without.sched)
	[ "$with" -ge $((without + 3)) ]
}

@test "scalars: other generations and operations of bytes keep 16 bits" {
	local a memory
	softmax
	for a in ethos-u55-32 ethos-u55-256 ethos-u65-512; do
		! applies scalars m.tflite $a
	done
	run applies scalars m.tflite ethos-u85-256 --no-rewrite=scalars
	[ "$status" = 1 ]
	tfl-partition -a ethos-u85-256 m.tflite >m.part
	grep -q '^op .* scalar=1515870810 ' m.part
	memory ethos-u55-128
	refuses 2 "scalar=-1010580540 does not fit 16 bits" \
		npu-sched -a ethos-u55-128 "${memory[@]}" m.part
}

@test "repeat: SOFTMAX on Ethos-U85 waits less often" {
	local memory with without
	softmax 3
	on_u85 repeat
	softmax
	on_u85 repeat
	memory ethos-u85-256
	npucc -q -a ethos-u85-256 "${memory[@]}" -o with.tflite m.tflite
	npucc -q -a ethos-u85-256 "${memory[@]}" --no-rewrite=repeat -o without.tflite m.tflite
	with=$(npu-perf --json with.tflite | jq .calibrated_cycles)
	without=$(npu-perf --json without.tflite | jq .calibrated_cycles)
	[ "$with" -lt "$without" ]
}

# twice C [JQ]: two readers of the absolute values of C elements
twice()
{
	model m ".operator_codes = [{deprecated_builtin_code:101,builtin_code:101,version:1},
			{deprecated_builtin_code:55,builtin_code:55,version:1}]
		| $t[0] |= (.shape = [1,$1] | .quantization = {scale:[0.5],zero_point:[0]})
		| $t = [$t[0], ($t[0] | .name = \"abs\"), ($t[0] | .name = \"other\"),
			($t[0] | .name = \"a\"), ($t[0] | .name = \"b\")]
		| .subgraphs[0].inputs = [0,2] | .subgraphs[0].outputs = [3,4]
		| .subgraphs[0].operators = [{opcode_index:0,inputs:[0],outputs:[1]},
			{opcode_index:1,inputs:[1,2],outputs:[3]},
			{opcode_index:1,inputs:[1,0],outputs:[4]}]
		${2:+| $2}"
}

@test "repeat: near misses stay as they are" {
	twice 40
	applies repeat m.tflite ethos-u85-256
	equal m.tflite ethos-u85-256
	nowhere repeat m.tflite --no-rewrite=repeat
	run -1 applies repeat m.tflite ethos-u55-256
	run -1 applies repeat m.tflite ethos-u65-512
	# many elements; a result of the model
	twice 65
	nowhere repeat m.tflite
	twice 40 '.subgraphs[0].outputs += [1]'
	nowhere repeat m.tflite
	equal m.tflite ethos-u85-256
	# one reader
	twice 40 '.subgraphs[0].operators[2].inputs = [2,0]'
	nowhere repeat m.tflite
	# a reader of another shape
	twice 1 '.subgraphs[0].tensors[4].shape = [1,8] | .subgraphs[0].tensors[2].shape = [1,8]
		| .subgraphs[0].operators[2].inputs = [1,2] | .subgraphs[0].operators[1].inputs = [1,0]'
	nowhere repeat m.tflite
	equal m.tflite ethos-u85-256
}

@test "newton: a SOFTMAX of one row has three kernels less on Ethos-U65" {
	local a with without
	softmax
	for a in ethos-u65-256 ethos-u65-512; do
		equal m.tflite $a
		equal m.tflite $a --no-rewrite=newton
		applies newton m.tflite $a
		with=$(tfl-partition -a $a m.tflite | grep -c '^op ')
		without=$(tfl-partition -a $a --no-rewrite=newton m.tflite | grep -c '^op ')
		[ "$with" = $((without - 3)) ]
	done
}

@test "newton: near misses stay as they are" {
	softmax
	run applies newton m.tflite ethos-u85-256
	[ "$status" = 1 ]
	run applies newton m.tflite ethos-u55-256
	[ "$status" = 1 ]
	run applies newton m.tflite ethos-u65-512 --no-rewrite=newton
	[ "$status" = 1 ]
	# several rows
	softmax 4
	run applies newton m.tflite ethos-u65-512
	[ "$status" = 1 ]
	equal m.tflite ethos-u65-512
}

@test "newton, scalars, repeat: drawn operators compute the same bytes" {
	NATIVE=1 ACCELERATORS="ethos-u55-32 ethos-u55-256 ethos-u65-512 ethos-u85-128 ethos-u85-2048" \
		drawn 24 8 SOFTMAX LOG_SOFTMAX DIV FLOOR_DIV
}
