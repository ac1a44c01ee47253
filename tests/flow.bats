# SPDX-License-Identifier: Apache-2.0
# The whole flow: a compiled model passes the verifier and computes the plain model's bytes.

load lib/common

memory=(--system-config Ethos_U55_High_End_Embedded --memory-mode Shared_Sram)

# compile MODEL OPTION...: compiles to npu.tflite and prints the messages only if it fails
compile()
{
	npucc -o npu.tflite "${@:2}" "$1" 2>notes ||
		{ echo "$*:"; cat notes; return 1; }
}

# verified COMPILED: a model that runs only on the CPU has no stream to verify
verified()
{
	! grep -q ethos-u "$1" || npu-dis --verify "$1"
}

# same MODEL COMPILED: verified, and equal on the random inputs of two seeds, or of one in a
# quick run
same()
{
	local seed seeds=(1 2)
	[ -z "${NPUTOOLS_QUICK-}" ] || seeds=(1)
	verified "$2" >verify 2>&1 ||
		{ echo "$1:"; tail -5 verify; return 1; }
	for seed in "${seeds[@]}"; do
		npu-sim --seed=$seed --compare="$1" "$2" >compare 2>&1 ||
			{ echo "$1, seed $seed:"; tail -5 compare; return 1; }
	done
}

@test "the pipeline of the manual page works" {
	m=$BATS_TEST_DIRNAME/models/digits.tflite
	tfl-quantcheck --pass "$m" | tfl-partition |
		npu-sched -a ethos-u55-256 --system-config RTSS_HP_SRAM_MRAM \
			--memory-mode Shared_Sram |
		npu-wenc | npu-cmdgen | tfl2c -n my_model >my_model.h
	grep -q 'my_model\[\]' my_model.h
}

@test "every accelerator, memory mode and goal computes the same digits" {
	m=$BATS_TEST_DIRNAME/models/digits.tflite
	for a in ethos-u55-32 ethos-u55-64 ethos-u55-128 ethos-u55-256; do
		for goal in Performance Size; do
			for mode in Shared_Sram Sram_Only; do
				compile "$m" -a $a --memory-mode=$mode \
					"${memory[@]:0:2}" --optimise=$goal
				same "$m" npu.tflite || {
					echo "$a $goal $mode"
					false
				}
			done
		done
	done
	for a in ethos-u65-256 ethos-u65-512; do
		compile "$m" -a $a --system-config=Ethos_U65_High_End \
			--memory-mode=Dedicated_Sram
		same "$m" npu.tflite
	done
}

@test "the bytes depend neither on the number of threads nor on the run" {
	m=$BATS_TEST_DIRNAME/models/digits.tflite
	for j in 1 2 8; do
		npucc -a ethos-u55-128 "${memory[@]}" -j $j -o $j.wenc "$m"
		npucc -a ethos-u55-128 "${memory[@]}" -j $j -o $j.tflite "$m"
	done
	cmp 1.wenc 2.wenc
	cmp 1.wenc 8.wenc
	cmp 1.tflite 2.tflite
	cmp 1.tflite 8.tflite
}

@test "a stage adds records and keys, and drops none" {
	m=$BATS_TEST_DIRNAME/models/digits.tflite
	npucc -a ethos-u55-128 "${memory[@]}" --keep=kept "$m"
	for k in tensor node op scales; do
		# every record is present and begins with the same text
		grep "^$k " kept/digits.sched >before
		grep "^$k " kept/digits.wenc >after
		[ -s before ]
		awk 'NR == FNR { was[NR] = $0; next }
			index($0, was[FNR]) != 1 { print; bad = 1 }
			END { exit bad || FNR < length(was) }' before after
	done
}

@test "the encoded size of weights that are copied must be the planned size" {
	m=$BATS_TEST_DIRNAME/models/digits.tflite
	tfl-partition -o part "$m"
	npu-sched -a ethos-u55-128 "${memory[@]}" --level=6 -o sched part
	w=$(sed -n 's/^step .* fetch=\(w[0-9]*\).*/\1/p' sched | head -1)
	[ -n "$w" ]
	npu-wenc -o wenc sched
	sed "s/^\(weights $w .*bytes=\)[0-9]*/\1112/" sched >other
	run npu-wenc -o other.wenc other
	[ "$status" = 2 ]
	[[ $output == *"other:"*"error: $w: slice 0 takes "*" bytes, but the plan has 112"* ]]
	[ ! -e other.wenc ]
}

# half 0|1: every second line, every eighth in a quick run, or all lines with NPUTOOLS_ALL
half()
{
	awk -v all="${NPUTOOLS_ALL-}" -v quick="${NPUTOOLS_QUICK-}" -v rest="$1" \
		'all || (quick ? NR % 8 == 3 * rest : NR % 2 == rest)'
}

@test "compiled models verify and compute equal bytes on ethos-u55-128" {
	while read -r m; do
		compile "$m" -a ethos-u55-128 "${memory[@]}"
		same "$m" npu.tflite
	done < <(models_or_stand_ins | half 1)
}

@test "compiled models verify and compute equal bytes on ethos-u65-512 in Dedicated_Sram" {
	while read -r m; do
		compile "$m" -a ethos-u65-512 --memory-mode=Dedicated_Sram \
			--system-config=Ethos_U65_High_End
		same "$m" npu.tflite
	done < <(models_or_stand_ins | half 0)
}

@test "npucc --check passes on a large network" {
	local name=mbv2_int8
	[ -z "${NPUTOOLS_QUICK-}" ] || name=kws_ref_model
	compile "$(network $name)" -a ethos-u55-256 "${memory[@]}" --check
}

# golden ACCELERATOR DIRECTORY: adds to `commands`: an operator of golden/ops is compiled, and
# its outputs equal those of TFLite Micro.  npu-cmdgen writes no stream that breaks a rule.
golden()
{
	local d=$2 k i=() e=() npu=
	for k in "$d"/input_[0-9].npy; do
		i+=(-i "$k")
	done
	for k in "$d"/output_[0-9].npy; do
		e+=(-e "$k")
	done
	# all cases of these operators must run on the NPU
	[[ ${d%/*} =~ /(ABS|ADD|ARG_MAX|ARG_MIN|DIV|EXP|HARD_SWISH|LEAKY_RELU|LOGISTIC|LOG_SOFTMAX|MAXIMUM|MEAN|MINIMUM|MUL|PRELU|REDUCE_MAX|REDUCE_MIN|RELU|RELU6|RSQRT|SOFTMAX|SQUARED_DIFFERENCE|SUB|SUM|TANH)$ ]] &&
		npu=--fail-on-cpu
	# RELU6 keeps the integers, whatever the scale of its output
	commands+=("tfl-partition $npu --allow=unequal-quantization -o op.part $d/model.tflite"
		"npu-sched -a $1 ${memory[*]} -o op.sched op.part" "npu-wenc -o op.wenc op.sched"
		"npu-cmdgen -o op.tflite op.wenc" "npu-sim ${i[*]} ${e[*]} op.tflite")
}

# all cases, each on one of the accelerators in turn (NPUTOOLS_ALL: on all)
all_golden()
{
	local f a n=0 step=1 accels=(ethos-u55-32 ethos-u55-64 ethos-u55-128 ethos-u55-256)
	local commands=()
	[ -z "${NPUTOOLS_QUICK-}" ] || step=10
	ln -s "$SHARED/golden/ops" ops
	while read -r f; do
		n=$((n + 1))
		[ $((n % step)) = 0 ] || continue
		for a in "${accels[@]}"; do
			[ "$a" = "${accels[n / step % 4]}" ] || [ -n "${NPUTOOLS_ALL-}" ] || continue
			golden "$a" "${f%/*}"
		done
	done < <(find ops/ -name model.tflite | sort)
	in_process "${commands[@]}"
}

@test "compiled single operators give the output of TFLite Micro" {
	need_shared golden/ops
	all_golden
}

# carried NAME CODE TYPE OPTIONS: fc.json's FULLY_CONNECTED followed by an operator with
# this code and these options
carried()
{
	jq --argjson code "$2" --arg type "$3" --argjson options "$4" '
		.operator_codes += [{deprecated_builtin_code: 127, builtin_code: $code}]
		| .subgraphs[0].tensors += [{shape: [1, 2], type: 9, name: "last",
			quantization: {scale: [2.0], zero_point: [3]}}]
		| .subgraphs[0].outputs = [4]
		| .subgraphs[0].operators += [{opcode_index: 1, inputs: [3], outputs: [4],
			builtin_options_2_type: $type, builtin_options_2: $options}]' \
		"$TOP/tests/models/fc.json" >"$1.json"
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" "$1.json"
}

# the options of the last operator
last_options()
{
	flatc --json --strict-json --raw-binary "$TOP/tests/models/tflite.fbs" -- "$1"
	jq -cS '.subgraphs[0].operators[-1].builtin_options_2' "${1%.tflite}.json"
}

@test "options of operators on the CPU are copied unchanged" {
	need flatc jq
	local o
	carried dilate 203 DilateOptions '{}'
	carried gather 201 StablehloGatherOptions '{"offset_dims": [1, -2],
		"collapsed_slice_dims": [], "start_index_map": [4611686018427387904],
		"index_vector_dim": -7, "slice_sizes": [1, 2, 3],
		"indices_are_sorted": true}'
	carried conv 171 StablehloConvolutionOptions '{"window_strides": [1, 2],
		"window_reversal": [true, false, true], "input_batch_dimension": 5,
		"batch_group_count": 9, "precision_config": [0, 2]}'
	carried call 173 StablehloCustomCallOptions '{"call_target_name": "f",
		"has_side_effect": true, "backend_config": "", "api_version": -1,
		"called_computations": [3], "custom_attributes": [1, 2, 255]}'
	for o in dilate gather conv call; do
		npucc -a ethos-u55-128 "${memory[@]}" -o npu.tflite $o.tflite
		[ "$(npu-dis --verify npu.tflite | wc -l)" = 1 ]
		[ "$(last_options npu.tflite)" = "$(last_options $o.tflite)" ]
		[ "$(last_options npu.tflite)" != null ]
	done
}

@test "options of an unknown kind are refused by name and early" {
	need flatc jq
	carried dilate 203 ReduceWindowOptions '{"reduce_function": 77}'
	# the byte 20 is the tag of the options if tfl-partition notices its change
	local at
	for at in $(grep -obUaP '\x14' dilate.tflite | cut -d: -f1); do
		cp dilate.tflite other.tflite
		printf '\310' | dd of=other.tflite bs=1 seek="$at" conv=notrunc status=none
		tfl-partition -o out.part other.tflite 2>err && continue
		grep -q 'copied' err && break
	done
	rm -f out.part
	refuses 2 "tfl-partition: other.tflite: error: operator 1 (DILATE) runs on the CPU, but its builtin_options_2 can't be copied into a compiled model" \
		tfl-partition -o out.part other.tflite
	[ "$(grep -c error refuses.err)" = 1 ]
	[ ! -e out.part ]
	tfl-partition --report other.tflite | grep -q DILATE
	refuses 2 "operator 1 (DILATE)" \
		npucc -a ethos-u55-128 "${memory[@]}" -o npu.tflite other.tflite
}
