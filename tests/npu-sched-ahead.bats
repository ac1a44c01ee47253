# SPDX-License-Identifier: Apache-2.0
# Without a limit no memory is kept that buys nothing.

load lib/common
load lib/timeline

# uses MODEL ACCELERATOR MOST: bytes of the arena, and a limit of 16 bytes fewer costs
# cycles
uses()
{
	local used free less
	local target=(-a "$2" --system-config Ethos_U55_High_End_Embedded
		--memory-mode Shared_Sram)
	tfl-partition -o m.part "$1" 2>notes
	npu-sched "${target[@]}" m.part >m.sched 2>notes
	used=$(sed -n 's/^area  *arena .*used=\([0-9]*\).*/\1/p' m.sched)
	free=$(sed -n 's/^target .* cycles=\([0-9.]*\).*/\1/p' m.sched)
	npu-sched "${target[@]}" --arena-cache-size=$((used - 16)) m.part >m.sched 2>notes
	less=$(sed -n 's/^target .* cycles=\([0-9.]*\).*/\1/p' m.sched)
	echo "$1 $2: $used bytes, $free cycles, with less $less"
	[ "$used" -le "$3" ]
	awk "BEGIN { exit !($less > $free) }"
}

# what computing bounds could have all weights at once: they are fetched when they are
# wanted.  The most: what was needed for the same cycles with everything fetched at once
# below a limit
@test "weights are fetched no earlier than it takes" {
	if [ -z "$SHARED" ]; then # the demo took 22,560 bytes for 27 cycles less
		uses "$(network person_detect)" ethos-u55-32 16800
		return
	fi
	uses "$SHARED/models/person_detect.tflite" ethos-u55-32 160000
	uses "$SHARED/models/resnet_quant.tflite" ethos-u55-32 72600
	uses "$SHARED/models/kws_ref_model.tflite" ethos-u55-32 26000
}

@test "a wide network keeps only what it waits for" {
	local chain=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model
	[ -x "$chain" ] || skip "no $chain"
	"$chain" fan 30 >chain.tflite
	uses chain.tflite ethos-u55-32 44000
}
