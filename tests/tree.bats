#!/usr/bin/env bats
# The tree is consistent: pages, sections and files that comments and pages cite exist.
bats_require_minimum_version 1.5.0

load lib/common

@test "comments and pages refer to pages, sections and files that exist" {
	"$TOP/scripts/check-pages" "$TOP"
}

# finds TEXT: check-pages complains about the tree in this directory with TEXT
finds() {
	run "$TOP/scripts/check-pages" "$PWD"
	[ "$status" = 1 ]
	[[ $output = *"$1"* ]] || { echo "$output"; false; }
}

# page NAME SECTION LINE...
page() {
	printf '%s\n' '.\" a page' '.Dd November 26, 2026' ".Dt ${1^^} $2" .Os '.Sh NAME' ".Nm $1" \
		'.Nd a page' "${@:3}" >"man/$1.$2"
}

@test "scripts/check-pages finds tables that one of two formatters breaks" {
	need groff mandoc
	mkdir -p libcommon tools schema scripts tests man
	page a 7 '.Sh TABLE' '.Bl -column "one" "two"' '.It one Ta a cell of some words' .El
	"$TOP/scripts/check-pages" "$PWD"
	sed -i 's/^.It one/.It seven/' man/a.7
	finds "man/a.7:10: cell 1 is wider than its column"
	page a 7 '.Sh TABLE' '.Bl -column "a column of twenty-five" "another of twenty-five" "last"' \
		'.It one Ta two Ta a last cell that has no space for all of its words' .El
	finds "man/a.7: groff: line "
	page a 7 '.Sh TABLE' '.Bl -column "one"' '.It one Ta two' '.Ek'
	finds "mandoc: "
	page a 7 '.Sh CODE' '.Bd -literal' "$(printf 'x%.0s' {1..90})" .Ed
	finds "is broken: "
}

@test "scripts/check-pages finds each reference that does not exist" {
	mkdir -p libcommon/sim tools schema scripts tests man
	page ethosu-commands 7 '.Sh 6. ARITHMETIC' '.Ss 6.2 Scale' text
	page npu-dis 1 '.Sh RULES' text
	code=libcommon/sim/a.c
	head='/* ethosu-commands(7) 6 and 6.2; npu-dis(1), RULES; tests/ */'
	printf '%s\nint a; /* scaled: ethosu-commands(7) 6.2 */\n' "$head" >$code
	"$TOP/scripts/check-pages" "$PWD"
	printf '%s\nint a; /* scaled (6.2) */\n' "$head" >$code
	finds "section 6.2 of which page?"

	printf '%s\n/* as ethosu-commands(7)\n * 6.3 says */\n' "$head" >$code
	finds "no section 6.3 in ethosu-commands(7)"
	printf '%s\n/* scaled (7.1) */\n' "$head" >$code
	finds "section 7.1 of which page?"
	printf '%s\n/* section 8 */\n' "$head" >$code
	finds "section 8 of which page?"
	printf '/* npu-dis(1), FINDINGS */\n' >$code
	finds "no FINDINGS in npu-dis(1)"
	printf '/* npu-perf(1) */\n' >$code
	finds "no npu-perf(1)"
	printf '/* as libcommon/sim/b.c */\n' >$code
	finds "no libcommon/sim/b.c"
	printf '/* operators.md 3.1 */\n' >$code
	finds "a page that is not here"
	printf '%s\n' "$head" >$code
	printf '.Xr ethosu-commands 7 ,\nsection 9.9\n' >>man/npu-dis.1
	finds "man/npu-dis.1: there is no section 9.9 in ethosu-commands(7)"
}

@test "headings of headers name the files of their functions" {
	"$TOP/scripts/check-headers" "$TOP"
}

@test "scripts/check-headers finds functions in other files, and functions in no file" {
	mkdir -p libcommon/sim tools tests schema
	printf 'int\nf(void)\n{\n\treturn 1;\n}\n' >libcommon/sim/a.c
	printf 'int\ng(void)\n{\n\treturn f();\n}\n' >libcommon/sim/b.c
	printf '/* ---- a.c ---- */\nint f(void);\n' >libcommon/sim/sim.h
	"$TOP/scripts/check-headers" "$PWD"

	printf '/* b.c: a function */\nint f(void);\n' >libcommon/sim/sim.h
	run "$TOP/scripts/check-headers" "$PWD"
	[ "$status" = 1 ] && [[ $output = *"f is in a.c"*"not in b.c"* ]]
	printf '/* ---- a.c ---- */\n/* ---- others ---- */\nint g(void);\n' \
		>libcommon/sim/sim.h
	"$TOP/scripts/check-headers" "$PWD"
	run "$TOP/scripts/check-headers" -u "$PWD"
	[ "$status" = 1 ] && [[ $output = *"nobody calls g"* ]]
	printf 'int\nf(void)\n{\n\treturn 1;\n}\nint h(void)\n{\n\treturn f();\n}\n' \
		>libcommon/sim/a.c
	printf '/* a.c */\n' >libcommon/sim/b.c
	printf 'int f(void);\n' >libcommon/sim/sim.h
	run "$TOP/scripts/check-headers" -u "$PWD"
	[ "$status" = 1 ] && [[ $output = *"f is called in a.c alone"* ]]
	printf 'int\ng(void)\n{\n\treturn f();\n}\n' >libcommon/sim/b.c
	"$TOP/scripts/check-headers" -u "$PWD"
	printf 'int f(void);\nint h(void); /* f, h: h() */\n' >libcommon/sim/sim.h
	run "$TOP/scripts/check-headers" "$PWD"
	[ "$status" = 1 ] && [[ $output = *"h is nowhere in libcommon/sim"* ]]
}

@test "every program has cases of its output and cases of its refusals" {
	local p
	for p in $(programs); do
		printed=0 refused=0
		for d in "$TOP/tests/cases/$p"/*/; do
			[ ! -e "$d/want.exit" ] || refused=$((refused + 1))
			# in want.*, or as a file
			[ -e "$d/want.exit" ] || ! compgen -G "$d/want.*" >/dev/null ||
				printed=$((printed + 1))
		done
		[ $printed -gt 0 ] && [ $refused -gt 0 ] ||
			{ echo "$p: $printed print, $refused refuse"; false; }
	done
}

# family CASE...: the expected output of each case has an operation of the NPU.  A case is
# one with this name or with more behind it (equal-u85).
family()
{
	local c at
	for c; do
		mapfile -t at < <(compgen -G "$TOP/tests/cases/$c*/want.out" |
			grep -E "/${c##*/}(-[^/]*)?/want.out$")
		[ ${#at[@]} -gt 0 ] && grep -q '^op ' "${at[0]}" || { echo "$c"; return 1; }
	done
}

@test "every operator with a lowering and every family of nputools-lowering(7) has a case" {
	local op c
	for op in $(operators '$6 != "none"'); do
		c=$(tr 'A-Z_' 'a-z-' <<<"$op")
		case $op in *_VARIABLE) c=state ;; esac # READ_VARIABLE and ASSIGN_VARIABLE
		family "tfl-partition/$c"
	done
	# the families of section 5 and their cases; a new family needs a row
	cat >rows <<-'END'
		CONV_2D, DEPTHWISE_CONV_2D: conv-2d depthwise-conv-2d
		kernels too large: kernels-too-large
		FULLY_CONNECTED: fully-connected
		TRANSPOSE_CONV: transpose-conv
		BATCH_MATMUL, FULLY_CONNECTED by computed weights: batch-matmul batch-matmul-u85
		BATCH_MATMUL of 16 bits: batch-matmul-of-16-bits
		SVDF: svdf
		AVERAGE_POOL_2D, MAX_POOL_2D: average-pool-2d max-pool-2d
		MEAN, SUM: mean sum
		SUM, REDUCE_MAX, REDUCE_MIN of 32 bits: sum-of-32-bits
		REDUCE_MAX, REDUCE_MIN: reduce-max reduce-min
		ARG_MAX, ARG_MIN: arg-max arg-min arg-max-u85
		RESIZE_NEAREST_NEIGHBOR: resize-nearest-neighbor
		RESIZE_BILINEAR: resize-bilinear
		RESIZE_NEAREST_NEIGHBOR, RESIZE_BILINEAR, TOSA's RESIZE for Ethos-U85 alone: resize-bilinear-u85
		ADD, SUB, MUL, MAXIMUM, MINIMUM: add sub mul maximum minimum
		SQUARED_DIFFERENCE: squared-difference
		ABS, NEG, RELU: abs neg relu
		LEAKY_RELU, PRELU: leaky-relu prelu
		EQUAL and other comparisons, logic: not-equal equal-u85 greater-equal logical-and
		SELECT: select select-u85
		DIV of 8 bits: div
		DIV of two dequantized tensors of 8 bits: div-of-floats
		DIV, FLOOR_DIV of words by constants: floor-div
		DIV of words by words: div-of-words
		CAST, QUANTIZE of words: cast quantize-of-words
		L2_NORMALIZATION, RSQRT of 16 bits: l2-normalization rsqrt-of-16-bits
		5.4 Tables: logistic tanh elu
		5.5 SOFTMAX: softmax log-softmax
		5.6 LSTM: unidirectional-sequence-lstm
		5.7 Movement: transpose reverse-v2-u85 concatenation pad gather scatter-nd
		5.8 Variables: state
		5.9 Orders of channels: ../tosa-partition/reduce-pad-transpose
	END
	awk '/^\.Sh / { inside = $2 == "5." } !inside { next }
		/^\.Ss 5\.[4-9]/ { sub(/^\.Ss /, ""); print }
		/^\.It ./ { sub(/^\.It /, ""); sub(/ \([^()]*\)$/, ""); print }' \
		"$TOP/man/nputools-lowering.7" >page
	sed 's/: .*//' rows | diff page -
	for c in $(sed 's/.*: //' rows); do
		family "tfl-partition/$c"
	done
}

@test "tests/run --needs names what make makes for the suites that match" {
	needs() { "$TOP/tests/run" build "$1" --needs; }
	[ "$(needs '^unit:fixed$')" = build/tests/fixed ]
	[ "$(needs '^fuzz:graph$')" = build/fuzz/graph-replay ]
	[ "$(needs '^bats:npu-dis$')" = suite-programs ]
	[ "$(needs '^cases:npu-dis$')" = build/bin/npu-dis ]
	[ "$(needs '^cases:npu-report$' | xargs)" = "build/bin/npu-perf build/bin/npu-report" ]
	[ "$(needs '^cases:npu-vela$' | grep -c 'npu-sched$\|npucc$')" = 2 ]
	[ "$(needs '^bats:faults$')" = tests ]
	[ -z "$(needs '^no such suite$')" ]
	make -C "$TOP" -n V=1 B="$PWD/build" T='^unit:fixed$' test >plan
	grep -q -- ' -o [^ ]*/tests/fixed ' plan
	grep -q "^tests/run .*/build '.unit:fixed." plan
	! grep -q -- '/bin/npu-sched' plan
}
