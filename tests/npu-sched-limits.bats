# SPDX-License-Identifier: Apache-2.0
# More SRAM never costs more cycles, and limits are kept.

bats_require_minimum_version 1.5.0
load lib/common
load lib/timeline

one_sram=(--system-config Ethos_U55_High_End_Embedded --memory-mode Shared_Sram)
dedicated=(--system-config Ethos_U65_High_End --memory-mode Dedicated_Sram)

# cycles LIMIT OPTION...: the predicted cycles of m.part below the limit, or without one;
# prints nothing and returns 1 if there is no plan
cycles()
{
	local limit=(--arena-cache-size="$1")
	[ "$1" != none ] || limit=()
	shift
	npu-sched "$@" "${limit[@]}" m.part >m.sched 2>notes || return
	sed -n 's/^target .* objective=\([0-9.e+]*\).*/\1/p' m.sched
}

# monotone MODEL FROM TO STEP OPTION...: tries the limits from FROM to TO and then no
# limit.  Each is no slower than the one before, and after a possible limit all are
# possible.  NPUTOOLS_ALL tries all of them, otherwise every fourteenth is enough: a limit
# only selects from a front that is the same for all limits (npu-sched-front.bats).
monotone()
{
	local model=$1 from=$2 to=$3 step=$4 best='' limit now
	shift 4
	[ -n "${NPUTOOLS_ALL-}" ] || step=$((14 * step))
	[ -z "${NPUTOOLS_QUICK-}" ] || step=$((3 * step))
	tfl-partition -o m.part "$model" 2>notes
	for limit in $(seq "$from" "$step" "$to") none; do
		now=$(cycles "$limit" "$@") || {
			[ -z "$best" ] || { echo "$limit: no plan"; cat notes; false; }
			continue
		}
		[ -z "$best" ] || awk "BEGIN { exit !($now <= $best) }" || {
			echo "$model $*: $now at $limit, $best with less"
			false
		}
		best=$now
	done
	[ -n "$best" ]
}

chain=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model

# chained KIND N FROM TO STEP OPTION...: the same for a generated network
chained()
{
	[ -x "$chain" ] || skip "no $chain"
	"$chain" "$1" "$2" >chain.tflite
	monotone chain.tflite "${@:3}"
}

@test "more SRAM never costs more cycles: generated networks" {
	chained block 12 9000 45000 1200 -a ethos-u55-256 "${one_sram[@]}"
	chained conv 12 9000 45000 1200 -a ethos-u55-128 "${one_sram[@]}"
	chained fan 5 9000 60000 1700 -a ethos-u55-64 "${one_sram[@]}"
}

@test "more SRAM never costs more cycles: plans better than estimated" {
	local gen=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model
	[ -x "$gen" ] || skip "no $gen"
	"$gen" -g 138 >m.tflite
	monotone m.tflite 8600 13900 57 -a ethos-u55-256 "${one_sram[@]}"
	monotone m.tflite 9000 9900 97 -a ethos-u55-128 "${one_sram[@]}"
}

@test "more SRAM never costs more cycles: a residual network" {
	[ -n "$SHARED" ] || {
		monotone "$(network resnet_quant)" 9000 16000 250 -a ethos-u55-256 "${one_sram[@]}"
		return
	}
	monotone "$SHARED/models/resnet_quant.tflite" 30000 60000 700 \
		-a ethos-u55-256 "${one_sram[@]}"
	monotone "$SHARED/models/resnet_quant.tflite" 38300 40300 80 \
		-a ethos-u55-128 "${one_sram[@]}"
}

@test "more SRAM never costs more cycles: separable convolutions" {
	[ -n "$SHARED" ] || {
		monotone "$(network person_detect)" 1500 9000 250 -a ethos-u55-128 "${one_sram[@]}"
		return
	}
	monotone "$SHARED/models/kws_ref_model.tflite" 15000 60000 1500 \
		-a ethos-u55-128 "${one_sram[@]}"
	monotone "$SHARED/models/person_detect.tflite" 24000 124000 5000 \
		-a ethos-u55-256 "${one_sram[@]}"
	monotone "$SHARED/models/person_detect.tflite" 33016 33300 142 \
		-a ethos-u55-128 "${one_sram[@]}"
}

@test "more SRAM never costs more cycles: recurrent cells" {
	monotone "$(network trained_lstm_int8)" 1000 8000 200 \
		-a ethos-u55-256 "${one_sram[@]}"
}

@test "more SRAM never costs more cycles: feature maps may be spilled" {
	chained block 12 4000 40000 4000 -a ethos-u65-256 "${dedicated[@]}"
	[ -z "$SHARED" ] || monotone "$SHARED/models/resnet_quant.tflite" 8000 60000 6500 \
		-a ethos-u65-512 "${dedicated[@]}"
}

@test "more SRAM never costs more cycles: results overwrite inputs in the other memory" {
	local gen=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model
	[ -x "$gen" ] || skip "no $gen"
	"$gen" -g 1164 >m.tflite
	monotone m.tflite 16 112 8 -a ethos-u65-256 "${dedicated[@]}"
}

# The latency of transfers is most of the time of this network, so that with more memory the walk
# over the kernels may fetch what delays others.
@test "more SRAM costs at most 1 % more cycles: a small network with slow transfers" {
	need_shared models-real/wakeword_okay_nabu.tflite
	local limit now best=
	tfl-partition -a ethos-u65-512 "$SHARED/models-real/wakeword_okay_nabu.tflite" >m.part
	for limit in {5000..19000..1000}; do
		now=$(cycles "$limit" -a ethos-u65-512 "${dedicated[@]}" --model=robust)
		best=$(awk "BEGIN { least = \"$best\" == \"\" || $now < \"$best\" + 0 ? $now : $best + 0
			print least; exit !($now <= 1.01 * least) }") || { echo "$now at $limit"; false; }
	done
}

# a transfer that costs nothing at its own time may delay the next one
@test "no plan is slower than the plan that reads all weights in place" {
	local gen=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model target fast least
	[ -x "$gen" ] || skip "no $gen"
	"$gen" -g 316 | tfl-partition -o m.part 2>notes
	target=(-a ethos-u55-256 "${one_sram[@]}")
	fast=$(cycles none "${target[@]}")
	run cycles 16 "${target[@]}"
	least=$(sed -n 's/.*the smallest that works is \([0-9]*\)$/\1/p' notes)
	awk "BEGIN { exit !($fast <= $(cycles "$least" "${target[@]}")) }"
}

# A whole of 136 channels takes two blocks of full cost; slices of 128 and 8 channels cost
# less.  Slices may cost less than the lower bounds of whole operations.
@test "prescribed slices are no worse just below the memory that they need" {
	[ -x "$chain" ] || skip "no $chain"
	"$chain" conv 2 12 136 >m.tflite
	tfl-partition -o whole.part m.tflite 2>notes
	sed 's/^weights .*/& slices=0,128,136/' whole.part >m.part
	local options=(-a ethos-u55-256 --system-config Ethos_U55_High_End_Embedded
		--memory-mode Sram_Only) free used less
	free=$(cycles none "${options[@]}")
	used=$(sed -n 's/^area  *arena .*used=\([0-9]*\).*/\1/p' m.sched)
	less=$(cycles $((used - 16)) "${options[@]}")
	awk "BEGIN { exit !($less >= $free && $less < 1.1 * $free) }"
}

# least MODEL OPTION...: the limit that a refusal names is possible, and 16 bytes less are
# not
least()
{
	local least
	tfl-partition -o m.part "$1" 2>notes
	shift
	run cycles 16 "$@"
	[ "$status" -eq 1 ]
	least=$(sed -n 's/.*the smallest that works is \([0-9]*\)$/\1/p' notes)
	cycles "$least" "$@"
	run cycles $((least - 16)) "$@"
	[ "$status" -eq 1 ]
}

@test "a model that is too large to plan is refused with that reason" {
	need jq flatc
	local big='shape:[1,1024,1024,1200],type:9'
	jq '.operator_codes=[{deprecated_builtin_code:0,builtin_code:0}] |
		.buffers=[{}] | .subgraphs[0] |= (.inputs=[0,1] | .outputs=[2] |
		.tensors=[range(3) | {'"$big"',name:"t\(.)",
			quantization:{scale:[0.5],zero_point:[0]}}] |
		.operators=[{opcode_index:0,inputs:[0,1],outputs:[2],
			builtin_options_type:"AddOptions",builtin_options:{}}])' \
		"$BATS_TEST_DIRNAME/models/fc.json" >big.json
	flatc -b --strict-json "$BATS_TEST_DIRNAME/models/tflite.fbs" big.json
	tfl-partition -o big.part big.tflite
	for limit in "" --arena-cache-size=4096; do
		# shellcheck disable=SC2086
		refuses 1 "npu-sched: big.part: error: the network needs 2147483632 bytes of SRAM or more, which is more than npu-sched supports" \
			npu-sched -a ethos-u55-128 "${one_sram[@]}" $limit big.part
	done
}

# plans without a limit are packed with more effort, and slices pack differently from whole
# weights
@test "a refusal names the smallest possible limit" {
	local gen=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model
	[ -x "$gen" ] || skip "no $gen"
	"$gen" -g 379 >m.tflite
	least m.tflite -a ethos-u55-256 "${one_sram[@]}"
	least "$(network resnet_quant)" -a ethos-u55-256 "${one_sram[@]}"
	# mbv2 takes seconds
	least "$(network "$([ -n "${NPUTOOLS_ALL-}" ] && echo mbv2_int8 || echo kws_ref_model)")" -a ethos-u55-64 "${one_sram[@]}"
}

@test "a refusal names the fastest plan within the SRAM if two limits exclude each other" {
	local target=(-a ethos-u55-128 --system-config RTSS_HE_SRAM_MRAM
		--memory-mode Shared_Sram) bytes cycles
	tfl-partition "$TOP/tests/models/digits.tflite" >m.part
	npu-sched "${target[@]}" --front --json m.part >front.json
	read -r bytes cycles <<<"$(jq -r '.front[0] | "\(.sram) \(.objective | ceil)"' front.json)"
	refuses 1 "m.part: error: no plan within $bytes bytes of SRAM stays within $((cycles - 1)) cycles; the fastest one takes " \
		npu-sched "${target[@]}" --arena-cache-size="$bytes" \
		--max-cycles=$((cycles - 1)) m.part
	cycles=$(sed -n 's/.* takes \([0-9]*\) cycles by .*/\1/p' refuses.err)
	npu-sched "${target[@]}" --arena-cache-size="$bytes" --max-cycles="$cycles" m.part >m.sched
}

@test "no tensor is placed above the limit" {
	local limit used limits=(25008 33333 50000 70000)
	[ -n "$SHARED" ] || limits=(6272 9000 14000 20000)
	tfl-partition -o m.part "$(network person_detect)" 2>notes
	for limit in "${limits[@]}"; do
		npu-sched -a ethos-u55-256 "${one_sram[@]}" --arena-cache-size=$limit \
			m.part >m.sched 2>notes
		used=$(sed -n 's/^area  *arena .*used=\([0-9]*\).*/\1/p' m.sched)
		[ "$used" -le $limit ]
	done
}

# weigh PLACE...: the bytes used in these memories
weigh()
{
	sed -n "s/^area  *\($1\) .*used=\([0-9]*\).*/\2/p" m.sched |
		awk '{ sum += $1 } END { print sum + 0 }'
}

@test "Size keeps the limit, too, and accepts the smallest limit that a refusal names" {
	local limit limits=(28000 26000 24500 23000 22016 20000)
	[ -n "$SHARED" ] || limits=(9000 7000 5000 3000)
	tfl-partition -o m.part "$(network resnet_quant)" 2>notes
	for limit in "${limits[@]}"; do
		npu-sched -a ethos-u55-256 "${one_sram[@]}" --optimise=Size \
			--arena-cache-size=$limit m.part >m.sched 2>notes
		[ "$(weigh arena)" -le $limit ]
	done
	run -1 npu-sched -a ethos-u55-256 "${one_sram[@]}" --optimise=Size \
		--arena-cache-size=1000 m.part
	limit=$(grep -o 'works is [0-9]*' <<<"$output" | tr -dc 0-9)
	npu-sched -a ethos-u55-256 "${one_sram[@]}" --optimise=Size \
		--arena-cache-size="$limit" m.part >m.sched 2>notes
	[ "$(weigh arena)" -le "$limit" ]
}

@test "Size takes less memory if the NPU has an SRAM of its own" {
	local fast
	tfl-partition -o m.part "$(network resnet_quant)" 2>notes
	npu-sched -a ethos-u65-256 "${dedicated[@]}" m.part >m.sched 2>notes
	fast=$(weigh 'arena\|cache')
	npu-sched -a ethos-u65-256 "${dedicated[@]}" --optimise=Size --within=1000000 \
		m.part >m.sched 2>notes
	[ "$(weigh 'arena\|cache')" -lt $((fast / 2)) ]
}

@test "a limit is met if all feature maps may be spilled, or else the named limit is met" {
	local gen=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model
	[ -x "$gen" ] || skip "no $gen"
	local seed limit
	for seed in {430..450}; do
		"$gen" -g "$seed" >m.tflite
		tfl-partition -o m.part m.tflite 2>notes
		run npu-sched -a ethos-u65-256 "${dedicated[@]}" \
			--arena-cache-size=16 m.part
		[ "$status" = 1 ] || continue
		limit=$(grep -o 'works is [0-9]*' <<<"$output" | tr -dc 0-9)
		npu-sched -a ethos-u65-256 "${dedicated[@]}" \
			--arena-cache-size="$limit" m.part >m.sched 2>notes
		[ "$(weigh cache)" -le "$limit" ]
	done
}

# edit_chain PROGRAM: m.tflite is chain.tflite, three convolutions, after the jq program
edit_chain()
{
	flatc --json --strict-json --raw-binary "$TOP/tests/models/tflite.fbs" -- chain.tflite
	jq "$1" chain.json >m.json
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" m.json
}

# limits ACCELERATOR BYTES: the plan of least SRAM for m.part takes fewer bytes; all plans compute
# the same as m.tflite
limits()
{
	local goal used
	for goal in --optimise=Performance --optimise=Size --max-cycles=1000000000; do
		npu-sched -a "$1" "${one_sram[@]}" --any-accelerator $goal \
			m.part 2>notes >m.sched
		npu-wenc m.sched | npu-cmdgen -o c.tflite
		npu-dis --verify c.tflite >notes
		npu-sim --seed=5 --compare=m.tflite c.tflite >notes
	done
	used=$(weigh arena)
	echo "$1: $used bytes"
	[ "$used" -lt "$2" ]
}

# the first convolution reads a reshaped view, the second does not read the last of 18 rows
@test "cascades read reshaped tensors, and compute rows that nobody reads" {
	need flatc jq
	local a
	[ -x "$chain" ] || skip "no $chain"
	"$chain" conv 3 18 8 >chain.tflite
	edit_chain '.subgraphs[0].tensors[6, 9].shape = [1, 8, 8, 8]
		| .subgraphs[0].operators[1].builtin_options =
			{padding: 1, stride_w: 2, stride_h: 2}'
	for a in ethos-u55-128 ethos-u85-256; do
		tfl-partition -a $a -o m.part m.tflite 2>notes
		sed -i 's/ ifm=t0 / ifm=t0[18,18,8] /' m.part
		limits $a 4200 # 6,912 if the first two convolutions are computed whole
	done
}

# the second convolution does not read the last two of 20 rows
@test "rows that nobody reads are in no rolling buffer together with rows that are read" {
	need flatc jq
	local a
	[ -x "$chain" ] || skip "no $chain"
	"$chain" conv 3 20 8 >chain.tflite
	edit_chain '.subgraphs[0] |= (.tensors[0].shape[3] = 2 | .tensors[3].shape[3] = 32
		| .tensors[6].shape = [1, 6, 6, 2] | .tensors[9].shape = [1, 6, 6, 32]
		| .tensors[1, 7].shape = [32, 3, 3, 2] | .tensors[4].shape = [2, 3, 3, 32]
		| .operators[].inputs[2] = -1
		| .operators[1].builtin_options = {padding: 1, stride_w: 3, stride_h: 3})'
	for a in ethos-u55-128 ethos-u65-256 ethos-u85-256; do
		tfl-partition -a $a --no-rewrite=window -o m.part m.tflite 2>notes
		limits $a 2800 # 4,016 if all rows are made before the last read
		# windows that overlap in a padded copy are read row by row, too
		tfl-partition -a $a -o m.part m.tflite 2>notes
		limits $a 3300 # 13,680 if they are read as a whole
	done
}

# the second convolution reads 16 rows of 16x8 as 16 rows of 32x4
@test "a rolling buffer is read with another width and depth of the same rows" {
	need flatc jq
	local a
	[ -x "$chain" ] || skip "no $chain"
	"$chain" conv 3 16 8 >chain.tflite
	edit_chain '.operator_codes += [{deprecated_builtin_code: 22, builtin_code: 22, version: 1}]
		| .subgraphs[0] |= (.tensors += [.tensors[3]]
			| .tensors[-1].shape = [1, 16, 32, 4] | .tensors[-1].name = "view"
			| .tensors[4].shape = [16, 3, 3, 4] | .tensors[6].shape = [1, 16, 32, 16]
			| .tensors[7].shape = [4, 3, 3, 16] | .tensors[9].shape = [1, 16, 32, 4]
			| (.tensors | length - 1) as $view
			| .operators[1].inputs = [$view, 4, -1] | .operators[2].inputs[2] = -1
			| .operators = [.operators[0],
				{opcode_index: (.operators | 1), inputs: [3], outputs: [$view]},
				.operators[1, 2]])
		| .subgraphs[0].operators[1].opcode_index = (.operator_codes | length - 1)'
	for a in ethos-u55-128 ethos-u65-256 ethos-u85-256; do
		tfl-partition -a $a -o m.part m.tflite 2>notes
		grep -q ' ifm=t[0-9]*\[16,32,4\] ' m.part
		limits $a 4300 # 5,632 if the first convolution is computed whole
	done
}

# 72,192 with a coarser sequence of sizes
@test "networks of hundreds of operations are searched finely enough" {
	[ -x "$chain" ] || skip "no $chain"
	"$chain" block 240 64 8 >chain.tflite
	tfl-partition -o m.part chain.tflite 2>notes
	run npu-sched -a ethos-u55-128 "${one_sram[@]}" --arena-cache-size=16 m.part
	[ "$status" = 1 ]
	[ "$(grep -o 'works is [0-9]*' <<<"$output" | tr -dc 0-9)" -le 68096 ]
}

# 18,764,693 if candidates are compared with the estimate of a candidate without a plan
@test "feature maps are spilled so that the plan is the fastest" {
	need_shared models-real/deeplabv3_mnv2_dm05.tflite
	tfl-partition -a ethos-u65-512 --cpu=ARG_MAX -o m.part \
		"$SHARED/models-real/deeplabv3_mnv2_dm05.tflite" 2>notes
	run cycles none -a ethos-u65-512 "${dedicated[@]}"
	echo "$output"
	awk "BEGIN { exit !($output <= 18400000) }"
}

@test "ten thousand operations take at most 16 KB of memory each, 19 KB by the timeline" {
	local chain=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model
	local target=(-a ethos-u85-1024 --system-config Ethos_U85_SYS_DRAM_Mid
		--memory-mode Dedicated_Sram)
	[ -x "$chain" ] || skip "no $chain"
	(ulimit -v 60000 && npu-sched --version) || skip "sanitizers need more"
	"$chain" add 10000 >m.tflite
	tfl-partition -a "${target[1]}" -o m.part m.tflite
	(ulimit -v 160000 && command npu-sched -j1 --within=0 "${target[@]}" -o m.sched m.part)
	# a gigabyte before spills that cannot pay were left out
	(ulimit -v 230000 && command npu-sched -j1 --within=5 "${target[@]}" -o m.sched m.part)
	(ulimit -v 190000 && npu-sched -j1 "${target[@]}" -o m.sched m.part)
}

@test "three thousand inputs may be live at once" {
	local chain=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model
	[ -x "$chain" ] || skip "no $chain"
	"$chain" crowd 3000 4 16 >m.tflite
	tfl-partition -a ethos-u55-128 m.tflite |
		npu-sched -a ethos-u55-128 "${one_sram[@]}" | npu-wenc | npu-cmdgen -o npu.tflite
	npu-sim --compare=npu.tflite m.tflite
}
