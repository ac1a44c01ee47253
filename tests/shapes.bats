#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Computed shapes whose values are constant.

load lib/common
load lib/model
load lib/partition
# shellcheck disable=SC2154 # t is of lib/model

# reshaped NAME [JQ]: SHAPE, STRIDED_SLICE, PACK, RESHAPE, as Keras writes them
reshaped()
{
	model "$1" ".operator_codes = [{deprecated_builtin_code:77,builtin_code:77,version:1},
			{deprecated_builtin_code:45,builtin_code:45,version:1},
			{deprecated_builtin_code:83,builtin_code:83,version:1},
			{deprecated_builtin_code:22,builtin_code:22,version:1}]
		| $t = [{shape:[1,6],shape_signature:[-1,6],type:9,name:\"in\",quantization:{scale:[0.5],zero_point:[0]}},
			{shape:[2],type:2,name:\"shape\"},
			{shape:[1],type:2,name:\"begin\",buffer:1}, {shape:[1],type:2,name:\"end\",buffer:2},
			{shape:[],type:2,name:\"batch\"},
			{shape:[],type:2,name:\"two\",buffer:3}, {shape:[],type:2,name:\"three\",buffer:4},
			{shape:[3],type:2,name:\"new\"},
			{shape:[1,2,3],shape_signature:[-1,2,3],type:9,name:\"out\",quantization:{scale:[0.5],zero_point:[0]}}]
		| .buffers = [{},{data:[0,0,0,0]},{data:[1,0,0,0]},{data:[2,0,0,0]},{data:[3,0,0,0]}]
		| .subgraphs[0].inputs = [0] | .subgraphs[0].outputs = [8]
		| .subgraphs[0].operators = [{opcode_index:0,inputs:[0],outputs:[1]},
			{opcode_index:1,inputs:[1,2,3,3],outputs:[4],builtin_options_type:32,builtin_options:{shrink_axis_mask:1}},
			{opcode_index:2,inputs:[4,5,6],outputs:[7],builtin_options_type:59,builtin_options:{values_count:3}},
			{opcode_index:3,inputs:[0,7],outputs:[8]}]${2:+ | $2}"
}

@test "an open batch that an operator changes is refused with the way out" {
	model m ".operator_codes = [{deprecated_builtin_code:38,builtin_code:38,version:1}]
		| $t[0].shape = [1,4,2,3] | $t[1] = {shape:[2],type:2,buffer:1,name:\"block\"}
		| $t[2] = {shape:[2,2],type:2,buffer:2,name:\"pads\"}
		| $t[3] = ($t[0] | .shape = [1,2,2,3] | .shape_signature = [-1,2,2,3] | .name = \"out\")
		| .buffers = [{},{data:[2,0,0,0, 1,0,0,0]},{data:[range(16) | 0]}]
		| .subgraphs[0].operators[0] |= (del(.builtin_options_type) | del(.builtin_options))"
	refuses 2 "the batch is open, for which the file has 1: convert the model with a fixed batch" \
		tfl-quantcheck m.tflite
	grep -q "operator 0 (SPACE_TO_BATCH_ND)" refuses.err
}

@test "an open batch has the size in the shape, and a note says so" {
	reshaped m
	run --separate-stderr tfl-partition -o m.part m.tflite
	[ "$status" -eq 0 ]
	[ "$stderr" = "tfl-partition: note: m.tflite: the model takes batches of any size, which operator 0 (SHAPE) reads; the compiled model takes batches of 1" ]
	tfl-partition --report m.tflite | grep -q '^4 of 4 operators on the NPU'
	exact m
	# no note for a batch that is not open
	reshaped m "del($t[0].shape_signature)"
	run --separate-stderr tfl-partition -o m.part m.tflite
	[ -z "$stderr" ]
}

@test "any other open dimension stays open" {
	reshaped m "$t[0].shape_signature = [1,-1]"
	tfl-partition --report m.tflite 2>/dev/null | grep -q 'CPU  SHAPE '
}

@test "one of several subgraphs is compiled, and a note says so" {
	reshaped m '.subgraphs += [.subgraphs[0]]'
	run --separate-stderr tfl-partition -o m.part m.tflite
	[[ "$stderr" == *"note: m.tflite: subgraph 0 is compiled, the other 1 stays as it is" ]]
}
