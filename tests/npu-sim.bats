#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# npu-sim: inputs, expected outputs, comparisons, and models that cannot be run.
# tests/unit/golden.c checks the values of kernels.

load lib/common
load lib/model

# The model has one FULLY_CONNECTED with weights 1 2 3 4 and -1 -2 -3 -4, bias 100 -100, and
# multiplier 1/16.  Zero inputs give 6.25 and -6.25; with the zero point of 3 these are 9
# and -3.
zeros() { printf '\366\366\366\366' >"$1"; }	# four times the zero point -10

@test "raw values are read and written" {
	model m
	zeros in
	printf '\011\375' >want
	run -0 npu-sim -i in -e want m.tflite
	printf '\144\366\366\366' >in		# 100: 110 more
	printf '\020\366' >want			# 13.1 and -13.1
	run -0 npu-sim -i in -e want - <m.tflite
	run -0 npu-sim -i in -e want <m.tflite
}

@test "a failed expectation names the element, the operator and the values" {
	model m
	zeros in
	printf '\011\372' >want
	run -1 npu-sim -i in -e want m.tflite
	[[ $output == *"npu-sim: m.tflite: error: output 0 (tensor 3, out, of operator 0, FULLY_CONNECTED): element [0,1] is -3, expected -6; 1 of 2 differ, by at most 3"* ]]
}

@test "npu-sim reads the .npy files that it writes, and refuses wrong ones" {
	model m
	run -0 npu-sim --seed 5 -o out --dump all m.tflite
	cmp out/output_0.npy all/tensor_3.npy
	refuses 2 "the output would overwrite the input m.tflite" npu-sim -o m.tflite m.tflite
	# a directory is made with all its parents, or not at all
	npu-sim --seed 5 -o absent/a/b/ --dump absent/all m.tflite
	cmp out/output_0.npy absent/a/b/output_0.npy
	cmp all/tensor_3.npy absent/all/tensor_3.npy
	mkdir -p gone/output_0.npy
	refuses 2 "m.tflite/new: error: Not a directory" \
		npu-sim --dump gone/x/y -o m.tflite/new m.tflite
	refuses 2 "gone/output_0.npy" npu-sim --dump gone/x/y -o gone m.tflite
	[ ! -e gone/x ]
	zeros in
	npu-sim -i in -o . m.tflite
	run -0 npu-sim -i in -e output_0.npy m.tflite

	head -c 20 output_0.npy >short.npy
	refuses 2 "short.npy: error: .npy header is cut short" \
		npu-sim -i in -e short.npy m.tflite
	sed 's/|i1/|u1/' output_0.npy >type.npy
	refuses 2 "type.npy: error: elements have another type, tensor out is INT8[1,2]" \
		npu-sim -i in -e type.npy m.tflite
	sed 's/(1, 2)/(2, 1)/' output_0.npy >turned.npy
	run -0 npu-sim -i in -e turned.npy m.tflite	# 1s do not matter
	refuses 2 "output_0.npy: error: the shape is [1,2], tensor in is INT8[1,4]" \
		npu-sim -i output_0.npy m.tflite
}

@test "files of a wrong size or number are refused" {
	model m
	zeros in
	refuses 2 "want: error: 3 bytes instead of 2, tensor out is INT8[1,2]" \
		bash -c 'printf 123 >want; npu-sim -i in -e want m.tflite'
	refuses 2 "twice: error: 8 bytes instead of 4, tensor in is INT8[1,4]; --frames=2 takes the whole file" \
		bash -c 'cat in in >twice; npu-sim -i twice m.tflite'
	mkinput --format=npy --random=1 -o one.npy m.tflite
	sed 's|(1, 4), }   |(3, 1, 4), }|' one.npy >three.npy
	head -c 8 one.npy >>three.npy
	refuses 2 "three.npy: error: the shape is [3,1,4], tensor in is INT8[1,4]; --frames=3 takes the whole file" \
		npu-sim -i three.npy m.tflite
	printf '\x89PNG\r\n\x1a\naaaa' >a.png
	refuses 2 "a.png: error: not the values of tensor in but a picture; mkinput converts it to an input of a model" \
		npu-sim -i a.png m.tflite
	mkinput --random=1 -o in.h m.tflite
	refuses 2 "in.h: error: not the values of tensor in but C source text for firmware; name the file from which it was made (mkinput -o FILE.npy makes" \
		npu-sim -i in.h m.tflite
	refuses 2 "m.tflite: error: the model has 1 input, but 2 files are given with --input: give one for each" \
		npu-sim -i in -i in m.tflite
	refuses 2 "the model has 1 output, but 2 files are given with --expect: give one for each" \
		npu-sim -i in -e in -e in m.tflite
	refuses 2 "absent: " npu-sim -i absent m.tflite
	refuses 2 "--seed excludes --input" npu-sim -i in --seed 1 m.tflite
	refuses 2 "more than one model" npu-sim m.tflite m.tflite
}

@test "random inputs depend only on the seed" {
	model m
	input() { npu-sim --json "$@" | jq -r '.inputs[0].xxh3'; }
	[ "$(input m.tflite)" = "$(input --seed 0 m.tflite)" ]
	[ "$(input --seed 1 m.tflite)" != "$(input --seed 0 m.tflite)" ]
	# SplitMix64 of seed 0 begins with e220a839 6e789e6a 06c45d18 f88bb8a8
	printf '\342\156\006\370' >in
	npu-sim -i in -o . m.tflite >/dev/null
	run -0 npu-sim --seed 0 -e output_0.npy m.tflite
}

@test "kinds of inputs can be chosen frame by frame" {
	model m
	# as raw values: minimum, maximum, alternating
	printf '\200\200\200\200\177\177\177\177\200\177\200\177' >in
	printf '\342\156\006\370' >random
	npu-sim -i in --frames=3 -o . m.tflite >/dev/null
	run -0 npu-sim --inputs=min,max,alternating --frames=3 -e output_0.npy m.tflite
	run -0 npu-sim --inputs=min,max,alternating -e output_0.npy m.tflite
	run -1 npu-sim --inputs=min,alternating,max -e output_0.npy m.tflite
	cat in in random >more
	npu-sim -i more --frames=7 -o . m.tflite >/dev/null
	# min,max,alternating twice, and random values from the begin of their sequence
	run -0 npu-sim --inputs=min,max,alternating,min,max,alternating,random \
		-e output_0.npy m.tflite
	npu-sim -i in --frames=3 -o . m.tflite >/dev/null
	cat in in >more
	npu-sim -i more --frames=6 -o . m.tflite >/dev/null
	run -0 npu-sim --inputs=min,max,alternating --frames=6 -e output_0.npy m.tflite
	# another type: 0 and 255 of UINT8
	model u "$t[0].type = 3 | $t[0].quantization.zero_point = [0] | $t[3].type = 3"
	if npu-sim u.tflite >/dev/null 2>&1; then
		printf '\0\0\0\0\377\377\377\377' >in
		npu-sim -i in --frames=2 -o . u.tflite >/dev/null
		run -0 npu-sim --inputs=min,max -e output_0.npy u.tflite
	fi
	refuses 2 "--inputs needs random, min, max or alternating, not 'zero'" \
		npu-sim --inputs=min,zero m.tflite
	refuses 2 "not ''" npu-sim --inputs=min, m.tflite
	refuses 2 "not ''" timeout 20 npu-sim --inputs=,min m.tflite
	refuses 2 "--inputs excludes --input" npu-sim --inputs=min -i in m.tflite
}

digits=$BATS_TEST_DIRNAME/models/digits.tflite

@test "frames with --reset give the same bytes at any number of threads" {
	for j in 1 2 3 7; do
		npu-sim --seed=5 --frames=100 --reset -j $j -o "out$j" "$digits" >"log$j"
		cmp "out$j/output_0.npy" out1/output_0.npy
		cmp "log$j" log1
	done
	# the same as frames that run one by one
	npu-sim --seed=5 --frames=100 -o out "$digits" >log
	cmp log log1
	npu-sim --frames=100 --reset -j 3 --seed=5 --compare="${digits%.tflite}-ethos-u55-128.tflite" "$digits"
	# the first frame that differs is named
	printf 'x' | dd of=out1/output_0.npy bs=1 seek=$((128 + 613)) conv=notrunc 2>/dev/null
	printf 'x' | dd of=out1/output_0.npy bs=1 seek=$((128 + 827)) conv=notrunc 2>/dev/null
	for j in 1 4; do
		run -1 npu-sim --seed=5 --frames=100 --reset -j $j -e out1/output_0.npy "$digits"
		[[ $output == *"frame 61, output 0"* ]]
	done
}

@test "many frames take no more memory than a few" {
	(ulimit -v 30000 && npu-sim --version) || skip "sanitizers need more"
	# rows of 16,384 bytes; the product has two bytes
	model row "$t[0].shape = [1, 16384] | $t[1].shape = [2, 16384]
		| .buffers[1].data = [range(32768) | . % 200]"
	head -c $((16384 * 2000)) /dev/zero >in # 31 MB
	for n in 20 2000; do
		head -c $((16384 * n)) in >some
		(ulimit -v 30000 && npu-sim --frames=$n --reset -j 2 -i some row.tflite)
	done
}

@test "--compare reports the first difference between two models" {
	model m
	model other '.buffers[2].data = [200, 0, 0, 0, 156, 255, 255, 255]'
	run -0 --separate-stderr npu-sim --compare m.tflite m.tflite
	[ "$stderr" = "npu-sim: equal: 1 output of both models, byte for byte, for 1 frame of generated inputs" ]
	[ "$output" = "$(npu-sim m.tflite)" ]
	run -0 --separate-stderr npu-sim --quiet --compare m.tflite m.tflite
	[ ! "$stderr" ]
	run -1 npu-sim --seed 2 --compare m.tflite other.tflite
	[[ $output == *"other.tflite: error: output 0 (tensor 3, out, of operator 0, FULLY_CONNECTED): element [0,0] is "*", but in the other model "*"; 1 of 2 differ, by at most 6"* ]]
	model wide "$t[0].shape = [1, 2] | $t[1].shape = [4, 2] |
		$t[2].shape = [4] | $t[3].shape = [1, 4] |
		.buffers[2].data += .buffers[2].data"
	refuses 2 "m.tflite: error: input 0 differs in type or size from that of wide.tflite" \
		npu-sim --compare m.tflite wide.tflite
}

@test "--trace and --json report results and comparisons" {
	model m
	run -0 npu-sim --trace m.tflite
	[[ $output == "op 0 FULLY_CONNECTED -> t3 INT8[1,2] xxh3="*' "out"' ]]
	zeros in
	printf '\011\375' >want
	npu-sim --json -i in -e want m.tflite >json
	[ "$(jq -c '[.equal, .checked, .outputs[0].shape, .inputs[0].name]' json)" = \
		'[true,true,[1,2],"in"]' ]
	printf '\011\372' >want
	run -1 --separate-stderr npu-sim --json -i in -e want m.tflite
	[ "$(jq -c .equal <<<"$output")" = false ]
	jq -r .difference <<<"$output" | grep -q 'element \[0,1\] is -3, expected -6'
	[ "$(npu-sim --json m.tflite | jq -c '[.equal, .seed]')" = '[null,0]' ]
}

# not_run TEXT JQ-PROGRAM: the changed model is refused with this sentence
not_run()
{
	model bad "$2"
	refuses 2 "bad.tflite: error: operator 0 ($1" npu-sim bad.tflite
}

@test "the message says why a model cannot be run" {
	not_run "FULLY_CONNECTED), tensor 3 (out): output has 3 elements, 1 rows of 2 are computed" \
		"$t[3].shape = [1, 3]"
	not_run "FULLY_CONNECTED): types of in and out differ: INT8, INT16" \
		"$t[3].type = 7"
	not_run "FULLY_CONNECTED): input (in) has type FLOAT32, which is not supported here" \
		"$t[0].type = 0"
	not_run "FULLY_CONNECTED): input (in) has 0 scales and 0 zero points, needs one of each" \
		"del($t[0].quantization)"
	not_run "FULLY_CONNECTED): input (in) has the zero point 300" \
		"$t[0].quantization.zero_point = [300]"
	not_run "FULLY_CONNECTED): output (out) has the scale 0" \
		"$t[3].quantization.scale = [0]"
	not_run "FULLY_CONNECTED): scales give the multiplier " \
		"$t[3].quantization.scale = [1e-37]"
	not_run "FULLY_CONNECTED), tensor 3 (out): bias has 1 element for 2 channels" \
		"$t[2].shape = [1] | .buffers[2].data = [1, 0, 0, 0]"
	not_run "FULLY_CONNECTED): has 2 outputs, makes 1" \
		"$t[3].is_variable = true | .subgraphs[0].operators[0].outputs = [3, 3]"
	not_run "FULLY_CONNECTED), tensor 3 (out): 4 input elements are not rows of 8" \
		"$t[1].shape = [1, 8] | $t[2].shape = [1] | .buffers[2].data = [1, 0, 0, 0]"
	model bad "del($t[1].buffer)"
	refuses 2 "bad.tflite: error: subgraph 0: operator 0 (FULLY_CONNECTED) reads tensor 1 (weights), which nothing writes" \
		npu-sim bad.tflite
	not_run "SIN): no kernel for this operator" \
		'.operator_codes[0] = { deprecated_builtin_code: 66, builtin_code: 66 }'
	not_run "TFLite_Detection_PostProcess): no kernel for this operator" \
		'.operator_codes[0] = { deprecated_builtin_code: 32, builtin_code: 32,
			custom_code: "TFLite_Detection_PostProcess" }'
	not_run "ethos-u): its first four inputs are not uint8 command stream" \
		'.operator_codes[0] = { deprecated_builtin_code: 32, builtin_code: 32,
			custom_code: "ethos-u" }'
}

@test "an output that the plain model cannot compute is not called different" {
	model root '.operator_codes = [{deprecated_builtin_code:76,builtin_code:76}]
		| .subgraphs[0].tensors = [range(2) | {shape:[1,8],type:9,name:"t\(.)",
			quantization:{scale:[0.5],zero_point:[0]}}]
		| .buffers = [{}] | .subgraphs[0].inputs = [0]
		| .subgraphs[0].outputs = [1]
		| .subgraphs[0].operators = [{inputs:[0],outputs:[1]}]'
	npucc -a ethos-u55-128 --system-config Ethos_U55_High_End_Embedded \
		--memory-mode Shared_Sram -o compiled.tflite root.tflite
	run -1 --separate-stderr npu-sim --compare=root.tflite compiled.tflite
	[[ $stderr == "npu-sim: error: output 0 is not compared, because the other model can't be run: root.tflite: operator 0 (RSQRT): element "[0-7]" is negative" ]]
	npu-sim --inputs=max --compare=root.tflite compiled.tflite
	run -1 --separate-stderr npu-sim --compare=compiled.tflite root.tflite
	[[ $stderr == *"error: output 0 is not compared, because the model can't be run: root.tflite: operator 0 (RSQRT): element "[0-7]" is negative" ]]
}

@test "the inputs of an operator without a kernel are compared" {
	local behind="$t += [{ shape: [1, 8], type: 0, name: \"boxes\" },
		{ shape: [1], type: 2, name: \"count\" }]
		| .operator_codes += [{ deprecated_builtin_code: 32, builtin_code: 32,
			custom_code: \"TFLite_Detection_PostProcess\" }]
		| .subgraphs[0].operators += [{ opcode_index: 1, inputs: [3],
			outputs: [4, 5] }]
		| .subgraphs[0].outputs = [4, 5]"
	model plain "$behind"
	refuses 2 "TFLite_Detection_PostProcess): no kernel" npu-sim plain.tflite
	tfl-partition plain.tflite | npu-sched -a ethos-u55-128 \
		--system-config Ethos_U55_High_End_Embedded \
		--memory-mode Shared_Sram 2>notes | npu-wenc |
		npu-cmdgen -o compiled.tflite
	run -0 --separate-stderr npu-sim --compare plain.tflite compiled.tflite
	grep -q "only inputs are compared: .*operator 1 (TFLite_Detection_PostProcess)" \
		<<<"$stderr"
	[[ $stderr != *"npu-sim: equal: "* ]]
	[ "$(npu-sim --json --compare plain.tflite compiled.tflite 2>notes |
		jq -c '[.equal, (.stand_ins | length), .stand_ins[0].operator]')" = \
		'[true,1,1]' ]
	# --require-outputs refuses this
	run -1 --separate-stderr npu-sim --require-outputs --compare plain.tflite \
		compiled.tflite
	[ "$(wc -l <<<"$stderr")" = 1 ]
	[[ $stderr == "npu-sim: error: output 0 is not compared, only the inputs of an operator that npu-sim can't run: "*"operator 1 (TFLite_Detection_PostProcess): no kernel for this operator" ]]
	# one bit of a weight: both results differ, which only the inputs can tell
	model other "$behind | .buffers[1].data[0] += 1"
	run -1 --separate-stderr npu-sim --compare other.tflite compiled.tflite
	# expected values cannot be compared with random ones
	printf '\0%.0s' {1..32} >boxes
	printf '\0%.0s' {1..4} >count
	refuses 2 "no kernel" npu-sim --compare plain.tflite -e boxes -e count \
		compiled.tflite
}

@test "disproportionate sizes are refused early" {
	model big "$t[0].shape = [16384, 32768] | $t[3].shape = [134217728, 2]"
	refuses 2 "big.tflite: error: the activations need more than 256 MiB" \
		npu-sim --any-size big.tflite
	model work "$t[0].shape = [8192, 8192] | $t[1] = { shape: [8192, 8192],
		type: 9, name: \"weights\", quantization: $t[1].quantization } |
		$t[2].shape = [8192] | $t[3].shape = [8192, 8192] |
		del($t[2].buffer) | .subgraphs[0].inputs = [0, 1, 2]"
	refuses 2 "outputs of 8192 steps each are too much work" npu-sim --any-size work.tflite
}

@test "a network compiled by another compiler computes the plain model's bytes" {
	if [ -z "$SHARED" ]; then # a stand-in, compiled by another version
		npu-sim --seed 11 --compare "$TOP/tests/models/digits.tflite" \
			"$TOP/tests/models/digits-ethos-u55-128.tflite"
		return
	fi
	n=0
	size=()
	[ -z "${NPUTOOLS_QUICK-}" ] || size=(-size -200k)
	while read -r f; do
		plain=$SHARED/models/$(basename "$f")
		[ -e "$plain" ] || continue
		npu-sim --seed 11 --compare "$plain" "$f" >/dev/null
		n=$((n + 1))
	done < <(find "$SHARED/reference/vela-compiled" -name '*.tflite' "${size[@]}")
	echo "# $n compiled models" >&3
	[ "$n" -gt 0 ]
}

@test "the trace of the demo finds every tensor, and with other weights the tensors before them" {
	local models=$TOP/tests/models
	npu-sim --trace --compare "$models/digits.tflite" \
		"$models/digits-ethos-u55-128.tflite" >trace
	grep -q '^npu 0 .* depthwise .* = t12 "dw2"$' trace
	! grep -q '^not seen: ' trace || false
	# the last layer's weights in reverse order; converting both models prints equal
	# scales
	need flatc jq
	flatc --json --strict-json --raw-binary "$models/tflite.fbs" -- "$models/digits.tflite"
	jq '.buffers[18].data |= reverse' digits.json >other.json
	flatc -b --strict-json "$models/tflite.fbs" digits.json other.json
	npucc -a ethos-u55-128 --system-config=Ethos_U55_High_End_Embedded \
		--memory-mode=Shared_Sram -o compiled.tflite digits.tflite 2>notes
	run -1 npu-sim --trace --compare other.tflite compiled.tflite
	for t in 3 6 9 12 15 16 19 22 25 26; do
		grep -q "^npu 0 .* = t$t " <<<"$output"
	done
	grep -q '^not seen: t31 of op [0-9]* FULLY_CONNECTED' <<<"$output"
}

@test "the trace finds every tensor except fused ones" {
	need_shared reference/vela-compiled/3.12.0
	vela=$SHARED/reference/vela-compiled/3.12.0/ethos-u55-128_Shared_Sram
	npu-sim --trace --compare "$SHARED/models/mbv2_int8.tflite" \
		"$vela/mbv2_int8.tflite" >trace
	grep -q '^npu 0 .* conv .* = t176 "StatefulPartitionedCall:0"$' trace
	[ "$(grep -c '^not seen: ' trace)" = 4 ]
	[ "$(grep -c '^not seen: t[0-9]* of op [0-9]* PAD ' trace)" = 4 ]

	# stripes and slices of depth are parts of a tensor
	npu-sim --trace --compare "$SHARED/models/person_detect.tflite" \
		"$vela/person_detect.tflite" >trace
	grep -q ' = t74 channels 32:80 "' trace
	! grep -q '^not seen: ' trace || false

	# other weights in layer 6: the tensors before layer 6 are found, the others are not
	cp "$SHARED/models/ad01_int8.tflite" other.tflite
	chmod u+w other.tflite
	head -c 256 /dev/zero | tr '\0' '\125' |
		dd of=other.tflite bs=1 seek=130000 conv=notrunc status=none
	run -1 npu-sim --trace --compare other.tflite "$vela/ad01_int8.tflite"
	for t in 21 22 23 24 25 26; do
		grep -q "^npu 0 .* = t$t " <<<"$output"
	done
	[ "$(grep -o '^not seen: t[0-9]* of op [0-9]* FULLY_CONNECTED' <<<"$output" |
		cut -d' ' -f3,6 | xargs)" = "t27 6 t28 7 t29 8 t30 9" ]
}

# npu MORE: a model m whose only operator is ethos-u with an empty stream, with the memory
# at 0 and a scratch of 32 bytes; the jq program MORE changes the model
npu()
{
	model m '{ version: 3, description: "",
		operator_codes: [ { deprecated_builtin_code: 32,
			builtin_code: 32, custom_code: "ethos-u" } ],
		subgraphs: [ { tensors: [
			{ shape: [36], type: 3, buffer: 1, name: "stream" },
			{ shape: [16], type: 3, buffer: 2, name: "flash" },
			{ shape: [32], type: 3, name: "scratch" },
			{ shape: [32], type: 3, name: "fast" },
			{ shape: [4], type: 7, name: "in" },
			{ shape: [4], type: 7, name: "out" } ],
			inputs: [4], outputs: [5],
			operators: [ { inputs: [0, 1, 2, 3, 4], outputs: [5] } ] } ],
		buffers: [ {}, { data: ([67, 79, 80, 49, 1, 0, 16, 0,
			7, 24, 0, 0, 0, 0, 6, 16, 5, 0, 0, 0, 5, 0, 0, 0,
			5, 0, 0, 0, 2, 0, 1, 0, 0, 0, 255, 255]) },
			{ data: [range(16)] },
			{ data: [0,0,0,0, 1,0,0,0, 6,0,0,0,
				255,255,255,255, 255,255,255,255,
				0,0,0,0, 0,0,0,0, 0,0,0,0, 8,0,0,0] } ],
		metadata: [ { name: "OfflineMemoryAllocation", buffer: 3 } ] } | '"$1"
}

@test "memory plans are checked" {
	npu .
	run -0 npu-sim m.tflite
	npu '.buffers[3].data |= .[:32]'
	refuses 2 "m.tflite: error: OfflineMemoryAllocation of 32 bytes does not describe 6 tensors" \
		npu-sim m.tflite
	npu '.buffers[3].data[8] = 5'
	refuses 2 "does not describe 6 tensors" npu-sim m.tflite
	npu '.buffers[3].data[28] = 3'
	refuses 2 "tensor 4 (in) is planned at offset 3, which is negative or not aligned" \
		npu-sim m.tflite
	npu '.buffers[3].data[28:32] = [254, 255, 255, 255]'
	refuses 2 "tensor 4 (in) is planned at offset -2" npu-sim m.tflite
	npu '.buffers[3].data[31] = 64'
	refuses 2 "the activations need more than 256 MiB" npu-sim m.tflite
	npu '.subgraphs[0].operators[0].inputs = [0, 1, 2]'
	refuses 2 "operator 0 (ethos-u): its first four inputs are not uint8" \
		npu-sim m.tflite
}

@test "planned tensors share memory" {
	# the output has the address of the input, and no operation writes the output
	npu '.buffers[3].data[32] = 0'
	printf '12345678' >in
	npu-sim -i in -e in m.tflite
	npu .
	run -1 npu-sim -i in -e in m.tflite
}

# bias_forms NAME JQ: NAME of 16 bits in four variants: without a bias, with zeros of 32
# bits, with zeros of 64 bits, and without a bias but with a bias type.  Each variant is
# computed and compiled.
bias_forms()
{
	local f v
	local zeros32='{data:[range(8)|0]}' zeros64='{data:[range(16)|0]}'
	v="$2 | $t[0].type=7 | $t[3].type=7 | $t[0].quantization={scale:[0.0007],zero_point:[0]}
		| $t[3].quantization={scale:[0.00071],zero_point:[0]}"
	model "$1-none" "$v | .subgraphs[0].operators[0].inputs=[0,1]"
	model "$1-said" "$v | .subgraphs[0].operators[0].inputs=[0,1]
		| .subgraphs[0].operators[0].builtin_options.quantized_bias_type=2"
	model "$1-32" "$v | .buffers[2]=$zeros32"
	model "$1-64" "$v | $t[2].type=4 | .buffers[2]=$zeros64"
	for f in none said 32 64; do
		npu-sim --seed=1 "$1-$f.tflite" | sed 's/.*xxh3=\([^ ]*\).*/\1/' >"$f.hash"
		npucc -a ethos-u55-128 --system-config=RTSS_HE_SRAM_MRAM \
			--memory-mode=Shared_Sram -o npu.tflite "$1-$f.tflite"
		npu-sim --compare="$1-$f.tflite" npu.tflite
	done
	cmp none.hash 64.hash
	cmp said.hash 32.hash
	run -1 cmp -s 32.hash 64.hash
}

@test "for 16 bits without a bias, sums have 64 bits unless the bias type says 32" {
	local rows='[range(512) | . * 2654435761 % 4294967296 / 65536 | floor % 251]'
	bias_forms fc "$t[0].shape=[64,256] | $t[3].shape=[64,2] | $t[1].shape=[2,256]
		| .buffers[1]={data:$rows}"
	bias_forms conv ".operator_codes=[{deprecated_builtin_code:3,builtin_code:3}]
		| .subgraphs[0].operators[0].builtin_options_type=1
		| .subgraphs[0].operators[0].builtin_options={padding:1,stride_w:1,stride_h:1,dilation_w_factor:1,dilation_h_factor:1}
		| $t[0].shape=[1,8,8,256] | $t[3].shape=[1,8,8,2] | $t[1].shape=[2,1,1,256]
		| .buffers[1]={data:$rows}"
}

@test "inputs that are indices are drawn from the valid range" {
	# computed numbers select rows of a table, through a RESHAPE and a CAST
	model pick ".operator_codes = [{deprecated_builtin_code:36,builtin_code:36},
			{deprecated_builtin_code:22,builtin_code:22},
			{deprecated_builtin_code:53,builtin_code:53}]
		| $t = [{shape:[5,16],type:9,buffer:1,name:\"table\",
				quantization:{scale:[0.5],zero_point:[0]}},
			{shape:[2,32],type:4,name:\"numbers\"},
			{shape:[64],type:4,name:\"flat\"}, {shape:[64],type:2,name:\"words\"},
			{shape:[64,16],type:9,name:\"rows\",
				quantization:{scale:[0.5],zero_point:[0]}}]
		| .buffers = [{},{data:[range(80)]}]
		| .subgraphs[0].inputs = [1] | .subgraphs[0].outputs = [4]
		| .subgraphs[0].operators = [{opcode_index:1,inputs:[1],outputs:[2]},
			{opcode_index:2,inputs:[2],outputs:[3]},
			{opcode_index:0,inputs:[0,3],outputs:[4]}]"
	npu-sim --frames=4 --inputs=random,min,max,alternating -o out pick.tflite
	mkinput --random=3 --format=npy -o numbers.npy pick.tflite
	tail -c 512 numbers.npy | od -An -v -w8 -t d8 | sort -nu | tr -d ' ' | tr '\n' ' ' >drawn
	[ "$(cat drawn)" = '0 1 2 3 4 ' ]
	# a compiled model has no GATHER to show the range; the model to compare with has
	# one
	npucc -a ethos-u85-256 --system-config=Ethos_U85_SYS_DRAM_Mid \
		--memory-mode=Sram_Only -o npu.tflite pick.tflite
	npu-sim --frames=4 --inputs=random,min,max,alternating --compare=pick.tflite npu.tflite
	# of tuples, the smallest extent on the selected axis
	model pairs ".operator_codes = [{deprecated_builtin_code:107,builtin_code:107}]
		| $t = [{shape:[7,3,2],type:9,buffer:1,name:\"table\",
				quantization:{scale:[0.5],zero_point:[0]}},
			{shape:[50,2],type:2,name:\"pairs\"},
			{shape:[50,2],type:9,name:\"out\",
				quantization:{scale:[0.5],zero_point:[0]}}]
		| .buffers = [{},{data:[range(42)]}]
		| .subgraphs[0].inputs = [1] | .subgraphs[0].outputs = [2]
		| .subgraphs[0].operators = [{inputs:[0,1],outputs:[2]}]"
	npu-sim --seed=9 pairs.tflite
	model axis ".operator_codes = [{deprecated_builtin_code:36,builtin_code:36}]
		| $t = [{shape:[9,4],type:9,buffer:1,name:\"table\",
				quantization:{scale:[0.5],zero_point:[0]}},
			{shape:[50],type:2,name:\"columns\"},
			{shape:[9,50],type:9,name:\"out\",
				quantization:{scale:[0.5],zero_point:[0]}}]
		| .buffers = [{},{data:[range(36)]}]
		| .subgraphs[0].inputs = [1] | .subgraphs[0].outputs = [2]
		| .subgraphs[0].operators = [{inputs:[0,1],outputs:[2],
			builtin_options_type:23,builtin_options:{axis:-1}}]"
	npu-sim --seed=9 axis.tflite
	# no kernel computes this operator; its input is still drawn from the valid range
	model embed ".operator_codes = [{deprecated_builtin_code:7,builtin_code:7}]
		| $t = [{shape:[300],type:2,name:\"words\"},
			{shape:[3,2],type:0,buffer:1,name:\"table\"},
			{shape:[300,2],type:0,name:\"out\"}]
		| .buffers = [{},{data:[range(24)]}]
		| .subgraphs[0].inputs = [0] | .subgraphs[0].outputs = [2]
		| .subgraphs[0].operators = [{inputs:[0,1],outputs:[2]}]"
	mkinput --random=1 --format=npy -o words.npy embed.tflite
	[ "$(tail -c 1200 words.npy | od -An -v -w4 -t d4 | sort -nu | tr -d ' \n')" = 012 ]
}

@test "a small file that needs much memory or time runs only with --any-size" {
	local big="$t[0].shape = [4200000, 4] | $t[3].shape = [4200000, 2]"
	model m "$big"
	refuses 2 "asks for tensors of 25200000 bytes; use --any-size to run it anyway" npu-sim m.tflite
	npu-sim --any-size m.tflite
	# a window of 256 by 256 over 1000 by 1000
	model p ".operator_codes[0] = {deprecated_builtin_code:17,builtin_code:17} | $t[0].shape = [1,1000,1000,1]
		| $t[3].shape = [1,1000,1000,1] | $t[3].quantization = $t[0].quantization
		| .subgraphs[0].operators[0] = {inputs:[0],outputs:[3],builtin_options_type:5,
			builtin_options:{padding:0,stride_w:1,stride_h:1,filter_width:256,filter_height:256}}"
	refuses 2 "asks for 65536000000 multiply-accumulates or comparisons; use --any-size" npu-sim p.tflite
	refuses 2 "m.tflite: error: a file of" npu-sim --compare=m.tflite "$TOP/tests/cases/npu-sim/differs/npu.tflite"
}

@test "FILL takes constant and computed dimensions" {
	local dimensions
	# SHAPE of the input computes tensor 2; the value is 7
	for dimensions in '{shape:[2],type:2,name:"dims"}' '{shape:[2],type:2,buffer:2,name:"dims"}'; do
		model m "$t"' |= [.[0], {shape:[],type:9,buffer:1,name:"value",has_rank:true,
				quantization:{scale:[0.5],zero_point:[-10]}}, '"$dimensions"',
				(.[0] | .name = "out")]
			| .buffers = [{}, {data:[7]}, {data:[1,0,0,0, 4,0,0,0]}]
			| .operator_codes = [{deprecated_builtin_code:94,builtin_code:94},
				{deprecated_builtin_code:77,builtin_code:77}]
			| .subgraphs[0].operators = [{opcode_index:0,inputs:[2,1],outputs:[3]}]
			| if '"$t"'[2].buffer then . else
				.subgraphs[0].operators |= [{opcode_index:1,inputs:[0],outputs:[2]}] + . end'
		printf '\7\7\7\7' >want
		npu-sim --seed=1 -e want m.tflite
	done
}
