# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# After lib/common:  load lib/model

t='.subgraphs[0].tensors' # for the programs that are passed to model

# model NAME [JQ-PROGRAM]: flatc makes NAME.tflite in the current directory from
# tests/models/fc.json (one FULLY_CONNECTED), after JQ-PROGRAM has changed the JSON
model()
{
	need flatc jq
	if [ $# -gt 1 ]; then # jq takes 20 ms to start
		jq "$2" "$TOP/tests/models/fc.json" >"$1.json" || return
	else
		cp "$TOP/tests/models/fc.json" "$1.json"
	fi
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" "$1.json" && rm -f "$1.json"
}

# npu_model NAME CONFIG: an ethos-u model from the JSON, with 4 opaque tensors, one input
# and one output.  The command stream is one NPU_OP_STOP.  CONFIG gives the bytes of the
# CONFIG word.
npu_model()
{
	local stream="67,79,80,49, 1,0,16,0, $2, 0,0,6,16, 5,0,0,0, 5,0,0,0, 5,0,0,0, 2,0,1,0, 0,0,255,255"
	model "$1" ".operator_codes = [{deprecated_builtin_code:32,builtin_code:32,custom_code:\"ethos-u\"}]
		| $t = [
		{shape:[36],type:3,buffer:1,name:\"cs\"},
		{shape:[16],type:3,buffer:2,name:\"flash\"},
		{shape:[96],type:3,name:\"scratch\"},
		{shape:[96],type:3,name:\"fast\"},
		{shape:[1,20],type:9,name:\"in\",quantization:{scale:[0.5],zero_point:[-10]}},
		{shape:[1,5],type:3,name:\"out\",quantization:{scale:[0.1],zero_point:[100]}}]
		| .subgraphs[0].inputs = [4] | .subgraphs[0].outputs = [5]
		| .subgraphs[0].operators = [{inputs:[0,1,2,3,4],outputs:[5]}]
		| .buffers = [{}, {data:[$stream]}, {data:[range(16)]},
		  {data:[0,0,0,0, 1,0,0,0, 6,0,0,0, 255,255,255,255, 255,255,255,255, 0,0,0,0, 0,0,0,0, 64,0,0,0, 80,0,0,0]}]
		| .metadata = [{name:\"OfflineMemoryAllocation\",buffer:3}]"
}
U55_128="7,24,0,0" # CONFIG word of ethos-u55-128

# value MACRO HEADER: the value of a macro in a header of tfl2c
value()
{
	sed -n "s/^#define $1 //p" "$2"
}

# ends NAME [JQ]: QUANTIZE, FULLY_CONNECTED, DEQUANTIZE
ends()
{
	model "$1" ".operator_codes += [{deprecated_builtin_code:114,builtin_code:114,version:1},
			{deprecated_builtin_code:6,builtin_code:6,version:1}]
		| $t += [{shape:[1,4],type:0,name:\"real in\"},{shape:[1,2],type:0,name:\"real out\"}]
		| .subgraphs[0].inputs = [4] | .subgraphs[0].outputs = [5]
		| .subgraphs[0].operators |= [{opcode_index:1,inputs:[4],outputs:[0]}] + . +
			[{opcode_index:2,inputs:[3],outputs:[5]}]${2:+ | $2}"
}

# wide_model NAME: three windows over feature maps of 512 KiB, more than some memories have
wide_model()
{
	model "$1" ".operator_codes = [{deprecated_builtin_code:17,builtin_code:17}]
		| $t = [range(4) | {shape:[1,256,256,8],type:9,name:\"x\(.)\",
			quantization:{scale:[0.5],zero_point:[0]}}]
		| .subgraphs[0].inputs = [0] | .subgraphs[0].outputs = [3]
		| .subgraphs[0].operators = [range(3) | {inputs:[.],outputs:[. + 1],
			builtin_options_type:5,builtin_options:{padding:0,stride_w:1,stride_h:1,
			filter_width:3,filter_height:3}}]
		| .buffers = [{}]"
}
