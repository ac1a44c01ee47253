# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# After lib/common:  load lib/model

t='.subgraphs[0].tensors' # for programs to model

# model NAME [JQ-PROGRAM]: NAME.tflite in the current directory, made by flatc
# of tests/models/fc.json (one FULLY_CONNECTED) changed by the program
model()
{
	need flatc jq
	jq "${2:-.}" "$TOP/tests/models/fc.json" >"$1.json" &&
		flatc -b --strict-json "$TOP/tests/models/tflite.fbs" "$1.json" &&
		rm -f "$1.json"
}
