# SPDX-License-Identifier: Apache-2.0
# The demo model: its properties and its reproduction.

load lib/common

model=$BATS_TEST_DIRNAME/models/digits.tflite

# With NPUTOOLS_ALL.  Otherwise 1,500 pictures are trained instead of 24,000, with the same
# draws, steps and rounding; the result is the same with any compiler.  A quick run trains
# 150.
@test "the demo model can be made again, byte for byte" {
	if [ -n "${NPUTOOLS_ALL-}" ]; then
		"${NPUTOOLS_BUILD:-$TOP/build}/tests/digits" made.tflite . >log
		cat log
		cmp made.tflite "$model"
	else
		local pictures=1500 sum='3413508857 17616'
		[ -z "${NPUTOOLS_QUICK-}" ] || pictures=150 sum='2704781937 17616'
		"${NPUTOOLS_BUILD:-$TOP/build}/tests/digits" made.tflite . $pictures
		cksum <made.tflite
		[ "$(cksum <made.tflite)" = "$sum" ]
	fi
	for d in 0 1 2 3 4 5 6 7 8 9; do
		cmp "digit-$d.pgm" "$TOP/tests/models/digits/digit-$d.pgm"
	done
}

@test "flatc, which is independent of the kit, reads the demo model" {
	need flatc jq
	flatc --json --strict-json --raw-binary \
		"$TOP/tests/models/tflite.fbs" -- "$model"
	jq -r '.subgraphs[0].operators[] | .builtin_options_type // "none"' \
		digits.json | sort | uniq -c >ops
	[ "$(awk '{ n += $1 } END { print n }' ops)" = 13 ]
	grep -q '5 Conv2DOptions' ops
	grep -q '3 DepthwiseConv2DOptions' ops
}

@test "the demo model is fully integer" {
	run tfl-quantcheck "$model"
	[ "$status" = 0 ]
	[[ "$output" == *"fully integer: 0 errors, 0 warnings"* ]]
}
