#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# The same network through both front ends: TFLite, and TOSA converted by tfl-tosa.

load lib/common

tools=${NPUTOOLS_TESTBIN:-$TOP/build/tests}

# compile_as FILE OUT: compiles FILE for $accel
compile_as()
{
	npucc -a "${accel[0]}" --system-config="${accel[1]}" --memory-mode="${accel[2]}" \
		"${@:3}" -o "$2" "$1"
}

cycles()
{
	npu-perf --system-config="${accel[1]}" --memory-mode="${accel[2]}" --json "$1" |
		cycles_of timeline_cycles
}

# both_ways MODEL...: both front ends give the same cycles within 2 %, and the result
# follows TOSA's rules.  tfl-tosa leaves out a final SOFTMAX; the TFLite front end runs it
# on the CPU.
both_ways()
{
	local model name bad=0 a b
	need jq
	for model; do
		name=$(basename "$model" .tflite)
		"$tools/tfl-tosa" "${form[@]}" "$model" >g.tosa 2>err || {
			cat err
			return 1
		}
		if ! compile_as "$model" a.tflite --cpu=SOFTMAX 2>err ||
			! compile_as g.tosa b.tflite 2>err; then
			cat err
			return 1
		fi
		a=$(cycles a.tflite) b=$(cycles b.tflite)
		awk -v a="$a" -v b="$b" 'BEGIN { exit !(b <= a * 1.02 && a <= b * 1.02) }' || {
			echo "$name: $a cycles from TFLite, $b from TOSA"
			bad=1
		}
		npu-sim --inputs=random,min,max --compare=g.tosa b.tflite >out 2>err || {
			echo "$name: $(tail -1 err)"
			bad=1
		}
	done
	[ $bad = 0 ]
}

u55=(ethos-u55-128 Ethos_U55_High_End_Embedded Shared_Sram)
u65=(ethos-u65-256 Ethos_U65_High_End Dedicated_Sram)

@test "the tree's networks take the same cycles within 2 % by both front ends" {
	"$tools/chain-model" block 2 12 8 >residual.tflite
	for form in "" -s; do
		# shellcheck disable=SC2206 # no word where there is none
		form=($form)
		accel=("${u55[@]}")
		both_ways "$TOP/tests/models/digits.tflite" residual.tflite
	done
	accel=("${u65[@]}")
	both_ways residual.tflite
}

# models with an operator of each kind; all models with NPUTOOLS_ALL
shared_models()
{
	local names=(kws_ref_model micro_speech resnet_quant seanet_add1 seanet_sub0
		seanet_leaky_relu1 seanet_leaky_relu2 seanet_pad1 seanet_conv3
		seanet_transpose_conv1 seanet_strided_slice0 seed_mnist_fc)
	if [ -n "${NPUTOOLS_ALL-}" ]; then
		find "$SHARED/models" -name '*.tflite' ! -name 'kw_scrambled*' \
			! -name 'trained_lstm*' | sort
	else
		printf "$SHARED/models/%s.tflite\n" "${names[@]}"
	fi
}

@test "published networks take the same cycles within 2 % by both front ends" {
	need_shared models
	mapfile -t models < <(shared_models)
	form=()
	accel=("${u55[@]}")
	both_ways "${models[@]}"
	# leaky ReLUs of two scales are one operation on this accelerator, for either front
	# end
	accel=(ethos-u85-256 Ethos_U85_SYS_DRAM_Mid Dedicated_Sram_384KB)
	both_ways "$SHARED/models/seanet_leaky_relu1.tflite"
	[ -n "${NPUTOOLS_ALL-}" ] || return 0
	accel=("${u65[@]}")
	both_ways "${models[@]}"
	form=(-s)
	both_ways "${models[@]}"
	accel=(ethos-u85-256 Ethos_U85_SYS_DRAM_Mid Dedicated_Sram_384KB)
	both_ways "${models[@]}"
}

@test "with TFLite's rounding, convolutions and sums have TFLite's bytes" {
	"$tools/chain-model" block 2 12 8 >m.tflite
	"$tools/tfl-tosa" m.tflite >double.tosa
	"$tools/tfl-tosa" -s m.tflite >single.tosa
	npu-sim --inputs=random,random --compare=m.tflite double.tosa
	# the comparison can fail
	run ! npu-sim --inputs=random,random --compare=m.tflite single.tosa
}

@test "an operator that cannot be converted is named" {
	"$tools/gen-model" 13 UNIDIRECTIONAL_SEQUENCE_LSTM >lstm.tflite
	refuses 1 "lstm.tflite: operator 0 UNIDIRECTIONAL_SEQUENCE_LSTM: not one" \
		"$tools/tfl-tosa" lstm.tflite
	refuses 2 "nowhere.tflite" "$tools/tfl-tosa" nowhere.tflite
}
