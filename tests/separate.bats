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

@test "a network without a tensor in the arena declares no array of 0 bytes" {
	need gcc g++
	[[ $BIN != *asan* ]] || skip "a sanitized library links with sanitizers only"
	local lib=${NPUTOOLS_BUILD:-$TOP/build}/libcommon.a driver=$TOP/tests/firmware/driver
	local warnings="-Wall -Wextra -Wpedantic -Werror" place
	model network
	mkinput --random=1 -o input_data.h --expected=expected_output.h network.tflite
	for place in "${u55[*]}" "${u65[*]}"; do
		# shellcheck disable=SC2086
		separate network.tflite $place
		call_runs x.tflite
		[ "$(value NET_CALL_ARENA_BYTES net.h)" = 0 ]
		[ "$(value NET_NPU_CACHE_BYTES net.h)" = 0 ]
		grep -q 'arena_memory: NULL, because CALL_ARENA_BYTES is 0' net.h
		tfl2c -n network -o network.h x.tflite
		grep -q 'scratch: NULL, because SCRATCH_BYTES is 0; fast' network.h
		# shellcheck disable=SC2086
		gcc -std=c11 -D_GNU_SOURCE $warnings -DNPU_BASE=0 -I. -I"$driver" \
			-I"$TOP/libcommon" -I"$TOP/schema" -o buffers "$TOP/scripts/examples/buffers.c" \
			"$driver/simulated.c" "$lib" -lm -pthread
		./buffers
		cat >both.cc <<-'END'
		#include "ethosu_driver.h"
		#include "net.h"
		#include "network.h"
		int run(struct ethosu_driver *d, const void *in, void *out);
		int run(struct ethosu_driver *d, const void *in, void *out)
		{
			return net_call(d, NULL, in, out) + network_invoke(d, NULL, in, out);
		}
		END
		# shellcheck disable=SC2086
		g++ -std=c++17 $warnings -Wold-style-cast -I"$driver" -c both.cc
	done
}

@test "variables keep their place between inputs and outputs" {
	separate "$(network trained_lstm_int8)" "${u55[@]}"
	tfl2c -n net x.tflite | grep -qx '#define NET_OUTPUT_0_REGION 6'
	call_runs x.tflite
}

# many NAME: 10 inputs and 6 outputs of four types, one of them read again; most of them do
# not end at a multiple of 16
many()
{
	need flatc jq
	jq -n '
	def q: {scale:[0.05],zero_point:[3]}; def q0: {scale:[0.01],zero_point:[0]};
	def t($n; $type; $shape; $q): {name:$n,type:$type,shape:$shape,buffer:0,quantization:$q};
	def code($n): {deprecated_builtin_code:$n,builtin_code:$n,version:1};
	def add: {builtin_options_type:11,builtin_options:{}};
	{version:3, operator_codes:[code(0),code(55),code(17)], buffers:[{}],
	subgraphs:[{inputs:[range(10)], outputs:[10,11,12,13,14,15], tensors:[
		t("a";9;[1,3,5,7];q), t("b";9;[1,3,5,7];q), t("c";9;[1,3,5,7];q),
		t("d";7;[1,2,9,5];q0), t("e";7;[1,2,9,5];q0),
		t("f";2;[1,1,1,7];q0),
		t("g";3;[1,1,1,33];q), t("h";3;[1,1,1,33];q),
		t("i";2;[1,1,1,7];q0), t("j";9;[1,6,6,20];q),
		t("k";9;[1,3,5,7];q), t("l";9;[1,3,5,7];q), t("m";7;[1,2,9,5];q0),
		t("n";2;[1,1,1,7];q0), t("o";3;[1,1,1,33];q),
		t("p";9;[1,3,3,20];q)],
	operators:[
		{opcode_index:0,inputs:[0,1],outputs:[10]} + add,
		{opcode_index:0,inputs:[10,2],outputs:[11]} + add,
		{opcode_index:0,inputs:[3,4],outputs:[12]} + add,
		{opcode_index:1,inputs:[5,8],outputs:[13]},
		{opcode_index:1,inputs:[6,7],outputs:[14]},
		{opcode_index:2,inputs:[9],outputs:[15],builtin_options_type:5,
			builtin_options:{stride_w:2,stride_h:2,filter_width:2,filter_height:2}}]}]}
	' >"$1.json"
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" "$1.json"
}

@test "more than five inputs and outputs share two base addresses" {
	many many
	separate many.tflite "${u55[@]}"
	grep -q '^area  *io3 region=3 used=' x.sched
	grep -q '^area  *io4 region=4 used=' x.sched
	run ! grep -q 'io5' x.sched
	call_runs x.tflite
	grep -qx '#define NET_INPUT_1_REGION 3' net.h
	grep -qx '#define NET_INPUT_1_REGION_OFFSET 112' net.h # 3 * 5 * 7 bytes, rounded up
	grep -qx '#define NET_OUTPUT_5_REGION 4' net.h
	[ "$(npu-perf --json "${u55[@]:2}" x.tflite | jq .separate_io_bytes)" -gt 1800 ]
	separate many.tflite "${u65[@]}"
	call_runs x.tflite
	# the buffer of the previous frame is another one
	sed -i 's/, own_inputs\[(frame)/, own_inputs[(frame + 1)/' call_glue.h
	run call_link x.tflite
	[ "$status" -eq 1 ]
	accel=(-a ethos-u85-256)
	separate many.tflite "${u85[@]}"
	call_runs x.tflite
	accel=()
	separate many.tflite "${u55[@]}" --optimise=Size
	npucc "${u55[@]}" --separate-io-regions --keep=kept --check -o x.tflite many.tflite \
		>/dev/null 2>&1
	jq -e '.inputs[2].arena_offset == null and .inputs[2].region == 3 and
		.inputs[2].region_offset == 224 and .outputs[5].region == 4' kept/manifest.json
}

# transfers wait for operations that touch the same bytes of a shared region only
@test "a row of --front has the cycles of its plan, also with shared base addresses" {
	local seed bytes cycles rest
	local system=(-a ethos-u65-256 --system-config Ethos_U65_High_End
		--memory-mode Shared_Sram)
	for seed in 800033 810008; do
		"${chain%/*}/gen-model" -g $seed >drawn.tflite
		tfl-partition --allow=unequal-quantization --separate-io-regions -a ethos-u65-256 \
			-o drawn.part drawn.tflite 2>notes
		npu-sched "${system[@]}" --front -o rows drawn.part
		read -r bytes cycles rest < <(tail -1 rows)
		npu-sched "${system[@]}" --arena-cache-size="$bytes" -o drawn.sched \
			drawn.part
		grep "^target .* cycles=$cycles " drawn.sched
	done
}

@test "a wrong place in a shared region is found" {
	many many
	separate many.tflite "${u55[@]}"
	# two inputs of 28 bytes exchanged
	sed '/^tensor  *t5 /s/at=0x2d0/at=0x2f0/; /^tensor  *t8 /s/at=0x2f0/at=0x2d0/' x.sched >y.sched
	refuses 2 "t5 at 0x2f0 in io3: a tensor outside of the arena must be at 0x2d0 there" \
		npu-wenc y.sched
	# OFM_REGION 4 becomes 1: the results go into the arena
	sed 's/\x1f\x01\x04\x00/\x1f\x01\x01\x00/' x.tflite >y.tflite
	run -1 npu-dis --verify y.tflite
	[[ "$output" == *"of its memory belongs to output 0, and nothing has written it"* ]]
	# the plan has output 1 at 0x6b0: behind 1600 bytes of inputs and the 112 of output 0
	sed 's/\xb0\x06\x00\x00/\xc0\x06\x00\x00/' x.tflite >y.tflite
	run -1 npu-dis --verify --source=x.wenc y.tflite
	[[ "$output" == *"t11 is planned at 0x80, the graph has it at 0x70"* ]]
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
