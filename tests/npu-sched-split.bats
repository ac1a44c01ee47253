# SPDX-License-Identifier: Apache-2.0
# Sums of products that are computed in pieces: the gates of generated LSTMs.

bats_require_minimum_version 1.5.0
load lib/common

gen=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model
one_sram=(--system-config Ethos_U55_High_End_Embedded --memory-mode Shared_Sram)

setup_file()
{
	[ -x "$gen" ] || skip "no $gen"
}

# lstm SEED: the network in lstm.tflite, its graph in lstm.part
lstm()
{
	"$gen" "$1" UNIDIRECTIONAL_SEQUENCE_LSTM >lstm.tflite
	tfl-partition -o lstm.part lstm.tflite 2>notes
}

# the graph as it is needs more bytes than its rewrites
@test "within a limit that only a rewrite keeps, too few cycles are refused as cycles" {
	local seed least
	for seed in 1 2 3 4; do
		lstm $seed
		run -1 npu-sched -a ethos-u55-128 "${one_sram[@]}" --arena-cache-size=16 lstm.part
		least=${output##*works is }
		run -1 npu-sched -a ethos-u55-128 "${one_sram[@]}" --arena-cache-size="$least" \
			--max-cycles=100 lstm.part
		[[ $output == *"no plan within $least bytes of SRAM stays within 100 cycles; the fastest one takes "* ]]
	done
}

# sched GRAPH OPTION...: schedules to m.sched; prints "BYTES CYCLES"
sched()
{
	npu-sched -a ethos-u55-256 "${one_sram[@]}" "${@:2}" -o m.sched "$1" 2>notes || return
	sed -n 's/^target .* objective=\([0-9]*\).*/\1/p' m.sched >cycles
	sed -n 's/^area  *arena .* used=\([0-9]*\).*/\1/p' m.sched >used
	paste -d ' ' used cycles
}

# meets SEED BYTES CYCLES: the plan needs no more SRAM than Vela and fewer cycles.  BYTES is
# the SRAM in the summary of Vela 5.1.0 with --optimise Size for ethos-u55-256,
# High_End_Embedded, Shared_Sram.  CYCLES is npu-perf's estimate of Vela's file.
meets()
{
	local used cycles
	lstm "$1"
	read -r used cycles < <(sched lstm.part --arena-cache-size="$2")
	echo "seed $1: $used bytes, $cycles cycles"
	[ "$used" -le "$2" ]
	[ "$cycles" -lt "$3" ]
}

@test "an LSTM needs no more SRAM than Vela, and takes fewer cycles then" {
	meets 5 608 3124     # int8, 3 at once, 12 cells; 992 bytes with all gates at once
	meets 32 784 52874   # int8, 2 one by one, 18 cells; 1,040
	meets 31 1168 110552 # int8, 4 one by one, 16 cells; 2,544
	meets 2 1520 14836   # int16, 3 at once, 21 cells; 1,536
}

# same MODEL ACCEL SYSTEM OPTION...: the compiled model passes the verifier, matches its
# graph and computes the same bytes
same()
{
	npucc -a "$2" --system-config "$3" --memory-mode Shared_Sram "${@:4}" \
		-o m.wenc "$1" 2>notes
	npu-cmdgen -o m.tflite m.wenc 2>notes
	npu-dis --verify --source=m.wenc m.tflite >notes
	npu-sim --seed=7 --frames=2 --compare="$1" m.tflite >notes
}

# least MODEL ACCEL SYSTEM: the smallest limit that works
least()
{
	npucc -a "$2" --system-config "$3" --memory-mode Shared_Sram --arena-cache-size=16 \
		-o m.wenc "$1" 2>&1 | sed -n 's/.*the smallest that works is \([0-9]*\)$/\1/p'
}

@test "the gates of an LSTM one by one compute the same as all at once" {
	local seed accel system seeds=(5 12)
	[ -z "${NPUTOOLS_QUICK-}" ] || seeds=(5)
	[ -z "${NPUTOOLS_ALL-}" ] || seeds+=(1 2 3 13 28 29 31 32 33)
	for seed in "${seeds[@]}"; do
		lstm "$seed"
		while read -r accel system; do
			bytes=$(least lstm.tflite "$accel" "$system")
			same lstm.tflite "$accel" "$system" --arena-cache-size="$bytes"
			# this variant differs from the variant without a limit
			ops=$(grep -c '^op' m.wenc)
			same lstm.tflite "$accel" "$system"
			[ "$ops" -gt "$(grep -c '^op' m.wenc)" ] || [ "$seed" = 13 ]
		done <<-END
			ethos-u55-128 Ethos_U55_High_End_Embedded
			ethos-u65-256 Ethos_U65_High_End
			ethos-u85-256 Ethos_U85_SYS_Flash_High
		END
	done
}

@test "the inputs' products are computed for all steps at once, for some of them, or one by one" {
	local cell bytes n cells=(0)
	[ -z "${NPUTOOLS_ALL-}" ] || cells+=(2)
	for cell in "${cells[@]}"; do
		# int8, 2 at once, 6 steps of 20 features; products of 6 or 2 steps
		"$gen" 12 UNIDIRECTIONAL_SEQUENCE_LSTM 1.1=0 1.2=0 1.3=1 1.4=5 1.5=19 \
			1.6="$cell" >lstm.tflite
		npucc -a ethos-u55-128 "${one_sram[@]}" --front lstm.tflite 2>notes >front.tsv
		tail -n +2 front.tsv | cut -f1 >rows
		while read -r bytes; do
			same lstm.tflite ethos-u55-128 Ethos_U55_High_End_Embedded \
				--arena-cache-size="$bytes"
			grep -c ' do=fc ' m.wenc
		done <rows | sort -n | uniq >products
		# 6 of the states, 1 or 3 of the inputs; 24 and 2 or 3; 48
		n=$((cell ? 3 : 1))
		printf '%d\n' $((6 + n)) $((24 + (cell ? 3 : 2))) 48 | cmp - products
	done
}

@test "the front covers all variants, and each row is the plan for its limit" {
	local bytes cycles used time last='' form
	lstm 12
	npu-sched -a ethos-u55-256 "${one_sram[@]}" --front -o front.tsv lstm.part 2>notes
	for form in fewer more; do
		grep -q "$form channels of sums of products" front.tsv
	done
	while read -r bytes cycles; do
		[ -z "$last" ] || awk "BEGIN { exit !($cycles < $last) }"
		last=$cycles
		read -r used time < <(sched lstm.part --arena-cache-size="$bytes")
		echo "row $bytes $cycles, its limit gives $used $time"
		[ "$used" -le "$bytes" ]
		# of nine rows, the one of 768 bytes is 2.7 % slower by its limit
		[ "$bytes" = 768 ] || [ "$used $time" = "$bytes ${cycles%.*}" ]
		[ $((time * 100)) -lt $((${cycles%.*} * 103)) ]
	done < <(tail -n +2 front.tsv | cut -f1,3)
	# no row is missing at the end, and below the first row there is no plan
	read -r used time < <(sched lstm.part --within=0)
	[ "$time" = "${last%.*}" ]
	bytes=$(sed -n 2p front.tsv | cut -f1)
	run -1 sched lstm.part --arena-cache-size=$((bytes - 16))
	grep -q "the smallest that works is $bytes$" notes
	cycles=$(sed -n 2p front.tsv | cut -f3)
	read -r used time < <(sched lstm.part --max-cycles="${cycles%.*}"0)
	[ "$used" = "$bytes" ]
	run -1 sched lstm.part --max-cycles=1
	# in whole cycles, rounded up
	grep -q "the fastest plan takes $(awk "BEGIN { c = int($last); print c + (c < $last) }") cycles by the " notes
}

@test "variants that are faster with other weights in place are kept" {
	local bytes cycles used time
	lstm 221
	# with its transfers alone the split variant is slower than the plain one
	npu-sched -a ethos-u55-256 "${one_sram[@]}" --front -o front.tsv lstm.part 2>notes
	while read -r bytes cycles; do
		read -r used time < <(sched lstm.part --arena-cache-size="$bytes")
		echo "row $bytes $cycles, its limit gives $used $time"
		[ "$used $time" = "$bytes ${cycles%.*}" ]
	done < <(tail -n +2 front.tsv | cut -f1,3)
	# the last row is the fastest plan without a limit
	read -r bytes cycles < <(tail -1 front.tsv | cut -f1,3)
	[ "$(sched lstm.part --within=0)" = "$bytes ${cycles%.*}" ]
	whole lstm.part
	read -r _ time < <(sched whole.part --within=0)
	echo "all gates at once: $time"
	[ $((${cycles%.*} * 100)) -lt $((time * 95)) ]
}

# whole GRAPH: the same graph with all gates at once, in whole.part: a sum with a prescribed
# key is not split
whole()
{
	sed '/ do=add /s/$/ blockdep=0/' "$1" >whole.part
}

# limited CACHE OPTION...: "BYTES CYCLES" of lstm.part with an NPU SRAM of so many bytes
limited()
{
	cat >own.ini <<-END
	[System_Config.own]
	core_clock=1e9
	axi0_port=Sram
	axi1_port=Dram
	Sram_clock_scale=1.0
	Dram_clock_scale=0.25
	Dram_read_latency=500
	[Memory_Mode.own]
	const_mem_area=Axi1
	arena_mem_area=Axi1
	cache_mem_area=Axi0
	arena_cache_size=$1
	END
	npu-sched -a ethos-u65-256 --any-accelerator --config own.ini --system-config own \
		--memory-mode own "${@:2}" -o m.sched lstm.part 2>notes
	sed -n 's/^target .* objective=\([0-9]*\).*/\1/p' m.sched >cycles
	sed -n 's/^area  *cache .* used=\([0-9]*\).*/\1/p' m.sched >used
	echo "$(grep . used || echo 0) $(cat cycles)"
}

@test "variants are used within a profile's own limit if the fastest plan exceeds the limit" {
	local used cycles time seed
	for seed in 1 18; do
		lstm $seed
		read -r _ time < <(limited 393216 --arena-cache-size=400)
		read -r used cycles < <(limited 400)
		echo "seed $seed: $used bytes, $cycles cycles; by the option $time"
		[ "$used" -le 400 ]
		[ "$cycles" -le "$time" ]
	done
}

@test "any number of cycles selects the variant with the least memory" {
	local used before
	lstm 31
	whole lstm.part
	read -r before _ < <(sched whole.part --max-cycles=1000000000)
	read -r used _ < <(sched lstm.part --max-cycles=1000000000)
	echo "$used bytes; all gates at once $before"
	[ "$used" -lt "$before" ]
	npu-sched -a ethos-u55-256 "${one_sram[@]}" --front -o front.tsv lstm.part 2>notes
	[ "$used" = "$(sed -n 2p front.tsv | cut -f1)" ]
}

# compiled GRAPH OPTION...: compiles the network of a graph
compiled()
{
	npu-sched -a ethos-u55-256 "${one_sram[@]}" "${@:2}" -o m.sched "$1" 2>notes
	npu-wenc -o m.wenc m.sched
	npu-cmdgen m.wenc
}

# triple_behind LINE: behind LINE of lstm.part, the hidden state is multiplied by three; in
# m.part
triple_behind()
{
	local hidden
	hidden=$(sed -n 's/^tensor *\(t[0-9]*\) .*shape=i8.* variable=1.*/\1/p' lstm.part)
	sed "$1a op o999 do=mul node=n0 ifm=$hidden scalar=3 ofm=$hidden ifm-zero=0 ifm2-zero=0 ofm-zero=0 scale=1073741824:30 round=tfl clamp=-128:127" \
		lstm.part >m.part
}

@test "a delayed product runs before its input is overwritten" {
	lstm 12
	# with one product for all gates, all gates have read the state before this line
	triple_behind "$(sed -n '/^op .* act=tanh/{=;q;}' lstm.part)"
	compiled m.part >whole.tflite
	bytes=$(npu-sched -a ethos-u55-256 "${one_sram[@]}" --arena-cache-size=16 m.part 2>&1 |
		sed -n 's/.*the smallest that works is //p')
	compiled m.part --arena-cache-size="$bytes" >pieces.tflite
	[ "$(grep -c '^op' m.sched)" -gt "$(grep -c '^op' m.part)" ]
	npu-sim --seed=3 --frames=3 --compare=whole.tflite pieces.tflite
	# before they read the state, the change matters
	triple_behind "$(sed -n '/^node/{=;q;}' lstm.part)"
	compiled m.part >early.tflite
	run -1 npu-sim --seed=3 --frames=3 --compare=whole.tflite early.tflite
}

# stays_whole SED: after this edit the first of two sums is not split
stays_whole()
{
	sed "0,/ do=mul .*act=tanh/{/ do=mul .*act=tanh/$1}" lstm.part >m.part
	run -1 cmp -s m.part lstm.part
	sched m.part --max-cycles=1000000000 --model=timeline
	# the gates of the other sum: two products become eight
	[ "$(grep -c ' do=fc ' m.sched)" = $(($(grep -c ' do=fc ' m.part) + 6)) ]
}

@test "a sum that is used in another layout or in place is not split" {
	lstm 12
	# a gate's bytes, by their strides
	stays_whole 's/ofm=\(t[0-9]*\)\[1,1,22\]@0,0,66/ofm=\1[1,1,22]+66:22,22,1/'
	# pieces would read bytes that other pieces have written
	stays_whole 's/ifm=\(t[0-9]*\)\[1,1,22\]@0,0,66 \(.*\) ofm=\(t[0-9]*\)\[1,1,22\]@0,0,66/ifm=\1[1,1,44]@0,0,22 \2 ofm=\3[1,1,44]@0,0,44/'
}

@test "--dump writes the variant that is chosen" {
	lstm 32
	for option in --arena-cache-size=784 --optimise=Performance; do
		sched lstm.part "$option"
		npu-sched -a ethos-u55-256 "${one_sram[@]}" "$option" --dump=search -o dump lstm.part 2>notes
		[ "$(grep -c '^op' dump)" = "$(grep -c '^op' m.sched)" ]
	done
}
