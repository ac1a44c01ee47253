#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# The rewrite `interleave` (nputools-rewrites(7) 10): the sum of the two sides of a PRELU becomes a
# depthwise convolution over alternate rows.

load lib/common
load lib/model
load lib/rewrites

# prelu H W C ZERO [JQ]: m.tflite, a PRELU with alphas from -1.6 to 3.4, of an OFM with this zero
# point
prelu()
{
	model m ".operator_codes = [{deprecated_builtin_code:54,builtin_code:54,version:1}]
		| $t[0].shape = [1,$1,$2,$3] | $t[0].quantization.zero_point = [-7]
		| $t[1] = ($t[0] | .shape = [1,1,$3] | .buffer = 1 | .name = \"alpha\"
			| .quantization.scale = [0.02] | .quantization.zero_point = [0])
		| $t[2] = ($t[0] | .buffer = 0 | .name = \"out\" | .quantization.scale = [0.9]
			| .quantization.zero_point = [$4])
		| $t |= .[:3]
		| .buffers[1].data = [range($3) | (. * 37 + 11) % 250 + 176 | if . > 255 then . - 256 else . end]
		| .subgraphs[0].inputs = [0] | .subgraphs[0].outputs = [2]
		| .subgraphs[0].operators = [{opcode_index:0,inputs:[0,1],outputs:[2]}]
		${5:+| $5}"
}

# interleaves ACCELERATOR [OPTION...]
interleaves()
{
	local memory
	memory "$1"
	npucc -q -a "$1" "${memory[@]}" --within=0 "${@:2}" -o c.sched m.tflite
	grep -q '^rewrite .*rule=interleave' c.sched
}

@test "interleave: a PRELU of any shape and zero point" {
	local shape a
	for shape in "24 24 32 -50" "7 5 33 127" "16 1 128 0" "1 40 16 -128"; do
		# shellcheck disable=SC2086
		prelu $shape
		interleaves ethos-u55-128
		interleaves ethos-u55-32
		for a in $ALL; do
			equal m.tflite "$a" --within=0
		done
	done
}

@test "interleave: near misses" {
	prelu 24 24 32 -50
	run -1 interleaves ethos-u55-128 --no-rewrite=interleave
	run -1 interleaves ethos-u85-256 # scales no operand, so that nothing is saved
	# alphas of at most 1 take a maximum instead of a sum
	prelu 24 24 32 -50 '.buffers[1].data |= map(. % 40)'
	run -1 interleaves ethos-u55-128
	equal m.tflite ethos-u55-128
}

@test "interleave: drawn networks compute the same bytes" {
	NATIVE=1 ACCELERATORS="ethos-u55-32 ethos-u55-128 ethos-u65-512" drawn 30 10 PRELU
}

@test "interleave: a plan is kept and made again" {
	local memory
	prelu 24 24 32 -50
	memory ethos-u55-128
	tfl-partition -a ethos-u55-128 -o m.part m.tflite
	npu-sched -a ethos-u55-128 "${memory[@]}" --within=0 --keep-plan=plan -o kept.sched m.part
	grep -q '^network interleave ops=' plan
	npu-sched -a ethos-u55-128 "${memory[@]}" --plan=plan -o again.sched m.part
	cmp kept.sched again.sched
}
