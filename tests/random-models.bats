# SPDX-License-Identifier: Apache-2.0
# a few hundred random models; make check-long runs more

load lib/common

GEN=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model

# random_models COUNT QUICK ARGUMENT...: COUNT models, or QUICK in a quick run
random_models()
{
	local n=$1
	[ -z "${NPUTOOLS_QUICK-}" ] || n=$2
	run "$BATS_TEST_DIRNAME/random-models" -b "${NPUTOOLS_BUILD:-$TOP/build}" -n "$n" "${@:3}"
	echo "$output"
}

# each model on half of the accelerators (NPUTOOLS_ALL, check-long: on all)
@test "random models compute the same bytes on every accelerator" {
	if [ -n "${NPUTOOLS_ALL-}" ]; then
		random_models 200 200
		[ "$status" = 0 ]
		return
	fi
	ACCELERATORS="ethos-u55-32 ethos-u55-128 ethos-u65-256" random_models 60 20
	[ "$status" = 0 ]
	ACCELERATORS="ethos-u55-64 ethos-u55-256 ethos-u65-512" random_models 60 20 -s 201
	[ "$status" = 0 ]
}

# The seeds cited elsewhere draw only from older families.  A quick run, too, draws each
# family once.
@test "random models of newer families compute the same bytes" {
	local -x ACCELERATORS="ethos-u55-32 ethos-u55-256 ethos-u65-512"
	[ -z "${NPUTOOLS_QUICK-}" ] || ACCELERATORS="ethos-u55-32 ethos-u65-512"
	[ -z "${NPUTOOLS_ALL-}" ] || unset ACCELERATORS
	random_models 30 6 CAST FLOOR_DIV GATHER_ND GELU L2_NORMALIZATION BATCH_MATMUL
	[ "$status" = 0 ]
	random_models 30 15 EQUAL NOT_EQUAL GREATER GREATER_EQUAL LESS LESS_EQUAL \
		LOGICAL_AND LOGICAL_OR LOGICAL_NOT SELECT SELECT_V2 REDUCE_ANY REDUCE_ALL \
		SCATTER_ND SCATTER_ND
	[ "$status" = 0 ]
}

# Computed indices run on Ethos-U85 alone, for which LOOSE lowers them.
@test "movements of INT64, casts of BOOL, ABS of INT32 and comparisons of INT16 compute the same bytes" {
	local moves="SLICE_INT64 STRIDED_SLICE_INT64 TRANSPOSE_INT64 REVERSE_V2_INT64 PAD_INT64
		PADV2_INT64 MIRROR_PAD_INT64 TILE_INT64 GATHER_INT64 GATHER_ND_INT64
		SCATTER_ND_INT64 CAST_BOOL ABS_INT32 COMPARE_INT16"
	# shellcheck disable=SC2086
	ACCELERATORS="ethos-u55-32 ethos-u65-512 ethos-u85-256" random_models 42 14 $moves
	[ "$status" = 0 ]
	[[ $output == *", 0 with CPU operators, 0 void"* ]]
	export LOOSE=1
	# shellcheck disable=SC2086
	ACCELERATORS="ethos-u85-128 ethos-u85-1024" random_models 48 16 $moves \
		GATHER_COMPUTED_INT64 GATHER_ND_COMPUTED_INT64
	[ "$status" = 0 ]
	[[ $output == *" completely on the NPU"* ]]
}

# each model on two or three sizes; check-long has thousands on all five
@test "random models compute the same bytes on Ethos-U85" {
	ACCELERATORS="ethos-u85-256 ethos-u85-1024" random_models 12 6 -s 20000
	[ "$status" = 0 ]
	ACCELERATORS="ethos-u85-128 ethos-u85-512 ethos-u85-2048" \
		random_models 8 4 -s 30000
	[ "$status" = 0 ]
}

# No stage refuses a model that tfl-partition accepted, whatever values the file has.  A quick
# run has half of the models, on four of the accelerators.
@test "operators of any scale, zero point and bias work on all eleven accelerators" {
	local n=20 LOOSE=1 ACCELERATORS
	ACCELERATORS=$(sed -n 's/^ACCEL([^"]*"\([^"]*\)".*/\1/p' "$TOP/schema/target.def")
	[ "$(wc -w <<<"$ACCELERATORS")" = 11 ]
	[ -z "${NPUTOOLS_QUICK-}" ] ||
		ACCELERATORS="ethos-u55-32 ethos-u65-512 ethos-u85-128 ethos-u85-2048"
	[ -z "${NPUTOOLS_ALL-}" ] || n=600
	export LOOSE ACCELERATORS
	random_models $n 15 -s 70000
	[ "$status" = 0 ]
	random_models $n 15 -s 75000 CONV_2D DEPTHWISE_CONV_2D FULLY_CONNECTED TRANSPOSE_CONV \
		PRELU
	[ "$status" = 0 ]
}

# PAIRS: behind each operator that moves or selects data comes a clamp, a table or a rescale
@test "pairs of operators compute the same bytes on all eleven accelerators" {
	local names PAIRS=1 ACCELERATORS
	ACCELERATORS=$(sed -n 's/^ACCEL([^"]*"\([^"]*\)".*/\1/p' "$TOP/schema/target.def")
	[ "$(wc -w <<<"$ACCELERATORS")" = 11 ]
	[ -z "${NPUTOOLS_QUICK-}" ] ||
		ACCELERATORS="ethos-u55-32 ethos-u65-512 ethos-u85-128 ethos-u85-2048"
	local all='^(concat|view|split|pad|mirror|tile|blocks|gather|scatter|select|pool|resize'
	all+='|arg|reduce|quantize|cast)$'
	[ -z "${NPUTOOLS_ALL-}" ] || all='^[a-z]'
	mapfile -t names < <(operators "\$6 ~ /$all/" | grep -Fxf <("$GEN" -l))
	names+=(GATHER_COMPUTED GATHER_ND_COMPUTED)
	[ "${#names[@]}" -ge 40 ]
	export PAIRS ACCELERATORS
	random_models "${#names[@]}" "${#names[@]}" -s 1000 "${names[@]}"
	[ "$status" = 0 ]
}

@test "every operator with a lowering is drawn" {
	{
		sed -n '/^\.It Cm/{s/ No ([^)]*)//g;p}' "$TOP/man/nputools-ops.7" |
			grep -oE '\<[A-Z][A-Z0-9_]+\>'
		operators '$6 != "none"'
	} | sort -u >named
	"$GEN" -l | sort >drawn
	[ "$(wc -l <named)" -gt 50 ]
	# variables by name need a second subgraph: state.bats draws those
	comm -23 named drawn | grep -vxE 'VAR_HANDLE|(READ|ASSIGN)_VARIABLE|CALL_ONCE' >left || true
	[ ! -s left ] || { cat left; return 1; }
	# the seeds of this file do not draw those of newer families: a test names them
	sed -n '/^const struct draw \(later\|logic\)/,/^}/s/^\t{ "\([^"]*\)".*/\1/p' \
		"$TOP"/tests/programs/gen-model/*.c >newer
	[ "$(wc -l <newer)" -gt 10 ]
	while read -r name; do
		grep -qw "$name" "$BATS_TEST_FILENAME" ||
			{ echo "no test draws $name"; return 1; }
	done <newer
}

# the compiler fails at convolutions: the kept model is a small one with a convolution
@test "a failing model is reduced to a small model, which is kept" {
	build=$PWD/broken
	mkdir -p "$build/bin" "$build/tests"
	ln -s "$BIN"/* "$build/bin/"
	ln -s "$GEN" "$build/tests/"
	rm "$build/bin/npu-wenc"
	cat >"$build/bin/npu-wenc" <<-EOF
		#!/bin/bash
		"$BIN/npu-wenc" | tee graph
		! grep -q '^op .*do=conv' graph
	EOF
	chmod +x "$build/bin/npu-wenc"
	run "$BATS_TEST_DIRNAME/random-models" -b "$build" -s 32 -n 3
	echo "$output"
	[ "$status" = 1 ]
	grep '^FAIL compile ethos-u55-32: gen-model -g ' <<<"$output"
	PATH=$build/bin:$build/tests:$PATH
	sed -n 's/.* (in \(.*\)):.*/\1/p' <<<"$output" >directories
	[ -s directories ]
	while read -r kept; do
		cd "$kept"
		[ "$(tfl-partition --report model.tflite | grep -c '^ *[0-9]*  NPU')" = 1 ]
		[ "$(stat -c %s model.tflite)" -lt 2000 ]
		# the commands make the model again, and the failure is the same
		cp model.tflite as-kept
		run bash -o pipefail -ec "$(head -2 commands)"
		[ "$status" = 1 ]
		cmp model.tflite as-kept
	done <directories
}
