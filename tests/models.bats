# SPDX-License-Identifier: Apache-2.0
# Eight whole models: each has one ethos-u operator and golden outputs before and after
# compilation.  The comparison detects errors.

load lib/common

memory=(--system-config Ethos_U55_High_End_Embedded --memory-mode Shared_Sram)
eight=(seed_mnist_fc ad01_int8 kws_ref_model person_detect resnet_quant
	micro_speech hello_world_int8)
# of all layers of the eighth, the others have one; it takes longer than the seven together
[ -n "${NPUTOOLS_QUICK-}" ] || eight+=(mbv2_int8)

# json MODEL: flatc makes MODEL.json of ./MODEL.tflite
json()
{
	flatc --json --strict-json --raw-binary \
		"$TOP/tests/models/tflite.fbs" -- "$1.tflite"
}

compile()
{
	tfl-partition "$1" | npu-sched -a "$2" "${memory[@]}" 2>notes | npu-wenc |
		npu-cmdgen -o npu.tflite || { cat notes; return 1; }
}

# count_operators MODEL: the number of operators of subgraph 0 and the number of ethos-u
# operators.  Converting weights to JSON takes flatc seconds: therefore flatc reads the
# model with a schema whose buffers have no data.
count_operators()
{
	sed '/^table Buffer {/,/^}/s/^  data: .*//' "$TOP/tests/models/tflite.fbs" >structure.fbs
	flatc --json --strict-json --raw-binary structure.fbs -- "$1.tflite" || return
	jq -r '[.operator_codes[].custom_code] as $c | .subgraphs[0].operators |
		[length, ([.[] | select($c[.opcode_index // 0] == "ethos-u")] |
		length)] | join(" ")' "$1.json"
}

# the eight models, or two of the tree's that also run completely on the NPU
whole_models()
{
	if [ -n "$SHARED" ]; then
		printf '%s\n' "${eight[@]}" | sed "s|.*|$SHARED/models/&.tflite|"
	else
		stand_ins | grep -E '/(digits|residual)\.tflite$'
	fi
}

@test "each of the eight models is one ethos-u operator and nothing else" {
	need flatc jq
	local accels=(ethos-u55-128 ethos-u55-256)
	[ -z "${NPUTOOLS_QUICK-}" ] || accels=(ethos-u55-128)
	while read -r name; do
		for a in "${accels[@]}"; do
			compile "$name" "$a"
			npu-dis --verify npu.tflite
			[ "$(count_operators npu)" = "1 1" ] ||
				{ echo "$name, $a: $(count_operators npu)"; false; }
		done
	done < <(whole_models)
}

# golden DIR: the files of a golden directory as options of npu-sim
golden()
{
	local k
	options=()
	for k in "$1"/input_*.npy; do options+=(-i "$k"); done
	for k in "$1"/output_*.npy; do options+=(-e "$k"); done
}

@test "golden outputs are equal before and after compilation" {
	need_shared golden
	cases=0
	for name in "${eight[@]}"; do
		compile "$SHARED/models/$name.tflite" ethos-u55-256
		for dir in "$SHARED/golden/$name"/*/; do
			golden "$dir"
			npu-sim "${options[@]}" "$SHARED/models/$name.tflite" >out
			npu-sim "${options[@]}" npu.tflite >out
			cases=$((cases + 1))
		done
	done
	[ $cases -ge $((3 * ${#eight[@]})) ]
}

@test "every tensor of the plain model equals its golden intermediate" {
	need_shared golden
	for name in "${eight[@]}"; do
		dir=$SHARED/golden/$name/intermediate_0
		[ -d "$dir" ] || continue
		golden "$dir"
		rm -rf got
		npu-sim "${options[@]}" --dump=got "$SHARED/models/$name.tflite" >out
		n=0
		for f in "$dir"/tensor_*.npy; do
			[ -e "got/${f##*/}" ] || continue # an input
			cmp "$f" "got/${f##*/}"
			n=$((n + 1))
		done
		[ $n -ge "$(find got -name 'tensor_*' | wc -l)" ]
	done
}

@test "an expected output with one wrong element is detected" {
	local plain in=$SHARED/golden/kws_ref_model/0/input_0.npy
	plain=$(network kws_ref_model)
	if [ -n "$SHARED" ]; then
		cp "${in%/*}/output_0.npy" right.npy
	else
		in=in
		seq 1 1000 | head -c 784 >$in
		npu-sim -i $in -o plain "$plain"
		cp plain/output_0.npy right.npy
	fi
	compile "$plain" ethos-u55-128
	npu-sim -i "$in" -e right.npy npu.tflite
	cp right.npy wrong.npy
	last=$(tail -c 1 wrong.npy | od -An -tu1)
	truncate -s -1 wrong.npy
	# shellcheck disable=SC2059 # an octal escape made of a number
	printf "\\$(printf '%03o' $(((last + 1) % 256)))" >>wrong.npy
	for m in npu.tflite "$plain"; do
		status=0
		npu-sim -i "$in" -e wrong.npy "$m" >out 2>&1 || status=$?
		[ $status = 1 ]
	done
}

# changed OPERAND BYTE: makes bad.tflite, in which this byte of an operand of the ethos-u
# operator (0 the stream, 1 the constants) is one more
changed()
{
	jq ".subgraphs[0] as \$g | \$g.tensors[\$g.operators[0].inputs[$1]].buffer as \$b |
		.buffers[\$b].data[$2] |= (. + 1) % 256" npu.json >bad.json
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" bad.json
}

@test "a changed byte of stream, weights or scales is detected" {
	need flatc jq
	# its one output depends on every layer; the class of a classifier often does not
	m=$(network hello_world_int8)
	tfl-partition "$m" | npu-sched -a ethos-u55-128 "${memory[@]}" 2>/dev/null |
		npu-wenc >m.wenc
	npu-cmdgen -o npu.tflite m.wenc
	npu-sim --compare="$m" npu.tflite
	json npu
	# rebuilt by flatc without a change: still equal
	cp npu.json bad.json
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" bad.json
	npu-sim --compare="$m" bad.tflite
	# the low byte of the last zero point, behind the 32 bytes of the payload's head
	at=$(npu-cmdgen --emit=words m.wenc |
		sed -n 's/^0x\([0-9a-f]*\):.*NPU_SET_OFM_ZERO_POINT.*/\1/p' | tail -1)
	noticed 0 $((32 + 16#$at + 2))
	# the last layer has a record of 10 bytes for each channel, then the stream
	code=$(grep '^code ' m.wenc | tail -1)
	[[ $code =~ scales=0x([0-9a-f]+):[0-9]+\ stream=0x([0-9a-f]+):([0-9]+) ]]
	noticed 1 $((16#${BASH_REMATCH[1]} + 1)) # 256 more on the first bias
	noticed 1 $((16#${BASH_REMATCH[1]} + 8)) # its multiplier
	# a layer before the last one, whose single channel is mostly padding
	code=$(grep '^code ' m.wenc | tail -2 | head -1)
	[[ $code =~ stream=0x([0-9a-f]+): ]]
	noticed 1 $((16#${BASH_REMATCH[1]})) # the stream's head describes its format
}

# noticed OPERAND BYTE: at least one of a few inputs must show the change
noticed()
{
	local status seed
	changed "$1" "$2"
	for seed in 0 1 2 3 4 5 6 7; do
		status=0
		npu-sim --seed=$seed --compare="$m" bad.tflite >out 2>&1 ||
			status=$?
		[ $status = 0 ] || break
	done
	[ $status = 1 ] || {
		echo "operand $1, byte $2: status $status"
		cat out
		return 1
	}
}
