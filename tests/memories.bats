# SPDX-License-Identifier: Apache-2.0
# Texts call each memory by the part's name of it (nputools(7), WORDS).

bats_require_minimum_version 1.5.0

load lib/common

DIGITS=$BATS_TEST_DIRNAME/models/digits.tflite

# names: the names of memories in standard input, without names of profiles and options
names()
{
	sed -E 's/[A-Za-z0-9]+_[A-Za-z0-9_]+//g; s/--[a-z-]+//g' |
		grep -owE 'SRAM[0-9]*|DTCM|MRAM|DRAM|DDR|SOCMEM|[Ff]lash|fast memory|cache' | sort -u |
		paste -sd ' '
}

# text OPTION...: what each program says of the model that npucc compiles with the options
text()
{
	npucc -q "$@" -o m.tflite "$DIGITS"
	npu-perf --json m.tflite | jq -r '.sram_name, .constants_name' >json
	npu-report --summary m.tflite >summary
	npu-report --html m.tflite >page
	npu-report m.tflite >report
	xmllint --html --xpath "//dl[@id='facts']//text()" page 2>/dev/null >facts
	sed -n '/id="data"/,/<\/script>/p' page | sed '1d;$d' >data
	jq -r '.peaks[].place, .spans[][3], .limits[], .memory' data >pictures
	npu-report --svg=memory m.tflite | grep -o 'peak of\|[A-Za-z0-9]*: peak of' >svg
	npucc -q "$@" --explain -o explain "$DIGITS"
	sed -i '/^peak/!d' explain
}

@test "summary, page, pictures, text and --explain name the memories of the part alike" {
	need jq
	while read -r part peak words; do
		text --part="$part"
		for t in summary facts report explain; do
			[ -s $t ]
		done
		for t in json summary facts; do
			[ "$(names <$t)" = "$words" ] || { echo "$part, $t: $(names <$t)"; false; }
		done
		for t in report pictures svg explain; do
			for w in $(names <$t); do
				grep -qw "$w" <<<"$words" || { echo "$part, $t: $w"; false; }
			done
		done
		grep -q "^peak: [0-9]* bytes of $peak (" explain
	done <<-END
		alif-e7-hp SRAM0 MRAM SRAM0
		alif-e7-hp-tcm DTCM DTCM MRAM
		alif-e7-he-tcm DTCM DTCM
		nxp-imx93 SRAM DRAM SRAM
		corstone-300 SRAM DDR SRAM
		infineon-psoc-edge-e84 SOCMEM SOCMEM
	END
	# without a part, or with the memories of another profile, the kinds of memory
	text -a ethos-u55-128 --system-config=RTSS_HE_SRAM_MRAM --memory-mode=Shared_Sram
	[ "$(names <summary)" = 'SRAM flash' ]
	[ "$(names <json)" = 'SRAM flash' ]
	text -a ethos-u55-128 --system-config=RTSS_HE_SRAM_MRAM --memory-mode=Sram_Only
	[ "$(names <summary)" = SRAM ]
	[ "$(names <json)" = SRAM ]
	text --part=alif-e7-hp --memory-mode=Sram_Only
	[ "$(names <summary)" = SRAM ]
	[ "$(names <json)" = SRAM ]
}

@test "npu-perf, headers, errors and the list of parts have these names, too" {
	npucc -q --part=alif-e7-hp -o hp.tflite "$DIGITS"
	npucc -q --part=alif-e7-he-tcm -o tcm.tflite "$DIGITS"
	npucc -q --part=nxp-imx93 -o imx.tflite "$DIGITS"
	npucc -q --part=infineon-psoc-edge-e84-flash -o flash.tflite "$DIGITS"
	# the chip's memories, and their labels, which are Vela's
	named() { npu-perf "$1" | sed -nE 's/^Memory of the ([a-z]*)  +(.*) [(](.*) in Vela.s lines[)]/\1: \2: \3/p'; }
	named hp.tflite | diff - <(printf '%s\n' 'arena: SRAM0 of alif-e7-hp: SRAM' 'constants: MRAM of alif-e7-hp: Off-chip Flash')
	named tcm.tflite | diff - <(printf '%s\n' 'arena: DTCM of alif-e7-he-tcm: SRAM' 'constants: DTCM of alif-e7-he-tcm: On-chip Flash')
	npu-perf hp.tflite | run ! grep '^Off-chip Flash  *MRAM'
	named imx.tflite | diff /dev/null -
	tfl2c hp.tflite | grep -qx ' \* Put the tensor arena into SRAM0, the model into MRAM of alif-e7-hp.'
	tfl2c tcm.tflite | grep -qx ' \* Put the tensor arena and the model into DTCM of alif-e7-he-tcm.'
	tfl2c flash.tflite | grep -qx ' \* Put the tensor arena into SOCMEM, the model into flash of infineon-psoc-edge-e84-flash.'
	npucc --list-parts | grep -q '^infineon-psoc-edge-e84-flash  *ethos-u55-128 .* 16384 KiB flash '
	tfl2c imx.tflite | grep -qx ' \* Put the tensor arena and the model into DRAM of nxp-imx93.'
	tfl2c --memory-mode=Sram_Only hp.tflite | run ! grep 'Put the'
	for part in alif-e7-hp:SRAM0 alif-e7-he-tcm:DTCM; do
		refuses 1 "bytes of ${part#*:}, more than the limit of 2000; " \
			npucc --part="${part%:*}" --arena-cache-size=2000 -o - "$DIGITS"
	done
	# one memory for both is listed once
	npucc --list-parts | grep -q '^nxp-imx93 .* 131072 KiB DRAM  *the same  *384 KiB '
	npucc --list-parts | grep -q '^alif-e7-he-tcm .* 256 KiB DTCM  *the same  *- '
	npucc --list-parts | grep -q '^alif-e7-hp-tcm .* 1024 KiB DTCM  *5632 KiB MRAM  *- '
}

@test "one memory on two ports is busy once, and of twice the speed once" {
	npucc -q --part=infineon-psoc-edge-e84 -o m.tflite "$DIGITS"
	npu-perf --json m.tflite >m.json
	# the figure of the memory, on each of its ports
	jq -e '.twice_as_fast_cycles | .sram == .on_chip_flash and .sram > 0' m.json
	npu-report --summary m.json >have
	[ "$(grep -c '^  faster ' have)" = 1 ]
	[ "$(grep '^  faster' have | grep -o SOCMEM | wc -l)" = 1 ]
	jq '.calibrated_cycles as $c | .estimate.access_cycles |= (.sram = 0.92 * $c | .on_chip_flash = 0.97 * $c)' m.json |
		npu-report --summary | grep -q "^  busy     SOCMEM in use 97 % of the time, the NPU's units"
}
