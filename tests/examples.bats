#!/usr/bin/env bats
# scripts/examples: each example is built, and run on the host if the simulator can stand
# for its driver.

load lib/common
load lib/model
load lib/state

examples=$TOP/scripts/examples
driver=$TOP/tests/firmware/driver
digits=$TOP/tests/models/digits.tflite
picture=$TOP/tests/models/digits/digit-7.pgm
strict="-std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror"

# headers OPTION...: the headers of the digits model, named network; OPTION is for mkinput
headers()
{
	cp "$digits" network.tflite
	npucc -a ethos-u55-128 --system-config=RTSS_HE_SRAM_MRAM \
		--memory-mode=Shared_Sram -X tfl2c:--resolver -o network.h network.tflite
	mkinput --range=0,1 "$@" -o input_data.h --expected=expected_output.h \
		network.tflite "$picture"
}

# apart: the same with inputs and outputs outside of the arena
apart()
{
	cp "$digits" network.tflite
	npucc -a ethos-u55-128 --system-config=RTSS_HE_SRAM_MRAM \
		--memory-mode=Shared_Sram --separate-io-regions -o network.h network.tflite
	mkinput --range=0,1 -o input_data.h --expected=expected_output.h \
		network.tflite "$picture"
}

# call_headers: the same with SOFTMAX on the CPU, and the function as network.c
call_headers()
{
	cp "$digits" network.tflite
	npucc -a ethos-u55-128 --system-config=RTSS_HE_SRAM_MRAM \
		--memory-mode=Shared_Sram --cpu=SOFTMAX -o network_npu.tflite network.tflite
	tfl2c -n network --format=call -o network.c network_npu.tflite
	tfl2c -n network --format=call --declarations -o network.h network_npu.tflite
	mkinput --range=0,1 -o input_data.h --expected=expected_output.h \
		network.tflite "$picture"
}

# on_host EXAMPLE [FILE]: builds and runs an example; the status is that of main
on_host()
{
	need gcc
	[[ $BIN != *asan* ]] || skip "libcommon.a calls the sanitizers, and the example is built without them"
	local lib=${NPUTOOLS_BUILD:-$TOP/build}/libcommon.a
	# shellcheck disable=SC2086
	gcc $strict -DNPU_BASE=0 -I. -I"$driver" -I"$TOP/libcommon" -I"$TOP/schema" \
		${CFLAGS-} -o example "$examples/$1" "${@:2}" "$driver/simulated.c" "$lib" \
		-lm -pthread
	./example
}

@test "a bare call finds the expected output" {
	headers
	on_host bare.c
	sed -i 's/, 127, /, 126, /' expected_output.h
	run on_host bare.c
	[ "$status" -eq 1 ]
}

@test "a bare call fills all inputs and compares all outputs" {
	# shellcheck disable=SC2154 # t is of lib/model
	model network "$t += [{shape:[1,4],type:9,name:\"in 1\",quantization:{scale:[0.5],zero_point:[-10]}},
			{shape:[1,2],type:9,name:\"out 1\",quantization:{scale:[2.0],zero_point:[3]}}]
		| .subgraphs[0].inputs += [4] | .subgraphs[0].outputs = [5,3]
		| .subgraphs[0].operators += [.subgraphs[0].operators[0] | .inputs[0] = 4 | .outputs = [5]]"
	npucc -a ethos-u55-128 --system-config=RTSS_HE_SRAM_MRAM --memory-mode=Shared_Sram -o network.h network.tflite
	mkinput --random=1 -o input_data.h --expected=expected_output.h network.tflite
	on_host bare.c
	awk '/expected_output_data_1\[/ { print; getline; sub(/-?[0-9]+/, "99") } { print }' \
		expected_output.h >changed.h
	mv changed.h expected_output.h
	run on_host bare.c
	[ "$status" -eq 1 ]
}

@test "a call with an operator on the CPU finds the same digit" {
	call_headers
	on_host call.c network.c
	sed -i 's/, 127, /, -128, /' expected_output.h
	run on_host call.c network.c
	[ "$status" -eq 1 ]
}

@test "a continuous loop finds the output by interrupt and by polling" {
	headers --sections
	on_host continuous.c
}

@test "two alternating buffers find the output, frame by frame" {
	apart
	on_host buffers.c
	sed -i 's/, 127, /, 126, /' expected_output.h
	run on_host buffers.c
	[ "$status" -eq 1 ]
}

@test "each example sets the first values of a network's variables" {
	local target=(-a ethos-u55-128 --system-config=RTSS_HE_SRAM_MRAM --memory-mode=Shared_Sram)
	ring 9 -5 251,251,251,251,251,251
	mv m.tflite network.tflite
	npucc "${target[@]}" -o network.h network.tflite
	mkinput --sections --random=1 -o input_data.h --expected=expected_output.h network.tflite
	on_host bare.c
	CFLAGS=-DFRAMES=1 on_host continuous.c # the expected output is that of the first frame
	npucc "${target[@]}" --separate-io-regions -o network.h network.tflite
	CFLAGS=-DFRAMES=1 on_host buffers.c
}

@test "the examples are built for a Cortex-M55, and their sections have load addresses" {
	need arm-none-eabi-gcc
	headers --sections
	cat >board.ld <<-'END'
	MEMORY { ROM (rx) : ORIGIN = 0x0, LENGTH = 1M
		RAM (rw) : ORIGIN = 0x20000000, LENGTH = 1M }
	SECTIONS { .text : { *(.text*) *(.rodata*) } >ROM
		.ARM.exidx : { *(.ARM.exidx*) } >ROM
		.data : { *(.data*) } >RAM AT>ROM
		.bss : { *(.bss*) *(COMMON) } >RAM }
	END
	for e in bare continuous; do
		# shellcheck disable=SC2086
		arm-none-eabi-gcc -mcpu=cortex-m55 $strict -I. -I"$driver" -c "$examples/$e.c"
	done
	mkdir call && cd call && call_headers && cd ..
	# shellcheck disable=SC2086
	arm-none-eabi-gcc -mcpu=cortex-m55 $strict -Icall -I"$driver" -c "$examples/call.c" \
		call/network.c
	arm-none-eabi-ld --unresolved-symbols=ignore-all -e main \
		-T "$examples/sections.ld" -T board.ld -o out.elf continuous.o
	arm-none-eabi-objdump -h out.elf >sections
	# the run address and the load address
	read -r _ _ size vma lma _ < <(grep ' \.input_data ' sections)
	[ "$size" = 00000310 ]
	[ $((0x$vma)) -ge $((0x20000000)) ]
	[ $((0x$lma)) -lt $((0x100000)) ]
	grep ' \.output_data ' -A1 sections | tail -1 | grep -vq LOAD
}

@test "the example Makefile on npu.mk makes headers, checks and compiles" {
	need gcc
	cp "$digits" network.tflite
	cp "$examples"/{Makefile,bare.c} .
	mkdir -p driver/include
	cp "$driver/ethosu_driver.h" driver/include
	local options=(NPU_MK="$TOP/scripts/npu.mk" CFLAGS=-Werror INPUT="$picture"
		NPU_MKINPUT_FLAGS="--range=0,1" CC=gcc)
	# no default chooses an NPU that the firmware does not have
	refuses 2 "set NPU_PART" make -s "${options[@]}" ETHOSU_DRIVER=driver
	make -s "${options[@]}" ETHOSU_DRIVER=driver NPU_PART=alif-e7-he
	[ -s bare.o ]
	grep -q '0 errors' network.checked
	grep -q 'int8_t input_data' input_data.h
}

@test "the example project of the CMake module is built" {
	need cmake gcc
	cp "$digits" network.tflite
	mkinput --random=1 -o input_data.h --expected=expected_output.h network.tflite
	mkdir -p driver/include
	cp "$driver/ethosu_driver.h" driver/include
	cmake -S "$examples" -B out -DETHOSU_DRIVER="$PWD/driver" -DHEADERS="$PWD" \
		-DMODEL="$PWD/network.tflite" -DNPU_PART=alif-e7-he >cmake.log
	cmake --build out >>cmake.log
	[ -s out/nputools/network.h ]
}

@test "an application of TensorFlow Lite Micro is built" {
	[ -n "${NPUTOOLS_TFLM-}" ] || skip "needs a checkout of TensorFlow Lite Micro, named by NPUTOOLS_TFLM"
	need arm-none-eabi-g++
	headers
	local deps=${NPUTOOLS_TFLM_DEPS:-$NPUTOOLS_TFLM/tensorflow/lite/micro/tools/make/downloads}
	arm-none-eabi-g++ -mcpu=cortex-m55 -std=c++17 -fno-exceptions -fno-rtti \
		-DTF_LITE_STATIC_MEMORY -I. -isystem "$NPUTOOLS_TFLM" \
		-isystem "$deps/flatbuffers/include" -isystem "$deps/gemmlowp" \
		-isystem "$deps/ruy" -Wall -Wextra -Werror -c "$examples/tflm.cc"
}
