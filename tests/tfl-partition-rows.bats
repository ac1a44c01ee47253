#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# tfl-partition: sums along rows: L2_NORMALIZATION, BATCH_MATMUL of 16 bits, and operators
# without a reference.

load lib/common
load lib/model
load lib/partition
# shellcheck disable=SC2154 # t is set there

L2_NORMALIZATION=11 BATCH_MATMUL=126 HARD_SWISH=117
I8=9 I16=7 # types

# unit SHAPE ZERO [ACTIVATION]: an L2_NORMALIZATION
unit()
{
	op m $L2_NORMALIZATION $I8 "$1" "${t}[0].quantization.zero_point = [$2]
		| ${t}[1].quantization.scale = [0.0078125]
		| $(with 12 "{fused_activation_function:${3-0}}")"
}

@test "rows of any depth are normalized to length 1" {
	# squares of all values, and of all values except the limits
	for zero in 0 -128 127 -1; do
		unit '[7,300,1]' $zero
		exact m
		unit '[700,2]' $zero
		exact m
	done
	unit '[2,3,4,5]' 7
	exact m
	# sums of 2^21 and more: results are shifted after the product
	unit '[60,33]' -128
	exact m
	unit '[9,600]' 100
	exact m
	# sums of 2^27 and more are also shifted
	unit '[3,2100]' -128
	exact m
	unit '[2,20000]' 127
	exact m
}

@test "rows that are equal to the zero point, or almost, are exact" {
	for zero in -128 0; do
		unit '[64,3]' $zero
		tfl-partition --fail-on-cpu m.tflite |
			npu-sched -a ethos-u55-128 --system-config RTSS_HE_SRAM_MRAM --memory-mode Shared_Sram |
			npu-wenc | npu-cmdgen -o c.tflite
		for i in {0..63}; do
			for v in $((i & 3)) $((i >> 2 & 3)) $((i >> 4 & 3)); do
				printf '\\x%02x' $((v + zero & 255))
			done
		done >text
		printf '%b' "$(cat text)" >in
		npu-sim -i in --compare=m.tflite c.tflite
	done
}

@test "the report says why an L2_NORMALIZATION runs on the CPU" {
	unit '[2,32769]' 0
	stays m "rows of 32769 elements: at most 32768"
	unit '[2,3]' 0 1
	stays m "TensorFlow Lite has no kernel with a fused activation"
	unit '[2,3]' 0
	tfl-partition --cpu=L2_NORMALIZATION --report m.tflite | grep "kept on the CPU by --cpu"
}

# product A B OFM SCALE [ADJOINT]: INT16 with SCALE for the result and 2^-15 for A and B
product()
{
	op m $BATCH_MATMUL $I16 "$1" "$(second $I16 "$2")
		| ${t}[].quantization.scale = [0.000030517578125]
		| ${t}[1].quantization.scale = [$4] | ${t}[1].shape = $3
		| $(with 101 "{adj_x:${5-false},adj_y:${5-false}}")"
}

@test "BATCH_MATMUL of 16 bits is exact at any scales" {
	# multipliers from 2^-2 to 2^-32
	for scale in 3.7e-9 5e-8 1.1e-7 2.3e-7 4.6e-6 3.1e-5 0.0004 0.0071 0.5 3.9; do
		product '[2,3,7]' '[2,7,5]' '[2,3,5]' $scale
		exact m
	done
	product '[3,7]' '[7,5]' '[3,5]' 3.1e-5
	exact m
	product '[2,1,7,3]' '[4,5,7]' '[2,4,3,5]' 0.0004 true
	exact m
	product '[40,1]' '[1,30]' '[40,30]' 3.1e-5
	exact m
	product '[70,510]' '[510,9]' '[70,9]' 0.003
	exact m
}

@test "products of 16 bits at the limits of their range are exact" {
	for scale in 2.5e-7 1e-4 0.0155; do
		product '[2,510]' '[510,2]' '[2,2]' $scale
		tfl-partition --fail-on-cpu m.tflite |
			npu-sched -a ethos-u55-128 --system-config RTSS_HE_SRAM_MRAM --memory-mode Shared_Sram |
			npu-wenc | npu-cmdgen -o c.tflite
		# rows of the smallest values, then of the largest values; columns alternate
		{ printf '\\x00\\x80%.0s' {1..510}; printf '\\xff\\x7f%.0s' {1..510}; } >text
		printf '%b' "$(cat text)" >a
		printf '%b' "$(printf '\\x00\\x80\\xff\\x7f%.0s' {1..510})" >b
		npu-sim -i a -i b --compare=m.tflite c.tflite
	done
}

@test "the report says why a BATCH_MATMUL of 16 bits runs on the CPU" {
	product '[2,511]' '[511,3]' '[2,3]' 0.001
	stays m "sums of 511 products of 16 bits: at most 510"
	product '[2,7]' '[7,3]' '[2,3]' 1e-9
	stays m "scaled sums may leave the range of int32, where the reference wraps around"
	product '[2,7]' '[7,3]' '[2,3]' 0.001
	tfl-partition --cpu=BATCH_MATMUL --report m.tflite | grep "kept on the CPU by --cpu"
}

@test "HARD_SWISH of 16 bits runs on the CPU, as it has no reference" {
	for code in $HARD_SWISH 111 150; do
		op m "$code" $I16 '[1,4,4,8]'
		stays m "neither TensorFlow Lite nor TensorFlow Lite Micro defines it for INT16"
	done
}

# bytes_of VALUE...: the bytes of 16-bit values
bytes_of()
{
	local v all=
	for v; do all+=,$((v & 255)),$((v >> 8 & 255)); done
	echo "[${all#,}]"
}

# svdf RANK BIAS...: 4 filters of 6 inputs over 5 steps, with weights at the limits of the
# range
svdf()
{
	local rank=$1 units=$((4 / $1)) time=(32767 32767 -32768 32767 32767
		-32768 -32768 -32768 -32768 -32768 1 -1 255 -129 128 32767 -32768 127 -128 32640)
	shift
	op m 27 $I8 '[1,6]' "${t}[1].shape = [1,$units]
		| $(second $I8 '[4,6]' '[range(24)|.*37%256]') | $(second $I16 '[4,5]' "$(bytes_of "${time[@]}")")
		| $(ints "[$units]" "$@")
		| $t += [{shape:[1,20],type:$I16,name:\"state\",is_variable:true,quantization:{scale:[0.0003],zero_point:[0]}}]
		| ${t}[1].quantization.scale = [40] | ${t}[3].quantization.scale = [0.0003]
		| ${t}[0].quantization.scale = [0.5] | del(${t}[4].quantization)
		| .subgraphs[0].inputs = [0] | .subgraphs[0].operators[0].inputs = [0,2,3,4,5]
		| $(with 6 "{rank:$rank}")"
}

@test "SVDF of 16 bits is exact with sums over time near 2^31 and beyond" {
	for bias in '0 0 0 0' '2147483647 -2147483648 2147483647 -2147483648' '-1 128 -129 1000000000'; do
		for rank in 1 2; do
			# one word for each value
			set -- $bias
			svdf $rank "${@:1:4 / rank}"
			for a in ethos-u55-64 ethos-u65-256; do
				tfl-partition --fail-on-cpu m.tflite |
					npu-sched -a $a --system-config "$([ $a = ethos-u55-64 ] && echo Ethos_U55_High_End_Embedded || echo Ethos_U65_High_End)" --memory-mode Shared_Sram |
					npu-wenc | npu-cmdgen -o c.tflite
				npu-sim --seed=3 --frames=40 --compare=c.tflite m.tflite
				npu-dis -q --verify c.tflite
			done
		done
	done
}
