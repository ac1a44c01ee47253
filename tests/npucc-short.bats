#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# npucc with only MODEL and a chip: the output in the current directory, a summary, a page.
bats_require_minimum_version 1.5.0

load lib/common

setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return
	cp "$BATS_TEST_DIRNAME/models/digits.tflite" d.tflite
	npucc --part=alif-e7-hp --advice --report=d.html d.tflite >summary 2>notes
}

files()
{
	cp "$BATS_FILE_TMPDIR"/* .
}

@test "a model and a part are enough" {
	files
	# the same bytes as with an explicit output name
	npucc --part=alif-e7-hp -o by-name.tflite d.tflite 2>/dev/null
	cmp by-name.tflite d_npu.tflite
	[ "$(wc -l <summary)" -le 17 ]
	# the summary has the numbers of npu-perf, which needs no options
	npu-perf --json d_npu.tflite >m.json
	cycles=$(jq .calibrated_cycles m.json)
	grep -q " ${cycles::-3},${cycles: -3} cycles$" summary
	grep -qx "  NPU      $(jq .npu_layers m.json) of $(jq .npu_layers m.json) operators" summary
	ms=$(jq .inference_ms m.json)
	grep -Eq "^  time     $(awk "BEGIN { printf \"%.1f µs\", 1000 * $ms }") at 400 MHz" summary
	kib=$(awk "BEGIN { printf \"%.1f\", $(jq .sram_bytes m.json) / 1024 }")
	grep -q "^  SRAM0    $kib KiB, " summary
	# three of the longest operators, the longest first
	sed -n '/^  longest/,/^  [oh][pa]/p' summary | sed -n '$d;s/ %.*//;s/.* //p' >longest
	[ "$(wc -l <longest)" = 3 ]
	sort -rn longest | cmp - longest
	[ "$(ls -A)" = "$(printf '%s\n' by-name.tflite d.html d.tflite d_npu.tflite longest m.json \
		notes summary)" ]
}

@test "a note says that another part's result is replaced, unless -o names it" {
	files
	local note="npucc: note: this result for alif-e7-he replaces d_npu.tflite for alif-e7-hp; -o FILE keeps both"
	npucc --part=alif-e7-hp d.tflite 2>notes >/dev/null
	npucc --part=alif-e7-hp d.tflite 2>>notes >/dev/null
	[ ! -s notes ]
	npucc --part=alif-e7-he d.tflite 2>notes >/dev/null
	[ "$(cat notes)" = "$note" ]
	# an accelerator has the name of no part
	npucc -a ethos-u55-64 d.tflite 2>notes >/dev/null
	grep -qx 'npucc: note: this result for ethos-u55-64 replaces d_npu.tflite for alif-e7-he; -o FILE keeps both' notes
	npucc --part=alif-e7-hp -o d_npu.tflite d.tflite 2>notes
	npucc --part=alif-e7-he -o d_npu.tflite d.tflite 2>>notes
	echo none >d_npu.tflite
	npucc --part=alif-e7-hp d.tflite 2>>notes >/dev/null
	[ -z "$(grep replaces notes)" ]
}

@test "without -o, the result goes to the current directory, and the model's may be read-only" {
	mkdir -p models/sub
	cp "$BATS_FILE_TMPDIR/d.tflite" models/sub/far.tflite
	cp "$BATS_FILE_TMPDIR/d.tflite" models/sub/bare
	chmod a-w models/sub
	local in
	for in in models/sub/far.tflite "$PWD/models/sub/far.tflite" ./models/sub/../sub/far.tflite; do
		npucc --part=alif-e7-hp "$in" >out 2>/dev/null
		# the first word of the summary is the file that was written
		[ "$(sed '1s/ .*//;q' out)" = far_npu.tflite ]
		cmp far_npu.tflite "$BATS_FILE_TMPDIR/d_npu.tflite"
		rm far_npu.tflite
	done
	npucc --part=alif-e7-hp models/sub/bare >/dev/null 2>&1
	chmod u+w models/sub
	[ "$(ls models/sub)" = "$(printf '%s\n' bare far.tflite)" ]
	[ "$(ls -A)" = "$(printf '%s\n' bare_npu.tflite models out)" ]
	# a result in the current directory is a file of its own: the model is never overwritten
	npucc --part=alif-e7-hp bare_npu.tflite >/dev/null 2>&1 || true
	cmp bare_npu.tflite "$BATS_FILE_TMPDIR/d_npu.tflite"
}

@test "--quiet prints errors alone" {
	files
	npucc -q -a ethos-u65-256 --check d.tflite >out 2>&1
	[ ! -s out ]
	npucc --quiet -a ethos-u65-256 -o by-name.tflite d.tflite >out 2>&1
	[ ! -s out ]
	cmp by-name.tflite d_npu.tflite
	refuses 1 "needs 6048 bytes of SRAM" \
		npucc -q --part=alif-e7-hp --arena-cache-size=2000 d.tflite
	[ "$(wc -l <refuses.err)" = 1 ]
	# of a refused model, without the warnings
	npucc --part=alif-e7-hp -o x.tflite "$BATS_TEST_DIRNAME/models/digits-float.tflite" 2>&1 | grep -q ': warning: '
	refuses 1 "float-operator: tfl-quantize, or --quantize of npucc" \
		npucc -q --part=alif-e7-hp "$BATS_TEST_DIRNAME/models/digits-float.tflite"
	run ! grep -E ': (warning|note): ' refuses.err
	[ "$(grep -c ': error: ' refuses.err)" = 2 ]
	# an option of tfl-quantize that does not ask for a quantization
	refuses 2 "--range is for the pictures of --quantize=DATA, which is missing" \
		npucc --part=alif-e7-hp --range=0,1 d.tflite
	refuses 2 "--quiet and --verbose-all exclude each other" \
		npucc -q --verbose-all --part=alif-e7-hp d.tflite
}

@test "errors of stages name the model, unless --keep keeps the text that they read" {
	files
	local o='npu-sched: d.tflite: error: the network needs 6048 bytes of SRAM'
	for to in -o\ x.h -o\ x.tflite -o\ x.sched --check; do
		# shellcheck disable=SC2086
		refuses 1 "$o" npucc --part=alif-e7-hp --arena-cache-size=2000 $to d.tflite
		run ! grep -E '\.part|standard input|\.sched:' refuses.err
	done
	refuses 1 "npu-sched: standard input: error: the network needs" \
		bash -c 'npucc --part=alif-e7-hp --arena-cache-size=2000 -o x.h <d.tflite'
	refuses 1 "npu-sched: d.part: error: the network" \
		npucc --part=alif-e7-hp --arena-cache-size=2000 --keep=kept d.tflite
}

@test "the option that the summary proposes has the stated effect" {
	files
	line=$(grep -m 1 -o -- '--arena-cache-size=[0-9]*: [0-9]* % more time' summary)
	npucc --part=alif-e7-hp "${line%%:*}" -o small.tflite d.tflite 2>/dev/null
	percent=${line##*: }
	percent=${percent%% *}
	old=$(npu-perf --json d_npu.tflite | jq .calibrated_cycles)
	new=$(npu-perf --json small.tflite | jq .calibrated_cycles)
	[ "$(((1000 * new / old - 1000 + 5) / 10))" = "$percent" ]
	limit=${line#*=}
	limit=${limit%%:*}
	[ "$(npu-perf --json small.tflite | jq .sram_bytes)" -le "$limit" ]
}

# counting COMMAND...: the number of times that each program runs, by name
counting()
{
	mkdir -p counted
	local p
	for p in npu-sched npu-perf npu-report tfl-partition; do
		printf '#!/bin/sh\necho %s >>%q\nexec %q "$@"\n' $p "$PWD/ran" \
			"$BIN/$p" >counted/$p
		chmod +x counted/$p
	done
	cp "$(command -v npucc)" counted/npucc
	rm -f ran
	PATH=$PWD/counted:$PATH "$@" >out 2>&1
	sort ran | uniq -c | awk '{ printf "%s %s\n", $2, $1 }'
}

@test "only --advice searches for other limits and accelerators" {
	files
	local advice='  options  npucc --advice: the time with other limits of SRAM0 and on other accelerators'
	# a page costs an estimate and a drawing, and no second search
	counting npucc --part=alif-e7-hp -o x.tflite --report=x.html d.tflite >ran.n
	diff ran.n <(printf '%s 1\n' npu-perf npu-report npu-sched tfl-partition)
	counting npucc --part=alif-e7-hp d.tflite >ran.n
	diff ran.n <(printf '%s 1\n' npu-perf npu-report npu-sched tfl-partition)
	run ! grep -e '--arena-cache-size\|ethos-u55-32' out
	sed -n '/^  options/,$p' out | diff - <(printf '%s\n' "$advice" '           npucc --report=FILE.html: pictures')
	run ! grep -e '--arena-cache-size=[0-9]\|<circle' x.html
	npucc --part=alif-e7-hp --report=x.html d.tflite | sed -n '/^  options/,$p' | diff - <(echo "$advice")
	# the plan; the curve of each accelerator of the generation that a part has, and that of Sram_Only
	counting npucc --part=alif-e7-hp --advice d.tflite >ran.n
	grep -qx 'npu-sched 5' ran.n
	grep -q -e '--arena-cache-size=' out
	run ! grep -e '--advice\|--report\|ethos-u55-32' out
	# -o prints no summary, unless advice is asked for
	npucc --part=alif-e7-hp --advice -o y.tflite d.tflite >named
	diff <(sed 1d out) <(sed 1d named)
	refuses 2 "--advice is for the summary or the page of a compiled model: name the model" \
		npucc --part=alif-e7-hp --advice -o y.h d.tflite
	refuses 2 "none/x.html: error: its directory does not exist: create it, or name another file" \
		npucc --part=alif-e7-hp --report=none/x.html d.tflite
	refuses 2 "none/x.tflite: error: its directory does not exist: create it, or name another file" \
		npucc --part=alif-e7-hp -o none/x.tflite d.tflite
	refuses 2 "--report took '-o' as its file: name the page with --report=FILE.html" \
		npucc --part=alif-e7-hp --report -o y.tflite d.tflite
	refuses 2 "or leave out --quiet" npucc --part=alif-e7-hp --advice -q d.tflite
}

@test "advice names the other NPUs of the chip, with their own times" {
	files
	npucc --part=alif-e7-he --advice -o he.tflite d.tflite 2>/dev/null >he
	grep -q '^  hardware --part=alif-e7-hp --arena-cache-size=.*, on this chip' he
	run ! grep 'ethos-u55-256' he
	# the fastest plan of all is that of the other part, in its own clock
	npucc --part=alif-e7-hp --within=0 -o hp.tflite d.tflite 2>/dev/null
	# the option of a line gives its bytes
	option=$(sed -n 's/^  hardware \(--part=.*\), on this chip: .*/\1/p' he)
	bytes=$(sed -n 's/^  hardware .*less time, SRAM0 //p' he)
	[ -n "$bytes" ]
	# shellcheck disable=SC2086
	npucc $option -o limited.tflite d.tflite >limited 2>/dev/null
	npu-report --summary --part=alif-e7-hp limited.tflite | grep -q "^  SRAM0 .* $bytes"
	percent=$(jq -n --argjson he "$(npu-perf --json he.tflite)" --argjson hp "$(npu-perf --json hp.tflite)" \
		'100 * (1 - $hp.inference_seconds / $he.inference_seconds)')
	said=$(sed -n 's/.* --part=alif-e7-hp .*, on this chip: \([0-9]*\) % less time.*/\1/p' he | tail -n 1)
	jq -n -e "($percent - $said) | fabs < 2"
	# of another generation, which needs a lowering of its own
	npucc --part=alif-e8-hp --advice -o e8.tflite d.tflite 2>/dev/null >e8
	grep -q ' --part=alif-e8-u85 .*, on this chip' e8
	# a chip with one NPU
	npucc --part=infineon-psoc-edge-e84 --advice -o e84.tflite d.tflite 2>/dev/null >e84
	grep -q '^  hardware another chip with ethos-u55-' e84
	run ! grep 'on this chip' e84
}

@test "advice has constants in SRAM where that saves a tenth of the time" {
	files
	local line with
	npucc --part=nuvoton-m55m1 --advice -o flash.tflite d.tflite 2>/dev/null >flash
	line=$(grep '^  options  --memory-mode=Sram_Only .*; this counts the constants, which the application copies there' flash)
	# the options give the time of their line, in its SRAM: the size of the streams is an estimate
	read -ra with <<<"${line%%:*}"
	npucc --part=nuvoton-m55m1 "${with[@]:1}" -o sram.tflite d.tflite 2>/dev/null
	jq -n -e --argjson a "$(npu-perf --json flash.tflite)" --argjson b "$(npu-perf --json sram.tflite)" \
		--argjson said "$(sed 's/.*: \([0-9]*\) % less time, SRAM \([0-9.]*\) KiB;.*/[\1, \2]/' <<<"$line")" '
		(100 * (1 - $b.inference_seconds / $a.inference_seconds) | round) == $said[0] and
		(($b.sram_bytes + $b.flash_bytes + $b.stream_bytes) / 1024 / $said[1] - 1 | fabs) < 0.1'
	# not where the mode was named, nor where it saves less than a tenth, or cannot be
	for with in '--part=nuvoton-m55m1 --memory-mode=Shared_Sram' --part=alif-e7-he --part=alif-e7-he-tcm --part=nxp-imx93; do
		# shellcheck disable=SC2086
		npucc $with --advice -o other.tflite d.tflite 2>/dev/null >other
		run ! grep '=Sram_Only' other
	done
}

@test "a header and a page come from one compilation" {
	files
	counting npucc --part=alif-e7-hp -o d.h --report=both.html d.tflite >ran.n
	diff ran.n <(printf '%s 1\n' npu-perf npu-report npu-sched tfl-partition)
	npucc --part=alif-e7-hp -o d_npu.tflite --report=d.html d.tflite
	npucc --part=alif-e7-hp -o - d.tflite | cmp - d_npu.tflite
	npucc --part=alif-e7-hp -o want.h d.tflite
	cmp d.h want.h
	npucc --part=alif-e7-hp -o kept.h --keep=kept --report=kept.html d.tflite
	cmp kept.h want.h
	[ -s both.html ] && [ -s kept.html ]
	diff <(grep -o '"cycles":[0-9.]*' both.html) <(grep -o '"cycles":[0-9.]*' d.html)
}

@test "an accelerator alone takes Arm's example system, and a note says so" {
	files
	rm d_npu.tflite
	npucc -a ethos-u65-256 d.tflite >out 2>err
	grep -q 'note: no memory system was named: using Arm.s example, Ethos_U65_High_End and Dedicated_Sram' err
	head -1 out | grep -q '^d_npu.tflite for ethos-u65-256, Ethos_U65_High_End, '
	# an output's name changes nothing: the same note, the same bytes
	npucc -a ethos-u65-256 -o x.tflite d.tflite 2>named
	cmp named err
	cmp x.tflite d_npu.tflite
	npucc -a ethos-u65-256 -o - <d.tflite 2>/dev/null | cmp - x.tflite
	npucc -a ethos-u65-256 --keep=kept d.tflite 2>/dev/null
	cmp kept/d_npu.tflite x.tflite
	# a half of the memory system is no choice; the note names chips with this accelerator
	local g o name
	for g in 55-64 55-128 55-256 65-256 85-256; do
		for o in "" "-o x.tflite"; do
			rm -f d_npu.tflite
			# shellcheck disable=SC2086
			npucc -a "ethos-u$g" $o d.tflite 2>note >/dev/null
			[ "$(wc -l <note)" = 1 ]
			[ "$(wc -c <note)" -lt 500 ]
			for name in $(sed 's/.*(for example \(.*\); --list-parts lists all).*/\1/; s/,//g' note); do
				npucc --list-parts | grep "^$name  *ethos-u$g "
			done
			# shellcheck disable=SC2086
			refuses 2 "--system-config is required: there is no default; --list-parts and --list-profiles list the choices" \
				npucc -a "ethos-u$g" --memory-mode=Sram_Only $o d.tflite
		done
	done
	npucc -a ethos-u85-2048 d.tflite 2>&1 | grep "none with this accelerator is known; --list-parts"
}

@test "without a chip, the message tells where chips are listed; without a model's name, the output must be named" {
	files
	refuses 2 "no chip: use --part=NAME" npucc d.tflite
	grep -q 'npucc --list-parts has a list, or --accelerator-config=NAME with one of ethos-u55-32' refuses.err
	[ "$(wc -c <refuses.err)" -lt 400 ]
	refuses 2 "no chip: use --part=NAME" npucc -o x.tflite d.tflite
	npucc -o x.part d.tflite # needs no chip
	refuses 2 "no model: name a file, or name the output for a model on standard input with -o FILE" \
		npucc --part=alif-e7-he
	[ "$(grep -c '^npucc: ' refuses.err)" = 1 ]
	refuses 2 "no model: name a file" npucc --part=alif-e7-he --report=x.html
	[ "$(grep -c '^npucc: ' refuses.err)" = 1 ]
	for w in "--report FILE.html" "--arena-cache-size BYTES"; do
		refuses 2 "npucc: error: no model: ${w% *} took 'd.tflite' as its ${w#* }" \
			npucc --part=alif-e7-he "${w% *}" d.tflite
	done
	# of names with one other letter, the nearest number
	refuses 2 "there is no part 'alif-e9-he'; did you mean alif-e8-he?" npucc --part=alif-e9-he d.tflite
	refuses 2 "more than one model: part=alif-e7-he, d.tflite; did you mean --part=alif-e7-he?" \
		npucc part=alif-e7-he d.tflite
	refuses 2 "no output: name it with -o FILE" npucc --part=alif-e7-hp -
	refuses 2 "--report needs a compiled model" \
		npucc --part=alif-e7-hp --report=x.html -o x.part d.tflite
	refuses 2 "--keep writes report.html itself: leave out --report" \
		npucc --part=alif-e7-hp --report=x.html --keep=kept d.tflite
	refuses 2 "--report shows the operators by the names in the source map: leave out --no-map" \
		npucc --part=alif-e7-hp --report=x.html --no-map -o x.tflite d.tflite
	refuses 2 "--check needs a compiled model, not --front or --explain" \
		npucc --part=alif-e7-hp --check --front d.tflite
	for name in x.txt x.json x none/; do
		refuses 2 "--report writes a page: name it FILE.html, not '$name'" \
			npucc --part=alif-e7-hp --report=$name -o x.tflite d.tflite
	done
	[ ! -e x.tflite ]
	# a stage that refuses an option of npucc points to the --help of npucc
	refuses 2 "Try \`npucc --help'" npucc --part=alif-e7-hp --effort=77 -o x.tflite d.tflite
	refuses 2 "Try \`npu-sched --help'" npucc --part=alif-e7-hp --pass=npu-sched:--effort=77 \
		-o x.tflite d.tflite
}

@test "floats at the model's borders are said once: in the summary, or as warnings without it" {
	tfl-quantize -q --random --interface=float -o float.tflite "$TOP/tests/models/digits-float.tflite"
	npucc --part=alif-e7-he float.tflite >out 2>err
	[ ! -s err ]
	[ "$(grep -c FLOAT32 out)" = 1 ]
	grep -q '^  CPU  .*--integer-io leaves it out$' out
	npucc --part=alif-e7-he -o x.tflite float.tflite 2>err
	[ "$(grep -c ': warning: interface-float: ' err)" = 2 ]
	refuses 1 "warning: interface-float" npucc --part=alif-e7-he --strict float.tflite
}

@test "an operator that no runtime knows has its code in the warning, and no cycles" {
	need flatc jq
	jq '.operator_codes += [{deprecated_builtin_code:127,builtin_code:400,version:1}]
		| .subgraphs[0].tensors += [.subgraphs[0].tensors[3] | .name = "new"]
		| .subgraphs[0].outputs = [4]
		| .subgraphs[0].operators += [{opcode_index:1,inputs:[3],outputs:[4]}]' \
		"$TOP/tests/models/fc.json" >new.json
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" new.json
	npucc --part=alif-e7-he --report=new.html new.tflite >out 2>notes
	grep -qx "  NPU      1 of 2 operators; 1 on the CPU" out
	grep -qx "  unknown  1 operator on the CPU, whose time nobody estimates, adds to that" out
	grep -q "operators; 1 on the CPU, of unknown time<" new.html
	# one kernel of 51.4 cycles, in an estimate of 51 cycles
	grep -q "^  longest  out  100.0 %," out
	grep -qx "tfl-partition: warning: new.tflite: operator 1 (UNKNOWN) stays on the CPU: builtin code 400 is no operator of TensorFlow Lite, and TensorFlow Lite Micro can't run it either" notes
}

@test "a directory of --keep that cannot be made has the reason" {
	files
	mkdir /sys/a 2>why && skip "/sys is no file system of the kernel"
	refuses 2 "npucc: /sys/a: error: $(sed 's/.*: //' why)" npucc --part=alif-e7-he --keep=/sys/a/b d.tflite
}

@test "in a read-only directory, the message asks for the name of an output" {
	[ "$(id -u)" != 0 ] || skip "root may write everywhere"
	files
	mkdir read-only
	chmod a-w read-only
	cd read-only
	run npucc --part=alif-e7-he ../d.tflite
	cd ..
	[ "$status" -eq 2 ]
	[[ $output == *"can't write to the current directory: name the output with -o FILE"* ]]
}

@test "i.MX93 has a Cortex-A55 and DRAM, and nobody needs less of the NPU's own SRAM" {
	files
	npucc --part=nxp-imx93 --cpu=ADD d.tflite >out 2>err
	grep -q '1 on the CPU, roughly .* cycles of a Cortex-A55$' out
	run ! grep -h 'Cortex-M55\|flash\|--arena-cache-size' out err
	arena=$(npu-perf --json d_npu.tflite | jq '.arena_bytes')
	npu-perf --json d_npu.tflite | jq -e '.cpu == "Cortex-A55" and .cpu_clock == 1.7e9 and
		.dram_bytes == .arena_bytes + .flash_bytes + .stream_bytes and .cpu_error == 10'
	grep -Eq "^  DRAM     .* of constants, .* of command streams, .* of arena$" out
	[ "$arena" -gt 0 ]
	# all cycles of the CPU are those of the part's, half of those of a Cortex-M55
	for part in --part=nxp-imx93 ''; do
		tfl-partition $part --report --json --cpu=ADD d.tflite | jq '[.operators[].cpu_cycles // 0] | add'
	done >sums
	[ "$(sed -n 1p sums)" -gt 500 ]
	[ "$(sed -n 2p sums)" = $((2 * $(sed -n 1p sums))) ]
	npu-perf --json d_npu.tflite | jq -e --argjson sum "$(head -1 sums)" '.cpu_cycles == $sum and
		.inference_cpu_cycles == $sum and (.on_cpu | map(.cycles) | add) == $sum and
		(. as $r | .on_cpu | all(.seconds - .cycles / $r.cpu_clock | fabs < 2e-9))'
	npucc --part=nxp-imx93 --cpu=ADD --report=r.html -o r.tflite d.tflite >/dev/null 2>&1
	run ! grep -c '<dt>Flash\|--arena-cache-size=16<' r.html
	grep -q '<dt>DRAM</dt>.*<small>arena .*, constants .*, command streams ' r.html
}

@test "the summary gives the reason for each CPU operator, and says if nothing runs on the NPU" {
	files
	npucc --part=alif-e7-hp --cpu=ADD d.tflite >out 2>/dev/null
	grep -Eq '^  NPU      12 of 13 operators; 1 on the CPU, roughly [0-9,]+ cycles' out
	grep -q '^  CPU      ADD: .*--cpu' out
	# the time is that of both, and its interval has the factor of the CPU's cycles
	npucc --part=alif-e7-hp --cpu=ADD --keep=kept -o m.tflite d.tflite 2>/dev/null
	jq -e '.inference_seconds > .inference_npu_cycles / 400e6 and
		.inference_seconds_high / .inference_seconds_low > 1.5' kept/manifest.json
	ms=$(jq '1e6 * .inference_seconds' kept/manifest.json)
	awk -v us="$ms" '/^  time     roughly/ { exit !($3 > .99 * us && $3 < 1.01 * us) }' out
	grep -q '^  range .*: the CPU.s cycles are known to a factor of 10$' out
	all=$(tfl-partition --report d.tflite | awk '{ print "--cpu=" $3 }' | sort -u |
		grep -E '^--cpu=[A-Z][A-Z_0-9]+$')
	# shellcheck disable=SC2086
	npucc --part=alif-e7-hp $all d.tflite >out 2>/dev/null
	grep -qx 'd_npu.tflite: nothing runs on the NPU; tfl-partition --report tells why' out
	# shellcheck disable=SC2086
	refuses 2 "there is no page to draw" \
		npucc --part=alif-e7-hp $all --report=x.html -o y.tflite d.tflite
	[ ! -e x.html ] && [ ! -e y.tflite ]
}
