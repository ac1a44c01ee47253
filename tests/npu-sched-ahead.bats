# SPDX-License-Identifier: Apache-2.0
# Without a limit, a plan uses no memory that saves no cycles.

load lib/common
load lib/timeline

# uses MODEL ACCELERATOR MOST: the plan's arena has at most MOST bytes, and with a limit of
# 16 bytes less the plan takes more cycles
uses()
{
	local used free less
	local target=(-a "$2" --system-config Ethos_U55_High_End_Embedded
		--memory-mode Shared_Sram)
	tfl-partition -o m.part "$1" 2>notes
	npu-sched "${target[@]}" m.part >m.sched 2>notes
	used=$(sed -n 's/^area  *arena .*used=\([0-9]*\).*/\1/p' m.sched)
	free=$(sed -n 's/^target .* objective=\([0-9.]*\).*/\1/p' m.sched)
	npu-sched "${target[@]}" --arena-cache-size=$((used - 16)) m.part >m.sched 2>notes
	less=$(sed -n 's/^target .* objective=\([0-9.]*\).*/\1/p' m.sched)
	echo "$1 $2: $used bytes, $free cycles, with less $less"
	[ "$used" -le "$3" ]
	awk "BEGIN { exit !($less > $free) }"
}

# A network bound by computing could hold all weights at once.  Weights must be prefetched
# only shortly before their use.  MOST is the memory for the same cycles below a limit, with
# every prefetch as early as possible.
@test "weights are fetched no earlier than necessary" {
	if [ -z "$SHARED" ]; then # the demo took 22,560 bytes to save 27 cycles
		uses "$(network person_detect)" ethos-u55-32 16800
		return
	fi
	uses "$SHARED/models/person_detect.tflite" ethos-u55-32 160000
	uses "$SHARED/models/resnet_quant.tflite" ethos-u55-32 72600
	uses "$SHARED/models/kws_ref_model.tflite" ethos-u55-32 26000
}

@test "a wide network keeps only the data of the next operations" {
	local chain=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model
	[ -x "$chain" ] || skip "no $chain"
	"$chain" fan 30 >chain.tflite
	uses chain.tflite ethos-u55-32 44000
}
