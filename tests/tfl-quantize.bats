# SPDX-License-Identifier: Apache-2.0
# tfl-quantize: float models become integer models that compile.
bats_require_minimum_version 1.5.0

load lib/common
load lib/model
load lib/state

TESTBIN=${NPUTOOLS_TESTBIN:-$TOP/build/tests}
digits=$TOP/tests/models/digits-float.tflite

# jq: f("1 -1 ..."): the bytes of these floats
floats='def f(s): [s | split(" ")[] | {"0": [0,0,0,0], "1": [0,0,128,63], "-1": [0,0,128,191],
	"0.5": [0,0,0,63], "2": [0,0,0,64], "127": [0,0,254,66], "inf": [0,0,128,127],
	"1e30": [202,242,73,113], "3": [0,0,64,64], "6": [0,0,192,64], "1/6": [171,170,42,62],
	"0.044715": [19,39,55,61], "0.79788": [42,66,76,63]}[.][]];'

# float_fc NAME [JQ-PROGRAM]: FULLY_CONNECTED of 4 inputs and 2 outputs, FLOAT32
float_fc()
{
	model "$1" "$floats $t |= map(.type = 0 | del(.quantization))
		| .buffers[1].data = f(\"127 0 -1 0.5 2 1 1 127\")
		| .buffers[2].data = f(\"1 -1\") | ${2-.}"
}

# json MODEL: the model as JSON
json()
{
	need flatc jq
	flatc --json --raw-binary --strict-json --defaults-json "$TOP/tests/models/tflite.fbs" -- "$1"
}

# two NAME FILTER: makes two.tflite of NAME.tflite by a filter of jq
two()
{
	json "$1.tflite"
	jq "$2" "$1.json" >two.json
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" two.json
}

# target_of ACCELERATOR: sets `target` to the options of npu-sched
target_of()
{
	local system=RTSS_HE_SRAM_MRAM
	[[ $1 != *u65* ]] || system=Ethos_U65_High_End
	[[ $1 != *u85* ]] || system=Ethos_U85_SYS_DRAM_Mid
	target=(-a "$1" --system-config "$system" --memory-mode Shared_Sram)
}

# compiles MODEL ACCELERATOR [OPTION...]: the compiled model is equal to MODEL
compiles()
{
	local target
	target_of "$2"
	npucc "${@:3}" "${target[@]}" -o compiled.tflite "$1" \
		2>compile.err || { cat compile.err; return 1; }
	npu-sim --seed=1 --compare="$1" compiled.tflite >compare.out 2>&1 ||
		{ cat compare.out; return 1; }
}

@test "the digits network: integer throughout, on the NPU alone, and every sample recognized" {
	need jq
	tfl-quantize --data="$TOP/tests/models/digits" --range=0,1 -o q.tflite "$digits"
	tfl-quantcheck --strict -q q.tflite
	for a in ethos-u55-128 ethos-u65-256 ethos-u85-256; do
		compiles q.tflite $a
	done
	tfl-partition -o p q.tflite
	[ "$(grep -c '^node .* on=cpu ' p)" = 0 ]
	for d in 0 1 2 3 4 5 6 7 8 9; do
		echo "$TOP/tests/models/digits/digit-$d.pgm $d"
	done >list
	mkinput --list=list --range=0,1 -o in.npy q.tflite
	npu-sim --frames=10 --reset -i in.npy -o out q.tflite
	npu-eval --json in.labels out/output_0.npy >score
	[ "$(jq '.outputs[0].right' score)" = 10 ]
}

@test "data for a model without inputs are refused" {
	# all operands are constants
	float_fc m '.subgraphs[0].inputs = [] | .buffers += [{data: f("1 1 1 1")}]
		| .subgraphs[0].tensors[0].buffer = (.buffers | length - 1)'
	head -c 16 /dev/zero >data.raw
	refuses 2 "the model has 0 inputs" timeout 20 tfl-quantize --data=data.raw -o q.tflite m.tflite
}

@test "files that are no samples are refused by their names" {
	local magic
	run_on() { timeout 20 tfl-quantize --range=0,1 -o q.tflite "$@" "$digits"; }
	mkdir folder
	cp "$TOP/tests/models/digits/digit-1.pgm" folder
	# formats that nobody reads, of 4 bytes and more: no raw floats
	for magic in '\xff\xd8\xff\xe0 JPEG' 'PK\x03\x04 ZIP or .npz' 'RIFF\x00\x00\x00\x00WEBP WebP'; do
		{ printf "${magic%% *}" && head -c 3136 /dev/zero; } | head -c 3136 >folder/x.raw
		refuses 2 "folder/x.raw: error: a file of the format ${magic#* } is not read: convert it, pictures to PNG" \
			run_on --data=folder
		timeout 20 tfl-quantize --from=raw --data=folder/x.raw -o q.tflite "$digits"
	done
	: >folder/x.raw
	refuses 2 'folder/x.raw: error: the file is empty' run_on --data=folder
	# raw numbers of a float network are real
	head -c 3136 /dev/zero >folder/x.raw
	refuses 2 'folder/x.raw: error: --range works only with pictures' run_on --data=folder
	tfl-quantize --data=folder/x.raw -o q.tflite "$digits"
	tfl-quantize --scale=2 --data=folder/x.raw -o q.tflite "$digits"
	# a pipe would block, or is there once
	rm folder/x.raw
	mkfifo folder/x.pgm
	refuses 2 'folder/x.pgm: error: a pipe or a device, not a file' run_on --data=folder
	refuses 2 'folder/x.pgm: error: samples are read more than once' run_on --data=folder/x.pgm
	refuses 2 'standard input: error: samples are read more than once' run_on --data=- \
		<"$TOP/tests/models/digits/digit-1.pgm"
	rm folder/x.pgm
	mkdir folder/class
	mkfifo folder/class/x.pgm
	refuses 2 'folder/class/x.pgm: error: a pipe or a device, not a file' run_on --data=folder
	rm folder/class/x.pgm
	# a list that names a file that is not there
	echo "digit-1.pgm 1" >folder/list
	tfl-quantize --range=0,1 --data=folder/list -o q.tflite "$digits"
	echo "none/digit-1.pgm 1" >folder/list
	refuses 2 'folder/none/digit-1.pgm: error: No such file or directory' run_on --data=folder/list
	# not a list: a table
	seq -s ' ' 784 >folder/table
	refuses 2 'folder/table: error: ' run_on --data=folder/table
	mv folder/table folder/table.csv
	tfl-quantize --data=folder/table.csv -o q.tflite "$digits"
}

@test "the result does not depend on -j" {
	tfl-quantize -j1 --data="$TOP/tests/models/digits" --range=0,1 -o 1.tflite "$digits"
	for j in 2 3 8; do
		tfl-quantize -j$j --data="$TOP/tests/models/digits" --range=0,1 "$digits" |
			cmp - 1.tflite
	done
}

@test "scales, zero points, weights and biases are those of the specification" {
	float_fc m
	echo 0 0 0 0 1 0 0 0 >a.csv	# two samples: outputs 1 and -1, then 128 and 1
	tfl-quantize --data=a.csv -o q.tflite m.tflite
	json q.tflite
	# flatc prints six digits.  Input 0 to 1, output -1 to 128; weights of both channels by max|w| = 127
	jq -e "$t as \$t | (\$t[0].quantization.scale[0] * 255 - 1 | fabs) < 1e-3 and
		\$t[0].quantization.zero_point == [-128] and
		(\$t | map(select(.name == \"out\"))[0].quantization | (.scale[0] * 255 - 129 | fabs) < 0.01
			and .zero_point == [-126])" q.json
	jq -e '[.buffers[].data // empty] | index([[127,0,255,1,2,1,1,127]]) != null' q.json
	# biases of 1 and -1 in steps of 1 / 255 * 1
	jq -e '[.buffers[].data // empty] | index([[255,0,0,0,1,255,255,255]]) != null' q.json
}

@test "channels of zeros and large biases get scales that work" {
	float_fc m '.buffers[1].data = f("0 0 0 0 2 1 1 1") | .buffers[2].data = f("1e30 1")'
	echo 1 1 1 1 >a.csv
	for o in '' --per-channel-fc --type=int16x8; do
		tfl-quantize $o --data=a.csv -o q.tflite m.tflite
		tfl-quantcheck --strict -q q.tflite
	done
}

@test "--per-tensor: one scale for all weights of an operator" {
	tfl-quantize --per-tensor --data="$TOP/tests/models/digits" --range=0,1 --json -o q.tflite "$digits" >report
	tfl-quantcheck --strict -q q.tflite
	jq -e '.equal_answers >= 9' report
	tfl-quantize --data="$TOP/tests/models/digits" --range=0,1 -o channels.tflite "$digits"
	json channels.tflite
	jq -e '[.subgraphs[0].tensors[].quantization.scale // [] | length] | max > 1' channels.json
	json q.tflite
	jq -e '[.subgraphs[0].tensors[].quantization.scale // [] | length] | max == 1' q.json
	compiles q.tflite ethos-u55-128 --fail-on-cpu
	refuses 2 '--per-tensor excludes --per-channel-fc' \
		tfl-quantize --random --per-tensor --per-channel-fc "$digits"
}

@test "FLOAT16 weights behind DEQUANTIZE become constants" {
	float_fc m
	# the same weights: 127 0 -1 0.5 2 1 1 127 as binary16
	float_fc h '.buffers[1].data = [240,87, 0,0, 0,188, 0,56, 0,64, 0,60, 0,60, 240,87]
		| .subgraphs[0].tensors[1].type = 1
		| .subgraphs[0].tensors += [{shape:[2,4],type:0,name:"decoded"}]
		| .operator_codes += [{deprecated_builtin_code:6,builtin_code:6}]
		| .subgraphs[0].operators = [{opcode_index:1,inputs:[1],outputs:[4]}] +
			(.subgraphs[0].operators | map(.inputs[1] = 4))'
	echo 1 1 1 1 >a.csv
	for m in m h; do
		tfl-quantize --data=a.csv -o q-$m.tflite $m.tflite
		tfl-quantcheck --strict -q q-$m.tflite
		mkinput --random=1 --format=raw -o in.raw q-$m.tflite
		npu-sim -i in.raw -o $m q-$m.tflite
	done
	cmp m/output_0.npy h/output_0.npy
}

@test "integer weights of a dynamic-range model are decoded" {
	float_fc m '.buffers[1].data = [127,0,255,1,2,1,1,127] | .subgraphs[0].tensors[1] |=
		(.type = 9 | .quantization = {scale:[0.5],zero_point:[0]})'
	echo 1 1 1 1 >a.csv
	tfl-quantize --data=a.csv -o q.tflite m.tflite
	tfl-quantcheck --strict -q q.tflite
	json q.tflite
	jq -e '[.buffers[].data // empty] | index([[127,0,255,1,2,1,1,127]]) != null' q.json
}

@test "--interface=float keeps FLOAT32 around the integer network" {
	need jq
	tfl-quantize --random --interface=float -o f.tflite "$digits"
	tfl-quantize --random -o i.tflite "$digits"
	run -1 tfl-quantcheck --strict f.tflite
	tfl-partition --integer-io -o f.part f.tflite
	tfl-partition -o i.part i.tflite
	[ "$(grep -c '^op' f.part)" = "$(grep -c '^op' i.part)" ]
	npu-sim --seed=1 -o out f.tflite
}

@test "a branch that is 0 on all samples has the range of its operands" {
	local op type
	echo 1 1 1 1 >a.csv
	# code, tag and name of the options' union; each result is below 0, before RELU
	for op in 0,11 18,21 41,28; do
		float_fc m ".operator_codes = [{deprecated_builtin_code:59,builtin_code:59},
				{deprecated_builtin_code:${op%,*},builtin_code:${op%,*}}]
			| .subgraphs[0].tensors |= [.[0], (.[0] | .name = \"less\"),
				(.[0] | .name = \"dead\"), (.[0] | .name = \"out\")]
			| .buffers = [{}] | .subgraphs[0].outputs = [3]
			| .subgraphs[0].operators = [{opcode_index:0,inputs:[0],outputs:[1]},
				{opcode_index:1,inputs:[1,0],outputs:[2],builtin_options_type:${op#*,},
					builtin_options:{fused_activation_function:1}},
				{opcode_index:1,inputs:[2,0],outputs:[3],builtin_options_type:${op#*,},
					builtin_options:{}}]"
		for type in int8 int16x8; do
			tfl-quantize --data=a.csv --type=$type -o q.tflite m.tflite
			tfl-quantcheck --strict -q q.tflite
			compiles q.tflite ethos-u65-256
		done
	done
}

@test "QUANTIZE separates a fixed scale from other inputs of CONCATENATION" {
	float_fc m '.operator_codes += [{deprecated_builtin_code:25,builtin_code:25},
			{deprecated_builtin_code:2,builtin_code:2}]
		| .subgraphs[0].tensors += [{shape:[1,2],type:0,name:"soft"},{shape:[1,4],type:0,name:"both"}]
		| .subgraphs[0].operators += [
			{opcode_index:1,inputs:[3],outputs:[4],builtin_options_type:9,builtin_options:{beta:1}},
			{opcode_index:2,inputs:[3,4],outputs:[5],builtin_options_type:10,builtin_options:{axis:1}}]
		| .subgraphs[0].outputs = [5]'
	echo 1 1 1 1 >a.csv
	tfl-quantize --data=a.csv -o q.tflite m.tflite
	tfl-quantcheck --strict -q q.tflite
	json q.tflite
	jq -e '[.operator_codes[].builtin_code] | index(114) != null' q.json
	compiles q.tflite ethos-u55-128
}

# one_quantized ACCELERATOR CPU OPTION...: f.tflite is quantized, passes tfl-quantcheck, and
# compiles to equal bytes; CPU: an option of tfl-partition, or empty
one_quantized()
{
	local target
	target_of "$1"
	in_process "tfl-quantize --random ${*:3} -o q.tflite f.tflite" \
		"tfl-quantcheck --strict q.tflite" "tfl-partition $2 -a $1 -o part q.tflite" \
		"npu-sched ${target[*]} -o sched part" "npu-wenc -o wenc sched" \
		"npu-cmdgen -o compiled.tflite wenc" \
		"npu-sim --seed=1 --compare=q.tflite compiled.tflite"
}

# float_versions SEEDS OPTION... -- OPERATOR...: the float version of a random model is
# quantized, passes tfl-quantcheck, and compiles to equal bytes; for the NPU alone, if the
# result has 8 bits.  The operator -g draws networks.
float_versions()
{
	local seeds=$1 options=() seed=0 op made a all=(ethos-u55-128 ethos-u65-256 ethos-u85-256)
	local cpu=--fail-on-cpu draw other
	[ -z "${NPUTOOLS_QUICK-}" ] || seeds=$(((seeds + 1) / 2))
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		[ "$1" != --type=int16x8 ] || cpu=
		shift
	done
	for op in "${@:2}"; do
		made=0
		for ((seed = 1; seed <= seeds; seed++)); do
			draw="$seed $op" other='^input .*(INT|BOOL)|QUANTIZE'
			[ "$op" != -g ] || draw="-g $seed" other='^input .*(INT|BOOL)'
			# shellcheck disable=SC2086
			"$TESTBIN/gen-model" $draw >g.tflite 2>/dev/null || continue
			"$TESTBIN/float-model" g.tflite f.tflite || return
			# draws with integer inputs, or with converted inputs
			! tfl-quantcheck f.tflite | grep -qE "$other" || continue
			made=$((made + 1))
			a=${all[$((seed % 3))]}
			if [ "$op" != -g ]; then
				one_quantized "$a" "$cpu" "${options[@]}" || { echo "$op $seed $a"; return 1; }
				continue
			fi
			tfl-quantize --random "${options[@]}" -o q.tflite f.tflite 2>err || {
				! grep -q 'values that are not finite' err ||
					{ made=$((made - 1)); continue; }
				echo "$op $seed: $(tail -1 err)"
				return 1
			}
			tfl-quantcheck --strict q.tflite >out || { echo "$op $seed"; cat out; return 1; }
			compiles q.tflite "$a" $cpu || { echo "$op $seed $a"; return 1; }
		done
		[ $made -gt $((seeds / 4)) ] || { echo "$op: nothing was drawn"; return 1; }
	done
}

# with integer versions in INT8 and INT16
operators=(CONV_2D DEPTHWISE_CONV_2D FULLY_CONNECTED TRANSPOSE_CONV AVERAGE_POOL_2D
	MAX_POOL_2D ADD SUB MUL SQUARED_DIFFERENCE MINIMUM MAXIMUM PRELU ABS NEG RELU
	RELU_N1_TO_1 RELU_0_TO_1 RELU6 LEAKY_RELU BROADCAST_TO RESHAPE SQUEEZE EXPAND_DIMS
	CONCATENATION PACK UNPACK SPLIT SPLIT_V SLICE STRIDED_SLICE TRANSPOSE REVERSE_V2
	SPACE_TO_DEPTH DEPTH_TO_SPACE GATHER GATHER_ND PAD PADV2 MIRROR_PAD TILE MEAN SUM
	REDUCE_MIN REDUCE_MAX LOGISTIC TANH EXP SOFTMAX BATCH_MATMUL RESIZE_BILINEAR
	RESIZE_NEAREST_NEIGHBOR SPACE_TO_BATCH_ND BATCH_TO_SPACE_ND UNIDIRECTIONAL_SEQUENCE_LSTM)

@test "float versions of random models become INT8 models that compile" {
	float_versions 3 -- "${operators[@]}" DIV HARD_SWISH L2_NORMALIZATION ELU GELU LOG_SOFTMAX \
		SVDF ARG_MIN ARG_MAX EQUAL NOT_EQUAL GREATER GREATER_EQUAL LESS LESS_EQUAL
}

@test "float versions of random networks become INT8 models that compile" {
	local n=30
	[ -z "${NPUTOOLS_ALL-}" ] || n=300
	float_versions $n -- -g
}

@test "each operator with a rule is drawn" {
	sed -n 's/\(OTHER\|FIXED\|WEIGHTS\)(\([A-Z0-9_]*\),/\n@\2\n/gp' "$TOP/tools/tfl-quantize/rules.c" |
		sed -n 's/^@//p' | sort >rules
	[ "$(wc -l <rules)" -gt 70 ]
	while read -r name; do
		sed -n '/^operators=(/,/^}/p; /^@test "float versions/,/^}/p; /^@test "LOG and RSQRT/p; /^@test "variables .*READ_VARIABLE/p' \
			"$BATS_TEST_FILENAME" | grep -qw "$name" ||
			{ echo "no test draws $name"; return 1; }
	done <rules
}

@test "float versions of random models become INT16 models that compile" {
	float_versions 3 --type=int16x8 -- "${operators[@]}" EQUAL NOT_EQUAL GREATER GREATER_EQUAL \
		LESS LESS_EQUAL
}

@test "a comparison in 16 bits has inputs of one scale" {
	need jq
	local greater=61 softmax=25 mul=18 options a
	# with a constant, with a computed tensor, with a fixed scale that has the constant, and
	# with one that does not have it
	graph m0 '[1,4]' '[[[],f("1e30")]]' "[[$greater,[0,1],[1,4]]]"
	graph m1 '[1,4]' '[[[],f("3")]]' "[[$mul,[0,1],[1,4],1,21,{}], [$greater,[0,2],[1,4]]]"
	graph m2 '[1,4]' '[[[],f("0.5")]]' "[[$softmax,[0],[1,4],1,9,{beta:1}], [$greater,[2,1],[1,4]]]"
	graph m3 '[1,4]' '[[[],f("2")]]' "[[$softmax,[0],[1,4],1,9,{beta:1}], [$greater,[1,2],[1,4]]]"
	graph m4 '[1,4]' '[]' "[[$softmax,[0],[1,4],1,9,{beta:1}], [$greater,[0,1],[1,4]]]"
	printf '%s\n' '-1 0.25 0.5 3' '0 0 0 1' >a.csv
	for m in m0 m1 m2 m3 m4; do
		two $m '.subgraphs[0].tensors[-1].type = 6'
		for options in --type=int16x8 '--keep-int16=*'; do
			tfl-quantize $options --data=a.csv -o q.tflite two.tflite
			tfl-quantcheck --strict -q q.tflite
			json q.tflite
			jq -e '.subgraphs[0] | .tensors as $t | .operators[-1].inputs | map($t[.] | .type, .quantization.scale)
				| .[:2] == .[2:] and .[0] == 7' q.json
			for a in ethos-u55-128 ethos-u65-256 ethos-u85-256; do
				compiles q.tflite $a
			done
		done
		# QUANTIZE separates a fixed scale, unless the constant fits it
		[ "$(codes q)" = "$(case $m in m0) echo '[61]' ;; m1) echo '[18,61]' ;; m2) echo '[25,61]' ;;
			*) echo '[25,114,61]' ;; esac)" ]
	done
}

# lstm NAME [JQ-PROGRAM]: an LSTM of one feature and one cell, [1,3,1]: the gates' weights are
# 0, 0, 1, 0, their biases 127 (open), 127, 0, 127; so the cell sums tanh(x)
lstm()
{
	model "$1" "$floats"'.operator_codes = [{deprecated_builtin_code:44,builtin_code:44}]
		| .buffers = [{}, {data:f("0")}, {data:f("1")}, {data:f("127")}]
		| .subgraphs[0] |= (.inputs = [0] | .outputs = [6]
			| .tensors = [
				{shape:[1,3,1],type:0,name:"in"},
				{shape:[1,1],type:0,buffer:1,name:"zero"},
				{shape:[1,1],type:0,buffer:2,name:"one"},
				{shape:[1],type:0,buffer:1,name:"none"},
				{shape:[1],type:0,buffer:3,name:"open"},
				{shape:[1,1],type:0,name:"cell",is_variable:true},
				{shape:[1,3,1],type:0,name:"out"},
				{shape:[1,1],type:0,name:"hidden",is_variable:true}]
			| .operators = [{opcode_index:0,inputs:[0,1,1,2,1,1,1,1,1,-1,-1,-1,4,4,3,4,-1,-1,7,5,-1,-1,-1,-1],
				outputs:[6],builtin_options_type:71,
				builtin_options:{fused_activation_function:4}}])
		| '"${2-.}"
}

@test "a bidirectional LSTM as Keras has it stays on the NPU, and BIDIRECTIONAL_SEQUENCE_LSTM is named" {
	local op
	# the second LSTM reads the sequence from the end, and its outputs are turned back
	lstm m '.operator_codes += [{deprecated_builtin_code:105,builtin_code:105},{deprecated_builtin_code:2,builtin_code:2}]
		| .buffers += [{data:[1,0,0,0]}] | .subgraphs[0] |= (
			.tensors += [{shape:[1],type:2,buffer:4,name:"axis"},
				(.tensors[0] | .name = "reversed"), (.tensors[5] | .name = "cell2"),
				(.tensors[6] | .name = "out2"), (.tensors[7] | .name = "hidden2"),
				(.tensors[6] | .name = "back"), {shape:[1,3,2],type:0,name:"both"}]
			| .operators += [{opcode_index:1,inputs:[0,8],outputs:[9]},
				(.operators[0] | .inputs[0] = 9 | .inputs[18] = 12 | .inputs[19] = 10 | .outputs = [11]),
				{opcode_index:1,inputs:[11,8],outputs:[13]},
				{opcode_index:2,inputs:[6,13],outputs:[14],builtin_options_type:10,builtin_options:{axis:2}}]
			| .outputs = [14])'
	printf '1 0.5 -1\n0.25 -2 1\n' >a.csv
	for op in '' --type=int16x8; do
		tfl-quantize $op --data=a.csv --json -o q.tflite m.tflite >report
		tfl-quantcheck --strict -q q.tflite
		jq -e '.operators[-1] | .name == "CONCATENATION" and .snr_db > 30' report
		for a in ethos-u55-128 ethos-u65-256 ethos-u85-256; do
			compiles q.tflite $a --fail-on-cpu
		done
	done
	lstm m '.operator_codes = [{deprecated_builtin_code:52,builtin_code:52}]
		| .subgraphs[0].operators[0] |= (del(.builtin_options) | .builtin_options_type = 0)'
	refuses 2 'operator 0 (BIDIRECTIONAL_SEQUENCE_LSTM): no integer version' tfl-quantize --data=a.csv m.tflite
	# the older operator, one step each
	lstm m '.operator_codes = [{deprecated_builtin_code:16,builtin_code:16}]
		| .subgraphs[0].operators[0] |= (del(.builtin_options) | .builtin_options_type = 0)'
	refuses 2 'operator 0 (LSTM): no integer version' tfl-quantize --data=a.csv m.tflite
}

@test "LSTM: the cell state has a power of 2, and keeps its values in a sequence" {
	need flatc jq
	lstm m
	# tanh(x) sums up to 3 * 0.7616 in a sample, to twice as much in a sequence of two samples
	printf '1 1 1\n1 1 1\n' >a.csv
	for f in 1:4 2:8; do
		tfl-quantize --data=a.csv --frames=${f%:*} --json -o q.tflite m.tflite >report
		tfl-quantcheck --strict -q q.tflite
		jq -e --argjson most "${f#*:}" '.tensors | map({key: .name, value: .}) | from_entries
			| .cell.type == "INT16" and .cell.scale * 32768 == $most and .cell.zero_point == 0
			and .hidden.scale == .out.scale and .hidden.zero_point == .out.zero_point' report
		# tanh of the last sum is the greatest output
		jq -e --argjson sums $((3 * ${f%:*})) '(2 * $sums * 0.761594 | exp | (. - 1) / (. + 1)) as $want
			| .tensors | map(select(.name == "out"))[0].greatest - $want | fabs < 1e-5' report
		jq -e '.operators[0].own_snr_db > 30' report
	done
	json q.tflite
	# four tensors without a use, and the scale of the output
	jq -e ".subgraphs[0] | .operators[0].intermediates as \$m | (\$m | length) == 5 and
		.tensors[\$m[4]].quantization.scale == (.tensors | map(select(.name == \"out\"))[0].quantization.scale)" q.json
	compiles q.tflite ethos-u55-128 --fail-on-cpu
	compiles q.tflite ethos-u65-256 --fail-on-cpu
	compiles q.tflite ethos-u85-256 --fail-on-cpu
	# with a limit, the cell needs fewer bits
	lstm clip '.subgraphs[0].operators[0].builtin_options.cell_clip = 1.5'
	tfl-quantize --data=a.csv --frames=2 --json -o q.tflite clip.tflite >report
	jq -e '.tensors | map(select(.name == "cell"))[0].scale * 32768 == 2' report
	tfl-quantize --data=a.csv --type=int16x8 -o q.tflite m.tflite
	tfl-quantcheck --strict -q q.tflite
	compiles q.tflite ethos-u55-128 --fail-on-cpu
	# a second run takes the integers of the first, with float ends, for the same network
	tfl-quantize --data=a.csv --interface=float -o ends.tflite m.tflite
	tfl-quantize --data=a.csv -o first.tflite m.tflite
	tfl-quantize --data=a.csv -o second.tflite ends.tflite
	echo 0.9 -0.5 0.3 >b.csv
	for m in first second; do
		mkinput --format=npy -o in.npy $m.tflite b.csv
		npu-sim -i in.npy -o $m $m.tflite
	done
	cmp first/output_0.npy second/output_0.npy
	lstm relu '.subgraphs[0].operators[0].builtin_options.fused_activation_function = 1'
	refuses 2 'operator 0 (UNIDIRECTIONAL_SEQUENCE_LSTM): an activation other than TANH' \
		tfl-quantize --data=a.csv relu.tflite
	lstm peephole '.subgraphs[0].operators[0].inputs[10] = 3'
	refuses 2 'operator 0 (UNIDIRECTIONAL_SEQUENCE_LSTM): input 10: peephole' \
		tfl-quantize --data=a.csv peephole.tflite
	lstm coupled '.subgraphs[0].operators[0].inputs[1] = -1'
	refuses 2 'input 1 is absent' tfl-quantize --data=a.csv coupled.tflite
}

# float_ring [JQ]: m.tflite, a ring of three rows with FLOAT32 values; it begins with 0 1 2 -1 0 3
float_ring()
{
	ring 0 0 0,0,0,0,0,0,128,63,0,0,0,64,0,0,128,191,0,0,0,0,0,0,64,64 "del(..|.quantization?) ${1:+| $1}"
	printf '%s\n' '0.5 0.25' '-1 2' '4 0' '0 0' >a.csv
}

@test "variables of READ_VARIABLE and ASSIGN_VARIABLE: one scale, and integers to begin with" {
	need flatc jq
	local o
	float_ring
	for o in int8: int16x8: int8:--interface=float; do
		tfl-quantize --type=${o%:*} ${o#*:} --data=a.csv --frames=4 --json -o q.tflite m.tflite >report
		tfl-quantcheck --strict -q --allow=interface-float q.tflite
		# all values have the scale of -1 to 4, and READ_VARIABLE has the initial values
		jq -e --arg type "${o%%[:x]*}" '([.tensors[] | .type, .scale] | unique | length) == 2 and
			(.tensors[0].scale - if $type == "int8" then 5 / 255 else 4 / 32767 end | fabs) < 1e-6 and
			.tensors[0].type == ($type | ascii_upcase) and
			[.operators[].name] == ["READ_VARIABLE","CONCATENATION","STRIDED_SLICE"] and
			[.operators[].snr_db | select(. < 45)] == [] and
			(.tensors[] | select(.name == "old") | [.least,.greatest,.values]) == [-1,4,24]' report
		compiles q.tflite ethos-u55-128
		npu-sim --frames=7 --seed=3 --compare=q.tflite compiled.tflite
		npu-sim --frames=3 --reset --compare=q.tflite compiled.tflite
	done
	# 0 is -77; the steps have 5 / 255
	tfl-quantize --data=a.csv --frames=4 -o q.tflite m.tflite
	json q.tflite
	jq -e '.buffers[.subgraphs[1].tensors[1].buffer].data == [179,230,25,128,179,76]' q.json
	# -j has no effect; each sample alone begins anew, and finds the initial values
	for f in 2 1; do
		tfl-quantize -j1 --data=a.csv --frames=$f --json -o one.tflite m.tflite >one
		tfl-quantize -j3 --data=a.csv --frames=$f --json -o q.tflite m.tflite | cmp - one
		cmp q.tflite one.tflite
	done
	jq -e '.tensors[] | select(.name == "old") | .greatest == 3' one
	# a second run takes the integers of the first
	tfl-quantize --data=a.csv --frames=4 --interface=float -o ends.tflite m.tflite
	tfl-quantize --data=a.csv --frames=4 -o first.tflite m.tflite
	tfl-quantize --random -o second.tflite ends.tflite 2>err
	for m in first second; do
		npu-sim --frames=5 --seed=1 $m.tflite | sed 's/ t[0-9]* / /' >$m
	done
	diff first second
	# operators in 16 bits beside a variable of 8 bits
	tfl-quantize --data=a.csv --keep-int16='[CS]*' -o q.tflite m.tflite
	tfl-quantcheck --strict -q q.tflite
	compiles q.tflite ethos-u65-256
	refuses 2 '--keep-int16=READ_VARIABLE: operator 2 (READ_VARIABLE) has no INT16 version' \
		tfl-quantize --data=a.csv --keep-int16=READ_VARIABLE m.tflite
}

@test "variables: several handles, constants, fixed scales, and no CALL_ONCE" {
	need flatc jq
	local code='{deprecated_builtin_code:([.,127]|min),builtin_code:.}'
	# a second handle of the variable, which is read again: 4.  0 is assigned at the end
	float_ring ".subgraphs[0].tensors += [{name:\"other\",shape:[],type:13},
			{name:\"again\",shape:[1,3,2],type:0},{name:\"const\",shape:[1,3,2],type:0,buffer:4}]
		| .subgraphs[0].operators += [
			{opcode_index:1,inputs:[],outputs:[8],builtin_options_type:111,builtin_options:{container:\"\",shared_name:\"ring\"}},
			{opcode_index:2,inputs:[8],outputs:[9],builtin_options_type:112,builtin_options:{}},
			{opcode_index:5,inputs:[8,10],outputs:[],builtin_options_type:113,builtin_options:{}}]
		| .subgraphs[0].outputs += [9]"
	tfl-quantize --data=a.csv --frames=4 -o q.tflite m.tflite
	tfl-quantcheck --strict -q q.tflite
	json q.tflite
	jq -e '[.subgraphs[].operators[] | .opcode_index // 0] | length == 10' q.json
	npu-sim --frames=4 --seed=1 q.tflite >/dev/null
	# without CALL_ONCE, variables begin at 0
	float_ring 'del(.subgraphs[1]) | del(.subgraphs[0].operators[0])'
	tfl-quantize --data=a.csv --frames=4 --json -o q.tflite m.tflite >report
	jq -e '.tensors[] | select(.name == "old") | [.least,.greatest] == [-1,4]' report
	compiles q.tflite ethos-u85-256
	# LOGISTIC has a scale of its own: QUANTIZE before the variable
	float_ring ".operator_codes += [14 | $code] | .subgraphs[0].tensors += [{name:\"soft\",shape:[1,3,2],type:0}]
		| .subgraphs[0].operators[5].inputs[1] = 8
		| .subgraphs[0].operators |= .[:5] + [{opcode_index:6,inputs:[4],outputs:[8]}] + .[5:]"
	tfl-quantize --data=a.csv --frames=4 -o q.tflite m.tflite
	tfl-quantcheck --strict -q q.tflite
	json q.tflite
	jq -e '[.operator_codes[].builtin_code] | index(114) != null' q.json
	compiles q.tflite ethos-u55-128
	# a value that nobody can compute
	float_ring ".operator_codes += [66 | $code] | .subgraphs[0].tensors += [{name:\"sin\",shape:[1,3,2],type:0}]
		| .subgraphs[0].operators[5].inputs[1] = 8
		| .subgraphs[0].operators |= .[:5] + [{opcode_index:6,inputs:[4],outputs:[8]}] + .[5:]"
	refuses 2 'operator 6 (ASSIGN_VARIABLE): reads integers or values that the network computes by' \
		tfl-quantize --data=a.csv --allow m.tflite
	float_ring '.subgraphs[0].operators |= .[1:] + .[:1]'
	refuses 2 'operator 5 (CALL_ONCE): initializes variables after their first use' \
		tfl-quantize --data=a.csv m.tflite
	float_ring '.subgraphs += [.subgraphs[1]]'
	refuses 2 'subgraph 2 (begin): a second network, or the body of an operator other than CALL_ONCE, is not supported; convert one signature alone' \
		tfl-quantize --data=a.csv m.tflite
	float_ring '.subgraphs[0].tensors += [{name:"const",shape:[1,3,2],type:2,buffer:4}]
		| .subgraphs[0].operators[5].inputs[1] = 8'
	refuses 2 'operator 5 (ASSIGN_VARIABLE): its value has another type than the variable' \
		tfl-quantize --data=a.csv m.tflite
	# a variable that nobody reads
	float_ring '.buffers[4].data[2:4] = [128,127] | .subgraphs[0].inputs = [0,2]
		| .subgraphs[0].operators |= .[:2] + .[3:]'
	refuses 2 'm.tflite: error: subgraph 1: tensor 1 (ring): element 0 is not a finite number' \
		tfl-quantize --random m.tflite
}

@test "float versions of published networks with variables become INT8 models that compile" {
	[ -n "$SHARED" ] || skip "no shared models"
	local m frames
	frames=$(for ((i = 0; i < 4800; i++)); do echo "$((i * 7919 % 255)) "; done)
	tr -d '\n' <<<"$frames" | xargs -n120 >a.csv
	for m in wakeword_okay_nabu wakeword_vad; do
		"$TESTBIN/float-model" "$SHARED/models-real/$m.tflite" f.tflite
		tfl-quantize --data=a.csv --frames=8 --json -o q.tflite f.tflite >report
		tfl-quantcheck --strict -q q.tflite
		jq -e '[.operators[] | select(.name == "READ_VARIABLE").snr_db // 99] | length >= 4 and min > 25' report
		compiles q.tflite ethos-u55-128 --fail-on-cpu
		npu-sim --frames=20 --seed=1 --compare=q.tflite compiled.tflite
	done
}

@test "samples: files, directories, lists and stacks give the same ranges" {
	mkdir flat classes classes/a classes/b
	cp "$TOP"/tests/models/digits/digit-[0-3].pgm flat/
	cp flat/digit-[01].pgm classes/a/
	cp flat/digit-[23].pgm classes/b/
	printf 'flat/digit-%d.pgm label\n' 0 1 2 3 >list
	mkinput --list=classes --range=0,1 -o stack.npy "$digits"
	local q=(tfl-quantize "--range=0,1")
	"${q[@]}" --data=flat -o flat.tflite "$digits"
	"${q[@]}" --data=classes "$digits" | cmp - flat.tflite
	"${q[@]}" --data=list "$digits" | cmp - flat.tflite
	"${q[@]}" --data=flat/digit-{0,1,2,3}.pgm --data=0=flat/digit-0.pgm "$digits" >one.tflite
	"${q[@]}" --data=flat/digit-0.pgm --data=flat/digit-1.pgm --data=flat/digit-2.pgm \
		--data=0=flat/digit-3.pgm "$digits" | cmp - flat.tflite
	tfl-quantize --data=stack.npy "$digits" | cmp - flat.tflite
}

@test "what has no integer version is refused by name" {
	local random=(tfl-quantize --random)
	float_fc sin '.operator_codes[0] = {deprecated_builtin_code:66,builtin_code:66}
		| .subgraphs[0].operators[0] |= {inputs:[0],outputs:[3]}'
	refuses 2 'operator 0 (SIN): no integer version of this float operator is known' "${random[@]}" sin.tflite
	float_fc inf '.buffers[1].data[:4] = f("inf")'
	refuses 2 'tensor 1 (weights): element 0 is not a finite number' "${random[@]}" inf.tflite
	float_fc while '.operator_codes[0] = {deprecated_builtin_code:119,builtin_code:119}
		| .subgraphs += [.subgraphs[0], .subgraphs[0] | .operators = [] | .outputs = .inputs]
		| .subgraphs[0].operators[0] |= {inputs:[0],outputs:[3],
			builtin_options_type:"WhileOptions",
			builtin_options:{cond_subgraph_index:1,body_subgraph_index:2}}'
	refuses 2 'operator 0 (WHILE): control flow is not supported' "${random[@]}" while.tflite
	float_fc dynamic "$t[0].shape_signature = [-1,-1]"
	refuses 2 'tensor 0 (in): dynamic shapes are not supported' "${random[@]}" dynamic.tflite
	refuses 2 'input 0 (picture) is INT8, not FLOAT32' "${random[@]}" "$TOP/tests/models/digits.tflite"
}

@test "samples that do not fit are refused" {
	refuses 2 'no data to measure the ranges with' tfl-quantize "$digits"
	refuses 2 'does not say which numbers black and white are' \
		tfl-quantize --data="$TOP/tests/models/digits" "$digits"
	refuses 2 'the model has 1 input' tfl-quantize --data=1=x "$digits"
	float_fc m
	echo 1 2 3 >three.csv
	refuses 2 'three.csv: error: the file has 3 values' tfl-quantize --data=three.csv m.tflite
	echo 1e39 2 3 4 >inf.csv
	refuses 2 'value 0 is not a finite number' tfl-quantize --data=inf.csv m.tflite
	echo 1e38 1e38 1e38 1e38 >big.csv
	refuses 2 'tensor 3 (out): the network computes values that are not finite' \
		tfl-quantize --data=big.csv m.tflite
	[ ! -e q.tflite ]
	float_fc two "$t += [{shape:[1,2],type:0,name:\"in2\"},{shape:[1,2],type:0,name:\"sum\"}]
		| .operator_codes += [{deprecated_builtin_code:0,builtin_code:0}]
		| .subgraphs[0].operators += [{opcode_index:1,inputs:[3,4],outputs:[5],
			builtin_options_type:11,builtin_options:{}}]
		| .subgraphs[0].inputs = [0,4] | .subgraphs[0].outputs = [5]"
	echo 1 2 3 4 >a.csv
	echo 1 2 3 4 >b.csv # two samples of two numbers
	refuses 2 'no data for input 1 (in2)' tfl-quantize --data=a.csv two.tflite
	refuses 2 'different numbers of samples' tfl-quantize --data=a.csv --data=1=b.csv two.tflite
	echo 5 6 7 8 >>a.csv
	tfl-quantize --data=a.csv --data=1=b.csv -o q.tflite two.tflite
	tfl-quantcheck --strict -q q.tflite
}

@test "npucc --quantize compiles a float model" {
	local target=(-a ethos-u55-128 --system-config RTSS_HE_SRAM_MRAM --memory-mode Shared_Sram)
	local data=(--quantize="$TOP/tests/models/digits" "--range=0,1")
	tfl-quantize --data="$TOP/tests/models/digits" --range=0,1 -o digits-float.tflite "$digits"
	npucc "${target[@]}" -o want.tflite digits-float.tflite
	npucc "${data[@]}" "${target[@]}" --check -o got.tflite "$digits" 2>err
	grep -q "equal to the quantized model's" err
	refuses 2 '; compare with the quantized model, which npucc --keep=DIR keeps' \
		npu-sim --compare="$digits" got.tflite
	cmp got.tflite want.tflite
	npucc "${data[@]}" "${target[@]}" -o - - <"$digits" | cmp - want.tflite
	npucc "${data[@]}" "${target[@]}" --keep=kept "$digits"
	cmp kept/digits-float_npu.tflite want.tflite
	cmp kept/digits-float.tflite digits-float.tflite
	# the manifest has what repeats the quantization
	jq -r '.options.quantize[]' kept/manifest.json >words
	[ "$(<words)" = "--data=$TOP/tests/models/digits"$'\n--range=0,1' ]
	mapfile -t words <words
	tfl-quantize "${words[@]}" -q -o repeated.tflite "$digits"
	cmp repeated.tflite kept/digits-float.tflite
	npucc -q "${data[@]}" "${target[@]}" --resize=area -j3 --keep=quiet "$digits"
	npucc "${data[@]}" "${target[@]}" --resize=area -j1 --keep=loud "$digits"
	diff -r quiet loud
	jq -e '.options.quantize[2:] == ["--resize=area"]' quiet/manifest.json
	# what the integers cost, in the kept files and on the page
	[ "$(jq .samples kept/quantization.json)" = 10 ]
	grep -q 'Integers beside floats' kept/report.html
	for m in "$digits" -; do
		npucc "${data[@]}" "${target[@]}" --report=page.html -o got.tflite "$m" <"$digits" 2>err
		grep -q 'note: on 10 calibration samples: signal to quantization noise' err
		grep -q 'Integers beside floats' page.html
		cmp got.tflite want.tflite
	done
	npucc -X tfl-quantize:--random "${target[@]}" -o random.tflite "$digits" 2>err
	grep -q 'warning: the ranges are those of random inputs' err
	refuses 2 'the model has 1 input' npucc --quantize=1=x "${target[@]}" -o x.tflite "$digits"
	[ ! -e x.tflite ]
	[ -z "$(find . -name '.npucc*')" ]
	"$TESTBIN/gen-tosa" 1 >out.tosa
	refuses 2 '--quantize is for TFLite models only' npucc --quantize=x "${target[@]}" -o x.tflite out.tosa
}

@test "npucc --quantize --resize takes pictures of any size, with the methods of mkinput" {
	local compile=(npucc --part=alif-e7-he --quantize=large "--range=0,1") method
	mkdir large
	awk 'BEGIN { print "P2 61 47 255"; for (i = 0; i < 61 * 47; i++) print i * i % 251 }' >large/a.pgm
	refuses 2 'large/a.pgm: error: the picture has 61 by 47 pixels, the input 28 by 28: use --resize' \
		"${compile[@]}" -o x.tflite "$digits"
	for method in '' =bilinear =area; do
		tfl-quantize --data=large --range=0,1 --resize$method -q -o q.tflite "$digits"
		npucc --part=alif-e7-he -o want.tflite q.tflite
		"${compile[@]}" --resize$method -q -o "got$method.tflite" "$digits"
		cmp "got$method.tflite" want.tflite
	done
	cmp got.tflite got=bilinear.tflite
	run ! cmp got.tflite got=area.tflite
	refuses 2 "--resize: no such choice: 'nearest'" "${compile[@]}" --resize=nearest -o x.tflite "$digits"
	grep -q "^Try .npucc --help'" refuses.err
	refuses 2 '--resize is for the pictures of --quantize=DATA, which is missing' \
		npucc --part=alif-e7-he --resize -o x.tflite "$digits"
}

# accepts FILE: npucc knows every option that the messages in the file name
accepts()
{
	local option
	grep -oE -- '--[a-z][a-zA-Z0-9:=-]*' "$1" | sort -u >named
	[ -s named ]
	while read -r option; do
		case $option in
		--pass=tfl-quantize:*) tfl-quantize --help | grep -oE -- '--[a-z0-9-]+' >has ;;
		*) npucc --help | grep -oE -- '--[a-z0-9-]+' >has ;;
		esac
		option=${option#--pass=tfl-quantize:}
		grep -qx -- "${option%%=*}" has || { echo "npucc has no $option:"; cat "$1"; return 1; }
	done <named
}

@test "errors of tfl-quantize under npucc name options that npucc takes" {
	local silence compile=(npucc --part=alif-e7-he -o x.tflite)
	silence=$(printf '\\0%.0s' {1..1600})
	printf "RIFF\x64\x06\0\0WAVEfmt \x10\0\0\0\x1\0\x1\0\x80\x3e\0\0\0\x7d\0\0\x2\0\x10\0data\x40\x6\0\0$silence" >a.wav
	float_fc m "$t[0].shape = [4,200] | $t[1].shape = [2,200] | $t[3].shape = [4,2]
		| .buffers[1].data = f(\"1 \" * 399 + \"1\")"
	refuses 2 'use --pass=tfl-quantize:--features, or --pass=tfl-quantize:--from=sound to take the samples' \
		"${compile[@]}" --quantize=a.wav m.tflite
	accepts refuses.err
	refuses 2 'use --quantize=PATH with samples of real inputs (--pass=tfl-quantize:--random only' \
		"${compile[@]}" -X tfl-quantize:--type=int8 "$digits"
	accepts refuses.err
	refuses 2 'error: --quantize=1=x: the model has 1 input' "${compile[@]}" --quantize=1=x "$digits"
	refuses 2 'use --range=LO,HI as in training, for example --range=0,1' \
		"${compile[@]}" --quantize="$TOP/tests/models/digits" "$digits"
	accepts refuses.err
	# npucc has an option of this name, for tfl-quantcheck
	float_fc sin '.operator_codes[0] = {deprecated_builtin_code:66,builtin_code:66}
		| .subgraphs[0].operators[0] |= {inputs:[0],outputs:[3]}'
	refuses 2 'is known (--pass=tfl-quantize:--allow keeps it in float)' "${compile[@]}" --quantize=x sin.tflite
	accepts refuses.err
	# names of files stay
	printf '\xff\xd8\xff\xe0' >'a --data.jpg'
	refuses 2 'a --data.jpg: error: a file of the format JPEG is not read' \
		"${compile[@]}" --quantize='a --data.jpg' --range=0,1 "$digits"
	sed -i 's/.*: error: //' refuses.err
	grep -q '(--pass=tfl-quantize:--from=raw takes its bytes)' refuses.err
	accepts refuses.err
	# messages of tfl-quantize itself do not change
	refuses 2 '(--from=raw takes its bytes)' tfl-quantize --data='a --data.jpg' --range=0,1 "$digits"
}

# input_scale OPTION...: scale of the input times 255
input_scale()
{
	tfl-quantize "$@" -o q.tflite m.tflite || return
	tfl-quantcheck q.tflite | sed -n 's/^input 0: .* scale \([^ ]*\) .*/\1/p' |
		awk '{ printf "%.3f\n", $1 * 255 }'
}

@test "--ranges: moving average, percentile, squared error and entropy" {
	float_fc m
	printf '%s\n' '0 1 0 0' '10 0 0 0' '0 0 4 1' >a.csv
	[ "$(input_scale --data=a.csv)" = 10.000 ]
	[ "$(input_scale --data=a.csv --ranges=minmax)" = 10.000 ]
	[ "$(input_scale --data=a.csv --ranges=moving-average)" = 5.000 ]
	# the samples of a sequence count as one
	[ "$(input_scale --data=a.csv --ranges=moving-average --frames=2)" = 7.000 ]
	[ "$(input_scale --data=a.csv --ranges=percentile)" = 10.000 ]
	# One value of 40,000 is far out.  Percentile clips the value.  For mse, a range r has
	# the error 40000 / 12 * (r / 255)^2 + (1000 - r)^2, which is least for 951.
	awk 'BEGIN { for (i = 0; i < 40000; i++) print i == 7 ? 1000 : (i * 7919 % 1000) / 1000 }' >b.csv
	[ "$(input_scale --data=b.csv)" = 1000.000 ]
	input_scale --data=b.csv --ranges=percentile | awk '$1 > 3 || $1 < 0.4 { exit 1 }'
	input_scale --data=b.csv --ranges=mse | awk '$1 < 940 || $1 > 962 { exit 1 }'
	# a quarter of the values near 0 and rare ones out to 4: mse clips some of these
	awk 'BEGIN { for (i = 0; i < 400000; i++) print i % 20000 == 7 ? 1 + 3 * (i % 7) / 6 : (i * 7919 % 1000) / 10000 }' >c.csv
	input_scale --data=c.csv --ranges=mse | awk '$1 > 3.99 || $1 < 1 { exit 1 }'
	# 1 of 10,000 values is far out: entropy clips it to keep the steps of the others, and
	# zeros, which any range has, do not count
	for zeros in 1 2; do
		awk -v z=$zeros 'BEGIN { for (i = 0; i < 80000; i++) {
			v = i % 20000 == 0 ? 8 : 1 - ((i * 7919 % 1000) / 1000) ^ 2
			print (i % z ? 0 : v) } }' >d.csv
		input_scale --data=d.csv --ranges=entropy | awk '$1 > 1.1 || $1 < 0.9 { exit 1 }'
		[ "$(input_scale --data=d.csv)" = 8.000 ]
	done
	# no value is far out: an even distribution keeps its range
	awk 'BEGIN { for (i = 0; i < 80000; i++) print (i * 7919 % 2048) / 2047 }' >e.csv
	input_scale --data=e.csv --ranges=entropy | awk '$1 < 0.99 { exit 1 }'
	for m in moving-average percentile mse entropy; do
		tfl-quantize -j1 --ranges=$m --data="$TOP/tests/models/digits" --range=0,1 -o 1.tflite "$digits"
		tfl-quantize -j3 --ranges=$m --data="$TOP/tests/models/digits" --range=0,1 "$digits" |
			cmp - 1.tflite
		tfl-quantcheck --strict -q 1.tflite
	done
}

@test "--fold: constants and RELU become part of the operator before" {
	# (x * w + b) * [2 0.5] + [1 1] - 2, then RELU
	float_fc m '.operator_codes += [18,0,41,19 | {deprecated_builtin_code:.,builtin_code:.}]
		| .buffers += [f("2 0.5"), f("1 1"), f("2") | {data:.}]
		| .subgraphs[0].tensors += [{shape:[2],type:0,buffer:3,name:"m"},{shape:[1,2],type:0,buffer:4,name:"a"},
			{shape:[],type:0,buffer:5,name:"s",has_rank:true}] +
			[range(4) | {shape:[1,2],type:0,name:"y\(.)"}]
		| .subgraphs[0].operators += [
			{opcode_index:1,inputs:[3,4],outputs:[7],builtin_options_type:21,builtin_options:{}},
			{opcode_index:2,inputs:[5,7],outputs:[8],builtin_options_type:11,builtin_options:{}},
			{opcode_index:3,inputs:[8,6],outputs:[9],builtin_options_type:28,builtin_options:{}},
			{opcode_index:4,inputs:[9],outputs:[10]}]
		| .subgraphs[0].outputs = [10]'
	printf '%s\n' '1 0 0 0' '0 0 0 1' '0 0 1 0' >a.csv
	echo 1 0 0 0 >one.csv
	for fold in all none; do
		tfl-quantize --fold=$fold --per-channel-fc --data=a.csv -o $fold.tflite m.tflite
		tfl-quantcheck --strict -q $fold.tflite
		mkinput --format=npy -o in.npy $fold.tflite one.csv
		npu-sim -i in.npy -o $fold $fold.tflite
	done
	json all.tflite
	jq -e '.subgraphs[0].operators | length == 1' all.json
	# the largest output is (127 + 1) * 2 - 1 = 255: weights of 254 and 0.5
	tfl-quantcheck all.tflite | grep -q '^output 0: INT8 \[1,2\] scale 1 zero point -128'
	od -An -td1 -j128 all/output_0.npy | tr -s ' ' >got
	[ "$(cat got)" = " 127 -128" ]
	cmp all/output_0.npy none/output_0.npy
	# nobody folds into a tensor that is read twice
	two m '.subgraphs[0].outputs = [10,3]'
	tfl-quantize --data=a.csv -o q.tflite two.tflite
	json q.tflite
	jq -e '.subgraphs[0].operators | length == 4' q.json
}

# add_op MODEL CODE: the operator CODE after the last operator of MODEL.tflite
add_op()
{
	flatc --json --raw-binary --strict-json "$TOP/tests/models/tflite.fbs" -- "$1.tflite" &&
		jq "$t += [{shape:[1,2],type:0,name:\"after$2\"}]
		| .operator_codes += [{deprecated_builtin_code:([$2,127] | min),builtin_code:$2}]
		| .subgraphs[0].operators += [{opcode_index:(.operator_codes | length - 1),
			inputs:.subgraphs[0].operators[-1].outputs,outputs:[$t | length - 1]}]
		| .subgraphs[0].outputs = [$t | length - 1]" "$1.json" >"$1-next.json" &&
		mv "$1-next.json" "$1.json" &&
		flatc -b --strict-json "$TOP/tests/models/tflite.fbs" "$1.json"
}

@test "--allow keeps operators without an integer version in float" {
	local random=(tfl-quantize --random) sqrt=75 abs=101 sin=66 relu=19
	float_fc m
	for code in $abs $sqrt $relu; do
		add_op m $code
	done
	refuses 2 'operator 2 (SQRT): no integer version of this float operator is known (--allow keeps it in float)' \
		"${random[@]}" m.tflite
	refuses 2 'operator 2 (SQRT)' "${random[@]}" --allow=SIN,SQR m.tflite
	for allow in --allow --allow=SQRT --allow=SIN,SQRT; do
		"${random[@]}" $allow -o q.tflite m.tflite
		tfl-quantcheck --strict -q --allow=float-operator q.tflite
		json q.tflite
		# FULLY_CONNECTED ABS DEQUANTIZE SQRT QUANTIZE RELU
		[ "$(jq -c '[.operator_codes as $c | .subgraphs[0].operators[]
			| $c[.opcode_index // 0].builtin_code]' q.json)" = "[9,101,6,75,114,19]" ]
		compiles q.tflite ethos-u55-128 --allow=float-operator
	done
	# nobody knows the range of SIN: what reads it stays float, too
	float_fc s
	add_op s $abs
	add_op s $sin
	add_op s $relu
	refuses 2 'operator 3 (RELU): reads integers or values' "${random[@]}" --allow=SIN s.tflite
	"${random[@]}" --allow -o q.tflite s.tflite
	json q.tflite
	[ "$(jq -c '[.operator_codes as $c | .subgraphs[0].operators[]
		| $c[.opcode_index // 0].builtin_code]' q.json)" = "[9,101,6,66,19]" ]
	# an operator without an INT16 version
	float_fc h
	add_op h 117 # HARD_SWISH
	refuses 2 'operator 1 (HARD_SWISH): has no INT16 version' "${random[@]}" --type=int16x8 h.tflite
	"${random[@]}" --type=int16x8 --allow -o q.tflite h.tflite
	tfl-quantcheck --strict -q --allow=float-operator --allow=interface-float q.tflite
}

@test "a line tells the noise and the accuracy on samples of all parts of the data, or on all that have --labels" {
	local data=(tfl-quantize --data="$TOP/tests/models/digits" "--range=0,1") db
	"${data[@]}" --report -o q.tflite "$digits" 2>report
	db=$(sed -n 's/^output 0: signal to noise *\([0-9.]*\) dB$/\1/p' report)
	"${data[@]}" -o q.tflite "$digits" 2>err
	[ "$(<err)" = "tfl-quantize: note: on 10 calibration samples: signal to quantization noise $db dB; --report has more" ]
	"${data[@]}" -q -o quiet.tflite "$digits" 2>err
	[ ! -s err ]
	cmp quiet.tflite q.tflite
	for d in 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2; do
		echo "$TOP/tests/models/digits/digit-$d.pgm $((d == 7 ? 8 : d))" >>list
		echo $((d == 7 ? 8 : d)) >>labels
	done
	tfl-quantize --data=list --range=0,1 -o q.tflite "$digits" 2>err
	grep -q "on 20 of 23 calibration samples: .* dB; right answers 90.00 %, of the float model 90.00 %; --report" err
	# one label of ten is wrong, wherever it is
	for d in {0..99}; do
		echo "$TOP/tests/models/digits/digit-$((d / 10)).pgm $((d / 10 == 9 ? 8 : d / 10))"
	done >long
	for d in 1 3; do
		tfl-quantize --data=long --range=0,1 -j$d -o q.tflite "$digits" 2>err
		grep -q "on 20 of 100 calibration samples: .*; right answers 90.00 %, of the float model 90.00 %" err
	done
	# sequences are whole
	tfl-quantize --data=long --range=0,1 --frames=8 -o q.tflite "$digits" 2>err
	grep -q "on 16 of 100 calibration samples: " err
	tfl-quantize --data=long --range=0,1 --frames=30 -o q.tflite "$digits" 2>err
	grep -q "on 30 of 100 calibration samples: " err
	tfl-quantize --data=list --labels=labels --range=0,1 -j1 -o q.tflite "$digits" 2>err
	grep -q "on 23 calibration samples: .* dB; right answers 91.30 %, of the float model 91.30 %; --report" err
	tfl-quantize --data=list --labels=labels --range=0,1 -j3 -o q.tflite "$digits" 2>&1 | cmp - err
	npucc --part=alif-e7-he --quantize=list --range=0,1 -o x.tflite "$digits" 2>err
	grep -q '^tfl-quantize: note: on 20 of 23 calibration samples: signal to quantization noise ' err
	npucc -q --part=alif-e7-he --quantize=list --range=0,1 -o x.tflite "$digits" 2>err
	[ ! -s err ]
}

@test "--report and --json: ranges, clipping, noise, accuracy and advice" {
	need jq
	local data=(tfl-quantize --data="$TOP/tests/models/digits" "--range=0,1")
	"${data[@]}" -o want.tflite "$digits"
	"${data[@]}" --report -o q.tflite "$digits" >out 2>err
	cmp q.tflite want.tflite
	[ ! -s out ]
	grep -q '^answers: 10 of 10 are equal$' err
	[ "$(grep -A3 'cost most' err | grep -c -- '--keep-int16=')" = 3 ]
	# a name that a shell would cut is quoted; npucc takes the option, too
	sed 's/pw2/p;2/g' "$digits" >shell.tflite
	"${data[@]}" --report -o shell16.tflite shell.tflite 2>err16
	grep -q -- "--keep-int16='p;2'" err16
	"${data[@]}" --keep-int16=pw2 -o 16.tflite "$digits"
	npucc --part=alif-e7-hp -o want16.tflite 16.tflite
	npucc --part=alif-e7-hp --quantize="${data[1]#*=}" --range=0,1 --keep-int16=pw2 -o got16.tflite "$digits"
	cmp got16.tflite want16.tflite
	"${data[@]}" --json -o q.tflite "$digits" >report
	cmp q.tflite want.tflite
	jq -e '.samples == 10 and .labels == 0 and .accuracy == null and .equal_answers == 10
		and (.tensors | length == 14) and (.operators | length == 13) and (.worst | length == 3)
		and ([.worst[].own_snr_db] == ([.operators[].own_snr_db | numbers] | sort[:3]))
		and ([.operators[].snr_db | select(. < 20)] == [])' report
	# scales and types of the report are those of the model
	tfl-quantcheck q.tflite >check
	[ "$(jq -r '.tensors[] | "\(.tensor) \(.type) \(.zero_point) \(.name)"' report | sort)" = \
		"$(awk '$2 == "INT8" && ($NF in names) { print $1, $2, $5, $NF }
			FNR == NR { names[$1] }' <(jq -r '.tensors[].name' report) check | sort)" ]
	# in the order of the network: the input, then the operators' outputs
	diff <(jq -r '.tensors[1:][].name' report) <(jq -r '.operators[].tensor_name' report)
	json "$digits"
	jq -r '.subgraphs[0] | .tensors[.inputs[0]].name' digits-float.json | diff <(jq -r '.tensors[0].name' report) -
	diff <(jq -r '.tensors[].name' report) \
		<(sed -n '/clip %/,/^$/s/.* //p' err | sed '1d;/^$/d')
	"${data[@]}" --json -j1 -o q.tflite "$digits" | cmp - report
	"${data[@]}" --json -j3 -o q.tflite "$digits" | cmp - report
	# labels of a list, of a file, and names of classes
	for d in 0 1 2 3 4 5 6 7 8 9; do
		echo "$TOP/tests/models/digits/digit-$d.pgm $d" >>list
		echo "$TOP/tests/models/digits/digit-$d.pgm d$d" >>names
		echo $d >>labels
		echo "$(((d + 1) % 10))" >>wrong
	done
	for labels in --data=list --data=names "--data=$TOP/tests/models/digits --labels=labels"; do
		tfl-quantize $labels --range=0,1 --json -o q.tflite "$digits" >report
		jq -e '.labels == 10 and .accuracy == {float: 1, integer: 1}' report
		cmp q.tflite want.tflite
	done
	"${data[@]}" --labels=wrong --json -o q.tflite "$digits" >report
	jq -e '.accuracy == {float: 0, integer: 0}' report
	echo 1 >>wrong
	refuses 2 'wrong: error: has 11 labels, but there are 10 samples' \
		"${data[@]}" --labels=wrong --report -o x.tflite "$digits"
	sed -i '$d; s/^3/33/' wrong
	refuses 2 'label 33 of sample 2, but output 0 has 10 values' \
		"${data[@]}" --labels=wrong --report -o x.tflite "$digits"
	[ ! -e x.tflite ]
	refuses 2 'name the file of the model with -o FILE' "${data[@]}" --json "$digits"
}

@test "samples that cannot give ranges of any use are warned of" {
	local d run=(tfl-quantize -o q.tflite "$digits")
	for d in {0..9}; do
		echo "$TOP/tests/models/digits/digit-$d.pgm $d" >>list
	done
	"${run[@]}" --data=list --range=1,0 2>err
	grep -q 'warning: .*: 0.00 % of the float model.s answers are right, and 10 % would be by chance: check --range' err
	"${run[@]}" --data=list --range=0,1 2>err
	run -1 grep warning err
	"${run[@]}" --data=list --range=0,0 2>err
	grep -q 'warning: .*: input picture is 0 in all samples: the ranges are of no use' err
	"${run[@]}" --data="$TOP/tests/models/digits/digit-1.pgm" --range=0,1 2>err
	grep -q 'warning: .*: the ranges are those of one sample' err
	[ "$(grep -c warning err)" = 1 ]
	"${run[@]}" -q --data="$TOP/tests/models/digits/digit-1.pgm" --range=0,0 2>err
	[ ! -s err ]
}

@test "names of classes that are fewer than the network's are warned of" {
	local d run=(tfl-quantize "--range=0,1" -o q.tflite "$digits")
	mkdir -p few/one few/seven all
	cp "$TOP/tests/models/digits/digit-1.pgm" few/one
	cp "$TOP/tests/models/digits/digit-7.pgm" few/seven
	"${run[@]}" --data=few 2>err
	grep -q 'warning: .*: the samples have 2 names of classes, and output 0 has 10 values: name i is taken for class i' err
	echo -e '1\n7' >labels
	"${run[@]}" --data=few --labels=labels 2>err
	run -1 grep warning err
	grep -q 'right answers 100.00 %' err
	# names of all classes, and numbers of some
	for d in {0..9}; do
		mkdir "all/d$d"
		cp "$TOP/tests/models/digits/digit-$d.pgm" "all/d$d"
	done
	mv few/one few/1
	mv few/seven few/7
	for d in all few; do
		"${run[@]}" --data=$d 2>err
		run -1 grep warning err
		grep -q 'right answers 100.00 %' err
	done
}

@test "--test measures on samples that gave no range" {
	need jq
	local d digits_of=$TOP/tests/models/digits
	mkdir data test
	for d in 0 1 2 3 4; do
		cp "$digits_of/digit-$d.pgm" data
		echo "$digits_of/digit-$((d + 5)).pgm $((d + 5))" >>list
		echo "$((d == 0 ? 6 : d + 5))" >>labels
		cp "$digits_of/digit-$((d + 5)).pgm" test
	done
	tfl-quantize --data=data --range=0,1 --json -o want.tflite "$digits" >calibration 2>err
	grep -q 'note: on 5 calibration samples: ' err
	jq -e '.held_out == false and .accuracy == null' calibration
	tfl-quantize --data=data --test=list --range=0,1 --json -o q.tflite "$digits" >report 2>err
	cmp want.tflite q.tflite
	grep -q 'note: on 5 samples of --test: .* dB; right answers 100.00 %, of the float model 100.00 %' err
	jq -e '.held_out and .samples == 5 and .labels == 5' report
	[ "$(jq .outputs report)" != "$(jq .outputs calibration)" ]
	tfl-quantize --data=data --test=0=test --labels=labels --range=0,1 --accuracy=0 --report -o q.tflite \
		"$digits" 2>err
	grep -q ': 5 samples of --test$' err
	grep -q '^accuracy: 80.00 % of 5 labels by the float network, 80.00 % by the integer network$' err
	tfl-quantize --data=data --range=0,1 --report -o q.tflite "$digits" 2>err
	grep -q ': 5 samples of calibration; --test=PATH reads others$' err
	refuses 2 '--random excludes --data and --test' tfl-quantize --random --test=test -o x.tflite "$digits"
	refuses 2 '--test=1=test: the model has 1 input' \
		tfl-quantize --data=data --test=1=test --range=0,1 -q --json -o x.tflite "$digits"
}

@test "answers are those of one vector of classes, or of samples with labels" {
	need jq
	local relu=19 logistic=14 n case op shape none some
	awk 'BEGIN { for (i = 0; i < 24; i++) print i * i % 11 - 2 }' >a.csv
	# operator, shape of the output, equal answers without labels and with labels
	for case in $relu,[1,8],3,3 $relu,[1,1,8],3,3 $relu,[8],3,3 $relu,[1,8,1],null,3 \
		$relu,[1,1],null,24 $logistic,[1,1],24,24; do
		op=${case%%,*} shape=${case#*,} some=${case##*,}
		shape=${shape%%]*}] none=${case%,*}
		none=${none##*,}
		graph m "$shape" '[]' "[[$op,[0],$shape]]"
		yes 1 | head -n "$some" >labels
		tfl-quantize --data=a.csv --json -o q.tflite m.tflite >report
		jq -e ".equal_answers == $none and .accuracy == null" report ||
			{ echo "$case"; cat report; false; }
		tfl-quantize --data=a.csv --labels=labels --json -o q.tflite m.tflite >report
		jq -e ".equal_answers == $some and .labels == $some and .accuracy.float == .accuracy.integer" report ||
			{ echo "$case"; cat report; false; }
		tfl-quantize --data=a.csv --report -o q.tflite m.tflite 2>text
		[ "$(grep -c '^answers: ' text)" = "$([ "$none" = null ] && echo 0 || echo 1)" ]
	done
	# a map of vectors, as of a detector: no answers, whatever the data say
	graph m '[1,2,2,2]' '[]' "[[$relu,[0],[1,2,2,2]]]"
	printf '%s\n' 1 1 1 >labels
	head -n 8 a.csv >b.csv
	printf '%s 1\n' b.csv b.csv >list
	for data in a.csv list; do
		tfl-quantize --data=$data --json --report -o q.tflite m.tflite >report 2>text
		jq -e '.equal_answers == null and .accuracy == null and .labels == 0 and (.outputs | length == 1)
			and .outputs[0].output == 0 and .outputs[0].name == "y0_0" and .outputs[0].snr_db > 30' report
		run ! grep -E 'answers|accuracy' text
		grep -qx "output 0: signal to noise  *$(jq '.outputs[0].snr_db * 10 | round / 10' report) dB" text
		tfl-quantize --data=$data -o q.tflite m.tflite 2>text
		run ! grep answers text
	done
	refuses 2 'labels: error: the labels are classes, but output 0 of shape [1,2,2,2] is not one vector of classes' \
		tfl-quantize --data=a.csv --labels=labels --report -o x.tflite m.tflite
	[ ! -e x.tflite ]
}

@test "--report: clipped values, and weights that need a scale per channel" {
	need jq
	float_fc m '.buffers[1].data = f("127 0 0 0 0 0.5 0 0")'
	awk 'BEGIN { for (i = 0; i < 1000; i++) print i % 90 / 90, i % 7 / 7, 0, 0 }' >a.csv
	tfl-quantize --data=a.csv --json -o q.tflite m.tflite >report
	jq -e '.worst[0].help == "--per-channel-fc: the weights of the channels differ by 254 to 1"' report
	jq -e '.tensors | map(.clipped) == [0, 0]' report
	tfl-quantize --data=a.csv --json --per-channel-fc -o q.tflite m.tflite >better
	jq -s -e '.[0].worst[0].own_snr_db < .[1].worst[0].own_snr_db' report better
	# percentile clips 1 of 20,000 at each end, and one large value of 4 * 40,000
	awk 'BEGIN { for (i = 0; i < 40000; i++) print i == 7 ? 1000 : i % 90 / 90, 0, 0, 0 }' >b.csv
	tfl-quantize --data=b.csv --ranges=percentile --json -o q.tflite m.tflite >report
	jq -e '.tensors[0] | .clipped * .values == 1 and .greatest == 1000 and .scale < 0.1' report
	jq -e '[.tensors[] | .used | select(. > 1)] == []' report
	# the mean of the greatest values, 1 and 3 by turns, clips a half
	awk 'BEGIN { for (i = 0; i < 50; i++) print i % 2 ? 1 : 3, 0, 0, 0 }' >c.csv
	tfl-quantize --data=c.csv --ranges=moving-average --per-channel-fc --json -o q.tflite m.tflite >report
	jq -e '.tensors[-1] | .clipped == 0.25' report
	jq -e '.worst[0].help == "--ranges=minmax: 25 % of the values are clipped"' report
	tfl-quantize --data=c.csv --ranges=minmax --per-channel-fc --json -o q.tflite m.tflite >report
	jq -e '[.tensors[] | .clipped > 0 or .used > 1] | any | not' report
}

@test "--report: 1.0 is one step beyond a fixed scale, and not clipped" {
	need jq
	local softmax=25 logistic=14 tanh=28 log_softmax=50 case
	# one of two values is 1.0; the scale is that of the specification
	awk 'BEGIN { for (i = 0; i < 50; i++) print 500, i % 2 ? -500 : 500 }' >a.csv
	for case in "1/256 $softmax,[0],[1,2],1,9,{beta:1}" "1/256 $logistic,[0],[1,2]" "1/128 $tanh,[0],[1,2]"; do
		graph m '[1,2]' '[]' "[[${case#* }]]"
		tfl-quantize --data=a.csv --json -o q.tflite m.tflite >report
		jq -e ".tensors[-1] | .greatest == 1 and .scale == ${case%% *} and .clipped == 0 and .used <= 1" report
	done
	# what is further beyond is clipped, and no option mends a fixed scale
	graph m '[1,2]' '[]' "[[$log_softmax,[0],[1,2]]]"
	tfl-quantize --data=a.csv --ranges=moving-average --json -o q.tflite m.tflite >report
	jq -e '.tensors[-1] | .least < -400 and .clipped == 0.25' report
	jq -e '.worst | map(select(.name == "LOG_SOFTMAX"))[0].help == ""' report
}

# out[0] is -127 a - b and out[1] is -127 a: a small b decides
narrow_answer()
{
	float_fc n '.buffers[1].data = f("127 1 0 0 127 0 0 0") | .buffers[2].data = f("0 0")
		| .operator_codes += [{deprecated_builtin_code:59,builtin_code:59}]
		| .subgraphs[0].tensors += [{shape:[1,4],type:0,name:"minus"}]
		| .subgraphs[0].operators[0].inputs[0] = 4
		| .subgraphs[0].operators = [{opcode_index:1,inputs:[0],outputs:[4]}] + .subgraphs[0].operators'
	awk 'BEGIN { for (i = 0; i < 60; i++) print i / 30 - 1, i % 3 ? 0.3 : -0.3, 0, 0 }' >n.csv
	awk 'BEGIN { for (i = 0; i < 60; i++) print i % 3 ? 1 : 0 }' >n.labels
}

@test "--accuracy: the fewest operators in 16 bits" {
	need jq
	narrow_answer
	local data=(tfl-quantize --data=n.csv --labels=n.labels)
	"${data[@]}" --json -o q8.tflite n.tflite >report
	jq -e '.accuracy | .float == 1 and .integer < 0.9' report
	# the operator that writes tensor 4 is before that of tensor 3
	jq -e '[.tensors[].name] == ["in", "minus", "out"]' report
	"${data[@]}" --accuracy=0.5% --json -o q.tflite n.tflite >report 2>err
	grep -q 'a loss of 0 % with 1 of 2 operators in 16 bits: 1 (FULLY_CONNECTED)' err
	jq -e '.accuracy.integer == 1 and [.operators[].type] == ["int8", "int16"]' report
	tfl-quantcheck --strict -q q.tflite
	compiles q.tflite ethos-u55-128
	# an output has the type of the operator that writes it; NEG reads INT8
	tfl-quantcheck q.tflite | grep -q '^output 0: INT16'
	tfl-quantcheck q.tflite | grep -q '^input 0: INT8'
	tfl-quantize --data=n.csv --accuracy=0.5 n.tflite | cmp - q.tflite	# against the float network
	"${data[@]}" --keep-int16=FULLY_* n.tflite | cmp - q.tflite
	"${data[@]}" --keep-int16=out n.tflite | cmp - q.tflite
	"${data[@]}" --accuracy=100% n.tflite | cmp - q8.tflite
	# both operators: nothing is left of INT8 but the weights
	"${data[@]}" --keep-int16=NEG --keep-int16=out n.tflite >both.tflite
	tfl-quantize --data=n.csv --type=int16x8 n.tflite | cmp - both.tflite
	for o in --keep-int16=minus --keep-int16='*'; do
		"${data[@]}" $o -o q.tflite n.tflite
		tfl-quantcheck --strict -q q.tflite
		compiles q.tflite ethos-u65-256
	done
	# -j does not change the choice
	for j in 1 3; do
		"${data[@]}" -j$j --accuracy=0.5% n.tflite | cmp - <("${data[@]}" --keep-int16=out n.tflite)
	done
}

@test "--accuracy and --keep-int16 refuse what they cannot do" {
	narrow_answer
	local data=(tfl-quantize --data=n.csv)
	refuses 2 '--keep-int16=lost: no operator or tensor has this name' "${data[@]}" --keep-int16=lost n.tflite
	refuses 2 'excludes --keep-int16' "${data[@]}" --type=int16x8 --keep-int16=out n.tflite
	for bad in x 101 -1 1%% ''; do
		refuses 2 'accuracy' "${data[@]}" "--accuracy=$bad" n.tflite
	done
	add_op n 117 # HARD_SWISH, which needs INT8
	refuses 2 'operator 2 (HARD_SWISH) has no INT16 version' "${data[@]}" --keep-int16=HARD_SWISH n.tflite
	refuses 1 'no choice of operators in 16 bits keeps the loss below 0.5 %' \
		"${data[@]}" --accuracy=0.5% -o q.tflite n.tflite
	[ ! -e q.tflite ]
}

@test "--accuracy refuses a network whose output has no answers, and says what to do" {
	local relu=19 logistic=14
	awk 'BEGIN { for (i = 0; i < 24; i++) print i * i % 11 - 2 }' >a.csv
	graph map '[1,2,2,2]' '[]' "[[$relu,[0],[1,2,2,2]]]"
	refuses 2 '--accuracy counts right answers, but output 0 of shape [1,2,2,2] is not one vector of classes: choose the operators by their noise, which --report shows, with --keep-int16=PATTERN' \
		tfl-quantize --data=a.csv --accuracy=5% -o q.tflite map.tflite
	[ "$(wc -l <refuses.err)" = 1 ]
	refuses 2 'with --keep-int16=PATTERN' \
		npucc --part=alif-e7-he --quantize=a.csv -X tfl-quantize:--accuracy=5% -o q.tflite map.tflite
	accepts refuses.err
	# before the samples count
	seq 3 >labels
	refuses 2 'is not one vector of classes' \
		tfl-quantize --data=a.csv --labels=labels --accuracy=5% -o q.tflite map.tflite
	graph one '[1,1]' '[]' "[[$relu,[0],[1,1]]]"
	refuses 2 'which an output of shape [1,1] has only for samples with labels: use --labels=FILE, or --keep-int16=PATTERN' \
		tfl-quantize --data=a.csv --accuracy=5% -o q.tflite one.tflite
	[ ! -e q.tflite ]
	awk '{ print ($1 > 0.5) }' a.csv >labels
	tfl-quantize --data=a.csv --labels=labels --accuracy=0% -o q.tflite one.tflite
	graph one '[1,1]' '[]' "[[$logistic,[0],[1,1]]]"
	tfl-quantize --data=a.csv --accuracy=5% -o q.tflite one.tflite
}

@test "--bias-correction: the mean error of the rounded weights goes into the bias" {
	# weights in steps of 1: 0.5 becomes 1, and the input there is always 1
	float_fc m '.buffers[1].data = f("127 0.5 0 0 2 1 1 127")'
	printf '%s\n' '0 1 0 0' '1 1 0 0' >a.csv
	tfl-quantize --data=a.csv -o plain.tflite m.tflite
	tfl-quantize --data=a.csv --bias-correction -o q.tflite m.tflite
	json plain.tflite
	json q.tflite
	# biases of 1 and -1 in steps of 1 / 255; 0.5 is 127.5 steps
	jq -e '[.buffers[].data // empty] | index([[255,0,0,0,1,255,255,255]]) != null' plain.json
	jq -e '[.buffers[].data // empty] | (index([[128,0,0,0,1,255,255,255]]) //
		index([[127,0,0,0,1,255,255,255]])) != null' q.json
	# a layer without a bias gets one
	float_fc n '.buffers[1].data = f("127 0.5 0 0 2 1 1 127") | .subgraphs[0].operators[0].inputs = [0,1]'
	tfl-quantize --data=a.csv --bias-correction -o q.tflite n.tflite
	tfl-quantcheck --strict -q q.tflite
	json q.tflite
	jq -e '[.buffers[].data // empty] | (index([[128,255,255,255,0,0,0,0]]) //
		index([[129,255,255,255,0,0,0,0]])) != null' q.json
	for j in 1 3; do
		tfl-quantize -j$j --bias-correction --data="$TOP/tests/models/digits" --range=0,1 -o $j "$digits"
	done
	cmp 1 3
}

@test "--equalize: layers with ranges that differ by channel lose less, and the float network is the same" {
	need jq
	# channel 0: large weights, then small ones; channel 1: small weights, then large ones
	for act in 0 1 3; do # none, RELU, RELU6
		float_fc m ".buffers[1].data = f(\"127 0 0 0 0 0.5 0 0\") | .buffers[2].data = f(\"0 0\")
			| .buffers += [{data:f(\"0.5 127 0.5 -1\")}]
			| .subgraphs[0].tensors += [{shape:[2,2],type:0,buffer:3,name:\"next\"},
				{shape:[1,2],type:0,name:\"end\"}]
			| .subgraphs[0].operators[0].builtin_options.fused_activation_function = $act
			| .subgraphs[0].operators += [{opcode_index:0,inputs:[3,4,-1],outputs:[5],
				builtin_options_type:8,builtin_options:{}}]
			| .subgraphs[0].outputs = [5]"
		awk 'BEGIN { for (i = 0; i < 100; i++) print i % 11 / 11, i % 7 / 7, 0, 0 }' >a.csv
		tfl-quantize --data=a.csv --json -o q.tflite m.tflite >plain
		tfl-quantize --data=a.csv --json --equalize -o q.tflite m.tflite >equal
		tfl-quantcheck --strict -q q.tflite
		if [ $act = 3 ]; then
			cmp plain equal # a limit of 6 is no multiple
			continue
		fi
		jq -s -e 'map(.operators[1].snr_db) | .[0] + 6 < .[1]' plain equal
		jq -s -e 'map(.tensors[] | select(.name == "end") | .least, .greatest) | .[0:2] == .[2:4]' plain equal
	done
	tfl-quantize --equalize --data="$TOP/tests/models/digits" --range=0,1 --json -o q.tflite "$digits" >report
	jq -e '.equal_answers == 10' report
	tfl-quantcheck --strict -q q.tflite
}

# chain NAME OP...: FULLY_CONNECTED of 4 inputs and 2 outputs, then these operators.  OP is
# CODE:INPUT[,INPUT][:ACTIVATION]; an input is a number of f(), or the number of an earlier
# operator as #N; #0 is FULLY_CONNECTED
chain()
{
	local name=$1 op code in act i=0 jq='.buffers[1].data = f("2 1 0 0 0 1 -1 0") | .buffers[2].data = f("0 0")'
	local at=3 list n
	shift
	for op in "$@"; do
		IFS=: read -r code in act <<<"$op"
		list=
		for n in ${in//,/ }; do
			case $n in
			'#0') list+=,3 ;;
			'#'*) list+=,$((2 * (${n#?} - 1) + 5)) ;;
			*) list+=,$((2 * i + 4)) ;;
			esac
		done
		i=$((i + 1))
		n=$(tr ' ,' '\n\n' <<<"$in" | grep -v '#' || echo 0)
		at=$((2 * i + 3))
		jq+=" | .buffers += [{data:f(\"$n\")}] | .subgraphs[0].tensors += [
			{shape:[],type:0,buffer:$((i + 2)),name:\"c$i\",has_rank:true},
			{shape:[1,2],type:0,name:\"y$i\"}]
			| .operator_codes += [{deprecated_builtin_code:([$code,127] | min),builtin_code:$code}]
			| .subgraphs[0].operators += [{opcode_index:$i,inputs:[${list#,}],outputs:[$at]}
				+ if [$code] | inside([0,18,41,42]) then {
					builtin_options_type:({\"0\":11,\"18\":21,\"41\":28,\"42\":29}[\"$code\"]),
					builtin_options:{fused_activation_function:${act:-0}}} else {} end]
			| .subgraphs[0].outputs = [$at]"
	done
	float_fc "$name" "$jq"
}

# codes MODEL: builtin operators of MODEL.tflite in order
codes()
{
	json "$1.tflite" && jq -c '[.operator_codes as $c | .subgraphs[0].operators[]
		| $c[.opcode_index // 0].builtin_code]' "$1.json"
}

@test "chains of elementwise operators that compute HARD_SWISH or GELU become one operator" {
	local add=0 mul=18 div=42 relu6=21 tanh=28 pow=78
	chain swish1 $add:#0,3:3 $mul:#1,1/6 $mul:#0,#2
	chain swish2 $add:3,#0 $relu6:#1 $mul:#2,#0 $div:#3,6
	chain gelu1 $pow:#0,3 $mul:#1,0.044715 $add:#0,#2 $mul:#3,0.79788 $tanh:#4 $add:#5,1 \
		$mul:#6,0.5 $mul:#0,#7
	chain gelu2 $mul:#0,#0 $mul:#1,#0 $mul:0.044715,#2 $add:#3,#0 $mul:#4,0.79788 $tanh:#5 \
		$add:1,#6 $mul:#0,#7 $mul:#8,0.5
	awk 'BEGIN { for (i = 0; i < 100; i++) print i % 11 - 5, i % 7 / 7, 0, 0 }' >a.csv
	for m in swish1 swish2 gelu1 gelu2; do
		tfl-quantize --data=a.csv --json -o q.tflite $m.tflite >new
		[ "$(codes q)" = "[9,$([ ${m%?} = gelu ] && echo 150 || echo 117)]" ]
		tfl-quantcheck --strict -q q.tflite
		compiles q.tflite ethos-u55-128
		tfl-quantize --data=a.csv --fold=none --json -o none.tflite $m.tflite >old ||
			[ $m = gelu1 ] # POW has no integer version
		[ $m = gelu1 ] || jq -s -e 'map([.tensors[].greatest] | last) | .[0] - .[1] | fabs < 1e-4' new old
	done
	# INT16 has neither of these operators
	tfl-quantize --data=a.csv --type=int16x8 -o q.tflite swish2.tflite
	[ "$(codes q)" = "[9,0,21,18,18]" ] || [ "$(codes q)" = "[9,0,18,18]" ]
	# a wrong constant, and a value inside that is an output of the network
	chain near $add:#0,2:3 $mul:#1,1/6 $mul:#0,#2
	tfl-quantize --data=a.csv -o q.tflite near.tflite
	[ "$(codes q)" = "[9,0,18,18]" ]
	two swish1 '.subgraphs[0].outputs += [.subgraphs[0].operators[2].outputs[0]]'
	tfl-quantize --data=a.csv -o q.tflite two.tflite
	[ "$(codes q)" = "[9,0,18,18]" ]
}

# the logarithm of negative numbers is undefined
@test "LOG and RSQRT of positive numbers become INT8 and INT16 models that compile" {
	local exp=47 log=73 rsqrt=76 f
	awk 'BEGIN { for (i = 0; i < 100; i++) print i % 11 / 11, i % 7 / 7, 0, 0 }' >a.csv
	for f in $log $rsqrt; do
		chain m $exp:#0 $f:#1
		for kind in int8 int16x8; do
			tfl-quantize --data=a.csv --type=$kind --json -o q.tflite m.tflite >report
			tfl-quantcheck --strict -q q.tflite
			[ "$(codes q)" = "[9,$exp,$f]" ]
			jq -e '.operators[2].own_snr_db > 30' report
			compiles q.tflite ethos-u55-128
			compiles q.tflite ethos-u85-256
		done
	done
}

# graph NAME SHAPE CONSTANTS OPERATORS: tensor 0 is the input, then constants
# [shape, values of f() or INT32], then the outputs of operators [code, inputs, shape, outputs,
# tag and options]; the last one is the output
graph()
{
	model "$1" "$floats"'def int(v): [v | split(" ")[] | tonumber | (. + 256) % 256, if . < 0 then 255, 255, 255 else 0, 0, 0 end];
		('"$3"') as $c | ('"$4"') as $ops
		| .operator_codes = [$ops[] | {deprecated_builtin_code:([.[0],127] | min),builtin_code:.[0]}]
		| .buffers = [{}] + [$c[] | {data:.[1]}]
		| .subgraphs[0].tensors = [{shape:'"$2"',type:0,name:"in"}]
			+ [$c | to_entries[] | {shape:.value[0],type:(.value[2] // 0),buffer:(.key + 1),name:"c\(.key)",has_rank:true}]
			+ [$ops | to_entries[] | .key as $k | range(.value[3] // 1) as $i
				| {shape:$ops[$k][2],type:0,name:"y\($k)_\($i)"}]
		| .subgraphs[0].operators = ([foreach ($ops | to_entries[]) as $o ([0, ($c | length) + 1];
			[.[1], .[1] + ($o.value[3] // 1)];
			{opcode_index:$o.key,inputs:$o.value[1],outputs:[range(.[0];.[1])]}
				+ if $o.value[4] then {builtin_options_type:$o.value[4],builtin_options:$o.value[5]} else {} end)])
		| .subgraphs[0].inputs = [0] | .subgraphs[0].outputs = [.subgraphs[0].tensors | length - 1]'
}

@test "chains that normalize a layer get operators with integer versions, whatever roots they have" {
	need jq
	local add=0 mul=18 mean=40 div=42 sub=41 sqrt=75 rsqrt=76 pow=78 square=92 difference=99
	local x='[1,4,8]' v='[1,4,1]' axis='[[1],int("2"),2]'
	local c="[$axis, [[],f(\"1e-1\")], [[8],f(\"1 2 3 1 1 0.5 -1 2\")], [[8],f(\"0 0 1 -1 0 0 0.5 0\")],
		[[],f(\"2\")], [[],f(\"0.5\")], [[],f(\"1\")], [[],f(\"-0.5\")]]"
	local floats=${floats/'"1e30"'/'"1e-1": [205,204,204,61], "-0.5": [0,0,0,191], "1e30"'}
	# inputs: 0, axis 1, epsilon 2, factors 3, offsets 4, constants 2 0.5 1 -0.5 in 5 to 8;
	# results: mean 9, then the square of the difference in 11, and the root of 13 in 14
	local begin="[$mean,[0,1],$v,1,27,{keep_dims:true}], [$sub,[0,9],$x,1,28,{}]"
	local middle="[$mean,[11,1],$v,1,27,{keep_dims:true}], [$add,[12,2],$v,1,11,{}]"
	local end="[$mul,[15,3],$x,1,21,{}], [$add,[16,4],$x,1,11,{}]" i=0 q r f
	local result='[40,41,18,40,0,76,18,18,0]'
	for q in "[$square,[10],$x]" "[$pow,[10,5],$x]" "[$mul,[10,10],$x,1,21,{}]" "[$difference,[0,9],$x]"; do
		for r in "[$rsqrt,[13],$v], [$mul,[10,14],$x,1,21,{}]" "[$sqrt,[13],$v], [$div,[10,14],$x,1,29,{}]" \
			"[$pow,[13,6],$v], [$div,[10,14],$x,1,29,{}]" "[$pow,[13,8],$v], [$mul,[14,10],$x,1,21,{}]"; do
			graph n$i "$x" "$c" "[$begin, $q, $middle, $r, $end]"
			i=$((i + 1))
		done
	done
	# 1 / sqrt(x) in two operators
	graph n$i "$x" "$c" "[$begin, [$square,[10],$x], $middle, [$sqrt,[13],$v], [$div,[7,14],$v,1,29,{}],
		[$mul,[15,10],$x,1,21,{}], [$mul,[16,3],$x,1,21,{}], [$add,[17,4],$x,1,11,{}]]"
	awk 'BEGIN { for (i = 0; i < 50; i++) { for (k = 0; k < 32; k++) printf "%g ", (i * 37 + k * k * 11) % 61 / 20 - 1.5; print "" } }' >a.csv
	for f in n?.tflite n??.tflite; do
		tfl-quantize --data=a.csv --json -o q.tflite $f >report
		tfl-quantcheck --strict -q q.tflite
		codes q | sed 's/99/18/; s/\(.*76,18,18\)/\1/' >got
		[ "$(cat got)" = "$result" ] || { echo $f; cat got; false; }
		jq -e '.operators[-1].snr_db > 28' report
	done
	compiles q.tflite ethos-u55-128 --fail-on-cpu
	compiles q.tflite ethos-u85-256 --fail-on-cpu
	tfl-quantize --data=a.csv --type=int16x8 --json -o q.tflite n1.tflite >report
	tfl-quantcheck --strict -q q.tflite
	jq -e '.operators[-1].snr_db | ., . > 50' report
	# the root is read twice, or is an output
	graph two "$x" "$c" "[$begin, [$square,[10],$x], $middle, [$sqrt,[13],$v], [$div,[10,14],$x,1,29,{}],
		[$mul,[15,14],$x,1,21,{}]]"
	refuses 2 'operator 5 (SQRT): no integer version' tfl-quantize --data=a.csv two.tflite
}

# emit OPERATOR [N]: adds an operator of graph() with N outputs to `ops`; `last` is its first output
emit()
{
	ops+="${ops:+,}[$1]"
	last=$next
	next=$((next + ${2-1}))
}

# layer WEIGHTS X...: the steps of an LSTM of two units as Keras unrolls them; sets hs to their
# outputs and c to the last cell state.  Constants: axes 1 and 2, zeros 3, recurrent weights 4, bias 5
layer()
{
	local w=$1 h=3 x z g tanh
	shift
	c=3 hs=()
	for x; do
		emit "9,[$x,$w,-1],[1,8],1,8,{}" && z=$last
		emit "9,[$h,4,-1],[1,8],1,8,{}"
		emit "0,[$last,$z],[1,8],1,11,{}"
		emit "0,[$last,5],[1,8],1,11,{}"
		emit "49,[2,$last],[1,2],4,35,{num_splits:4}" 4 && g=$last
		emit "14,[$g],[1,2]"
		emit "28,[$((g + 2))],[1,2]"
		emit "18,[$((last - 1)),$last],[1,2],1,21,{}" && z=$last
		emit "14,[$((g + 1))],[1,2]"
		emit "18,[$last,$c],[1,2],1,21,{}"
		emit "0,[$last,$z],[1,2],1,11,{}" && c=$last
		emit "28,[$c],[1,2]" && tanh=$last
		emit "14,[$((g + 3))],[1,2]"
		emit "18,[$tanh,$last],[1,2],1,21,{}" && h=$last
		hs+=("$h")
	done
}

# unrolled NAME [X...]: SPLIT of [4,4] into tensors 8 to 11, and an LSTM of the steps X.  cut: other
# operators that cut the sequence, as tensors 8 to 11
unrolled()
{
	local name=$1 constants shape='[4,4]' k
	shift
	constants='[[[],int("0"),2], [[],int("1"),2], [[1,2],f("0 0")], [[8,2],f("0.5 -1 " * 8 | .[:-1])],
		[[8],f("0 0 1 1 0 0 0 0")], [[8,4],f("1 0.5 -1 0 " * 8 | .[:-1])], [[8,4],f("1 0.5 -1 1 " * 8 | .[:-1])]]'
	ops='' next=8
	case ${cut-split} in
	split) emit "49,[1,0],[1,4],4,35,{num_splits:4}" 4 ;;
	unpack) emit "88,[0],[1,4],4,64,{num:4,axis:0}" 4 && shape='[4,1,4]' ;;
	slice) # bounds in 20 to 27
		for k in 0 1 2 3; do
			emit "65,[0,$((20 + 2 * k)),$((21 + 2 * k))],[1,1,4],1"
		done
		shape='[1,4,4]'
		;;
	strided) # x[:, k, :] as TensorFlow writes it: bounds in 20 to 27, steps 28
		for k in 0 1 2 3; do
			emit "45,[0,$((20 + 2 * k)),$((21 + 2 * k)),28],[1,4],1,32,{begin_mask:5,end_mask:5,shrink_axis_mask:2}"
		done
		shape='[1,4,4]'
		;;
	esac
	layer "${weights-6}" "$@"
	! declare -F more >/dev/null || more
	graph "$name" "$shape" "$constants" "[$ops]"
}

# least and greatest value of the output, and its noise
figures_of()
{
	jq -c '(.operators[-1].tensor_name) as $name | .tensors | map(select(.name == $name))[0]
		| [.least, .greatest] | map(. * 1e5 | round)' "$1"
}

@test "an LSTM that was written step by step becomes one operator" {
	need jq
	awk 'BEGIN { for (i = 0; i < 60; i++) { for (k = 0; k < 16; k++) printf "%g ", (i * 37 + k * k * 11) % 61 / 30 - 1; print "" } }' >a.csv
	unrolled m 8 9 10 11
	for f in all none; do
		tfl-quantize --data=a.csv --fold=$f --json -o $f.tflite m.tflite >$f
		tfl-quantcheck --strict -q $f.tflite
		jq -e '.operators[-1].snr_db > 25' $f
		for a in ethos-u55-128 ethos-u65-256 ethos-u85-256; do
			compiles $f.tflite $a --fail-on-cpu
		done
	done
	[ "$(codes all)" = "[22,44,22,65]" ]
	[ "$(figures_of all)" = "$(figures_of none)" ]
	# single operators have their fixed scales
	jq -e '.operators | map(select(.name == "LOGISTIC")) | length == 12' none
	tfl-quantcheck none.tflite >check
	jq -r '.operators[] | select(.name == "LOGISTIC" or .name == "TANH") | "\(.name) \(.tensor_name)"' none |
		while read -r name tensor; do
			want=0.00390625\ -128
			[ "$name" = LOGISTIC ] || want='0.0078125 0'
			[ "$(awk -v t="$tensor" '$NF == t { print $4, $5 }' check)" = "$want" ]
		done
	tfl-quantize --data=a.csv --type=int16x8 --json -o q.tflite m.tflite >report
	tfl-quantcheck --strict -q q.tflite
	jq -e '.operators[-1].snr_db | ., . > 50' report
	[ "$(figures_of report)" = "$(figures_of none)" ]
}

# bounds NAME FROM TO [STEPS]: gives tensors 20, 22 ... of the slices of cut=slice and cut=strided
# new constants: FROM and TO are words of jq of $k, the number of the slice
bounds()
{
	json "$1.tflite"
	jq --argjson steps "${4-null}" '[range(4) as $k | '"$2, $3"'] + if $steps then [$steps] else [] end
		| . as $v | input | reduce ($v | to_entries[]) as $e (.; . as $m
			| .buffers += [{data:[$e.value[] | ., 0, 0, 0]}]
			| .subgraphs[0].tensors += [{shape:[3],type:2,name:"bound\($e.key)",buffer:(.buffers | length - 1)}]
			| (.subgraphs[0].tensors | length - 1) as $t
			| .subgraphs[0].operators[:4][].inputs[1:][] |= if . == 20 + $e.key then $t + 1000 else . end)
		| .subgraphs[0].operators[:4][].inputs[] |= . % 1000' <(echo null) "$1.json" >bounds.json
	mv bounds.json "$1.json"
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" "$1.json"
}

@test "an LSTM may read its steps from any cut, and backward" {
	need jq
	local cut order
	awk 'BEGIN { for (i = 0; i < 60; i++) { for (k = 0; k < 16; k++) printf "%g ", (i * 37 + k * k * 11) % 61 / 30 - 1; print "" } }' >a.csv
	more() { :; }
	for cut in split unpack slice strided; do
		for order in "8 9 10 11" "11 10 9 8"; do
			# shellcheck disable=SC2086
			unrolled m $order
			[ $cut != slice ] || bounds m '[0,$k,0]' '[1,1,4]'
			[ $cut != strided ] || bounds m '[0,$k,0]' '[0,$k + 1,0]' '[1,1,1]'
			for f in all none; do
				tfl-quantize --data=a.csv --fold=$f --json -o $f.tflite m.tflite >$f
				tfl-quantcheck --strict -q $f.tflite
			done
			# RESHAPE, REVERSE_V2 if backward, LSTM, RESHAPE, SLICE
			[ "$(codes all)" = "[22,$([ "$order" = "8 9 10 11" ] || echo 105,)44,22,65]" ]
			[ "$(figures_of all)" = "$(figures_of none)" ]
			jq -e '.operators[-1].snr_db > 25' all
			compiles all.tflite ethos-u85-256 --fail-on-cpu
			compiles all.tflite ethos-u55-128 --fail-on-cpu
		done
	done
	# every second part of the sequence, and a part that is no whole step
	cut=strided
	unrolled m 8 9 10 11
	bounds m '[0,$k,0]' '[0,$k + 1,0]' '[1,1,2]'
	refuses 2 'm.tflite: error: ' tfl-quantize --data=a.csv m.tflite
	cut=slice
	unrolled m 8 9 10 11
	bounds m '[0,0,0]' '[1,1,4]'
	tfl-quantize --data=a.csv -o q.tflite m.tflite
	run -1 grep -w 44 <<<"$(codes q)"
}

@test "layers of LSTMs, and outputs of all steps" {
	need jq
	awk 'BEGIN { for (i = 0; i < 20; i++) { for (k = 0; k < 16; k++) printf "%g ", (i * 37 + k * k * 11) % 61 / 30 - 1; print "" } }' >a.csv
	# the second layer reads the outputs of the first, and the sum reads both
	more()
	{
		local first=("${hs[@]}")
		layer 4 "${hs[@]}"
		emit "0,[${first[1]},${hs[3]}],[1,2],1,11,{}"
	}
	unrolled m 8 9 10 11
	for f in all none; do
		tfl-quantize --data=a.csv --fold=$f --json -o $f.tflite m.tflite >$f
		tfl-quantcheck --strict -q $f.tflite
		compiles $f.tflite ethos-u55-128 --fail-on-cpu
	done
	[ "$(codes all | tr , '\n' | grep -c 44)" = 2 ]
	codes all | tr -d '[]' | tr , '\n' >list
	run -1 grep -E '^(14|28|9|49)$' list
	[ "$(figures_of all)" = "$(figures_of none)" ]
}

@test "steps that are no LSTM keep their operators" {
	need jq
	local case weights
	awk 'BEGIN { for (i = 0; i < 20; i++) { for (k = 0; k < 16; k++) printf "%g ", (i * 37 + k * k * 11) % 61 / 30 - 1; print "" } }' >a.csv
	# steps in another order, a part of the sequence from either end, the cell state as an output,
	# and another weight in the last step
	for case in "9 8 11 10" "8 9 10" "10 9 8" "11 10 9" state weights; do
		more() { :; }
		case $case in
		state)
			more() { emit "0,[$c,${hs[3]}],[1,2],1,11,{}"; }
			unrolled m 8 9 10 11
			;;
		weights)
			unrolled m 8 9 10 11
			json m.tflite
			jq '(.operator_codes | map(.builtin_code)) as $c | .subgraphs[0].operators |= (
				([to_entries[] | select($c[.value.opcode_index] == 9 and .value.inputs[1] == 6).key] | last) as $i
				| .[$i].inputs[1] = 7)' m.json >n.json
			mv n.json m.json
			flatc -b --strict-json "$TOP/tests/models/tflite.fbs" m.json
			;;
		*)
			# shellcheck disable=SC2086
			unrolled m $case
			;;
		esac
		tfl-quantize --data=a.csv --json -o q.tflite m.tflite >report
		tfl-quantcheck --strict -q q.tflite
		! codes q | tr , '\n' | grep -q 44 || { echo "$case"; codes q; false; }
	done
}

@test "operators whose inputs are constants become constants, and FILL among them" {
	need jq
	local transpose=39 fc=9 fill=94 mul=18 add=0 unpack=88
	# weights 1 by 2, shape 3, value 4, factors 5
	local constants='[[[4,2],f("1 0 0 1 0 0 0 0")], [[2],int("1 0"),2], [[2],int("1 2"),2], [[],f("2")], [[2],f("1 3")]]'
	local ops="[$transpose,[1,2],[2,4]], [$fc,[0,6,-1],[1,2],1,8,{}], [$fill,[3,4],[1,2]],
		[$mul,[8,5],[1,2],1,21,{}], [$add,[7,9],[1,2],1,11,{}]"
	graph m '[1,4]' "$constants" "[$ops]"
	printf '%s\n' '0 0 0 0' '1 -1 0 0' >a.csv
	for f in all none; do
		tfl-quantize --data=a.csv --fold=$f --json -o q.tflite m.tflite >report
		tfl-quantcheck --strict -q q.tflite
		compiles q.tflite ethos-u55-128 --fail-on-cpu
		[ "$(codes q)" = "[9$([ $f = all ] || echo ,0)]" ]
		# 2 and 6, then 3 and 5
		jq -e '.tensors | map(select(.name == "y4_0"))[0] | .least == 2 and .greatest == 6' report
	done
	# another shape than that of the constant
	graph m '[1,4]' "${constants/'"1 2"'/'"2 1"'}" "[$ops]"
	refuses 2 'the shape of the output differs from the dimensions' tfl-quantize --data=a.csv m.tflite
	# an output of the network stays computed
	graph m '[1,4]' "$constants" "[$ops]"
	two m '.subgraphs[0].outputs += [9]'
	tfl-quantize --data=a.csv -o q.tflite two.tflite
	[ "$(codes q)" = "[9,18,0]" ]
}

@test "a division by constants becomes a multiplication by their reciprocals" {
	need jq
	local div=42 relu='29,{fused_activation_function:1}' fc=9 f a type
	local near='[[4],f("1e-2 1 -1 1e2")]'
	local floats=${floats/'"1e30"'/'"1e-2": [10,215,35,60], "1e2": [0,0,200,66], "1e30"'}
	awk 'BEGIN { for (i = 0; i < 40; i++) print i % 5, i % 7 - 3, i % 11 - 5, i - 20 }' >a.csv
	# 1e-2 in steps of 101 / 255 would be the divisor 0
	graph m '[1,4]' "[$near]" "[[$div,[0,1],[1,4],1,$relu]]"
	for type in int8 int16x8; do
		for f in all none; do
			tfl-quantize --data=a.csv --fold=$f --type=$type --json -o q.tflite m.tflite >report
			tfl-quantcheck --strict -q q.tflite
			[ "$(codes q)" = "[18]" ]
			jq -e '.operators[0] | .name == "MUL" and .snr_db > 30' report
			jq -e '.tensors[-1] | .least == 0 and (.greatest / 400 - 1 | fabs) < 1e-6' report
			[ $type = int8 ] || continue
			for a in ethos-u55-128 ethos-u65-256 ethos-u85-256; do
				compiles q.tflite $a --fail-on-cpu
			done
		done
	done
	# as a multiplication, it becomes part of the layer before
	graph m '[1,4]' "[$near, [[4,4],f(\"1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1\")]]" \
		"[[$fc,[0,2,-1],[1,4],1,8,{}], [$div,[3,1],[1,4],1,$relu]]"
	tfl-quantize --data=a.csv --per-channel-fc --json -o q.tflite m.tflite >report
	[ "$(codes q)" = "[9]" ]
	jq -e '.tensors[-1] | .least == 0 and (.greatest / 400 - 1 | fabs) < 1e-6' report
	# a computed divisor, and a divisor of 0
	graph m '[1,4]' "[$near]" "[[$div,[1,0],[1,4],1,$relu]]"
	echo 1 2 3 4 >b.csv
	tfl-quantize --data=b.csv -o q.tflite m.tflite
	[ "$(codes q)" = "[42]" ]
	graph m '[1,4]' '[[[4],f("1 0 1 1")]]' "[[$div,[0,1],[1,4],1,29,{fused_activation_function:2}]]"
	refuses 2 'operator 0 (DIV): divides by a constant that is 0, or almost 0' \
		tfl-quantize --data=b.csv m.tflite
	tfl-quantize --data=b.csv --allow=DIV -o q.tflite m.tflite
}

@test "an input with constant data is a constant" {
	need jq
	float_fc m
	tfl-quantize --random -o want.tflite m.tflite
	# weights, and integers, among the inputs, as other converters list them
	two m '.subgraphs[0].inputs = [1,0,2]'
	tfl-quantize --random -o q.tflite two.tflite
	cmp q.tflite want.tflite
	tfl-quantcheck --strict -q q.tflite
	graph m '[1,4]' '[[[2],int("2 2"),2]]' "[[22,[0,1],[2,2]]]"
	two m '.subgraphs[0].inputs = [0,1]'
	tfl-quantize --random -o q.tflite two.tflite
	tfl-quantcheck --strict -q q.tflite
	compiles q.tflite ethos-u55-128 --fail-on-cpu
}

@test "a batch in another dimension has the shape of the file" {
	need jq
	local transpose=39 unpack=88 add=0 relu=19 sqrt=75 op
	# as in an unrolled LSTM: time first, then the batch
	for op in $relu $sqrt; do
		graph m '[1,2,4]' '[[[3],int("1 0 2"),2]]' "[[$transpose,[0,1],[2,1,4]],
			[$unpack,[2],[1,4],2,64,{num:2}], [$add,[3,4],[1,4],1,11,{}], [$op,[2],[2,1,4]],
			[$add,[6,6],[2,1,4],1,11,{}]]"
		json m.tflite
		for i in 0 2 6; do
			jq ".subgraphs[0].tensors[$i].shape_signature = (.subgraphs[0].tensors[$i].shape
				| if $i == 0 then .[0] = -1 else .[1] = -1 end)" m.json >new.json
			mv new.json m.json
		done
		flatc -b --strict-json "$TOP/tests/models/tflite.fbs" m.json
		awk 'BEGIN { for (k = 0; k < 8; k++) print k }' >a.csv
		if [ $op = $sqrt ]; then # nothing checks the shape
			refuses 2 'tensor 6 (y3_0): dynamic shapes are not supported' \
				tfl-quantize --allow --data=a.csv m.tflite
			continue
		fi
		tfl-quantize --data=a.csv -o q.tflite m.tflite
		tfl-quantcheck --strict -q q.tflite
		compiles q.tflite ethos-u85-256 --fail-on-cpu
	done
}

# pad_conv NAME PADDINGS STRIDE OUT: PAD of [1,4,4,1] before a VALID convolution by 3x3
pad_conv()
{
	float_fc "$1" '.buffers[1].data = f("1 0 -1 2 0.5 1 1 0 2") | .buffers[2].data = f("1")
		| .buffers += [{data:[('"$2"')[] | .,0,0,0]}]
		| .subgraphs[0].tensors |= (.[0].shape = [1,4,4,1] | .[1].shape = [1,3,3,1] | .[2].shape = [1]
			| .[3].shape = [1,'"$4,$4"',1])
		| .subgraphs[0].tensors += [{shape:[1,4+'"$2[2]+$2[3],4+$2[4]+$2[5]"',1],type:0,name:"padded"},
			{shape:[4,2],type:2,buffer:3,name:"by"}]
		| .operator_codes = [{deprecated_builtin_code:3,builtin_code:3},{deprecated_builtin_code:34,builtin_code:34}]
		| .subgraphs[0].operators = [{opcode_index:1,inputs:[0,5],outputs:[4]},
			{opcode_index:0,inputs:[4,1,2],outputs:[3],builtin_options_type:1,builtin_options:{padding:1,
				stride_w:'"$3,stride_h:$3"',dilation_w_factor:1,dilation_h_factor:1}}]'
}

@test "PAD becomes the padding of a convolution where SAME pads as much" {
	awk 'BEGIN { for (i = 0; i < 16; i++) printf "%d ", i - 5 }' >a.csv
	# both sides for a stride of 1; the end alone for a stride of 2; one more that nobody reads
	for p in "[0,0,1,1,1,1,0,0] 1 4" "[0,0,0,1,0,1,0,0] 2 2" "[0,0,0,2,0,1,0,0] 2 2"; do
		pad_conv m $p
		tfl-quantize --data=a.csv -o q.tflite m.tflite
		tfl-quantize --data=a.csv --fold=none -o none.tflite m.tflite
		[ "$(codes q)" = "[3]" ]
		[ "$(codes none)" = "[34,3]" ]
		for m in q none; do
			mkinput --format=npy -o in.npy $m.tflite a.csv
			npu-sim -i in.npy -o $m $m.tflite
		done
		cmp q/output_0.npy none/output_0.npy
		compiles q.tflite ethos-u55-128
	done
	# SAME pads the end
	pad_conv m "[0,0,1,0,1,0,0,0]" 2 2
	tfl-quantize --data=a.csv -o q.tflite m.tflite
	[ "$(codes q)" = "[34,3]" ]
}

@test "a partly quantized model keeps the scales of its integers" {
	need jq
	local data=(--data="$TOP/tests/models/digits" "--range=0,1")
	tfl-quantize "${data[@]}" -o int.tflite "$digits"
	# float ends, as the converter leaves them
	tfl-quantize "${data[@]}" --interface=float -o ends.tflite "$digits"
	tfl-quantize --data="$TOP/tests/models/digits/digit-1.pgm" --range=0,1 --json -o q.tflite ends.tflite >report
	tfl-quantcheck --strict -q q.tflite
	tfl-quantcheck int.tflite >want
	tfl-quantcheck q.tflite >got
	# name, zero point, and scale in five digits
	for f in want got; do
		awk '$2 == "INT8" && $4 > 0 { printf "%s %s %.4g\n", $NF == "input" ? "" : $NF, $5, $4 }' $f |
			sed 's/_int / /' | sort >$f.rows
	done
	[ "$(wc -l <want.rows)" -gt 20 ]
	diff want.rows got.rows
	for m in int q; do
		mkinput --range=0,1 -o in.npy --format=npy $m.tflite "$TOP/tests/models/digits/digit-7.pgm"
		npu-sim -i in.npy -o $m $m.tflite
	done
	cmp int/output_0.npy q/output_0.npy
	# INT8, DEQUANTIZE, float ABS: the float operator alone gets a new scale
	float_fc m
	echo 0 0 0 0 1 0 0 0 >a.csv
	tfl-quantize --data=a.csv --interface=float -o f.tflite m.tflite
	add_op f 101
	echo 1 0 0 0 >b.csv
	tfl-quantize --data=b.csv --json -o q.tflite f.tflite >report
	tfl-quantcheck --strict -q q.tflite
	[ "$(codes q)" = "[9,101]" ]
	# out from -1 to 128 as before, although b.csv has 128 alone
	jq -e '.tensors | map(select(.name == "out_int")) | length == 1 and (.[0].scale * 255 - 129 | fabs) < 0.01' report
}

@test "--features: sounds are samples of a keyword model" {
	local silence
	# 800 samples of silence: two frames of 40
	silence=$(printf '\\0%.0s' {1..1600})
	printf "RIFF\x64\x06\0\0WAVEfmt \x10\0\0\0\x1\0\x1\0\x80\x3e\0\0\0\x7d\0\0\x2\0\x10\0data\x40\x6\0\0$silence" >a.wav
	float_fc m "$t[0].shape = [1,80] | $t[1].shape = [2,80] |
		.buffers[1].data = f(\"1 \" * 159 + \"1\")"
	tfl-quantize --data=a.wav --features=mel --json -o q.tflite m.tflite >report
	# the logarithm of 1e-6
	jq -e '.tensors[0] | .type == "INT8" and .greatest == .least and (.least + 13.8155 | fabs) < 1e-3' report
	tfl-quantcheck --strict -q q.tflite
	mkinput --features=mel --format=raw -o in.raw q.tflite a.wav
	[ "$(od -An -v -td1 -w1 in.raw | sort -u)" -eq -128 ]
	refuses 2 'these are sound samples, but the input' tfl-quantize --data=a.wav m.tflite ||
		refuses 2 'the file has 800 values' tfl-quantize --data=a.wav m.tflite
}

@test "values of a long network are kept only as long as an operator reads them" {
	model long "$t = [range(61) | { shape: [1, 128, 128, 16], type: 0, name: \"t\\(.)\" }] |
		.operator_codes = [{ deprecated_builtin_code: 19, builtin_code: 19 }] |
		.subgraphs[0] |= (.inputs = [0] | .outputs = [60] | .operators =
			[range(60) | { opcode_index: 0, inputs: [.], outputs: [. + 1] }])"
	(ulimit -v 60000 && tfl-quantize --version) || skip "sanitizers need more"
	# in real numbers, each of the 61 feature maps has 2 MiB
	(ulimit -v 100000 && tfl-quantize -q -j1 --random -o quantized.tflite long.tflite)
	tfl-quantcheck -q quantized.tflite
}

# csr TYPE SEGMENTS INDICES: the metadata of a sparse level
csr()
{
	echo "{format:1,array_segments_type:\"$1\",array_segments:{values:[$2]},
		array_indices_type:\"$1\",array_indices:{values:[$3]}}"
}

# sparse NAME VALUES SPARSITY [JQ]: float_fc whose weights are stored so
sparse()
{
	float_fc "$1" "$t[1].sparsity = {$3} | .buffers[1].data = f(\"$2\") | ${4-.}"
}

@test "sparse weights become dense, by rows, columns and blocks" {
	local densify='.operator_codes += [{deprecated_builtin_code:124,builtin_code:124}] |
		.subgraphs[0] |= (.tensors += [.tensors[1] | del(.sparsity, .buffer) | .name = "dense"] |
		.operators[0].inputs[1] = 4 |
		.operators = [{opcode_index:1,inputs:[1],outputs:[4]}] + .operators)'
	local two='{dense_size:2}' rows by_rows
	rows="$two,$(csr Uint8Vector 0,1,3 3,0,1)"
	by_rows="traversal_order:[0,1],dim_metadata:[$rows]"
	float_fc dense '.buffers[1].data = f("0 0 0 -1 2 1 0 0")'
	sparse rows "-1 2 1" "$by_rows"
	sparse densify "-1 2 1" "$by_rows" "$densify"
	sparse columns "2 1 -1" "traversal_order:[1,0],
		dim_metadata:[{dense_size:4},$(csr Uint16Vector 0,1,2,2,3 1,1,0)]"
	sparse blocks "0 -1 2 1" "traversal_order:[0,1,2],block_map:[1],
		dim_metadata:[$two,$(csr Int32Vector 0,1,2 1,0),$two]"
	tfl-quantize -q --random -o want.tflite dense.tflite
	for m in rows densify columns blocks; do
		tfl-quantize -q --random -o got.tflite $m.tflite
		cmp want.tflite got.tflite
	done
	# an index, a segment and a number of elements that are wrong; a level that is missing
	sparse bad1 "-1 2 1" "traversal_order:[0,1],dim_metadata:[$two,$(csr Uint8Vector 0,1,3 4,0,1)]"
	sparse bad2 "-1 2 1" "traversal_order:[0,1],dim_metadata:[$two,$(csr Uint8Vector 0,4,3 3,0,1)]"
	sparse bad3 "-1 2 1 1" "$by_rows"
	sparse bad4 "-1 2 1" "traversal_order:[0],dim_metadata:[$two]"
	sparse bad5 "-1 2 1" "traversal_order:[0,0],dim_metadata:[$rows]"
	for m in bad{1..5}; do
		run -2 --separate-stderr tfl-quantize -q --random -o got.tflite $m.tflite
		[[ "$stderr" == *": tensor 1 (weights): its sparse data contradict its shape or each other" ]]
	done
}
