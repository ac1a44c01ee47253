# SPDX-License-Identifier: Apache-2.0
# The command stream and the listings in another compiler's log, for a network of two
# QUANTIZE and one FULLY_CONNECTED.  With the log's blocks, block dependencies and
# addresses, the words must be the same.

load lib/common

profile=(-a ethos-u55-256 --system-config Ethos_U55_High_End_Embedded
	--memory-mode Shared_Sram)

# hand_edit: adds the log's choices to the .part, as an editor would
hand_edit()
{
	sed -E -e '/^op .*name="tfl.quantize"/s/$/ block=2x2x128 ib=10 ab=30 blockdep=0/' \
		-e '/^op .*name="StatefulPartitionedCall:01"/s/$/ block=2x2x128 ib=10 ab=30 blockdep=3/' \
		-e '/^op .*name="StatefulPartitionedCall:0"/s/$/ block=2x2x128 ib=10 ab=30 blockdep=0/' \
		-e '/^tensor .*name="(serving_default_input_1:0|StatefulPartitionedCall:01)"/s/$/ at=0x0/' \
		-e '/^tensor .*name="(tfl.quantize|StatefulPartitionedCall:0)"/s/$/ at=0x3f0/' \
		-e '/^weights /s/$/ at=0x2760/' "$@"
}

# 2016 bytes are the feature maps alone: no weights are fetched
compile()
{
	need_shared seeds/vela-log.txt
	need_shared models/seed_mnist_fc.tflite
	tfl-partition "$SHARED/models/seed_mnist_fc.tflite" >m.part
	hand_edit m.part >edited.part
	[ "$(diff m.part edited.part | grep -c '^>')" = 8 ]
	npu-sched "${profile[@]}" --arena-cache-size=2016 edited.part >m.sched 2>/dev/null
	npu-wenc m.sched >m.wenc
}

# the log has other weights and another encoder
mask_length()
{
	sed -E 's/[0-9a-f]{8}( 0000 4021 - cmd1.NPU_SET_WEIGHT_LENGTH)/LENGTH\1/'
}

@test "the stream has the log's 82 commands of 444 bytes" {
	compile
	npu-cmdgen --emit=words m.wenc | mask_length >got
	sed -n '/^Register-Level Command Stream: Output/,/^Command stream length/p' \
		"$SHARED/seeds/vela-log.txt" | mask_length >want
	diff want got
	[ "$(grep -c ' - cmd' got)" = 82 ]
	[ "$(npu-cmdgen --emit=cmd m.wenc | wc -c)" = 444 ]
}

@test "the edits are kept and not overwritten" {
	compile
	for edit in 'block=2x2x128 ib=10 ab=30 blockdep=0' \
		'block=2x2x128 ib=10 ab=30 blockdep=3' 'at=0x2760'; do
		grep -qF "$edit" m.wenc
	done
	grep -q '^code .* scales=0x2760:10080 stream=0x4ec0:' m.wenc
	grep -q '^area  *arena .*used=2016' m.wenc
}

@test "the model made from the stream computes the golden outputs" {
	compile
	npu-cmdgen -o m_npu.tflite m.wenc
	npu-dis --verify m_npu.tflite
	dir=$SHARED/golden/seed_mnist_fc/0
	npu-sim -i "$dir/input_0.npy" -e "$dir/output_0.npy" m_npu.tflite
}

# the log has other names for its copies of input and output
copies='s/^( +name=(serving_default_input_1:0|StatefulPartitionedCall:0))_(npu|cpu)$/\1/'

@test "stripes, operations and words are listed as in the log" {
	compile
	mask()
	{
		sed -E -e 's/(Weights: .*length=)[0-9]+/\1LENGTH/' -e "$copies" |
			mask_length
	}
	npu-cmdgen --emit=list m.wenc | mask >got
	sed -n '/^print_high_level/,/^Command stream length/p' \
		"$SHARED/seeds/vela-log.txt" | mask >want
	[ "$(wc -l <want)" = 124 ]
	diff want got
	npu-cmdgen --verbose-high-level-command-stream \
		--verbose-register-command-stream m.wenc 2>&1 >/dev/null |
		mask | diff want -
}

@test "configuration, graph and addresses are listed as in the log" {
	compile
	# Masked: the path of the other compiler's file, and its names for a copy of the
	# weights and of the output.
	mask()
	{
		sed -E -e "s/^(   used = ).*/\1PATH/" \
			-e 's/MatMul1_reshape/MatMul1/' \
			-e 's/(StatefulPartitionedCall:0)_cpu$/\1/'
	}
	npu-sched "${profile[@]}" --verbose-config --verbose-graph \
		--verbose-allocation edited.part 2>&1 >/dev/null |
		grep -v '^npu-sched: profile:' | mask >got
	# tfl-partition lists operators
	sed -n '/^Configuration files/,$p' "$SHARED/seeds/vela-log.txt" |
		sed '/^Allocation Overhead/q' |
		grep -vE '^(Operators of Subgraph|  [0-9]: )' | mask >want
	[ "$(wc -l <want)" = 67 ]
	diff want got
}

@test "operators are listed as in the log" {
	need_shared seeds/vela-log.txt
	grep -A3 '^Operators of Subgraph' "$SHARED/seeds/vela-log.txt" >want
	tfl-partition --verbose-operators "$SHARED/models/seed_mnist_fc.tflite" \
		2>&1 >/dev/null | diff want -
}

# The log's weights, and with them the flash, are larger.  In the log, the biases precede
# the packed scales and biases and are stored twice; the log counts them as weights.
# Therefore our second row begins where the log's second row begins.
@test "constants have the addresses of the log" {
	compile
	mask()
	{
		sed -E -e 's/_npu$//; s/MatMul1_reshape_npu/MatMul1/' \
			-e '/: Weights/s/- +0x[0-9a-f]+: +[0-9]+:/- SIZE:/' \
			-e '/: FeatureMap.*flash/s/- +0x[0-9a-f]+: +[0-9]+:/- SIZE:/' \
			-e 's/: +[0-9]+: (FeatureMap|Weights)/: TOTAL: \1/' \
			-e 's/(Allocation Peak.*:) .*/\1 TOTAL/'
	}
	npu-sched "${profile[@]}" --arena-cache-size=2016 m.part 2>/dev/null |
		npu-wenc --verbose-allocation 2>got | npu-cmdgen \
		--verbose-allocation 2>>got >m_npu.tflite
	for set in Permanent_NPU Permanent_CPU; do
		grep -A6 -B2 "($set)" "$SHARED/seeds/vela-log.txt"
	done | grep -v '^--$' | mask >want
	[ "$(wc -l <want)" = 18 ]
	mask <got | diff want -
}
