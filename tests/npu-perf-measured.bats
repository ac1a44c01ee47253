#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# npu-perf: comparison with measurements, and logs of devices.
bats_require_minimum_version 1.5.0

load lib/common

DIGITS=$BATS_TEST_DIRNAME/models/digits.tflite
u55=(--system-config Ethos_U55_High_End_Embedded --memory-mode Shared_Sram)

# calibrated PROFILE MODEL OPTION...: the cycles
calibrated()
{
	local profile=$1 model=$2
	shift 2
	npu-perf --system-config "$profile" --memory-mode Shared_Sram --json "$@" "$model" |
		cycles_of calibrated_cycles
}

# compile ACCELERATOR OUT OPTION...: compiles the demo
compile()
{
	local accel=$1 out=$2
	shift 2
	npucc -a "$accel" "${u55[@]}" -o "$out" "$@" "$DIGITS" 2>/dev/null
}

@test "profiles say whether they were published or fitted" {
	npu-perf --list-profiles >out
	grep -E '^  M55M1_Flash .*  fitted on 4 measurements$' out
	grep -E '^  M55M1_HyperRAM .*  fitted on 3 measurements$' out
	grep -E '^  Ethos_U55_High_End_Embedded .*  published$' out
	# what the words mean
	head -1 out | grep '^published: '
	sed -n '2s/.*; //p' out | grep '^fitted: '
	# each profile is published or fitted
	[ -z "$(sed '1,/^system configurations/d; /^memory modes/,$d' out |
		grep -vE '  (published|fitted on [0-9]* measurements)$')" ]
}

@test "estimates of the measured board are as accurate as npu-perf(1) says" {
	need_shared reference/measured/measured.tsv
	# at 180 MHz the flash has the same bytes per second
	cat >flash180.ini <<-END
		[System_Config.Flash180]
		core_clock=180e6
		axi0_port=Sram
		axi1_port=OnChipFlash
		Sram_clock_scale=0.8
		Sram_burst_length=32
		Sram_read_latency=32
		Sram_write_latency=32
		OnChipFlash_clock_scale=0.154
		OnChipFlash_burst_length=48
		OnChipFlash_read_latency=32
		OnChipFlash_write_latency=0
		fit_accelerator=ethos-u55-256
		fit_measurements=4
		fit_operation_cycles=180
		fit_low=0.95
		fit_high=1.10
		[Memory_Mode.Shared_Sram]
		const_mem_area=Axi1
		arena_mem_area=Axi0
		cache_mem_area=Axi0
	END
	# the page's table of estimated / measured, to two digits
	while read -r name profile cycles want; do
		config=()
		[ $profile != Flash180 ] || config=(--config flash180.ini)
		have=$(calibrated "$profile" "$SHARED/reference/measured/$name.tflite" \
			"${config[@]}")
		awk "BEGIN { r = $have / $cycles; d = r - $want
			if (d < -0.006 || d > 0.006) { print \"$name\", r; exit 1 } }"
		grep -q "^\.It $name .* Ta $want Ta" "$TOP/man/npu-perf.1" ||
			{ echo "$name $want is not in the page"; false; }
	done <<-END
		yolo_fastest_192 M55M1_Flash 1678108 0.95
		rnnoise M55M1_Flash 113000 1.00
		face_landmark_cls Flash180 14316 1.54
		point_history_lstm M55M1_Flash 102852 0.98
		hand_landmark M55M1_HyperRAM 5569620 1.02
		yolov8n_od_192 M55M1_HyperRAM 6470588 0.98
		antispoof_cnn_80 M55M1_HyperRAM 4352031 1.00
	END
}

# within LOW HIGH NUMBER...: all numbers are in the range
within()
{
	local low=$1 high=$2
	shift 2
	printf '%s\n' "$@" | awk -v l="$low" -v h="$high" '
		$1 < l || $1 > h { print $1 " is not in " l " to " h; bad = 1 }
		END { exit bad }'
}

# the bounds are those of npu-perf-accuracy(7), 3 and 4, plus one percent
@test "the calibrated estimate agrees with Arm's simulator of the NPU" {
	need_shared reference/fvp/cells.tsv
	NPUTOOLS_SHARED=$SHARED "$TOP/scripts/accuracy" --svg=out.svg "${BIN%/bin}" >rows
	# shellcheck disable=SC2046
	within 0.85 1.18 $(awk -F'\t' '$3 == "FVP" { print $5 }' rows)
	[ "$(awk -F'\t' '$3 == "FVP"' rows | wc -l)" = 33 ]
	[ "$(grep -c '<circle' out.svg)" = "$(grep -cv -e '^#' -e '^network' rows)" ]
	while read -r group bias spread; do
		read -r b s < <(sed -n "s/^# $group,.* calibrated \([0-9.]*\) (\([0-9.]*\)) .*/\1 \2/p" rows)
		within "${bias%-*}" "${bias#*-}" "$b"
		within 0 "$spread" "$s"
	done <<-END
		u55 0.98-1.03 0.03
		u65 0.97-1.03 0.07
		u85 0.97-1.03 0.08
	END
	# one latency after the other, on ethos-u85-256
	while read -r latency cycles; do
		awk -v l="$latency" '/^\[/ { low = /U85_SYS_DRAM_Low/ }
			low && /^Dram_read_latency=/ { $0 = "Dram_read_latency=" l }
			{ print }' "$SHARED/reference/fvp/mlek.ini" >at.ini
		have=$(npu-perf --config at.ini --system-config Ethos_U85_SYS_DRAM_Low \
			--memory-mode Dedicated_Sram --json \
			"$SHARED/reference/fvp/streams/ethos-u85-256/rnnoise_INT8_vela.tflite" |
			cycles_of calibrated_cycles)
		within 0.88 1.12 "$(awk "BEGIN { print $have / $cycles }")"
	done <<-END
		0 22086
		125 27086
		250 36086
		500 62086
		1000 114086
	END
}

@test "measurements of one NPU are extrapolated to another NPU" {
	compile ethos-u55-256 a.tflite
	compile ethos-u55-128 b.tflite
	for f in a:false b:true; do
		npu-perf --system-config M55M1_Flash --memory-mode Shared_Sram --json \
			"${f%:*}.tflite" | jq -e ".calibrated_extrapolated == ${f#*:}"
	done
	npu-perf --system-config M55M1_Flash --memory-mode Shared_Sram \
		--model=calibrated a.tflite |
		grep '^Fitted on 4 measurements with M55M1_Flash'
	# a graph records the profile's fit
	npucc -a ethos-u55-256 --system-config M55M1_Flash --memory-mode Shared_Sram \
		-o a.wenc "$DIGITS" 2>/dev/null
	npu-cmdgen -o c.tflite a.wenc
	[ "$(npu-perf --json a.wenc | jq -c '[.calibrated_cycles, .calibrated_low,
		.calibrated_high, .calibrated_extrapolated]')" = \
		"$(npu-perf --system-config M55M1_Flash --memory-mode Shared_Sram --json \
		c.tflite | jq -c '[.calibrated_cycles, .calibrated_low,
		.calibrated_high, .calibrated_extrapolated]')" ]
}

@test "a fit finds the parameters of the board that made the logs" {
	# The logs are computed from a board that differs in its flash and in an operation's
	# own cycles from the profile where the fit starts.  The four plans differ; a quick
	# run fits three of them.
	local n=4 pairs
	[ -z "${NPUTOOLS_QUICK-}" ] || n=3
	cat >board.ini <<-EOF
		[System_Config.Board]
		core_clock=500000000
		axi0_port=Sram
		axi1_port=OffChipFlash
		Sram_clock_scale=1
		Sram_burst_length=32
		Sram_read_latency=32
		Sram_write_latency=32
		OffChipFlash_clock_scale=0.09
		OffChipFlash_burst_length=48
		OffChipFlash_read_latency=32
		OffChipFlash_write_latency=0
		fit_accelerator=ethos-u55-256
		fit_measurements=4
		fit_operation_cycles=180
		fit_low=0.9
		fit_high=1.1
		[Memory_Mode.Shared_Sram]
		const_mem_area=Axi1
		arena_mem_area=Axi0
		cache_mem_area=Axi0
	EOF
	compile ethos-u55-256 1.tflite --effort=1 --optimise=Size
	compile ethos-u55-256 2.tflite --effort=1 --arena-cache-size=8000
	compile ethos-u55-256 3.tflite --effort=1 --arena-cache-size=10000
	compile ethos-u55-256 4.tflite --effort=1 --arena-cache-size=14000
	for i in 1 2 3 4; do
		npu-perf --config board.ini --system-config Board --memory-mode Shared_Sram \
			--json $i.tflite >$i.json
		echo "NPU TOTAL cycles: $(jq .calibrated_cycles $i.json)" >$i.log
	done
	[ "$(cat ?.log | sort -u | wc -l)" = 4 ]
	mapfile -t pairs < <(seq $n | sed 's/.*/&.tflite=&.log/')
	npu-perf "${u55[@]}" --fit=Desk "${pairs[@]}" >desk.ini
	grep '^; fitted by npu-perf to '$n' measurements on ethos-u55-256' desk.ini
	for ((i = 1; i <= n; i++)); do
		npu-perf --config desk.ini --system-config Desk --memory-mode Shared_Sram \
			--json --measured=$i.log $i.tflite >$i.json
		# the last step of the search is 1 %
		jq -e '.calibrated_cycles / .measured_cycles | . > 0.99 and . < 1.01' $i.json
		jq -e '.calibrated_extrapolated == false' $i.json
	done
	# the compiler reads the fitted profile, and a second fit is the same
	npucc -a ethos-u55-256 --config desk.ini --system-config Desk \
		--memory-mode Shared_Sram -o d.tflite "$DIGITS" 2>/dev/null
	npu-perf "${u55[@]}" --fit=Desk "${pairs[@]}" | cmp - desk.ini
	# one log that agrees with the profile changes nothing that the estimate uses
	npu-perf "${u55[@]}" --json 1.tflite >1.json
	echo "NPU TOTAL cycles: $(jq .calibrated_cycles 1.json)" >own.log
	npu-perf "${u55[@]}" --fit=Desk 1.tflite=own.log >own.ini
	grep -F ', ratio 1.00' own.ini
	grep -x 'fit_operation_cycles=0' own.ini
	refuses 2 "--fit needs operands MODEL=LOG, not '1.tflite'" \
		npu-perf "${u55[@]}" --fit=Desk 1.tflite
	compile ethos-u55-128 o.tflite
	refuses 2 'is compiled for ethos-u55-128' \
		npu-perf "${u55[@]}" --fit=Desk 1.tflite=1.log o.tflite=2.log
}

@test "npu-sched plans by the mean of two estimates, or by one of them" {
	local model
	compile ethos-u55-256 d.tflite --check
	compile ethos-u55-256 r.tflite --model=robust
	cmp d.tflite r.tflite
	for model in robust calibrated timeline; do
		compile ethos-u55-256 c.tflite --model=$model --check
		npucc -a ethos-u55-256 "${u55[@]}" --model=$model -o c.wenc "$DIGITS" 2>/dev/null
		# the cycles are those that npu-perf reports for the stream, whatever the objective is
		predicted=$(sed -n 's/^target .* cycles=\([0-9.]*\).*/\1/p' c.wenc)
		objective=$(sed -n 's/^target .* objective=\([0-9.]*\).*/\1/p' c.wenc)
		npu-perf --json c.wenc >c.json
		jq -e --argjson p "$predicted" '.calibrated_cycles - $p | . * . < 1' c.json
		case $model in
		calibrated) [ "$objective" = "$predicted" ] ;;
		timeline) jq -e --argjson p "$objective" '.timeline_cycles - $p | . * . < 1' c.json ;;
		*) [ "$objective" != "$predicted" ] ;;
		esac
	done
	refuses 2 "--model: no such choice: 'regor'; choices: robust, calibrated, timeline" \
		npu-sched --model=regor -a ethos-u55-256 "${u55[@]}" c.wenc
	# the demo has the same plan with both
	[ -n "$SHARED" ] || return 0
	for m in timeline calibrated; do
		npucc -a ethos-u55-256 "${u55[@]}" --model=$m --within=0 -o $m.tflite \
			"$SHARED/models/person_detect.tflite" 2>/dev/null
		npu-perf "${u55[@]}" --json $m.tflite >$m.json
	done
	# each plan is the better one by its own estimate
	jq -es '.[0].calibrated_cycles <= .[1].calibrated_cycles' \
		calibrated.json timeline.json
	# by the timeline, both plans wait for the constants; the search stops at 1 %
	jq -es '.[1].timeline_cycles <= 1.01 * .[0].timeline_cycles' calibrated.json \
		timeline.json
}

@test "the ML evaluation kit's log of several inferences is read" {
	compile ethos-u55-128 m.tflite
	for n in 300 100 200; do
		cat <<-END
		INFO - Profile for Inference:
		INFO - NPU AXI0_RD_DATA_BEAT_RECEIVED beats: $((n + 1))
		INFO - NPU AXI0_WR_DATA_BEAT_WRITTEN beats: $((n + 2))
		INFO - NPU AXI1_RD_DATA_BEAT_RECEIVED beats: $((n + 3))
		INFO - NPU ACTIVE cycles: $((n * 90))
		INFO - NPU IDLE cycles: $((n * 10))
		INFO - NPU TOTAL cycles: $((n * 100))
		END
	done >log
	npu-perf "${u55[@]}" --json --measured=log m.tflite >json
	jq -e '.measured_cycles == 20000 and .measured.inferences == 3 and
		.measured.least_cycles == 10000 and .measured.most_cycles == 30000' json
	jq -e '.measured | [.axi0_read_beats, .axi0_write_beats, .axi1_read_beats,
		.active_cycles, .idle_cycles] | map(.measured) ==
		[201, 202, 203, 18000, 2000]' json
	jq -e '. as $r | $r.measured.cycles |
		.estimated == $r.calibrated_cycles or
			(.estimated - $r.calibrated_cycles | . * . < 1)' json
	jq -e '.measured.axi0_read_beats | .ratio == .measured / .estimated' json
	# beats are the bytes of the estimate and of the stream, divided by 8; the arena is
	# in SRAM on AXI0
	stream=$(npu-dis m.tflite | sed -n 's/^Command stream length = \([0-9]*\) bytes$/\1/p')
	jq -e --argjson stream "$stream" '.measured.axi1_read_beats.estimated * 8 ==
		$stream + (.estimate |
		.weight_read_bytes.off_chip_flash + .scale_read_bytes.off_chip_flash +
		.table_read_bytes.off_chip_flash + .feature_map_read_bytes.off_chip_flash)' json
	npu-perf "${u55[@]}" --measured=log m.tflite >out
	grep -x 'Measured, 3 inferences (cycles 10000 to 30000)' out
	grep -E '^  axi1_read_beats +203 +[0-9]+ +[0-9.]+$' out
}

@test "logs of ExecuTorch and Zephyr and the interpreter's operators are read" {
	compile ethos-u55-128 m.tflite
	cat >log <<-END
	I [executorch:arm_perf_monitor.cpp] NPU Inferences : 4
	I [executorch:arm_perf_monitor.cpp] ethosu_pmu_cycle_cntr : 80000 (20000.00 per inference)
	I [executorch:arm_perf_monitor.cpp] ethosu_pmu_cntr0 : 4000 (1000.00 per inference)
	I [executorch:arm_perf_monitor.cpp] ethosu_pmu_cntr1 : 800 (200.00 per inference)
	I [executorch:arm_perf_monitor.cpp] ethosu_pmu_cntr2 : 2000 (500.00 per inference)
	I [executorch:arm_perf_monitor.cpp] ethosu_pmu_cntr3 : 40 (10.00 per inference)
	ethos-u took 21000 ticks (1 ms).
	SOFTMAX took 900 ticks (0 ms).
	END
	npu-perf "${u55[@]}" --json --measured=log m.tflite |
		jq -e '.measured | [.cycles, .axi0_read_beats, .axi1_read_beats,
			.axi0_write_beats, .idle_cycles] | map(.measured) ==
			[20000, 1000, 200, 500, 10]'
	npu-perf "${u55[@]}" --json --measured=log m.tflite |
		jq -e '.measured.operators | (.[0].layer_names | length) > 0 and map({ name, ticks }) ==
			[{ name: "ethos-u", ticks: 21000 }, { name: "SOFTMAX", ticks: 900 }]'
	npu-perf "${u55[@]}" --measured=log m.tflite >out
	grep -E '^  ethos-u, ticks +21000 +[0-9]+ +[0-9.]+  [^ ].*$' out
	# one estimate, which the report draws beside the counters
	[ "$(grep -c '^  cycles' out)" = 1 ]
	npu-perf "${u55[@]}" --json --measured=log m.tflite | npu-report - >drawn
	grep -A1 'cycles  *measured  *20000 ##' drawn | grep 'estimated'
	grep -q '^Measured beside estimated, counters$' drawn
	npu-perf "${u55[@]}" --json --measured=log m.tflite | npu-report --html - | grep -q '>active_cycles<\|>cycles<'
	printf 'ethosu_pmu_cycle_cntr : 12345\n' >zephyr
	npu-perf "${u55[@]}" --json --measured=zephyr m.tflite |
		jq -e '.measured_cycles == 12345'
	printf 'hello\n' >empty
	refuses 2 'empty: error: the log has no line "NPU TOTAL cycles: N"' \
		npu-perf "${u55[@]}" --measured=empty m.tflite
}

@test "logs of devices are read without an option" {
	need_shared reference/ambiq/performance/kws_micronet_m_performance.txt
	need jq
	local r=$SHARED/reference n
	for n in kws_micronet_m ad_medium_int8 resnet_v1_8_32_tfs_int8 rnnoise_INT8; do
		npu-perf --config "$r/ambiq/config/ambiq_final.ini" --system-config AmbiqLP_SRAM --memory-mode Sram_Only \
			--json "$r/ambiq/$n/${n}_vela.npz" "$r/ambiq/performance/${n}_performance.txt" |
			jq -e '.measured | .inferences == 1 and .cycles.measured > 37000 and .mac_active_cycles.measured > 1000 and
				.ext_reads.measured > 500 and .sram_reads.measured > 100 and .axi_latency.measured == 0'
	done
	npu-perf --config "$r/ambiq/config/ambiq_final.ini" --system-config AmbiqLP_SRAM --memory-mode Sram_Only \
		--json "$r/ambiq/rnnoise_INT8/rnnoise_INT8_vela.npz" "$r/ambiq/performance/rnnoise_INT8_performance.txt" |
		npu-report - | grep -q '^  active_cycles  *measured '
	for n in rnnoise yolo_fastest_192; do
		npu-perf --part=nuvoton-m55m1 --json "$r/measured/$n.tflite" "$r/measured/measured.tsv" |
			jq -e '.measured.cycles | .ratio > 0.9 and .ratio < 1.2'
	done
}

@test "tables, histograms of QREAD and lines of Ethos-U85" {
	need jq
	compile ethos-u55-128 m.tflite --no-map
	printf 'network\tfile\tmeasured_cycles\nA\tx.tflite\t5\nB\tm.tflite\t40000\n' >table.tsv
	npu-perf "${u55[@]}" --json m.tflite table.tsv | jq -e '.measured_cycles == 40000'
	cp m.tflite other.tflite
	refuses 2 "the table has no row with measured_cycles for the file other.tflite" \
		npu-perf "${u55[@]}" other.tflite table.tsv
	printf 'INFO - NPU TOTAL: 700 cycles\nNPU EXT_RD_DATA_BEAT_RECEIVED: 12\nNPU MAC_ACTIVE: 90 cycles\n' >log
	npu-perf "${u55[@]}" --json --measured=log m.tflite |
		jq -e '.measured | .cycles.measured == 700 and .ext_read_beats.measured == 12 and .mac_active_cycles.measured == 90'
	# samples behind the second operation's command are its own; those before the first are the first's
	local second
	second=$(npu-perf "${u55[@]}" --json m.tflite | jq '4 * (.operations[1].word + 1)')
	printf 'offset,count\n0,1\n%d,2\n0x%x,30\n4000000,400\n' $((second - 4)) "$second" >h.csv
	npu-perf "${u55[@]}" --json m.tflite h.csv >h.json
	jq -e '.measured | .samples == 433 and .sampled[0].samples == 3 and .sampled[1].samples == 30 and
		.sampled[-1].samples == 400 and ([.sampled[].samples] | add) == 433 and
		(([.sampled[].estimated_share] | add) - 1 | fabs) < 1e-9' h.json
	jq -e 'has("measured_cycles") | not' h.json
	npu-perf "${u55[@]}" m.tflite h.csv >text
	grep -Eq '^  .* 400 +92\.38 % +[0-9.]+ %$' text
	# drawn beside the estimate
	npu-report h.json >text
	[ "$(grep -c ' measured  ' text)" = "$(jq '.measured.sampled | length' h.json)" ]
	grep -A1 ' measured  .*#####' text | grep -q 'estimated '
	npu-report --html h.json | grep -q 'Measured beside estimated'
	echo '100,x' >bad.csv
	refuses 2 'the log has no line "NPU TOTAL cycles' npu-perf "${u55[@]}" m.tflite bad.csv
}

@test "tfl2c --profile prints what npu-perf reads back" {
	[[ $BIN != *asan* ]] || skip "libcommon.a calls the sanitizers, and the firmware is built without them"
	need gcc jq
	npucc -a ethos-u55-128 "${u55[@]}" --cpu=SOFTMAX -o m.tflite "$DIGITS" 2>/dev/null
	tfl2c -n net --format=call --profile -o net.c m.tflite
	cat >run.c <<-'END'
		#include <stdint.h>
		static uint32_t now;
		#define NET_TICKS() (now += 1000)
		#include "net.c"
		int net_op1_softmax(const int8_t *x, int8_t *y) { (void)x; (void)y; now += 234; return 0; }
		static uint8_t arena[NET_CALL_ARENA_BYTES] __attribute__((aligned(16)));
		int main(void) { return net_call(ethosu_reserve_driver(), arena); }
	END
	gcc -std=gnu11 -D_GNU_SOURCE -Wall -Werror -I. -I"$TOP/tests/firmware/driver" -I"$TOP/libcommon" -I"$TOP/schema" \
		-o run run.c "$TOP/tests/firmware/driver/simulated.c" "${NPUTOOLS_BUILD:-$TOP/build}/libcommon.a" -lm -pthread
	./run >log
	printf '%s\n' 'ethos-u took 1000 ticks' 'SOFTMAX took 1234 ticks' | diff - log
	npu-perf "${u55[@]}" --json m.tflite log >p.json
	jq -e '.measured | (.operators | map({ name, ticks })) == [{ name: "ethos-u", ticks: 1000 }, { name: "SOFTMAX", ticks: 1234 }] and
		(.operators_estimated | length == 2 and all(. > 0))' p.json
	npu-report p.json | grep -A1 'SOFTMAX.*  measured' | grep -q estimated
	refuses 2 "--profile works only with --format=call" tfl2c --profile m.tflite
}

@test "ticks of the CPU are compared with the estimate at the CPU's clock" {
	need jq
	npucc -q --part=renesas-ra8p1 --cpu=SOFTMAX -o m.tflite "$DIGITS"
	npu-perf --json m.tflite >p.json
	# 1 GHz and 500 MHz
	jq -e '.cpu_clock == 2 * .core_clock' p.json
	jq -r '"ethos-u took \(2 * .calibrated_cycles) ticks", "SOFTMAX took \(.on_cpu[0].cycles) ticks"' p.json >log
	npu-perf m.tflite log | grep 'ticks ' >rows
	[ "$(grep -c ' 1\.00 ' rows)" = 2 ]
	npu-perf --json m.tflite log | jq -e '[.measured | .operators, .operators_estimated | length] == [2, 2] and
		(.measured | (.operators[0].ticks / .operators_estimated[0] - 1 | fabs) < 0.001 and
		(.operators[1].ticks / .operators_estimated[1] - 1 | fabs) < 0.01)'
}

@test "the debug database has the offset of each operation's command" {
	need xmllint jq
	npucc -a ethos-u55-128 "${u55[@]}" -o m.wenc "$DIGITS" 2>/dev/null
	npu-cmdgen --emit=debug-xml -o m.xml m.wenc
	npu-cmdgen -o m.tflite m.wenc
	npucc -a ethos-u55-128 "${u55[@]}" -o own.xml "$DIGITS" 2>/dev/null
	diff <(sed 2d m.xml) <(sed 2d own.xml)
	refuses 2 "--check needs a compiled model, not own.xml" \
		npucc -a ethos-u55-128 --check -o own.xml "$DIGITS"
	refuses 2 "--keep keeps a model: name own.xml in another run" \
		npucc -a ethos-u55-128 --keep=dir -o own.xml "$DIGITS"
	table() { xmllint --xpath "string(/debug/table[@name='$1'])" m.xml | grep . | tail -n +2; }
	# of each kernel, in the order of the stream: the offset, and the kind of its source
	table queue | cut -d, -f1 >have
	npu-perf "${u55[@]}" --json m.tflite |
		jq '.operations[] | select(.kind != "dma") | 4 * .word' | diff - have
	join -t, <(table queue | awk -F, '{ print $3 "," $1 }' | sort -t, -k1,1) <(table optimised | sort -t, -k1,1) |
		awk -F, '{ print $3 "," $2 }' | sort -t, -k1,1 >by_source
	join -t, by_source <(table source | sort -t, -k1,1) | sort -t, -k2,2n | head -1 | grep -q '"CONV_2D"'
}
