# SPDX-License-Identifier: Apache-2.0
# npu-sched orders operators so that their feature maps need the least memory.

load lib/common

chain=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model
target=(-a ethos-u55-256 --system-config Ethos_U55_High_End_Embedded
	--memory-mode Shared_Sram)
map=$((24 * 24 * 16))

setup_file()
{
	[ -x "$chain" ] || skip "no $chain"
}

# fan OPTION...: schedules a fan of four branches
fan()
{
	"$chain" fan 11 >fan.tflite
	tfl-partition -o fan.part fan.tflite
	npu-sched "${target[@]}" "$@" -o fan.sched fan.part 2>notes
}

used()
{
	sed -n 's/^area .* used=\([0-9]*\).*/\1/p' "$1"
}

@test "the branches of a fan run one after the other" {
	fan
	# in the graph's order four results and their input are live at once
	[ "$(used fan.sched)" -lt $((5 * map)) ]
	# the first convolutions are o0 to o3, the second ones o4 to o7
	sed -n 's/^step .* run=\(o[0-7]\)\( .*\)\{0,1\}$/\1/p' fan.sched |
		uniq >runs
	[ "$(head -2 runs | tr -d '\n')" = o0o4 ]
	[ "$(sort -u runs | wc -l)" = 8 ]
}

@test "another order computes the same bytes and breaks no rule" {
	for o in --effort=3 --arena-cache-size=30000 --optimise=Size; do
		fan $o
		npu-wenc fan.sched | npu-cmdgen -o fan_npu.tflite
		npu-dis --verify -q fan_npu.tflite
		npu-sim --seed 1 --compare fan_npu.tflite fan.tflite
	done
}

@test "fixed addresses keep the graph's order" {
	"$chain" fan 11 >fan.tflite
	tfl-partition fan.tflite >fan.part
	sed '/^tensor  *t3 /s/$/ at=0x0/' fan.part >given.part
	grep -q " at=0x0" given.part
	npu-sched "${target[@]}" -o given.sched given.part
	# each operation's first kernel; stripes of a cascade take turns
	sed -n 's/^step .* run=o\([0-9]*\)\( .*\)\{0,1\}$/\1/p' given.sched |
		awk '!seen[$0]++' >runs
	sort -n runs | cmp - runs
}

# floats TENSOR [JQ]: a model with the custom operators A and B on the CPU, and DEQUANTIZE
# of TENSOR before A; JQ changes the model further
floats()
{
	local map="quantization:{scale:[0.5],zero_point:[3]}"
	# shellcheck disable=SC2154 # t is of lib/model
	model m ".operator_codes += [{deprecated_builtin_code:6,builtin_code:6,version:1},
			{deprecated_builtin_code:32,builtin_code:32,custom_code:\"A\"},
			{deprecated_builtin_code:32,builtin_code:32,custom_code:\"B\"},
			{deprecated_builtin_code:19,builtin_code:19,version:1}]
		| $t[0].shape = [1000,4] | $t[3].shape = [1000,2]
		| $t += [{shape:[1000,2],type:0,name:\"f\"},
			{shape:[1000,2],type:9,name:\"a\",$map},
			{shape:[1000,2],type:9,name:\"r\",$map},
			{shape:[1,2],type:9,name:\"b\",$map},
			{shape:[1000,2],type:9,name:\"state\",is_variable:true,$map}]
		| .subgraphs[0].outputs = [7]
		| .subgraphs[0].operators += [
			{opcode_index:1,inputs:[$1],outputs:[4]},
			{opcode_index:2,inputs:[3,8],outputs:[5]},
			{opcode_index:4,inputs:[5],outputs:[6]},
			{opcode_index:3,inputs:[6,4],outputs:[7]}]"
	tfl-partition -o m.part m.tflite 2>notes
	sed -n 's/^node .* on=cpu .* op=\([A-Z]*\) .*/\1/p' m.part | xargs >order
}

@test "a float feature map on the CPU is made before its first reader, and its bytes are counted" {
	load lib/model
	floats 3
	[ "$(cat order)" = "A DEQUANTIZE B" ]
	# DEQUANTIZE: 2000 bytes of its input, 8000 of f, 2000 of r
	refuses 1 'the smallest that works is 12000' \
		npu-sched "${target[@]}" --arena-cache-size=16 -o m.sched m.part
	[ ! -e m.sched ]
}

@test "a variable is read before other operators write it" {
	load lib/model
	floats 8
	[ "$(cat order)" = "DEQUANTIZE A B" ]
}
