#!/usr/bin/env bats
# Names of models that a shell, make or CMake would take for commands, options or
# several words, through every script: each compiles the model, and nothing else runs.

load lib/common

digits=$BATS_TEST_DIRNAME/models/digits.tflite
memory=(--system-config=RTSS_HE_SRAM_MRAM --memory-mode=Shared_Sram)

# what each of them would make is called PWNED
quoting=('a`touch${IFS}PWNED`' 'b$(touch${IFS}PWNED)' 'c;touch${IFS}PWNED;'
	'd&touch${IFS}PWNED|e>PWNED' "f'" 'g"' 'h\' '*[i]?' '~' '#j' '!k' 'l,m)(n}{'
	'-h' '--version' '-o')
blanks=('a;touch PWNED;' 'b $(touch PWNED)' "c'd e" $'f\ng' $'h\ti' ' j ')

# nothing ran that a name says
unharmed()
{
	[ -z "$(find . -name 'PWNED*')" ]
}

@test "npu.mk" {
	cat >Makefile <<-END
	NPU_ACCELERATOR := ethos-u55-128
	NPU_SYSTEM := RTSS_HE_SRAM_MRAM
	NPU_MEMORY := Shared_Sram
	include $TOP/scripts/npu.mk
	END
	local n
	for n in "${quoting[@]}"; do
		# make has options of its own, comments, and patterns of files
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
	# of options with quotes the same: they are words of the shell, kept in a file
	make -s NPU_TFL2C_FLAGS="--name='a b'" 'g".h' >log 2>&1 || :
	grep -qF "'a b'" .npu-tfl2c.options
	unharmed
}

@test "npu-vela" {
	local n
	for n in "${quoting[@]}" "${blanks[@]}"; do
		cp "$digits" "./$n.tflite"
		npu-vela "${memory[@]}" --accelerator-config=ethos-u55-128 \
			--output-dir="$n" -- "$n.tflite" >log
		[ -s "./$n/${n}_vela.tflite" ]
		npu-vela "${memory[@]}" --output-dir="$n" "./$n.tflite" >log
		cp "./$n.tflite" "$n.ini" 2>/dev/null || cp "./$n.tflite" "./$n.ini"
		npu-vela --list-configs="$n.ini" >log
	done
	unharmed
	# a message is one line
	refuses 2 'npu-vela: no?such: cannot be read' npu-vela "${memory[@]}" $'no\nsuch'
	refuses 2 'npu-vela: ./-x: cannot be read' npu-vela "${memory[@]}" -- -x
	# a directory for temporary files is a name, too
	mkdir 'a,b&$(touch PWNED)'
	TMPDIR=$PWD/'a,b&$(touch PWNED)' npu-vela "${memory[@]}" \
		--output-dir=out "$digits" >log
	unharmed
}

@test "npu-sweep" {
	local n models=()
	for n in "${quoting[@]}" "${blanks[@]}" @ '*'; do
		cp "$digits" "./$n"
		models+=("$n")
	done
	npu-sweep -a ethos-u55-128 "${memory[@]}" --limits=0 --results=-r -- \
		"${models[@]}" >table
	unharmed
	# a row a model and goal, and a heading
	[ "$(wc -l <table)" = $((1 + 2 * ${#models[@]})) ]
	[ -z "$(awk -F'\t' 'NF != 10' table)" ]
	npu-sweep -a ethos-u55-128 "${memory[@]}" --limits=0 --results=-r --json -- \
		"${models[@]}" | python3 -m json.tool >json
	# commands that a shell runs
	npu-sweep --dry-run -a ethos-u55-128 "${memory[@]}" --limits=0 -- \
		"${models[@]}" >commands
	head -40 commands | tail -6 >some
	bash -e some
	unharmed
}

@test "the CMake module" {
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
	# what CMake itself would read otherwise
	for n in 'a;touch PWNED' 'a$<1:b>'; do
		sed -i '/^nputools_add/,$d' CMakeLists.txt
		printf 'nputools_add_model(main [==[%s.tflite]==] ACCELERATOR ethos-u55-128\n%s' \
			"$n" "SYSTEM RTSS_HE_SRAM_MRAM MEMORY Shared_Sram)" >>CMakeLists.txt
		run cmake -S . -B out2
		[ "$status" = 1 ]
		[[ "$output" == *"a model's name may have"* ]]
	done
}

@test "completions" {
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

@test "the demonstration of firmware, as far as the model goes" {
	# of the firmware itself the model's name is no part: neither is needed here
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
