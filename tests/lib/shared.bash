# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The folder for data that is too large for the tree: NPUTOOLS_SHARED, or ../shared beside
# the tree.
#
#   models/       networks in use; models-real/ has other networks as they were found
#   golden/       their outputs in TensorFlow Lite Micro; golden/ops/ has single operators
#   reference/    the models compiled by two versions of Vela, tables of Vela's figures,
#                 streams from devices, logs
#   seeds/        logs and texts that reports are compared with
#   tosa/         valid and invalid TOSA graphs, with their results
#   defects/      inputs that once showed a mistake
#
# No other file of the tests knows the path of this folder.  If the folder is absent,
# need_shared skips a test that needs figures or results of other programs.  The other tests
# follow the same paths with the tree's own models: models_or_stand_ins, network,
# case_or_drawn, tosa_case.

SHARED=${NPUTOOLS_SHARED-$TOP/../shared}
[ -d "$SHARED" ] || SHARED=

# need_shared [FILE]: skips the test if the shared data, or FILE in it, is absent
need_shared()
{
	[ -n "$SHARED" ] || skip "no shared data (NPUTOOLS_SHARED)"
	[ -z "${1-}" ] || [ -e "$SHARED/$1" ] || skip "no $1 in $SHARED"
}

# stand-ins: the demo, and generated models: graphs of several operators, a residual
# network, a network with a state
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
		"$bin/chain-model" conv 3 4 8 >"$dir/chain.tflite"
		"$bin/gen-model" 12 UNIDIRECTIONAL_SEQUENCE_LSTM >"$dir/lstm.tflite"
	fi
	find "$dir" -name '*.tflite' | sort
}

# paths of the shared models without the largest one, or of the stand-ins
models_or_stand_ins()
{
	if [ -n "$SHARED" ]; then
		find "$SHARED/models" -name '*.tflite' ! -name 'mbv2*' | sort
	else
		stand_ins
	fi
}

# network NAME: the path of a shared model or of its stand-in: a residual network, a network
# with a state, a network whose output depends on every layer, or the demo
network()
{
	local dir=$BATS_FILE_TMPDIR/stand-ins
	if [ -n "$SHARED" ]; then
		echo "$SHARED/models/$1.tflite"
		return
	fi
	stand_ins >/dev/null
	case $1 in
	resnet*) echo "$dir/residual.tflite" ;;
	*lstm*) echo "$dir/lstm.tflite" ;;
	hello_world*) echo "$dir/chain.tflite" ;;
	*) echo "$dir/digits.tflite" ;;
	esac
}

# case_or_drawn FILE SEED OPERATOR: the path of a shared model of one operator, or of a
# generated one
case_or_drawn()
{
	local drawn=$BATS_FILE_TMPDIR/$3-$2.tflite
	if [ -n "$SHARED" ]; then
		echo "$SHARED/$1"
		return
	fi
	"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model" "$2" "$3" >"$drawn"
	echo "$drawn"
}

# tosa_case NAME: the directory of a shared graph with its inputs and outputs.  Without
# shared data, the directory has only a generated graph of one input and one output
# (net-...: the demo's).  npu-sim then generates the inputs, and the expected outputs come
# from the reference kernels.
tosa_case()
{
	local dir=$BATS_FILE_TMPDIR/tosa/$1 bin=${NPUTOOLS_TESTBIN:-$TOP/build/tests}
	if [ -n "$SHARED" ]; then
		echo "$SHARED/tosa/cases/$1"
		return
	fi
	if [ ! -d "$dir" ]; then
		mkdir -p "$dir"
		case $1 in
		net-*) "$bin/tfl-tosa" "$TOP/tests/models/digits.tflite" ;;
		*) "$bin/gen-tosa" $((1 + $(cksum <<<"$1" | cut -d ' ' -f 1) % 9)) ;;
		esac >"$dir/model.tosa" 2>"$dir/log"
	fi
	echo "$dir"
}
