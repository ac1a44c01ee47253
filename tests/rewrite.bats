# SPDX-License-Identifier: Apache-2.0
# libcommon/rewrite: batches and split sums of models' graphs compute what the reference
# kernels compute (tests/unit/rewrite.c).

load lib/common

gen=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model
rewrite=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/rewrite

setup_file()
{
	[ -x "$rewrite" ] || skip "no $rewrite"
}

# rewrites SEED OPERATOR: rewrites a drawn model; the number of its split sums is in n.
# Fails with status 2 if the model has an operation that graph_run.h does not compute.
rewrites()
{
	"$gen" "$@" >m.tflite
	tfl-partition -o m.part m.tflite 2>notes
	"$rewrite" m.tflite m.part >out
	n=$(sed -n 's/ sums$//p' out)
}

@test "batches and split sums of LSTMs compute the same values as the model" {
	local seed
	# one step and several, features of all steps at once or one by one
	for seed in 1 5 12 31; do
		rewrites $seed UNIDIRECTIONAL_SEQUENCE_LSTM
		[ "$n" -gt 0 ]
	done
	# 6 steps, whose products are made for 1, 2, 3 or 6 steps at once
	rewrites 12 UNIDIRECTIONAL_SEQUENCE_LSTM 1.1=0 1.2=0 1.3=1 1.4=5 1.5=19 1.6=2
	[ "$n" = 6 ]
}

@test "batches of layers compute the same values as the model" {
	local kind seed status known=0 last=6
	[ -z "${NPUTOOLS_QUICK-}" ] || last=2
	for kind in FULLY_CONNECTED CONV_2D DEPTHWISE_CONV_2D CONCATENATION STRIDED_SLICE SVDF; do
		for ((seed = 1; seed <= last; seed++)); do
			status=0
			rewrites $seed $kind || status=$?
			[ $status = 0 ] || { [ $status = 2 ] && grep 'is not known here' out; }
			known=$((known + (status == 0)))
		done
	done
	echo "$known models"
	[ $known -ge $((10 * last / 3)) ]
}
