# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Models with a state.  After lib/common:  load lib/state

# ring TYPE ZERO BYTES [JQ]: m.tflite, whose state is the last three of its inputs, with the
# initial value BYTES; the output is state and input
ring()
{
	need flatc jq
	jq -n "def q: {scale:[0.5],zero_point:[$2]};
	def code(c): {deprecated_builtin_code:([c,127]|min),builtin_code:c,version:1};
	{version:3, operator_codes:[code(129),code(142),code(143),code(2),code(45),code(144)],
	buffers:([{},{data:[0,0,0,0,1,0,0,0,0,0,0,0]},{data:[1,0,0,0,4,0,0,0,2,0,0,0]},
		{data:[1,0,0,0,1,0,0,0,1,0,0,0]},{data:[$3]}]),
	subgraphs:[
	{name:\"main\",inputs:[0],outputs:[3],tensors:[
		{name:\"in\",shape:[1,1,2],type:$1,quantization:q},
		{name:\"handle\",shape:[],type:13},
		{name:\"old\",shape:[1,3,2],type:$1,quantization:q},
		{name:\"all\",shape:[1,4,2],type:$1,quantization:q},
		{name:\"new\",shape:[1,3,2],type:$1,quantization:q},
		{name:\"begin\",shape:[3],type:2,buffer:1},
		{name:\"end\",shape:[3],type:2,buffer:2},
		{name:\"step\",shape:[3],type:2,buffer:3}],
	 operators:[
		{opcode_index:0,inputs:[],outputs:[],builtin_options_type:103,builtin_options:{init_subgraph_index:1}},
		{opcode_index:1,inputs:[],outputs:[1],builtin_options_type:111,builtin_options:{container:\"\",shared_name:\"ring\"}},
		{opcode_index:2,inputs:[1],outputs:[2],builtin_options_type:112,builtin_options:{}},
		{opcode_index:3,inputs:[2,0],outputs:[3],builtin_options_type:10,builtin_options:{axis:1}},
		{opcode_index:4,inputs:[3,5,6,7],outputs:[4],builtin_options_type:32,builtin_options:{}},
		{opcode_index:5,inputs:[1,4],outputs:[],builtin_options_type:113,builtin_options:{}}]},
	{name:\"begin\",inputs:[],outputs:[],tensors:[
		{name:\"handle\",shape:[],type:13},
		{name:\"first\",shape:[1,3,2],type:$1,quantization:q,buffer:4}],
	 operators:[
		{opcode_index:1,inputs:[],outputs:[0],builtin_options_type:111,builtin_options:{container:\"\",shared_name:\"ring\"}},
		{opcode_index:5,inputs:[0,1],outputs:[],builtin_options_type:113,builtin_options:{}}]}]}
	${4:+| $4}" >m.json
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" m.json
}

# ends_on_cpu: m.tflite is a ring whose last operator, MEAN, stays on the CPU, where its kernel
# takes buffers
ends_on_cpu()
{
	ring 9 5 1,2,3,4,5,6 '.operator_codes += [code(40)] | .buffers += [{data:[0,0,0,0,1,0,0,0,2,0,0,0]}]
		| .subgraphs[0].tensors += [{name:"axes",shape:[3],type:2,buffer:5},
			{name:"mean",shape:[],type:9,quantization:q}]
		| .subgraphs[0].outputs = [3, 9]
		| .subgraphs[0].operators += [{opcode_index:6,inputs:[3,8],outputs:[9],
			builtin_options_type:27,builtin_options:{keep_dims:false}}]'
}

# read_in_body: m.tflite is a ring that the model assigns and that a body of IF reads
read_in_body()
{
	ring 9 0 "0,0,0,0,0,0" '.operator_codes += [code(118)]
		| .subgraphs[0].tensors += [{name:"is",shape:[1],type:6},
			{name:"later",shape:[1,3,2],type:9,quantization:q}]
		| .subgraphs[0].inputs = [0, 8] | .subgraphs[0].outputs = [3, 9]
		| .subgraphs[0].operators += [{opcode_index:6,inputs:[8],outputs:[9],
			builtin_options_type:92,builtin_options:{then_subgraph_index:2,else_subgraph_index:2}}]
		| .subgraphs += [{name:"reader",inputs:[],outputs:[1],tensors:[{name:"handle",shape:[],type:13},
			{name:"now",shape:[1,3,2],type:9,quantization:q}],
		  operators:[{opcode_index:1,inputs:[],outputs:[0],builtin_options_type:111,
			builtin_options:{container:"",shared_name:"ring"}},
			{opcode_index:2,inputs:[0],outputs:[1],builtin_options_type:112,builtin_options:{}}]}]'
}
