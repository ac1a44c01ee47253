#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What takes longer than a second says so on a terminal, and nowhere else.
bats_require_minimum_version 1.5.0

load lib/common

DIGITS=$BATS_TEST_DIRNAME/models/digits.tflite

# on_terminal COMMAND: what it writes to one, in `said`
on_terminal()
{
	need script
	script -qec "$1" said </dev/null >/dev/null
}

@test "frames: how many, how long; the line is gone in the end" {
	frames=12000
	on_terminal "npu-sim -j1 --frames=$frames --seed=1 $DIGITS >out"
	grep -q $'\r\033\\[Knpu-sim: frames: [0-9]* %, about [0-9]* s left' said
	grep -q $'s left\r\033\\[K' said
	run ! grep frames: out
	# no terminal: nothing
	npu-sim -j1 --frames=2000 --seed=1 "$DIGITS" 2>err >out
	[ ! -s err ]
}

@test "Ctrl-C: the line goes, nothing is left" {
	mkdir dir
	on_terminal "timeout --foreground -s INT 3 npu-sim -j1 --frames=1000000 --seed=1 -o dir/x $DIGITS" ||
		true
	grep -q $'s left\r\033\\[K' said
	[ -z "$(ls -A dir)" ]
}
