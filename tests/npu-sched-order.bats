# SPDX-License-Identifier: Apache-2.0
# npu-sched runs operators in the order in which their maps need least memory.

load lib/common

chain=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model
target=(-a ethos-u55-256 --system-config Ethos_U55_High_End_Embedded
	--memory-mode Shared_Sram)
map=$((24 * 24 * 16))

setup_file()
{
	[ -x "$chain" ] || skip "no $chain"
}

# fan OPTION...: the fan of four ways, scheduled
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

@test "the ways of a fan run one after the other" {
	fan
	# in the graph's order four results and their input are live at once
	[ "$(used fan.sched)" -lt $((5 * map)) ]
	# first convolutions are o0 to o3, second ones o4 to o7
	sed -n 's/^step .* run=\(o[0-7]\)\( .*\)\{0,1\}$/\1/p' fan.sched |
		uniq >runs
	[ "$(head -2 runs | tr -d '\n')" = o0o4 ]
	[ "$(sort -u runs | wc -l)" = 8 ]
}

@test "what runs in another order computes the same, by the rules" {
	for o in --effort=3 --arena-cache-size=30000 --optimise=Size; do
		fan $o
		npu-wenc fan.sched | npu-cmdgen -o fan_npu.tflite
		npu-dis --verify -q fan_npu.tflite
		npu-sim --seed 1 --compare fan_npu.tflite fan.tflite
	done
}

@test "the graph's order stays where addresses are given" {
	"$chain" fan 11 >fan.tflite
	tfl-partition fan.tflite >fan.part
	sed '/^tensor  *t3 /s/$/ at=0x0/' fan.part >given.part
	grep -q " at=0x0" given.part
	npu-sched "${target[@]}" -o given.sched given.part
	sed -n 's/^step .* run=o\([0-9]*\)\( .*\)\{0,1\}$/\1/p' given.sched >runs
	sort -n runs | cmp - runs
}
