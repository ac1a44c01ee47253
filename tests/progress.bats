#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Programs that run longer than a second show their progress on a terminal only.
bats_require_minimum_version 1.5.0

load lib/common
load lib/shared

DIGITS=$BATS_TEST_DIRNAME/models/digits.tflite

# programs under sanitizers take ten times as long, and get less work
sanitized()
{
	[[ $BIN == *asan* ]]
}

# on_terminal COMMAND: writes the output of COMMAND on a terminal to `said`
on_terminal()
{
	need script
	script -qefc "$1" said </dev/null >/dev/null
}

# interrupted PATTERN PROGRAM ARGUMENT...: runs the program on a terminal and sends Ctrl-C's
# signal as soon as PATTERN is in `said`, or after 300 s
interrupted()
{
	rm -f said
	on_terminal "(until grep -qP '$1' said; do sleep 0.1; done; kill -INT \$\$) 2>/dev/null &
		exec timeout --foreground -s INT 300 ${*:2}" || true
	grep -qP "$1" said
}

# progress of PROGRAM, and what it counts, as a pattern; a busy machine needs minutes
progress()
{
	echo "\r\e\[K$1: $2: [0-9]* %, about [0-9]* [a-z]* left"
}

@test "npu-sim shows the progress of frames and the remaining time, and removes the line at the end" {
	frames=12000
	! sanitized || frames=800
	on_terminal "npu-sim -j1 --frames=$frames --seed=1 $DIGITS >out"
	grep -qP "$(progress npu-sim frames)" said
	grep -qP 's left\r\e\[K' said
	run ! grep frames: out
	# without a terminal there is no progress
	npu-sim -j1 --frames=$((frames / 6)) --seed=1 "$DIGITS" 2>err >out
	[ ! -s err ]
}

@test "a program that waits for a terminal says what it waits for" {
	local p
	for p in npu-sim:model tfl2c:model tfl-quantcheck:model npu-wenc:graph "npu-dis:model or payload" \
		npu-perf:input "npu-sched --part=alif-e7-hp:graph"; do
		on_terminal "(sleep 0.2; printf '\004') | ${p%:*}; true"
		run ! grep waiting said # a pipe is no terminal
		: | script -qefc "${p%:*}" said >/dev/null || true
		grep -q "^${p%%[ :]*}: waiting for the ${p#*:} on standard input, which is a terminal: name a file, or end the input with Ctrl-D" said
	done
	on_terminal "npu-sim $DIGITS >out"
	run ! grep waiting said
}

@test "Ctrl-C removes the progress line, and no file is left" {
	mkdir dir
	interrupted '%, about [0-9]* [a-z]* left' \
		npu-sim -j1 --frames=1000000 --seed=1 -o dir/x "$DIGITS"
	grep -qP '%, about [0-9]* [a-z]* left\r\e\[K' said
	[ -z "$(ls -A dir)" ]
}

@test "npu-sim shows progress while several workers run a round of frames" {
	local size=(16 128)
	! sanitized || size=(8 64)
	"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model" conv 400 "${size[@]}" >slow.tflite
	# all frames are one round of two workers, which takes some ten seconds; the test ends
	# with the first line
	interrupted "$(progress npu-sim frames)" \
		"npu-sim -j2 --reset --frames=64 --seed=1 slow.tflite >out"
}

@test "npu-eval shows its progress" {
	# several seconds: the first output comes after one second
	local n=240
	! sanitized || n=40
	for ((i = 0; i < n; i++)); do
		for d in {0..9}; do
			echo "$TOP/tests/models/digits/digit-$d.pgm $d"
		done
	done >list
	mkinput --list=list --range=0,1 -o x.npy "$DIGITS"
	on_terminal "npu-eval --layers --json $DIGITS x.npy >out"
	grep -qP "$(progress npu-eval items)" said
	jq -e ".items == $((10 * n))" out
}

@test "npu-sched shows its progress, and Ctrl-C ends it without a file" {
	need_shared models/mbv2_int8.tflite
	npucc -o m.part "$SHARED/models/mbv2_int8.tflite" 2>/dev/null
	mkdir dir
	interrupted "$(progress npu-sched search)" npu-sched -a ethos-u55-128 \
		--system-config Ethos_U55_High_End_Embedded --memory-mode Shared_Sram \
		--front --json --effort=5 -o dir/x m.part
	# Ctrl-C has removed the line
	grep -q $'left\r\033\\[K$' said || grep -q $'left\r\033\\[K\r' said
	[ -z "$(ls -A dir)" ]
}

@test "npucc lends its terminal to npu-sched, and Ctrl-C leaves nothing" {
	need_shared models/person_detect.tflite
	cp "$SHARED/models/person_detect.tflite" m.tflite
	mkdir dir
	interrupted '\r\e\[Knpu-sched: curve of SRAM and time: [0-9]* %' npucc --part=alif-e7-hp \
		--effort=9 --advice --report=dir/m.html -o dir/m_npu.tflite m.tflite
	[ "$(tail -c 4 said | tr -d '\n')" != left ]
	[ -z "$(ls -A dir)" ]
	# npu-sched cannot know what npucc does next: other curves come, and their number is shown
	rm -f said
	interrupted '\r\e\[Knpu-sched: curve [23] of 3, for [a-z0-9-]*: [0-9]* %' npucc \
		--part=alif-e7-hp --effort=9 --advice --report=dir/m.html -o dir/m_npu.tflite m.tflite
	run ! grep ' left' said
	# standard error that is no terminal gets messages alone
	npucc --part=alif-e7-hp -o d.tflite "$DIGITS" 2>err
	run ! grep $'\r' err
}
