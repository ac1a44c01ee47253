#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Programs that run longer than a second show their progress on a terminal only.
bats_require_minimum_version 1.5.0

load lib/common

DIGITS=$BATS_TEST_DIRNAME/models/digits.tflite

# on_terminal COMMAND: writes the output of COMMAND on a terminal to `said`
on_terminal()
{
	need script
	script -qec "$1" said </dev/null >/dev/null
}

@test "npu-sim shows the progress of frames and the remaining time, and removes the line at the end" {
	frames=12000
	on_terminal "npu-sim -j1 --frames=$frames --seed=1 $DIGITS >out"
	grep -q $'\r\033\\[Knpu-sim: frames: [0-9]* %, about [0-9]* s left' said
	grep -q $'s left\r\033\\[K' said
	run ! grep frames: out
	# without a terminal there is no progress
	npu-sim -j1 --frames=2000 --seed=1 "$DIGITS" 2>err >out
	[ ! -s err ]
}

@test "Ctrl-C removes the progress line, and no file is left" {
	mkdir dir
	on_terminal "timeout --foreground -s INT 3 npu-sim -j1 --frames=1000000 --seed=1 -o dir/x $DIGITS" ||
		true
	grep -q $'s left\r\033\\[K' said
	[ -z "$(ls -A dir)" ]
}
