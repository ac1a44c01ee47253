#!/usr/bin/env bats
# make firmware-demo: networks in firmware for a Cortex-M55 run in an emulator, whose NPU is
# the simulator.  NPUTOOLS_ETHOSU_DRIVER, NPUTOOLS_TFLM and NPUTOOLS_TFLM_DEPS add Arm's own
# driver and TensorFlow Lite Micro; each names a checkout.

load lib/common
load lib/model
load lib/state

gen=${NPUTOOLS_TESTBIN:-$TOP/build/tests}

demo()
{
	need arm-none-eabi-gcc qemu-system-arm
	run env OUT="$PWD/out" "$@" firmware-demo "${NPUTOOLS_BUILD:-$TOP/build}"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = "output as expected" ]
}

core_driver()
{
	[ -n "${NPUTOOLS_ETHOSU_DRIVER-}" ] || skip "no core driver (NPUTOOLS_ETHOSU_DRIVER)"
}

@test "the digit is recognised on a board without an NPU" {
	demo
	[[ "$output" == *"digit 7, confidence 0.996"* ]]
}

@test "the digit is recognised on an Ethos-U65 with a fast memory of its own" {
	demo NPU=ethos-u65-256 MEMORY=Dedicated_Sram
	[[ "$output" == *"digit 7, confidence 0.996"* ]]
}

@test "operators on the CPU run without an interpreter" {
	# QUANTIZE, FULLY_CONNECTED, DEQUANTIZE
	model ends ".operator_codes += [{deprecated_builtin_code:114,builtin_code:114,version:1},
			{deprecated_builtin_code:6,builtin_code:6,version:1}]
		| $t += [{shape:[1,4],type:0,name:\"real in\"},{shape:[1,2],type:0,name:\"real out\"}]
		| .subgraphs[0].inputs = [4] | .subgraphs[0].outputs = [5]
		| .subgraphs[0].operators |= [{opcode_index:1,inputs:[4],outputs:[0]}] + . +
			[{opcode_index:2,inputs:[3],outputs:[5]}]"
	demo MODEL="$PWD/ends.tflite"
	run env OUT="$PWD/out" MODEL="$PWD/ends.tflite" NPUCC_FLAGS=--cpu=FULLY_CONNECTED \
		firmware-demo "${NPUTOOLS_BUILD:-$TOP/build}"
	[ "$status" -eq 2 ]
	[[ "${lines[-1]}" == "firmware-demo: operators are left to the CPU, an interpreter has to run them (TFLM=DIR): fully_connected"* ]]
}

@test "another network runs with random inputs" {
	local m
	m=$(network person_detect)
	[ -n "$SHARED" ] || m=$(network resnet_quant)
	demo MODEL="$m" NPU=ethos-u55-256
}

@test "Arm's driver works with the simulated registers" {
	core_driver
	demo ETHOSU_DRIVER="$NPUTOOLS_ETHOSU_DRIVER"
	demo ETHOSU_DRIVER="$NPUTOOLS_ETHOSU_DRIVER" NPU=ethos-u65-256 MEMORY=Dedicated_Sram
}

@test "Arm's driver refuses a stream for another NPU, and the demo reports this" {
	need arm-none-eabi-gcc qemu-system-arm
	core_driver
	run env OUT="$PWD/out" ETHOSU_DRIVER="$NPUTOOLS_ETHOSU_DRIVER" BOARD_NPU=ethos-u55-256 \
		firmware-demo "${NPUTOOLS_BUILD:-$TOP/build}"
	echo "$output"
	[ "$status" -eq 2 ]
	[[ "$output" == *"NPU config mismatch. npu.macs_per_cc=8, optimizer.macs_per_cc=7"* ]]
	[ "${lines[-1]}" = "the NPU failed" ]
}

# interpreted VARIABLE=VALUE...: runs under TensorFlow Lite Micro.  The arena must be at
# least as large as the used bytes, and at most 256 bytes larger.
interpreted()
{
	[ -n "${NPUTOOLS_TFLM-}" ] || skip "no TensorFlow Lite Micro (NPUTOOLS_TFLM)"
	local line used size
	demo TFLM="$NPUTOOLS_TFLM" TFLM_DEPS="${NPUTOOLS_TFLM_DEPS-}" "$@"
	line=$(grep '^tensor arena: ' <<<"$output")
	used=${line#tensor arena: } used=${used%% *} size=${line##* }
	[ $((size - used)) -ge 0 ]
	[ $((size - used)) -le 256 ]
}

@test "TensorFlow Lite Micro runs the network in the arena of the header" {
	interpreted
}

@test "the size of the arena is computed, not found by trial" {
	local m models=(kws_ref_model person_detect resnet_quant ad01_int8 micro_speech)
	[ -n "$SHARED" ] || models=(kws_ref_model resnet_quant)
	for m in "${models[@]}"; do
		interpreted MODEL="$(network "$m")"
	done
	# also with kernels of the CPU
	interpreted MODEL="$(network kws_ref_model)" \
		NPUCC_FLAGS="--cpu=CONV_2D --cpu=SOFTMAX --cpu=FULLY_CONNECTED"
}

@test "missing files and programs are named" {
	need arm-none-eabi-gcc qemu-system-arm
	refuses 2 "ETHOSU_DRIVER=$PWD/nowhere: no src/ethosu_driver.c there" \
		env ETHOSU_DRIVER=nowhere firmware-demo
	refuses 2 "NPU=ethos-u85-256: " env NPU=ethos-u85-256 firmware-demo
	# a core driver without a structure for jobs: release 22.02 and before
	mkdir -p old/src old/include
	touch old/src/ethosu_driver.c
	echo '#define ETHOSU_DRIVER_VERSION_MINOR 16' >old/include/ethosu_driver.h
	refuses 2 "ETHOSU_DRIVER=$PWD/old: a driver older than release 22.05" \
		env ETHOSU_DRIVER=old firmware-demo
}

@test "the simulated registers suit both interfaces of Arm's driver" {
	need arm-none-eabi-gcc
	# the parts of a header that device.c needs, and the hook that differs between 0.16
	# and 1.0
	local hook
	for hook in 'uint32_t *p, size_t bytes' \
		'const uint64_t *base_addr, const size_t *base_addr_size, int num_base_addr'; do
		cat >ethosu_driver.h <<-END
		#include <stddef.h>
		#include <stdint.h>
		struct ethosu_job {
			const uint64_t *base_addr;
			const size_t *base_addr_size;
			int num_base_addr;
		};
		struct ethosu_driver { struct ethosu_job job; };
		void ethosu_flush_dcache($hook);
		void ethosu_inference_begin(struct ethosu_driver *drv, void *user_arg);
		END
		arm-none-eabi-gcc -mcpu=cortex-m55 -std=gnu11 -D_GNU_SOURCE -include sys/types.h \
			-Wall -Wextra -Wconversion -Werror -DNPU_NAME='"ethos-u55-128"' -I. \
			-I"$TOP/libcommon" -I"$TOP/schema" -fsyntax-only \
			"$TOP/tests/firmware/an547/device.c"
	done
}

# two FIRST SECOND VARIABLE=VALUE...: two networks on one arena
two()
{
	demo MODELS="$1 $2" "${@:3}"
	[[ "$output" == *"2 networks in an arena of "*" bytes, 16 runs in random order"* ]]
}

networks()
{
	cp "$(network hello_world_int8)" second.tflite
	two "$TOP/tests/models/digits.tflite" "$PWD/second.tflite" "$@"
}

# streaming: ring.tflite and lstm.tflite, networks with variables
streaming()
{
	ring 9 5 1,2,3,4,5,6
	mv m.tflite ring.tflite
	"$gen/gen-model" 12 UNIDIRECTIONAL_SEQUENCE_LSTM >lstm.tflite
}

@test "two networks run in random order on one arena" {
	networks
}

@test "two networks keep their variables while the other one runs" {
	streaming
	two ring.tflite lstm.tflite
}

@test "two networks with variables, IF and WHILE run under TensorFlow Lite Micro" {
	[ -n "${NPUTOOLS_TFLM-}" ] || skip "no TensorFlow Lite Micro (NPUTOOLS_TFLM)"
	local with=(TFLM="$NPUTOOLS_TFLM" TFLM_DEPS="${NPUTOOLS_TFLM_DEPS-}")
	streaming
	two ring.tflite lstm.tflite "${with[@]}"
	# the interpreter must not place a buffer of the last operator on a variable
	ends_on_cpu
	two m.tflite lstm.tflite "${with[@]}"
	# nor one of a body on a variable of another body
	"$gen/gen-model" 1 SVDF | "$gen/control-model" if 1 >bodies.tflite
	two bodies.tflite ring.tflite "${with[@]}"
	# a variable of VAR_HANDLE, which the interpreter keeps
	read_in_body
	two m.tflite lstm.tflite "${with[@]}"
	"$gen/gen-model" 1 CONV_2D | "$gen/control-model" both 3 >control.tflite
	two control.tflite lstm.tflite "${with[@]}"
}

@test "two networks run in random order on one arena under TensorFlow Lite Micro" {
	[ -n "${NPUTOOLS_TFLM-}" ] || skip "no TensorFlow Lite Micro (NPUTOOLS_TFLM)"
	networks TFLM="$NPUTOOLS_TFLM" TFLM_DEPS="${NPUTOOLS_TFLM_DEPS-}"
	# their arenas share no byte, and the NPU has a memory of its own
	networks TFLM="$NPUTOOLS_TFLM" TFLM_DEPS="${NPUTOOLS_TFLM_DEPS-}" \
		SHARE_FLAGS=--together=digits,second NPU=ethos-u65-256 MEMORY=Dedicated_Sram
}
