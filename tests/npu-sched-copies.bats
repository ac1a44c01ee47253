# SPDX-License-Identifier: Apache-2.0
# Network inputs and outputs of an NPU with its own SRAM are copied by the DMA engine if
# that is faster than kernels that access the other memory.

load lib/common
load lib/timeline
bats_require_minimum_version 1.5.0

gen=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model
chain=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model
target=(-a ethos-u65-512 --system-config Ethos_U65_High_End
	--memory-mode Dedicated_Sram)

# schedule OPTION...: schedules the network that recognises digits
schedule()
{
	tfl-partition -o d.part "$TOP/tests/models/digits.tflite"
	npu-sched "${target[@]}" "$@" -o d.sched d.part 2>notes
}

copies()
{
	grep -c '^op .* do=copy ' "$1" || true
}

cycles()
{
	sed -n 's/^target .* objective=\([0-9]*\).*/\1/p' "$1"
}

# finish [MODEL]: the stream passes the verifier, matches the graph and computes exact
# results
finish()
{
	npu-wenc -o d.wenc d.sched
	npu-cmdgen -o d_npu.tflite d.wenc
	npu-dis --verify -q d_npu.tflite
	npu-dis --verify --source=d.wenc -q d_npu.tflite
	npu-sim --seed 1 --compare d_npu.tflite "${1-$TOP/tests/models/digits.tflite}"
}

@test "the input and the result are copied while kernels run" {
	[ -x "$chain" ] || skip "no $chain"
	"$chain" conv 2 64 32 >d.tflite
	for limit in 400000 40000; do
		tfl-partition d.tflite | npu-sched "${target[@]}" \
			--arena-cache-size=$limit -o d.sched 2>notes
		copy=$(sed -n 's/^op *\(o[0-9]*\) do=copy .* ifm=t0 .*/\1/p' d.sched)
		[ "$(copies d.sched)" = 2 ]
		# the copy of one stripe more than the first kernel reads is in progress
		# before that kernel
		sed -n 's/^step .* run=\(o[0-9]*\) rows=\([0-9]*:[0-9]*\).*/\1 \2/p' \
			d.sched >runs
		first=$(grep -n '^o0 ' runs | head -1)
		reads=$((${first##*:} + 1)) # a kernel of 3x3
		ahead=$(head -n "${first%%:*}" runs | grep "^$copy " | tail -1)
		[ "${ahead#*:}" -gt "$reads" ]
		finish d.tflite
	done
}

@test "without a small limit, plans with copies are faster than plans without" {
	schedule
	fast=$(cycles d.sched)
	schedule --arena-cache-size=16
	[ "$(copies d.sched)" = 0 ]
	[ "$fast" -lt "$(cycles d.sched)" ]
	finish
}

@test "with almost no SRAM there are no copies" {
	schedule --arena-cache-size=16
	[ "$(copies d.sched)" = 0 ]
	finish
}

@test "plans with copies stay below any limit" {
	before=0 limits=(20000 8000 4000 2000 1000)
	[ -z "${NPUTOOLS_QUICK-}" ] || limits=(20000 4000 1000)
	for limit in "${limits[@]}"; do
		schedule --arena-cache-size=$limit
		[ "$(sed -n 's/^area *cache .* used=\([0-9]*\).*/\1/p' d.sched)" -le $limit ]
		[ "$(cycles d.sched)" -ge $before ]
		before=$(cycles d.sched)
		finish
	done
}

@test "with the arena in the NPU's SRAM there are no copies" {
	tfl-partition "$TOP/tests/models/digits.tflite" |
		npu-sched -a ethos-u65-512 --system-config Ethos_U65_High_End \
			--memory-mode Sram_Only -o d.sched 2>notes
	[ "$(copies d.sched)" = 0 ]
}

# by_hand: a copy written by hand: a convolution reads its input through t90
by_hand()
{
	[ -x "$chain" ] || skip "no $chain"
	"$chain" conv 1 24 16 >d.tflite
	tfl-partition d.tflite >d.part
	sed -n 's/^tensor  *t0 \(shape=[^ ]*\) .*\(scale=[^ ]* zero=[^ ]*\) .*/tensor t90 \1 name="copied" \2/p' \
		d.part >tensor
	sed -e '/^tensor  *t0 /r tensor' -e '/^op  *o0 /{
		s/ ifm=t0 / ifm=t90 /
		i op o90 do=copy node=n0 name="first" ifm=t0 ofm=t90
	}' d.part >hand.part
	line=$(grep -n '^op o90 ' hand.part | cut -d: -f1)
}

@test "a copy written by hand is made on any accelerator" {
	by_hand
	for a in u55-32 u55-256 u65-256; do
		system=Ethos_U${a:1:2}_High_End
		[ "$system" != Ethos_U55_High_End ] || system+=_Embedded
		npu-sched -a ethos-$a --system-config $system \
			--memory-mode Sram_Only -o d.sched hand.part 2>notes
		finish d.tflite
		npu-cmdgen --emit=words d.wenc >words
		[ "$(grep -c DMA_START words)" = "$(grep -c 'run=o90' d.sched)" ]
		npu-cmdgen --verbose-high-level-command-stream -o d_npu.tflite \
			d.wenc >listing 2>&1
		grep '<DMA: name=first, in=t0, out=t90, rows 0 to' listing
	done
}

@test "a copy needs contiguous elements and a destination tensor of the same kind" {
	by_hand
	sed '/^op o90/s/ofm=t90/&[24,12,16]@0,0,0/; /^op o90/s/ifm=t0/&[24,12,16]@0,12,0/' hand.part >bad.part
	run -2 npu-sched "${target[@]}" bad.part
	[ "${lines[-1]}" = "npu-sched: bad.part:$line: error: o90: a copy needs contiguous elements, and another tensor of the same type, layout and shape" ]
	sed '/^op o90/s/ofm=t90/ifm2=t0 &/' hand.part >bad.part
	run -2 npu-sched "${target[@]}" bad.part
	[ "${lines[-1]}" = "npu-sched: bad.part:$line: error: o90: a copy takes one operand" ]
}

@test "rows of a rolling buffer are copied only in contiguous pieces" {
	[ -x "$chain" ] || skip "no $chain"
	"$chain" conv 2 64 32 >d.tflite
	tfl-partition d.tflite | npu-sched "${target[@]}" -o d.sched 2>notes
	map=$(sed -n 's/^op .* do=copy .* ifm=t0 ofm=\(t[0-9]*\).*/\1/p' d.sched)
	rows=$(sed -n "s/^tensor  *$map .* rows=\([0-9]*\).*/\1/p" d.sched)
	sed "s/^\(tensor  *$map .* rows=\)$rows/\1$((rows - 1))/" d.sched >bad.sched
	run -2 npu-wenc bad.sched
	[[ ${lines[-1]} == *"of $map, a rolling buffer of $((rows - 1)) rows: they are not contiguous" ]]
}

@test "a move of contiguous bytes is a DMA transfer" {
	[ -x "$gen" ] || skip "no $gen"
	moved=0
	models=(SPLIT\ 1 PACK\ 3 CONCATENATION\ 1 EXPAND_DIMS\ 3)
	[ -n "${NPUTOOLS_QUICK-}" ] || models+=(PACK\ {4,6} CONCATENATION\ {3,7})
	for model in "${models[@]}"; do
		"$gen" "${model#* }" "${model% *}" >d.tflite
		for a in u55-128 u65-512; do
			system=Ethos_U${a:1:2}_High_End mode=Dedicated_Sram
			[ "$a" = u65-512 ] || system+=_Embedded mode=Shared_Sram
			tfl-partition d.tflite 2>notes | npu-sched -a ethos-$a \
				--system-config $system --memory-mode $mode \
				-o d.sched 2>notes
			grep -q '^step' d.sched || continue
			moved=$((moved + $(copies d.sched)))
			finish d.tflite
		done
	done
	[ "$moved" -gt 0 ]
}

@test "a tensor that a pool or a transfer moves gets no copy of its own" {
	# one operation writes the begin of the result, and another one reads it there
	"$gen" -g 90018 4.0=1 2.0=1 1.0=1 3.2=0 3.3=0 3.4=0 3.5=0 3.6=0 3.9=0 3.10=0 \
		3.11=0 3.12=1 3.13=0 3.14=0 0.2=0 3.7=1 3.8=0 >m.tflite
	tfl-partition -o m.part m.tflite
	npu-sched "${target[@]}" -o d.sched m.part 2>notes
	finish m.tflite
}

# found by random models
@test "a result that transfers write in part has no copy" {
	[ -x "$gen" ] || skip "no $gen"
	for seed in 8 14; do
		"$gen" $seed GATHER_ND >d.tflite
		tfl-partition d.tflite | npu-sched "${target[@]}" -o d.sched 2>notes
		finish d.tflite
	done
}

@test "weights are fetched before a copy that follows in the graph, even if no bound demands it" {
	[ -x "$gen" ] || skip "no $gen"
	"$gen" -g 129 4.0=1 1.2=0 1.6=0 1.10=1 1.11=3 1.16=0 1.17=0 1.18=0 1.2{5..9}=0 \
		1.3{0..4}=0 2.1=1 2.5=0 2.9=1 2.12=0 2.14=117 2.15=0 2.16=0 3.2=0 3.3=0 \
		3.4=0 3.7=1 3.8=0 3.9=0 3.1{0..9}=0 3.2{0..9}=0 3.3{0..4}=0 0.2=0 1.12=1 \
		2.3=0 2.7=0 2.10=0 2.11=0 >d.tflite
	tfl-partition d.tflite 2>notes | npu-sched "${target[@]}" -o d.sched 2>notes
	finish d.tflite
}

# found by random models
@test "the search knows that U55 copies 16 bytes of a tensor of 4" {
	local bytes planned
	"$gen" -g 1024 >m.tflite
	tfl-partition -o m.part m.tflite
	target=(-a ethos-u55-128 --system-config Ethos_U55_High_End_Embedded
		--memory-mode Shared_Sram --model=calibrated)
	npu-sched "${target[@]}" --front -o front.tsv m.part 2>notes
	read -r bytes planned _ < <(tail -n 1 front.tsv)
	npu-sched "${target[@]}" --arena-cache-size="$bytes" -o d.sched m.part 2>notes
	[ "$(copies d.sched)" = 1 ]
	[ "$(cycles d.sched)" = "${planned%.*}" ]
}

@test "copies get numbers of their own if the numbers of operations have gaps" {
	local kind gap n
	[ -x "$chain" ] || skip "no $chain"
	for kind in conv add block; do
		"$chain" $kind 4 >m.tflite
		tfl-partition -o m.part m.tflite 2>notes
		n=$(grep -c '^op ' m.part)
		for gap in 1 2 3; do
			awk -v last=o$((n - 1)) -v o=o$((n - 1 + gap)) \
				'$1 == "op" && $2 == last { $2 = o } { print }' m.part >gap.part
			npu-sched "${target[@]}" -o d.sched gap.part 2>notes
			[ "$(copies d.sched)" -gt 0 ]
			finish m.tflite
		done
	done
}
