# SPDX-License-Identifier: Apache-2.0
bats_require_minimum_version 1.5.0
# Compiled streams with random changes: a change that alters a result breaks a rule or
# differs from the graph.  Missing operations, other regions and other addresses are always
# detected.

load lib/common
load lib/poke

mutants=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/mutate-streams

# compiled MODEL OPTION...: makes m.wenc and m.tflite
compiled()
{
	tfl-partition ${lowering:+-a "$lowering"} "$1" | npu-sched "${@:2}" 2>notes |
		npu-wenc >m.wenc
	npu-cmdgen -o m.tflite m.wenc
}

# nobody_missed COUNT EFFECTIVE: none of COUNT mutants is missed, and at least EFFECTIVE of
# them alter a result.  A quick run has a fifth of the mutants.
nobody_missed()
{
	[ -z "${NPUTOOLS_QUICK-}" ] || set -- $(($1 / 5)) $(($2 / 5))
	"$mutants" "$1" 1 m.wenc m.tflite >out || { cat out; return 1; }
	cat out
	effective=$(sed -n 's/^[0-9]* mutants, \([0-9]*\) effective, 0 missed$/\1/p' out)
	[ "$effective" -ge "$2" ]
}

@test "mutants of a network on one core are detected" {
	compiled "$TOP/tests/models/digits.tflite" -a ethos-u55-128 \
		--system-config=RTSS_HE_SRAM_MRAM --memory-mode=Shared_Sram
	nobody_missed 700 250
}

@test "mutants of a network on two cores with a cache are detected" {
	compiled "$TOP/tests/models/digits.tflite" -a ethos-u65-512 \
		--system-config=Ethos_U65_High_End --memory-mode=Dedicated_Sram
	nobody_missed 350 120
}

@test "mutants of a network on Ethos-U85 are detected" {
	lowering=ethos-u85-256
	compiled "$TOP/tests/models/digits.tflite" -a ethos-u85-256 \
		--system-config=Ethos_U85_SYS_DRAM_Low --memory-mode=Dedicated_Sram
	nobody_missed 350 120
}

@test "mutants of transfers by indices are detected" {
	lowering=ethos-u85-256
	"${mutants%/*}/gen-model" 3 GATHER_COMPUTED >indexed.tflite
	compiled indexed.tflite -a ethos-u85-256 \
		--system-config=Ethos_U85_SYS_DRAM_Low --memory-mode=Dedicated_Sram
	nobody_missed 200 80
}

@test "mutants of stripes and rolling buffers are detected" {
	compiled "$TOP/tests/models/digits.tflite" -a ethos-u55-32 --optimise=Size \
		--system-config=Ethos_U55_High_End_Embedded --memory-mode=Shared_Sram
	nobody_missed 350 100
}

@test "a pool of mode none without IFM2 is an error of the stream" {
	lowering=ethos-u85-256
	"${mutants%/*}/gen-model" 1 TRANSPOSE >moved.tflite
	compiled moved.tflite -a ethos-u85-256 \
		--system-config=Ethos_U85_SYS_DRAM_Low --memory-mode=Dedicated_Sram
	poke_command m.tflite NPU_OP_POOL 1 04 00
	run npu-dis --verify m.tflite
	[ "$status" = 1 ]
	[[ $output == *"rule 13: a pool of mode none needs accumulators from IFM2"* ]]
}

@test "the graph of another schedule is detected" {
	compiled "$TOP/tests/models/digits.tflite" -a ethos-u55-128 \
		--system-config=RTSS_HE_SRAM_MRAM --memory-mode=Shared_Sram
	mv m.tflite good.tflite
	compiled "$TOP/tests/models/digits.tflite" -a ethos-u55-128 --optimise=Size \
		--system-config=RTSS_HE_SRAM_MRAM --memory-mode=Shared_Sram
	run -1 cmp -s good.tflite m.tflite
	run npu-dis --verify --source=m.wenc good.tflite
	[ "$status" = 1 ]
}
