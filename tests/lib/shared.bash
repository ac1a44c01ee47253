# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The folder of what is too large for the tree, NPUTOOLS_SHARED or beside the tree:
#
#   models/       networks in use; models-real/ others, as they are found
#   golden/       what TensorFlow Lite Micro computes of them, golden/ops/ of operators
#   reference/    what two Velas made of the models, tables of their figures, streams
#                 from devices, logs
#   seeds/        logs and texts that reports are compared with
#   tosa/         TOSA graphs, good and bad, with their results
#   defects/      inputs that once showed a mistake
#
# Nothing else of the tests knows where it is.  Where it is absent, need_shared skips a
# test, for what has no substitute: figures of others.  models_or_stand_ins has one:
# the same paths, by the tree's own models.

SHARED=${NPUTOOLS_SHARED-$TOP/../shared}
[ -d "$SHARED" ] || SHARED=

# need_shared [FILE]: skips the test where the shared data is absent
need_shared()
{
	[ -n "$SHARED" ] || skip "no shared data (NPUTOOLS_SHARED)"
	[ -z "${1-}" ] || [ -e "$SHARED/$1" ] || skip "no $1 in $SHARED"
}

# the demo, and drawn ones: graphs of several operators, a residual network, a state
stand_ins()
{
	local dir=$BATS_FILE_TMPDIR/stand-ins bin=${NPUTOOLS_TESTBIN:-$TOP/build/tests} s
	if [ ! -d "$dir" ]; then
		mkdir -p "$dir"
		cp "$TOP/tests/models/digits.tflite" "$dir/"
		for s in 2 5 8; do
			"$bin/gen-model" -g $s >"$dir/graph-$s.tflite"
		done
		"$bin/chain-model" block 4 16 8 >"$dir/residual.tflite"
		"$bin/gen-model" 13 UNIDIRECTIONAL_SEQUENCE_LSTM >"$dir/lstm.tflite"
	fi
	find "$dir" -name '*.tflite' | sort
}

# paths of the shared models but the largest, or of stand-ins
models_or_stand_ins()
{
	if [ -n "$SHARED" ]; then
		find "$SHARED/models" -name '*.tflite' ! -name 'mbv2*' | sort
	else
		stand_ins
	fi
}
