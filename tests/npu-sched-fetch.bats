# SPDX-License-Identifier: Apache-2.0
# When npu-sched has weights fetched.

load lib/common

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
