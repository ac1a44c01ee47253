# SPDX-License-Identifier: Apache-2.0
# The whole line: what is compiled verifies, and computes what the model did.

load lib/common

memory=(--system-config Ethos_U55_High_End_Embedded --memory-mode Shared_Sram)

# compile MODEL OPTION...: to npu.tflite; notes only if it fails
compile()
{
	npucc -o npu.tflite "${@:2}" "$1" 2>notes ||
		{ echo "$*:"; cat notes; return 1; }
}

# verified COMPILED: a model that the CPU computes alone has no stream
verified()
{
	! grep -q ethos-u "$1" || npu-dis --verify "$1"
}

# same MODEL COMPILED: verified, and equal on random inputs of two seeds
same()
{
	local seed
	verified "$2" >verify 2>&1 ||
		{ echo "$1:"; tail -5 verify; return 1; }
	for seed in 1 2; do
		npu-sim --seed=$seed --compare="$1" "$2" >compare 2>&1 ||
			{ echo "$1, seed $seed:"; tail -5 compare; return 1; }
	done
}

# the shared models but the largest, which has a test of its own
models()
{
	find "$SHARED/models" -name '*.tflite' ! -name 'mbv2*' | sort
}

@test "the line of the manual, typed" {
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

@test "threads and repetition do not show in the bytes" {
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

@test "a stage adds, and drops nothing" {
	m=$BATS_TEST_DIRNAME/models/digits.tflite
	npucc -a ethos-u55-128 "${memory[@]}" --keep=kept "$m"
	for k in tensor node op scales; do
		# every record is there, and still begins as it did
		grep "^$k " kept/digits.sched >before
		grep "^$k " kept/digits.wenc >after
		[ -s before ]
		awk 'NR == FNR { was[NR] = $0; next }
			index($0, was[FNR]) != 1 { print; bad = 1 }
			END { exit bad || FNR < length(was) }' before after
	done
}

@test "weights that are copied take the bytes that were planned" {
	m=$BATS_TEST_DIRNAME/models/digits.tflite
	tfl-partition -o part "$m"
	npu-sched -a ethos-u55-128 "${memory[@]}" --level=6 -o sched part
	w=$(sed -n 's/^step .* fetch=\(w[0-9]*\).*/\1/p' sched | head -1)
	[ -n "$w" ]
	npu-wenc -o wenc sched
	sed "s/^\(weights $w .*bytes=\)[0-9]*/\1112/" sched >other
	run npu-wenc -o other.wenc other
	[ "$status" = 2 ]
	[[ $output == *"other:"*"error: $w: slice 0 takes "*" bytes, 112"*" are planned"* ]]
	[ ! -e other.wenc ]
}

@test "shared models, ethos-u55-128: verified, and equal" {
	need_shared models
	while read -r m; do
		compile "$m" -a ethos-u55-128 "${memory[@]}"
		same "$m" npu.tflite
	done < <(models)
}

@test "shared models, ethos-u65-512 with memory of its own: the same" {
	need_shared models
	while read -r m; do
		compile "$m" -a ethos-u65-512 --memory-mode=Dedicated_Sram \
			--system-config=Ethos_U65_High_End
		same "$m" npu.tflite
	done < <(models)
}

@test "MobileNetV2: verified, and equal" {
	need_shared models/mbv2_int8.tflite
	m=$SHARED/models/mbv2_int8.tflite
	compile "$m" -a ethos-u55-256 "${memory[@]}" --check
}

# one directory of golden/ops, compiled, against TFLite Micro's output
golden()
{
	local d=$1 k i=() e=()
	for k in "$d"/input_[0-9].npy; do
		i+=(-i "$k")
	done
	for k in "$d"/output_[0-9].npy; do
		e+=(-e "$k")
	done
	npucc -a ethos-u55-128 "${memory[@]}" -o op.tflite "$d/model.tflite" \
		>log 2>&1 && verified op.tflite >log 2>&1 &&
		npu-sim "${i[@]}" "${e[@]}" op.tflite >log 2>&1
}

@test "single operators: compiled, they give TFLite Micro's output" {
	need_shared golden/ops
	step=1
	[ -z "${NPUTOOLS_QUICK-}" ] || step=10
	bad=0
	while read -r f; do
		golden "${f%/*}" || {
			echo "${f#"$SHARED"/}: $(tail -1 log)"
			bad=$((bad + 1))
		}
	done < <(find "$SHARED/golden/ops" -name model.tflite | sort |
		awk -v s=$step 'NR % s == 0')
	[ $bad = 0 ]
}
