# SPDX-License-Identifier: Apache-2.0
# Constants that an operation reads repeatedly are copied to fast memory first.

load lib/common

gen=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model

setup_file()
{
	[ -x "$gen" ] || skip "no $gen"
}

# prelu MODE: schedules a PRELU with a factor for each channel
prelu()
{
	"$gen" 11 PRELU >prelu.tflite
	tfl-partition -o prelu.part prelu.tflite
	npu-sched -a ethos-u55-128 --system-config Ethos_U55_High_End_Embedded \
		--memory-mode "$1" -o prelu.sched prelu.part 2>notes
}

ops()
{
	grep -c '^op ' "$1"
}

@test "factors in flash are copied once" {
	prelu Shared_Sram
	[ "$(ops prelu.sched)" = $(($(ops prelu.part) + 1)) ]
	from=$(sed -n 's/^op .* do=copy .* ifm=\(t[0-9]*\) .*/\1/p' prelu.sched)
	# the copied tensor is a constant, and only the copy reads it now
	grep "^tensor  *$from .* from=" prelu.sched
	[ "$(grep -c "^op .* ifm2*=$from " prelu.sched)" = 1 ]
	npu-wenc prelu.sched | npu-cmdgen -o prelu_npu.tflite
	npu-dis --verify -q prelu_npu.tflite
	npu-sim --seed 1 --compare prelu_npu.tflite prelu.tflite
}

@test "factors in a memory as fast as the arena are not copied" {
	prelu Sram_Only
	[ "$(ops prelu.sched)" = "$(ops prelu.part)" ]
}
