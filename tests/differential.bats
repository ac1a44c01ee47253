# SPDX-License-Identifier: Apache-2.0
# scripts/differential: other compilers that are wrong on purpose are found; ours is not.
bats_require_minimum_version 1.5.0

load lib/common

BUILD=${NPUTOOLS_BUILD:-$TOP/build}

differential()
{
	"$TOP/scripts/differential" -b "$BUILD" -a ethos-u55-128 "$@" 2>log
}

# strange SED: a stand-in for Vela, ./strange, that changes the lowered graph by an expression
# of sed; "error", "sleep" and "signal" make it fail
strange()
{
	cat >strange <<-END
		#!/bin/bash
		set -e -o pipefail
		[ "\$1" != --version ] || { echo 9.8.7; exit; }
		[ "\$1" != --help ] || { echo "{ethos-u55-128,ethos-u55-256}"; exit; }
		case "$1" in
		error) echo "Error: not today" >&2; exit 1 ;;
		sleep) sleep 5; exit 1 ;;
		signal) kill -SEGV \$\$ ;;
		esac
		mkdir -p "\$4"
		"$BIN/tfl-partition" -a "\$2" "\$5" | sed -E '$1' |
			"$BIN/npu-sched" -a "\$2" --system-config=Ethos_U55_High_End_Embedded \
				--memory-mode=Shared_Sram | "$BIN/npu-wenc" |
			"$BIN/npu-cmdgen" -o "\$4/model_vela.tflite"
	END
	chmod +x strange
}
# loses the fused activation of ADD of INT8
LOSES='s/^(op .*do=add .*clamp=)-[0-9]{1,3}:-?[0-9]+$/\1-128:127/'

# column N: of the findings, without the header
column()
{
	tail -n +2 findings | cut -f "$1"
}

# check-long runs more of them, with earlier versions
@test "our streams compute what TensorFlow Lite Micro computes" {
	need flatc jq
	local n=30
	[ -z "${NPUTOOLS_QUICK-}" ] || n=10
	differential --vela=none -n $n -a ethos-u55-128,ethos-u85-256 --against="$BUILD" \
		--against="$BUILD/bin" >findings || { cat findings log; false; }
	[ "$(wc -l <findings)" = 1 ]
	grep -qE "^differential: [0-9]+ models, [0-9]+ void, 3 compilers, 0 findings$" log
	# one of these violates a precondition of TOSA
	differential --vela=none --tosa -s 1 -n 6 >findings || { cat findings log; false; }
	grep -qE "^differential: [1-5] models" log
}

# nputools-differences(7) names them
@test "what other compilers are known to compute otherwise is drawn, and ours is right" {
	need flatc jq
	local names=(ABS_RESCALED RELU6_RESCALED LEAKY_RELU_VALUES SUB_VALUES MUL_VALUES PRELU_INT16
		ARG_MAX_INT16 RSQRT_INT16 CAST_BOOL CHAIN CHAIN_DEPTHWISE REVERSED)
	differential --vela=none -n ${#names[@]} -s 3 -a ethos-u55-128,ethos-u85-256 "${names[@]}" \
		>findings || { cat findings log; false; }
	local models
	models=$(sed -n 's/^differential: \([0-9]*\) models, .*, 0 findings$/\1/p' log)
	cat log
	[ "$models" -ge 9 ]
	# without names, the harness draws these, too
	"$BUILD/tests/gen-model" -L >all
	comm -13 <(sort all) <({ printf '%s\n' "${names[@]}"; "$BUILD/tests/gen-model" -l; } | sort) >unknown
	[ ! -s unknown ]
}

# with equal shares, an hour found REDUCE_MIN once and REDUCE_MAX never
@test "operators whose axes, flags or types matter are drawn four times as often" {
	local name
	"$BUILD/tests/gen-model" -w >shares
	for name in RSQRT_INT16 REVERSED SPLIT MIRROR_PAD CAST RSQRT SUM REDUCE_MAX REDUCE_MIN \
		REDUCE_ANY RESIZE_NEAREST_NEIGHBOR; do
		[ "$(grep -cx $name shares)" = 4 ] || { echo "$name"; false; }
	done
	[ "$(grep -cx RELU shares)" = 1 ]
	diff <(sort -u shares) <("$BUILD/tests/gen-model" -L | sort)
	# both values of keep_dims, one axis and several
	for name in $(seq 40); do
		"$BUILD/tests/gen-model" "$name" REDUCE_MAX >model.tflite
		flatc --json --strict-json --raw-binary --defaults-json "$TOP/tests/models/tflite.fbs" -- model.tflite
		jq -r '.subgraphs[0] as $g | $g.operators[-1] | "\(.builtin_options.keep_dims) \(
			$g.tensors[.inputs[1]].shape[0] // 1)"' model.json
	done >kinds
	for name in "true 1" "true 2" "false 1" "false 2"; do
		[ "$(grep -cx "$name" kinds)" -ge 2 ] || { sort kinds | uniq -c; false; }
	done
}

@test "a compiler that loses an option is found, with a small model and the option's name" {
	need flatc jq
	strange "$LOSES"
	run -1 differential --vela=./strange -n 3 -s 5 -o kept ADD
	echo "$output" >findings
	cat findings log
	cmp findings kept/findings.tsv
	[ "$(column 1 | sort -u)" = differs ]
	[ "$(column 2 | sort -u)" = ADD ]
	[ "$(column 3 | grep -cv 'fused_activation_function=')" = 0 ]
	[ "$(column 4,5,6 | sort -u)" = "strange	9.8.7	ethos-u55-128" ]
	# the generator makes the model that is kept, which fails again
	local i=0 arguments bytes
	while IFS=$'\t' read -r arguments bytes; do
		i=$((i + 1))
		[ "$bytes" -lt 700 ]
		# shellcheck disable=SC2086
		"$BUILD/tests/"$arguments >model.tflite
		cmp model.tflite kept/$i.tflite
		./strange --accelerator-config ethos-u55-128 --output-dir own model.tflite
		run -1 npu-sim --inputs=random,min,max,alternating --compare=own/model_vela.tflite model.tflite
	done < <(column 7,8)
	[ $i -gt 0 ]
}

# the fourth model is a graph of twenty pairs
@test "a failure of a graph names the operators of the output that differs" {
	need flatc jq
	strange "$LOSES"
	run -1 differential --vela=./strange --tries=0 -n 4 -s 2 ADD
	echo "$output" >findings
	cat findings log
	grep -P '\tgen-model -p ' findings | cut -f 2 >operators
	[ -s operators ]
	grep -q ADD operators
	[ "$(tr + '\n' <operators | wc -l)" -le 4 ]
}

@test "the same findings with any number of jobs, and none of a correct compiler" {
	need flatc jq
	strange ''
	differential --vela=./strange -n 4 ADD MUL || { cat log; false; }
	strange "$LOSES"
	run -1 differential --vela=./strange -n 1 -j 1 -s 5 --tries=12 ADD
	local one=$output
	run -1 differential --vela=./strange -n 1 -j 4 -s 5 --tries=12 ADD
	[ "$output" = "$one" ]
}

# scales that are wrong by less than 1 %
@test "a compiler that rounds otherwise is a kind of its own" {
	need flatc jq
	strange 's/^(op .*do=mul .* scale=1[0-9]{2})[0-9]/\19/'
	run -1 differential --vela=./strange -n 3 MUL
	echo "$output" >findings
	cat findings log
	[ "$(column 1,2 | sort -u)" = "rounds	MUL" ]
}

@test "with --one, another compiler compiles each model for one accelerator" {
	need flatc jq
	strange error
	local a=ethos-u55-128,ethos-u55-256,ethos-u85-256 all
	run -1 differential -a $a --vela=./strange --tries=0 -n 9 MUL
	echo "$output" >findings
	all=$(column 9 | paste -s -d +)
	run -1 differential -a $a --vela=./strange --tries=0 --one -n 9 MUL
	echo "$output" >findings
	[ $((all)) = $((2 * ($(column 9 | paste -s -d +)))) ]
	differential -a $a --vela=none --one -n 2 MUL
}

@test "a failure is reported as drawn if the time is over" {
	need flatc jq
	strange sleep
	run -1 differential --vela=./strange --seconds=4 -j 1 MUL
	echo "$output" >findings
	cat findings log
	[ "$(column 1,3,9)" = "refuses	not reduced	1" ]
	grep -q "^differential: 1 models, .* 1 findings" log
}

@test "errors and signals of a compiler are findings of their kind" {
	need flatc jq
	strange error
	run -1 differential --vela=./strange -n 2 MUL
	echo "$output" >findings
	[ "$(column 1)" = refuses ]
	[ "$(column 10)" = "Error: not today" ]
	strange signal
	run -1 differential --vela=./strange -n 1 MUL
	echo "$output" >findings
	[ "$(column 1)" = crashes ]
}

@test "an earlier version of ours that is wrong is found" {
	need flatc jq
	mkdir -p older/bin
	cat >older/bin/npucc <<-END
		#!/bin/bash
		[ "\$1" != --version ] || { echo "npucc 0.1.2"; exit; }
		echo "npucc: error: out of order" >&2
		exit 2
	END
	chmod +x older/bin/npucc
	run -1 differential --vela=none --against=older -n 1 MUL
	echo "$output" >findings
	[ "$(column 1,2,4,5)" = "refuses	MUL	npucc:older	0.1.2" ]
	[ "$(column 10)" = "npucc: error: out of order" ]
}

@test "usage that makes no sense is refused" {
	local differential=$TOP/scripts/differential
	refuses 2 "NOTHING: gen-model draws no such operator" "$differential" -b "$BUILD" NOTHING
	refuses 2 "ethos-u99: no accelerator" "$differential" -b "$BUILD" -a ethos-u99
	refuses 2 "many: not a number" "$differential" -b "$BUILD" -n many
	refuses 2 "no npucc there" "$differential" -b "$BUILD" --against="$PWD"
	printf '#!/bin/sh\n' >mute
	chmod +x mute
	refuses 2 "prints no version" "$differential" -b "$BUILD" --vela=./mute
	refuses 2 "nowhere/bin/npucc" "$differential" -b "$PWD/nowhere"
	refuses 2 "unrecognized option" "$differential" --frobnicate
	"$differential" --help | grep -q -- '--against=RELEASE'
}
