# SPDX-License-Identifier: Apache-2.0
# The times at which npu-sched fetches weights.

bats_require_minimum_version 1.5.0
load lib/common
load lib/timeline

@test "a transfer can run during several short kernels" {
	local most=33500 little=4000
	[ -n "$SHARED" ] || most=7400 little=3000 # those of the generated network
	tfl-partition -o lstm.part "$(network trained_lstm_int8)"
	npu-sched -a ethos-u55-256 --system-config Ethos_U55_High_End_Embedded \
		--memory-mode Shared_Sram -o lstm.sched lstm.part 2>notes
	# 28 steps of ten short kernels, then a large matrix, which is fetched meanwhile
	last=$(sed -n 's/^op .* do=fc .* weights=\(w[0-9]*\) .*/\1/p' lstm.sched | tail -1)
	grep "^step .* fetch=$last " lstm.sched
	cycles=$(sed -n 's/^target .* objective=\([0-9]*\).*/\1/p' lstm.sched)
	[ "$cycles" -le $most ]
	# the matrix does not fit and is read in place
	npu-sched -a ethos-u55-256 --system-config Ethos_U55_High_End_Embedded \
		--memory-mode Shared_Sram --arena-cache-size=$little -o little.sched \
		lstm.part 2>notes
	! grep "^step .* fetch=$last " little.sched || false
}

# planned OPTION...: schedules m.part to m.sched and prints the cycles
planned()
{
	npu-sched -a ethos-u55-128 --memory-mode Shared_Sram "$@" -o m.sched m.part 2>notes
	sed -n 's/^target .* objective=\([0-9]*\).*/\1/p' m.sched
}

@test "weights read in place let the weights behind them arrive in time" {
	local bin=${NPUTOOLS_TESTBIN:-$TOP/build/tests} cycles
	# an SVDF of two steps: 368 bytes are needed first, then 336 and 336
	"$bin/gen-model" 17 >m.tflite
	tfl-partition -o m.part m.tflite 2>notes
	cycles=$(planned --system-config RTSS_HE_SRAM_MRAM)
	echo "$cycles cycles"
	[[ $(grep '^step' m.sched) == *p[01]' fetch=w3 '*'run=o1'*'run=o9 buffer='* ]]
	run ! grep '^step.* fetch=w0 ' m.sched
	npu-wenc m.sched | npu-cmdgen -o c.tflite
	npu-dis --verify c.tflite >notes
	npu-sim --seed=3 --compare=m.tflite c.tflite >notes
}

@test "slices that save little for their memory leave the memory to others" {
	local cycles
	need_shared models/person_detect.tflite
	tfl-partition -o m.part "$SHARED/models/person_detect.tflite" 2>notes
	cycles=$(planned --system-config Ethos_U55_High_End_Embedded --arena-cache-size=40000)
	echo "$cycles cycles"
	# 322065 if every slice that fits is fetched; 385905 with all weights in place
	[ "$cycles" -lt 265000 ]
	[ "$(grep -c '^step.* fetch=' m.sched)" -gt 5 ]
	npu-wenc m.sched | npu-cmdgen -o c.tflite
	npu-dis --verify c.tflite >notes
	npu-sim --seed=3 --compare="$SHARED/models/person_detect.tflite" c.tflite >notes
}
