# SPDX-License-Identifier: Apache-2.0
# The time of npu-sched grows only linearly with the number of operators.

load lib/common
load lib/timeline

chain=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model
target=(-a ethos-u55-256 --system-config Ethos_U55_High_End_Embedded
	--memory-mode Shared_Sram)

# least FILE N: the least number that any call with FILE had
least()
{
	[ -s "$1" ] && [ "$(<"$1")" -le "$2" ] || echo "$2" >"$1"
	cat "$1"
}

# cpu N COMMAND...: milliseconds of processor time, the minimum of N runs
cpu()
{
	local TIMEFORMAT='%3U %3S' user system best='' i n=$1
	shift
	while ((n-- > 0)); do
		read -r user system < <({ time "$@" >out 2>err; } 2>&1)
		i=$((10#${user/./} + 10#${system/./}))
		[ -n "$best" ] && [ $i -ge "$best" ] || best=$i
	done
	echo "$best"
}

# at_most FEW MANY OPTION...: Ten times the operators take about ten times as long, and at most
# twenty-five times: caches hold a smaller part of them, and transfers look further ahead.
# Quadratic time would be a hundred times as long.
at_most()
{
	local i few many parts=("$1" "$2")
	shift 2
	# one thread, and the least of up to six measurements in turn: other programs and threads
	# slow a processor, often for seconds
	rm -f few many
	for i in {1..6}; do
		few=$(least few "$(cpu 3 npu-sched -j1 "${target[@]}" "$@" "${parts[0]}")")
		many=$(least many "$(cpu 1 npu-sched -j1 "${target[@]}" "$@" "${parts[1]}")")
		[ -s out ]
		echo "${parts[1]} $*: $few ms, $many ms"
		# the program's start takes three milliseconds
		[ "$many" -gt $((${MOST-25} * (few > 3 ? few : 3))) ] || return 0
	done
	false
}

# grows KIND OPTION...: chains of KIND
grows()
{
	local kind=$1 n ops=100
	shift
	[ -x "$chain" ] || skip "no $chain"
	[ -z "${NPUTOOLS_QUICK-}" ] || ops=20
	for n in $ops $((10 * ops)); do
		"$chain" "$kind" $n >$n.tflite
		tfl-partition -o $kind$n.part $n.tflite 2>notes
	done
	at_most $kind$ops.part $kind$((10 * ops)).part "$@"
}

# sums N: N results, each written in 24 pieces, and their sum
sums()
{
	local n=$1 pieces=24 i k t=1 to sum
	local box="[4,1,16]+" step=":$((16 * pieces)),16,1"
	printf '%s\n' 'nputools-graph 1 stage=part' 'model m0 name="sums.tflite" description="sums"' \
		"tensor t0 shape=i8[1,4,$pieces,16] scale=1 zero=0 tfl=0.0 io=in" \
		"tensor t1 shape=i8[1,4,$pieces,16] scale=1 zero=0 tfl=0.1 io=out"
	for ((i = 2; i < 2 * n; i++)); do
		echo "tensor t$i shape=i8[1,4,$pieces,16] scale=1 zero=0"
	done
	echo 'node n0 on=npu tfl=0.0 in=t0 out=t1'
	for ((i = 0; i < n; i++)); do
		: $((t++))
		for ((k = 0; k < pieces; k++)); do
			echo "op o$((25 * i + k)) do=avgpool node=n0 name=\"\" tfl=0.0" \
				"ifm=t0$box$((16 * k))$step ofm=t$t$box$((16 * k))$step" \
				"ifm-zero=0 ofm-zero=0 kernel=1x1 stride=1x1" \
				"scale=1073741824:30 round=tfl clamp=-128:127"
		done
		if ((i == 0)); then
			sum=$t
			continue
		fi
		to=$((i + 1 == n ? 1 : t + 1))
		echo "op o$((25 * i + k)) do=add node=n0 name=\"\" tfl=0.0 ifm=t$t ifm2=t$sum ofm=t$to" \
			"ifm-zero=0 ifm2-zero=0 ofm-zero=0 opa=1:0 opb=1 scale=1:0 round=natural" \
			"clamp=-128:127"
		sum=$to
		: $((t++))
	done
	echo eof
}

@test "without a limit, the time for a thousand operators grows linearly" {
	grows conv
	grows add
	grows block
}

@test "below a limit, the time for a thousand operators grows linearly" {
	grows conv --arena-cache-size=24576
	grows add --arena-cache-size=30000
	grows block --arena-cache-size=36000
}

@test "with --optimise=Size, the time for a thousand operators grows linearly" {
	# 100 MB for a thousand operators: 20 times the time alone, up to 33 times while other
	# suites use the caches
	local MOST=40
	grows conv --optimise=Size
	grows add --optimise=Size
	grows block --optimise=Size
}

# fifty times when every result was compared with every operation behind it
@test "the time for ten thousand operations that write pieces of results grows linearly" {
	local n=40
	[ -z "${NPUTOOLS_QUICK-}" ] || n=8
	sums $n >few.part
	sums $((10 * n)) >many.part
	at_most few.part many.part
}

# each spill of feature maps lists all cascades again
@test "a goal or a limit takes few times the time of the fastest plan: feature maps may be spilled" {
	local fast now request n=600 i
	local target=(-a ethos-u65-512 --system-config Ethos_U65_High_End
		--memory-mode Dedicated_Sram)
	[ -x "$chain" ] || skip "no $chain"
	"$chain" conv $n >m.tflite
	tfl-partition -a ethos-u65-512 -o m.part m.tflite 2>notes
	# at first 5, 6, and 26 times
	for request in 3/--within=5 4/--arena-cache-size=24576 8/--optimise=Size; do
		for i in {1..6}; do
			fast=$(least fast "$(cpu 1 npu-sched -j1 "${target[@]}" --within=0 m.part)")
			now=$(least "now${request%%/*}" \
				"$(cpu 1 npu-sched -j1 "${target[@]}" "${request#*/}" m.part)")
			[ -s out ]
			echo "${request#*/}: $now ms, fastest $fast ms"
			[ "$now" -gt $((${request%%/*} * fast)) ] || continue 2
		done
		false
	done
}

@test "a refusal takes no longer than a search" {
	[ -x "$chain" ] || skip "no $chain"
	local limit met refused i
	"$chain" block 300 >m.tflite
	tfl-partition -o m.part m.tflite 2>notes
	npu-sched "${target[@]}" --arena-cache-size=16 m.part 2>notes || [ $? = 1 ]
	limit=$(sed -n 's/.*smallest that works is //p' notes)
	for i in {1..6}; do
		met=$(least met "$(cpu 3 npu-sched -j1 "${target[@]}" --arena-cache-size="$limit" m.part)")
		[ -s out ]
		refused=$(least refused "$(cpu 3 npu-sched -j1 "${target[@]}" --arena-cache-size=16 m.part)")
		echo "met: $met ms, refused: $refused ms"
		# a refusal lists the same chains and packs their feature maps, but searches no
		# plans
		[ "$refused" -gt $((2 * met + 20)) ] || return 0
	done
	false
}

@test "a chain gives the same bytes with any number of threads" {
	[ -x "$chain" ] || skip "no $chain"
	"$chain" block 40 >m.tflite
	tfl-partition -o m.part m.tflite 2>notes
	npu-sched "${target[@]}" --arena-cache-size=36000 m.part >one 2>notes
	npu-sched "${target[@]}" --arena-cache-size=36000 -j 3 m.part >three 2>notes
	cmp one three
}

@test "a compiled chain computes the plain model's bytes" {
	[ -x "$chain" ] || skip "no $chain"
	local k goal
	for k in conv add block; do
		"$chain" $k 20 >m.tflite
		for goal in Performance Size; do
			npucc "${target[@]}" --optimise=$goal --check -o npu.tflite \
				m.tflite
		done
	done
}
