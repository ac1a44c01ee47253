# SPDX-License-Identifier: Apache-2.0
# make web: the page in headless Chromium, from a disk, compared with the programs.

bats_require_minimum_version 1.5.0
load ../lib/common
load ../lib/model

page=${NPUTOOLS_PAGE-$TOP/build-web}
digits=$TOP/tests/models/digits.tflite
memory=(--system-config=Ethos_U55_High_End_Embedded --memory-mode=Shared_Sram)

setup()
{
	set +T
	cd "$BATS_TEST_TMPDIR" || return
	need "${CHROMIUM-chromium}"
	mkdir got
}

# page CASE ARGUMENT...: writes results to found, and files to got
page()
{
	timeout 120 node "$TOP/tests/packages/page.js" "$page" "$1" got "${@:2}" >found
}

# has KEY VALUE: found has this line
has()
{
	grep -qxF -- "$1"$'\t'"$2" found || { echo "no $1 $2 in:"; cat found; return 1; }
}

# a number of bytes in the page's format, which rounds halves up
bytes()
{
	awk -v n="$1" 'BEGIN {
		if (n < 10240) printf "%d bytes", n
		else printf "%.1f KiB", int(n / 1024 * 10 + 0.5) / 10
	}'
}

# equal FILE: the page's numbers and downloads are the programs'
equal()
{
	local base=${1##*/} sram flash
	base=${base%.*}
	npucc -a ethos-u55-128 "${memory[@]}" -o want.tflite "$1" 2>notes
	cmp want.tflite "got/${base}_npu.tflite"
	tfl2c --name-of="$base" -o want.h want.tflite
	cmp want.h "got/$base.h"
	npu-perf --json "${memory[@]}" want.tflite >report.json
	sram=$(jq .sram_bytes report.json) flash=$(jq .flash_bytes report.json)
	has n-sram "$(bytes "$sram")"
	has n-flash "$(bytes "$flash")"
	# the report's line of the range, without zeros at the end of a number
	npu-report --summary want.tflite | sed -n '/^  range/ {
		s/^  range *//; s/ with a probability of 80 %.*//
		s/\.0* / /g; s/\(\.[0-9]*[1-9]\)0* /\1 /g; p; }' >range
	has n-range "$(cat range)"
	has n-cycles "$(jq '.cycles_per_inference | round' report.json |
		sed ':a; s/\B[0-9]\{3\}\>/,&/; ta')"
	grep -q '</html>' "got/$base.html"
}

@test "numbers, compiled model and header of a model are the programs'" {
	page compile "$digits"
	equal "$digits"
	# the operators, and the rewrites behind them
	tfl-partition --report -a ethos-u55-128 "$digits" >listed
	has rows "$(($(wc -l <listed) - 1))"
	has placed "$(tail -1 listed)"
}

@test "a keyword model and MobileNetV2 compile, and their times are printed" {
	[ -n "$SHARED" ] || skip "no shared models"
	for m in kws_ref_model mbv2_int8; do
		page compile "$SHARED/models/$m.tflite"
		equal "$SHARED/models/$m.tflite"
		echo "# $m: $(sed -n 's/^n-compiled-in\t//p' found)" >&3
	done
}

@test "a TOSA graph compiles" {
	"$NPUTOOLS_TESTBIN/gen-tosa" 1 >g.tosa
	page compile g.tosa
	equal g.tosa
}

@test "a float model and a folder of pictures: the programs' integer model, compiled" {
	local float=$TOP/tests/models/digits-float.tflite
	mkdir -p samples/a samples/b
	cp "$TOP"/tests/models/digits/digit-[0-2].pgm samples/a/
	cp "$TOP"/tests/models/digits/digit-[3-6].pgm samples/b/
	{ printf 'P5 56 42 255\n'; head -c 2352 "$TOP"/tests/models/digits-float.tflite; } >samples/b/large.pgm
	for how in chosen:0,1:bilinear dropped:-1,1:area; do
		IFS=: read -r _ range resize <<<"$how"
		rm -f got/*
		page quantize "${how%%:*}" samples "$range" "$resize" "$float"
		tfl-quantize --data=samples --range="$range" --resize="$resize" --json -o want.tflite "$float" >report
		cmp want.tflite got/digits-float_int8.tflite
		npucc -q -a ethos-u55-128 "${memory[@]}" -o npu.tflite want.tflite
		cmp npu.tflite got/digits-float_npu.tflite
		has chosen "samples, 8 files"
		has n-equal-answers "$(jq -r '"\(.equal_answers) of 8"' report)"
		grep -q '^n-accuracy.* % in float, .* % quantized$' found
	done
	# without a folder, the message names the control of the page
	page refuse "$float"
	grep -q '^tfl-quantcheck: /digits-float.tflite: error: 13 of 13 operators .*: choose a folder of pictures above,' found
	run ! grep -e ' --' found
	# an integer model is not quantized again
	rm -f got/*
	page quantize dropped samples 0,1 area "$digits"
	has quantized false
	npucc -q -a ethos-u55-128 "${memory[@]}" -o npu.tflite "$digits"
	cmp npu.tflite got/digits_npu.tflite
}

@test "from a web server, the page requests only its own files" {
	page served "$digits"
	equal "$digits"
}

@test "the report in the page has its pictures, and a click marks an operator in all of them" {
	page report
	npucc -a ethos-u55-128 "${memory[@]}" -o want.tflite "$digits" 2>notes
	has nodes "$(npu-report --html want.tflite | sed -n "/id=\"data\"/,/<.script>/p" | sed "1d;\$d" |
		jq ".nodes | length")"
	has bars true
	has marked true
	grep -q '^panel' found
}

@test "a part that is too small for a model gives the message, and the slider throws nothing" {
	page small "$digits"
	grep -qx fits found
	[ -n "$SHARED" ] || skip "no shared models"
	page small "$SHARED/models/mbv2_int8.tflite"
	grep -q 'MRAM of renesas-ra8p1 has 1048576' found
}

@test "curve and slider end where the part's memories end, and no result is beside another limit" {
	wide_model wide
	npucc --part=nxp-imx93 --front --json -o front.json wide.tflite
	jq '[.front[] | select(.sram <= 393216)] | length - 1, last.sram' front.json >want
	page limit nxp-imx93 wide.tflite
	has last "$(head -1 want)"$'\t'"$(bytes "$(tail -1 want)")"
	[ "$(sed -n 's/^hidden\t//p' found | paste -sd,)" = \
		"true false false,false true true,true false false" ]
}

# offers ACCELERATOR: the systems and modes that the accelerator takes, of its generation
offers()
{
	local system mode of=Ethos_${1:6:3}_
	for system in $(npu-sched --list-profiles | sed -n 's/^  \(\S*\) .* MHz .*/\1/p'); do
		[[ $system != Ethos_* || ${system^^} = "${of^^}"* ]] || continue
		npu-sched --list-profiles | grep "^  $system " | grep -qE "  $1 |^  Ethos_\S+ .*[0-9]  \(" ||
			continue
		for mode in $(npu-sched --list-profiles | sed -n 's/^  \(\S*\) .*Axi.*/\1/p'); do
			npucc -q -a "$1" --system-config="$system" --memory-mode="$mode" \
				-o offered.tflite "$digits" 2>error || { grep -q ' must be in ' error; continue; }
			echo "offered $1 $system $mode"
		done
	done
}

@test "the page offers the memory systems that an accelerator has, and begins with npucc's" {
	page memories
	for a in ethos-u55-128 ethos-u55-64 ethos-u65-256 ethos-u85-256 ethos-u85-2048; do
		diff <(grep "^offered $a " found) <(offers "$a")
	done
	# the first of each generation, and one after a system that it does not have
	for row in chosen:ethos-u55-32 chosen:ethos-u65-256 chosen:ethos-u85-128 then:ethos-u85-256; do
		npucc -a "${row#*:}" -o x.tflite "$digits" 2>notes
		grep -qx "${row/:/ } $(sed -n "s/.*Arm's example, \(\S*\) and \(\S*\);.*/\1 \2/p" notes)" found
	done
	grep -qx "kept ethos-u55-128 RTSS_HE_SRAM_MRAM Shared_Sram" found
}

@test "the page works with the keyboard alone: the sample, the slider to the smallest memory" {
	page slide
	least=$(npucc -a ethos-u55-128 "${memory[@]}" --front --json -o - "$digits" 2>notes |
		jq '.front[0].sram')
	grep -qF "$(bytes "$least")" found
	npucc -a ethos-u55-128 "${memory[@]}" --arena-cache-size="$least" -o want.tflite \
		"$digits" 2>notes
	cmp want.tflite got/digits_npu.tflite
}

@test "the page shows the program's message for a broken file" {
	for n in 0 5 1000; do
		head -c $n "$digits" >broken.tflite
		page refuse broken.tflite
		tfl-partition --report -a ethos-u55-128 broken.tflite >out 2>want || true
		diff <(sed 's,/broken,broken,' found) want
	done
}

@test "a dropped model of another tool gets the command line's advice" {
	head -c 3000 /dev/zero >m.onnx
	printf '\211HDF\r\n\032\n%3000s' . >m.h5
	printf 'PK\3\4%3000s' . >m.pt
	page foreign m.onnx m.h5 m.pt
	for f in m.onnx m.h5 m.pt; do
		npucc -a ethos-u55-128 "${memory[@]}" -o out.tflite $f 2>&1 || true
	done >want
	[ "$(grep -c 'not a TFLite model but .*convert\|export' want)" = 3 ]
	diff <(sed 's,^[^:]*: /,,' found) <(sed 's,^[^:]*: ,,' want)
}

@test "the slider works for every part" {
	page parts
	npu-sched --list-parts | sed '1d; s/ .*//' | while read -r part; do
		o=(--part="$part")
		npucc "${o[@]}" --front --json -o front.json "$digits" 2>notes
		[ "$(jq '.front | length' front.json)" -gt 1 ] || continue
		for end in smallest:0 fastest:-1; do
			npucc "${o[@]}" --arena-cache-size="$(jq ".front[${end#*:}].sram" front.json)" \
				-o want.tflite "$digits" 2>notes
			npu-perf --json "${o[@]}" want.tflite >report.json
			# as on the report's first cards
			npu-report --html report.json >report.html
			mapfile -t memory < <(grep -oE '<dt>[^<]*</dt><dd><b data-key="(sram|flash|dram)_bytes"' \
				report.html | sed 's/<dt>//; s/<.*//')
			[ ${#memory[@]} = 2 ]
			constants=$(jq 'if .arena_in == "dram" then .dram_bytes else .flash_bytes end' report.json)
			has "$part" "${end%:*}"$'\t'"$(bytes "$(jq .sram_bytes report.json)")"$'\t'"$(
				bytes "$constants")"$'\t'"$(
				jq '.cycles_per_inference | round' report.json |
				sed ':a; s/\B[0-9]\{3\}\>/,&/; ta')"$'\t'"${memory[*]} ${memory[0]} ${memory[0]} ${memory[0]}"
			echo "$part" >>compared
		done
	done
	[ "$(wc -l <compared)" -ge 20 ]
	[ "$(wc -l <compared)" = "$(wc -l <found)" ]
}

@test "every control of the page has an effect" {
	page controls
	local system=Ethos_U55_Deep_Embedded mode=Shared_Sram row
	for row in system mode check; do
		[ $row != mode ] || mode=Sram_Only
		npucc -q -a ethos-u55-128 --system-config=$system --memory-mode=$mode -o want.tflite "$digits"
		npu-perf --json want.tflite >report.json
		grep -qP "^$row\t.*\t$(jq '.cycles_per_inference | round' report.json |
			sed ':a; s/\B[0-9]\{3\}\>/,&/; ta')\t" found || { cat found; false; }
	done
	grep -qP '^check\t.*\tequal to the model.s$' found
	[ "$(grep -P '^check' found | cut -f2-4)" != "$(grep -P '^none' found | cut -f2-4)" ]
	# without a part, the names of its memory system stay
	grep -qP '^back\t' found
	# a new control needs a test: each of these is used by a case of page.js
	grep -qxP 'all\taccelerator cancel check data ends file get-header get-model get-quantized get-report mode part range report resize sample scroll slider system' found ||
		{ grep '^all' found; false; }
}

@test "a run can be cancelled, and the next one works" {
	page cancel "$digits"
	grep -qx Cancelled found
}

@test "names with brackets, quotes and letters of any alphabet are shown, not run" {
	name="<img src=x onerror=ran=1>\"'модель 模型"
	page names "$name.tflite"
	diff found <(printf '%s\n' "$name.tflite" "${name}_npu.tflite")
}

@test "a model runs and is compared in the page, also for other accelerators and a part" {
	page targets
	head -1 found | grep -qx "equal to the model's"
	tail -n +2 found >chosen
	while IFS=$'\t' read -r what target sram; do
		read -r a system mode <<<"$target"
		o=(--system-config="$system" --memory-mode="$mode")
		[[ $what != alif-* ]] || o=(--part="$what")
		npucc -a "$a" "${o[@]}" -o want.tflite "$digits" 2>notes
		[ "$sram" = "$(bytes "$(npu-perf --json "${o[@]}" want.tflite |
			jq .sram_bytes)")" ]
	done <chosen
	[ "$(wc -l <chosen)" = 3 ]
}

@test "the page is no wider than a phone, and light and dark themes differ" {
	page phone
	grep -q '^light 360 ' found
	grep -q '^dark 360 ' found
	[ "$(cut -d' ' -f3- found | sort -u | wc -l)" = 2 ]
}

@test "the page has at most 3 MB compressed and contains no address of another site" {
	[ "$(for f in "$page"/*; do gzip -9c "$f"; done | wc -c)" -le 3000000 ]
	# names of formats look like addresses but are not loaded
	! sed 's,http://www.w3.org/2000/svg,,' "$page/index.html" "$page/app.js" |
		grep -E '(https?:)?//[a-z0-9.-]+\.[a-z]{2,}'
}
