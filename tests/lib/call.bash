# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# After lib/common:  load lib/call

# call_places HEADER input|output: where each input or output is in a frame.  An input or
# output with memory of its own has two buffers, which take turns, and so has the memory of
# all inputs or outputs.
call_places()
{
	local up=${2^^} i n list='' at
	n=$(sed -n "s/^#define NET_${up}S //p" "$1")
	if call_packed "$1"; then
		echo "static uint8_t own_${2}s[2][(NET_NPU_${up}S_BYTES + 15) & ~15]"
		echo "	__attribute__((aligned(16)));"
		at="own_${2}s[(frame) % 2]"
		for ((i = 0; i < n; i++)); do
			list+=" $at + NET_${up}_${i}_REGION_OFFSET,"
		done
		echo "#define ${up}_PLACES(frame) {$list }"
		return
	fi
	for ((i = 0; i < n; i++)); do
		if grep -q "^#define NET_${up}_${i}_REGION " "$1"; then
			echo "static uint8_t own_${2}_${i}[2][(NET_${up}_${i}_BYTES + 15) & ~15]"
			echo "	__attribute__((aligned(16)));"
			list+=" own_${2}_${i}[(frame) % 2],"
		else
			list+=" arena + NET_${up}_${i}_ARENA_OFFSET,"
		fi
	done
	echo "#define ${up}_PLACES(frame) {$list }"
}

# call_packed HEADER: true if all inputs share a base address, and all outputs
call_packed()
{
	grep -q '^#define NET_NPU_INPUTS_BYTES ' "$1"
}

# call_own HEADER: the arguments for inputs and outputs with memory of their own
call_own()
{
	if call_packed "$1"; then
		echo ", own_inputs[(frame) % 2], own_outputs[(frame) % 2]"
		return
	fi
	sed -n 's/^#define NET_INPUT_\([0-9]*\)_REGION .*/, in[\1]/p
		s/^#define NET_OUTPUT_\([0-9]*\)_REGION .*/, out[\1]/p' "$1" | tr -d '\n'
}

# call_glue HEADER: writes the code that tests/firmware/call_host.c includes
call_glue()
{
	local io i
	# int net_op2_softmax(const int8_t *input_0, ...);
	sed -n '/^int net_op[0-9]/,/;$/p' "$1" | tr -d '\n\t' | tr ';' '\n' |
		sed -E 's/^int net_op([0-9]+)_[a-z0-9_]*\((.*)\)$/\1 \2/' |
		while IFS=' ' read -r i list; do
			echo "int $(grep -o "net_op${i}_[a-z0-9_]*" "$1" | head -1)($list)"
			echo "{"
			for io in input output; do
				echo "	void *${io}[] = { $(grep -o "${io}_[0-9]*" <<<"$list" |
					sed 's/.*/(void *)(uintptr_t)&,/' | tr '\n' ' ')0 };"
			done
			echo "	return call_operator($i, input, output);"
			echo "}"
		done
	for io in input output; do
		call_places "$1" "$io"
	done
	if grep -q '_reset(' "$1"; then
		echo "#define RESET(arena) net_reset(arena)"
	else
		echo "#define RESET(arena) (void)0"
	fi
	if ! grep -q ethosu_driver "$1"; then
		echo "#define CALL(arena, in, out) net_call(arena)"
	elif grep -q 'void \*fast[,)]' "$1"; then
		echo "static uint8_t fast[NET_NPU_CACHE_BYTES] __attribute__((aligned(16)));"
		echo "#define CALL(arena, in, out) net_call(the_driver(), arena, fast$(call_own "$1"))"
	else
		echo "#define CALL(arena, in, out) net_call(the_driver(), arena$(call_own "$1"))"
	fi
}

# call_link MODEL: links net.c, net.h and call_glue.h to a program and runs the program
call_link()
{
	need gcc
	[[ $BIN != *asan* ]] || skip "a sanitized library links with sanitizers only"
	local warnings="-Wall -Wextra -Wconversion -Wshadow -Wpedantic -Wmissing-prototypes
		-Wdouble-promotion -Wundef -Werror"
	local lib=${NPUTOOLS_BUILD:-$TOP/build}/libcommon.a driver=$TOP/tests/firmware/driver
	# shellcheck disable=SC2086
	gcc -std=c99 $warnings -O1 -I"$driver" -c net.c &&
		gcc -std=gnu11 -D_GNU_SOURCE -O1 -Wall -Wextra -Wpedantic -Werror -I. -I"$driver" \
		-I"$TOP/libcommon" -I"$TOP/schema" -o call_host "$TOP/tests/firmware/call_host.c" \
		net.o "$driver/simulated.c" "$lib" -lm -pthread &&
		./call_host "$1"
}

# call_runs MODEL: the C function computes the same bytes as the simulator
call_runs()
{
	tfl2c -n net --format=call -o net.c "$1"
	tfl2c -n net --format=call --declarations -o net.h "$1"
	call_glue net.h >call_glue.h
	call_link "$1"
}
