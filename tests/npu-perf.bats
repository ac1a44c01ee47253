#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# npu-perf: reports of streams made here and by Vela, and refusals.

load lib/common
load lib/model

u55=(--system-config Ethos_U55_High_End_Embedded --memory-mode Shared_Sram)
note='this is an estimate by published formulas'
fitted="this is an estimate, fitted to Arm's simulator of the NPU"

# bytes WORD...: 32-bit words (hexadecimal) as a JSON array of bytes
bytes()
{
	local w sep=
	printf '['
	for w; do
		printf '%s%d,%d,%d,%d' "$sep" $((0x$w & 255)) \
			$((0x$w >> 8 & 255)) $((0x$w >> 16 & 255)) \
			$((0x$w >> 24 & 255))
		sep=,
	done
	printf ']'
}

# compiled NAME CONSTANTS ARENA WORD...: NAME.tflite with one ethos-u operator for
# ethos-u55-256, with this command stream and these sizes
compiled()
{
	local name=$1 constants=$2 arena=$3 n payload
	shift 3
	n=$(printf '%04x0002' $#)
	payload=$(bytes 31504f43 00100001 00003008 10060000 5 5 5 "$n" "$@")
	model "$name" '
		.operator_codes = [{ deprecated_builtin_code: 32,
			builtin_code: 32, custom_code: "ethos-u" }] |
		.buffers = [{}, { data: '"$payload"' }] |
		def t(n; s; b): { name: n, shape: [s], type: 3, buffer: b };
		.subgraphs[0].tensors = [
			t("npu_command_stream"; '$((32 + 4 * $#))'; 1),
			t("npu_flash"; '"$constants"'; 0),
			t("npu_scratch"; '"$arena"'; 0),
			t("npu_scratch_fast"; '"$arena"'; 0),
			t("in"; 16; 0), t("out"; 16; 0)] |
		.subgraphs[0].operators = [{ inputs: [0, 1, 2, 3, 4],
			outputs: [5], custom_options: [1, 4, 1] }] |
		.subgraphs[0].inputs = [4] | .subgraphs[0].outputs = [5]'
}

# a 1x1 average pool of 16 uint8, block 2x2x16, region 1
pool=(0001010f 0001011f 000f0104 000f0113 00010115 00010116 000f0117 00ff0127
	00010005 ffff0000)

# listing: the words of the stream in the seed log
listing()
{
	awk '/^0x[0-9a-f]*: .* - cmd[01]\.NPU/ {
		for (i = 2; $i != "-"; i++)
			;
		print $(i - 2) $(i - 1)
		if (i == 5)
			print $2
	}' "$SHARED/seeds/vela-log.txt"
}

@test "the cycles of one pool are those worked out by hand" {
	# The cycles by hand:
	#   dot products   4 microblock depths of 2: 8
	#   output         16/4 = 4
	#   IFM and OFM    in bursts of 16 of 32 bytes: 32/8 + 32 = 36
	#   command        (36+36+4+8)/4 = 21, in both stages: 42
	#   SRAM           (32 + 32)/8 = 8
	#   lower bound    the calibrated estimate's: output, and the last block's, 4 + 4 = 8
	compiled m 64 2000 "${pool[@]}"
	npu-perf "${u55[@]}" --model=timeline --json m.tflite >out
	[ "$(jq -c '[.timeline_cycles, .bound_cycles, .npu_cycles,
		.sram_bytes, .flash_bytes, .encoded_weight_bytes,
		.npu_operators, .cpu_operators, .network, .accelerator]' out)" = \
		'[42,8,42,2000,64,0,1,0,"m","ethos-u55-256"]' ]
	[ "$(jq -c '.operations[0] | [.kind, .name, .start_cycle, .end_cycle,
		.access_cycles.sram, .macs, .ifm, .block]' out)" = \
		'["average","npu/average_0",0,42,8,16,[1,1,16],[2,2,16]]' ]
	npu-perf "${u55[@]}" <m.tflite >out
	grep -qx 'Timeline  *42 cycles' out
	grep -qx 'Total SRAM used  *1.95 KiB' out
	grep -qx 'Total Off-chip Flash used  *0.14 KiB' out # 64 + 80 bytes
	# Calibrated: output 16/4 = 4 beside SRAM 32/8 = 4, together 4 * 2^(1/8); 4 for the
	# last block's output; writes 16 * (32/208 - 1/8); 64 until the commands arrive.
	npu-perf "${u55[@]}" --json m.tflite |
		jq -e '[.calibrated_cycles, .calibrated_extrapolated] == [73, true] and
			(.calibrated_low < 73) and (.calibrated_high > 73)'
	npu-perf "${u55[@]}" m.tflite >out
	grep -q '^Calibrated estimate  *73 cycles, 0.000 ms' out
	grep -q '^With a probability of 80 %  *[0-9]* to [0-9]* cycles' out
	grep -qx "On Arm's simulator of the NPU; no chip with this NPU and memory was measured" out
}

@test "every report but CSV says that it is an estimate" {
	compiled m 64 2000 "${pool[@]}"
	for o in --json --yaml --trace --verbose-performance; do
		npu-perf "${u55[@]}" $o m.tflite >out
		grep -q "$fitted" out || { echo "$o"; false; }
		npu-perf "${u55[@]}" --model=timeline $o m.tflite >out
		grep -q "$note" out || { echo "$o"; false; }
	done
	npu-perf "${u55[@]}" --model calibrated m.tflite >out
	grep -q "calibrated estimator; $fitted" out
	for m in timeline vela-2.1 vela-3.12 regor; do
		npu-perf "${u55[@]}" --model $m m.tflite >out
		grep -q "$m estimator; $note" out || { echo "$m"; false; }
	done
}

@test "layers are printed as YAML, CSV and table, and the summary in 52 columns" {
	compiled m 64 2000 "${pool[@]::9}" 00010005 ffff0000
	npu-perf "${u55[@]}" --model=timeline --yaml m.tflite | diff - <(
		cat <<-END
		# $note
		0:
		  name: npu/average_0
		  start_cycle: 0
		  end_cycle: 41
		1:
		  name: npu/average_1
		  start_cycle: 42
		  end_cycle: 83
		END
	)
	npu-perf "${u55[@]}" --model=timeline --csv m.tflite >out
	[ "$(awk -F, '{ print NF }' out | sort -u)" = 17 ]
	[ "$(sed -n 3p out)" = n/a,average,n/a,n/a,42,50,42,8,0,0,0,16,50,0.1488095238095238,npu/average_1,42,84 ]
	npu-perf "${u55[@]}" --model=timeline --summary-csv m.tflite >out
	[ "$(awk -F, '{ print NF }' out)" = $'52\n52' ]
	[ "$(head -1 out | cut -d, -f1-7,51,52)" = experiment,network,accelerator_configuration,system_config,memory_mode,core_clock,arena_cache_size,cycles_off_chip_flash_access,cycles_total ]
	[ "$(sed -n 2p out | cut -d, -f1-3,6,52)" = default,m,Ethos_U55_256,500000000,84 ]
	# 42 cycles at 500 MHz are 0.084 us
	npu-perf "${u55[@]}" --model=timeline --trace m.tflite >out
	[ "$(jq -c '.traceEvents | map(select(.ph == "X"))[1] |
		[.name, .tid, .ts, .dur, .args.cycles]' out)" = \
		'["npu/average_1",0,0.084,0.084,42]' ]
	npu-perf "${u55[@]}" --model=timeline --verbose-performance m.tflite |
		grep -q '^average     1x1x16         1x1x16  *42  *84  *42    50.00'
}

@test "a memory that is still busy at the end is a row of every report" {
	# A copy of 1600 bytes of SRAM to SRAM takes 1600/8 + 32 = 232 cycles and keeps SRAM busy
	# for 2 * 1600/8 = 400; the pool beside it keeps SRAM busy for 8.
	local dma=(00010130 00010131 00004030 0 00004031 000003e8 00004032 00000640 00000010)
	compiled m 64 4000 "${dma[@]}" "${pool[@]}"
	npu-perf "${u55[@]}" --model=timeline --json m.tflite >m.json
	jq -e '.timeline_cycles == 408 and (.operations | map(.end_cycle) == [232, 42, 408]) and
		(.operations[2] | [.kind, .name, .start_cycle, .total_cycles, .limited_by] ==
			["memory", "SRAM is still busy", 232, 176, "SRAM"])' m.json
	npu-perf "${u55[@]}" --model=timeline --yaml m.tflite | tail -3 | diff - <(
		printf '  name: "SRAM is still busy"\n  start_cycle: 232\n  end_cycle: 407\n')
	npu-perf "${u55[@]}" --model=timeline --csv m.tflite |
		grep -qx 'n/a,memory,n/a,n/a,176,43.*,SRAM is still busy,232,408'
	npu-perf "${u55[@]}" --model=timeline --trace m.tflite | jq -e '.traceEvents |
		map(select(.ph == "X"))[2] | [.name, .args.cycles] == ["SRAM is still busy", 176]'
	npu-perf "${u55[@]}" --model=timeline --verbose-performance m.tflite |
		grep -q '^memory .* 232  *408  *176 .* SRAM is still busy$'
	# the layers of npu-report and their limits have it, too
	npu-report m.json >out
	grep -Eq '^  SRAM is still busy  *176  43.1 % s+$' out
	[ "$(npu-report --summary m.json | grep -c 'still busy')" = 0 ] # it is no operator
	npu-report --svg=timeline m.json >out
	grep -q '<title>SRAM is still busy: memory, 0.35 µs from' out
	npu-report --html m.json >out
	grep -q '\[-1,232,408,1\]' out
	# a stream in which no memory is busy for longer has no such row
	compiled n 64 4000 "${pool[@]}"
	[ "$(npu-perf "${u55[@]}" --json n.tflite | jq '.operations | length')" = 1 ]
}

@test "CPU operators are counted, named and roughly estimated" {
	need flatc jq
	compiled m 64 2000 "${pool[@]}"
	flatc --json --strict-json --raw-binary "$TOP/tests/models/tflite.fbs" -- m.tflite
	jq '.operator_codes += [{ deprecated_builtin_code: 25, builtin_code: 25 }] |
		.subgraphs[0].tensors += [{ name: "p", shape: [16], type: 3 }] |
		.subgraphs[0].operators += [{ opcode_index: 1, inputs: [5], outputs: [6] }]' \
		m.json >cpu.json
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" cpu.json
	npu-perf "${u55[@]}" --json cpu.tflite >out
	# 16 of 25 cycles each, and 1000 for the call; no sum of the NPU includes them
	[ "$(jq -c '[.cpu_operators, .cpu_operator_names, .timeline_cycles, .cpu_cycles,
		.cpu_operators_without_cycles]' out)" = '[1,["SOFTMAX"],42,1400,0]' ]
	jq -e '.inference_npu_cycles > 0 and .inference_cpu_cycles == 1400 and .cpu_error == 10 and
		(.inference_npu_cycles / .core_clock + 1400 / .cpu_clock - .inference_seconds |
		fabs < 1e-8)' out
	jq -e '.inference_seconds_low < .inference_seconds_high / 10 and
		.inference_seconds_high > 10 * 1400 / .cpu_clock and
		.inference_seconds_low >= 1400 / .cpu_clock / 10' out
	npu-perf "${u55[@]}" --show-cpu-operations cpu.tflite >out
	grep -A1 -x 'CPU operators = 1 (n/a)' out | grep -qx '   SOFTMAX'
	grep -qx 'On the CPU  *1400 cycles of a Cortex-M55, roughly: 1 operator' out
	[ "$(grep -c 'not costed' out)" = 0 ]
	# a custom operator has no estimate
	jq '.operator_codes[1] = { deprecated_builtin_code: 32, builtin_code: 32, custom_code: "Post" }' \
		cpu.json >custom.json
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" custom.json
	npu-perf "${u55[@]}" --json custom.tflite >out
	[ "$(jq -c '[.timeline_cycles, .cpu_cycles, .cpu_operators_without_cycles]' out)" = \
		'[42,0,1]' ]
	npu-perf "${u55[@]}" custom.tflite | grep -qx 'On the CPU  *1 operator not costed'
}

@test "--part must have the accelerator that the file is for" {
	npucc --part=alif-e7-he -o m.npu.tflite "$TOP/tests/models/digits.tflite"
	npu-perf --part=alif-e7-he m.npu.tflite >out
	refuses 2 "m.npu.tflite: error: part alif-e7-hp has an ethos-u55-256, not an ethos-u55-128" \
		npu-perf --part=alif-e7-hp m.npu.tflite
}

@test "CPU operators have the same cost in the graph and in the compiled file" {
	tfl-partition --cpu=SOFTMAX --cpu=0 "$TOP/tests/models/digits.tflite" 2>/dev/null |
		npu-sched -a ethos-u55-128 "${u55[@]}" 2>/dev/null | npu-wenc >m.wenc
	npu-cmdgen -o m.npu m.wenc
	npu-perf --json m.wenc | jq '[.cpu_operators, .cpu_cycles]' >graph
	npu-perf "${u55[@]}" --json m.npu | jq '[.cpu_operators, .cpu_cycles]' >file
	cmp graph file
	jq -e '.[0] == 2 and .[1] > 1000' graph
	# another function of the model does not run in an inference
	need flatc
	flatc --json --strict-json --raw-binary --defaults-json "$TOP/tests/models/tflite.fbs" -- m.npu
	jq '.subgraphs += [.subgraphs[0] | .operators |= .[-1:]
		| .inputs = .operators[0].inputs]' m.json >two.json
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" two.json
	npu-perf "${u55[@]}" --json two.tflite | jq '[.cpu_operators, .cpu_cycles]' | cmp graph
}

@test "a log of a device is compared with the estimate" {
	compiled m 64 2000 "${pool[@]}"
	printf 'INFO - NPU IDLE cycles: 12\nINFO - NPU TOTAL cycles: 84\n' >log
	npu-perf "${u55[@]}" --model=timeline --measured log m.tflite |
		grep -qx 'Measured  *84 cycles, 2.00 times the estimate'
	echo nothing >log
	refuses 2 'm.tflite: error: a model, and no log of a device with measured cycles; npu-report --compare=OLD NEW' \
		npu-perf "${u55[@]}" m.tflite m.tflite
	refuses 2 'log: error: the log has no line "NPU TOTAL cycles: N"' \
		npu-perf "${u55[@]}" --measured log m.tflite
}

@test "the summary has one inference time, and that of NPU and CPU if the CPU runs operators" {
	compiled m 64 2000 "${pool[@]}"
	npu-perf "${u55[@]}" m.tflite >out
	[ "$(grep -ci 'inference time' out)" = 1 ]
	run ! grep -E '^(On the [NC]PU|NPU and CPU) ' out
	npu-perf --part=alif-e7-he "$TOP/tests/models/digits-ethos-u55-128.tflite" >out
	[ "$(grep -ci 'inference time' out)" = 1 ]
	[ "$(grep -cE '^(On the [NC]PU|NPU and CPU) ' out)" = 3 ]
	npu-perf --part=alif-e7-he --json "$TOP/tests/models/digits-ethos-u55-128.tflite" |
		jq -r '[.inference_seconds, .inference_seconds_low, .inference_seconds_high] | map(1000 * .) | @tsv' |
		xargs printf 'NPU and CPU %.3f ms, %.3f to %.3f ms:\n' >want
	sed -n 's/^\(NPU and CPU\)  *\(.*ms:\).*/\1 \2/p' out | diff - want
}

@test "the same input gives the same bytes" {
	compiled m 64 2000 "${pool[@]}"
	npu-perf "${u55[@]}" --json m.tflite >one
	npu-perf "${u55[@]}" --json -o two m.tflite
	cmp one two
}

@test "a missing memory system is an error that lists the choices" {
	compiled m 64 2000 "${pool[@]}"
	refuses 2 "m.tflite: error: --part or --system-config is required: there is no default; --list-parts and --list-profiles list the choices; parts with the file's ethos-u55-256: alif-e3-hp, " \
		npu-perf m.tflite
	refuses 2 '--memory-mode is required' \
		npu-perf --system-config Ethos_U55_High_End_Embedded m.tflite
	refuses 2 "there is no built-in memory mode 'Nowhere'" \
		npu-perf --system-config Ethos_U55_High_End_Embedded --memory-mode Nowhere m.tflite
	refuses 2 'absent.ini' npu-perf --config absent.ini "${u55[@]}" m.tflite
	npu-perf --list-profiles | grep -q Ethos_U65_High_End
	cat >half.ini <<-END
	[System_Config.Half]
	core_clock=100e6
	axi0_port=Sram
	axi1_port=OffChipFlash
	Sram_clock_scale=0.5
	Sram_burst_length=32
	OffChipFlash_clock_scale=1
	[Memory_Mode.Mine]
	const_mem_area=Axi1
	arena_mem_area=Axi0
	cache_mem_area=Axi0
	END
	npu-perf --config half.ini --system-config Half --memory-mode Mine --model=timeline \
		--json m.tflite >out
	# SRAM at 4 bytes a cycle, no latency: 64/4
	[ "$(jq '.operations[0].access_cycles.sram, .core_clock' out)" = $'16\n100000000' ]
}

@test "errors in a configuration are reported with their line" {
	compiled m 64 2000 "${pool[@]}"
	cat >good.ini <<-END
	; every key that there is
	[System_Config.All]
	core_clock=100e6
	axi0_port=Sram
	axi1_port=Dram
	Sram_clock_scale=0.5
	Sram_ports_used=1
	Sram_burst_length=32
	Sram_read_latency=32
	Sram_write_latency=32
	Sram_max_reads=8
	Sram_max_writes=8
	Dram_clock_scale=0.5
	Dram_ports_used=1
	Dram_burst_length=128
	Dram_read_latency=500
	Dram_write_latency=250
	Dram_max_reads=64
	Dram_max_writes=32
	[Memory_Mode.Shared]
	const_mem_area=Axi1
	arena_mem_area=Axi0
	cache_mem_area=Axi0
	[Memory_Mode.Dedicated]
	inherit=Memory_Mode.Shared
	arena_mem_area=Axi1
	arena_cache_size=393216
	END
	ask() { npu-perf --config "$1" --system-config "${2-All}" --memory-mode "${3-Shared}" m.tflite; }
	ask good.ini >out
	ask good.ini All Dedicated >out
	# bad LINE MESSAGE SED...: the message for the edited file
	bad() {
		sed "${@:3}" good.ini >bad.ini
		refuses 2 "npu-perf: bad.ini:$1: error: $2" ask bad.ini
	}
	bad 6 "unknown key 'Sram_clok_scale'; did you mean Sram_clock_scale?" '6s/clock/clok/'
	bad 3 "unknown key 'core_clk'; did you mean core_clock?" '3s/clock/clk/'
	# a section that is not used is checked, too
	bad 27 "unknown key 'arena_cach_size'; did you mean arena_cache_size?" '27s/cache/cach/'
	bad 3 "unknown key 'const_mem_area'" '3s/.*/const_mem_area=Axi0/'
	bad 2 "[System_Config.All] has no core_clock" 3d
	bad 2 "[System_Config.All] has no axi1_port, which the memory mode uses" 5d
	bad 2 "[System_Config.All] has no Sram_clock_scale, whose memory the memory mode uses" 6d
	bad 2 "[System_Config.All] has no Dram_clock_scale, whose memory the memory mode uses" 13d
	bad 20 "[Memory_Mode.Shared] has no arena_mem_area" 22d
	refuses 2 "there is no section [System_Config.Al]; there are: All; did you mean All?" \
		ask good.ini Al
	bad 4 "'core_clock' has a value in line 3 already" '3p'
	bad 9 "a comment needs a line of its own: '32 ; cycles'" '9s/$/ ; cycles/'
	bad 9 "Sram_read_latency = -1 is not a number from 0 to 1000000" '9s/32/-1/'
	# an unused memory needs no keys
	sed '/^Dram/d; /^axi1/d; s/Axi1/Axi0/' good.ini >one.ini
	ask one.ini >out
}

@test "a stream that cannot be estimated is refused" {
	refuses 2 'standard input: error: empty, not a TFLite model' npu-perf "${u55[@]}"
	refuses 2 'no ethos-u operator: the model is not compiled (npucc compiles it)' \
		npu-perf "${u55[@]}" "$TOP/tests/models/digits.tflite"
	refuses 2 "--model knows timeline, calibrated, vela-2.1, vela-3.12, regor, not 'vela'" \
		npu-perf "${u55[@]}" --model vela m.tflite
	refuses 2 'exclude each other' npu-perf "${u55[@]}" --json --csv m.tflite
	refuses 2 'absent.tflite' npu-perf "${u55[@]}" absent.tflite
	compiled huge 64 2000 ffff0111 ffff0112 ffff0113 ffff0104 ffff0120 00000002
	refuses 2 'huge.tflite: error: npu: word 5: conv is too large for an estimate' \
		npu-perf "${u55[@]}" huge.tflite
	compiled empty 64 2000 00050100 00010005
	refuses 2 'word 1: average reads an empty IFM' npu-perf "${u55[@]}" empty.tflite
	compiled junk 64 2000 ffffffff
	refuses 2 'junk.tflite: error: npu: ' npu-perf "${u55[@]}" junk.tflite
}

@test "an encoded graph and its compiled model have the same estimate" {
	need flatc jq
	tfl-partition "$TOP/tests/models/digits.tflite" >m.part
	npu-sched -a ethos-u55-128 "${u55[@]}" m.part 2>log >m.sched
	npu-wenc m.sched >m.wenc
	npu-cmdgen -o m_npu.tflite m.wenc
	npu-perf --json m.wenc >graph
	npu-perf "${u55[@]}" --json m_npu.tflite >model
	figures='[.timeline_cycles, .bound_cycles, .sram_bytes, .flash_bytes,
		.stream_bytes, .encoded_weight_bytes, .npu_operators,
		.cpu_operators, .accelerator, .memory_mode]'
	[ "$(jq -c "$figures" graph)" = "$(jq -c "$figures" model)" ]
	[ "$(jq .timeline_cycles graph)" -gt 1000 ]
	# the graph has the names and the number of the original operators
	flatc --json --strict-json --raw-binary -o plain \
		"$TOP/tests/models/tflite.fbs" -- "$TOP/tests/models/digits.tflite"
	[ "$(jq '.npu_layers + .cpu_operators' graph)" = \
		"$(jq '.subgraphs[0].operators | length' plain/digits.json)" ]
	[ "$(jq -r .network graph)" = digits ]
	jq -e '[.operations[].name | test("^npu_") | not] | all' graph
	npu-perf <m.wenc >summary
	grep -q '^NPU operators = [1-9][0-9]* (' summary
	# the total is the calibrated estimate, rounded equally
	[ "$(awk '/^Total cycles / { print $3 }' summary)" = \
		"$(awk '/^Calibrated estimate / { print $3 }' summary)" ]

	refuses 2 'npu-wenc has not run on this graph' npu-perf m.sched
	refuses 2 'the graph is scheduled for Ethos_U55_High_End_Embedded, Shared_Sram' \
		npu-perf --memory-mode Sram_Only m.wenc
}

@test "the summary is that of the seed log, line by line" {
	need_shared seeds/vela-log.txt
	mapfile -t words < <(listing)
	[ ${#words[@]} = 111 ] # 444 bytes
	# sizes of constants and arena as in the log's allocation tables
	compiled tflite_model 909232 2016 "${words[@]}"
	npu-perf "${u55[@]}" --model vela-3.12 --units 4 tflite_model.tflite >out
	sed -n '/^Network summary/,/^Neural network macs/p' out |
		sed 's,^NPU operators = n/a,NPU operators = 3,' >got
	sed -n '/^Network summary/,/^Neural network macs/p' \
		"$SHARED/seeds/vela-log.txt" >want
	[ "$(wc -l <want)" = 32 ]
	diff got want
}

# reference: the rows of vela.tsv whose output exists: VERSION TARGET MODE MODEL SRAM
# CONSTANTS ENCODED OWN TIMELINE NPU CPU, and the file
reference()
{
	awk -F'\t' -v OFS=' ' -v top="$SHARED/reference" '
	NR > 1 && $4 == "Performance" &&
	($5 == "" || $1 == "3.12.0" && $5 == 393216 && $2 ~ /u65/) {
		f = top "/vela-compiled/" $1 "/" $2 "_" $3 "/" $6 ".tflite"
		if (!system("test -e " f))
			print $1, $2, $3, $6, $7, $8, $9, $10, $11, $12, $13, f
	}' "$SHARED/reference/vela.tsv"
}

system_of()
{
	case $1 in
	*u65*) echo Ethos_U65_High_End ;;
	*) echo Ethos_U55_High_End_Embedded ;;
	esac
}

@test "Vela's files have the reference's sizes and timeline" {
	need_shared reference/vela.tsv
	need jq
	while read -r ver target mode name sram flash enc _ cycles npu cpu f; do
		echo "{\"file\":\"$ver $target $name\",
			\"want\":[$sram,$flash,$enc,$npu,$cpu,$cycles]}"
		npu-perf --system-config "$(system_of "$target")" \
			--memory-mode "$mode" --json "$f" || echo '{}'
	done < <(reference) >reports
	# The reference uses an IFM block depth of 8 for a reduce-sum; we use the 16 of
	# ethosu-timing(7) 7, case R: one or two blocks of 42 cycles.  All other figures are
	# equal.
	jq -cn '[inputs] | range(0; length; 2) as $i | .[$i] as $of | .[$i + 1] |
		(if any(.operations[]?; .kind == "reduce_sum") then 0.001 else 0 end) as $slack |
		[.sram_bytes, .flash_bytes, .encoded_weight_bytes,
			.npu_operators, .cpu_operators, .timeline_cycles] as $have |
		select(($have[:5] == $of.want[:5] and
			.contention_cycles >= .timeline_cycles and
			.timeline_cycles >= .bound_cycles and
			(($have[5] - $of.want[5]) | fabs) <= $slack * $of.want[5]) | not) |
		$of + { have: $have }' reports >wrong
	cat wrong
	[ ! -s wrong ]
	[ "$(grep -c '"want"' reports)" = 46 ]
}

# own VERSION MODEL SLACK: estimates every U55 file of that version with that estimator,
# checks that the estimates are within that fraction of the version's own total, and prints
# their number
own()
{
	local want=$1 model=$2 slack=$3
	while read -r ver target mode name _ _ _ own _ _ _ f; do
		[[ $ver = "$want" && $target = *u55* ]] || continue
		printf '{"file":"%s %s","own":%s,"slack":%s}\n' "$target" "$name" "$own" \
			"$(slack_of "$name" "$slack")"
		npu-perf "${u55[@]}" --model "$model" --json "$f" || echo '{}'
	done < <(reference) >reports
	jq -cn '[inputs] | range(0; length; 2) as $i | .[$i] as $of |
		.[$i + 1].estimate.total_cycles as $have |
		select(($have - $of.own | fabs) <= $of.slack * $of.own + 0.5 | not) |
		$of + { have: $have }' reports >wrong || return 1
	cat wrong
	[ ! -s wrong ] && [ "$(grep -c '"own"' reports)" = 18 ]
}

@test "the totals of Vela 3.12 follow from its streams" {
	need_shared reference/vela.tsv
	need jq
	# Exact without slices (the table's totals are rounded).  With slices, the stream
	# does not show which transfers Vela assumed to be hidden before an operator: some
	# latencies of 64 cycles.
	slack_of()
	{
		case $1 in
		ad01* | hello* | micro* | seed* | trained*) echo 0 ;;
		*) echo "$2" ;;
		esac
	}
	own 3.12.0 vela-3.12 0.002
}

@test "the totals of Vela 5.1 follow from its streams" {
	need_shared reference/vela.tsv
	need jq
	# Exact for fully connected networks.  If a ReLU shows neither in the clamp nor in
	# the zero point, output takes 4 times as long; small convolutions (keyword
	# spotting) are bound by it.
	slack_of()
	{
		case $1 in
		ad01* | seed*) echo 0 ;;
		kws*) echo 0.1 ;;
		*) echo "$2" ;;
		esac
	}
	own 5.1.0 regor 0.035
}

# every stream counts once, whatever SRAM buffer it uses and in however many pieces
@test "the size of encoded weights is that of npu-wenc" {
	local m=$SHARED/models/mbv2_int8.tflite
	[ -e "$m" ] || m=$TOP/tests/models/digits.tflite
	need jq
	for a in ethos-u55-128 ethos-u55-256; do
		memory=(--system-config=Ethos_U55_High_End_Embedded
			--memory-mode=Shared_Sram)
		tfl-partition "$m" |
			npu-sched -a $a "${memory[@]}" 2>notes |
			npu-wenc --stats 2>stats | npu-cmdgen -o npu.tflite
		want=$(awk '$1 == "total" { print $3 }' stats)
		[ "$(npu-perf "${memory[@]}" --json npu.tflite |
			jq .encoded_weight_bytes)" = "$want" ]
	done
}
