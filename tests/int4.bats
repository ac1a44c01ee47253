# SPDX-License-Identifier: Apache-2.0
# Constant weights of INT4: two elements a byte in the file, INT8 for the NPU.

bats_require_minimum_version 1.5.0

load lib/common
load lib/model

GEN=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model

# the weights of tests/models/fc.json, packed: the low half of a byte comes first
packed="$t[1].type = 17 | .buffers[1].data = [33, 67, 239, 205]"

@test "weights of INT4 compute what the same weights of INT8 compute" {
	model int8
	model int4 "$packed"
	npu-sim --seed 1 int8.tflite >want
	npu-sim --seed 1 int4.tflite | diff want -
	# from -8 to 7
	model int8 ".buffers[1].data = [248, 7, 0, 255, 1, 249, 6, 250]"
	model int4 "$packed | .buffers[1].data = [120, 240, 145, 166]"
	npu-sim --seed 1 int8.tflite >want
	npu-sim --seed 1 int4.tflite | diff want -
}

@test "random models with weights of INT4 run on all eleven accelerators" {
	local n=24 ACCELERATORS
	[ -z "${NPUTOOLS_QUICK-}" ] || n=6
	[ -z "${NPUTOOLS_ALL-}" ] || n=600
	ACCELERATORS=$(sed -n 's/^ACCEL([^"]*"\([^"]*\)".*/\1/p' "$TOP/schema/target.def")
	[ "$(wc -w <<<"$ACCELERATORS")" = 11 ]
	export ACCELERATORS
	run "$BATS_TEST_DIRNAME/random-models" -b "${NPUTOOLS_BUILD:-$TOP/build}" -n $n \
		CONV_2D_INT4 DEPTHWISE_CONV_2D_INT4 FULLY_CONNECTED_INT4
	echo "$output"
	[ "$status" = 0 ]
	# the draws have INT4, apart from those of UINT8
	"$GEN" 1 DEPTHWISE_CONV_2D_INT4 | tfl-quantcheck | grep -q ' INT4 '
}

# on_cpu NAME: draw 1 of NAME, whose operator stays on the CPU; prints the bytes of tensors in the arena
on_cpu()
{
	"$GEN" 1 "$1" >"$1.tflite"
	npucc --check -a ethos-u55-128 --system-config Ethos_U55_High_End_Embedded \
		--memory-mode Shared_Sram --cpu=DEPTHWISE_CONV_2D -o "$1-c.tflite" "$1.tflite" \
		2>log
	tfl2c -n net "$1-c.tflite" >c.h 2>notes
	sed -n 's/^#define NET_TENSOR_BYTES \([0-9]*\)$/\1/p' c.h
}

@test "weights of INT4 that stay on the CPU stay packed in the file" {
	wide=$(on_cpu DEPTHWISE_CONV_2D)
	narrow=$(on_cpu DEPTHWISE_CONV_2D_INT4)
	tfl-quantcheck DEPTHWISE_CONV_2D_INT4-c.tflite >report 2>/dev/null || true
	grep -q ' INT4 .*\[1,5,7,8\]' report
	# the runtime unpacks the 280 weights into its arena
	[ $((narrow - wide)) -ge 280 ]
	[ $((narrow - wide)) -lt 300 ]
}

@test "tfl-quantcheck takes weights of INT4, and refuses a wrong size" {
	model int4 "$packed"
	tfl-quantcheck int4.tflite | grep -q 'fully integer: 0 errors'
	for data in '33, 67, 239' '33, 67, 239, 205, 1' '1, 2, 3, 4, 255, 254, 253, 252'; do
		model bad "$packed | .buffers[1].data = [$data]"
		run --separate-stderr tfl-quantcheck bad.tflite
		[ "$status" = 2 ]
		[[ $stderr == *"bad.tflite: error: subgraph 0: tensor 1 (weights) holds "*" bytes, its shape needs 4" ]]
	done
	# a channel of zeros, and a zero point that INT4 lacks
	model dead "$packed | .buffers[1].data = [33, 67, 0, 0]"
	tfl-quantcheck dead.tflite | grep -q 'dead-channels'
	model zero "$packed | $t[1].quantization.zero_point = [8]"
	run tfl-quantcheck zero.tflite
	[ "$status" = 1 ]
	[[ $output == *'zero point 8 is outside INT4, -8 to 7'* ]]
}
