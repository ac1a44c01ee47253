#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# tfl-partition: sums along rows: L2_NORMALIZATION

load lib/common
load lib/model
load lib/partition
# shellcheck disable=SC2154 # t is set there

L2_NORMALIZATION=11
I8=9 # types

# unit SHAPE ZERO [ACTIVATION]
unit()
{
	op m $L2_NORMALIZATION $I8 "$1" "${t}[0].quantization.zero_point = [$2]
		| ${t}[1].quantization.scale = [0.0078125]
		| $(with 12 "{fused_activation_function:${3-0}}")"
}

@test "rows of length 1, of any depth" {
	# squares of all values, and of all but the ends
	for zero in 0 -128 127 -1; do
		unit '[7,300,1]' $zero
		exact m
		unit '[700,2]' $zero
		exact m
	done
	unit '[2,3,4,5]' 7
	exact m
	# sums of 2^21 and more: results are shifted behind the product
	unit '[60,33]' -128
	exact m
	unit '[9,600]' 100
	exact m
	# of 2^27 and more: so are the sums
	unit '[3,2100]' -128
	exact m
	unit '[2,20000]' 127
	exact m
}

@test "rows that are all zero point, or nearly" {
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

@test "L2_NORMALIZATION that stays on the CPU says why" {
	unit '[2,32769]' 0
	stays m "rows of 32769 elements: at most 32768"
	unit '[2,3]' 0 1
	stays m "TensorFlow Lite has no kernel with a fused activation"
	unit '[2,3]' 0
	tfl-partition --cpu=L2_NORMALIZATION --report m.tflite | grep "kept on the CPU by --cpu"
}
