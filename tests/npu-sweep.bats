# SPDX-License-Identifier: Apache-2.0
# npu-sweep: the table is that of the compilations it stands for.

load lib/common
load lib/model

model=$BATS_TEST_DIRNAME/models/digits.tflite
memory=(--system-config=Ethos_U55_High_End_Embedded --memory-mode=Shared_Sram)

@test "a full disk is an error" {
	[ -c /dev/full ] || skip "no /dev/full"
	local args
	for args in --help --usage --version \
		"${memory[*]} -a ethos-u55-64 --limits=0 $model"; do
		status=0
		# shellcheck disable=SC2086
		npu-sweep $args >/dev/full 2>err || status=$?
		[ $status = 2 ]
		[ "$(cat err)" = "npu-sweep: standard output: error: No space left on device" ]
	done
}

@test "a row is what npucc and npu-perf say" {
	npu-sweep "${memory[@]}" -a ethos-u55-64 --limits=2 -j2 "$model" >table
	[ "$(head -1 table)" = "$(printf '%s\t' accelerator optimise limit \
		sram flash cycles ms)front" ]
	npucc -a ethos-u55-64 "${memory[@]}" -o npu.tflite "$model"
	npu-perf "${memory[@]}" --json npu.tflite |
		jq -r '[.sram_bytes, .flash_bytes + .stream_bytes, .calibrated_cycles] | @tsv' >want
	grep -P '\tPerformance\t-\t' table | cut -f4-6 | cmp - want
}

@test "the time of a row is that of NPU and CPU" {
	# CUMSUM has no lowering
	model two '.operator_codes += [{ deprecated_builtin_code: 127, builtin_code: 128, version: 1 }] |
		.buffers += [{ data: [1, 0, 0, 0] }] |
		.subgraphs[0].tensors += [{ shape: [1], type: 2, buffer: 3, name: "axis" },
			.subgraphs[0].tensors[3] + { name: "sum" }] |
		.subgraphs[0].outputs = [5] |
		.subgraphs[0].operators += [{ opcode_index: 1, inputs: [3, 4], outputs: [5] }]'
	npu-sweep "${memory[@]}" -a ethos-u55-64 --limits=0 --json two.tflite >rows
	npucc -a ethos-u55-64 "${memory[@]}" -o two_npu.tflite two.tflite 2>/dev/null
	npu-perf --json two_npu.tflite | jq -S '{ inference_npu_cycles, inference_cpu_cycles,
		inference_seconds, inference_seconds_low, inference_seconds_high }' >want
	jq -e '.inference_cpu_cycles > 500' want
	jq -S '.[] | select(.optimise == "Performance") | { inference_npu_cycles,
		inference_cpu_cycles, inference_seconds, inference_seconds_low,
		inference_seconds_high }' rows | diff - want
	jq -e '.[0] | .ms / 1e3 - .inference_seconds | fabs < 1e-6' rows
}

@test "a limit's row is what compiling with it gives, without compiling" {
	npu-sweep "${memory[@]}" -a ethos-u55-128 --limits=50 --dry-run "$model" >commands
	[ "$(wc -l <commands)" = 3 ]
	npu-sweep "${memory[@]}" -a ethos-u55-128 --limits=5 "$model" >table
	local limit sram cycles rows=0
	while read -r limit sram cycles; do
		npucc -a ethos-u55-128 "${memory[@]}" --arena-cache-size="$limit" \
			-o npu.tflite "$model"
		npu-perf "${memory[@]}" --json npu.tflite |
			jq -r '[.sram_bytes, .calibrated_cycles] | @tsv' >have
		printf '%s\t%s\n' "$sram" "$cycles" | cmp - have
		rows=$((rows + 1))
	done < <(awk -F'\t' '$3 ~ /^[0-9]/ { print $3, $4, $6 }' table)
	[ $rows -ge 5 ]
	# no plan is in two rows, and limits are numbers in order
	[ -z "$(sed 1d table | cut -f4,6 | uniq -d)" ]
	awk -F'\t' '$3 ~ /^[0-9]/ { print $3 }' table | sort -nc
}

@test "table, front, page and pick have the same plans, those of npucc --front" {
	npucc --part=alif-e8-hp --front "$model" 2>/dev/null | awk -F'\t' 'NR > 1 && (NR == 2 || $2 < least) {
		least = $2
		printf "%s\t%s\t%.0f\n", $1, $5 + $6, $2
	}' >want
	[ "$(wc -l <want)" -ge 4 ]
	npu-sweep --part=alif-e8-hp --results=r --front "$model" >front
	# but for the plan without a limit, which may be another one of as many bytes
	awk -F'\t' 'NR > 1 && $3 == "-" { print $4 }' front >free
	sed 1d front | cut -f4,6 | grep -vwFf free | sort -n >have
	diff have <(cut -f1,3 want | grep -vwFf free | sort -n)
	[ "$(wc -l <free)" -le 1 ] && [ -s have ]
	# the streams of a limit are those that npu-sched estimates
	awk -F'\t' -v OFS='\t' 'NR > 1 && $3 != "-" { print $4, $5, $6 }' front >limits
	[ "$(cut -f2 limits | cut -c1 | sort -u)" = "~" ] && sed -i 's/~//' limits
	[ -s limits ] && [ -z "$(grep -vxFf want limits)" ]
	npu-sweep --part=alif-e8-hp --results=r -o page.html "$model"
	# each plan is in the picture and in the rows
	while read -r sram _ cycles; do
		grep -qF -- "--arena-cache-size=$sram)" page.html
		grep -qF "<td>$sram</td>" page.html && grep -qF "<td>$cycles</td>" page.html
	done <want
	# the table is a part of it, with the plan of --pick
	npu-sweep --part=alif-e8-hp --results=r "$model" >table
	[ -z "$(awk -F'\t' '$8 == "*"' table | grep -vxFf front)" ]
	local limit
	limit=$(npu-sweep --part=alif-e8-hp --results=r --pick "$model" | grep -oP '(?<=--arena-cache-size=)\d+')
	awk -F'\t' -v l="$limit" '$4 == l && $8 == "*" { found = 1 } END { exit !found }' table
}

@test "a part that a model does not fit has no plans, and status 1" {
	local tests=${NPUTOOLS_TESTBIN:-$TOP/build/tests} line=(--results=r big.tflite)
	# arena and constants are in one memory of 256 KiB
	"$tests/chain-model" conv 8 8 64 >big.tflite
	[ "$(stat -c %s big.tflite)" -gt 262144 ]
	status=0
	npu-sweep --part=alif-e8-he-tcm --part=alif-e8-he "${line[@]}" >table 2>err || status=$?
	[ $status = 1 ]
	[ "$(cut -f2 table | sort -u | grep -c alif)" = 2 ]
	[ "$(grep -c refused table)" = 1 ]
	grep -P '^big\talif-e8-he-tcm\t.*\trefused\ttfl2c: big.tflite: .* are missing; ' table
	grep -qE '^npu-sweep: error: 2 of 6 jobs were refused; the first: tfl2c: big.tflite: ' err
	npu-sweep --part=alif-e8-he-tcm --pick "${line[@]}" 2>err >sentence || [ $? = 1 ]
	# the reason alone, without a program and an option that is another program's
	grep -qE '^big, alif-e8-he-tcm, ethos-u55-128: does not fit: tensor arena .* has 262144: .* are missing; parts with an ethos-u55-128 where it fits: [^;]*$' sentence
	[ -z "$(grep 'take --arena-cache-size' sentence)" ]
	npu-sweep --part=alif-e8-he-tcm --part=alif-e8-he --html "${line[@]}" 2>err >page.html || [ $? = 1 ]
	grep -qE 'colspan="7">does not fit: tensor arena .* where it fits: [^;]*</td>' page.html
	grep -q '<tr class="take">' page.html
	# without one plan there is no page, and an older one stays
	echo older >page.html
	status=0
	npu-sweep --part=alif-e8-he-tcm --html -o page.html "${line[@]}" 2>err || status=$?
	[ $status = 1 ] && grep -q 'error: .* were refused; the first: tfl2c: big.tflite: ' err
	[ "$(cat page.html)" = older ]
	npu-sweep --part=alif-e8-he-tcm --html -o none.html "${line[@]}" 2>err || status=$?
	[ $status = 1 ] && [ ! -e none.html ]
}

@test "chips of several clocks are compared in ms, and equal chips share a curve" {
	npu-sweep --part=alif-e8-he,alif-e7-he,alif-e8-hp --results=r -o page.html "$model"
	grep -q '<th>SRAM</th><th>time</th>' page.html
	grep -qE '<text class="up"[^>]*>[0-9.]+ (µs|ms)<' page.html
	[ "$(grep -c '<details>' page.html)" = 2 ]
	# in bold: the plan to take
	[ "$(grep -c '<tr class="take">' page.html)" = 2 ]
	# once for each target, with the limit of its sentence, also if several goals give the plan
	local tests=${NPUTOOLS_TESTBIN:-$TOP/build/tests} take cycles
	"$tests/chain-model" conv 4 8 8 >small.tflite
	npu-sweep --part=nxp-imx93 --html small.tflite >one.html
	[ "$(grep -c 'ok: take this plan' one.html)" = 1 ]
	read -r take cycles < <(sed -n 's/.*take --arena-cache-size=\([0-9]*\) .* and \([0-9]*\) cycles.*/\1 \2/p' one.html)
	grep -q "^<tr class=\"take\"><td class=\"name\">[^<]*</td><td>$take</td><td>$take</td><td>[0-9]*</td><td>$cycles</td>" one.html
	# the sentences are in the order of the options, equal parts once; then the best targets
	npu-sweep --part=alif-e8-he,alif-e7-he,alif-e8-hp,nxp-imx93 --results=r --pick "$model" >picks
	[ "$(cut -d: -f1 picks)" = "digits, alif-e8-he, alif-e7-he, ethos-u55-128
digits, alif-e8-hp, ethos-u55-256
digits, nxp-imx93, ethos-u65-256
digits" ]
	[ -z "$(grep "100 %" picks)" ]
	sed -n '$p' picks | grep -qE '^digits: fastest: nxp-imx93, ethos-u65-256, 0\.[0-9]+ ms with [0-9]+ bytes of SRAM \(the arena is in DRAM\); least SRAM: alif-e8-h[ep](, alif-e7-he)?, ethos-u55-(128|256), [0-9]+ bytes of SRAM and 0\.[0-9]+ ms$'
	# of equal bytes, the fastest, in whatever order the parts are
	for d in nuvoton-m55m1,renesas-ra8p1 renesas-ra8p1,nuvoton-m55m1; do
		npu-sweep --part=$d --results=r --json "$model" | jq -e 'map(.sram) as $s
			| [.[] | select(.sram == ($s | min))] | length == 2 and .[0].ms != .[1].ms'
		npu-sweep --part=$d --results=r --pick "$model" |
			grep -qE '^digits: .*; least SRAM: renesas-ra8p1, ethos-u55-256, [0-9]+ bytes'
	done
	npu-sweep --part=alif-e7-hp,alif-e7-he --results=r --csv "$model" | cut -d, -f2 | uniq |
		tr '\n' ' ' | grep -qx 'system alif-e7-hp alif-e7-he '
	grep -q '<summary>alif-e8-he, alif-e7-he, ethos-u55-128</summary>' page.html
}

@test "--max-ms and --max-sram choose among the plans within, and list the targets that have one" {
	local sweep=(npu-sweep "--part=alif-e8-he,alif-e8-he-tcm,nxp-imx93" --results=r) least ms sum
	"${sweep[@]}" --json --front "$model" >all.json
	ms=$(jq 'map(select(.system == "alif-e8-he").ms) | sort | .[1]' all.json)
	least=$(jq 'map(select(.system == "alif-e8-he").sram) | sort | .[1]' all.json)
	"${sweep[@]}" --pick --max-ms="$ms" "$model" >picks
	jq -r --arg ms "$ms" '[.[] | select(.ms <= ($ms | tonumber)).system] | unique[]' all.json >want
	sed -n 's/^digits: within [0-9.e-]* ms: \([^;]*\);.*/\1/p' picks | sed 's/, /\n/g' | sort | diff want -
	# the second least bytes: one plan of the front or two
	"${sweep[@]}" --pick --max-sram="$least" "$model" >picks
	grep -qE "^digits, alif-e8-he, .*: take --arena-cache-size=[0-9]+ with [0-9]+ bytes" picks
	[ "$(grep -oP '^digits, alif-e8-he, .*take --arena-cache-size=\K[0-9]+' picks)" -le "$least" ]
	# the model in the same memory counts, too
	sum=$(jq 'map(select(.system == "alif-e8-he-tcm") | .sram + .flash) | min' all.json)
	"${sweep[@]}" --pick --max-sram="$sum" "$model" | grep -q '^digits, alif-e8-he-tcm, .* bytes of SRAM (and about [0-9]* for the model there)'
	"${sweep[@]}" --pick --max-sram=$((sum - 1)) "$model" >picks
	grep -qE "^digits, alif-e8-he-tcm, ethos-u55-128: no plan stays within $((sum - 1)) bytes of SRAM: the smallest takes " picks
	tail -n 1 picks | grep -q "; not: alif-e8-he-tcm; fastest: "
	"${sweep[@]}" --pick --max-ms=1e-6 --max-sram=1K "$model" | tail -n 1 |
		grep -qx 'digits: within 1e-06 ms and 1024 bytes of SRAM: none; not: alif-e8-he, alif-e8-he-tcm, nxp-imx93'
	refuses 2 'npu-sweep: error: --max-ms and --max-sram choose a plan: they need --pick' "${sweep[@]}" --max-ms=1 "$model"
	refuses 2 'npu-sweep: error: --html and --pick exclude each other' "${sweep[@]}" --pick --html -o x "$model"
	# the page has the last line, and the flash of each target
	"${sweep[@]}" --pick "$model" | tail -n 1 >best
	"${sweep[@]}" -o page.html "$model"
	grep -qF "<p>$(<best)</p>" page.html
	grep -q '<th rowspan="2">flash</th>' page.html
	[ "$(grep -c 'flash is in DTCM</span>' page.html)" = 1 ]
}

@test "rows say if the arena is not in SRAM, whose bytes then do not compare" {
	local arena="(the arena is in DRAM)"
	npu-sweep --part=alif-e8-he,nxp-imx93 --limits=1 --results=r "$model" >table
	cut -f2,11 table | sort -u | diff - <(printf '%s\t%s\n' alif-e8-he SRAM0 nxp-imx93 DRAM \
		system arena_memory)
	# as for the same memory system without the part
	npu-sweep --system-config=Ethos_U65_High_End --memory-mode=Dedicated_Sram -a ethos-u65-256 \
		--limits=0 --json "$model" | jq -e 'all(.arena_memory == "DRAM")'
	# the column is not in a table of arenas in SRAM, but in CSV
	npu-sweep --part=alif-e8-he,alif-e8-he-tcm --limits=1 --results=r "$model" >table
	head -1 table | grep -q 'front$'
	npu-sweep --part=alif-e8-he,alif-e8-he-tcm --limits=1 --results=r --csv "$model" |
		cut -d, -f2,11 | sort -u | diff - <(printf '%s,%s\n' alif-e8-he SRAM0 alif-e8-he-tcm DTCM \
			system arena_memory)
	# in sentences and pages
	npu-sweep --part=alif-e8-he,nxp-imx93 --limits=1 --results=r --pick "$model" >picks
	grep '^digits, nxp-imx93, ' picks | grep -qF " bytes of SRAM $arena and "
	grep -qF " bytes of SRAM $arena; least SRAM: alif-e8-he," picks
	[ "$(grep -oF "$arena" picks | wc -l)" = 2 ]
	npu-sweep --part=alif-e8-he,nxp-imx93 --limits=1 --results=r --html "$model" >page
	[ "$(grep -c 'arena in DRAM</span></td>' page)" = 1 ]
	grep 'arena in DRAM</span></td>' page | grep -q '<span>nxp-imx93</span>'
}

@test "marked rows are not beaten, others are" {
	npu-sweep "${memory[@]}" -a ethos-u55-128 --limits=3 --results=r "$model" >table
	npu-sweep "${memory[@]}" -a ethos-u55-128 --limits=3 --results=r --front -j1 "$model" >front
	# by a row of the table, or by a plan that only the front has
	awk -F'\t' 'FNR > 1 { s[++n] = $4; c[n] = $6; f[n] = $8 }
	END {
		for (i = 1; i <= n; i++) {
			beaten = 0
			for (j = 1; j <= n; j++)
				if (s[j] <= s[i] && c[j] <= c[i] && (s[j] < s[i] || c[j] < c[i]))
					beaten = 1
			if (beaten == (f[i] == "*"))
				exit 1
		}
	}' table front
	[ "$(grep -c '\*$' table)" -ge 4 ]
	[ -z "$(grep '\*$' table | grep -vxFf front)" ]
	[ -z "$(sed 1d front | grep -v '\*$')" ]
}

@test "several models, accelerators and systems in one table" {
	cp "$model" a.tflite
	cp "$model" b.tflite
	npu-sweep --memory-mode=Shared_Sram --limits=1 -a ethos-u55-64,ethos-u55-128 \
		--any-accelerator \
		--system-config=Ethos_U55_High_End_Embedded,M55M1_Flash --results=r \
		a.tflite b.tflite >table
	[ "$(head -1 table)" = "$(printf '%s\t' model system accelerator optimise \
		limit sram flash cycles ms)front" ]
	# two ends of each, and what lies between
	[ "$(cut -f1-5 table | grep -cP '\t(Size|Performance)\t-$')" = 16 ]
	[ "$(cut -f1-3 table | sed 1d | sort -u | wc -l)" = 8 ]
	# a part of it is a sweep of its own
	npu-sweep "${memory[@]}" --limits=1 -a ethos-u55-64 a.tflite >one
	grep -P '^a\tEthos_U55_High_End_Embedded\tethos-u55-64\t' table | cut -f3- |
		diff <(sed 1d one) -
	# as JSON, the same
	npu-sweep --memory-mode=Shared_Sram --limits=1 -a ethos-u55-64,ethos-u55-128 \
		--any-accelerator \
		--system-config=Ethos_U55_High_End_Embedded,M55M1_Flash --results=r --json \
		a.tflite b.tflite >json
	jq -r '.[] | [.model, .system, .accelerator, .optimise, .limit // "-", .sram,
		(if .flash_is_rough then "~\(.flash)" else .flash // "-" end), .cycles] | @tsv' json | diff <(sed 1d table | cut -f1-8) -
	jq -r '.[] | if .front then "*" else "-" end' json |
		diff <(sed 1d table | cut -f10) -
}

@test "flash is marked where it is an estimate, and equal plans have the same mark of the front" {
	npu-sweep --part=himax-we2 --results=r "$model" >table
	npu-sweep --part=himax-we2 --results=r --csv "$model" >csv
	[ "$(awk -F'\t' 'NR > 1 { print $3 == "-", $5 ~ /^~/ }' table | sort -u)" = "$(printf '0 1\n1 0')" ]
	[ "$(head -1 csv | cut -d, -f14)" = flash_is_rough ]
	[ "$(awk -F, 'NR > 1 { print $5 == "", $14 }' csv | sort -u)" = "$(printf '0 true\n1 false')" ]
	[ -z "$(grep '~' csv)" ]
	npu-sweep --part=himax-we2 --results=r --html "$model" | grep -q '<td>~[0-9]*</td>'
	# the plan of Performance is that of Size
	"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model" conv 1 >one.tflite
	npu-sweep --part=himax-we2 one.tflite >equal
	[ "$(grep -cP '\t(Performance|Size)\t-\t.*\t\*$' equal)" = 2 ] || { cat equal; false; }
}

@test "results stay, and a sweep goes on where it stopped" {
	npu-sweep "${memory[@]}" -a ethos-u55-64 --limits=2 "$model" >want
	npu-sweep "${memory[@]}" -a ethos-u55-64 --limits=2 --results=r "$model" |
		cmp want -
	# one is missing: it is the one command that is left, and what it makes
	# completes the table without any compiling
	one=$(grep -rl '"goal": "Front"' r)
	rm "$one"
	npu-sweep "${memory[@]}" -a ethos-u55-64 --limits=2 --results=r --dry-run \
		"$model" >commands
	[ "$(wc -l <commands)" = 1 ]
	sh commands
	[ -s "$one" ]
	npu-sweep "${memory[@]}" -a ethos-u55-64 --limits=2 --results=r --dry-run \
		"$model" >commands
	[ ! -s commands ]
	touch -d '2000-01-01' r/*/*
	npu-sweep "${memory[@]}" -a ethos-u55-64 --limits=2 --results=r "$model" |
		cmp want -
	[ -z "$(find r -newermt 2001-01-01 -type f)" ]
	# another model of the same name is another model
	cp "$model" digits.tflite
	printf 'x' >>digits.tflite
	npu-sweep "${memory[@]}" -a ethos-u55-64 --limits=0 --results=r --dry-run \
		digits.tflite >commands
	[ "$(wc -l <commands)" = 2 ]
}

@test "a dry run's commands do what the sweep would, elsewhere" {
	npu-sweep "${memory[@]}" -a ethos-u55-64,ethos-u55-128 --dry-run "$model" \
		>commands
	[ "$(wc -l <commands)" = 6 ]
	[ ! -e npu-sweep.results ]
	sh commands
	npu-sweep "${memory[@]}" -a ethos-u55-64,ethos-u55-128 --dry-run \
		--results=npu-sweep.results "$model" >commands
	[ ! -s commands ]
	npu-sweep "${memory[@]}" -a ethos-u55-64,ethos-u55-128 \
		--results=npu-sweep.results "$model" >have
	npu-sweep "${memory[@]}" -a ethos-u55-64,ethos-u55-128 "$model" | cmp - have
}

@test "a command of a dry run is one line, whatever the model's name" {
	local name=$'a\tb\nc $d'
	cp "$model" "$name"
	npu-sweep "${memory[@]}" -a ethos-u55-64 --limits=0 --results=r --dry-run \
		"$name" >commands
	[ "$(wc -l <commands)" = 2 ]
	bash commands
	npu-sweep "${memory[@]}" -a ethos-u55-64 --limits=0 --results=r --dry-run \
		"$name" >commands
	[ ! -s commands ]
}

@test "trouble: no model, no memory system, no such accelerator" {
	refuses 2 "no model; name at least one" npu-sweep "${memory[@]}"
	refuses 2 "--part or --system-config is required" npu-sweep -a ethos-u55-64 "$model"
	grep -q -- 'npucc --list-parts lists them' refuses.err
	refuses 2 "there is no accelerator 'ethos-u99'" \
		npu-sweep "${memory[@]}" -a ethos-u99 "$model"
	refuses 2 "--limits takes a whole number" \
		npu-sweep "${memory[@]}" --limits=x "$model"
	refuses 2 "--run-jobs needs numbers from 1 to 3, or all, not an empty list" \
		npu-sweep "${memory[@]}" -a ethos-u55-64 --results=r --run-jobs= "$model"
	refuses 2 "unrecognized option" npu-sweep --no-such-option
	npu-sweep --help | grep -q '^Usage: npu-sweep'
}

@test "a profile of another accelerator is refused in the words of npucc" {
	local a=ethos-u55-256 s=Himax_WiseEye2 words
	words="error: system configuration $s is made for ethos-u55-64, not for $a; use --any-accelerator to accept it"
	refuses 2 "npu-sched: $words" \
		npucc -a $a --system-config=$s --memory-mode=Shared_Sram -o x.tflite "$model"
	refuses 2 "npu-sweep: $words" \
		npu-sweep -a $a --system-config=$s --memory-mode=Shared_Sram "$model"
	refuses 2 "npu-sweep: $words" \
		npu-sweep -a ethos-u55-64,$a --system-config=$s --memory-mode=Shared_Sram "$model"
	npu-sweep -a $a --any-accelerator --system-config=$s --memory-mode=Shared_Sram --limits=0 \
		"$model" >table
	[ "$(sed 1d table | cut -f1 | sort -u)" = $a ]
	# without a name, the accelerators of Ethos-U55 that the profile is made for
	npu-sweep --system-config=$s --memory-mode=Shared_Sram --limits=0 "$model" >table
	[ "$(sed 1d table | cut -f1 | sort -u)" = ethos-u55-64 ]
	npu-sweep "${memory[@]}" --limits=0 "$model" >table
	[ "$(sed 1d table | cut -f1 | sort -u | wc -l)" = 4 ]
}

@test "--part compiles for chips, each with its memories" {
	npu-sweep --part=alif-e7-he,nxp-imx93 --limits=1 --json --results=r "$model" >rows
	jq -r '.[] | select(.optimise == "Performance" and .limit == null) |
		[.system, .accelerator] | @tsv' rows |
		diff - <(printf '%s\t%s\n' alif-e7-he ethos-u55-128 nxp-imx93 ethos-u65-256)
	for part in alif-e7-he nxp-imx93; do
		npucc --part=$part --optimise=Performance -o npu.tflite "$model" 2>/dev/null
		npu-perf --part=$part --json npu.tflite |
			jq '[.sram_bytes, .flash_bytes + .stream_bytes, .calibrated_cycles,
				.inference_cpu_cycles]' >want
		jq --arg p $part '.[] | select(.system == $p and .optimise == "Performance" and .limit == null) |
			[.sram, .flash, .cycles, .inference_cpu_cycles]' rows | diff - want
	done
	# the commands of a dry run, and a plan, compute the same
	npu-sweep --part=alif-e7-he --limits=1 --dry-run --results=s "$model" >commands
	grep -q -- '--part=alif-e7-he' commands
	bash commands
	npu-sweep --part=alif-e7-he --limits=1 --merge --json --results=s "$model" >merged
	jq '[.[] | select(.system == "alif-e7-he")]' rows | diff - <(jq . merged)
	npu-sweep --part=nxp-imx93 --limits=1 --emit=jsonl "$model" >plan
	npu-sweep --plan=plan --limits=1 --json >planned
	jq '[.[] | select(.system == "nxp-imx93")]' rows | diff - <(jq . planned)
	# rows are in the order of the options
	npu-sweep --part=nxp-imx93 --part=alif-e7-he --limits=1 --json --results=r "$model" >other
	jq '[.[] | select(.system == "alif-e7-he")] + [.[] | select(.system == "nxp-imx93")]' other |
		diff - <(jq . rows)
	jq -e '.[0].system == "nxp-imx93"' other
	refuses 2 "there is no part 'alif-e7'" npu-sweep --part=alif-e7 "$model"
	refuses 2 "--part excludes --accelerator-config" npu-sweep --part=all -a ethos-u55-64 "$model"
}

@test "--part=all has every chip, and the page has one picture with all fronts" {
	npu-sweep --part=all --limits=0 --dry-run --results=x "$model" >commands
	npu-sched --list-parts | grep -v '(reference platform)$' | sed '1d; s/ .*//' | sort >parts
	grep -oP '(?<=--part=)[^ ]+' commands | sort -u | diff - parts
	# a reference platform is no chip to choose, unless it is named
	[ "$(npu-sched --list-parts | grep -c '(reference platform)$')" = "$(grep -c '^PART("corstone' "$TOP/schema/part.def")" ]
	npu-sweep --part=all --part=corstone-320 --limits=0 --dry-run --results=x "$model" |
		grep -oP '(?<=--part=)[^ ]+' | sort -u | comm -13 parts - | grep -qx corstone-320
	# a model that does not fit a part is a row with the reason
	"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model" block 2 >small.tflite
	npu-sweep --part=all --results=r --html -o page.html small.tflite
	# one picture, and one for a telephone
	[ "$(grep -c '<svg' page.html)" = 2 ]
	[ "$(grep -c 'class="curve' page.html)" = $((2 * $(grep -c '<details>' page.html))) ]
	while read -r part; do
		grep -qE "<td class=\"name\"><a href=\"#t[0-9]*\">.*</i>.*<span>$part,?</span>.*</a>" page.html
	done <parts
	# each entry of the index and each curve leads to the rows of its target
	grep -oP 'href="#\Kt[0-9]+' page.html | sort | uniq -c | awk '$1 != 3 { exit 1 }'
	[ "$(grep -oP 'href="#\Kt[0-9]+' page.html | sort -u)" = "$(grep -oP '<p id="\K[^"]*' page.html | sort)" ]
	[ "$(wc -c <page.html)" -lt $((7500 * $(wc -l <parts))) ]
	# the axes of a short curve have marks, too, in both pictures
	npu-sweep --part=alif-e7-hp --results=r --html -o one.html small.tflite
	for end in across up; do
		[ "$(grep -c "class=\"$end\"" one.html)" -ge 6 ]
	done
	# in a browser, each link and each heading unfolds the rows of one target
	command -v node >/dev/null || skip "no node for the other half"
	browser=$(command -v chromium || command -v chromium-browser) || skip "no chromium"
	HOME=$PWD timeout 120 node "$TOP/tests/lib/sweep-page.js" "$browser" page.html 400 900 1600
}
