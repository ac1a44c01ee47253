# SPDX-License-Identifier: Apache-2.0
# The Pareto front of SRAM and cycles, and the plans that options select from it.

bats_require_minimum_version 1.5.0
load lib/common
load lib/model

one_sram=(--system-config Ethos_U55_High_End_Embedded --memory-mode Shared_Sram)
dedicated=(--system-config Ethos_U65_High_End --memory-mode Dedicated_Sram)
chain=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model

# a generated network in m.part
make_part()
{
	[ -x "$chain" ] || skip "no $chain"
	"$chain" "$@" >chain.tflite
	tfl-partition -o m.part chain.tflite 2>notes
}

# sched OPTION...: schedules to m.sched; prints "BYTES CYCLES" of the limited memory, by the
# objective
sched()
{
	npu-sched "$@" -o m.sched m.part 2>notes || return
	awk '$1 == "target" { for (i = 2; i <= NF; i++) if ($i ~ /^objective=/)
			cycles = substr($i, 11) }
		$1 == "area" && ($2 == "cache" || !bytes) { for (i = 3; i <= NF; i++)
			if ($i ~ /^used=/) bytes = substr($i, 6) }
		END { print bytes, cycles }' m.sched
}

# rows OPTION...: "BYTES CYCLES" of each row of the front, by the objective
rows()
{
	npu-sched "$@" --front -o front.tsv m.part 2>notes
	[ "$(head -1 front.tsv)" = $'sram\tcycles\tobjective\tchange\tflash\tstreams\tdram' ]
	tail -n +2 front.tsv | cut -f1,3 | tr '\t' ' '
}

# holds OPTION...: each row is the plan for its limit, a lower limit costs cycles, and rows
# are in order
holds()
{
	local bytes cycles last='' used time
	rows "$@" >rows
	[ "$(wc -l <rows)" -ge 3 ]
	while read -r bytes cycles; do
		[ -z "$last" ] || awk "BEGIN { exit !($cycles < $last) }"
		last=$cycles
		read -r used time < <(sched "$@" --arena-cache-size="$bytes")
		echo "row $bytes $cycles, its limit gives $used $time"
		[ "$used" -le "$bytes" ] || [ "$bytes" = 16 ]
		[ "$used $time" = "$bytes $cycles" ] || [ "$bytes $time" = "16 $cycles" ]
	done <rows
	# below the first row there is no plan; with an SRAM of the NPU's own, all feature maps may
	# be spilled
	[ "$(head -1 rows | cut -d' ' -f1)" -gt 16 ] || return 0
	run -1 npu-sched "$@" --arena-cache-size=$(($(head -1 rows | cut -d' ' -f1) - 16)) \
		-o none.sched m.part
	[[ $output == *"the smallest that works is $(head -1 rows | cut -d' ' -f1)"* ]]
}

@test "each row of the front is the plan for its limit" {
	make_part block 6
	holds -a ethos-u55-128 "${one_sram[@]}"
	make_part conv 6
	holds -a ethos-u55-256 "${one_sram[@]}"
	make_part block 4
	holds -a ethos-u65-256 "${dedicated[@]}"
}

# take_system ACCELERATOR: sets `system` to the accelerator's memory system
take_system()
{
	case $1 in
	*u55*) system=("${one_sram[@]}") ;;
	*u65*) system=("${dedicated[@]}") ;;
	*) system=(--system-config "$(sized "$1")" --memory-mode Dedicated_Sram) ;;
	esac
}

# is_row BYTES CYCLES HAS_BYTES HAS_CYCLES: npu-perf prints whole cycles, and the front
# thousandths; they differ by at most half a cycle and half a thousandth.  The smallest
# possible limit, 16, also selects a row without bytes.
is_row()
{
	awk -v a="$1" -v b="$2" -v c="$3" -v d="$4" 'BEGIN {
		exit !((a == c || (a == 16 && c == 0)) && b - d <= 0.5005 && d - b <= 0.5005) }'
}

# exact MODEL ACCELERATOR [ROWS]: compiles so many rows of the front, or all; npu-perf
# reports the row's bytes, and its cycles in whole numbers
exact()
{
	local bytes cycles have system=()
	take_system "$2"
	tfl-partition -a "$2" -o m.part "$1" 2>notes
	rows -a "$2" "${system[@]}" >rows
	tail -n +2 front.tsv | cut -f1,2 | tr '\t' ' ' >rows
	while read -r bytes cycles; do
		npu-sched -a "$2" "${system[@]}" --arena-cache-size="$bytes" m.part 2>notes |
			npu-wenc | npu-cmdgen -o c.tflite
		npu-perf "${system[@]}" --json c.tflite >perf.json 2>notes
		have="$(sed -n 's/^"sram_bytes": \([0-9]*\),.*/\1/p' perf.json) $(cycles_of \
			calibrated_cycles <perf.json)"
		echo "$1 $2: row $bytes $cycles, compiled $have"
		is_row "$bytes" "$cycles" $have
	done < <(awk -v n="${3-}" '{ row[NR] = $0 } END { step = n ? int((NR - 1) / n) : 0
		for (i = NR; i > 0; i -= step + 1) print row[i] }' rows)
}

@test "npu-perf gives the cycles of a row" {
	make_part conv 6
	exact chain.tflite ethos-u55-128
	exact "$TOP/tests/models/digits.tflite" ethos-u65-256 3
	exact "$TOP/tests/models/digits.tflite" ethos-u85-512 2
	# a constant that is copied first; chains of operations in other extents; a table of
	# words; drawn by seed
	local seed turned
	# a transposed feature map of 16 bits, by a pool that uses the multiplier
	turned="-g 30003 5.0=1 4.0=1 3.0=1 1.0=1 0.1=1 2.4=0 2.5=0 2.6=2 2.7=5 0.2=0"
	for seed in 10 30 "-g 6" "$turned"; do
		# shellcheck disable=SC2086
		"${chain%/*}/gen-model" $seed >drawn.tflite
		exact drawn.tflite ethos-u85-256 2
		exact drawn.tflite ethos-u85-2048 1
	done
}

# copies whose last bytes are fewer than 16, transfers that wait for transfers, tables
@test "npu-perf gives the cycles of a row for networks" {
	local m a all=(ethos-u55-{32,128,256} ethos-u65-{256,512}
		ethos-u85-{128,512,1024,2048})
	exact "$(network kws_ref_model)" ethos-u85-128 2
	exact "$(network kws_ref_model)" ethos-u65-512 1
	exact "$(network trained_lstm_int8)" ethos-u85-1024 1
	[ -n "$SHARED" ] || return 0
	exact "$SHARED/models-real/wakeword_vad.tflite" ethos-u85-128 2
	[ -n "${NPUTOOLS_ALL-}" ] || return 0
	# models whose fronts do not take minutes
	for m in "$SHARED"/models/*.tflite "$SHARED"/models-real/*.tflite; do
		[ "$(stat -c %s "$m")" -lt 400000 ] || continue
		for a in "${all[@]}"; do
			exact "$m" "$a" 2
		done
	done
}

@test "a limit below the bytes of a plan costs cycles" {
	local bytes cycles less time
	make_part block 6
	for limit in 1M 40K 20K; do
		read -r bytes cycles < <(sched -a ethos-u55-128 "${one_sram[@]}" \
			--arena-cache-size=$limit)
		read -r less time < <(sched -a ethos-u55-128 "${one_sram[@]}" \
			--arena-cache-size=$((bytes - 16))) || continue
		awk "BEGIN { exit !($time > $cycles) }"
		[ "$less" -lt "$bytes" ]
	done
}

# no_faster GOAL ACCELERATOR OPTION...: the goal's plan is no faster than the plan without
# it, and no slower than the plan for a limit of its bytes
no_faster()
{
	local bytes cycles fast time
	read -r bytes cycles < <(sched -a "${@:2}" --optimise="$1")
	read -r _ fast < <(sched -a "${@:2}" --within=0)
	read -r _ time < <(sched -a "${@:2}" --arena-cache-size="$bytes")
	echo "$1: $bytes bytes, $cycles cycles; within them $time, fastest $fast"
	awk "BEGIN { exit !($fast <= $cycles && $time <= $cycles) }"
}

@test "Size and Balanced are no faster than Performance, and no slower than the plans for their bytes" {
	local kind goal
	for kind in block conv fan; do
		make_part $kind 5
		for goal in Size Balanced; do
			no_faster $goal ethos-u55-64 "${one_sram[@]}"
		done
	done
	make_part block 4
	for goal in Size Balanced; do
		no_faster $goal ethos-u65-256 "${dedicated[@]}"
	done
}

@test "--max-cycles selects the smallest memory that is fast enough, or names the fastest plan" {
	local bytes cycles
	make_part conv 6
	rows -a ethos-u55-128 "${one_sram[@]}" >rows
	while read -r bytes cycles; do
		most=$(awk "BEGIN { print int($cycles) + 1 }")
		[ "$(sched -a ethos-u55-128 "${one_sram[@]}" --max-cycles="$most" |
			cut -d' ' -f1)" = "$bytes" ]
	done < <(sed -n '2p;4p' rows)
	run -1 npu-sched -a ethos-u55-128 "${one_sram[@]}" --max-cycles=100 m.part
	[[ $output =~ "no plan stays within 100 cycles; the fastest plan takes "([0-9]+)" cycles by the mean of both estimates, and "([0-9]+)" by the calibrated one, which is printed: --model=calibrated counts that one"$ ]]
	# the mean is enough, and the other number is the one of the curve
	mean=${BASH_REMATCH[1]} printed=${BASH_REMATCH[2]}
	sched -a ethos-u55-128 "${one_sram[@]}" --max-cycles="$mean"
	npu-sched -a ethos-u55-128 "${one_sram[@]}" --front --json m.part |
		jq -e --argjson cycles "$printed" '.front[-1].cycles | ceil == $cycles'
	run -1 npu-sched -a ethos-u55-128 "${one_sram[@]}" --max-cycles=100 --model=timeline m.part
	[[ $output == *" cycles by Arm's published formulas" ]]
	run -1 npu-sched -a ethos-u55-128 "${one_sram[@]}" --max-cycles=100 --model=calibrated m.part
	[[ $output == *" cycles by the calibrated estimate" ]]
}

@test "--front and --explain can be JSON" {
	make_part block 4
	npu-sched -a ethos-u55-128 "${one_sram[@]}" --front --json m.part >f.json 2>notes
	jq -e '.front | length > 1 and all(.[]; .sram > 0 and .cycles > 0 and .objective > 0 and
		.flash > 0 and .streams > 0 and .dram == 0 and (.change | length > 0))' f.json
	npu-sched -a ethos-u55-128 "${one_sram[@]}" --explain --json --arena-cache-size=20K \
		m.part >e.json 2>notes
	jq -e '.peak.bytes <= 20480 and (.peak.live | length > 0) and
		(. as $e | .peak.live | all(.[]; .at + .bytes <= $e.peak.bytes)) and
		(.operations | length > 3 and all(.[]; .why | length > 0))' e.json
	npu-sched -a ethos-u55-128 "${one_sram[@]}" --explain m.part >e.txt 2>notes
	grep -q '^peak: [0-9]* bytes' e.txt
	# transfers and operations have names, the most expensive ones first
	npu-sched --part=nxp-imx93 --explain --json m.part >e.json 2>notes
	jq -e '[.operations[].name] as $names | (.transfers | length > 1) and
		all(.transfers[]; .name as $n | .not_hidden <= .cycles and any($names[]; . == $n)) and
		([.transfers[].not_hidden] | . == (sort | reverse)) and
		([.operations[].cycles] | . == (sort | reverse) and .[0] > 0)' e.json
	npu-sched --part=nxp-imx93 --explain m.part >e.txt 2>notes
	# the waiting is that of npu-perf
	npu-sched --part=nxp-imx93 m.part 2>notes | npu-wenc | npu-perf --json >p.json
	jq -r '[.operations[] | select(.kind != "dma") | .stall_cycles - .start_cycles | select(. > 0)] | add | round' p.json >want
	sed -n 's/^waiting for transfers: \([0-9]*\) of .*/\1/p' e.txt | diff - want
	# operators of one name have their numbers
	model equal "$t[3].name = \"\" | $t += [$t[3]] | .subgraphs[0] |= (.outputs = [3, 4] |
		.operators |= [.[0], (.[0] | .outputs = [4])])"
	npucc -q --part=alif-e7-he --explain -o e.txt equal.tflite
	sed -n '/^operations/,$s/^  [0-9]* cycles, [0-9.]* %: o[0-9]* [a-z]* \(.*\): block.*/\1/p' e.txt | sort |
		diff - <(printf '%s\n' 'FULLY_CONNECTED, operator 0' 'FULLY_CONNECTED, operator 1')
	"${chain%/*}/gen-model" -g 8 >g.tflite
	tfl-partition -o g.part g.tflite 2>notes
	npu-sched -a ethos-u55-128 "${one_sram[@]}" --model=calibrated --explain g.part >e.txt 2>notes
	grep -q 'block 1x6x64: at most 1 % slower than 5x6x16 with [1-9]' e.txt
	run ! grep -E 'are encoded|: 0 cycles' e.txt
}

@test "--explain says that a block is for weights read in place, and that waits are left out" {
	npucc -q --part=himax-we2 --explain -o e.txt "$TOP/tests/models/digits.tflite"
	grep -qx 'operations without waits, the longest first:' e.txt
	grep -qE '^  [0-9]+ cycles, .*: o[0-9]+ conv .*: for weights read in place, the fastest of [0-9]+ that fit: ' e.txt
	# all weights of another part are fetched, and operations without weights have no such words
	grep -E ': o[0-9]+ (add|avgpool|lut) ' e.txt | grep 'read in place' && return 1
	npucc -q --part=corstone-300 --explain -o e.txt "$TOP/tests/models/digits.tflite"
	! grep 'read in place' e.txt || return 1
}

@test "--explain says what a transfer moves, what a step counts, and which kernels a rewrite made" {
	local digits=$TOP/tests/models/digits.tflite
	npucc -q --part=nxp-imx93 --explain -o e.txt "$digits"
	grep -q '^peak: .*; steps count kernels in their order, two for each$' e.txt
	grep -q '^ *[0-9]* bytes at 0x[0-9a-f]* *live in steps [0-9]* to [0-9]*  ' e.txt
	grep -q '; a transfer of no cycles would save:$' e.txt
	grep -q "cycles: 784 bytes of the network's input for stem$" e.txt
	grep -q "cycles: 10 bytes of the network's output of digit$" e.txt
	grep -q 'bytes of weights of stem$' e.txt
	# a table that no step of the graph loads: the stream does, for the kernel behind it
	grep -q 'bytes of a lookup table of digit$' e.txt
	run ! grep -F '?' e.txt
	npucc -q --part=nxp-imx93 --explain --json -o e.json "$digits"
	jq -r '[.transfers[].what] | unique | join(" ")' e.json | grep -x 'input output table weights'
	jq -e '[.transfers[] | select(.what == "table") | .name] == ["digit"]' e.json
	# all kernels of the softmax but its copy, and no others
	[ "$(grep -c ' (made by the rewrite newton): ' e.txt)" -gt 10 ]
	run ! grep 'copy.*made by' e.txt
	[ "$(grep -c ' digit (made' e.txt)" = "$(grep -c 'made by' e.txt)" ]
	# without the rewrite there is one kernel, or the operator of the CPU
	npucc -q --part=nxp-imx93 --no-rewrite=newton --explain -o e.txt "$digits"
	run ! grep newton e.txt
}

@test "--explain: a plan beside the front has its way to the front; if cycles contradict, both are told" {
	local digits=$TOP/tests/models/digits.tflite limit
	npucc -q --part=nxp-imx93 --optimise=Size --explain -o e.txt "$digits"
	limit=$(sed -n 's/^next cheaper plan: .*: the plan of this output is not on the front: use --arena-cache-size=//p' e.txt)
	npucc -q --part=nxp-imx93 --optimise=Size -o m.sched "$digits"
	npucc -q --part=nxp-imx93 --arena-cache-size="$limit" -o n.sched "$digits"
	used() { sed -n 's/^area *cache .* used=\([0-9]*\).*/\1/p' "$1"; }
	cost() { sed -n 's/^target .* objective=\([0-9.]*\).*/\1/p' "$1"; }
	[ "$(used n.sched)" -lt "$(used m.sched)" ]
	jq -ne "$(cost n.sched) <= $(cost m.sched)"
	# on the front: no such text
	npucc -q --part=nxp-imx93 --arena-cache-size="$limit" --explain -o e.txt "$digits"
	run ! grep 'not on the front' e.txt
	# cheaper, and fewer cycles as printed
	npucc -q --part=nxp-imx93 --arena-cache-size=784 --explain -o e.txt "$digits"
	grep '^next cheaper plan: [0-9]* bytes, [0-9]* cycles (' e.txt |
		sed 's/.* bytes, \([0-9]*\) cycles (against \([0-9]*\) of .* by the mean of both estimates, which decides: \([0-9]*\) against \([0-9]*\)):.*/\1 \2 \3 \4/' >four
	awk '{ n++; exit !($1 < $2 && $3 > $4) } END { if (!n) exit 1 }' four
	# the next faster one agrees
	grep -q '^next faster plan: [0-9]* bytes, [0-9]* cycles: ' e.txt
}

@test "--dump writes the graph after a pass, and only one report is possible at a time" {
	make_part block 3
	npu-sched -a ethos-u55-128 "${one_sram[@]}" --dump=formats -o f.part m.part 2>notes
	grep -q 'layout=nhcwb16' f.part
	run ! grep -q '^step' f.part
	npu-sched -a ethos-u55-128 "${one_sram[@]}" --dump=apply -o a.sched m.part 2>notes
	grep -q '^step' a.sched
	run -2 npu-sched -a ethos-u55-128 "${one_sram[@]}" --dump=none m.part
	[[ $output == *"there is no pass 'none'"* ]]
	run -2 npu-sched -a ethos-u55-128 "${one_sram[@]}" --front --explain m.part
	run -2 npu-sched -a ethos-u55-128 "${one_sram[@]}" --arena-cache-size=12Q m.part
	[[ $output == *"as 65536, 64K or 1M"* ]]
}

@test "--front and --explain refuse a model's name, and what needs a model" {
	local report name other
	make_part block 3
	cp chain.tflite same.tflite
	for report in --front --explain; do
		for name in same.tflite new.tflite new.tosa; do
			refuses 2 "write a report, no model: name it FILE.txt or FILE.json, not '$name', or leave them out" \
				npucc --part=alif-e7-hp $report -o $name chain.tflite
			refuses 2 "write a report, no model: name it FILE.txt or FILE.json, not '$name', or leave them out" \
				npu-sched --part=alif-e7-hp $report -o $name m.part
		done
		for other in --advice --check --report=x.html; do
			refuses 2 "${other%=*} needs a compiled model, not --front or --explain" \
				npucc --part=alif-e7-hp $other $report -o new.tflite chain.tflite
		done
		npucc -q --part=alif-e7-hp $report -o report.txt chain.tflite
		[ -s report.txt ]
	done
	cmp same.tflite chain.tflite
	[ ! -e new.tflite ] && [ ! -e new.tosa ] && [ ! -e x.html ]
}

@test "npucc passes --front and --max-cycles to npu-sched" {
	make_part block 3
	npucc -a ethos-u55-128 "${one_sram[@]}" --front chain.tflite 2>notes >a.tsv
	npu-sched -a ethos-u55-128 "${one_sram[@]}" --front m.part 2>notes >b.tsv
	cmp a.tsv b.tsv
	npucc -a ethos-u55-128 "${one_sram[@]}" --max-cycles=100000000 -o c.tflite \
		chain.tflite 2>notes
	run -1 npucc -a ethos-u55-128 "${one_sram[@]}" --max-cycles=10 -o d.tflite chain.tflite
	[ ! -e d.tflite ]
}

# smallest OPTION...: the smallest possible limit is that of the plan for any number of
# cycles
smallest()
{
	local bytes
	run -1 npu-sched "$@" --arena-cache-size=16 -o none.sched m.part
	read -r bytes _ < <(sched "$@" --max-cycles=1000000000000)
	echo "$output; $bytes with any number of cycles"
	[[ $output == *"the smallest that works is $bytes" ]]
	read -r bytes _ < <(sched "$@" --arena-cache-size="$bytes")
	[[ $output == *"the smallest that works is $bytes" ]]
}

@test "the smallest plan is found by any number of cycles, or by the smallest limit" {
	local seed
	for seed in 5 12 31; do
		"${chain%/*}/gen-model" $seed UNIDIRECTIONAL_SEQUENCE_LSTM >lstm.tflite
		tfl-partition -o m.part lstm.tflite 2>notes
		smallest -a ethos-u55-128 "${one_sram[@]}"
	done
	make_part block 4
	smallest -a ethos-u55-128 "${one_sram[@]}"
	tfl-partition -o m.part "$TOP/tests/models/digits.tflite" 2>notes
	smallest -a ethos-u55-256 "${one_sram[@]}"
}

# as_fast FRONT LESS: for each row of LESS, FRONT has a row with no more bytes and no more
# cycles
as_fast()
{
	awk 'NR == FNR { sram[NR] = $1; cycles[NR] = $2; n = NR; next }
		{ for (i = 1; i <= n && !(sram[i] <= $1 && cycles[i] <= $2); i++)
			; if (i > n) { print "nothing is as good as", $0; bad = 1 } }
		END { exit bad || !n }' "$1" "$2"
}

# each step of effort takes no more cycles than the step below, at every limit
@test "more effort never costs cycles, at any limit" {
	local a effort less system=()
	"$chain" fan 5 >m.tflite
	tfl-partition -o m.part m.tflite 2>notes
	for a in ethos-u55-128 ethos-u65-256 ethos-u85-256; do
		take_system $a
		less=
		for effort in 3 6 9; do
			rows -a $a "${system[@]}" --effort=$effort >rows.$effort
			echo "$a, effort $effort: $(wc -l <rows.$effort) rows"
			[ -z "$less" ] || as_fast rows.$effort "rows.$less"
			less=$effort
		done
	done
}

# takes_in OPTION...: effort 9 takes no more cycles than effort 1 for m.part; sets `more`
# and `less`
takes_in()
{
	read -r _ less < <(sched "$@" --effort=1)
	read -r _ more < <(sched "$@" --effort=9)
	echo "$less cycles, with more effort $more"
	awk "BEGIN { exit !($more <= $less) }"
}

# models for which the plans of the highest effort alone are slower
@test "more effort includes the plans of less effort" {
	local seed bytes less more
	# graphs with one point more if more is searched
	while read -r seed bytes; do
		"${chain%/*}/gen-model" -g "$seed" | tfl-partition -o m.part 2>notes
		takes_in --arena-cache-size="$bytes" -a ethos-u55-128 "${one_sram[@]}" \
			--model=timeline
		[ "$less" != "$more" ]
	done <<-END
		4 7504
		102 7504
	END
	[ -n "$SHARED" ] || return 0
	# 505329 from the densest points alone, 498488 from fewer points
	tfl-partition -o m.part "$SHARED/models-real/mobilenet_v1_0.25_96.tflite" 2>notes
	takes_in --arena-cache-size=63403 -a ethos-u55-256 --system-config RTSS_HP_SRAM_MRAM \
		--memory-mode Shared_Sram
	# 196642 cycles if all plans are packed with three times the exchanges, 195418 with
	# a third of them
	tfl-partition -o m.part "$SHARED/models/resnet_quant.tflite" 2>notes
	takes_in --arena-cache-size=39097 -a ethos-u55-128 "${one_sram[@]}"
}

@test "a row of --front says the bytes of the constants, and of both memories" {
	need jq
	make_part block 4
	local row target
	for target in "ethos-u55-128 ${one_sram[*]}" \
		"ethos-u65-256 --system-config Ethos_U65_High_End --memory-mode Dedicated_Sram"; do
		# shellcheck disable=SC2086
		npu-sched -a $target --front --json m.part >f.json 2>notes
		for row in 0 -1; do
			# shellcheck disable=SC2086
			npu-sched -a $target --arena-cache-size="$(jq ".front[$row].sram" f.json)" m.part 2>notes |
				npu-wenc | npu-cmdgen >m.tflite
			npu-perf --json --any-accelerator --system-config RTSS_HP_SRAM_MRAM --memory-mode Shared_Sram m.tflite >perf.json
			jq -e --slurpfile p perf.json ".front[$row] | .flash == \$p[0].flash_bytes and
				.streams >= 0.6 * \$p[0].stream_bytes and .streams <= 1.5 * \$p[0].stream_bytes" f.json
		done
	done
	jq -e 'any(.front[]; .dram > 0)' f.json
}

@test "a row says if a named part has the memory; without a part it does not say" {
	wide_model wide
	npucc --part=nxp-imx93 --front --json -o front.json wide.tflite
	jq -e '[.front[].sram] | min < 393216 and max > 393216' front.json
	jq -e 'all(.front[]; .fits == (.sram <= 393216))' front.json
	npucc -q -a ethos-u65-256 --front --json -o front.json wide.tflite
	jq -e 'all(.front[]; has("fits") | not)' front.json
}
