#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# --cut-inputs and --cut-outputs: the network between named tensors.

load lib/common
load lib/model

setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return
	cp "$TOP/tests/models/digits.tflite" m.tflite
}

memory=(--system-config RTSS_HP_SRAM_MRAM --memory-mode Shared_Sram)

# head: a detection head of floats: FULLY_CONNECTED, RELU, DEQUANTIZE, LOGISTIC of floats
head_of_floats() {
	model m ".operator_codes += [{deprecated_builtin_code:19,builtin_code:19},
			{deprecated_builtin_code:6,builtin_code:6},{deprecated_builtin_code:14,builtin_code:14}]
		| $t += [{shape:[1,2],type:9,name:\"boxes,raw\",quantization:{scale:[2],zero_point:[3]}},
			{shape:[1,2],type:0,name:\"real\"},{shape:[1,2],type:0,name:\"score\"}]
		| .subgraphs[0] |= (.outputs = [6] | .operators +=
			[{opcode_index:1,inputs:[3],outputs:[4]},{opcode_index:2,inputs:[4],outputs:[5]},
			 {opcode_index:3,inputs:[5],outputs:[6]}])"
}

@test "two networks that a cut makes compute together what the whole computes" {
	cd "$BATS_FILE_TMPDIR"
	npu-sim --seed=3 --inputs=random --frames=1 -o whole m.tflite
	for at in stem pw1 residual pw4 flat logits; do
		tfl-partition --cut-only --cut-outputs=$at -o first.tflite m.tflite
		tfl-partition --cut-only --cut-inputs=$at -o second.tflite m.tflite
		npu-sim --seed=3 --inputs=random --frames=1 -o a first.tflite
		npu-sim -i a/output_0.npy --frames=1 -o b second.tflite
		cmp whole/output_0.npy b/output_0.npy
		# compiled, each equals its part
		for part in first second; do
			npucc -q -a ethos-u55-256 "${memory[@]}" --check -o "$part.out.tflite" "$part.tflite"
		done
		npucc -q -a ethos-u55-256 "${memory[@]}" --cut-inputs=$at --check -o direct.tflite m.tflite
		npu-sim -i a/output_0.npy --frames=1 -o c direct.tflite
		cmp whole/output_0.npy c/output_0.npy
	done
}

@test "both ends are cut, and the operators outside are listed" {
	cd "$BATS_FILE_TMPDIR"
	run --separate-stderr tfl-partition --cut-inputs=pw1 --cut-outputs=flat --report m.tflite
	[ "$status" -eq 0 ]
	[[ "$output" == *"8 of 8 operators on the NPU in 1 region, 0 on the CPU"$'\n'"the cut leaves out operators 0 (CONV_2D), 1 (DEPTHWISE_CONV_2D), 2 (CONV_2D), before the inputs"$'\n'"the cut leaves out operators 11 (FULLY_CONNECTED), 12 (SOFTMAX), behind the outputs" ]]
	need jq
	tfl-partition --cut-inputs=pw1 --cut-outputs=flat --report --json m.tflite |
		jq -e '(.operators | length == 8 and all(.runs_on == "npu")) and .cut.inputs == ["pw1"] and
			.cut.outputs == ["flat"] and ([.cut.left_out[].index] == [0,1,2,11,12])'
	tfl-partition --report --json m.tflite | jq -e 'has("cut") | not'
	tfl-partition --report --json --cpu=SOFTMAX m.tflite |
		jq -e '.operators[12] | .runs_on == "cpu" and .cpu_cycles > 0 and (.why | length > 0)'
	run --separate-stderr tfl-partition --cut-outputs=flat -o x.part m.tflite
	[[ "$stderr" == *"m.tflite: the cut leaves out operators 11 (FULLY_CONNECTED), 12 (SOFTMAX), behind the outputs" ]]
	# constants of these operators are dropped
	tfl-partition --cut-only --cut-outputs=pw1 -o small.tflite m.tflite
	[ "$(stat -c %s small.tflite)" -lt "$(stat -c %s m.tflite)" ]
}

@test "an input that is still read stays, with a note" {
	cd "$BATS_FILE_TMPDIR"
	# residual adds pw1 and pw2
	run --separate-stderr tfl-partition --cut-inputs=pw2 --cut-outputs=residual --report --json m.tflite
	need jq
	jq -e '.cut.inputs | length == 2 and .[0] == "pw2"' <<<"$output"
	run --separate-stderr tfl-partition --cut-only --cut-inputs=pw2 --cut-outputs=residual -o r.tflite m.tflite
	[[ "$stderr" == *"the cut still reads the model's input "* ]]
	run --separate-stderr tfl-partition --cut-inputs=pw2,pw1 --cut-outputs=residual --report --json m.tflite
	jq -e '.cut.inputs == ["pw2", "pw1"]' <<<"$output"
}

@test "names that make no cut are refused" {
	cd "$BATS_FILE_TMPDIR"
	refuses 2 "subgraph 0 has no tensor 'residuel'; did you mean residual?" tfl-partition --cut-inputs=residuel m.tflite
	# a layer's name leads to its tensor, also to one of several joined names
	model joined "$t[3].name = \"net/relu_1/Relu6;net/dense_1/BiasAdd;net/dense_1/MatMul\""
	refuses 2 "subgraph 0 has no tensor 'dense_1'; did you mean net/dense_1/BiasAdd?" \
		tfl-partition --cut-outputs=dense_1 joined.tflite
	refuses 2 "did you mean net/dense_1/MatMul?" tfl-partition --cut-outputs=net/dense_1/MatMult joined.tflite
	refuses 2 "--cut-inputs names tensor" tfl-partition --cut-inputs=pw1,pw1 m.tflite
	refuses 2 "no output of the cut depends on tensor" tfl-partition --cut-inputs=pw4 --cut-outputs=pw1 m.tflite
	refuses 2 "is an input of the cut: no operator is between them" tfl-partition --cut-inputs=pw1 --cut-outputs=pw1 m.tflite
	refuses 2 "--cut-outputs needs the name of a tensor" tfl-partition --cut-outputs= m.tflite
	refuses 2 "subgraph 0 has no tensor '99999999999999999999'" tfl-partition --cut-outputs=99999999999999999999 m.tflite
	refuses 2 "--by-name excludes --cut-inputs" tfl-partition --by-name --cut-inputs=pw1 m.tflite
	refuses 2 "--cut-only needs --cut-inputs, --cut-outputs, --subgraph or --integer-io" tfl-partition --cut-only m.tflite
	refuses 2 "--json needs --report" tfl-partition --json m.tflite
	head_of_floats
	refuses 2 "is a constant" tfl-partition --cut-inputs=weights m.tflite
}

@test "tfl-quantcheck suggests the cut for a head of floats, and npucc compiles with it" {
	need jq
	head_of_floats
	run tfl-quantcheck m.tflite
	[ "$status" -eq 1 ]
	[ "${lines[-2]}" = "cut: 2 of 4 operators are float parts around an integer network; tfl-partition and npucc compile the network with --cut-outputs='4'" ]
	tfl-quantcheck --json m.tflite >q.json || [ $? = 1 ]
	jq -e '.cuts == {"operators":2,"inputs":[],"outputs":["boxes,raw"]}' q.json
	refuses 1 "not fully integer" npucc -a ethos-u55-256 "${memory[@]}" -o x.tflite m.tflite
	grep -qF -- "--cut-outputs='4'" refuses.err
	# the number, and the name in which the list's separator occurs
	for at in 4 boxes,raw; do
		npucc -a ethos-u55-256 "${memory[@]}" --cut-outputs="$at" --check -o x.tflite m.tflite
		rm x.tflite
	done
	# a shape is integers, but no network
	model m "$t |= map(.type = 0 | .buffer = 0 | del(.quantization))
		| .operator_codes += [{deprecated_builtin_code:77,builtin_code:77,version:1},
			{deprecated_builtin_code:0,builtin_code:0,version:1}]
		| $t += [{shape:[2],type:2,name:\"shape\"},{shape:[2],type:2,name:\"twice\"}]
		| .subgraphs[0].inputs = [0,1,2] | .subgraphs[0].outputs = [3,5]
		| .subgraphs[0].operators += [{opcode_index:1,inputs:[0],outputs:[4]},
			{opcode_index:2,inputs:[4,4],outputs:[5]}]"
	run tfl-quantcheck m.tflite
	[ "$status" -eq 1 ]
	[[ "$output" != *cut:* ]]
	# nothing to cut: no line
	model m
	[ "$(tfl-quantcheck --json m.tflite | jq .cuts.operators)" = 0 ]
	run tfl-quantcheck m.tflite
	[[ "$output" != *cut:* ]]
}

@test "tfl-quantcheck suggests the cut before a network with preprocessing in floats" {
	need jq
	model m ".operator_codes += [{deprecated_builtin_code:18,builtin_code:18},{deprecated_builtin_code:114,builtin_code:114}]
		| $t += [{shape:[1,4],type:0,name:\"picture\"},{shape:[1,4],type:0,name:\"scaled\"}]
		| .subgraphs[0] |= (.inputs = [4] | .operators =
			[{opcode_index:1,inputs:[4,4],outputs:[5]},{opcode_index:2,inputs:[5],outputs:[0]}] + .operators)"
	tfl-quantcheck --json m.tflite >q.json || [ $? = 1 ]
	jq -e '.cuts == {"operators":2,"inputs":["in"],"outputs":[]}' q.json
	npucc -a ethos-u55-256 "${memory[@]}" --cut-inputs=in --check -o x.tflite m.tflite
}

@test "a result of SPLIT becomes an input although the other is still computed" {
	model m ".operator_codes = [{deprecated_builtin_code:49,builtin_code:49},{deprecated_builtin_code:0,builtin_code:0}]
		| .buffers += [{data:[1,0,0,0]}] | {scale:[0.5],zero_point:[-10]} as \$q
		| $t = [$t[0], {shape:[1],type:2,name:\"axis\",buffer:(.buffers | length - 1)},
			{shape:[1,2],type:9,name:\"left\",quantization:\$q},{shape:[1,2],type:9,name:\"right\",quantization:\$q},
			{shape:[1,2],type:9,name:\"sum\",quantization:\$q}]
		| .subgraphs[0] |= (.outputs = [4] | .operators = [
			{opcode_index:0,inputs:[1,0],outputs:[2,3],builtin_options_type:35,builtin_options:{num_splits:2}},
			{opcode_index:1,inputs:[2,3],outputs:[4],builtin_options_type:11,builtin_options:{}}])"
	tfl-partition --cut-only --cut-inputs=left -o cut.tflite m.tflite
	need jq
	tfl-quantcheck --json cut.tflite | jq -e '.inputs == [2, 0] and .outputs == [4]'
	npucc -q -a ethos-u55-256 "${memory[@]}" --check -o x.tflite cut.tflite
	# left = 1 and 2, the whole input = 10 20 30 40: the sum has right = 30 and 40
	printf '\1\2' >left
	printf '\12\24\36\50' >in
	npu-sim -i left -i in -o a cut.tflite
	npu-sim -i left -i in -o b x.tflite
	cmp a/output_0.npy b/output_0.npy
	[ "$(tail -c 2 a/output_0.npy | od -An -td1 | tr -s ' ')" = " 41 52" ]
}

@test "a published network is cut in two places" {
	need_shared models-real/movenet_singlepose_192.tflite
	local f=$SHARED/models-real/movenet_singlepose_192.tflite
	npucc -q -a ethos-u55-256 "${memory[@]}" --cut-inputs=166 --cut-outputs=StatefulPartitionedCall:01 \
		--check -o x.tflite "$f"
	tfl-partition --report --cut-outputs=movenet_192_model/conv2d_43/BiasAdd "$f" >report
	grep -q "the cut leaves out operators 86 (LOGISTIC), 87 (DEQUANTIZE), behind the outputs" report
}
