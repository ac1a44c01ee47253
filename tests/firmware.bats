#!/usr/bin/env bats
# The inference loop of tests/firmware on a Cortex-M55: it is compiled and linked with
# headers of our own programs, and run if there is an emulator.

load lib/common
load lib/model

warnings="-Wall -Wextra -Wconversion -Wundef -Wshadow -Wpedantic
	-Wmissing-prototypes -Werror"
m55="-mcpu=cortex-m55 -std=c11 -O2 -ffreestanding $warnings -I. -I$TOP/tests/firmware"
placed="-nostartfiles -specs=nosys.specs -Wl,--fatal-warnings
	-T $TOP/tests/firmware/sections.ld -T $TOP/tests/firmware/board.ld"
src=$TOP/tests/firmware

@test "the loop finds the expected output, frame after frame (qemu)" {
	need arm-none-eabi-gcc
	model m
	echo '0.5 1 1.5 2' >v.csv
	mkinput --sections -o input_data.h --expected=expected_output.h m.tflite v.csv
	tfl2c -n model --declarations -o model.h m.tflite
	arm-none-eabi-gcc $m55 $placed -o loop.elf "$src"/{loop,npu_cpu,board}.c
	need qemu-system-arm
	run timeout 60 qemu-system-arm -machine mps3-an547 -nographic \
		-monitor none -serial none \
		-semihosting-config enable=on,target=native -kernel loop.elf
	[ "$status" -eq 0 ]
	[ "$output" = "all frames done" ]

	# an output that is wrong by one is detected
	sed -i 's/^  11, -5$/  11, -6/' expected_output.h
	arm-none-eabi-gcc $m55 $placed -o loop.elf "$src"/{loop,npu_cpu,board}.c
	run timeout 60 qemu-system-arm -machine mps3-an547 -nographic \
		-monitor none -serial none \
		-semihosting-config enable=on,target=native -kernel loop.elf
	[ "$status" -eq 1 ]
	[ "$output" = "the output is not what was expected" ]
}

@test "the sections have the addresses of the linker fragment" {
	need arm-none-eabi-gcc
	model m
	echo '0.5 1 1.5 2' >v.csv
	mkinput --sections -o input_data.h --expected=expected_output.h m.tflite v.csv
	tfl2c -n model --declarations -o model.h m.tflite
	arm-none-eabi-gcc $m55 $placed -o loop.elf "$src"/{loop,npu_cpu,board}.c
	arm-none-eabi-nm loop.elf >symbols
	grep -q '^11000000 . input_data$' symbols
	grep -q '^11080000 . output_data$' symbols
	grep -q '^110c0000 . expected_output_data$' symbols
}

@test "an Ethos-U with its driver and without an interpreter links for a Cortex-M55" {
	need arm-none-eabi-gcc
	npu_model n "$U55_128"
	mkinput --random 1 -o input_data.h --sections n.tflite
	tfl2c -n model --memory-mode=Shared_Sram --declarations -o model.h n.tflite
	tfl2c -n model --format=asm -o model.S n.tflite
	cat >expected_output.h <<-'END'
	#include <stdint.h>
	static const int expected_output_data_len = 5;
	static const uint8_t expected_output_data[5] = { 90, 90, 90, 90, 90 };
	END
	# this network's output is uint8_t: the loop's output is cast in one place
	sed 's/npu_invoke(input_data, output_data)/npu_invoke(input_data, (int8_t *)output_data)/' \
		"$src/loop.c" >loop.c
	arm-none-eabi-gcc $m55 -DETHOSU55 -DETHOSU_MACS=128 -I"$src/driver" $placed \
		-o loop.elf loop.c "$src"/{npu_ethosu,board}.c "$src/driver/witness.c" model.S
	arm-none-eabi-nm loop.elf >symbols
	grep -q '^11100000 . scratch$' symbols
	need qemu-system-arm
	# the witness checks addresses and payload, and writes 0x5a = 90
	run timeout 60 qemu-system-arm -machine mps3-an547 -nographic \
		-monitor none -serial none \
		-semihosting-config enable=on,target=native -kernel loop.elf
	[ "$output" = "all frames done" ]
	[ "$status" -eq 0 ]
}

# on_host PLAIN DATA...: compiles PLAIN with the whole pipeline and runs the loop on the
# host.  The simulator implements the driver's interface.  The expected output comes from
# the plain model.
on_host()
{
	on_host_for ethos-u55-128 RTSS_HE_SRAM_MRAM Shared_Sram "$@"
}

on_host_for()
{
	local npu=$1 system=$2 mode=$3
	shift 3
	need gcc
	local lib=${NPUTOOLS_BUILD:-$TOP/build}/libcommon.a
	[ -e "$lib" ] || { echo "no $lib"; return 1; }
	npucc -a "$npu" --system-config="$system" --memory-mode="$mode" \
		-o compiled.tflite "$1"
	mkinput --sections -o input_data.h --expected=expected_output.h "$@"
	tfl2c -n model --memory-mode="$mode" --declarations -o model.h compiled.tflite
	tfl2c -n model --format=source -o model.c compiled.tflite
	gcc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -I. -I"$src" -I"$src/driver" \
		-I"$TOP/libcommon" -I"$TOP/schema" "-DETHOSU${npu:7:2}" "-DETHOSU_MACS=${npu##*-}" \
		${CFLAGS-} -o loop "$src"/{loop,npu_ethosu,host}.c \
		"$src/driver/simulated.c" model.c "$lib" -lm -pthread
	run ./loop
	echo "$output"
	[ "$output" = "all frames done" ]
	[ "$status" -eq 0 ]
}

@test "a compiled model, called as by firmware and simulated, gives the expected output" {
	model m
	echo '0.5 1 1.5 2' >v.csv
	on_host m.tflite v.csv
}

@test "a larger network gives the expected output, too" {
	[ -z "$SHARED" ] || on_host "$SHARED/models/ad01_int8.tflite" \
		"$SHARED/golden/ad01_int8/0/input_0.npy"
	[ -n "$SHARED" ] || on_host "$(network ad01_int8)" "$TOP/tests/models/digits/digit-4.pgm" --range=0,1
}

@test "an Ethos-U65 with a fast memory of its own gives the expected output" {
	local in=("$SHARED/golden/kws_ref_model/0/input_0.npy")
	[ -n "$SHARED" ] || in=("$TOP/tests/models/digits/digit-4.pgm" "--range=0,1")
	on_host_for ethos-u65-512 Ethos_U65_High_End Dedicated_Sram \
		"$(network kws_ref_model)" "${in[@]}"
	grep -q '^#define MODEL_NPU_CACHE_BYTES [1-9]' model.h
}

@test "a model compiled for another NPU does not build" {
	need arm-none-eabi-gcc
	npu_model n "$U55_128"
	tfl2c -n model -o model.h n.tflite
	run arm-none-eabi-gcc $m55 -DETHOSU55 -DETHOSU_MACS=256 -I"$src/driver" -c "$src/npu_ethosu.c"
	[ "$status" -ne 0 ]
	[[ "$output" == *"model is compiled for an NPU with 128 MACs per cycle (ethos-u55-128)"* ]]
}
