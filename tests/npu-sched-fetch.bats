# SPDX-License-Identifier: Apache-2.0
# When npu-sched has weights fetched.

bats_require_minimum_version 1.5.0
load lib/common
load lib/timeline

@test "short kernels leave time for a transfer together" {
	local most=33500 little=4000
	[ -n "$SHARED" ] || most=7400 little=3000 # the drawn one's
	tfl-partition -o lstm.part "$(network trained_lstm_int8)"
	npu-sched -a ethos-u55-256 --system-config Ethos_U55_High_End_Embedded \
		--memory-mode Shared_Sram -o lstm.sched lstm.part 2>notes
	# 28 steps of ten short kernels, then a matrix of its own: on its way meanwhile
	last=$(sed -n 's/^op .* do=fc .* weights=\(w[0-9]*\) .*/\1/p' lstm.sched | tail -1)
	grep "^step .* fetch=$last " lstm.sched
	cycles=$(sed -n 's/^target .* cycles=\([0-9]*\).*/\1/p' lstm.sched)
	[ "$cycles" -le $most ]
	# where the matrix has no room it is read in place
	npu-sched -a ethos-u55-256 --system-config Ethos_U55_High_End_Embedded \
		--memory-mode Shared_Sram --arena-cache-size=$little -o little.sched \
		lstm.part 2>notes
	! grep "^step .* fetch=$last " little.sched || false
}

# planned OPTION...: the schedule of m.part in m.sched; its cycles
planned()
{
	npu-sched -a ethos-u55-128 --memory-mode Shared_Sram "$@" -o m.sched m.part 2>notes
	sed -n 's/^target .* cycles=\([0-9]*\).*/\1/p' m.sched
}

@test "weights that stay in place let those behind them arrive in time" {
	local bin=${NPUTOOLS_TESTBIN:-$TOP/build/tests} cycles
	# an SVDF of two steps: 368 bytes that are wanted first, then 128 and 144
	"$bin/gen-model" 17 >m.tflite
	tfl-partition -o m.part m.tflite 2>notes
	cycles=$(planned --system-config RTSS_HE_SRAM_MRAM)
	echo "$cycles cycles"
	# 883 with the first ones under way first, or with all in place
	[ "$cycles" -lt 850 ]
	[[ $(grep '^step' m.sched) == *p0' fetch=w1 '*'run=o1'*'run=o3 buffer='* ]]
	run ! grep '^step.* fetch=w0 ' m.sched
	npu-wenc m.sched | npu-cmdgen -o c.tflite
	npu-dis --verify c.tflite >notes
	npu-sim --seed=3 --compare=m.tflite c.tflite >notes
	# on the front, too: 544400 otherwise
	"$bin/chain-model" fan 3 >m.tflite
	tfl-partition -o m.part m.tflite 2>notes
	cycles=$(planned --system-config Ethos_U55_High_End_Embedded --arena-cache-size=19744)
	echo "$cycles cycles"
	[ "$cycles" -lt 542000 ]
}

@test "blocks are tried by how often weights are read, and by their exact bytes" {
	local bin=${NPUTOOLS_TESTBIN:-$TOP/build/tests} cycles
	# 156415 with blocks for weights that are fetched, which are estimated at as much
	"$bin/chain-model" conv 9 6 64 >m.tflite
	tfl-partition -o m.part m.tflite 2>notes
	cycles=$(planned --system-config RTSS_HE_SRAM_MRAM)
	echo "$cycles cycles"
	[ "$cycles" -lt 143000 ]
	# 56397 where blocks for weights that stay are for networks of at most 16 operations
	"$bin/chain-model" fan 12 8 32 >m.tflite
	tfl-partition -o m.part m.tflite 2>notes
	[ "$(grep -c ^op m.part)" -gt 16 ]
	cycles=$(planned -a ethos-u65-256 --system-config Ethos_U65_High_End \
		--memory-mode Dedicated_Sram)
	echo "$cycles cycles"
	[ "$cycles" -lt 54500 ]
}

@test "slices that save little for the room they take leave it to others" {
	local cycles
	need_shared models/person_detect.tflite
	tfl-partition -o m.part "$SHARED/models/person_detect.tflite" 2>notes
	cycles=$(planned --system-config Ethos_U55_High_End_Embedded --arena-cache-size=40000)
	echo "$cycles cycles"
	# 322065 where each is fetched that has room when it can be; with all in place 385905
	[ "$cycles" -lt 265000 ]
	[ "$(grep -c '^step.* fetch=' m.sched)" -gt 5 ]
	npu-wenc m.sched | npu-cmdgen -o c.tflite
	npu-dis --verify c.tflite >notes
	npu-sim --seed=3 --compare="$SHARED/models/person_detect.tflite" c.tflite >notes
}
