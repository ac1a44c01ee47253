# SPDX-License-Identifier: Apache-2.0
# npu-sched --batch: several inputs in one run.

load lib/common
load lib/timeline
load lib/model

chain=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model
target=(-a ethos-u55-256 --system-config Ethos_U55_High_End_Embedded
	--memory-mode Shared_Sram)

# compile MODEL OPTION...: makes x.part, x.sched and x.tflite
compile()
{
	tfl-partition -o x.part "$1"
	npu-sched "${target[@]}" "${@:2}" -o x.sched x.part 2>notes
	npu-wenc x.sched | npu-cmdgen -o x.tflite
}

cycles() # FILE.sched
{
	sed -n 's/^target .* objective=\([^ ]*\).*/\1/p' "$1"
}

# at_most A B C: cycles A are at most B times cycles C
at_most()
{
	awk -v a="$1" -v b="$2" -v c="$3" 'BEGIN { exit !(a <= b * c) }'
}

# same MODEL N: the compiled x.tflite gives the same bytes as N runs of MODEL
same()
{
	npu-dis --verify -q x.tflite
	npu-sim --seed "$2" --frames 2 --compare "$1" x.tflite >/dev/null
}

@test "a fully connected network reads its weights once for a batch" {
	model fc
	npu-sched "${target[@]}" -o plain.sched <(tfl-partition fc.tflite)
	for n in 1 2 5 8; do
		compile fc.tflite --batch=$n
		grep -q "batch: a run takes the $n inputs\{0,1\} of --batch\$" notes
		grep -q "^model .* desired_batch_size=$n actual_batch_size=$n\$" x.sched
		same fc.tflite "$n"
		# one kernel for each operator at any batch size
		[ "$(grep -c '^op ' x.sched)" = "$(grep -c '^op ' plain.sched)" ]
		at_most "$(cycles x.sched)" "$n" "$(cycles plain.sched)"
	done
}

@test "a fan of convolutions runs a batch with cascades, joined and separate kernels" {
	"$chain" fan 11 >fan.tflite
	for o in --effort=3 --optimise=Size --arena-cache-size=90000; do
		compile fan.tflite --batch=3 $o
		grep -q "actual_batch_size=3" x.sched
		same fan.tflite 3
	done
}

@test "a batch has as many inputs as fit into the arena, and the reason for fewer is printed" {
	"$chain" fan 11 >fan.tflite
	compile fan.tflite --batch=1
	least=$(sed -n 's/^area  *arena .* used=\([0-9]*\).*/\1/p' x.sched)
	compile fan.tflite --batch=8 --arena-cache-size=$((2 * least))
	n=$(sed -n 's/.*a run takes \([0-9]*\) of .*/\1/p' notes)
	[ "$n" -ge 1 ] && [ "$n" -lt 8 ]
	grep -q "batch: a run takes $n of the 8 inputs of --batch: a larger batch" notes
	used=$(sed -n 's/^area  *arena .* used=\([0-9]*\).*/\1/p' x.sched)
	[ "$used" -le $((2 * least)) ]
	same fan.tflite "$n"
	refuses 1 "--require-batch: a batch of 8 is not possible, but $n is: " \
		npu-sched "${target[@]}" --batch=8 --require-batch \
		--arena-cache-size=$((2 * least)) x.part
	refuses 2 "--require-batch works only with --batch" npu-sched "${target[@]}" \
		--require-batch x.part
	refuses 2 "--batch" npu-sched "${target[@]}" --batch=0 x.part
}

@test "a model with a batch of its own or with CPU operators gets a batch of one, with the reason" {
	model own "$t[0].shape[0] = 4 | $t[-1].shape[0] = 4"
	compile own.tflite --batch=2
	grep -q "a run takes 1 of the 2 inputs of --batch: input 0 has a leading dimension of 4, not 1" notes
	same own.tflite 1
	model cpu '.operator_codes[0] = {"deprecated_builtin_code": 32,
		"builtin_code": 32, "custom_code": "A"} |
		del(.subgraphs[0].operators[0].builtin_options,
		.subgraphs[0].operators[0].builtin_options_type)'
	tfl-partition -o x.part cpu.tflite 2>/dev/null
	npu-sched "${target[@]}" --batch=2 -o x.sched x.part 2>notes
	grep -q "a run takes 1 of the 2 inputs of --batch: n0, .*, runs on the CPU" notes
}

@test "all readers of a compiled file know its batch" {
	model fc
	npucc "${target[@]}" --batch=4 --check --keep=kept -o fc.h fc.tflite >out 2>&1
	grep -q "_DESIRED_BATCH_SIZE 4" fc.h
	grep -q "_ACTUAL_BATCH_SIZE 4" fc.h
	each=$(sed -n 's/.*_INPUT_0_BYTES_EACH //p' fc.h)
	[ "$(sed -n 's/.*_INPUT_0_BYTES //p' fc.h)" = $((4 * each)) ]
	jq -e '.desired_batch_size == 4 and .actual_batch_size == 4 and .batch == 4' \
		kept/manifest.json
	for f in kept/*_npu.tflite kept/*.wenc; do
		p=(npu-perf "${target[@]:2}" "$f")
		"${p[@]}" --json | jq -e '.batch_size == 4 and
			.cycles_per_inference * 4 == .timeline_cycles'
		"${p[@]}" --summary-csv | grep -q ',4,'
		"${p[@]}" | grep -q "inferences/s (batch size 4)"
	done
	npu-sched "${target[@]}" --batch=4 --front --json kept/*.part |
		jq -e '.desired_batch_size == 4 and (.front | length) > 0'
	npu-sched "${target[@]}" --batch=4 --explain --json kept/*.part |
		jq -e '.actual_batch_size == 4'
}

@test "the bytes are the same at any -j" {
	"$chain" fan 11 >fan.tflite
	compile fan.tflite --batch=3 -j1
	mv x.sched one.sched
	compile fan.tflite --batch=3 -j4
	cmp one.sched x.sched
}

@test "metadata that contradicts the file's tensors is refused" {
	model fc
	compile fc.tflite --batch=4
	sed 's/actual_batch_size=4/actual_batch_size=3/' x.tflite >wrong.tflite
	refuses 2 "nputools.ends says that a run takes 3 inputs" npu-sim wrong.tflite
	sed 's/^batch desired_batch_size=4/batch desired_batch_size=2/' x.tflite >wrong.tflite
	refuses 2 "nputools.ends can't be read, or describes other tensors: line 2" \
		npu-perf "${target[@]:2}" wrong.tflite
}

@test "mkinput fills a batch from one file for each of its inputs" {
	d=$TOP/tests/models/digits
	npucc "${target[@]}" --batch=3 -o x.tflite "$d.tflite" 2>notes
	mkdir three
	for i in 0 3 7; do
		mkinput --range=0,1 --format=raw "$d.tflite" "$d/digit-$i.pgm" >"$i.raw"
		mkdir "three/$i"
		cp "$d/digit-$i.pgm" "three/$i"
	done
	cat 0.raw 3.raw 7.raw >want
	mkinput --range=0,1 --format=raw -o x.raw x.tflite "$d"/digit-{0,3,7}.pgm
	cmp x.raw want
	mkinput --format=raw -o y.raw x.tflite x.raw # all in one file
	cmp y.raw want
	refuses 2 "the model has 1 input, and a batch of 3, but there are 2 files: give one for each" \
		mkinput --range=0,1 x.tflite "$d"/digit-{0,3}.pgm
	# two frames of three inputs: each input is counted
	for i in 0 3 7; do cp "three/$i/digit-$i.pgm" "three/$i/again.pgm"; done
	mkinput --list=three --range=0,1 -o x.npy x.tflite
	npu-sim --frames=2 --reset -i x.npy -o out x.tflite >/dev/null
	head -c 128 out/output_0.npy | grep -aq "'shape': (2, 3, 10)"
	npu-eval --json x.labels out/output_0.npy |
		jq -e '.items == 6 and .outputs[0].right == 6'
	rm three/0/again.pgm
	refuses 2 "three: error: the list has 5 files, which is not a multiple of the model's batch of 3" \
		mkinput --list=three --range=0,1 -o x.npy x.tflite
}

@test "if memory is short, batching is chosen for each operation" {
	# 108,553 cycles for each inference if only thresholds decide.  The demo takes
	# 15,186 cycles with 40,000 free bytes and 15,620 with 25,000.
	local limit=150000 most=107600
	f=$(network person_detect)
	[ -z "${NPUTOOLS_QUICK-}" ] || f=$TOP/tests/models/digits.tflite
	[ "${f##*/}" != digits.tflite ] || limit=25000 most=15700
	compile "$f" --batch=4 --arena-cache-size=$limit
	grep -q "actual_batch_size=4" x.sched
	at_most "$(cycles x.sched)" 4 $most
	same "$f" 4
}

@test "batches of the models reach their targets" {
	local m f n one models=(ad01_int8 kws_ref_model person_detect trained_lstm_int8)
	[ -z "$SHARED" ] || [ -n "${NPUTOOLS_ALL-}" ] || skip "heavy: NPUTOOLS_ALL"
	[ -n "$SHARED" ] || models=(person_detect)
	for m in "${models[@]}"; do
		f=$(network "$m")
		compile "$f"
		one=$(cycles x.sched)
		for n in 2 4 8 16; do
			compile "$f" --batch=$n
			grep -q "actual_batch_size=$n" x.sched
			same "$f" "$n"
			at_most "$(cycles x.sched)" "$n" "$one"
		done
	done
}

@test "ad01_int8 takes a fifth of the cycles for each of eight inputs" {
	need_shared models/ad01_int8.tflite
	[ -z "${NPUTOOLS_QUICK-}" ] || skip "a search that others do with smaller models"
	compile "$SHARED/models/ad01_int8.tflite" --batch=8
	at_most "$(cycles x.sched)" 1.6 192944
	same "$SHARED/models/ad01_int8.tflite" 8
}

@test "each input of a batch has its own states" {
	local m
	m=$(network trained_lstm_int8)
	compile "$m"
	# a row of each state becomes two rows
	sed -n 's/^tensor .*shape=\(i[0-9]*\)\[1,\([0-9]*\)\].* variable=1.*/\1[2,\2]/p' x.sched >rows
	[ -s rows ]
	compile "$m" --batch=2
	sed -n 's/^tensor .*shape=\([^ ]*\) .* variable=1.*/\1/p' x.sched | cmp - rows
	same "$m" 2
}

@test "a batch has no more operations than the search allows" {
	[ -n "${NPUTOOLS_ALL-}" ] || skip "heavy: NPUTOOLS_ALL"
	"$chain" fan 11 >fan.tflite
	tfl-partition -o x.part fan.tflite
	npu-sched "${target[@]}" --batch=1024 -o x.sched x.part 2>notes
	n=$(sed -n 's/.*a run takes \([0-9]*\) of .*: a larger batch needs too many.*/\1/p' notes)
	[ "$n" -gt 100 ]
	[ "$(grep -c '^op ' x.sched)" -le 4096 ]
}
