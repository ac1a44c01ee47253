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

# grows KIND OPTION...: Ten times the operators take about ten times as long, and at most
# twenty-five times: caches hold a smaller part of them, and transfers look further ahead.
# Quadratic time would be a hundred times as long.
grows()
{
	local kind=$1 n i few many ops=100
	shift
	[ -x "$chain" ] || skip "no $chain"
	[ -z "${NPUTOOLS_QUICK-}" ] || ops=20
	for n in $ops $((10 * ops)); do
		"$chain" "$kind" $n >$n.tflite
		tfl-partition -o $n.part $n.tflite 2>notes
	done
	# one thread, and the least of up to six measurements in turn: other programs and threads
	# slow a processor, often for seconds
	rm -f few many
	for i in {1..6}; do
		few=$(least few "$(cpu 3 npu-sched -j1 "${target[@]}" "$@" $ops.part)")
		many=$(least many "$(cpu 1 npu-sched -j1 "${target[@]}" "$@" $((10 * ops)).part)")
		[ -s out ]
		echo "$kind $*: $few ms, $many ms"
		# the program's start takes three milliseconds
		[ "$many" -gt $((${MOST-25} * (few > 3 ? few : 3))) ] || return 0
	done
	false
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
