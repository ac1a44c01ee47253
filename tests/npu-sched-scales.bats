# SPDX-License-Identifier: Apache-2.0
# Scales that are fetched alone, while weights are read in place.

load lib/common
load lib/timeline

LARGE=(-a ethos-u85-1024 --system-config Ethos_U85_SYS_DRAM_Mid
	--memory-mode Dedicated_Sram)

@test "scales of U85 are fetched without their weights and used" {
	tfl-partition -a ethos-u85-1024 -o part "$TOP/tests/models/digits.tflite" 2>notes
	npu-sched "${LARGE[@]}" -o sched part 2>notes
	grep -q '^step .* run=o[0-9]* scale-buffer=b[0-9]*$' sched
	npu-wenc -o wenc sched
	npu-cmdgen -o m.tflite wenc
	npu-dis --verify --source wenc m.tflite
	npu-sim --seed 7 --compare "$TOP/tests/models/digits.tflite" m.tflite
	# one kernel has its weights in the constants and its scales in the SRAM
	npu-dis m.tflite | awk '
		/WEIGHT_REGION/ { w = $NF }
		/SCALE_REGION/ { s = $NF }
		/NPU_OP_CONV/ { apart += w == 0 && s == 2 }
		END { exit !apart }'
}

@test "each stage detects scales that were not fetched" {
	tfl-partition -a ethos-u85-1024 --no-rewrite=scalars -o part "$TOP/tests/models/digits.tflite" 2>notes
	npu-sched "${LARGE[@]}" -o sched part 2>notes
	b=$(sed -n 's/^step .* scale-buffer=\(b[0-9]*\)$/\1/p' sched | head -1)
	sed "/^step .*fetch=.* buffer=$b\$/d" sched >none
	refuses 2 "$b does not hold the weights or scales that o" npu-wenc none
	npu-wenc -o wenc sched
	sed "s/bytes=0:[0-9]* buffer=$b\$/bytes=0:16 buffer=$b/" wenc >few
	refuses 2 "$b holds 16 of the " npu-cmdgen few
	sed "s/ scale-buffer=$b\$/ buffer=$b scale-buffer=$b/" sched >both
	refuses 2 'scale-buffer= works only with run= of weights, without buffer=' npu-wenc both
	sed 's/ethos-u85-1024/ethos-u65-512/' sched >other
	refuses 2 'each core of ethos-u65-512 has its own scales' npu-wenc other
}

# planned MODEL ACCELERATOR SYSTEM [SRAM]: prints the cycles
planned()
{
	tfl-partition -a "$2" "$SHARED/models/$1.tflite" 2>notes |
		npu-sched -a "$2" --system-config "$3" --memory-mode Dedicated_Sram \
			${4:+--arena-cache-size "$4"} 2>notes |
		sed -n 's/^target .* objective=\([0-9]*\).*/\1/p'
}

# The limit is the SRAM of Vela 5.1's file, which takes 34,796 cycles; with scales beside
# their weights the plan takes 35,778.  Without a limit, weights and a transfer share the
# DRAM: 178,019.
@test "scales do not delay large layers" {
	need_shared models
	[ "$(planned ad01_int8 ethos-u85-1024 Ethos_U85_SYS_DRAM_Mid 14144)" -le 22000 ]
	[ "$(planned seed_mnist_fc ethos-u85-256 Ethos_U85_SYS_DRAM_Low)" -le 156000 ]
}
