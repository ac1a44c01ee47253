# SPDX-License-Identifier: Apache-2.0
# scripts/boards: from a model to a board, as far as a PC can test.

load lib/common
load lib/model
load lib/state

boards=$TOP/scripts/boards
driver=$TOP/tests/firmware/driver
digits=$TOP/tests/models/digits.tflite
strict="-std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror"

# network [MODEL] OPTION...: out/ for the model, or the digits model
network()
{
	case $1 in *.tflite) ;; *) set -- "$digits" "$@" ;; esac
	"$boards/make-network" out "$1" -- "${@:2}" 2>notes
}

# on_host MAIN.c: builds main and the network with the simulator in place of the NPU, and runs it
on_host()
{
	need gcc
	[[ $BIN != *asan* ]] || skip "libcommon.a calls the sanitizers, and the firmware is built without them"
	# shellcheck disable=SC2086
	gcc $strict ${CFLAGS-} -I. -Iout -I"$boards" -I"$driver" -I"$TOP/libcommon" -I"$TOP/schema" -o on_host \
		"$1" "$boards/run_network.c" out/network.c "$driver/simulated.c" \
		"${NPUTOOLS_BUILD:-$TOP/build}/libcommon.a" -lm -pthread
	./on_host
}

host_main()
{
	cat >main.c <<-'END'
		#include <stddef.h>
		#include "ethosu_driver.h"
		#include "run_network.h"
		int main(void)
		{
			static struct ethosu_driver driver;
			return ethosu_init(&driver, NULL, NULL, 0, 1, 1) || run_network(&driver);
		}
	END
}

@test "the README's command makes a network, and a failed step leaves no file" {
	sed -n '/^```sh/,/^```/p' "$boards/README.md" | grep '^digits=\|^./make-network' >commands
	[ "$(wc -l <commands)" = 2 ]
	sed -i "s| out | '$PWD/out' |" commands
	(cd "$boards" && . "$OLDPWD/commands" 2>"$OLDPWD/notes")
	cp -r out before
	# without the numbers of black and white, mkinput fails, the last step
	local picture=${digits%.tflite}/digit-7.pgm
	refuses 2 "make-network: options of mkinput stand behind $picture, before --" \
		"$boards/make-network" none "$digits" "$picture" -- --part=himax-we2
	[ ! -e none ]
	# an option would not help
	printf 123 >short.raw
	refuses 2 "short.raw: error: " "$boards/make-network" none "$digits" short.raw -- --part=himax-we2
	run ! grep 'stand behind' refuses.err
	refuses 2 "use --range=0,1" "$boards/make-network" out "$digits" "$picture" -- --part=himax-we2
	diff -r before out
	refuses 2 "--range is for the pictures of --quantize=DATA, which is missing" \
		"$boards/make-network" none "$digits" "$picture" -- --part=himax-we2 --range=0,1
	refuses 2 "no npucc in PATH" env PATH="$PWD/none" \
		"$boards/make-network" none "$digits" -- --part=himax-we2
	[ ! -e none ]
	refuses 2 "run_network.c needs inputs and outputs in the arena: leave out --separate-io-regions" \
		"$boards/make-network" none "$digits" -- --part=himax-we2 --separate-io-regions
	[ ! -e none ]
	# last, as a build with sanitizers skips it
	host_main
	on_host main.c
}

@test "run_network says what the README says, or the first byte that differs" {
	host_main
	for part in alif-e7-hp himax-we2 nuvoton-m55m1 renesas-ra8p1; do
		network --part=$part
		on_host main.c >console
		grep -qx "$(sed -n 's/^    \(network: all .*\)/\1/p' "$boards/README.md")" console
	done
	# several operators, and an operator of the CPU
	network --part=himax-we2 --yield-every=8000 --cpu=RESHAPE
	[ "$(grep -c 'status = network_npu(' out/network.c)" -gt 2 ]
	on_host main.c
	# the test is of the network as it is compiled, not of the model
	ends m
	network m.tflite --part=himax-we2 --integer-io
	grep -q 'const int8_t input_data' out/input_data.h
	on_host main.c
	network --part=himax-we2 --cut-outputs=residual
	grep -q 'const int8_t expected_output_data' out/expected_output.h
	on_host main.c
	network --part=himax-we2
	sed -i '/{/,$ s/\(-\{0,1\}[0-9][0-9]*\), /5, /' out/expected_output.h
	run on_host main.c
	[ "$status" = 1 ]
	[[ $output == "network: byte "*" of output 0 is "*", expected "* ]]
}

# several: a model of two inputs and three outputs, float and int8
# shellcheck disable=SC2154 # t is of lib/model
several()
{
	ends several "$t += [{shape:[1,4],type:9,name:\"in 1\",quantization:{scale:[0.5],zero_point:[-10]}},
			{shape:[1,2],type:9,name:\"out 1\",quantization:{scale:[2.0],zero_point:[3]}}]
		| .subgraphs[0].inputs += [6] | .subgraphs[0].outputs = [7,5,3]
		| .subgraphs[0].operators += [.subgraphs[0].operators[1] | .inputs[0] = 6 | .outputs = [7]]"
}

@test "all inputs and outputs are tested, and the output that differs is named" {
	host_main
	several
	network several.tflite --part=himax-we2
	[ "$(on_host main.c)" = "network: all 12 bytes of the outputs are as expected" ]
	# one file for each input: other outputs than those of random inputs
	cp out/expected_output.h random.h
	echo '5 -3 2 40' >0.csv
	echo '-7 7 1 2' >1.csv
	"$boards/make-network" out several.tflite 0.csv 1.csv --real -- --part=himax-we2 2>notes
	! cmp -s random.h out/expected_output.h || return 1
	[ "$(on_host main.c)" = "network: all 12 bytes of the outputs are as expected" ]
	refuses 2 "the model has 2 inputs, but there is 1 file" \
		"$boards/make-network" out several.tflite 0.csv -- --part=himax-we2
	# a wrong byte in output 2, and in no other
	awk '/expected_output_data_2\[/ { print; getline; sub(/-?[0-9]+/, "99") } { print }' \
		out/expected_output.h >changed.h
	mv changed.h out/expected_output.h
	run on_host main.c
	[ "$status" = 1 ]
	[[ $output == "network: byte 0 of output 2 is "*", expected 99" ]]
	# the arrays of another network
	cp out/network.[ch] .
	network --part=himax-we2
	cp network.[ch] out
	run on_host main.c
	[ "$status" != 0 ]
}

@test "a network with variables begins with their first values" {
	host_main
	# the zero point is not 0, and so are the first values; then values that the NPU adds
	for first in 251,251,251,251,251,251 1,2,3,4,5,6; do
		ring 9 -5 $first
		network m.tflite --part=renesas-ra8p1
		grep -q '^#define NETWORK_STATES [12]$' out/network.h
		[ "$(on_host main.c)" = "network: all 8 bytes of the output are as expected" ]
	done
	[ -n "$SHARED" ] || return 0
	network "$SHARED/models-real/wakeword_vad.tflite" --part=renesas-ra8p1
	on_host main.c
}

# base NAME "MEMORY...": the memories and the sections of a vendor's linker script, base.ld
base()
{
	cat >base.ld <<-END
		MEMORY { $1 }
		SECTIONS {
			.text : { *(.text*) *(.rodata*) } >$2
			.ARM.exidx : { *(.ARM.exidx*) } >$2
			.data : { *(.data*) } >$3 AT>$2
			.bss : { *(.bss) *(.bss.*) *(COMMON) } >$3
		}
	END
}

# placed BOARD PART MODEL-ADDRESS ARENA-ADDRESS: model and arena are in 16 MB from there
placed()
{
	need arm-none-eabi-gcc
	network --part="$2"
	for f in "$boards/run_network.c" out/network.c; do
		# shellcheck disable=SC2086
		arm-none-eabi-gcc -mcpu=cortex-m55 $strict -Iout -I"$boards" -I"$driver" -c "$f"
	done
	arm-none-eabi-ld --unresolved-symbols=ignore-all -e run_network \
		-T "$boards/$1/sections.ld" -T base.ld -o out.elf run_network.o network.o
	arm-none-eabi-objdump -h out.elf >sections
	local name size address at
	for name in model arena; do
		read -r _ _ size address _ < <(grep " \.network_$name " sections)
		at=$3
		[ $name = model ] || at=$4
		[ $((0x$size)) -gt 4096 ]
		[ $((0x$address % 16)) = 0 ]
		# whole lines of the cache
		[ $name = model ] || [ $((0x$address % 32 + 0x$size % 32)) = 0 ]
		[ $((0x$address)) -ge $((at)) ] && [ $((0x$address)) -lt $((at + (16 << 20))) ]
	done
	# the arena is not in the image
	! grep -A1 ' \.network_arena ' sections | tail -1 | grep -q LOAD || return 1
}

@test "caches are cleaned around each run of the NPU, between operators of the CPU" {
	need gcc
	host_main
	network --part=himax-we2 --yield-every=8000 --cpu=RESHAPE
	printf '%s\n' '#include <stdio.h>' 'static inline void clean(void) { puts("cleaned"); }' >caches.h
	CFLAGS="-DNETWORK_CACHES=clean -DNETWORK_HEADER=\"caches.h\"" on_host main.c >console
	local runs
	runs=$(grep -c 'status = network_npu(' out/network.c)
	[ "$runs" -gt 1 ]
	[ "$(grep -c '^cleaned$' console)" = $((2 * runs)) ]
}

@test "the fragments of linker scripts put model and arena where the NPU reaches them" {
	base 'DTCM (rwx) : ORIGIN = 0x20000000, LENGTH = 1M
		SRAM0 (rwx) : ORIGIN = 0x02000000, LENGTH = 4M
		MRAM (rx) : ORIGIN = 0x80200000, LENGTH = 2M' MRAM DTCM
	placed alif-e7 alif-e7-hp 0x80200000 0x02000000
	base 'CM55M_S_APP_ROM (rx) : ORIGIN = 0x10000000, LENGTH = 256K
		CM55M_S_APP_DATA (rwx) : ORIGIN = 0x30000000, LENGTH = 256K
		CM55M_S_SRAM (rwx) : ORIGIN = 0x3401f000, LENGTH = 0x1e1000' CM55M_S_APP_ROM CM55M_S_APP_DATA
	placed himax-we2 himax-we2 0x3a200000 0x34000000
	# with the data of the test: 784 bytes of input, and output
	arm-none-eabi-nm out.elf >names
	grep -q '^3a2..... . input_data$' names
	grep -q '^3a2..... . expected_output_data$' names
	# what Himax's page flashes, beside an image without it
	arm-none-eabi-objcopy -O binary --only-section=.network_model out.elf network_model.bin
	arm-none-eabi-objcopy --remove-section=.network_model out.elf
	[ "$(stat -c %s network_model.bin)" -gt 4096 ]
	arm-none-eabi-objcopy -O binary --only-section=.text out.elf text.bin
	[ -s text.bin ]
	base 'FLASH (rx) : ORIGIN = 0x00100000, LENGTH = 2M
		SRAM012 (rw) : ORIGIN = 0x20100000, LENGTH = 1344K
		DTCM (rw) : ORIGIN = 0x20000000, LENGTH = 128K' FLASH DTCM
	placed nuvoton-m55m1 nuvoton-m55m1 0x00100000 0x20100000
}

@test "the CMSIS solution compiles its list of files, and its main runs the network" {
	cp "$digits" keyword.tflite
	# shellcheck disable=SC2016 # dollars and backquotes are text
	command=$(sed -n 's/^ *run: \.\.\///p' "$boards/csolution/keyword.cproject.yml" |
		sed 's/\$input(0)\$/keyword.tflite/; s/ network / out /')
	[[ $command == make-network* ]]
	eval "$boards/$command" 2>notes
	sed -n 's/^ *- network\///p' "$boards/csolution/keyword.cproject.yml" | while read -r f; do
		[ -s "out/$f" ]
	done
	# stand-ins for the headers of the packs
	echo '#define CMSIS_device_header "device.h"' >RTE_Components.h
	echo 'enum { ETHOS_U55_IRQn = 56 }; static inline void NVIC_EnableIRQ(int n) { (void)n; }' >device.h
	files=$(sed -n 's/^ *- file: //p' "$boards/csolution/keyword.cproject.yml")
	[ "$(wc -w <<<"$files")" = 3 ]
	if command -v arm-none-eabi-gcc >/dev/null; then
		for f in $files; do
			f=$boards/csolution/$f
			[ -e "$f" ] || f=out/${f##*/}
			# shellcheck disable=SC2086
			arm-none-eabi-gcc -mcpu=cortex-m55 $strict -I. -Iout -I"$boards" -I"$driver" -c "$f"
		done
	fi
	CFLAGS=-DNPU_BASE=0 on_host "$boards/csolution/main.c"
}

@test "cmake builds the Zephyr application, whose functions are stand-ins" {
	need cmake gcc
	network --part=nuvoton-m55m1
	mkdir -p zephyr/cmake include/zephyr
	cat >zephyr/cmake/ZephyrConfig.cmake <<-'END'
		enable_language(C)
		add_library(app STATIC)
		target_include_directories(app PRIVATE ${STAND_INS})
		function(dt_nodelabel variable keyword label)
			if(DDR)
				set(${variable} /${label} PARENT_SCOPE)
			endif()
		endfunction()
		function(dt_node_has_status variable keyword path status okay)
			set(${variable} "${DDR}" PARENT_SCOPE)
		endfunction()
		function(zephyr_linker_sources location)
			file(APPEND "${CMAKE_BINARY_DIR}/linked" "${location} ${ARGN} ")
		endfunction()
	END
	echo 'static inline int sys_cache_data_flush_and_invd_all(void) { return 0; }' >include/zephyr/cache.h
	cp "$driver/ethosu_driver.h" include
	arguments=(-DZephyr_DIR="$PWD/zephyr/cmake" "-DSTAND_INS=$PWD/include")
	run cmake -S "$boards/zephyr" -B none "${arguments[@]}" -DNETWORK="$PWD/none"
	[ "$status" = 1 ]
	[[ $output == *"run make-network, and name"* ]]
	cmake -S "$boards/zephyr" -B build "${arguments[@]}" -DNETWORK="$PWD/out" >cmake.log
	cmake --build build >cmake.log
	nm build/libapp.a >names
	grep -q ' T run_network$' names
	grep -q ' T main$' names
	readelf -SW build/libapp.a >sections
	[ "$(cat build/linked)" = 'RODATA model.ld NOINIT arena.ld ' ]
	cmake -S "$boards/zephyr" -B ddr "${arguments[@]}" -DNETWORK="$PWD/out" -DDDR=1 >cmake.log
	[ "$(cat ddr/linked)" = 'SECTIONS ddr.ld ' ]
	# the fragments have the sections that the files have
	for f in network_model network_arena; do
		grep -q " $f " sections
		[ "$(cat "$boards"/zephyr/*.ld | grep -c "$f")" = 2 ]
	done
	grep -qx 'CONFIG_ETHOS_U=y' "$boards/zephyr/prj.conf"
	# therefore boards that build with west name no other section
	local pages
	pages=$(grep -l '^west build' "$boards"/*/README.md)
	[ "$(wc -w <<<"$pages")" -ge 2 ]
	# shellcheck disable=SC2086 # several files
	! grep -n 'SECTION=' $pages || return 1
}

@test "the headers for Zephyr's sample tflm_ethosu have the names that it uses" {
	need g++
	cp "$digits" model.tflite
	sed -n '/^```sh/,/^```/p' "$boards/zephyr/README.md" | grep '^npucc\|^tfl2c\|^echo\|^mkinput\|^sed' >commands
	[ "$(wc -l <commands)" = 6 ]
	# shellcheck source=/dev/null
	. ./commands 2>notes
	cat >main.cpp <<-'END'
		#include <cstddef>
		#include <cstdint>
		#include <string>
		#include "input.h"
		#include "model.h"
		#include "output.h"
		#ifndef TENSOR_ARENA_SIZE
		#error no size
		#endif
		struct data { void *p; size_t n; };
		TENSOR_ARENA_ATTR uint8_t arena[TENSOR_ARENA_SIZE];
		int main()
		{
			data model = { networkModelData, sizeof(networkModelData) };
			data in = { inputData, sizeof(inputData) }, out = { expectedOutputData, sizeof(expectedOutputData) };
			return model.n > 10000 && in.n == 784 && out.n == 10 && std::string(modelName) == "model" ? 0 : 1;
		}
	END
	g++ -std=c++17 -Wall -Wextra -Werror -o main main.cpp
	./main
}

@test "the evaluation kit is configured for the model's NPU, memory mode and arena" {
	need cmake
	mkdir kit
	cat >kit/CMakeLists.txt <<-'END'
		cmake_minimum_required(VERSION 3.16)
		project(kit NONE)
		file(WRITE "${CMAKE_BINARY_DIR}/got" "${USE_CASE_BUILD} ${ETHOS_U_NPU_ID} ${ETHOS_U_NPU_CONFIG_ID} ${ETHOS_U_NPU_MEMORY_MODE} ${TARGET_PLATFORM}\n${kws_MODEL_TFLITE_PATH}\n${kws_ACTIVATION_BUF_SZ}\n")
	END
	"$boards/mlek/configure" kit kws "$digits" build -DTARGET_PLATFORM=mps3 -- --part=corstone-300 >log 2>notes
	[ "$(head -1 build/got)" = "kws U55 H256 Shared_Sram mps3" ]
	[ "$(sed -n 2p build/got)" = "$PWD/build/model_npu.tflite" ]
	arena=$(sed -n 3p build/got)
	tfl2c --arena-limit="$arena" -o m.h build/model_npu.tflite
	"$boards/mlek/configure" kit kws "$digits" u85 -- --part=alif-e8-u85 >log 2>notes
	[ "$(head -1 u85/got)" = "kws U85 Z256 Shared_Sram " ]
	refuses 2 "usage: configure KIT" "$boards/mlek/configure" kit
	refuses 2 "usage: make-network DIR" "$boards/make-network" out
}

@test "the commands of the page on i.MX93 are accepted, and their streams by the driver" {
	cp "$digits" model.tflite
	# shellcheck disable=SC2016
	sed -n '/^```sh/,/^```/p' "$boards/imx93/README.md" | grep '^npucc\|^npu-dis' >commands
	[ "$(wc -l <commands)" = 3 ]
	while read -r command; do
		eval "$command" >log 2>&1
		[[ $command != *--target=linux* ]] || npu-dis --verify=linux -q model_npu.tflite
	done <commands
}

@test "the pages name parts that exist, and one page says what was not run" {
	npucc --list-parts >parts
	grep -rho 'part=[a-z0-9-]*' "$boards" | cut -d= -f2 | sort -u | while read -r part; do
		grep -q "^ *$part\b" parts
	done
	[ "$(grep -rl 'run on a board' "$boards" | wc -l)" = 1 ]
	for d in "$boards"/*/; do
		[ -s "$d/README.md" ]
		[ "$(wc -l <"$d/README.md")" -le 60 ]
		grep -q "| \`$(basename "$d")\`" "$boards/README.md"
	done
}
