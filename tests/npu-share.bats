#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# npu-share: several networks on one memory.  tests/unit/share.c proves the choice and the
# placement by enumeration.

load lib/common
load lib/model
load lib/state

setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return
	local bin=${NPUTOOLS_TESTBIN:-$TOP/build/tests}
	cp "$TOP/tests/models/digits.tflite" digits.tflite
	tfl-partition --cut-only --cut-outputs=pw4 -o front.tflite digits.tflite 2>notes
	tfl-partition --cut-only --cut-inputs=pw4 -o back.tflite digits.tflite 2>notes
	"$bin/gen-model" 12 UNIDIRECTIONAL_SEQUENCE_LSTM >lstm.tflite
	"$bin/chain-model" block 4 16 8 >block.tflite
}

u55=(-a ethos-u55-256 --system-config RTSS_HP_SRAM_MRAM --memory-mode Shared_Sram)

# share OPTION...: the report in JSON
share()
{
	npu-share "${u55[@]}" --runs=40 --json "$@" >share.json
}

@test "networks that never run together share bytes, and others do not" {
	need jq
	cd "$BATS_FILE_TMPDIR"
	share digits.tflite block.tflite
	jq -e '.arena == ([.networks[].arena] | max) and .arenas_apart == ([.networks[].arena] | add) and .exact' share.json
	share --together=digits,block digits.tflite block.tflite
	jq -e '.arena == ([.networks[].arena] | add) and
		(.networks | sort_by(.at) | .[0].at + .[0].arena <= .[1].at) and .runs >= 40' share.json
}

@test "no other network uses the bytes of a variable" {
	need jq
	cd "$BATS_FILE_TMPDIR"
	npu-share "${u55[@]}" --runs=1 digits.tflite lstm.tflite block.tflite >table 2>notes
	share digits.tflite lstm.tflite block.tflite
	# the report says why the other arenas begin behind these bytes
	jq -e '[.networks[].at] | sort | .[0] == 0 and .[1] > 0' share.json
	local end bytes
	read -r end bytes <<<"$(jq -r '"\([.networks[].at] | max) \([.networks[].states[].bytes / 16 | ceil * 16] | add)"' share.json)"
	grep -qE "^$bytes bytes keep the variables of lstm, between offsets [0-9]+ and $end: no other network uses these$" table
	[ "$(grep -c 'keep the variables' table)" = 1 ]
	jq -e '.networks as $n | [$n[] | select(.states != [])] | length == 1 and
		all(.[]; . as $k | all($n[] | select(.name != $k.name);
			. as $o | all($k.states[]; .at + .bytes <= $o.at or $o.at + $o.arena <= .at)))' share.json
}

@test "an output is the input of another network at the same address" {
	need jq
	cd "$BATS_FILE_TMPDIR"
	share --chain=front,back front.tflite back.tflite block.tflite lstm.tflite
	jq -e '(.networks | map({key: .name, value: .}) | from_entries) as $n |
		$n.front.outputs[0] == $n.back.inputs[0] and
		($n.front.outputs[0] as $t | [$n.block, $n.lstm] |
			all(.[]; .at + .arena <= $t.at or $t.at + $t.bytes <= .at))' share.json
	refuses 2 "has 1 outputs" npu-share "${u55[@]}" --chain=front.1,back front.tflite back.tflite
	refuses 2 "share no byte" npu-share "${u55[@]}" --chain=front,back --together=front,back \
		front.tflite back.tflite
	refuses 2 "--chain: output 0 of back has 10 bytes of INT8" npu-share "${u55[@]}" --chain=back,front \
		front.tflite back.tflite
}

@test "equal constants are stored once" {
	need jq
	cd "$BATS_FILE_TMPDIR"
	share one=digits.tflite two=digits.tflite
	jq -e '.flash_apart - .flash >= .networks[0].flash - 256 and .networks[0].flash == .networks[1].flash' share.json
	# a part of another network: the same layers without the last ones
	share digits.tflite front.tflite
	jq -e '.flash_apart - .flash > 1000' share.json
	refuses 2 "two networks have the name digits" npu-share "${u55[@]}" digits.tflite digits.tflite
}

@test "less memory takes more time, by the network that pays least for it" {
	need jq
	cd "$BATS_FILE_TMPDIR"
	share --rate=digits=100 --together=digits,block digits.tflite block.tflite
	local all time less
	read -r all time less <<<"$(jq -r '"\(.arena) \(.time) \(.kilobyte_less.arena.time)"' share.json)"
	share --rate=digits=100 --together=digits,block --sram=$((all - 1024)) digits.tflite block.tflite
	jq -e --argjson t "$time" --argjson l "$less" --argjson b $((all - 1024)) '.arena <= $b and .time >= $t and
		(.time - $l | fabs) <= 0.05 * $l' share.json
	# the sum of the pays is the cost
	share --together=digits,block digits.tflite block.tflite
	jq -e '.kilobyte_less.arena | (([.payers[].pays] | add) - .costs | fabs) < 1e-9 and (.payers | length) >= 1' share.json
	refuses 1 "the networks do not fit 1024 bytes of SRAM: they need" npu-share "${u55[@]}" --sram=1K \
		digits.tflite block.tflite
	refuses 1 "bytes of flash" npu-share "${u55[@]}" --flash=1K digits.tflite block.tflite
}

@test "without --sram, plans of less SRAM may take 5 % more time" {
	need jq
	cd "$BATS_FILE_TMPDIR"
	local of=(--rate=digits=100 "--together=digits,block" digits.tflite block.tflite)
	share "${of[@]}"
	# the limits of both
	jq -e '.within == 5 and .arena < .fastest.arena and .time > .fastest.time and
		.time <= 1.05 * .fastest.time' share.json
	local bytes
	bytes=$(jq .arena share.json)
	npu-share "${u55[@]}" "${of[@]}" 2>notes >table
	grep -qE '^time: [0-9.]+ ms in each second; --within=0: [0-9.]+ ms in each second, [0-9]+ bytes of SRAM$' table
	grep -q '^proved: no other plans take less time in so many bytes of SRAM' table
	# what more time would save, and does
	jq -e '.arena as $a | .fastest.time as $t | .smaller | length > 0 and
		all(.[]; .arena < $a and .time <= (1 + .within / 100) * $t) and
		([.[].arena] | . == (sort | reverse))' share.json
	local percent less
	read -r percent less <<<"$(jq -r '.smaller[0] | "\(.within) \(.arena)"' share.json)"
	grep -q "^--within=$percent: .* ms in each second, $less bytes of SRAM$" table
	npu-share --json "${u55[@]}" "--within=$percent" "${of[@]}" | jq -e --argjson b "$less" '.arena <= 1.01 * $b'
	# fewer bytes take more than 5 %
	share --sram=$((bytes - 16)) "${of[@]}"
	jq -e '.within == 0 and .time == .fastest.time' share.json
	jq -e --argjson t "$(jq .fastest.time share.json)" \
		--slurpfile w <(npu-share --json "${u55[@]}" "${of[@]}") -n '$t > 1.05 * $w[0].fastest.time'
	refuses 2 "--within saves SRAM of the arenas, and those of this NPU are in DRAM; leave it out" \
		npu-share --part=nxp-imx93 --within=5 digits.tflite
	share --within=0 "${of[@]}"
	jq -e '.arena == .fastest.arena and .time == .fastest.time' share.json
}

@test "the report says of other budgets what a run with them gives" {
	need jq
	cd "$BATS_FILE_TMPDIR"
	# the variables of lstm count before the plan of its row is compiled
	local of=(lstm.tflite digits.tflite block.tflite) percent bytes time
	share "${of[@]}"
	cp share.json first.json
	jq -e '.smaller | length >= 2' first.json
	while read -r percent bytes time; do
		share "--within=$percent" "${of[@]}"
		jq -e --argjson b "$bytes" --argjson t "$time" '.arena == $b and .time == $t' share.json
	done < <(jq -r '.smaller[], (.fastest + {within: 0}) | "\(.within) \(.arena) \(.time)"' first.json)
	read -r bytes time <<<"$(jq -r '"\(.arena - 1024) \(.kilobyte_less.arena.time)"' first.json)"
	share "--sram=$bytes" "${of[@]}"
	jq -e --argjson t "$time" '.time == $t' share.json
	# a budget that is large enough changes no line
	share --sram=1M "${of[@]}"
	jq -e --slurpfile f first.json '.smaller == $f[0].smaller' share.json
}

@test "a refusal names the least budget that works" {
	cd "$BATS_FILE_TMPDIR"
	# the variables of lstm take no bytes of another network
	local of=("${u55[@]}" --runs=1 lstm.tflite digits.tflite block.tflite) o bytes
	for o in "--sram=1K" "--flash=1K" "--flash=23K --sram=8K" "--deadline=digits=0.08 --sram=1K"; do
		# shellcheck disable=SC2086
		! npu-share $o "${of[@]}" 2>refusal || return 1
		bytes=$(sed -nE 's/.* need ([0-9]+) at least$/\1/p' refusal)
		# shellcheck disable=SC2086
		npu-share ${o%=*}="$bytes" "${of[@]}" >table 2>notes
		# shellcheck disable=SC2086
		! npu-share ${o%=*}=$((bytes - 16)) "${of[@]}" 2>refusal || return 1
	done
}

@test "--integer-io leaves out float inputs and outputs" {
	need jq
	cd "$BATS_FILE_TMPDIR"
	ends real
	refuses 1 " at least; --integer-io leaves out the float inputs and outputs of real" \
		npu-share "${u55[@]}" --sram=16 real.tflite digits.tflite
	share --integer-io -o integer real.tflite digits.tflite
	jq -e '.networks[0].inputs[0].bytes == 4 and .networks[0].outputs[0].bytes == 2' share.json
	npu-sim --compare=real.tflite integer/real_npu.tflite
	[ ! -e integer/real.c ]
}

# memories ARENA BYTES CONSTANTS BYTES: board.ini, a part with these memories
memories()
{
	cat >board.ini <<-END
		[Part.board]
		accelerator = ethos-u55-128
		system_config = RTSS_HE_SRAM_Only
		memory_mode = Shared_Sram
		arena_memory = $1
		arena_bytes = $2
		constant_memory = $3
		constant_bytes = $4
	END
}

@test "one memory of arenas and constants is one budget, two memories are two" {
	need jq
	cd "$BATS_FILE_TMPDIR"
	local on=(npu-share --part=./board.ini --runs=10 --within=0 "--together=digits,block") all time
	memories SRAM0 65536 MRAM 65536
	"${on[@]}" --json digits.tflite block.tflite >two.json
	jq -e '.memory_budget == null and .arena_budget == 65536 and .flash_budget == 65536' two.json
	read -r all time <<<"$(jq -r '"\(.arena + .flash) \(.time)"' two.json)"
	# the same plans fit one memory of the sum
	memories DTCM "$all" DTCM "$all"
	"${on[@]}" --json digits.tflite block.tflite >one.json
	jq -e --argjson b "$all" --argjson t "$time" '.memory_budget == $b and
		.arena_budget == null and .flash_budget == null and
		.arena + .flash == $b and .time == $t' one.json
	# so do the figures for less of that memory
	local less
	less=$(jq '.kilobyte_less.memory.time' one.json)
	jq -e '.kilobyte_less | keys == ["memory"]' one.json
	"${on[@]}" digits.tflite block.tflite 2>notes | grep -c '1024 less than used' >lines
	[ "$(cat lines)" = 1 ]
	# each of arenas and constants fits 1 KiB less, and the plans together do not
	memories DTCM $((all - 1024)) DTCM $((all - 1024))
	"${on[@]}" --json digits.tflite block.tflite >one.json
	jq -e --argjson b $((all - 1024)) --argjson t "$time" --argjson l "$less" \
		'.arena + .flash <= $b and .time > $t and .time == $l' one.json
	"${on[@]}" digits.tflite block.tflite >table 2>notes
	grep -qx "DTCM: [0-9]* bytes of $((all - 1024))" table
	jq -e '.flash < 16384' one.json
	# --within saves bytes of both
	memories DTCM 65536 DTCM 65536
	npu-share --part=./board.ini --runs=1 --within=25 --together=digits,block digits.tflite block.tflite >table 2>notes
	grep -qE '^time: .*; --within=0: [0-9.]+ ms in each second, [0-9]+ bytes of DTCM$' table
	npu-share --part=./board.ini --runs=1 --within=25 --together=digits,block --json digits.tflite block.tflite >one.json
	jq -e '.arena + .flash < .fastest.arena + .fastest.flash' one.json
	# no plans fit: the arenas alone would, and so would the constants
	memories DTCM 16384 DTCM 16384
	run -1 "${on[@]}" digits.tflite block.tflite
	[[ $output =~ "do not fit 16384 bytes of DTCM: arenas and constants together need "([0-9]+)" at least"$ ]]
	memories DTCM "${BASH_REMATCH[1]}" DTCM 16384
	"${on[@]}" digits.tflite block.tflite >table 2>notes
	refuses 1 "the networks do not fit 4096 bytes of DTCM: they need" "${on[@]}" --flash=4K \
		digits.tflite block.tflite
}

@test "a deadline counts the networks that may run first" {
	need jq
	cd "$BATS_FILE_TMPDIR"
	share --deadline=digits=100 --together=digits,block digits.tflite block.tflite
	jq -e '.networks | .[0].rate == 0 and (.[0].response - .[0].seconds - .[1].seconds | fabs) < 1e-12' share.json
	local ms
	share digits.tflite block.tflite
	ms=$(jq '1000.1 * .networks[0].seconds' share.json)
	share --deadline="digits=$ms" digits.tflite block.tflite
	refuses 1 "hold the deadline of digits" npu-share "${u55[@]}" --together=digits,block \
		--deadline="digits=$ms" digits.tflite block.tflite
}

@test "a network without weight takes the fastest plan that memory allows" {
	need jq
	cd "$BATS_FILE_TMPDIR"
	local seconds bytes
	share --sram=1M digits.tflite
	read -r seconds bytes <<<"$(jq -r '.networks[0] | "\(.seconds) \(.arena)"' share.json)"
	share --sram=1M --deadline=digits=100 digits.tflite
	jq -e --argjson s "$seconds" '.networks[0].seconds == $s and .time == 0 and .bound == 0' share.json
	npu-share "${u55[@]}" --sram=1M --deadline=digits=100 digits.tflite >table 2>notes
	! grep -q ' ms less' table || return 1
	grep -q '^time: [0-9.]* ms for a run of each network$' table
	# the time of the other network comes first
	share --sram="$bytes" --together=digits,block --deadline=digits=100 digits.tflite block.tflite
	share --sram="$(jq .arena share.json)" --together=digits,block --rate=digits=0 digits.tflite block.tflite
	jq -e --argjson s "$seconds" '.networks[0].seconds > $s' share.json
	seconds=$(jq '.networks[1].seconds' share.json)
	share --sram=1M block.tflite
	jq -e --argjson s "$seconds" '.networks[0].seconds == $s' share.json
}

@test "costs below the digits of the table are no numbers" {
	cd "$BATS_FILE_TMPDIR"
	npu-share "${u55[@]}" --runs=1 --sram=1M --rate=digits=0.01 digits.tflite >table 2>notes
	# less than what is used, and not than the budget
	local used
	used=$(sed -nE 's/^SRAM: ([0-9]+) bytes of 1048576.*/\1/p' table)
	grep -q "^$((used - 1024)) bytes of SRAM, 1024 less than used, would cost " table
	grep -q 'would cost less than 0.0001 ms in each second; each run of digits takes 0.00[0-9]* ms more$' table
	! grep -qE 'e-[0-9]+ ms' table || return 1
}

@test "the files: a header that compiles, a picture, reports, models" {
	need cc xmllint
	cd "$BATS_FILE_TMPDIR"
	npu-share "${u55[@]}" --name=two -o out digits.tflite lstm.tflite >table
	cmp table out/two.txt
	xmllint --noout out/two.svg
	npu-sim --compare=digits.tflite out/digits_npu.tflite >sim
	cat >use.c <<-'END'
		#include "ethosu_driver.h"
		#include "two.h"
		static unsigned char arena[TWO_ARENA_BYTES] __attribute__((aligned(16)));
		int use(struct ethosu_driver *d);
		int use(struct ethosu_driver *d) {
			two_lstm_reset(arena);
			arena[TWO_DIGITS_INPUT_0_OFFSET] = 1;
			return two_digits_run(d, arena) + two_lstm_run(d, arena); }
	END
	cc -std=c11 -Wall -Wextra -Werror -Iout -I"$TOP/tests/firmware/driver" -c -o use.o use.c
	# the same input gives the same bytes
	npu-share "${u55[@]}" --name=two -j1 -o again digits.tflite lstm.tflite >table
	diff -r out again
	refuses 2 "is no identifier" npu-share "${u55[@]}" --name=2x digits.tflite
	run -0 --separate-stderr npu-share "${u55[@]}" --runs=1 digits.tflite lstm.tflite
	[[ $stderr == "npu-share: note: no file was written; -o DIR writes "* ]]
	# a column of deadlines only where one was given
	[[ $output != *deadline* && $output =~ [0-9]+" bytes of SRAM, 1024 less than used, would cost " ]]
	refuses 2 "no models" npu-share "${u55[@]}"
	refuses 2 "no network is called 'digit'; did you mean digits?" npu-share "${u55[@]}" --rate=digit=1 digits.tflite
}

@test "under TensorFlow Lite Micro the arenas have the buffers of the interpreters" {
	need jq
	cd "$BATS_FILE_TMPDIR"
	share --together=digits,lstm digits.tflite lstm.tflite
	cp share.json bare.json
	share --tflm --together=digits,lstm -o tflm digits.tflite lstm.tflite
	cmp share.json tflm/share.json
	# larger by the base addresses for the driver, at least
	jq -es 'all(range(2); . as $k | $d[0].networks[$k].arena < $d[1].networks[$k].arena or
		$d[0].networks[$k].row != $d[1].networks[$k].row) and
		($d[1].networks | all(.[]; .persistent > 300 and .at % 16 == 0))' --slurpfile d <(cat bare.json share.json) <<<1
	local n at
	for n in digits lstm; do
		read -r at <<<"$(sed -n "s/^#define ${n^^}_NON_PERSISTENT_ARENA_SIZE //p" tflm/$n.h)"
		jq -e --arg n $n --argjson at "$at" '.networks[] | select(.name == $n) | .arena >= $at' share.json
		grep -q "^${n}_add_operators(" tflm/$n.h
		grep -q "^share_${n}_start(uint8_t \*arena)" tflm/share.h
	done
	# a network with variables can be reset
	grep -q '^share_lstm_reset()' tflm/share.h
	! grep -q 'share_digits_reset' tflm/share.h || return 1
	# offsets are for C, too
	printf '#include "share.h"\nchar arena[SHARE_ARENA_BYTES];\n' >t.c
	cc -std=c11 -Wall -Wextra -Werror -Itflm -c t.c
	# each model is stored whole
	jq -e --argjson b "$(cat tflm/*.tflite | wc -c)" '.flash >= $b' share.json
}

@test "operators of the CPU, and an SRAM of the NPU's own" {
	need jq
	cd "$BATS_FILE_TMPDIR"
	model fc '.operator_codes += [{deprecated_builtin_code:6,builtin_code:6}]
		| .subgraphs[0].tensors += [{shape:[1,2],type:0,name:"real"}]
		| .subgraphs[0] |= (.outputs = [4] | .operators += [{opcode_index:1,inputs:[3],outputs:[4]}])'
	npu-share "${u55[@]}" --together=fc,digits -o cpu fc.tflite digits.tflite >table
	[ -e cpu/fc.c ]
	[ ! -e cpu/digits.c ]
	grep -q '^#include "fc.h"' cpu/share.h
	npu-share -a ethos-u65-256 --system-config Ethos_U65_High_End --memory-mode Dedicated_Sram \
		--json --together=block,digits block.tflite digits.tflite |
		jq -e '.arena_in == "dram" and .fast == ([.networks[].fast] | max)'
}

# three ROOM MODELS...: the networks fit the bytes together; apart, their fastest plans do not
three()
{
	local room=$1 m apart=0
	shift
	for m; do
		apart=$((apart + $(npucc -q --front --json "${u55[@]}" "$m" | jq '.front[-1].sram')))
	done
	[ "$apart" -gt "$room" ]
	share --sram="$room" --together="$(basename -s .tflite -a "$@" | tr . _ | paste -sd,)" "$@"
	jq -e --argjson room "$room" '.arena <= $room and .exact' share.json
}

@test "a network keeps its compiled model while another one changes" {
	need jq
	cd "$BATS_FILE_TMPDIR"
	local limit on=(--tflm "--together=digits,other")
	share "${on[@]}" --within=0 -o old digits.tflite other=block.tflite
	limit=$(jq '.networks[0].limit' share.json)
	npucc "${u55[@]}" --arena-cache-size="$limit" -o same.tflite digits.tflite
	cmp old/digits_npu.tflite same.tflite
	# another network, and less memory: another plan of digits is better
	share --tflm --within=100 -o new digits.tflite other=lstm.tflite
	! cmp -s old/digits_npu.tflite new/digits_npu.tflite || return 1
	share --tflm --within=100 --arena-cache-size=digits="$limit" -o new digits.tflite other=lstm.tflite
	cmp old/digits_npu.tflite new/digits_npu.tflite
	jq -e --argjson l "$limit" '.networks[0].rows == 1 and .networks[0].limit == $l' share.json
	refuses 1 "digits: error: no plan fits --arena-cache-size=digits=16: the least is" \
		npu-share "${u55[@]}" --arena-cache-size=digits=16 digits.tflite block.tflite
	refuses 1 "digits: error: no plan fits --arena-cache-size=digits=1024: the least is" \
		npu-share "${u55[@]}" --arena-cache-size=digits=1K digits.tflite block.tflite
	refuses 2 "--arena-cache-size=NAME takes a number of bytes from 1 to 1000000000, such as 65536, 64K or 1M, not '1x'" \
		npu-share "${u55[@]}" --arena-cache-size=digits=1x digits.tflite block.tflite
	refuses 2 "--arena-cache-size: no network is called 'digit'; did you mean digits?" \
		npu-share "${u55[@]}" --arena-cache-size=digit=16 digits.tflite block.tflite
}

@test "networks with IF and WHILE share memory under an interpreter only" {
	need jq
	cd "$BATS_FILE_TMPDIR"
	local bin=${NPUTOOLS_TESTBIN:-$TOP/build/tests}
	"$bin/gen-model" 1 CONV_2D | "$bin/control-model" while 1 >loop.tflite
	refuses 2 "loop.tflite: error: operator 1 (WHILE) calls subgraphs, which the functions of npu-share do not run; use --tflm" \
		npu-share --part=corstone-300 loop.tflite
	# the arena has the bodies' memory
	"$bin/gen-model" 1 SVDF | "$bin/control-model" if 1 >state.tflite
	share --tflm --together=loop,state -o control loop.tflite state.tflite
	jq -e '.runs >= 40 and (.networks[1].states | length) >= 2 and all(.networks[1].states[]; .bytes > 0)' share.json
	npu-sim --frames=3 --compare=state.tflite control/state_npu.tflite
	grep -q '^share_state_reset()' control/share.h
	! grep -q 'share_loop_reset' control/share.h || return 1
	# variables of VAR_HANDLE are in memory of the interpreter
	read_in_body
	share --tflm -o handles m.tflite loop.tflite
	grep -q '^#define M_RESOURCE_VARIABLES 1$' handles/m.h
	grep -q 'MicroResourceVariables::Create(allocator, M_RESOURCE_VARIABLES)' handles/share.h
	grep -q '^share_m_reset()' handles/share.h
	! grep -q RESOURCE_VARIABLES handles/loop.h || return 1
}

@test "three sets of published networks fit budgets that separate plans exceed" {
	need_shared models/person_detect.tflite
	need jq
	local m=$SHARED/models r=$SHARED/models-real
	three 57344 "$m/kws_ref_model.tflite" "$m/person_detect.tflite"
	three 131072 "$m/kws_ref_model.tflite" "$m/resnet_quant.tflite" "$m/micro_speech.tflite" "$m/person_detect.tflite"
	three 163840 "$r/wakeword_vad.tflite" "$m/resnet_quant.tflite" "$r/mobilenet_v1_0.25_96.tflite"
}
