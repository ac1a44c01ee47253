# SPDX-License-Identifier: Apache-2.0
# Build systems of firmware find an installed nputools.

bats_require_minimum_version 1.5.0
load lib/common

digits=$TOP/tests/models/digits.tflite

# installs pages, programs and rules with make install into at
install_root()
{
	make -s -C "$TOP" B="${NPUTOOLS_BUILD:-build}" DESTDIR="$PWD/at" \
		PREFIX=/usr install >log
}

version()
{
	npucc --version | sed 's/.* //'
}

@test "find_package(nputools) compiles a model, and accepts only versions of 1.x" {
	need cmake gcc
	install_root
	mkdir app
	cp "$digits" app
	cat >app/CMakeLists.txt <<-'END'
		cmake_minimum_required(VERSION 3.16)
		project(app C)
		find_package(nputools ${WANTED} REQUIRED)
		add_executable(app app.c)
		nputools_add_model(app digits.tflite ACCELERATOR ethos-u55-128
			SYSTEM Ethos_U55_High_End_Embedded MEMORY Shared_Sram)
	END
	printf '#include <stdint.h>\n#include "digits.h"\nint main(void) { return 0; }\n' \
		>app/app.c
	path=$PATH
	PATH=${PATH#"$BIN:"}
	cmake -S app -B out -DCMAKE_PREFIX_PATH="$PWD/at/usr" -DWANTED="$(version)" >cmake.log
	grep -q "NPUTOOLS_NPUCC:FILEPATH=$PWD/at/usr/bin/npucc" out/CMakeCache.txt
	cmake --build out >cmake.log
	out/app
	for wanted in 1.0 1; do
		cmake -S app -B out -DWANTED=$wanted >cmake.log
	done
	for wanted in 2 0.9 1.99; do
		run cmake -S app -B other$wanted -DCMAKE_PREFIX_PATH="$PWD/at/usr" \
			-DWANTED=$wanted
		[ "$status" = 1 ]
		[[ $output == *"Could not find a configuration file"* ]]
	done
	PATH=$path
}

# programs_here: the programs as links in bin, where a test may replace one
programs_here()
{
	mkdir bin
	ln -s "$BIN"/* bin
}

# another PROGRAM: replaces the link by a program with the same effect and other bytes
another()
{
	rm "bin/$1"
	cp "$BIN/$1" bin
	echo x >>"bin/$1"
}

@test "CMake compiles networks whose names have dots, in each format, again if npucc changes" {
	need cmake gcc
	programs_here
	another npucc
	cp "$digits" net_0.25.tflite
	cp "$digits" net_0.50.tflite
	npu-sched --keep-plan=net.plan -o n.sched --part=alif-e7-he \
		<(tfl-partition --part=alif-e7-he "$digits")
	cat >CMakeLists.txt <<-END
		cmake_minimum_required(VERSION 3.16)
		project(app C)
		include($TOP/scripts/examples/nputools.cmake)
		add_library(app STATIC app.c)
		target_include_directories(app PRIVATE $TOP/tests/firmware/driver)
		nputools_add_model(app net_0.25.tflite PART alif-e7-he OPTIONS --plan=$PWD/net.plan)
		nputools_add_model(app net_0.50.tflite PART alif-e7-he
			FORMAT call OPTIONS --check --cpu=SOFTMAX -X tfl2c:--profile)
		nputools_add_model(app net_0.25.tflite PART alif-e7-he FORMAT tflite)
	END
	printf '#include "%s"\n' net_0.25.h net_0.50_call.h >app.c
	PATH=$PWD/bin:${PATH#"$BIN:"}
	cmake -S . -B out >log
	cmake --build out >log 2>&1
	grep -q '^npucc: checked: ' log
	[ "$(cd out/nputools && echo *)" = "net_0.25.h net_0.25_npu.tflite net_0.50_call.c net_0.50_call.h net_0.50_npu.tflite" ]
	grep -q NET_0_50_TICKS out/nputools/net_0.50_call.c
	npucc --part=alif-e7-he -o want.tflite net_0.25.tflite
	cmp want.tflite out/nputools/net_0.25_npu.tflite
	run cmake --build out
	[[ $output != *Generating* ]]
	touch net.plan
	run cmake --build out
	[ "$(grep -o 'Generating.*' <<<"$output")" = "Generating nputools/net_0.25.h" ]
	touch bin/npucc
	run cmake --build out
	[ "$(grep -c Generating <<<"$output")" = 4 ]
	sed -i 's/FORMAT tflite/FORMAT elf/' CMakeLists.txt
	run cmake -S . -B out
	[[ $output == *"FORMAT elf for net_0.25.tflite"* ]]
}

# stages TARGET...: the names of the files that make compiles for these targets
stages()
{
	make NPU_BIN=bin/ "$@" >log
	sed -n "s/^bin.* -o '*\([^ ']*\)'* --.*/\1/p" log | paste -sd' '
}

@test "npu.mk makes a file again if a program, an option or a file that an option names changes" {
	programs_here
	cp "$digits" a.tflite
	cp "$digits" b.tflite
	printf '%s\n' '[System_Config.Mine]' core_clock=250e6 axi0_port=Sram axi1_port=OffChipFlash \
		Sram_clock_scale=1.0 OffChipFlash_clock_scale=0.1 '[Memory_Mode.Two]' \
		const_mem_area=Axi1 arena_mem_area=Axi0 cache_mem_area=Axi0 >mine.ini
	cat >Makefile <<-END
		NPU_ACCELERATOR := ethos-u55-128
		NPU_CONFIG := mine.ini
		NPU_SYSTEM := Mine
		NPU_MEMORY := Two
		NPU_INPUT_a := picture
		a_npu.tflite: NPU_SCHED_FLAGS := --plan=a.plan
		include $TOP/scripts/npu.mk
	END
	npu-sched -a ethos-u55-128 --config=mine.ini --system-config=Mine --memory-mode=Two \
		--keep-plan=a.plan -o a.sched <(tfl-partition -a ethos-u55-128 a.tflite)
	rm a.sched
	local all="a.perf a.h b.h"
	# shellcheck disable=SC2086
	[ "$(stages $all | wc -w)" = 11 ]
	grep -q 'Mine' a.perf
	# the options of one network do not compile the other one, whichever is made alone
	for target in b.h a.h a.perf b.h; do
		[ -z "$(stages "$target")" ]
		make -q NPU_BIN=bin/ "$target"
	done
	touch a.plan mine.ini
	# shellcheck disable=SC2086
	[ -z "$(stages $all)" ]
	sed -i '2i # another comment' a.plan
	run make -q NPU_BIN=bin/ a.h
	[ "$status" = 1 ]
	# shellcheck disable=SC2086
	[ "$(stages $all)" = "a.sched a.wenc a_npu.tflite a.perf a.h" ]
	echo '; another comment' >>mine.ini
	# shellcheck disable=SC2086
	[ "$(stages $all)" = "a.sched a.wenc a_npu.tflite a.perf a.h b.sched b.wenc b_npu.tflite b.h" ]
	another npu-wenc
	# shellcheck disable=SC2086
	[ "$(stages $all | wc -w)" = 11 ]
	# shellcheck disable=SC2086
	make -q NPU_BIN=bin/ $all
	head -c 784 /dev/zero >picture
	make NPU_BIN=bin/ a_input.h b_input.h
	cp a_input.h before.h
	head -c 784 "$digits" >picture
	make NPU_BIN=bin/ a_input.h b_input.h >log
	[ "$(grep -c mkinput log)" = 1 ]
	run ! cmp -s before.h a_input.h
}

@test "npu.mk makes a network for firmware without an interpreter" {
	need gcc
	cp "$digits" net_0.5.tflite
	printf 'NPU_PART := alif-e7-he\ninclude %s\n' "$TOP/scripts/npu.mk" >Makefile
	make -s net_0.5_call.c net_0.5_call.h
	npucc --part=alif-e7-he -o npu.tflite net_0.5.tflite
	tfl2c --name-of=net_0.5 --format=call npu.tflite | cmp - net_0.5_call.c
	tfl2c --name-of=net_0.5 --format=call --declarations npu.tflite | cmp - net_0.5_call.h
	printf '#include "net_0.5_call.h"\nuint8_t arena[NET_0_5_CALL_ARENA_BYTES];\n' >main.c
	gcc -Wall -Wextra -Werror -I"$TOP/tests/firmware/driver" -c main.c net_0.5_call.c
}

@test "pkg-config has the paths of programs and rules" {
	need pkg-config
	install_root
	export PKG_CONFIG_PATH=$PWD/at/usr/share/pkgconfig PKG_CONFIG_SYSROOT_DIR=
	[ "$(pkg-config --modversion nputools)" = "$(version)" ]
	for v in npucc makerules cmakemodule; do
		[ -e "at$(pkg-config --variable=$v nputools)" ]
	done
}

# prints the version of the library and the bytes of the compiled model
write_embedder()
{
	cat >main.c <<-'END'
		#include <nputools.h>
		#include <stdio.h>
		static char model[1 << 16];
		int main(void)
		{
			struct nputools_options o = { .size = sizeof(o), .part = "himax-we2" };
			struct nputools_output out;
			size_t n = fread(model, 1, sizeof(model), stdin);
			int status = nputools_compile(&o, model, n, &out);
			printf("%s %zu\n", nputools_version(), out.size);
			nputools_free(&out);
			return status;
		}
	END
}

@test "find_package and pkg-config find the library" {
	need cmake gcc pkg-config
	[[ $BIN != *asan* ]] || skip "a library with sanitizers can only be linked with -fsanitize, which find_package does not pass"
	install_root
	write_embedder
	npucc --part=himax-we2 -o model_npu.tflite "$digits" 2>notes
	cat >CMakeLists.txt <<-'END'
		cmake_minimum_required(VERSION 3.16)
		project(app C)
		find_package(nputools REQUIRED)
		add_executable(app main.c)
		target_link_libraries(app nputools::nputools)
	END
	cmake -S . -B out -DCMAKE_PREFIX_PATH="$PWD/at/usr" >cmake.log
	cmake --build out >cmake.log
	want="$(version) $(stat -c %s model_npu.tflite)"
	export LD_LIBRARY_PATH=$PWD/at/usr/lib
	[ "$(out/app <"$digits")" = "$want" ]
	export PKG_CONFIG_PATH=$PWD/at/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$PWD/at
	# shellcheck disable=SC2046 # each word is an option
	gcc -o shared main.c $(pkg-config --cflags --libs libnputools)
	# shellcheck disable=SC2046
	gcc -static -o static main.c $(pkg-config --static --cflags --libs libnputools)
	[ "$(./shared <"$digits")" = "$want" ]
	[ "$(./static <"$digits")" = "$want" ]
}

# stand-ins for Zephyr's functions write their arguments to a file
@test "the function of the Zephyr module compiles a model and places it in a section" {
	need cmake gcc
	install_root
	grep -qx 'name: nputools' at/usr/share/nputools/zephyr/zephyr/module.yml
	grep -qx '  cmake: zephyr' at/usr/share/nputools/zephyr/zephyr/module.yml
	cp "$digits" .
	cat >CMakeLists.txt <<-'END'
		cmake_minimum_required(VERSION 3.20)
		project(zephyr C)
		set(CONFIG_NPUTOOLS y)
		function(zephyr_linker_sources location)
			file(APPEND linked "${location} ${ARGN}\n")
		endfunction()
		add_library(app STATIC app.c)
		add_subdirectory("${MODULE}/zephyr" module)
		zephyr_nputools_model(digits.tflite ACCELERATOR ethos-u55-128
			SYSTEM Ethos_U55_High_End_Embedded MEMORY Shared_Sram)
		set(CONFIG_NPUTOOLS_PART alif-e7-he)
		zephyr_nputools_model(other.tflite)
	END
	cp "$digits" other.tflite
	printf '#include <stdint.h>\n#include "digits.h"\nconst void *p = %s;\n' \
		'digits' >app.c
	cmake -S . -B out -DMODULE="$PWD/at/usr/share/nputools/zephyr" >cmake.log
	cmake --build out >cmake.log
	read -r location file <linked
	[ "$location" = RODATA ]
	grep -qxF 'KEEP(*(.nputools_model))' "$file"
	grep -q 'section(".nputools_model")' out/nputools/digits.h
	readelf -SW out/libapp.a | grep -q '\.nputools_model'
}

@test "the YAML files of the examples can be read" {
	python3 -c 'import yaml' 2>none || skip "needs the yaml module of Python, to parse the files"
	python3 - "$TOP"/scripts/{boards/csolution/*.yml,github/*.yml,gitlab/*.yml,zephyr/zephyr/*.yml} <<-'END'
		import sys, yaml
		for name in sys.argv[1:]:
		    with open(name) as f:
		        assert isinstance(yaml.safe_load(f), dict), name
	END
}

@test "the comment about a changed model has the old and the new numbers" {
	# an operator on the CPU, whose time counts
	o=(--part=alif-e7-he --cpu=SOFTMAX)
	local compare=$TOP/scripts/github/compare-cycles ms sram flash
	"$NPUTOOLS_TESTBIN/gen-model" 3 >a.tflite
	cp "$digits" digits_front_128.tflite
	"$compare" a.tflite digits_front_128.tflite "${o[@]}" >comment
	[[ $(head -1 comment) == '`digits_front_128.tflite`, `--part=alif-e7-he` `--cpu=SOFTMAX`'* ]]
	npucc "${o[@]}" -o n.tflite "$digits" 2>notes
	npu-perf --json n.tflite | npu-report --numbers >numbers
	ms=$(awk '$1 == "inference_seconds" { printf "%.4g", 1e3 * $2 }' numbers)
	run ! grep -qP "^inference_ms\t${ms%?}" numbers
	sram=$(sed -n 's/^sram_bytes\t//p' numbers)
	# npu-sweep counts the same bytes
	flash=$(awk '/^(flash|stream)_bytes/ { n += $2 } END { print n }' numbers)
	grep -qE "^\| time, ms \| [0-9.]+ \| $ms \| \+[0-9.]+ % \|$" comment
	grep -qE "^\| SRAM, bytes \| [0-9]+ \| $sram \| \+[0-9.]+ % \|$" comment
	grep -qE "^\| flash, bytes \| [0-9]+ \| $flash \| \+[0-9.]+ % \|$" comment
	grep -qx "| operators on the CPU | 0 | 1 |  |" comment
	# a tolerance fails only for what grew more, after the whole table
	run "$compare" --tolerance=2.5 a.tflite "$digits" "${o[@]}"
	[ "$status" = 1 ]
	[ "$(grep -c 'more than 2.5 %\*\* |$' <<<"$output")" = 3 ]
	"$compare" --tolerance=100000 a.tflite "$digits" "${o[@]}" >log
	"$compare" --tolerance=0 "$digits" "$digits" "${o[@]}" | grep -qF "| $sram | $sram | +0.0 % |"
	"$compare" --tolerance=0 "$digits" a.tflite "${o[@]}" >log
	for t in x -1 2%; do
		run "$compare" --tolerance=$t a.tflite "$digits" "${o[@]}"
		[ "$status" = 2 ]
	done
	run "$compare" none.tflite "$digits" "${o[@]}"
	[ "$status" = 2 ]
}

@test "a program includes the inputs and outputs of two models by npu.mk" {
	need gcc
	cp "$TOP/tests/models/digits.tflite" a.tflite
	tfl-partition --cut-only --cut-outputs=flat -o b-2.tflite a.tflite 2>notes
	printf 'NPU_PART := alif-e7-he\ninclude %s\n' "$TOP/scripts/npu.mk" >Makefile
	make -s a_input.h a_expected.h b-2_input.h b-2_expected.h a.h b-2.h
	cat >main.c <<-'END'
		#include "a_input.h"
		#include "a_expected.h"
		#include "b-2_input.h"
		#include "b-2_expected.h"
		#include "a.h"
		#include "b-2.h"
		#include <stdio.h>
		int main(void)
		{
			printf("%d %d %d %d\n", a_input_data_len, a_expected_output_data_len,
			       b_2_input_data_len, b_2_expected_output_data_len);
			return a_input_data[0] + a_expected_output_data[0] + b_2_input_data[0] +
			       b_2_expected_output_data[0] == 1000;
		}
	END
	gcc -Wall -Wextra -Werror -Wno-unused-variable -o main main.c
	[ "$(./main)" = "784 10 784 288" ]
	# a firmware with one model may keep the names of mkinput itself; headers are made again
	make -s NPU_MKINPUT_FLAGS='--name=input_data --expected-name=expected_output_data' \
		a_input.h a_expected.h
	grep -q '^#ifndef INPUT_DATA_H$' a_input.h
	grep -q ' expected_output_data\[\]' a_expected.h
}

@test "mkinput --name-of gives the names of a model's file, unless an option names them" {
	cp "$TOP/tests/models/digits.tflite" .
	mkinput --random=1 --name-of=dir/2nd.tflite --sections --expected=e.h -o i.h digits.tflite
	grep -q ' model_2nd_input_data\[\]' i.h
	grep -q ' model_2nd_output_data\[10\]' i.h
	grep -q '^#define MODEL_2ND_EXPECTED_OUTPUT_DATA_H$' e.h
	mkinput --random=1 --name-of=m --name=x --guard=Y --expected=e.h -o i.h digits.tflite
	grep -q ' x\[\]' i.h
	grep -q '^#ifndef Y$' i.h
	grep -q ' m_expected_output_data\[\]' e.h
	refuses 2 "mkinput: error: --expected-name is the name of the input's array, too: 'm_input_data'" \
		mkinput --random=1 --name-of=m --expected=x.h --expected-name=m_input_data digits.tflite
	refuses 2 "excludes --format, --hex, --name, --name-of, --guard" \
		mkinput --random=1 --name-of=m --dialect=mlek-tests -o dir digits.tflite
}
