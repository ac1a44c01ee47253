#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# SPDX-License-Identifier: Apache-2.0
# npu-eval: figures that can be worked out by hand, and refusals.

load lib/common

# npy TYPE SHAPE BYTE...: writes an array to standard output, for example '|i1' '(2, 3)' 1 2
# 255
npy()
{
	local head="{'descr': '$1', 'fortran_order': False, 'shape': $2, }" bytes
	printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$head"
	[ $# -le 2 ] || printf -v bytes '\\x%02x' "${@:3}"
	printf '%b' "$bytes"
}

# five: labels 0 0 1 1 2; answers 0 1 1 1 0: three of five
five()
{
	printf '0\tcat\n0\tcat\n1\tdog\n1\tdog\n2\n' >labels
	npy '|i1' '(5, 1, 3)' 9 1 2  5 7 7  0 255 254  1 9 3  8 8 7 >out.npy
}

# near VALUE EXPRESSION: equal except for the last digits of doubles
near() { awk -v a="$1" "BEGIN { b = $2; exit !(a - b < 1e-12 && b - a < 1e-12) }"; }

@test "accuracy, precision, recall, F1 and confusion are those worked out by hand" {
	need jq
	five
	# item 2: 0, -1, -2 is class 0; item 4: 8, 8: the first of equal values counts
	npu-eval --json --top=2 labels out.npy >j
	get() { jq -r ".outputs[0].$1" j; }
	[ "$(get right)" = 2 ]
	near "$(get accuracy)" 0.4
	# ranks: 0 is first, 0 is second behind an equal 1, 1 is second, 1 is first, 2 is
	# third
	near "$(get top_accuracy)" 0.6
	[ "$(get confusion -c | tr -d ' \n')" = '[[1,1,0],[1,1,0],[1,0,0]]' ]
	near "$(get 'classes[0].precision')" "1 / 3"
	near "$(get 'classes[0].recall')" 0.5
	near "$(get 'classes[0].f1')" 0.4
	near "$(get 'classes[1].f1')" 0.5
	near "$(get 'classes[2].f1')" 0
	near "$(get f1)" 0.3
	[ "$(get 'classes[0].name')" = cat ]
	[ "$(get 'classes[2].name')" = null ]
	npu-eval labels out.npy >t
	grep -qx '  accuracy 40.00 % (2), top-5 100.00 % (5)' t
	grep -qx '  dog                      2         2    0.5000    0.5000    0.5000' t
	npu-eval --csv labels out.npy >c
	grep -qx 'out.npy,confusion,2,cat,1' c
	grep -qx 'out.npy,recall,dog,,0.5' c
}

@test "two outputs are compared, and the items that differ are listed" {
	need jq
	five
	npy '|u1' '(5, 3)' 9 1 2  9 7 7  0 255 254  1 9 3  0 0 1 >other.npy
	npu-eval labels out.npy other.npy >t
	grep -qx 'out.npy, other.npy: 2 of 5 answers agree (40.00 %)' t
	grep -qx '  item 1 is cat: dog, cat' t
	grep -qx '  item 4 is 2: cat, 2' t
	npu-eval --parted=1 labels out.npy other.npy >t
	grep -qx '  and 2 more: --parted' t
	npu-eval --json labels out.npy other.npy out.npy >j
	[ "$(jq -c '[.agreement[] | .equal]' j)" = '[2,5,2]' ]
	[ "$(jq -c '[.agreement[0].parted[] | .item]' j)" = '[1,2,4]' ]
}

@test "two classes are judged by the area under the ROC curve" {
	need jq
	printf '0\n1\n0\n1\n1\n' >labels
	# scores 1, 1, 2, 3, 0: pairs above 1/2 + 0, 1 + 1, 0 + 0 of six
	npy '|u1' '(5,)' 1 1 2 3 0 >one.npy
	npu-eval --json labels one.npy >j
	near "$(jq '.outputs[0].auc' j)" "2.5 / 6"
	# the score is the second value minus the first
	npy '|u1' '(5, 2)' 1 2  1 2  1 3  0 3  2 2 >two.npy
	npu-eval --json labels two.npy >j
	near "$(jq '.outputs[0].auc' j)" "2.5 / 6"
	# with one class alone there is no area
	printf '1\n1\n1\n1\n1\n' >labels
	npu-eval --json labels two.npy >j
	[ "$(jq '.outputs[0].auc' j)" = null ]
}

@test "numbers are judged by their errors, also for an autoencoder" {
	need jq
	printf '1.5\n-2\n0\n' >labels
	npy '|i1' '(3, 1)' 2 254 3 >out.npy
	npu-eval --json labels out.npy >j
	near "$(jq '.outputs[0].mae' j)" "3.5 / 3"
	near "$(jq '.outputs[0].mse' j)" "9.25 / 3"
	near "$(jq '.outputs[0].largest' j)" 3
	[ "$(jq '.outputs[0].worst' j)" = 2 ]
	# whole labels are numbers with --regression
	printf '2\n-2\n3\n' >labels
	npu-eval --json --regression labels out.npy >j
	[ "$(jq '.outputs[0].mse' j)" = 0 ]
	# items 0 and 2 are the anomalies: their errors are 1 and 4.5, the error of item 1
	# is 2
	printf '1\n0\n1\n' >labels
	npy '|i1' '(3, 2)' 1 1  0 0  5 3 >in.npy
	npy '|i1' '(3, 2)' 2 2  2 0  5 0 >out.npy
	npu-eval --json --targets=in.npy labels out.npy >j
	near "$(jq '.outputs[0].auc' j)" 0.5
	near "$(jq '.outputs[0].mse' j)" "15 / 6"
}

@test "--model: integers get the scales of the model's outputs" {
	need jq
	model=$BATS_TEST_DIRNAME/models/digits.tflite
	npu-sim --frames=3 --reset -o out "$model" >log
	printf '0\n1\n1\n' >labels
	cp out/output_0.npy targets.npy
	# targets with the inputs' shape get only the inputs' scale
	npu-eval --json --targets=targets.npy labels out/output_0.npy >raw
	[ "$(jq '.outputs[0].mse' raw)" = 0 ]
	npu-eval --json --model="$model" --targets=targets.npy labels out/output_0.npy >j
	[ "$(jq '.outputs[0].mse > 0' j)" = true ]
}

@test "the demo model recognises as many digits as nputools-tour(7) says, plain and compiled" {
	[ -z "${NPUTOOLS_QUICK-}" ] || skip "heavy: 5,000 drawings"
	mkdir d
	"${NPUTOOLS_BUILD:-$TOP/build}/tests/digits" --drawings d
	m=$BATS_TEST_DIRNAME/models/digits
	mkinput --list=d --range=0,1 -o d.npy "$m.tflite"
	[ "$(wc -l <d.labels)" = 5000 ]
	npu-sim --frames=5000 --reset -j2 -i d.npy -o plain "$m.tflite"
	npu-eval d.labels plain/output_0.npy >t
	grep -q '  accuracy 99.66 % (4983)' t
	grep -q '99.66 %' "$TOP/man/nputools-tour.7"
	# The compiled model gives the same bytes: checked here for the first items, and for
	# all of them by make digits-accuracy.
	tail -c $((784 * 5000)) d.npy | head -c $((784 * 500)) >some
	npu-sim --frames=500 --reset -j2 -i some -o npu "$m-ethos-u55-128.tflite"
	tail -c 5000 npu/output_0.npy >npu.raw
	tail -c 50000 plain/output_0.npy | head -c 5000 | cmp - npu.raw
}

@test "files that do not fit are refused, with the place of the fault" {
	five
	refuses 2 "a file of labels and at least one file of outputs are needed" npu-eval labels
	npy '|i1' '(4, 3)' 1 2 3 1 2 3 1 2 3 1 2 3 >short.npy
	refuses 2 "short.npy: error: has 4 items, but there are 5 labels" npu-eval labels short.npy
	printf '1\nx\n' >bad
	refuses 2 "bad:2: error: a label must be a number, not 'x'" npu-eval bad out.npy
	printf '1\0' >bad
	refuses 2 "bad: error: not a text file" npu-eval bad out.npy
	: >bad
	refuses 2 "bad: error: the file has no labels" npu-eval bad out.npy
	refuses 2 "labels: error: not a .npy file" npu-eval labels labels
	npy '<f4' '(5,)' 0 0 128 127  0 0 0 0  0 0 0 0  0 0 0 0  0 0 0 0 >inf.npy
	refuses 2 "inf.npy: error: item 0 has a value that is not a finite number" npu-eval labels inf.npy
	refuses 2 "out.npy: error: has 3 values per item, labels has 1" npu-eval --regression labels out.npy
	npy '|i1' '(5, 0)' >none.npy
	refuses 2 "none.npy: error: has no values" npu-eval labels none.npy
	printf '0\n0\n0\n0\n99999\n' >labels
	refuses 2 "labels: error: label 99999 of item 4, but out.npy has the 3 classes from 0 to 2" \
		npu-eval labels out.npy
	mapfile -t zeros < <(yes 0 | head -40965)
	npy '|i1' '(5, 8193)' "${zeros[@]}" >many.npy
	printf '0\n0\n0\n0\n0\n' >labels
	refuses 2 "many.npy: error: there are 8193 classes: at most 8192" npu-eval labels many.npy
}

# ---- --layers -------------------------------------------------------------------

digits=$BATS_TEST_DIRNAME/models/digits.tflite

ten_digits()
{
	mkdir -p c
	for d in 0 1 2 3 4 5 6 7 8 9; do
		echo "$TOP/tests/models/digits/digit-$d.pgm $d"
	done >c/list
	mkinput --list=c/list --range=0,1 -o x.npy "$digits"
}

@test "--layers names mkinput for samples of float32" {
	{
		printf '\x93NUMPY\1\0\x45\0%-68s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 784), }"
		head -c 3136 /dev/zero
	} >f.npy
	refuses 2 "f.npy: error: elements are not of type INT8, as those of input picture: mkinput --format=npy converts samples" \
		npu-eval --layers "$digits" f.npy
}

@test "--layers: every operator of the demo model is within a step of real numbers" {
	need jq
	ten_digits
	npu-eval --layers --json "$digits" x.npy >j
	[ "$(jq '.layers | length' j)" = 13 ]
	[ "$(jq '.items' j)" = 10 ]
	# ADD rounds twice before its final rounding
	[ "$(jq '[.layers[] | select(.own_steps > 1)] | length' j)" = 0 ]
	[ "$(jq '[.layers[] | select(.own_steps > 0.51)] | length <= 1' j)" = true ]
	[ "$(jq '.layers[] | select(.name == "RESHAPE") | .own_snr_db' j)" = null ]
	# the worst operator first; exact operators are last
	[ "$(jq '[.layers[].own_snr_db // 1e9] | . == sort' j)" = true ]
	[ "$(jq '[.layers[] | .channels | length] | add' j)" -gt 200 ]
	npu-eval --layers "$digits" x.npy >t
	[ "$(wc -l <t)" = 15 ]
	npu-eval --layers --csv "$digits" x.npy >c.csv
	[ "$(wc -l <c.csv)" = 14 ]
	# 1.0 is one step beyond the scale of SOFTMAX, and not clipped
	jq -e '.layers[] | select(.name == "SOFTMAX") | .greatest > 0.999 and .clipped == 0' j
}

@test "--layers and tfl-quantize count clipped values by one rule" {
	need jq
	ten_digits
	tfl-quantize --data=x.npy --ranges=percentile --json -o q.tflite \
		"$TOP/tests/models/digits-float.tflite" >float 2>notes
	npu-eval --layers --json q.tflite x.npy >real
	# a value or two of a tensor differ, as the weights of the networks do
	jq -e --slurpfile real real '[.tensors[] | { (.name): (.clipped * .values | round) }] | add as $of |
		([$of[]] | add) >= 10 and all($real[0].layers[]; .clipped - $of[.tensor_name] | fabs <= 2)' float
}

# scaled TENSOR FACTOR: the demo model with another scale of this tensor
scaled()
{
	flatc --json --strict-json --raw-binary -o . "$TOP/tests/models/tflite.fbs" -- "$digits"
	jq "(.subgraphs[0].tensors[] | select(.name == \"$1\") | .quantization.scale) |= map(. * $2)" \
		digits.json >bad.json
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" bad.json
}

@test "--layers shows which scale is wrong" {
	need flatc jq
	ten_digits
	for name in dw2 pw1 logits; do
		scaled $name 16
		npu-eval --layers --json bad.tflite x.npy >j
		[ "$(jq -r '.layers[0].tensor_name' j)" = $name ]
		[[ $(jq -r '.layers[0].help' j) == "a narrower range: "*"; calibrate with such samples alone, or with tfl-quantize --ranges=percentile" ]]
		scaled $name 0.1
		npu-eval --layers --json bad.tflite x.npy >j
		[ "$(jq -r '.layers[0].tensor_name' j)" = $name ]
		[[ $(jq -r '.layers[0].help' j) == "a wider range: "*"; calibrate with such samples, too" ]]
	done
}

# layers GENERATOR OPERATOR...: generates two models for each operator and evaluates their
# layers in real numbers.  Each operator is computed at least once.
layers()
{
	local gen=$1 f s inputs computed
	shift
	rm -f reports
	for f; do
		for s in 3 4; do
			"$gen" $s "$f" >m.tflite || { echo "$f is not drawn"; return 1; }
			rm -f in*.npy
			mkinput --random=$s --format=npy -o in.npy m.tflite 2>log
			mapfile -t inputs < <(printf '%s\n' in*.npy | sort -V)
			printf '"%s %s"\n' "$f" "$s" >>reports
			npu-eval --layers --json m.tflite "${inputs[@]}" >>reports ||
				{ echo "$f $s"; return 1; }
		done
	done
	# Two roundings, of inputs and of sums, are at most two steps.  An LSTM rounds at each of
	# its steps, and takes its functions from tables.
	jq -cn '[inputs] | range(0; length; 2) as $i | .[$i + 1] as $r |
		select([$r.layers[] | select(.name != "UNIDIRECTIONAL_SEQUENCE_LSTM").own_steps]
			| max // 0 | . <= 2 | not) ,
		select([$r.layers[] | select(.name == "UNIDIRECTIONAL_SEQUENCE_LSTM").own_snr_db]
			| min // 99 | . > 25 | not) | .[$i], $r' \
		reports >wrong
	[ ! -s wrong ] || { cat wrong; return 1; }
	computed=$(jq -r 'objects | .layers[] | select(.computed).name' reports | sort -u)
	for f; do
		grep -qx "$f" <<<"$computed" || { echo "$f is not computed"; return 1; }
	done
}

@test "--layers: operators in real numbers agree with the kernels" {
	need jq
	mapfile -t names < <(operators '$6 != "none" && $3 != "taken"')
	[ ${#names[@]} -gt 50 ]
	layers "${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model" "${names[@]}"
}

@test "--layers refuses faulty inputs" {
	ten_digits
	refuses 2 "the model has 1 input, but there are 2 files: give one for each" \
		npu-eval --layers "$digits" x.npy x.npy
	refuses 2 "--layers needs a MODEL and one FILE for each of its inputs" npu-eval --layers "$digits"
	npy '|u1' '(784,)' 1 >short.npy
	refuses 2 "short.npy: error" npu-eval --layers "$digits" short.npy
	npy '|i1' '(3,)' 1 2 3 >three.npy
	refuses 2 "three.npy: error: has 3 bytes, which is not a multiple of an item of input picture, 784 bytes" \
		npu-eval --layers "$digits" three.npy
	refuses 2 "is compiled already" npu-eval --layers "${digits%.tflite}-ethos-u55-128.tflite" x.npy
	refuses 2 "--layers excludes --model, --targets and --regression" npu-eval --layers --regression "$digits" x.npy
}
