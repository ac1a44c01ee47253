#!/usr/bin/env bats
# Models with names that a shell, make or CMake would take for commands, options or several
# words, passed through every script.  Each script compiles the model and runs nothing else.

load lib/common

digits=$BATS_TEST_DIRNAME/models/digits.tflite
memory=(--system-config=RTSS_HE_SRAM_MRAM --memory-mode=Shared_Sram)

# any command in a name would make a file called PWNED
quoting=('a`touch${IFS}PWNED`' 'b$(touch${IFS}PWNED)' 'c;touch${IFS}PWNED;'
	'd&touch${IFS}PWNED|e>PWNED' "f'" 'g"' 'h\' '*[i]?' '~' '#j' '!k' 'l,m)(n}{'
	'-h' '--version' '-o')
blanks=('a;touch PWNED;' 'b $(touch PWNED)' "c'd e" $'f\ng' $'h\ti' ' j ')

# no command in a name was run
unharmed()
{
	[ -z "$(find . -name 'PWNED*')" ]
}

@test "npu.mk runs no command of a model's name" {
	cat >Makefile <<-END
	NPU_ACCELERATOR := ethos-u55-128
	NPU_SYSTEM := RTSS_HE_SRAM_MRAM
	NPU_MEMORY := Shared_Sram
	include $TOP/scripts/npu.mk
	END
	local n
	for n in "${quoting[@]}"; do
		# make takes some names as options, comments or patterns of files
		case $n in
		--version | -o | '#j' | '~' | '*[i]?') continue ;;
		esac
		cp "$digits" "./$n.tflite"
		make -s -- "$n.h" "$n.perf" "$n.checked" "${n}_input.h" >log 2>&1 || {
			cat log
			return 1
		}
		[ -s "./$n.h" ] && [ -s "./${n}_input.h" ] && [ -s "./$n.perf" ]
		grep -q '0 errors' "./$n.checked"
	done
	unharmed
	# the same for options with quotes: they are words of the shell, kept in a file
	make -s NPU_TFL2C_FLAGS="--name='a b'" 'g".h' >log 2>&1 || :
	grep -qF "'a b'" '.npu-tfl2c.g".options'
	unharmed
}

@test "npu-vela runs no command of a model's name" {
	local n
	for n in "${quoting[@]}" "${blanks[@]}"; do
		cp "$digits" "./$n.tflite"
		npu-vela "${memory[@]}" --accelerator-config=ethos-u55-128 \
			--output-dir="$n" -- "$n.tflite" >log
		[ -s "./$n/${n}_vela.tflite" ]
		npu-vela "${memory[@]}" --any-accelerator --output-dir="$n" "./$n.tflite" >log
		cp "./$n.tflite" "$n.ini" 2>/dev/null || cp "./$n.tflite" "./$n.ini"
		npu-vela --list-configs="$n.ini" >log
	done
	unharmed
	# a message is one line
	refuses 2 'npu-vela: no?such: error: No such file or directory' npu-vela "${memory[@]}" $'no\nsuch'
	refuses 2 'npu-vela: ./-x: error: No such file or directory' npu-vela "${memory[@]}" -- -x
	# the name of the directory for temporary files is hostile, too
	mkdir 'a,b&$(touch PWNED)'
	printf '%s\n' '[System_Config.s]' core_clock=100e6 axi0_port=Sram axi1_port=OffChipFlash \
		Sram_clock_scale=1.0 OffChipFlash_clock_scale=0.5 >s.ini
	printf '%s\n' '[Memory_Mode.m]' const_mem_area=Axi1 arena_mem_area=Axi0 \
		cache_mem_area=Axi0 >m.ini
	TMPDIR=$PWD/'a,b&$(touch PWNED)' npu-vela --config=s.ini --config=m.ini \
		--system-config=s --memory-mode=m --output-dir=out "$digits" >log
	unharmed
}

@test "npu-sweep runs no command of a model's name" {
	local n models=()
	for n in "${quoting[@]}" "${blanks[@]}" @ '*'; do
		cp "$digits" "./$n"
		models+=("$n")
	done
	npu-sweep -a ethos-u55-128 "${memory[@]}" --limits=0 --results=-r -- \
		"${models[@]}" >table
	unharmed
	# one row for each model and goal, and a heading
	[ "$(wc -l <table)" = $((1 + 2 * ${#models[@]})) ]
	[ -z "$(awk -F'\t' 'NF != 10' table)" ]
	npu-sweep -a ethos-u55-128 "${memory[@]}" --limits=0 --results=-r --json -- \
		"${models[@]}" | python3 -m json.tool >json
	# the commands that --dry-run prints work in a shell
	npu-sweep --dry-run -a ethos-u55-128 "${memory[@]}" --limits=0 -- \
		"${models[@]}" >commands
	head -40 commands | tail -6 >some
	bash -e some
	unharmed
}

@test "the CMake module runs no command of a model's name" {
	need cmake gcc
	cp "$TOP"/scripts/examples/nputools.cmake .
	echo 'int main(void) { return 0; }' >main.c
	local n i=0
	cat >CMakeLists.txt <<-'END'
	cmake_minimum_required(VERSION 3.16)
	project(names C)
	include(nputools.cmake)
	add_executable(main main.c)
	END
	for n in 'a`touch${IFS}PWNED`' 'b$(touch${IFS}PWNED)' 'c&touch PWNED' \
		"e'f g" '-h' 'i(j)k' '~l' '!m' '[n]' 'o,p{q}'; do
		i=$((i + 1))
		cp "$digits" "./$n.tflite"
		printf 'nputools_add_model(main [==[%s.tflite]==] ACCELERATOR ethos-u55-128\n%s' \
			"$n" "SYSTEM RTSS_HE_SRAM_MRAM MEMORY Shared_Sram)" >>CMakeLists.txt
		echo >>CMakeLists.txt
	done
	cmake -S . -B out >cmake.log
	cmake --build out >>cmake.log
	[ "$(find out/nputools -name '*.h' | wc -l)" = $i ]
	unharmed
	# names that CMake itself would change are refused
	for n in 'a;touch PWNED' 'a$<1:b>'; do
		sed -i '/^nputools_add/,$d' CMakeLists.txt
		printf 'nputools_add_model(main [==[%s.tflite]==] ACCELERATOR ethos-u55-128\n%s' \
			"$n" "SYSTEM RTSS_HE_SRAM_MRAM MEMORY Shared_Sram)" >>CMakeLists.txt
		run cmake -S . -B out2
		[ "$status" = 1 ]
		[[ "$output" == *"a model's name may have"* ]]
	done
}

@test "completion runs no command of a file's name" {
	local n
	for n in "${quoting[@]}" "${blanks[@]}"; do
		cp "$digits" "./$n.tflite"
	done
	# shellcheck source=scripts/completions/nputools.bash
	. "$TOP/scripts/completions/nputools.bash"
	for n in "${quoting[@]}" "${blanks[@]}"; do
		COMP_WORDS=(npucc -a "$n") COMP_CWORD=2
		_nputools npucc || :
		COMP_WORDS=(npucc "$n" "$n") COMP_CWORD=2
		_nputools npucc || :
	done
	unharmed
}

@test "the firmware demonstration runs no command of a model's name" {
	# The model's name does not reach the firmware: the fake compiler and emulator
	# suffice.
	mkdir bin
	printf '#!/bin/sh\nexit 1\n' | tee bin/arm-none-eabi-gcc >bin/qemu-system-arm
	chmod +x bin/*
	local n
	for n in 'a`touch${IFS}PWNED`' 'b$(touch PWNED)' "c'd e" '-h'; do
		cp "$digits" "./$n.tflite"
		PATH=$PWD/bin:$PATH MODEL=$n.tflite OUT=$PWD/demo \
			"$TOP/scripts/firmware-demo" "$PWD/build" >log 2>&1 || :
		[ -s demo/network_model.h ]
		unharmed
	done
}
