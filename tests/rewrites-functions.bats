#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# SPDX-License-Identifier: Apache-2.0
# The rule "functions" of nputools-rewrites(7) 15: on Ethos-U85, SIGMOID and TANH look up one table.

load lib/common
load lib/model
load lib/rewrites

U85="ethos-u85-128 ethos-u85-256 ethos-u85-512 ethos-u85-1024 ethos-u85-2048"
[ -z "${NPUTOOLS_QUICK-}" ] || U85="ethos-u85-256"

# curves SCALE [JQ-PROGRAM]: a LOGISTIC of INT16 with this scale, and a TANH
curves()
{
	model m "def map(\$n; \$q): {shape:[1,8,8,16], type:7, name:\$n,
			quantization:{scale:[\$q], zero_point:[0]}};
		.operator_codes = [{deprecated_builtin_code:14, builtin_code:14},
			{deprecated_builtin_code:28, builtin_code:28}]
		| $t = [map(\"x\"; $1), map(\"y\"; 0.000244140625),
			map(\"sigmoid\"; 0.000030517578125), map(\"tanh\"; 0.000030517578125)]
		| .subgraphs[0] |= (.inputs = [0,1] | .outputs = [2,3]
			| .operators = [{inputs:[0], outputs:[2]},
			  {opcode_index:1, inputs:[1], outputs:[3]}])
		| .buffers = [{}]
		${2:+| $2}"
}

# shares ACCELERATOR [OPTION...]: the rule applies to m.tflite; makes c.sched
shares()
{
	local memory
	memory "$1"
	npucc -q -a "$1" "${memory[@]}" "${@:2}" -o c.sched m.tflite &&
		grep '^rewrite .*rule=functions' c.sched
}

# loads [OPTION...]: how often m.tflite loads a table on ethos-u85-256; makes c.tflite
loads()
{
	local memory
	memory ethos-u85-256
	npucc -q -a ethos-u85-256 "${memory[@]}" "$@" -o c.tflite m.tflite &&
		npu-dis --high-level c.tflite | grep -c ' dma .* dst=shram:'
}

@test "functions: SIGMOID and TANH look up one table" {
	local a
	curves 0.00032 # the least argument is -128849
	for a in $U85; do
		shares "$a" | grep 'bytes=2048 text="1 SIGMOID reads the table of TANH"'
		[ "$(grep -c '^lut ' c.sched)" = 1 ]
		equal m.tflite "$a"
		equal m.tflite "$a" --no-rewrite=functions
	done
	[ "$(loads)" = 1 ]
	[ "$(loads --no-rewrite=functions)" = 2 ]
}

@test "functions: an LSTM loads its table once, and takes fewer cycles" {
	local a memory before after
	memory ethos-u85-256
	"$GEN" 3 UNIDIRECTIONAL_SEQUENCE_LSTM >m.tflite
	for a in $U85; do
		shares "$a"
		equal m.tflite "$a"
	done
	[ "$(loads --no-rewrite=functions)" -gt 4 ]
	before=$(npu-perf "${memory[@]}" --json c.tflite | jq .calibrated_cycles)
	[ "$(loads)" = 1 ]
	after=$(npu-perf "${memory[@]}" --json c.tflite | jq .calibrated_cycles)
	awk "BEGIN { exit !($after < 0.95 * $before) }"
}

@test "functions: near misses stay as they are" {
	local a
	curves 0.000325 # the least argument is -130862
	run ! shares ethos-u85-256
	equal m.tflite ethos-u85-256
	[ "$(loads)" = 2 ]
	curves 0.000244140625 '.subgraphs[0].operators |= .[:1] | .subgraphs[0].outputs = [2]
		| .subgraphs[0].inputs = [0]' # no TANH
	run ! shares ethos-u85-256
	curves 0.000244140625
	shares ethos-u85-256
	run ! shares ethos-u85-256 --no-rewrite=functions
	for a in ethos-u55-{32,256} ethos-u65-{256,512}; do # no table for these functions
		run ! shares "$a"
	done
}

@test "functions: a SIGMOID that needs the first slope is wrong with the table of TANH" {
	curves 0.0009765625
	run ! shares ethos-u85-256
	npu-wenc c.sched >c.wenc
	sigmoid=$(sed -n 's/^op .*act=sigmoid lut=\(l[0-9]*\) .*/\1/p' c.sched)
	tanh=$(sed -n 's/^op .*act=tanh lut=\(l[0-9]*\) .*/\1/p' c.sched)
	[ "$sigmoid" != "$tanh" ]
	sed "s/act=sigmoid lut=$sigmoid/act=sigmoid lut=$tanh/" c.sched | npu-wenc >bad.wenc
	npu-cmdgen -o c.tflite c.wenc
	npu-cmdgen -o bad.tflite bad.wenc
	npu-sim --seed=7 --compare=m.tflite c.tflite
	run -1 npu-sim --seed=7 --compare=m.tflite bad.tflite
	# and a stream with other tables is not that of the graph
	npu-dis --verify --source=c.wenc c.tflite
	run -1 --separate-stderr npu-dis --verify --source=c.wenc bad.tflite
	[[ $output$stderr == *"does not hold table $sigmoid"* ]]
}

@test "functions: drawn LSTMs and functions compute the same bytes" {
	NATIVE=1 ACCELERATORS="$U85" drawn 30 9 UNIDIRECTIONAL_SEQUENCE_LSTM TANH LOGISTIC
	among 10 UNIDIRECTIONAL_SEQUENCE_LSTM 4 shares ethos-u85-256
}
