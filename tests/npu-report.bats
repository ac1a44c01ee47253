#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# npu-report: pictures, their numbers, and comparisons.
bats_require_minimum_version 1.5.0

load lib/common
load lib/model
load lib/shared

DIGITS=$BATS_TEST_DIRNAME/models/digits.tflite
u55=(--system-config Ethos_U55_High_End_Embedded --memory-mode Shared_Sram)
pictures=(memory timeline layers roofline curve)

# report NAME OPTION...: makes NAME.tflite and NAME.json
report()
{
	local name=$1
	shift
	npucc -a ethos-u55-128 "${u55[@]}" "$@" -o "$name.tflite" "$DIGITS" 2>/dev/null
	npu-perf "${u55[@]}" --json "$name.tflite" >"$name.json"
}

front()
{
	cat >front.json <<-END
	{ "front": [ { "sram": 3000, "cycles": 90000, "change": "" },
	  { "sram": 9000, "cycles": 60000, "change": "buffers the weights of stem" },
	  { "sram": 20000, "cycles": 30000, "change": "<no> \"cascade\"" } ] }
	END
}

@test "pictures and pages are well-formed and load nothing" {
	need xmllint
	report m
	front
	for p in "${pictures[@]}"; do
		npu-report --svg=$p --front=front.json m.json >$p.svg
		xmllint --noout --nonet $p.svg
		grep -q "<svg xmlns" $p.svg
	done
	npu-report --html --front=front.json m.json >m.html
	npu-report --html m.json front.json | cmp - m.html
	# each fold has a name of its own
	[ "$(grep -c '<summary>' m.html)" -ge 6 ]
	[ -z "$(grep -o '<summary>[^<]*' m.html | sort | uniq -d)" ]
	xmllint --noout --nonet m.html
	npu-report --html --compare=m.json m.json >c.html
	xmllint --noout --nonet c.html
	for f in *.svg *.html; do
		run ! grep -E '<link|<img|@import|url\(|src=|fetch\(|XMLHttp|import\(' "$f"
		[ -z "$(sed 's/xmlns="[^"]*"//g' "$f" | grep -E 'https?:')" ]
	done
	run ! grep '<script' ./*.svg c.html
	grep -q "default-src 'none'" m.html
	grep -q 'prefers-color-scheme: dark' m.html
	grep -q '@media print' m.html
}

@test "the curve never rises, and plans that it beats are hollow marks beside it" {
	report m
	front
	npu-report --svg=curve --front=front.json m.json >all.svg
	run ! grep -E 'class="point beaten"|hollow' all.svg
	jq '.front |= .[:2] + [{ sram: 12000, cycles: 60500, change: "" },
		{ sram: 13000, cycles: 60000, change: "" }] + .[2:]' front.json >rising.json
	npu-report --svg=curve --front=rising.json m.json >curve.svg
	[ "$(grep -c '<circle class="point"' curve.svg)" = 3 ]
	[ "$(grep '<circle class="point beaten"' curve.svg | grep -oE '[0-9]+ bytes')" = "12000 bytes
13000 bytes" ]
	grep -q 'hollow: not faster than a plan of less' curve.svg
	# the line is that of the other plans
	diff <(grep 'class="edge"' all.svg) <(grep 'class="edge"' curve.svg)
	grep 'class="edge"' curve.svg | sed -E 's/.*y1="([^"]*)".*y2="([^"]*)".*/\1 \2/' |
		awk '$2 < $1 || $1 < last { exit 1 } { last = $2 }'
	npu-report --html --front=rising.json m.json >m.html
	sed -n '/id="data"/,/<\/script>/p' m.html | sed '1d;$d' |
		jq -e '[.points[] | .[3]] == [0, 0, 1, 1, 0]'
}

@test "the numbers of a page are those of the JSON" {
	need xmllint
	report m
	front
	npu-report --html --front=front.json m.json >m.html
	# cells TITLE: the cells of the tables of this section, in order
	cells()
	{
		xmllint --xpath "//*[local-name()='h2'][.='$1']/following-sibling::*[
			local-name()='details'][1]//*[local-name()='td']/text()" m.html
	}
	cells 'Memory over time' | sed -n '1~8p;5~8p' >have
	jq -r '.tensors[] | .name, .bytes' m.json | diff have -
	cells Timeline | sed -n '1~8p' >have
	jq -r '.operations[].name' m.json | diff have -
	# whole cycles, and times with the digits of the report: a millionth of a ms
	jq -r '.operations[].total_cycles | round' m.json >want
	cells Timeline | sed -n '5~8p' | diff want -
	# a transfer writes what it reads, unless it is a table for the NPU, and is not counted twice
	cells Timeline | sed -n '7~8p;8~8p' >have
	jq -r '.operations[] | .read_bytes, .write_bytes | add' m.json | diff have -
	dma=$(jq -r '.operations[] | select(.kind == "dma") | .write_bytes | add | select(. > 0)' m.json | head -n 1)
	npu-report --svg=timeline m.json | grep -q "dma, .* from .*, $dma bytes read, $dma written<"
	cells Summary | grep -qx "$(jq '.inference_ms' m.json)"
	cells 'Time by layer' | sed -n '1~9p' >have
	jq -r '[.layers[.operations[] | select(.kind != "dma").layer].name] |
		reduce .[] as $n ([]; if index($n) then . else . + [$n] end) | .[]' \
		m.json | diff have -
	# the sum of layers and of the waiting between them is the timeline, but for rounding
	cells 'Time by layer' | sed -n '8~9p' | awk '{ s += $1 } END { print s }' >have
	jq -r '[.operations[] | select(.kind != "dma") | .total_cycles + .stall_cycles] |
		add' m.json >want
	awk 'NR == FNR { a = $1; next } { exit !(a - $1 < 6 && $1 - a < 6) }' have want
	cells 'What more memory would buy' | sed -n '1~3p' | tr '\n' ' ' >have
	grep -qx '3000 9000 20000 ' have
	cells 'Weights and their compression' | sed -n '2~5p' |
		awk '{ s += $1 } END { print s }' >have
	jq '[.constants[] | select(.kind == "weights") | .bytes - .scale_bytes] | add' \
		m.json | diff have -
	# the bars of weights are as long as their numbers, which can be above 100 %
	sed -n '/id="weights"/,/<details/s/.*p:\([0-9.]*\)%">\([0-9.]*\) %.*/\1 \2/p' m.html >have
	awk '{ r = $1 / $2; f = f ? f : r; above += $2 > 100 }
		r > 1.02 * f || f > 1.02 * r { exit bad = 1 } END { exit bad || !above }' have
	# a fused operator has its first name in a table, and the others in its title
	jq '(.operations[] | select(.kind == "dma") | .name) = "fetch one;two"' m.json | npu-report --html >fused.html
	grep -q '<td title="fetch one;two">fetch one</td>' fused.html
	# the headline has the report's figures of the whole network
	sed -n 's/.*data-key="\([a-z_]*\)" data-value="\([0-9.]*\)".*/\1 \2/p' m.html >have
	[ "$(wc -l <have)" = 4 ]
	while read -r key value; do
		jq -e --arg k "$key" --argjson v "$value" '.[$k] == $v' m.json
	done <have
	# the data for the script are all in the report
	sed -n '/id="data"/,/<\/script>/p' m.html | sed '1d;$d' >data.json
	jq -e --slurpfile m m.json '(.spans | length) == ($m[0].tensors | length) and
		(.ops | length) == ($m[0].operations | length) and .peaks[0].bytes ==
		$m[0].peaks[0].bytes and .points[2] == [20000, 30000, "<no> \"cascade\"", 0]' data.json
	# every rectangle of memory is a tensor or buffer
	npu-report --svg=memory m.json >m.svg
	[ "$(grep -c 'class="span [a-z]*"[^>]*><title>' m.svg)" = \
		"$(jq '.tensors | length' m.json)" ]
	# the legend has exactly the kinds that occur
	sed -n 's/.*class="span \([a-z]*\)".*\/>/\1/p' m.svg | sort >have
	jq -r '.tensors[].kind' m.json | sort -u | diff have -
}

@test "the reserved size in pictures is the highest address of all times, not that of the peak" {
	report m
	jq '.peaks[0].top = .peaks[0].bytes / 2 | .peaks[0].bytes = .peaks[0].top' m.json >low.json
	npu-report --svg=memory low.json >low.svg
	npu-report --compare=low.json --html low.json >compare.html
	npu-report --html low.json >low.html
	local sram
	sram=$(npu-report --summary low.json | sed -n 's/^  SRAM *\([0-9.]* [KM]*i*B\),.*/\1/p')
	for f in low.svg compare.html; do
		grep -o 'peak of [^<]*' $f | sort -u >have
		[ "$(wc -l <have)" = 1 ]
		grep -q " in use, of $sram\$" have
	done
	# no tensor is above the dashed line, here and in the page
	awk -F'"' '/class="mark"/ { top = $6 } /class="span.*<title>/ && (!least || $6 < least) { least = $6 }
		END { exit !(top > 0 && top == least) }' low.svg
	sed -n '/id="data"/,/<\/script>/p' low.html | sed '1d;$d' >data.json
	jq -e '.peaks[0].top == ([.spans[] | .[4] + .[5]] | max)' data.json
}

@test "a compiled model is accepted instead of a report" {
	report m
	npu-report -o a.html m.tflite
	npu-report --html m.json | cmp - a.html
	npu-report --svg=memory m.tflite | cmp - <(npu-report --svg=memory m.json)
	npu-report --summary m.tflite >out
	grep -q '^  NPU      13 of 13 operators$' out
	npu-report --summary m.json | cmp - out
	# what to try next is no part of a report
	sed -n '$p' out | grep -x '  options  npucc --advice: the time with other limits of SRAM and on other accelerators'
	npu-report --compare=m.tflite --fail-if-slower=0 m.json >out
	run ! grep -E 'slower|larger|moved' out
	# a file that does not record its memory system
	npucc -a ethos-u55-128 "${u55[@]}" --no-map -o p.tflite "$DIGITS" 2>/dev/null
	refuses 2 "npu-report: p.tflite: error: --part or --system-config is required" npu-report p.tflite
	npu-report "${u55[@]}" --summary p.tflite | grep -q '^p for ethos-u55-128, '
	npu-report --called='<x>' m.tflite -o b.html
	grep -q '<h1>&lt;x&gt;</h1>' b.html
	refuses 2 "no ethos-u operator" npu-report "$DIGITS"
	npu-report <m.tflite 2>err || [ $? = 2 ]
	grep -q 'not a report of npu-perf --json; a compiled model must be a file, not a pipe or standard input' err
}

@test "proposals come from the front, from other accelerators and from npu-perf" {
	report m
	npucc -o m.part "$DIGITS" 2>/dev/null
	for a in 128 256; do
		npu-sched -a ethos-u55-$a "${u55[@]}" --front --json m.part >$a.json 2>/dev/null
	done
	npu-report --html --front=128.json --other=big=256.json m.json >m.html
	xmllint --xpath "//*[@id='gains']//*[local-name()='td'][1]/text()" m.html >have
	grep -qx 'big, in no more SRAM' have
	# plans of more than 1.7 times the time are not worth a line
	slower=$(jq --slurpfile m m.json '[.front[] | select(.sram < 0.9 * $m[0].sram_bytes and
		.cycles < 1.7 * $m[0].calibrated_cycles) | .sram] | min' 128.json)
	# the time stands beside it, not the limit of the search
	grep -qx 'less SRAM' have
	run ! grep 'less SRAM,' have
	# what other accelerators have is said where there are some
	grep -q "curves. Other accelerators have this clock and these memories.</p>" m.html
	npu-report --html --front=128.json m.json | run ! grep 'Other accelerators have'
	jq '{ front: [ { sram: (.sram_bytes / 2), cycles: (1.8 * .calibrated_cycles), change: "" } ] }' \
		m.json >slow.json
	npu-report --summary --front=slow.json m.json | grep -qx \
		'  options  no other limit of SRAM saves 3 % of the time or 10 % of the bytes for at most 70 % more time'
	# page and summary propose the same
	npu-report --summary --front=128.json --other=big=256.json m.json |
		sed -n '/^  options /,$p' | wc -l | diff - <(wc -l <have)
	cycles=$(jq '[.front[] | .cycles] | min' 256.json)
	percent=$(jq --argjson c "$cycles" '100 * ($c / .calibrated_cycles - 1)' m.json)
	grep -q ">$(printf '%+.1f' "$percent") %<" m.html
	less=$(jq --slurpfile m m.json '[.front[] | select(.sram <= 0.9 * $m[0].sram_bytes and
		.cycles <= 1.1 * $m[0].calibrated_cycles) | .sram] | min' 128.json)
	grep -q -- "--arena-cache-size=$less<" m.html
	# nor is the smallest of the others, below the knee
	run ! grep -- "--arena-cache-size=$slower<" m.html
	# without proposals of npucc --advice: no table, no empty section
	npu-report --html m.json >plain.html
	run ! xmllint --xpath "//*[@id='gains']//*[local-name()='tr']" plain.html
	run ! grep -E 'Other plans|id="sram-curve"' plain.html
	grep -q 'npucc --report=FILE.html --advice lists' plain.html
	refuses 2 '--other needs NAME=FILE' npu-report --other=256.json m.json
	refuses 2 'no "front"' npu-report --html --other=x=m.json m.json
}

@test "of plans with more SRAM, the smallest with most of the gain is proposed" {
	npucc --part=alif-e7-he -o m.tflite "$DIGITS" 2>/dev/null
	npu-perf --json m.tflite >m.json
	# cycles in percent of now, for 2, 3, 4 ... times the SRAM; prints times and rows of the page
	told() { jq --argjson v "[$1]" '. as $m | { front: [$v | to_entries[] | { sram: ((2 + .key) * $m.sram_bytes),
		cycles: (.value / 100 * $m.calibrated_cycles) }] }' m.json >f.json
		npu-report --html --front=f.json m.json >m.html
		xmllint --xpath "//*[@id='gains']//*[local-name()='td']/text()" m.html 2>/dev/null |
			awk -v now="$(jq .sram_bytes m.json)" '/^more/ { what = $0 } sub(/.*size=/, "") { print $0 / now, what }'; }
	local most='more SRAM0, at least 75 % of the possible gain' all='more SRAM0, the fastest plan'
	# the fastest plan saves a further 1 % of the time, or less
	told 94,92.4,91 | diff - <(printf '%s\n' "3 $most" "4 $all")
	told 94,91.4,91 | diff - <(echo "3 $most")
	# three quarters are less than is worth a line, but not all
	told 97.2,96.6 | diff - <(echo "3 $all")
	told 98,97.2 | run ! grep .
	# a plan with more SRAM that is slower, and a single plan
	told 93,99,92.9 | diff - <(echo "2 $most")
	told 101,90 | diff - <(echo "3 $all")
	# of equally fast plans, the smallest
	told 90,90 | diff - <(echo "2 $all")
}

@test "a summary tells operators apart, all reasons of the CPU, and the cause of the range" {
	npucc --part=alif-e7-he --cpu=ADD --cpu=FULLY_CONNECTED -o m.tflite "$DIGITS" 2>/dev/null
	npu-perf --json m.tflite >m.json
	npu-report --summary m.json >have
	grep -qx '  CPU      ADD, FULLY_CONNECTED: kept on the CPU by --cpu' have
	grep -q "^  range .*the CPU's cycles are known to a factor of 10" have
	bytes=$(jq .sram_bytes m.json)
	grep -qx "  SRAM0    .* KiB, ${bytes%???},${bytes: -3} bytes" have
	jq '.cpu_error = 1.01 | (.layers[] | select(.npu)).label = "same"
	    | .layers[11] += { kind: "ADD", reason: "other" }' m.json >same.json
	npu-report --summary same.json >have
	grep -q "^  range .* with a probability of 80 % on Arm's simulator of the NPU" have
	grep -q '^  longest  *residual ' have
	grep -q '^  *same, operator 3  ' have
	# number and type in the model, as the page has them, in lines of at most 100 columns
	npu-report --html m.json | sed -n '/id="data"/,/<\/script>/p' | sed '1d;$d' |
		jq -r --slurpfile m m.json '.nodes[] | .n as $n | [$m[0].layers[].name] as $all |
			"\(.l); \($all | index($n)) \(.k)"' | sort >page
	npu-report --summary m.json | sed -nE 's/^  (longest|       )  (.*[^ ])  +[0-9.]+ %, .*(; [0-9]+ [A-Z_0-9]+)$/\2\3/p' >said
	[ "$(wc -l <said)" = 3 ]
	sort said | comm -23 - page | diff /dev/null -
	for n in 1 20 70; do
		jq --arg n "$(printf '%*s' $n | tr ' ' A)_$n" '(.layers[] | select(.npu)).kind = $n' m.json |
			npu-report --summary | sed -n '/^  longest/,/^  options/p' >lines
		[ "$(wc -L <lines)" -le 100 ]
		grep -c "A_$n\$" lines
	done >types || true
	printf '%s\n' 1 1 0 | diff - types
	# not for a file that has no names, nor where the name is the type
	npucc --part=alif-e7-hp --no-map -o none.tflite "$DIGITS" 2>/dev/null
	npu-report --summary --part=alif-e7-hp none.tflite | sed -n '/^  longest/,$p' | run ! grep ';'
	grep -A1 -x '  CPU      ADD: kept on the CPU by --cpu' have | grep -qx '           ADD: other'
}

@test "what a faster memory saves stands beside the shares of the time, in the part's words" {
	npucc --part=alif-e7-he -o m.tflite "$DIGITS" 2>/dev/null
	npu-perf --json m.tflite | jq '(.operations[] | select(.kind != "DMA") | .limited_by) = "Off-chip Flash"
		| .twice_as_fast_cycles = { sram: .calibrated_cycles, off_chip_flash: (0.75 * .calibrated_cycles) }' >m.json
	npu-report --summary m.json >have
	grep -q '^  MRAM     .* of constants' have
	grep -q '^  limit .*reading constants from MRAM 9' have
	grep -qx '  faster   with this plan, MRAM of twice the speed saves 25 % (then limited by computing)' have
	npu-report --html m.json | grep -q 'MRAM of twice the speed saves 25 %'
	# the next limit: what works 90 % of the time that is left, if anything does
	next() { jq ".calibrated_cycles as \$c | .estimate |= (.npu_cycles = $1 * \$c |
		.access_cycles.sram = $2 * \$c)" m.json | npu-report --summary | sed -n 's/^  faster *with this plan, MRAM .* saves 25 %//p'; }
	[ "$(next 0.68 0.1)" = ' (then limited by computing)' ]
	[ "$(next 0.68 0.7)" = ' (then limited by SRAM0 and computing)' ]
	# otherwise all that takes half of it, if the saving is less than a third of the share
	[ "$(next 0.67 0.66)" = ' (then limited by SRAM0 and computing)' ]
	[ "$(next 0.38 0.37)" = ' (then limited by computing)' ]
	next 0.37 0.37 | grep -x ''
	# a next limit that has the largest share already is no news, and explains a small saving
	most() { jq "(.operations[4:] | .[].limited_by) = \"NPU\" | .estimate.npu_cycles = .calibrated_cycles
		| .twice_as_fast_cycles.off_chip_flash = $1 * .calibrated_cycles" m.json | npu-report --summary; }
	most 0.9 >have
	grep '^  limit    computing [6-9].*, reading constants from MRAM [1-4]. %' have
	grep -qx '  faster   with this plan, MRAM of twice the speed saves 10 %' have
	most 0.98 | grep -qx '  faster   with this plan, MRAM of twice the speed saves 2 % (then limited by computing)'
	jq '.estimate.npu_cycles = 0.5 * .calibrated_cycles | .twice_as_fast_cycles.off_chip_flash = 0.6 * .calibrated_cycles' m.json |
		npu-report --summary | grep -qx '  faster   with this plan, MRAM of twice the speed saves 40 %'
	jq 'del(.part) | .twice_as_fast_cycles[] = .calibrated_cycles' m.json >none.json
	npu-report --summary none.json >have
	grep -q '^  limit .*reading constants from flash 9' have
	grep -qx '  faster   a memory of twice the speed would save less than 1 %: computing takes nearly as long' have
	jq '.estimate.npu_cycles = 0.5 * .calibrated_cycles' none.json >half.json
	npu-report --summary half.json | grep -qx '  faster   a memory of twice the speed would save less than 1 %'
	# one memory for arena and constants
	jq '.arena_in = .constants_in' none.json >one.json
	npu-report --summary one.json | grep -q '^  limit .*moving data in flash 9'
	# a network that computes gets no such line
	npu-perf --json m.tflite | jq '(.operations[] | .limited_by) = "NPU"' >compute.json
	npu-report --summary compute.json | run ! grep '^  faster'
}

@test "what the CPU takes does not change what is said of the NPU's memories" {
	npucc -q --part=himax-we2 --cpu=SOFTMAX -o m.tflite "$DIGITS" 2>/dev/null
	npu-perf --json m.tflite >m.json
	npu-report --summary m.json >have
	grep -q '^  busy     flash in use [0-9]* % of the NPU.s time, ' have
	grep -q '^  faster   with this plan, flash of twice the speed saves [0-9]* % of the NPU.s time$' have
	jq '.on_cpu[0].seconds *= 1000' m.json >slow.json
	npu-report --summary slow.json >slow
	grep -q '^  limit    operators on the CPU [89]' slow
	diff <(grep -E '^  (busy|faster)' have) <(grep -E '^  (busy|faster)' slow)
}

# shellcheck disable=SC2154 # t is of lib/model
@test "constants in the memory of the arena are not said to be read without a copy there" {
	npucc --part=infineon-psoc-edge-e84 -o m.tflite "$DIGITS" 2>/dev/null
	npu-perf --json m.tflite | jq '(.operations[] | .limited_by) = "On-chip Flash"' >m.json
	npu-report --summary m.json | grep -q '^  limit .*reading constants from SOCMEM \([5-9].\|100\) %'
	npu-report m.json | run ! grep 'not copied to'
	npu-report --html m.json | run ! grep 'not copied to'
	# in a memory of their own, they could be copied
	jq '.memory_mode = "Shared_Sram" | .constants_in = "off_chip_flash" | del(.part)' m.json |
		npu-report | grep 'by kernels whose constants are not copied to SRAM$'
}

@test "floats that --integer-io leaves out are named with their memory" {
	ends m "$t[0].shape = [1,400] | $t[4].shape = [1,400] | $t[1].shape = [2,400]
		| .buffers[1].data = [range(800) | . % 5]"
	npucc -q --part=himax-we2 -o m_npu.tflite m.tflite
	npu-perf --json m_npu.tflite >m.json
	# the input is in use with its integers, the output later
	jq -e '.peaks[0] | .bytes == 2000 and (.tensors | length) == 2' m.json
	local floats='float inputs and outputs hold 1.56 KiB of SRAM when most of it is in use'
	npu-report --summary m.json >have
	grep -A1 'leaves it out$' have | grep -qx "           $floats"
	npu-report --html m.json | grep -q "<p>--integer-io saves memory, too: $floats.</p>"
	# the largest float end and its integers are in the least SRAM, too
	grep -qE '^  options  --integer-io: [0-9]+ % less time; with float ones, no plan takes less than 1.95 KiB of SRAM$' have
	refuses 1 "the smallest that works is 2000; without its float inputs and outputs (--integer-io) it can need less" \
		npucc -q --part=himax-we2 --arena-cache-size=1984 -o no.tflite m.tflite
	npucc -q --part=himax-we2 --integer-io --arena-cache-size=1984 -o i.tflite m.tflite
	# less than a tenth; integers
	jq '.peaks[].bytes = 16001' m.json | npu-report --summary | run ! grep 'float inputs'
	jq '.peaks[].bytes = 16000' m.json | npu-report --summary | grep -q '  float inputs and outputs hold 1.56 KiB of SRAM'
	npucc -q --part=himax-we2 --integer-io -o i.tflite m.tflite
	npu-report --summary i.tflite | run ! grep float
	[ "$(npu-perf --json i.tflite | jq .sram_bytes)" -lt 600 ]
}

@test "the range says whether a chip with this NPU and memory was measured" {
	local of='with a probability of 80 %'
	npucc --part=alif-e7-he -o m.tflite "$DIGITS" 2>/dev/null
	npu-perf --json m.tflite | jq -e .calibrated_extrapolated
	npu-report --summary m.tflite |
		grep -qx "  range .* $of on Arm's simulator of the NPU; no chip with this NPU and memory was measured"
	npu-report --html m.tflite | grep -q "; no chip with this NPU and memory was measured"
	npucc --part=nuvoton-m55m1 -o n.tflite "$DIGITS" 2>/dev/null
	npu-perf --json n.tflite | jq -e '.calibrated_extrapolated | not'
	npu-report --summary n.tflite | grep -qx "  range .* $of by measurements of a chip"
	npu-report --html n.tflite | run ! grep 'no chip'
}

@test "what reading the commands may take is in the range, and is said where the estimate leaves it out" {
	npucc --part=himax-we2 -o m.tflite "$DIGITS" 2>/dev/null
	npu-perf --json m.tflite >m.json
	# the flash reads the constants and then, 8 cycles a byte, the commands: without the payload's
	# 32 bytes in front of them, and its rounding to 16
	jq -e '.estimate.access_cycles[.constants_in] as $read | .bytes_per_cycle[.constants_in] as $rate |
		($read + .stream_bytes / $rate - .calibrated_cycles - .commands_cycles | . >= 32 * 8 and . < 48 * 8)
		and .commands_cycles > 0.1 * .calibrated_cycles
		and .calibrated_high > .calibrated_cycles + .commands_cycles' m.json
	jq '.commands_cycles = 0.1 * .calibrated_cycles' m.json | npu-report --summary >have
	grep -qE '^  commands reading [0-9.]+ .*of commands from flash can take 10 % more time, which the range counts, but not the estimate$' have
	npu-report --html m.json | grep -q 'more time, which the range counts'
	jq '.commands_cycles = 0.019 * .calibrated_cycles' m.json | npu-report --summary | run ! grep '^  commands'
}

@test "a memory that works all the time is named beside shares that hide it" {
	npucc --part=alif-e7-he -o m.tflite "$DIGITS" 2>/dev/null
	# all kernels compute, MRAM works 97 % of the time for transfers beside them
	npu-perf --json m.tflite | jq '(.operations[] | .limited_by) = "NPU" | .calibrated_cycles as $c
		| .estimate |= (.npu_cycles = 0.74 * $c | .access_cycles.off_chip_flash = 0.97 * $c
		| .access_cycles.sram = 0.5 * $c)' >m.json
	npu-report --summary m.json >have
	grep -q '^  limit    computing 9' have
	# the line before it tells its percentages from these
	local of="the NPU's units 74 %, side by side"
	grep -A1 -x "  busy     MRAM in use 97 % of the time, $of" have |
		grep '^  limit .* (each moment counts once, for the slowest of what is in use)$'
	grep -q '^  faster ' have
	npu-report --html m.json >m.html
	# the page's card names the largest share of the list below it
	limit() { xmllint --xpath "//*[local-name()='b'][@class='words']/text()" "$1"; }
	limit m.html | grep -qx MRAM
	grep -q '<b class="words">MRAM</b><small>in use 97 % of the time</small>' m.html
	grep -A1 -x "<li>busy: MRAM in use 97 % of the time, $of</li>" m.html |
		grep '^<li>limits: computing 9. %.* (each moment counts once, for the slowest of what is in use); computing most in '
	# kernels that compute as long as the memory works, or longer
	jq '.estimate.npu_cycles = 0.96 * .calibrated_cycles' m.json >both.json
	npu-report --summary both.json | grep -qx "  busy     MRAM in use 97 % of the time, the NPU's units 96 %, side by side"
	jq '.estimate.npu_cycles = 0.98 * .calibrated_cycles' m.json | npu-report --html >both.html
	limit both.html | grep -qx computing
	# the largest share is that of waiting for the memory, which is named
	jq '(.operations[] | .stall_cycles) = (.calibrated_cycles)' m.json >wait.json
	npu-report --summary wait.json >have
	grep '^  limit .*waiting for transfers [6-9]' have
	npu-report --html wait.json >wait.html
	limit wait.html | grep -qx MRAM
	# a faster MRAM, which most kernels wait for, saves nothing while SRAM works all the time
	jq '(.operations[] | .limited_by) = "Off-chip Flash" | .calibrated_cycles as $c |
		.estimate.access_cycles = { sram: $c, off_chip_flash: (0.8 * $c) } |
		.twice_as_fast_cycles = { sram: (0.8 * $c), off_chip_flash: $c }' m.json >beside.json
	npu-report --summary beside.json >have
	grep -qx '  faster   with this plan, SRAM0 of twice the speed saves 20 %.*; MRAM less than 1 %, as SRAM0 works all the time' have
	jq '(.operations[] | .limited_by) = "NPU"' beside.json | npu-report --summary | run ! grep 'MRAM less than'
	# two memories
	jq '.estimate.access_cycles.sram = 0.92 * .calibrated_cycles' m.json >two.json
	npu-report --summary two.json | grep -qx "  busy     SRAM0 in use 92 % of the time, MRAM 97 %, $of"
	# no kernel runs: transfers alone
	jq '.layers = [] | .operations |= map(select(.kind == "dma"))' m.json | npu-report --summary | run ! grep '^  limit'
	# computing beside slower accesses is explained; not what the shares say already, nor a memory
	# with time to spare
	jq '(.operations[] | .limited_by) = "Off-chip Flash"' m.json >said.json
	npu-report --summary said.json >have
	run ! grep '^  busy' have
	grep '^  limit .*slowest of what is in use)$' have
	jq '.estimate.npu_cycles = 0 | (.operations[] | .limited_by) = "Off-chip Flash" |
		(.operations[] | .stall_cycles) = 0' m.json >said.json
	npu-report --html said.json >said.html
	grep -q '<b class="words">reading constants from MRAM</b><small>[0-9]* % of the time</small>' said.html
	run ! grep '^<li>busy' said.html
	npu-report --summary said.json >have
	run ! grep '^  busy\|slowest' have
	jq '.estimate.access_cycles.off_chip_flash = 0.8 * .calibrated_cycles' m.json >spare.json
	npu-report --summary spare.json | run ! grep '^  busy\|^  faster'
}

@test "a rewritten operator has a mark, and its change is a sentence" {
	npucc --part=alif-e7-he -o m.tflite "$DIGITS" 2>/dev/null
	npu-perf --json m.tflite | jq '.layers[2].name as $n | .rewrites = [
		{ rule: "one", name: $n, text: ("what " + $n + " became"), bytes: -21, cycles: 1500 },
		{ rule: "two", name: .layers[3].name, text: "the same", bytes: 8, cycles: 0 },
		{ rule: "two", name: .layers[4].name, text: "the same", bytes: 8, cycles: 0 }]' >m.json
	npu-report m.json | sed -n '/^Exact rewrites/,/^$/p' >have
	label=$(npu-report --html m.json | sed -n '/id="data"/,/<\/script>/p' | sed '1d;$d' |
		jq -r '.nodes[] | select(.w) | .l + "\t" + .w[0]' | tee marks | head -n 1 | cut -f1)
	[ "$(wc -l <marks)" = 3 ]
	[ "$(head -n 1 marks)" = "$label"$'\t'"what $label became" ]
	grep -q "^  $label  *what $label became  *one  *21 more  *1,500 less *$" have
	grep -q " and 1 more  *the same  *two  *16 less  *0 *$" have
}

@test "a report in a pipe is read once, and a model in a pipe is refused" {
	report m
	npucc -a ethos-u55-128 "${u55[@]}" -o m.tflite "$DIGITS" 2>/dev/null
	npu-report --compare=m.json m.json >want
	npu-report --compare=<(cat m.json) <(cat m.json) | sed 1d | diff <(sed 1d want) -
	# so is an empty standard input
	refuses 2 "standard input: error: empty, neither" npu-report --compare=m.json
	refuses 2 "a compiled model must be a file, not a pipe or standard input" \
		npu-report <(cat m.tflite)
	# the refusal of npu-perf has the name of the program that was called
	echo This is text and no model at all. >wrong
	refuses 2 "npu-report: wrong: error: not a TFLite model" npu-report wrong
}

@test "no plan is proposed that the part's memories refuse" {
	npucc --part=alif-e7-he -o m.tflite "$DIGITS" 2>/dev/null
	npu-perf --json m.tflite >m.json
	# alif-e7-he has 4 MiB of SRAM and 5.5 MiB of flash
	cat >large.json <<-END
	{ "front": [ { "sram": 200000, "cycles": 20000, "flash": 9000, "streams": 900 },
	  { "sram": 210000, "cycles": 18000, "flash": 99000000, "streams": 900 },
	  { "sram": 5000000, "cycles": 10000, "flash": 9000, "streams": 900 } ] }
	END
	npu-report --summary --front=large.json --other=big=large.json m.json >have
	grep -q 'less time, SRAM0 195 KiB' have
	run ! grep 'less time, SRAM0 [24]' have
	# a file that names no part
	jq 'del(.part)' m.json >any.json
	npu-report --summary --front=large.json any.json | grep 'size=5000000: '
}

@test "a time by the published formulas outside of the range is named" {
	npucc --part=alif-e7-he -o m.tflite "$DIGITS" 2>/dev/null
	npu-perf --json m.tflite >m.json
	local at=' by Arm.s published formulas (the timeline), 2.50 times the estimate, which is nearer to Arm.s simulator: npu-perf-accuracy(7) 7'
	jq '.timeline_cycles = 2.5 * .calibrated_cycles' m.json >high.json
	npu-report --summary high.json | grep "^  formulas 420 µs$at$"
	npu-report --html high.json | grep "<li>420 µs$at</li>"
	jq '.timeline_cycles = .calibrated_low - 1' m.json >low.json
	npu-report --summary low.json | grep '^  formulas .*, 0\.[0-9]* times the estimate'
	jq '.calibrated_extrapolated = false' high.json | npu-report --summary |
		grep ', 2.50 times the estimate, which was fitted to a chip: npu-perf-accuracy(7) 7$'
	jq '.timeline_cycles = .calibrated_high' m.json >edge.json
	npu-report --summary edge.json >have
	run ! grep formulas have
}

@test "plans are proposed by the time shown, and the line has the estimate that decided" {
	npucc --part=alif-e7-he -o m.tflite "$DIGITS" 2>/dev/null
	npu-perf --json m.tflite >m.json
	jq -e '.objective_cycles > 0.9 * .calibrated_cycles' m.json
	# parts of SRAM, of the calibrated cycles and of the objective
	front() { jq --argjson v "$1" '. as $m | { front: [$v[] | { sram: (.[0] * $m.sram_bytes | floor),
		cycles: (.[1] * $m.calibrated_cycles), objective: (.[2] * $m.objective_cycles) }] }' m.json >f.json; }
	front '[[0.3, 1.5, 1.2], [0.5, 1.09, 1.095], [0.59, 1.008, 1.08], [2, 0.91, 0.97]]'
	local by="time by the mean with Arm's formulas" of="plans are chosen by each kernel's mean of the calibrated estimate (shown) and Arm"
	npu-report --summary --front=f.json m.json >have
	grep -- '--arena' have | sed 's/.*: \([0-9]* % [a-z]* time\)/\1/; s/, SRAM0 [0-9.]* KiB//' |
		diff - <(printf '%s\n' "9 % less time; 3 % less $by" "1 % more time; 8 % more $by" \
			"9 % more time" "50 % more time")
	# one line for all of them says what the mean is
	sed -n '/^  options/,$p' have | sed -n '$p' | grep -x "           $of's published formulas"
	npu-report --html --front=f.json m.json >m.html
	grep -F "less SRAM0; 8 % more $by<" m.html
	grep -F "curves; $of" m.html
	# where a little more SRAM saves most of 50 %, the knee of the curve is proposed
	front '[[0.3, 1.5, 1.5], [0.31, 1.15, 1.15], [0.6, 1.05, 1.05], [1, 1, 1]]'
	npu-report --summary --front=f.json m.json >knee
	grep -oE '[0-9]+ % more time' knee | diff - <(printf '%s\n' "5 % more time" "15 % more time")
	front '[[0.3, 1.5, 1.2], [0.5, 1.09, 1.095], [0.59, 1.008, 1.08], [2, 0.91, 0.97]]'
	# an estimate alone chose the plan, or nothing tells
	jq 'del(.objective_cycles)' m.json >none.json
	npu-report --summary --front=f.json none.json | run ! grep "$by\|$of"
}

@test "another NPU is proposed to save time, not to save SRAM" {
	npucc --part=alif-e7-he -o m.tflite "$DIGITS" 2>/dev/null
	npu-perf --json m.tflite >m.json
	# a plan in half of the SRAM, 1 % and then 5 % faster
	jq '{ front: [{ sram: (.sram_bytes / 2), cycles: (0.99 * .calibrated_cycles) }] }' m.json >few.json
	jq '.front[0].cycles *= 0.96' few.json >many.json
	npu-report --summary --other=x=few.json m.json | run ! grep '^  hardware'
	npu-report --summary --other=x=many.json m.json |
		grep -qx '  hardware another chip with x at 160 MHz, which no known part has, in no more SRAM: 5 % less time, SRAM 4.85 KiB'
	# the NPU of this part in another plan has this part's memories
	jq '.part = "alif-e7-he"' many.json | npu-report --summary --other=x=/dev/stdin m.json |
		grep -qx '  hardware --part=alif-e7-he --arena-cache-size=4968: 5 % less time, SRAM0 4.85 KiB'
	# a model for no chip, and a front for a part
	jq 'del(.part)' m.json | npu-report --summary --other=x=many.json | grep -q '^  hardware x, in'
	jq '.part = "himax-we2"' many.json >part.json
	npu-report --summary --other=x=part.json m.json |
		grep -q '^  hardware --part=himax-we2 --arena-cache-size=4968: 5 % less'
}

@test "an NPU of the same chip is compared by time, with its own clock and CPU" {
	npucc --part=alif-e7-he --cpu=ADD -o m.tflite "$DIGITS" 2>/dev/null
	npu-perf --json m.tflite >m.json
	npucc -o m.part --part=alif-e7-hp "$DIGITS" 2>/dev/null
	npu-sched --part=alif-e7-hp --front --json m.part >hp.json 2>/dev/null
	jq -e '.accelerator == "ethos-u55-256" and .part == "alif-e7-hp" and .core_clock == 4e8' hp.json
	# NPU and CPU have 2.5 times the clock: 400 MHz instead of 160 MHz
	npu-report --summary --other=x=hp.json m.json |
		sed -n 's/.* --part=alif-e7-hp .*, on this chip: \([0-9]*\) % less time.*/\1/p' | tail -n 1 >percent
	jq -e --slurpfile hp hp.json --slurpfile said percent '
		([$hp[0].front[].cycles] | min) as $best |
		(.calibrated_cycles / 16e7 + .cpu_cycles / 16e7) as $here |
		($best / 4e8 + .cpu_cycles / 4e8) as $there |
		100 * (1 - $there / $here) - $said[0] | fabs < 1' m.json
	# and what the NPU alone saves
	npu-report --summary --other=x=hp.json m.json |
		sed -n 's/.* --part=alif-e7-hp .*; of the NPU alone \([0-9]*\) % less$/\1/p' | tail -n 1 >alone
	jq -e --slurpfile hp hp.json --slurpfile said alone '
		100 * (1 - ([$hp[0].front[].cycles] | min) / 4e8 / (.calibrated_cycles / 16e7)) - $said[0]
			| fabs < 1' m.json
	npu-report --html --other=x=hp.json m.json | grep -q 'on this chip; of the NPU alone [0-9]* % less</td>'
	# the same plans with this NPU's clock save less
	jq '.core_clock = 16e7' hp.json >slow.json
	npu-report --summary --other=x=slow.json m.json |
		sed -n 's/.* --part=alif-e7-hp .*, on this chip: \([0-9]*\) % less time.*/\1/p' | tail -n 1 >slow
	[ "$(cat slow)" -lt "$(cat percent)" ]
	# and those of no part are of no chip
	jq 'del(.part)' hp.json >apart.json
	npu-report --summary --other=x=apart.json m.json >have
	grep -q '^  hardware another chip with x at 400 MHz' have
	run ! grep 'on this chip' have
	jq '.core_clock = 0' hp.json >zero.json
	refuses 2 '"core_clock" is not above 0' npu-report --other=x=zero.json m.json
}

@test "a plan above the SRAM of Linux's device tree says so" {
	npucc --target=linux --part=nxp-imx93 -o m.tflite "$DIGITS" 2>/dev/null
	npucc --target=linux --part=nxp-imx93 -o m.part "$DIGITS" 2>/dev/null
	npu-perf --json m.tflite >m.json
	npu-sched --part=nxp-imx93 --front --json m.part >any.json 2>/dev/null
	jq -e '.driver == "linux"' any.json
	# plans at the size of the device tree and above it, faster than this one
	jq --slurpfile m m.json '.front = [[98304, 0.8], [98320, 0.6] |
		{ sram: .[0], cycles: (.[1] * $m[0].calibrated_cycles) }]' any.json >f.json
	needs='needs a device tree with more than 96 KiB (nputools-linux(7))'
	npu-report --summary --front=f.json m.json >have
	grep -F -- '--arena-cache-size=98320:' have | grep -F "; $needs"
	npu-report --html --front=f.json m.json | grep -F "$needs"
	jq '.front |= .[:1]' f.json >small.json
	npu-report --summary --front=small.json m.json >have
	grep -F -- '--arena-cache-size=98304: ' have
	run ! grep 'device tree' have
	# firmware has no device tree
	jq '.driver = "any"' m.json >firmware.json
	npu-report --summary --front=f.json firmware.json >have
	grep -F -- '--arena-cache-size=98320: ' have
	run ! grep 'device tree' have
}

@test "a part with two drivers says which one the result is for" {
	npucc --part=nxp-imx93 -o any.tflite "$DIGITS" 2>/dev/null
	npucc --part=nxp-imx93 --target=linux -o linux.tflite "$DIGITS" 2>/dev/null
	local any="compiled for the chip maker's driver (384 KiB of SRAM)"
	local linux="compiled for the mainline kernel's ethosu (96.0 KiB of SRAM)"
	npu-report --summary any.tflite | grep "^  driver   $any; for the mainline kernel's ethosu (96.0 KiB): --target=linux$"
	npu-report --summary linux.tflite | grep "^  driver   $linux; for the chip maker's driver (384 KiB): without --target=linux$"
	npu-report --html linux.tflite | grep -F "; $linux; for"
	# nothing tells without the graph, and other parts have one driver
	npucc --part=nxp-imx93 --no-map -o none.tflite "$DIGITS" 2>/dev/null
	npucc --part=alif-e7-he -o e7.tflite "$DIGITS" 2>/dev/null
	npu-report --summary --part=nxp-imx93 none.tflite >none
	npu-report --summary e7.tflite >>none
	run ! grep '^  driver' none
}

@test "node data for Model Explorer have its published format" {
	npucc --part=alif-e7-hp --cpu=ADD -o m.tflite "$DIGITS" 2>/dev/null
	npu-perf --json m.tflite >m.json
	npu-report --model-explorer m.tflite >cycles.json
	npu-report --model-explorer=cycles m.json | cmp - <(npu-report --model-explorer m.json)
	# for each graph: results by node, each with a value; stops of a gradient from 0 to
	# 1
	jq -e 'to_entries | length == 1 and .[0].key == "main" and (.[0].value |
		(.name | type) == "string" and (.gradient | map(.stop)) == [0, 1] and
		all(.gradient[]; .bgColor | test("^#[0-9a-f]{6}$")) and
		all(.results | to_entries[]; (.key | test("^[0-9]+$")) and
			(.value.value | type) == "number"))' cycles.json
	# the id is the operator's index; operators with kernels have the sum of their
	# cycles
	jq -e --slurpfile m m.json '[.main.results[].value] | add as $sum |
		($m[0].operations | map(select(.stall_cycles) | .total_cycles + .stall_cycles) |
		add) as $want | $sum - $want < 10 and $want - $sum < 10' cycles.json
	jq -e --slurpfile m m.json '.main.results | to_entries | all(. as $e |
		$m[0].layers[$e.key | tonumber].npu)' cycles.json
	add=$(jq '[.layers[].kind] | index("ADD")' m.json)
	npu-report --model-explorer=place m.json |
		jq -e --arg add "$add" '.main | (has("gradient") | not) and
			.results[$add].value == "CPU" and .results["0"].value == "NPU"'
	npu-report --model-explorer=bound m.json |
		jq -e --arg add "$add" '.main.results | (has($add) | not) and
			([.[].value] | index("computing") != null)'
	npu-report --model-explorer=bytes m.json | jq -e '.main.results["0"].value > 0'
	refuses 2 "no such choice: 'time'" npu-report --model-explorer=time m.json
	refuses 2 "excludes --html, --svg" npu-report --model-explorer --html m.json
}

@test "operators of a chain on Ethos-U85 are in the graph of the page" {
	npucc --part=alif-e8-u85 -o m.tflite "$DIGITS" 2>/dev/null
	npu-perf --json m.tflite >m.json
	add=$(jq '[.layers[].kind] | index("ADD")' m.json)
	# no kernel of its own; a part of the convolution before it
	jq -e --argjson add "$add" 'all(.operations[]; .layer != $add) and
		.layers[$add - 1].parts == [$add] and
		.layers[$add - 1].label == "pw2 (CONV_2D + ADD)"' m.json
	npu-report --html m.json >m.html
	sed -n '/id="data"/,/<\/script>/p' m.html | sed '1d;$d' >data.json
	# one connected graph: each operator but the first reads from one before it
	jq -e '.nodes | [to_entries[] | (.key > 0) == (.value.r | length > 0) and
		(.key as $k | all(.value.r[]; . < $k))] | all' data.json
	jq -e '.nodes as $n | [$n[] | select(.k == "ADD")] | length == 1 and
		(.[0] | .n == "residual" and (.r | length) == 2 and $n[.in].n == "pw2" and
			.y == $n[.in].y)' data.json
	# a kernel's cycles are counted once
	npu-report --model-explorer m.json | jq -e --arg add "$add" '.main.results | has($add) | not'
	npu-report --model-explorer=place m.json |
		jq -e --arg add "$add" '.main.results[$add].value == "NPU"'
}

@test "a copy to the arena of a CPU's operator is a result of the operator before" {
	npucc --part=nxp-imx93 --cpu=ADD -o m.tflite "$DIGITS" 2>/dev/null
	npu-perf --json m.tflite | jq -e '[.layers[].name] as $n | [.layers[] |
		select(.name == "residual").reads[] | $n[.]] | sort == ["pw1", "pw2"]'
}

@test "in a browser, a click on the page marks an operator in all pictures" {
	need node
	browser=$(command -v chromium || command -v chromium-browser) || skip "no chromium"
	cp "$DIGITS" d.tflite
	npucc --part=alif-e7-hp --advice --report=d.html d.tflite >/dev/null 2>&1
	npu-perf --json d_npu.tflite >d.json
	[ "$(wc -c <d.html)" -lt 400000 ]
	HOME=$PWD timeout 120 node "$TOP/tests/lib/page.js" "$browser" d.html d.json 390 1440
	# with operators on the CPU, which have a lane
	npucc --part=alif-e7-hp --cpu=ADD --cpu=SOFTMAX --report=c.html -o c.tflite d.tflite >/dev/null 2>&1
	npu-perf --json c.tflite >c.json
	HOME=$PWD timeout 120 node "$TOP/tests/lib/page.js" "$browser" c.html c.json 1440
	# long names of what quantization costs
	jq -n '("functional_1/activation/Relu;" * 12) as $n | { samples: 10, worst:
		[{ name: "ADD", tensor_name: $n, help: "--keep-int16=\($n)" }],
		operators: [{ name: "ADD", tensor_name: $n, type: "int8" }] }' >q.json
	npu-report --html --quantization=q.json d.json >q.html
	HOME=$PWD timeout 120 node "$TOP/tests/lib/page.js" "$browser" q.html d.json 900
	# marks of axes such as 100 KiB keep their zeros
	echo '{ "front": [ { "sram": 60000, "cycles": 900000 },
		{ "sram": 400000, "cycles": 9000 } ] }' >wide.json
	npu-report --html --front=wide.json d.json >wide.html
	HOME=$PWD timeout 120 node "$TOP/tests/lib/page.js" "$browser" wide.html d.json 1440
}

@test "--source gives the page attributes, shapes, quantization and weights of the model" {
	need flatc
	report m
	npu-report --html --source="$DIGITS" m.json >m.html
	sed -n '/id="data"/,/<\/script>/p' m.html | sed '1d;$d' | jq .source >s.json
	cp "$DIGITS" d.tflite
	flatc --json --strict-json --raw-binary "$TOP/tests/models/tflite.fbs" -- d.tflite
	# as flatc reads the model
	jq -c '[.subgraphs[0].tensors[] | .shape // []]' d.json >want
	jq -c '[.tensors[].s]' s.json | diff - want
	jq -c '[.subgraphs[0].operators[] | .inputs]' d.json >want
	jq -c '[.ops[].i]' s.json | diff - want
	jq -c '[.subgraphs[0].tensors[].quantization | select(.scale) | .zero_point[0]]' d.json >want
	jq -c '[.tensors[] | select(.q) | .q[3]]' s.json | diff - want
	# each operator has the stride that flatc prints
	jq -r '[.subgraphs[0].operators[].builtin_options | .stride_w // empty] | join(" ")' d.json >want
	jq -r '[.ops[].a[] | select(.[0] == "stride_w") | .[1]] | join(" ")' s.json | diff - want
	# range, mean and zeros of the first constant of int8
	jq -r '. as $m | [.subgraphs[0].tensors[] | select(.type == 9 and
		$m.buffers[.buffer // 0].data)][0].buffer as $b | $m.buffers[$b].data |
		map(if . > 127 then . - 256 else . end) |
		[min, max, (add / length), (map(select(. == 0)) | length), length] | @tsv' d.json >want
	jq -r '[.tensors[] | select(.t == "INT8" and .c)][0].c | [.[0], .[1], .[2], .[4], .[6]] |
		@tsv' s.json >have
	paste want have | awk '{ for (i = 1; i <= 5; i++) { d = $i - $(i + 5)
		if (d > 1e-5 || d < -1e-5) exit 1 } }'
	jq -e '[.tensors[] | select(.h) | (.h | add) == .c[6]] | all' s.json
	# a model of other names, and no model
	"$NPUTOOLS_TESTBIN/gen-model" 3 >other.tflite
	refuses 2 "was compiled from another model" npu-report --html --source=other.tflite m.json
	refuses 2 "npu-report: m.json: error: " npu-report --html --source=m.json m.json
}

@test "the peak is the most live memory, and at least the graph's lower bound" {
	report m
	npucc -a ethos-u55-128 "${u55[@]}" -o m.wenc "$DIGITS" 2>/dev/null
	bound=$(sed -n 's/^area .*arena.* bound=\([0-9]*\).*/\1/p' m.wenc)
	# live bytes are at most the reserved bytes, and never more than at the peak
	jq -e '.peaks[0] | .bytes <= .top' m.json
	jq -e --argjson b "$bound" '.peaks[0].bytes >= $b' m.json
	jq -e '.peaks[0].top <= .sram_bytes' m.json
	jq -e '. as $r | .peaks[0] as $p | $p.tensors | length > 0 and
		all(. as $n | $r.tensors | any(.name == $n and
			.start_cycle <= $p.start_cycle and .end_cycle >= $p.end_cycle))' m.json
}

@test "the text has bars, names and warnings" {
	report m
	npu-report m.json >out
	grep -E '^  timeline, cycles +'"$(jq .timeline_cycles m.json)"'$' out
	grep -E '^  dw1 +[0-9]+ +[0-9.]+ % [#sc.]+$' out
	grep -q '^Memory at its peak: SRAM, ' out
	grep -q '^An inference takes .* with a probability of 80 % on Arm.s simulator of the NPU' out
	npu-report <m.json | cmp out -
	# a note for a model without a source map
	npucc -a ethos-u55-128 "${u55[@]}" --no-map -o p.tflite "$DIGITS" \
		2>/dev/null
	npu-perf "${u55[@]}" --json p.tflite | npu-report >p
	grep -A1 -x Warnings p | grep 'the compiled file has no source map'
	# notes alone are not called warnings
	jq '(.operations[] | .stall_cycles) = 0 | .cpu_operators = 0 |
		(.operations[] | .limited_by) = "NPU"' m.json | npu-report >notes
	grep -A1 -x Notes notes | grep 'this is an estimate'
	run ! grep Warnings notes
}

@test "--numbers prints the figures of the whole network exactly" {
	report m
	npu-report --numbers m.json >out
	jq -r 'to_entries[] | select(.value | type == "number") |
		"\(.key)\t\(.value)"' m.json | sort >want
	# jq may write a double with more digits than necessary
	sort out | awk -F'\t' '
		NR == FNR { want[$1] = $2; n++; next }
		!($1 in want) || want[$1] + 0 != $2 + 0 { exit bad = 1 }
		{ n-- }
		END { exit bad || n }' want -
	grep -qx "sram_bytes	$(jq .sram_bytes m.json)" out
	refuses 2 "excludes --html, --svg" npu-report --numbers --html m.json
}

@test "a comparison finds slower, larger and moved parts, and can fail a build" {
	report fast
	report slow --optimise=Size
	npu-report --compare=fast.json fast.json >out
	run ! grep -E 'slower|larger|moved' out
	npu-report --compare=fast.json slow.json >out
	grep -E '^  calibrated, cycles .* slower *$' out
	grep -E '^  SRAM, bytes .* smaller *$' out
	grep -E 'moved' out
	# a layer, by name
	jq '(.operations[] | select(.name == "dw1")) |= (.total_cycles += 1000)
		| .calibrated_cycles += 1000' fast.json >worse.json
	npu-report --compare=fast.json worse.json >out
	grep -E '^  dw1 .* slower *$' out
	[ "$(grep -cE ' slower *$' out)" = 3 ] # the layer, the sum and the time
	npu-report --compare=fast.json --fail-if-slower=0 fast.json >out
	run --separate-stderr npu-report --compare=fast.json --fail-if-slower=0 \
		-o gate.txt worse.json
	[ "$status" = 1 ]
	# by the numbers of the table
	read -r before now < <(sed -n 's/^  time of an inference, µs  *\([0-9.]*\)  *\([0-9.]*\) .*/\1 \2/p' gate.txt)
	grep "an inference takes $now µs, .* % more than the $before µs of fast.json" <<<"$stderr"
	[ -s gate.txt ]
	npu-report --compare=fast.json --fail-if-slower=1000 worse.json >out
	# a batch is compared by the cycles of an inference
	jq '.batch_size = 4 | .calibrated_cycles *= 3 | .cycles_per_inference *= 0.75' \
		fast.json >batch.json
	npu-report --compare=fast.json --fail-if-slower=0 batch.json >out
	grep -E '^  inputs of a run +1 +4 ' out
	grep -E '^  an inference, cycles .* faster *$' out
	run ! npu-report --compare=batch.json --fail-if-slower=30 -o gate.txt fast.json
}

@test "a comparison can fail a build for the bytes of a memory" {
	report m
	for key in sram_bytes stream_bytes arena_bytes; do
		jq ".$key *= 1.1" m.json >more.json
		npu-report --compare=m.json --fail-if-larger=11 more.json >out
		run -1 --separate-stderr npu-report --compare=m.json --fail-if-larger=1 -o out more.json
		[ -s out ]
		grep -E "npu-report: more.json: .*: [0-9]+ bytes are more than the [0-9]+ of m.json" <<<"$stderr"
		npu-report --compare=more.json --fail-if-larger=0 m.json >out
	done
	# a file may not have a number, which is null
	jq '.arena_bytes = null' m.json >less.json
	npu-report --compare=less.json --fail-if-larger=0 m.json >out
}

@test "0 has no difference in percent" {
	report m
	jq '.cpu_operators = 1' m.json >more.json
	npu-report --compare=m.json more.json >out
	grep -qE '^  operators on the CPU  *0  *1  new  *larger' out
	npu-report --compare=m.json m.json >out
	grep -qE '^  operators on the CPU  *0  *0  -' out
}

@test "a comparison names both machines and compares times where the clocks differ" {
	npucc --part=alif-e7-he -o he.tflite "$DIGITS" 2>/dev/null
	npucc --part=nxp-imx93 -o imx.tflite "$DIGITS" 2>/dev/null
	for k in he imx; do
		npu-perf --json $k.tflite >$k.json
	done
	npu-report --compare=he.json imx.json >out
	grep -q '^  old: ethos-u55-128 of alif-e7-he at 160 MHz, ' out
	grep -q '^  new: ethos-u65-256 of nxp-imx93 at 1 GHz, ' out
	grep -q '^  warning: different machines (accelerator, part, .*, clock)' out
	# one figure on text and page, and no cycles
	run ! grep -q ', cycles' out
	percent=$(jq -n --slurpfile a he.json --slurpfile b imx.json \
		'100 * (1 - $b[0].inference_seconds / $a[0].inference_seconds)')
	grep -qE "^  time of an inference, µs .* -$(printf %.1f "$percent") %  faster" out
	grep -qE '^  layer +old µs  new µs' out
	npu-report --compare=he.json -o c.html imx.json
	grep -q "<small>$(printf %.1f "$percent") % less; it was " c.html
	grep -q '<p class="warning">Different machines (accelerator' c.html
	grep -q '<dt>Constants</dt>' c.html
	# the axes of time of both have the same marks at the same places: each of two widths has
	# two timelines and three memories
	grep -oE '<text x="[0-9.]+" [^>]*>[1-9][0-9]* (µs|ms)<' c.html | sed 's/ y="[^"]*"//' | sort |
		uniq -c | awk '$1 != 5 { exit bad = 1 } END { exit bad || NR < 3 }'
	run -1 --separate-stderr npu-report --compare=imx.json --fail-if-slower=0 -o gate.txt he.json
	grep -q 'an inference takes .* more than the .* of imx.json' <<<"$stderr"
	# one machine: no warning; numbers of cycles are whole, and names are short
	jq '(.layers[] | select(.name == "dw1") | .name) = ("n" * 500) |
		(.operations[] | select(.name == "dw1") | .name) = ("n" * 500)' he.json >long.json
	npu-report --compare=he.json long.json >out
	run ! grep -qE 'warning|[0-9][.][0-9]{2}' out
	run ! grep -q '.\{160\}' out
	run -0 npu-report --compare=imx.json --html imx.json
	[[ $output == *'<dt>DRAM</dt>'* && $output != *'from flash'* ]]
	# the card of a memory with arena and constants has all that is in it
	jq -e '.dram_bytes == .arena_bytes + .flash_bytes + .stream_bytes' imx.json
	local sum
	sum=$(npu-report --html imx.json | sed -n 's,.*<dt>DRAM</dt><dd><b data-key="dram_bytes" '"$(
		jq -r '"data-value=\"\(.dram_bytes)\""' imx.json)"'>\([^<]*\)</b><small>arena .*,\1,p')
	[ -n "$sum" ]
	[[ $output == *"<dt>DRAM</dt><dd><b>$sum</b>"* ]]
	npu-report --html he.json | grep -q '<dt>MRAM</dt><dd><b data-key="flash_bytes"'
}

@test "a page can compare with several reports" {
	need xmllint
	report fast
	report slow --optimise=Size
	npu-report --compare=slow.json --compare=fast.tflite -o c.html fast.json
	xmllint --noout c.html
	grep '^<h1>' c.html | sed 1d |
		diff - <(printf '<h1>fast.json compared with %s</h1>\n' slow.json fast.tflite)
	part=$(jq -n --slurpfile a slow.json --slurpfile b fast.json \
		'100 * (1 - $b[0].calibrated_cycles / $a[0].calibrated_cycles)')
	grep -q "<dt>Time</dt><dd><b>[^<]*</b><small>$(printf %.1f "$part") % less; it was " c.html
	grep -q '<dt>Time</dt><dd><b>[^<]*</b><small>as before; it was ' c.html
	# operators by their change, the largest first, only for the report that differs
	[ "$(grep -c 'What changed most' c.html)" = 1 ]
	sed -n '/What changed most/,/<.table>/s/.*style="--p[^>]*>\([-+0-9.]*\) %.*/\1/p' c.html |
		tr -d '+-' >changes
	[ -s changes ]
	sort -rn changes | cmp - changes
	npu-report --compare=slow.json --compare=fast.tflite fast.json >text
	grep -q '^fast.json compared with slow.json$' text
	grep -q '^fast.json compared with fast.tflite$' text
	run -1 npu-report --compare=fast.json --compare=slow.json --fail-if-slower=0 -o x slow.json
	[[ $output == *"of fast.json"* ]]
}

@test "a comparison pairs the operators of a file without a source map by shape" {
	# the same plan with a source map says which pairs are true
	local model=$BATS_TEST_DIRNAME/models/digits.tflite
	for k in "" --no-map; do
		npucc -a ethos-u55-128 "${u55[@]}" --optimise=Size $k -o "old$k.tflite" "$model" \
			2>/dev/null
	done
	report new
	npu-report --compare=old.tflite new.tflite >names
	npu-report --compare=old--no-map.tflite new.tflite >shapes 2>err
	grep -q 'old--no-map.tflite does not record its memory system: using that of new' err
	grep -qE 'old--no-map.tflite has no source map .* of 12 operators \([0-9.]* % of the time of new' shapes
	layers()
	{
		sed -n '/^Layers/,/^$/p' "$1" | awk 'NF > 5 { print $1, $2, $3 }'
	}
	layers names | sort >want
	layers shapes | grep -v stage | sort >have
	# every pair is true: at least the operators with weights, but not softmax
	run ! grep -vxFf want have
	for k in stem dw1 pw1 residual logits; do
		grep -q "^$k " have
	done
	grep -qE '^  digit .* stage: 1, before [0-9]+ *$' shapes
	# all cycles are in some row; a row is rounded to a cycle
	awk 'NR == FNR { a += $2; next } { b += $2 } END { exit !(a - b < 12 && b - a < 12) }' \
		want <(sed -n '/^Layers/,/^$/p' shapes | awk 'NF > 5 { print $1, $2 }')
	npu-report --compare=old--no-map.tflite -o c.html new.tflite 2>/dev/null
	grep -q '<p class="soft" id="paired">old--no-map.tflite has no source map' c.html
	grep -q '<tr class="stage"><td title="digit">' c.html
	# the same number of weights before encoding, by the shapes of the kernels
	for k in new.tflite old--no-map.tflite; do
		npu-report "${u55[@]}" --html "$k" |
			sed -n '/All layers/,/<.table>/s/^<tr><td[^>]*>.*<td class="n">\([0-9]*\)<.td><td class="n">[0-9.]* %.*/\1/p' |
			grep -vx 0 | sort >"elements-$k"
	done
	[ -s elements-new.tflite ]
	cmp elements-*
	# the same without options for the new file
	npu-report --compare=new.tflite -o c.html old--no-map.tflite 2>/dev/null
	grep -q 'paired by shape' c.html
}

@test "Vela's files are compared operator by operator" {
	need_shared reference/vela-compiled
	local dir=$SHARED/reference/vela-compiled model
	# Vela keeps channels of one value, and layers are paired by shape
	for model in person_detect ad01_int8 resnet_quant; do
		npucc -a ethos-u55-128 "${u55[@]}" --no-rewrite=channels -o $model.tflite \
			"$SHARED/models/$model.tflite" 2>/dev/null
		for version in 3.12.0 5.1.0; do
			npu-report --compare="$dir/$version/ethos-u55-128_Shared_Sram/$model.tflite" \
				$model.tflite 2>/dev/null
		done
	done | grep -oE '[0-9.]+ % of the time' >shares
	[ "$(wc -l <shares)" = 6 ]
	# softmax and shortcuts may be stages
	awk '$1 < 90 { exit bad = 1 }' shares
}

@test "--quantization shows what the integers cost" {
	need xmllint
	tfl-quantize --json --data="$BATS_TEST_DIRNAME/models/digits" --range=0,1 -o q.tflite \
		"$BATS_TEST_DIRNAME/models/digits-float.tflite" >q.json
	npucc -a ethos-u55-128 "${u55[@]}" -o q_npu.tflite q.tflite 2>/dev/null
	npu-perf "${u55[@]}" --json q_npu.tflite >m.json
	npu-report --quantization=q.json m.json >text
	grep -q '^  Equal answers: 10 of 10$' text
	grep -q '^  Measured on the samples that gave the ranges; tfl-quantize --test=PATH measures on others$' text
	jq '.held_out = true' q.json >held.json
	npu-report --quantization=held.json m.json | grep -q '^  Measured on samples that gave no range (--test)$'
	grep -qE "^  [A-Z_0-9]+ \(.*\): signal to noise of its own [0-9.]+ dB; tfl-quantize --keep-int16=" text
	npu-report --html --quantization=q.json m.json >page.html
	xmllint --noout --nonet page.html
	xmllint --nonet --xpath "string(//*[@id='quantized'])" page.html >section
	grep -q 'Equal answers: 10 of 10' section
	local db
	db=$(jq '.outputs[0].snr_db * 10 | round / 10' q.json)
	grep -qE "^  Output 0: signal to noise ${db}(\.0)? dB$" text
	grep -qE "^Output 0: signal to noise ${db}(\.0)? dB$" section
	# a network without answers; an output without noise
	jq '.equal_answers = null | .outputs[0].snr_db = null' q.json >map.json
	npu-report --quantization=map.json m.json >map
	run -1 grep -i answers map
	grep -q '^  Output 0: signal to noise without limit, or no signal$' map
	# all operators with the figures of the JSON
	jq -r '.operators[] | .tensor_name' q.json | while read -r name; do
		grep -qF "$name" section
	done
	jq '.accuracy = {float: 0.9, integer: 0.875} | .labels = 40' q.json >labels.json
	npu-report --quantization=labels.json m.json |
		grep -q '^  Right answers for 40 labelled samples: 90.00 % by the float network, 87.50 % by integers$'
	npu-report m.json >plain
	run -1 grep "Integers beside floats" plain
	echo '{"operators": 3}' >bad.json
	refuses 2 'bad.json: error: the file has no "operators"' npu-report --quantization=bad.json m.json
	echo '[' >bad.json
	refuses 2 'bad.json' npu-report --quantization=bad.json m.json
}

@test "operators on the CPU have a price on page, in JSON and in comparisons" {
	for k in "" --cpu=ADD; do
		npucc -a ethos-u55-128 "${u55[@]}" $k -o "m$k.tflite" "$DIGITS" 2>/dev/null
	done
	npu-perf --json m--cpu=ADD.tflite >m.json
	jq -e '(.on_cpu | length) == 1 and .on_cpu[0].name == "residual" and
		.layers[.on_cpu[0].layer].name == "residual" and
		.on_cpu[0].cycles == .cpu_cycles and .cpu_cycles > 0' m.json
	npu-report --html m.json >m.html
	cycles=$(npu-report --summary m.json |
		sed -n 's/.* 1 on the CPU, roughly \([0-9,]*\) cycles.*/\1/p')
	grep -q "<tr><td title=\"residual\">residual</td>.*>$cycles<.*>kept on the CPU by --cpu<" m.html
	npu-report --compare=m.tflite --html m.json >c.html
	grep -q '<td title="residual">.*>now on the CPU<' c.html
	npu-report --compare=m.tflite m.json | grep -qE '^  residual +ADD .* new on the CPU'
}

@test "the time is that of NPU and CPU, on a timeline with a lane for the CPU" {
	npucc --part=alif-e7-he --cpu=ADD --cpu=SOFTMAX -o m.tflite "$DIGITS" 2>/dev/null
	npu-perf --json m.tflite >m.json
	# one clock for NPU and CPU of this part; operators in their order, in the NPU's gaps
	jq -e '([.on_cpu[].seconds] | add) as $s |
		.cpu == "Cortex-M55" and .cpu_clock == 160e6 and
		($s * .cpu_clock - .inference_cpu_cycles | fabs < 1)' m.json
	jq -e '.on_cpu[0].npu_cycle > 0 and .on_cpu[0].npu_cycle <= .on_cpu[1].npu_cycle and
		.on_cpu[1].npu_cycle <= .inference_npu_cycles + 1' m.json
	npu-report --html m.json >m.html
	sed -n '/id="data"/,/<\/script>/p' m.html | sed '1d;$d' >data.json
	# NPU and CPU are never busy at once, and the last of them ends at the total
	jq -e '. as $d | ([.cpus[] | .[2]] + [.ops[] | .[2]] | max) as $last |
		($last - .cycles | fabs < 2) and
		([.cpus[] as $c | .ops[] | select(.[1] < $c[2] - 1 and .[2] > $c[1] + 1)] | length == 0) and
		([.cpus[] | .[0] as $n | $d.nodes[$n].k] == ["ADD", "SOFTMAX"])' data.json
	ms=$(jq '.inference_seconds * 1e3' m.json)
	npu-report --summary m.json >out
	awk -v ms="$ms" '/^  time/ { v = $3 * ($4 ~ /^µs/ ? 1e-3 : 1); exit !(v > .99 * ms && v < 1.01 * ms) }' out
	grep -qE '^  range .*the CPU.s cycles are known to a factor of 10$' out
	grep -qE '^  longest .*|^           .*on the CPU, roughly; [0-9]+ (ADD|SOFTMAX)$' out
	# summary and page have the same operators at the top, those of the CPU among them
	xmllint --xpath "//*[@id='longest']/*[local-name()='table'][1]//*[local-name()='td']" m.html |
		sed 's/<[^>]*>//g' | awk 'NR % 5 == 1 { n = $0 } NR % 5 == 4 { s = $0 } NR % 5 == 0 { print n ", " s ", " $0 }' >have
	sed -n '/^  longest/,/^  options/p' out |
		sed -nE 's/^  (longest|       )  (.*[^ ]) +([0-9.]+ %), [^,]*, ([^;]*)(;.*)?/\2, \3, \4/p' >want
	[ "$(wc -l <want)" = 3 ] && head -n 3 have | diff want -
	grep -q 'on the CPU, roughly$' want
	# the picture has a bar for each, and none without operators on the CPU
	[ "$(npu-report --svg=timeline m.json | grep -c '<rect class="cpu" [^>]*><title>')" = 2 ]
	report n
	run ! grep 'class="cpu"' <(npu-report --svg=timeline n.json)
	# a plan that leaves more to the CPU is slower, although the NPU is faster
	npucc --part=alif-e7-he -o fast.tflite "$DIGITS" 2>/dev/null
	jq -e --slurpfile f <(npu-perf --json fast.tflite) \
		'.inference_npu_cycles <= $f[0].inference_npu_cycles * 1.2 and .inference_seconds > $f[0].inference_seconds' m.json
	npu-report --compare=fast.tflite --fail-if-slower=0 m.json >/dev/null 2>err || [ $? = 1 ]
	grep -q 'takes .* % more than' err
}

@test "a member of another kind is an error, not an absent member" {
	report m
	front
	# every member of every object that is read, in turn, with every other kind
	jq -c '[paths | select(.[-1] | type == "string")] |
		map(select(map(if type == "number" then (. == 0) else true end) | all)) | .[]' m.json >paths
	[ "$(wc -l <paths)" -gt 60 ]
	local read='"(core_clock|sram_bytes|start_cycle|layers|operations|name|kind|estimate|tensors|bytes|layer|npu|limited_by|read_bytes|ifm|network|address|place|peaks|constants|inference_seconds|on_cpu)"]$'
	grep -E "$read" paths >read
	# lines of path, kind, and the report with a value of this kind
	jq -rn --slurpfile paths read --slurpfile m m.json '$m[0] as $m | $paths[] as $p |
		("1", 1, [1], {a: 1}, true) as $v | ($m | getpath($p)) as $is |
		select($is != null and ($is | type) != ($v | type)) |
		[$p, ($v | type), ($m | setpath($p; $v))] | map(tojson) | join("\t")' >cases
	[ "$(cut -f 1 cases | sort -u | wc -l)" -gt 20 ]
	while IFS=$'\t' read -r path kind bad; do
		printf '%s\n' "$bad" >bad.json
		case $kind in
		*array*) kind='an array' ;;
		*object*) kind='an object' ;;
		*boolean*) kind='true or false' ;;
		*) kind="a ${kind//\"/}" ;;
		esac
		refuses 2 " is $kind, not " npu-report --html bad.json || {
			echo "$path"
			return 1
		}
	done <cases
	sed 's/30000/"30000"/' front.json >bad.json
	refuses 2 'bad.json: error: "cycles" is a string, not a number' npu-report --front=bad.json m.json
}

@test "a file that is no report is refused" {
	report m
	printf '{ "a": [1, 2' >cut.json
	refuses 2 'cut.json:1: error: not JSON: a comma or an end is missing' \
		npu-report cut.json
	printf '{}\n' >empty.json
	refuses 2 'empty.json: error: not a report of npu-perf --json' \
		npu-report --html empty.json
	refuses 2 'empty.json: error: the file has no "front"' npu-report --front=empty.json m.json
	refuses 2 "--svg knows memory, timeline, layers, roofline, curve, not 'x'" \
		npu-report --svg=x m.json
	for o in --fail-if-slower --fail-if-larger; do
		refuses 2 "$o works only with --compare" npu-report "$o=1" m.json
	done
	# names that XML does not allow, and markup, are shown as text
	need xmllint
	jq '.layers |= map(.name = "<u>&\u0001\"x")' m.json >evil.json
	npu-report --html evil.json >evil.html
	xmllint --noout evil.html
	run ! grep '<u>' evil.html
}

@test "the trace has bytes of kernels, arrows and counters" {
	npucc -a ethos-u55-256 "${u55[@]}" -o m.tflite "$DIGITS" 2>/dev/null
	npu-perf "${u55[@]}" --trace m.tflite >t.json
	npu-perf "${u55[@]}" --json m.tflite >m.json
	jq -e '[.traceEvents[] | select(.ph == "X" and .tid == 0)] |
		length > 0 and all(.args.bytes > 0)' t.json
	# each arrow has one end, points forward in time, and starts at a transfer
	jq -e '[.traceEvents[] | select(.ph == "s")] as $s |
		[.traceEvents[] | select(.ph == "f")] as $f |
		($s | map(.id)) == ($f | map(.id)) and ($s | length > 0) and
		([$s, $f] | transpose | all(.[0].ts <= .[1].ts and .[0].tid == 1 and
			.[1].tid == 0))' t.json
	jq -e --slurpfile m m.json '[.traceEvents[] | select(.ph == "C" and
		.name == "arena bytes in use").args.bytes] | max <= $m[0].sram_bytes and
		max > 0' t.json
	# bandwidths end with 0, and stay below a generous limit
	jq -e '[.traceEvents[] | select(.name == "bytes a cycle").args] |
		(last | .sram == 0 and .off_chip_flash == 0) and any(.sram > 0)' t.json
}

@test "an operator is shown as the user's layer, with all kinds that its kernel computes" {
	need jq
	model swish ".operator_codes += [{deprecated_builtin_code:14,builtin_code:14},{deprecated_builtin_code:18,builtin_code:18}]
		| $t[3].name = \"net/re_lu_12/Relu6;net/dense_12/BiasAdd;net/dense_12/MatMul;dense_12/bias\"
		| $t += [{shape:[1,2],type:9,name:\"net/sigmoid/Sigmoid\",quantization:{scale:[0.00390625],zero_point:[-128]}},
			{shape:[1,2],type:9,name:\"net/swish/mul\",quantization:{scale:[2],zero_point:[3]}}]
		| .subgraphs[0] |= (.outputs = [5] | .operators += [{opcode_index:1,inputs:[3],outputs:[4]},
			{opcode_index:2,inputs:[3,4],outputs:[5],builtin_options_type:21,builtin_options:{}}])"
	npucc -q -a ethos-u55-256 --system-config RTSS_HP_SRAM_MRAM --memory-mode Shared_Sram -o x.tflite swish.tflite
	npu-perf --system-config RTSS_HP_SRAM_MRAM --memory-mode Shared_Sram --json x.tflite >x.json
	jq -e '.layers[2] | .label == "dense_12 (FULLY_CONNECTED + LOGISTIC + MUL)" and .parts == [0, 1]' x.json
	jq -e '.layers[0].label == "dense_12"' x.json
	npu-report x.json | grep -q '^  dense_12 (FULLY_C[.][.]+ LOGISTIC + MUL)  *[0-9]'
	npu-report --svg=layers x.json | grep -q '>dense_12 (FULLY_C[.][.]+ LOGISTIC + MUL)<'
	# a table, and the text in which the page searches, have the whole
	npu-report --html x.json >x.html
	grep -q '>dense_12 (FULLY_CONNECTED + LOGISTIC + MUL)</td>' x.html
	grep -q '"k":"MUL","t":"dense_12 (FULLY_CONNECTED + LOGISTIC + MUL)"' x.html
}

@test "layers of one path are told apart by their operators" {
	need jq
	model one "$t[3].name = \"net/cell/MatMul\" | $t += [($t[3] | .name = \"net/cell/Relu\"),
			($t[3] | .name = \"net/dense/MatMul\")]
		| .subgraphs[0] |= (.outputs = [3,4,5] | .operators |= [.[0], (.[0] | .outputs = [4]), (.[0] | .outputs = [5])])"
	npucc -q -a ethos-u55-256 --system-config RTSS_HP_SRAM_MRAM --memory-mode Shared_Sram -o o.tflite one.tflite
	npu-perf --system-config RTSS_HP_SRAM_MRAM --memory-mode Shared_Sram --json o.tflite |
		jq -e '[.layers[].label] == ["cell/MatMul", "cell/Relu", "dense"]'
}

@test "of a long path, the shortest end is shown that no other operator has" {
	npucc --part=alif-e7-he -o m.tflite "$DIGITS" 2>/dev/null
	npu-perf --json m.tflite >m.json
	# labels of the operators that run
	shown() {
		jq --argjson v "$1" 'reduce range(3) as $i (.; .layers[$i].label = $v[$i])' m.json |
			npu-report /dev/stdin | sed -n '/^Time by layer/,/^$/s/^  \(.\{36\}\) .*/\1/p' | head -n 3 | sed 's/  *$//'
	}
	long=a_network_of_a_maker/StatefulPartitionedCall/StatefulPartitionedCall
	shown "[\"$long/Call_2/Call\", \"$long/Call_22/Call\", \"$long/Call_22/Other\"]" |
		diff - <(printf '%s\n' Call_2/Call Call_22/Call Other)
	# one path is the end of another; kinds are no part of a path; a short one stays whole
	shown "[\"$long/Call\", \"$long/$long/Call (ADD + MUL)\", \"net/Call_3/Call\"]" >have
	grep -qx 'net/Call_3/Call' have
	[ "$(sort -u have | wc -l)" = 3 ] && [ "$(wc -L <have)" -le 36 ]
}

@test "tensors and buffers of different names have different labels, in pictures too" {
	need jq
	local n
	npucc --part=nxp-imx93 -o m.tflite "$DIGITS" 2>/dev/null
	npu-perf --json m.tflite >m.json
	# long names that differ in the middle; two tensors that differ behind the end of the label
	jq '[.layers[].name] as $old
		| def long: capture("^(?<n>.*?)(?<rest> \\((weights|t[0-9]+)\\))?$") as $x
			| ($old | index($x.n)) as $i | if $i == null then .
			else "net/conv_block_with_a_long_name_\($i)_pointwise/Relu\($x.rest // "")" end;
		(.layers[], .operations[], .tensors[]).name |= long
		| .layers[] |= (.label = (.name | sub("net/"; "") | sub("/Relu"; "")))
		| .tensors[0].name = "net/a;b" | .tensors += [.tensors[0] | .name = "net/a;c"]' m.json >long.json
	npu-report --html long.json | sed -n '/id="data"/,/<\/script>/p' | sed '1d;$d' >data.json
	jq -r '[.spans[][1]] | to_entries[] | "\(.key) \(.value)"' data.json | sort >labels
	jq -r '[.tensors[].name] | to_entries[] | "\(.key) \(.value)"' long.json | sort >names
	n=$(cut -d' ' -f2- names | sort -u | wc -l)
	[ "$n" -gt 20 ]
	[ "$(cut -d' ' -f2- labels | sort -u | wc -l)" = "$n" ]
	grep -q ' (weights)$' labels
	grep -q ' (t13)$' labels
	[ "$(jq '[.nodes[].l] | length == (unique | length)' data.json)" = true ]
	# names in the picture, shortened where there is little space
	npu-report --svg=memory long.json | grep -o '<text[^>]*>[^<]*_p*o*i*n*[^<]*' | sed 's/.*>//' >drawn
	[ "$(wc -l <drawn)" -gt 5 ]
	grep -q '\.\.' drawn
	[ -z "$(grep -F .. drawn | sort | uniq -d)" ]
	# files of comparisons
	n=$PWD/$(printf 'folder%.0s' {1..9})
	mkdir -p "$n"/{1,2}-and-another-folder
	cp m.json "$n/1-and-another-folder/report-of-the-network-in-a-long-name.json"
	cp m.json "$n/2-and-another-folder/report-of-the-network-in-a-long-name.json"
	npu-report --compare="$n/1-and-another-folder/report-of-the-network-in-a-long-name.json" \
		"$n/2-and-another-folder/report-of-the-network-in-a-long-name.json" >out
	head -n 1 out | grep -vE '^(.*) compared with \1$'
}

@test "layers with equal constants are shown by their own names" {
	need jq
	# a converter adds the name of one of these layers to the names of all
	model equal "$t[3].name = \"net/dense_1/MatMul\" | $t += [
			($t[3] | .name = \"net/relu_2/Relu;net/dense_1/MatMul;net/dense_2/MatMul\"),
			($t[3] | .name = \"net/dense_3/MatMul;net/dense_1/MatMul\")]
		| .subgraphs[0] |= (.outputs = [3,4,5] | .operators |= [.[0], (.[0] | .outputs = [4]), (.[0] | .outputs = [5])])"
	npucc -q -a ethos-u55-256 --system-config RTSS_HP_SRAM_MRAM --memory-mode Shared_Sram -o e.tflite equal.tflite
	npu-perf --system-config RTSS_HP_SRAM_MRAM --memory-mode Shared_Sram --json e.tflite |
		jq -e '[.layers[].label] == ["dense_1", "dense_2", "dense_3"]'
	[ -n "$SHARED" ] || return 0
	npucc -q --part=alif-e7-hp -o m.tflite "$SHARED/models-real/mobilenet_v1_0.25_96.tflite"
	npu-perf --part=alif-e7-hp --json m.tflite |
		jq -e '[.layers[] | select(.kind | endswith("CONV_2D")).label] | length == 28 and (unique | length) == 28'
}
