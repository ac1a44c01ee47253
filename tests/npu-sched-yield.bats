# SPDX-License-Identifier: Apache-2.0
# npu-sched --yield-every: streams divided into operators with little time each.

load lib/common
load lib/model
load lib/call

chain=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model
# shellcheck disable=SC2034 # used by name
u55=(-a ethos-u55-128 --system-config=Ethos_U55_High_End_Embedded --memory-mode=Shared_Sram)
# shellcheck disable=SC2034
sram=(-a ethos-u55-256 --system-config=Ethos_U55_High_End_Embedded --memory-mode=Sram_Only)
u65=(-a ethos-u65-256 --system-config=Ethos_U65_High_End --memory-mode=Dedicated_Sram)
# shellcheck disable=SC2034
u85=(-a ethos-u85-256 --system-config=Ethos_U85_SYS_DRAM_Mid --memory-mode=Dedicated_Sram)
targets=(u55 sram u65 u85)

# compile MODEL OPTION...: makes x.sched, x.tflite and x.json from m.part
compile()
{
	npu-sched "$@" -o x.sched m.part 2>notes
	npu-wenc x.sched | npu-cmdgen -o x.tflite
	npu-perf --json x.tflite >x.json
}

# pieces: of each NPU operator of x.tflite its cycles and its kernels
pieces()
{
	# an operator of transfers alone ends where the transfers of the next one begin; another one,
	# if a memory is busy for longer, as long before the next one's kernel as a stream takes to start
	jq -r '[.operations[]] | group_by(.operator) |
		map({ first: min_by(.start_cycle), end: (map(.end_cycle) | max),
			fetch: (map(select(.kind == "dma") | .start_cycle) | min),
			kernels: map(select(.kind != "dma") | "\(.name | gsub(" "; "_")):\(.ofm)") }) |
		. as $all |
		([range(1; length) | select($all[.].first.kind != "dma") |
			$all[.].first.start_cycle - $all[. - 1].end] | min) as $lead |
		range(length) | $all[.] as $x | $all[. + 1] as $next |
		"\([$x.end, if $x.kernels == [] then $next.fetch
			elif $next and $next.first.kind != "dma" then $next.first.start_cycle - $lead
			else null end] | max) \($x.kernels | join(","))"' x.json |
		awk '{ printf "%.3f %s\n", $1 - last, $2; last = $1 }'
}

figure() # KEY
{
	jq ".$1" x.json
}

@test "an operator is within the limit or can't be divided, and the bytes stay the same" {
	local t m limit all bytes
	cp "$TOP/tests/models/digits.tflite" digits.tflite
	"$chain" fan 11 >fan.tflite
	for t in "${targets[@]}"; do
		declare -n target=$t
		for m in digits fan; do
			tfl-partition -o m.part $m.tflite
			compile "${target[@]}"
			all=$(figure calibrated_cycles)
			bytes=$(figure stream_bytes)
			[ "$(figure yield_every_cycles)" = null ]
			compile "${target[@]}" --yield-every=1
			pieces | cut -d' ' -f2 >least
			[ "$(wc -l <least)" -gt 2 ]
			for limit in $((all + 1)) ${NPUTOOLS_ALL:+$((all / 2))} $((all / 5)) 1; do
				compile "${target[@]}" --yield-every=$limit
				npu-dis --verify -q x.tflite
				npu-sim --compare=$m.tflite --seed=$limit x.tflite >/dev/null
				pieces >these
				[ "$(wc -l <these)" = "$(figure npu_operators)" ]
				awk -v limit=$limit 'NR == FNR { least[$1] = 1; next }
					$1 > limit && !($2 in least) { print; wrong = 1 }
					END { exit wrong }' least these
				# cycles of an operator are those of its last kernel or those of a memory
				jq -e --argjson most "$(sort -g these | tail -1 | cut -d' ' -f1)" \
					'.yield_longest_cycles >= $most - 1 and
					.yield_longest_cycles <= 1.1 * $most + 1' x.json >/dev/null
				# the price is the difference to the undivided stream
				jq -e --argjson all "$all" '(.calibrated_cycles - .yield_added_cycles -
					$all | fabs) < 2' x.json >/dev/null
				jq -e --argjson bytes "$bytes" '(.stream_bytes - $bytes -
					.yield_added_stream_bytes | fabs) <= 48 + 48 * .npu_operators' \
					x.json >/dev/null
			done
		done
	done
}

@test "with a limit above the network's cycles nothing changes but the target record" {
	tfl-partition -o m.part "$TOP/tests/models/digits.tflite"
	npu-sched "${u55[@]}" -o plain.sched m.part 2>notes
	npu-sched "${u55[@]}" --yield-every=1000000000 -o x.sched m.part 2>notes
	grep -q 'yield: 1 NPU operator of up to [0-9]* cycles; 0 cycles and 0 bytes of commands more' notes
	diff <(sed 's/ yield-[a-z]*=[0-9.]*//g' x.sched) plain.sched
}

@test "no operator works where the next one is to find its feature maps" {
	# Dedicated_Sram: nothing of the NPU's own memory is live between operators
	"$chain" fan 11 >fan.tflite
	tfl-partition -o m.part fan.tflite
	compile "${u65[@]}" --yield-every=1
	npu-sched "${u65[@]}" -o plain.sched m.part 2>notes
	grep -q '^tensor .* area=cache' plain.sched
	[ "$(grep -c '^tensor .* area=cache' x.sched)" -lt "$(grep -c '^tensor .* area=cache' plain.sched)" ]
	# the verifier gives each operator a cache without values: rule 52
	npu-dis --verify -q x.tflite
}

@test "the C function calls the driver for each operator" {
	cp "$TOP/tests/models/digits.tflite" digits.tflite
	npucc "${u55[@]}" --yield-every=8000 --check -o npu.tflite digits.tflite 2>err
	call_runs npu.tflite
	[ "$(grep -c 'status = net_npu(' net.c)" = "$(npu-perf --json npu.tflite | jq .npu_operators)" ]
	[ "$(grep -c 'status = net_npu(' net.c)" -gt 2 ]
}

@test "operators that exceed the limit are named, the rest is counted" {
	"$chain" fan 11 >fan.tflite
	tfl-partition -o m.part fan.tflite
	compile "${u55[@]}" --yield-every=1
	[ "$(grep -c "yield: operation .* cycles, which can't be divided" notes)" = 4 ]
	# names are whole, as in npu-perf: these two differ in the middle only
	local name zeros rest='[1-9][0-9]* cycles, which'
	zeros=$(printf '%050d' 0)
	model long "$t += [$t[3] | .name = \"first/${zeros}1$zeros/last\"]
		| $t[3].name = \"first/${zeros}2$zeros/last\"
		| .subgraphs[0].outputs = [3, 4]
		| .subgraphs[0].operators += [.subgraphs[0].operators[0] | .outputs = [4]]"
	tfl-partition -o m.part long.tflite
	compile "${u55[@]}" --yield-every=1
	for name in "first/${zeros}1$zeros/last" "first/${zeros}2$zeros/last"; do
		grep -q "yield: operation $name: $rest" notes
		jq -e --arg n "$name" '[.operations[] | select(.name == $n)] != []' x.json
	done
	tfl-partition -o m.part fan.tflite
	compile "${u55[@]}" --yield-every=1
	grep -q "yield: in all, $(figure npu_operators) operators exceed 1 cycles" notes
	refuses 2 "--yield-every takes a whole number" npu-sched "${u55[@]}" --yield-every=0 m.part
}

@test "operators of the CPU and batches stay what they are" {
	cp "$TOP/tests/models/digits.tflite" digits.tflite
	tfl-partition --cpu=RESHAPE --cpu=3 -o m.part digits.tflite
	grep -q '^node .* on=cpu' m.part
	compile "${u55[@]}" --yield-every=5000
	npu-dis --verify -q x.tflite
	npu-sim --compare=digits.tflite x.tflite >/dev/null
	tfl-partition -o m.part digits.tflite
	compile "${u55[@]}" --batch=3 --yield-every=20000
	npu-sim --frames 2 --compare=digits.tflite x.tflite >/dev/null
	[ "$(figure npu_operators)" -gt 1 ]
}

@test "inputs and outputs outside of the arena need a single operator" {
	tfl-partition --separate-io-regions -o m.part "$TOP/tests/models/digits.tflite"
	refuses 2 "leave out --separate-io-regions" npu-sched "${u55[@]}" --yield-every=5000 m.part
}

@test "the summary and the report of npucc show the price" {
	cp "$TOP/tests/models/digits.tflite" digits.tflite
	npucc "${u55[@]}" --yield-every=8000 --report=x.html digits.tflite >summary 2>notes
	grep -q '^  yield    [0-9]* operators of up to .* cycles; .* cycles and .* of commands more, up to .* live between them$' summary
	grep -q 'cycles added by the division' x.html
}
