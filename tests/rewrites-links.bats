#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# SPDX-License-Identifier: Apache-2.0
# The rule "links" of nputools-rewrites(7) 14: on Ethos-U85, what only the next operation reads has a
# tensor of its own, so that both are in a chain.

load lib/common
load lib/rewrites

# links ACCELERATOR [OPTION...]: the plan of m.tflite has the form `links`
links()
{
	local memory
	memory "$1"
	npucc -q -a "$1" "${memory[@]}" "${@:2}" -o c.sched m.tflite
	grep -q '^rewrite .*rule=links' c.sched
}

@test "links: a step of an LSTM waits less often on Ethos-U85" {
	local a memory chains
	"$GEN" 3 UNIDIRECTIONAL_SEQUENCE_LSTM >m.tflite
	for a in ethos-u85-{128,256,512,1024,2048}; do
		links "$a"
		equal m.tflite "$a"
		equal m.tflite "$a" --no-rewrite=links
	done
	grep -q '^rewrite .*text="[0-9]* operations write a tensor of their own for the next operation"' c.sched
	chains=$(grep -c ' chain=' c.sched)
	run ! links ethos-u85-2048 --no-rewrite=links
	[ "$(grep -c ' chain=' c.sched)" -lt "$chains" ]
}

@test "links: other generations have no chains" {
	local a
	"$GEN" 3 UNIDIRECTIONAL_SEQUENCE_LSTM >m.tflite
	for a in ethos-u55-{32,256} ethos-u65-{256,512}; do
		run ! links "$a"
	done
}

@test "links: drawn LSTMs compute the same bytes" {
	NATIVE=1 ACCELERATORS="ethos-u85-128 ethos-u85-256 ethos-u85-1024" drawn 20 6 UNIDIRECTIONAL_SEQUENCE_LSTM
	among 20 UNIDIRECTIONAL_SEQUENCE_LSTM 8 links ethos-u85-256 --within=0
}
