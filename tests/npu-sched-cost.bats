# SPDX-License-Identifier: Apache-2.0
# What npu-sched costs grows with the number of operators, not faster.

load lib/common
load lib/timeline

chain=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model
target=(-a ethos-u55-256 --system-config Ethos_U55_High_End_Embedded
	--memory-mode Shared_Sram)

# cpu N COMMAND...: milliseconds of processor time, the least of N runs
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

# grows KIND OPTION...: ten times the operators cost ten times as much, and no
# more than twenty five: caches hold less of them, transfers have longer ways
# to look ahead.  Anything quadratic costs a hundred times.
grows()
{
	local kind=$1 n few many most least=100
	shift
	[ -x "$chain" ] || skip "no $chain"
	[ -z "${NPUTOOLS_QUICK-}" ] || least=40
	for n in $least $((10 * least)); do
		"$chain" "$kind" $n >$n.tflite
		tfl-partition -o $n.part $n.tflite 2>notes
	done
	few=$(cpu 3 npu-sched "${target[@]}" "$@" $least.part)
	# three milliseconds are the program's start
	most=$((25 * (few > 3 ? few : 3)))
	# a second time where others may have had the processor
	many=$(cpu 1 npu-sched "${target[@]}" "$@" $((10 * least)).part)
	[ "$many" -le $most ] || many=$(cpu 2 npu-sched "${target[@]}" "$@" $((10 * least)).part)
	echo "$kind $*: $few ms, $many ms"
	[ -s out ]
	[ "$many" -le $most ]
}

@test "a thousand operators, unlimited" {
	grows conv
	grows add
	grows block
}

@test "a thousand operators under a limit" {
	grows conv --arena-cache-size=24576
	grows add --arena-cache-size=30000
	grows block --arena-cache-size=36000
}

@test "a thousand operators, smallest" {
	grows conv --optimise=Size
	grows add --optimise=Size
	grows block --optimise=Size
}

@test "a refusal costs no more than a search" {
	[ -x "$chain" ] || skip "no $chain"
	local least met refused
	"$chain" block 300 >m.tflite
	tfl-partition -o m.part m.tflite 2>notes
	npu-sched "${target[@]}" --arena-cache-size=16 m.part 2>notes || [ $? = 1 ]
	least=$(sed -n 's/.*smallest that works is //p' notes)
	met=$(cpu 3 npu-sched "${target[@]}" --arena-cache-size="$least" m.part)
	[ -s out ]
	refused=$(cpu 3 npu-sched "${target[@]}" --arena-cache-size=16 m.part)
	echo "met: $met ms, refused: $refused ms"
	# it lists the same chains and packs their maps: no searches below
	[ "$refused" -le $((2 * met + 20)) ]
}

@test "a chain gives the same bytes with any number of threads" {
	[ -x "$chain" ] || skip "no $chain"
	"$chain" block 40 >m.tflite
	tfl-partition -o m.part m.tflite 2>notes
	npu-sched "${target[@]}" --arena-cache-size=36000 m.part >one 2>notes
	npu-sched "${target[@]}" --arena-cache-size=36000 -j 3 m.part >three 2>notes
	cmp one three
}

@test "a compiled chain computes what the plain one does" {
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
