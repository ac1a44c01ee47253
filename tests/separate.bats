#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Inputs and outputs outside of the arena: --separate-io-regions.
bats_require_minimum_version 1.5.0

load lib/common
load lib/model
load lib/call

chain=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model
digits=$TOP/tests/models/digits.tflite
u55=(-a ethos-u55-256 --system-config Ethos_U55_High_End_Embedded
	--memory-mode Shared_Sram)
u65=(-a ethos-u65-512 --system-config Ethos_U65_High_End --memory-mode Dedicated_Sram)
u85=(-a ethos-u85-256 --system-config Ethos_U85_SYS_Flash_High
	--memory-mode Shared_Sram)

# separate MODEL OPTION...: makes x.tflite, with x.part, x.sched and x.wenc
separate()
{
	tfl-partition "${accel[@]}" --separate-io-regions "${lay[@]}" -o x.part "$1"
	npu-sched "${@:2}" -o x.sched x.part 2>notes
	npu-wenc -o x.wenc x.sched
	npu-cmdgen -o x.tflite x.wenc
	npu-dis --verify --source=x.wenc -q x.tflite
	npu-sim --seed 3 --compare "$1" x.tflite >/dev/null
}

accel=() lay=()

@test "the bytes are the same, and the arena does not contain inputs and outputs" {
	"$chain" fan 11 >fan.tflite
	for m in fan.tflite "$digits"; do
		separate "$m" "${u55[@]}"
		separate "$m" "${u65[@]}"
		separate "$m" "${u55[@]}" --batch=3
		separate "$m" "${u55[@]}" --optimise=Size
		accel=(-a ethos-u85-256)
		separate "$m" "${u85[@]}"
		accel=()
	done
	for l in nhcwb16 nchw nhwc,row-stride=640; do
		lay=("--input-layout=$l" "--output-layout=$l")
		separate fan.tflite "${u55[@]}"
	done
	grep -q '^tensor .* io=in .* area=io3 at=0x0 ' x.sched
	grep -q '^tensor .* io=out .* area=io4 at=0x0 ' x.sched
	grep -q '^area  *io3 region=3 used=15104$' x.sched # 23 * 640 + 24 * 16
	# the other tensors need no more space when inputs and outputs are outside
	used() { sed -n 's/^area  *arena region=1 used=\([0-9]*\).*/\1/p' "$1"; }
	npu-sched "${u55[@]}" -o y.sched <(tfl-partition fan.tflite) 2>notes
	lay=()
	separate fan.tflite "${u55[@]}"
	[ "$(used x.sched)" -lt "$(used y.sched)" ]
}

@test "compiled file, header and manifest say which base pointer belongs to which tensor" {
	npucc "${u55[@]}" --separate-io-regions --keep=kept --check -o x.tflite "$digits" \
		>/dev/null 2>&1
	jq -e '.inputs[0].arena_offset == null and .inputs[0].region == 3 and
		.outputs[0].arena_offset == null and .outputs[0].region == 4' kept/manifest.json
	tfl2c -n net --memory-mode=Dedicated_Sram x.tflite >net.h
	grep -qx '#define NET_INPUT_0_REGION 3' net.h
	grep -qx '#define NET_OUTPUT_0_REGION 4' net.h
	run ! grep -q 'PUT_0_ARENA_OFFSET [0-9]' net.h
	# inputs and outputs must be in memory on the arena's port
	printf '#define NPU_REGIONCFG_4 %d\n#include "net.h"\n' 1 >t.c
	run "${CC:-cc}" -c t.c
	[[ "$output" == *"net wants NPU_REGIONCFG_4 2 or 3, the port of the arena"* ]]
	sed -i 's/CFG_4 1/CFG_4 3/' t.c
	"${CC:-cc}" -Werror -c t.c
	# the application's own memory, reported beside the arena's
	[ "$(npu-perf --json "${u55[@]:2}" x.tflite | jq .separate_io_bytes)" = 794 ]
	npu-perf "${u55[@]:2}" x.tflite |
		grep -qx 'Inputs and outputs outside of the arena *0.78 KiB'
	# unchanged without the option
	npucc "${u55[@]}" -o y.tflite "$digits" 2>/dev/null
	tfl2c -n net y.tflite >net.h
	run ! grep -q REGION\  net.h
}

@test "two alternating buffers work as a C function and through the header" {
	"$chain" fan 11 >fan.tflite
	separate "$digits" "${u65[@]}"
	call_runs x.tflite
	separate fan.tflite "${u55[@]}"
	call_runs x.tflite
	# the buffer of the previous frame is another one
	sed -i 's/, in\[0\]/, own_input_0[0]/' call_glue.h
	run call_link x.tflite
	[ "$status" -eq 1 ]
}

@test "variables keep their place between inputs and outputs" {
	separate "$(network trained_lstm_int8)" "${u55[@]}"
	tfl2c -n net x.tflite | grep -qx '#define NET_OUTPUT_0_REGION 6'
	call_runs x.tflite
}

@test "what can't be had is refused with the reason" {
	s="--separate-io-regions is not possible"
	refuses 2 "$s: operator 0, CONV_2D, runs on the CPU" \
		tfl-partition --separate-io-regions --cpu=0 "$digits"
	"$chain" fan 11 >fan.tflite
	separate fan.tflite "${u55[@]}"
	refuses 2 "t0 is outside of the arena, which npz and vela-bin do not support" \
		npu-cmdgen --emit=npz -o x.npz x.wenc
	# edited graphs
	sed '/^tensor  *t0 /s/area=io3/area=io4/' x.part >y.part
	refuses 2 "t0 in io4: by the order of n0's inputs and outputs it is io3" \
		npu-sched "${u55[@]}" y.part
	sed '/^tensor  *t2 /s/$/ area=io3/' x.part >y.part
	refuses 2 "t2 in io3: only an input or output of the model can be outside of the arena" \
		npu-sched "${u55[@]}" y.part
	sed '/^tensor  *t0 /s/at=0x0/at=0x10/' x.sched >y.sched
	refuses 2 "t0 at 0x10 in io3: a tensor outside of the arena must be at 0x0" \
		npu-wenc y.sched
	sed '/^area  *io3 /s/used=.*/used=16/' x.sched >y.sched
	refuses 2 "exceeds the io3, which has 16 bytes" npu-wenc y.sched
}

@test "an unwritten output behind its base pointer is found" {
	"$chain" fan 11 >fan.tflite
	separate fan.tflite "${u55[@]}"
	# OFM_REGION 4 becomes 1: the result goes into the arena
	sed 's/\x1f\x01\x04\x00/\x1f\x01\x01\x00/' x.tflite >y.tflite
	run -1 npu-dis --verify y.tflite
	[[ "$output" == *"byte 0x0 of its memory belongs to output 0, and nothing has written it"* ]]
}
