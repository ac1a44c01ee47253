# SPDX-License-Identifier: Apache-2.0
# Runs the commands of the manual pages' EXAMPLES, and checks their worked examples.

load lib/common
load lib/model
load lib/standin

# models, pictures and the files of all stages, under all names that the examples use
setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return
	local tests=${NPUTOOLS_TESTBIN:-$TOP/build/tests} digits=$TOP/tests/models name
	local memory=(--system-config RTSS_HP_SRAM_MRAM --memory-mode Shared_Sram)
	mkdir -p bin last test/cat test/dog drawings/3 drawings/7
	for name in m model net keyword kws digits ssd person_detect; do
		cp "$digits/digits.tflite" "$name.tflite"
	done
	cp "$digits/digits/digit-7.pgm" digit.pgm
	cp "$digits/digits/digit-4.pgm" cat.png	# the first bytes of a file determine its type
	cp "$digits"/digits/digit-[01].pgm test/cat/
	cp "$digits"/digits/digit-[23].pgm test/dog/
	cp "$digits/digits/digit-3.pgm" drawings/3/
	cp "$digits/digits/digit-7.pgm" drawings/7/
	npucc -a ethos-u55-256 "${memory[@]}" --keep=. m.tflite
	for name in model net my_model digits; do
		cp m_npu.tflite "${name}_npu.tflite"
	done
	cp m_npu.tflite ours.tflite
	cp "$digits/digits-float.tflite" float.tflite
	cp "$digits/digits-ethos-u55-128.tflite" vela.tflite
	cp ours.tflite old.tflite
	cp vela.tflite new.tflite
	npu-perf "${memory[@]}" --json -o last/m.json m_npu.tflite
	mkinput --range=0,1 --format=npy -o cat.npy m.tflite digit.pgm
	echo ffff0000 >dump.txt
	"$tests/gen-tosa" 1 >out.tosa
	# a network whose output has its input's shape, and two inputs with labels
	"$tests/gen-model" 1 RELU >ad.tflite
	mkinput --random=1 --format=raw -o 0.raw ad.tflite
	mkinput --random=2 --format=raw -o 1.raw ad.tflite
	printf '%d.raw %d\n' 0 0 1 1 >list
	mkinput --list=list -o sound.npy ad.tflite
	printf 'all:\n\tvela --help >help\n' >Makefile
	# commands for other machines run on this one, whose NPU is a stand-in
	npucc -a ethos-u65-256 --system-config Ethos_U65_High_End --memory-mode Dedicated_Sram \
		-o keyword_npu.tflite m.tflite
	printf '#!/bin/sh\nSTANDIN_ENGINE=%s LD_PRELOAD="%s" exec %s "$@"\n' "$tests/npu-engine" \
		"$(standin_preload)" "$RUN" >bin/npu-run
	printf '#!/bin/sh\nexec sh -e\n' >bin/parallel
	printf '#!/bin/sh\nexec cat "$@"\n' >bin/less
	chmod +x bin/*
	touch hosts
}

# examples PAGE: the commands of its EXAMPLES, unchanged with three exceptions: numbers of
# inputs, the options that "..." stands for, and diff, which must find a difference
examples()
{
	awk '
	/^\.Sh / { inside = $2 == "EXAMPLES"; next }
	!inside { next }
	/^\.Bd -literal/ { literal = 1; block = ""; next }
	/^\.Ed/ { if (block !~ /:=/) printf "%s", block; literal = 0; next }
	literal { block = block $0 "\n" }
	sub(/^\.Dl /, "")' "$1" |
		sed 's/\\e/\\/g; s/\*\.tflite/m.tflite/; s/--frames=400/--frames=4/
			s/--frames=[0-9]\{3,\}/--frames=2/; s/^diff .*/& || [ $? = 1 ]/
			s/npu-sched \.\.\./npu-sched -a ethos-u55-256 \\\
--system-config RTSS_HP_SRAM_MRAM --memory-mode Shared_Sram/'
}

@test "the examples of every page run" {
	need jq column
	local page n=0
	for page in "$TOP"/man/*.[1-9]; do
		# npu-sweep.1 takes two thirds of the time and compiles twenty times: too
		# much for slow builds
		[ -z "${NPUTOOLS_QUICK-}" ] || [ "${page##*/}" != npu-sweep.1 ] || continue
		examples "$page" >script
		[ -s script ] || continue
		n=$((n + 1))
		mkdir run
		cp -r "$BATS_FILE_TMPDIR"/. run/
		(cd run && PATH=$PWD/bin:$PATH && bash -e ../script >../out 2>../err) || {
			echo "$page: status $?"
			cat script err
			false
		}
		rm -r run
	done
	# a page of each program, and at least one other, also without npu-sweep.1
	[ "$n" -ge $(($(programs | wc -l) + 1)) ]
}

# listed PAGE SECTION: the words at the begin of a section's listing, one a line, as npu-dis
# prints them: "PARAM CODE", or the payload followed by "CODE"
listed()
{
	awk -v n="$2." '$1 == ".Sh" { inside = $2 == n } inside' "$TOP/man/$1" |
		grep -E '^[0-9a-f]{4} [0-9a-f]{4}' |
		grep -oE '^[0-9a-f]{4} [0-9a-f]{8}|(^|, )[0-9a-f]{4} [0-9a-f]{4}\b' |
		sed -E 's/^, //; s/^(....) (.{8})$/\2 0000 \1/'
}

@test "the worked examples of ethosu-commands(7) are the streams that npucc writes" {
	model fc
	local section accelerator memory n w
	while read -r section n accelerator memory; do
		# shellcheck disable=SC2086
		npucc -a "$accelerator" $memory --model=timeline -o npu.tflite fc.tflite
		npu-dis npu.tflite >listing
		listed ethosu-commands.7 "$section" >words
		[ "$(wc -l <words)" = "$n" ]
		while read -r w; do
			grep -q "$w - cmd" listing || { echo "$section: $w"; false; }
		done <words
	done <<-'END'
		15 26 ethos-u55-128 --system-config=Ethos_U55_High_End_Embedded --memory-mode=Shared_Sram
		37 11 ethos-u85-256 --system-config=Ethos_U85_SYS_DRAM_Mid --memory-mode=Dedicated_Sram_384KB
	END
}

@test "the worked examples of ethosu-weights(7) and ethosu-timing(7) are correct" {
	need xxd
	local memory=(--system-config=Ethos_U55_High_End_Embedded --memory-mode=Shared_Sram)
	model fc
	npucc -a ethos-u55-128 "${memory[@]}" -o fc.wenc fc.tflite
	npu-cmdgen --emit=constants fc.wenc | xxd -p | tr -d '\n' >bytes
	stream=$(sed -n 's/^\.Dl \(3b 00 .*\), 16 times ff$/\1/p' "$TOP/man/ethosu-weights.7")
	[ "$(cut -c 65-96 bytes)" = "$(tr -d ' ' <<<"$stream")" ]
	for w in '6400000000 00000040 22' '9cffffffff 00000040 22'; do
		grep -q "$w" "$TOP/man/ethosu-commands.7"
		grep -q "$(tr -d ' ' <<<"$w")" bytes
	done
	npu-perf "${memory[@]}" --model=timeline --json fc.wenc |
		jq -r '"NPU \(.npu_cycles), SRAM \(.estimate.access_cycles.sram), " +
			"flash \(.estimate.access_cycles.off_chip_flash), timeline \(.timeline_cycles)"' >says
	grep -qF "prints these: $(cat says)." "$TOP/man/ethosu-timing.7" || { cat says; false; }
}

# named PAGE FILE N: every key of the JSON is a word of the page, and there are at least N
# keys
named()
{
	local page=$TOP/man/$1
	# npu-perf(1) describes the keys of feature maps; those of the other purposes are
	# like them
	jq -r 'paths | map(strings) | last // empty' "$2" |
		sed -E 's/^(weight|scale|table)_(read|write)_bytes$/feature_map_\2_bytes/' |
		sort -u >keys
	[ "$(wc -l <keys)" -ge "$3" ] || { wc -l keys; false; }
	grep -E '^\.(It )?(Va|Li|Cm|Pq|Po) ' "$page" | grep -oE '[A-Za-z0-9_]+' | sort -u >words
	comm -23 keys words >missing
	[ ! -s missing ] || { echo "$1: $(tr '\n' ' ' <missing)"; false; }
}

@test "npu-perf(1) has the figures and sentences of schema/figures.def" {
	printf '%s\n' '#define FIGURE(key, kind, value, text) @ key text' \
		'#include "figures.def"' >figures.c
	"${CC:-cc}" -E -P -I "$TOP/schema" figures.c | tr -s '\n' ' ' |
		sed 's/" "//g; s/@ /\n/g; s/"//g' | awk NF | sed 's/ *$//' >want
	[ "$(wc -l <want)" -gt 50 ]
	sed -n '/^The figures of the whole network/,/^\.El/p' "$TOP/man/npu-perf.1" |
		awk '/^\.It Va/ { if (key) print key; key = $3; next }
			key && !/^\./ { key = key " " $0 } END { print key }' | diff want -
}

@test "the time that the examples of Python and JavaScript print is that of npucc" {
	local key file
	cp "$TOP/tests/models/digits.tflite" mixed.tflite
	npucc --part=alif-e8-u85 --cpu=ADD --cpu=SOFTMAX mixed.tflite >says
	npu-perf --json mixed_npu.tflite >json
	for file in man/nputools-packages.7 scripts/packaging/nputools/__init__.py scripts/wasm/API.md; do
		key=$(sed -n 's/^.*\(print(nputools.estimate(compiled)\["\|console.log(report\.\)\([a-z_]*\).*/\2/p' \
			"$TOP/$file")
		echo "$file: $key, $(grep '^  time' says)"
		# more than that of the NPU, as operators on the CPU take much longer
		jq -e ".$key > 1.5 * .calibrated_ms / 1e3" json
		awk -v us="$(jq "1e6 * .$key" json)" \
			'/^  time     roughly .* µs: / { exit !($3 > .99 * us && $3 < 1.01 * us) }' says
	done
}

# a package index has no package of this project, but may have a foreign one of that name
@test "each pip command for the project's wheels has --no-index" {
	grep -r "pip3* install " "$TOP"/man/*.[1-9] "$TOP/README.md" "$TOP/scripts" >commands
	[ "$(wc -l <commands)" -ge 3 ]
	run ! grep -v -e --no-index commands
}

@test "npu-report(1) has the words and sentences of schema/limits.def" {
	printf '%s\n' '#define LIMIT_OF_CPU(words, text) @ words text' \
		'#define LIMIT(key, words, text) @ words text' '#include "limits.def"' >limits.c
	"${CC:-cc}" -E -P -I "$TOP/schema" limits.c | tr -s '\n' ' ' |
		sed 's/; " "/; /g; s/@ /\n/g; s/"//g' | awk NF | sed 's/ *$//' >want
	[ "$(wc -l <want)" = 6 ]
	sed -n '/^\.Ql limit$/,/^\.El/p' "$TOP/man/npu-report.1" |
		awk '/^\.It Cm/ { key = substr($0, 8); next } key && !/^\./ { print key, $0 }' | diff want -
}

@test "the pages name every key that --json prints" {
	need jq
	local at=$BATS_FILE_TMPDIR memory=(--system-config RTSS_HP_SRAM_MRAM \
		--memory-mode Shared_Sram)
	named npu-perf.1 "$at/last/m.json" 80
	named npucc.1 "$at/manifest.json" 20
	named npu-sched.1 "$at/front.json" 7
	npu-sched -a ethos-u55-256 "${memory[@]}" --explain --json "$at/m.part" >json
	named npu-sched.1 json 20
	tfl-quantcheck --json "$at/m.tflite" >json
	named tfl-quantcheck.1 json 16
	npu-sim --json --compare="$at/m.tflite" "$at/m_npu.tflite" >json
	named npu-sim.1 json 12
	npu-dis --json "$at/m_npu.tflite" >json
	named npu-dis.1 json 40
	# a stream that differs from its graph
	sed '/^op *o2 /s/clamp=-128:/clamp=-100:/' "$at/m.wenc" >edited.wenc
	npu-dis --verify --json --source=edited.wenc "$at/m_npu.tflite" >json 2>err || true
	named npu-dis.1 json 12
	npu-eval --layers --json "$at/m.tflite" "$at/cat.npy" >json
	named npu-eval.1 json 18
	npu-sim --frames=2 --reset -o out "$at/m.tflite"
	printf '%s\n' 3 7 >labels
	npu-eval --json labels out/output_0.npy out/output_0.npy >json
	named npu-eval.1 json 20
}

@test "the sigmoid's corrections in ethosu-commands(7) are those of the code" {
	sed -n '/^static const uint8_t one_more/,/^};/p' "$TOP/libcommon/kernels/tables.c" |
		grep -oE '[0-9]+' | sed 1d >code
	[ "$(wc -l <code)" -gt 40 ]
	# "... one more where i is 4 8 12 14 to 17 19.": one paragraph of 6.6
	awk '/^\.Ss / { inside = $2 == "6.6" } inside' "$TOP/man/ethosu-commands.7" |
		sed -n '/one more where i is/,/\.$/p' | tr '\n' ' ' |
		sed 's/.*where i is//; s/\. *$//' | awk '{
			for (i = 1; i <= NF; i++)
				if ($i == "to")
					for (k = $(i - 1) + 1; k < $(i + 1); k++)
						print k
				else
					print $i
		}' >page
	cmp code page
}

@test "no page is wider than a terminal of 80 columns" {
	need mandoc col
	local page
	for page in "$TOP"/man/*.[1-9]; do
		mandoc -T ascii -O width=78 "$page" | col -bx |
			awk -v p="${page##*/}" 'length > 80 { print p ": " $0; wide = 1 }
				END { exit wide }'
	done
}

@test "the manual as HTML has a page for each page, and all its links lead somewhere" {
	need node
	"$TOP/scripts/site/make-html" manual
	[ "$(ls manual/*.[1-9].html | wc -l)" = "$(ls "$TOP"/man/*.[1-9] | wc -l)" ]
	for f in "$TOP"/man/*.[1-9]; do
		grep -qF "href=\"${f##*/}.html\"" manual/index.html
	done
	run ! grep -l 'href="\(xargs\|fsync\|jq\)\.' manual/*.html
	node "$TOP/tests/lib/links.js" manual >found || { cat found; false; }
	# the check finds a link to nothing, and a page that is named without a link
	echo '<a href="nowhere.html">x</a> <a href="#nobody">y</a> <p>npucc(1)</p>' >manual/bad.1.html
	run ! node "$TOP/tests/lib/links.js" manual
	[ "$(grep -c '^bad' <<<"$output")" = 3 ]
}
