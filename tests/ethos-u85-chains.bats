# SPDX-License-Identifier: Apache-2.0
# Elementwise operations of Ethos-U85 that are chained to the kernel before them.

load lib/common
load lib/timeline

GEN=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model

# chained MACS MODEL: makes sched and out.tflite, which must be exact; prints the number of
# chained operations
chained()
{
	tfl-partition -a "ethos-u85-$1" -o part "$2" 2>notes
	npu-sched -a "ethos-u85-$1" --system-config "$(sized "ethos-u85-$1")" \
		--memory-mode Dedicated_Sram -o sched part 2>notes
	npu-wenc -o wenc sched
	npu-cmdgen -o out.tflite wenc
	npu-dis --verify --source wenc out.tflite >verified
	npu-sim --quiet --seed "$1" --compare "$2" out.tflite >ran
	grep -c '^op .* chain=ifm' sched
}

# refused SED TEXT: the schedule after this edit is refused
refused()
{
	sed "$1" sched >bad
	refuses 2 "$2" npu-wenc bad
}

@test "random networks with chains are exact on five sizes" {
	for n in 128 256 512 1024 2048; do
		"$GEN" 1 SQUARED_DIFFERENCE >m.tflite
		[ "$(chained $n m.tflite)" -ge 1 ]
		# words as scalars leave the timeline little reason to chain
		"$GEN" 2 LOG_SOFTMAX >m.tflite
		[ "$(chained $n m.tflite)" -ge 3 ]
		"$GEN" 3 UNIDIRECTIONAL_SEQUENCE_LSTM >m.tflite
		[ "$(chained $n m.tflite)" -ge 4 ]
	done
	# also behind operations with weights
	awk '
		/^op / { kind[$2] = $3; chain[$2] = / chain=/ }
		/^step .* run=/ {
			o = $3
			sub(/run=/, "", o)
			found += chain[o] && kind[last] == "do=fc"
			last = o
		}
		END { exit !found }' sched
}

@test "an operand in a chain may be repeated along an axis" {
	for n in 128 256 1024; do
		"$GEN" 1 PRELU >m.tflite
		[ "$(chained $n m.tflite)" -ge 1 ]
		# the product with a factor for each channel
		grep -q '^op .* do=mul .* ifm2=.* chain=ifm' sched
	done
}

# INT8 to INT64: the upper words are the sign of the lower words, in the same tensor
@test "a chain does not overwrite the inputs of its kernels" {
	"$GEN" 910091 1.2=0 1.4=0 1.5=0 1.6=0 1.7=0 1.8=0 1.9=0 1.10=0 1.11=4 1.12=0 \
		0.2=0 >m.tflite
	run chained 128 m.tflite
	[ "$output" = 0 ]
	[ -s ran ]
	grep -q ' do=min .* ofm=t1' sched
}

@test "a chain is one kernel, whose members read chain buffers" {
	"$GEN" 1 SQUARED_DIFFERENCE >m.tflite
	[ "$(chained 512 m.tflite)" -ge 1 ]
	npu-dis --high-level out.tflite | grep -q 'ofm=[^ ]*,chain0'
	npu-dis --high-level out.tflite | grep -q 'ifm2*=[^ ]*,chain0'
	# with the feature map in memory, the plan takes longer and the results are the same
	cycles=$(sed -n 's/^target .* objective=\([0-9]*\).*/\1/p' sched)
	sed '/^op .*round=/s/ round=/ chain=none round=/' part >apart
	npu-sched -a ethos-u85-512 --system-config Ethos_U85_SYS_DRAM_Mid \
		--memory-mode Dedicated_Sram -o plain apart 2>notes
	npu-wenc plain | npu-cmdgen -o plain.tflite
	npu-sim --seed 1 --compare m.tflite plain.tflite
	more=$(npu-perf --json --system-config Ethos_U85_SYS_DRAM_Mid \
		--memory-mode Dedicated_Sram plain.tflite | cycles_of timeline_cycles)
	[ "$cycles" -lt "${more%.*}" ]
}

@test "a chained feature map has no address, and a chain takes one time step" {
	"$GEN" 1 SQUARED_DIFFERENCE >m.tflite
	[ "$(chained 512 m.tflite)" -ge 1 ]
	for t in $(sed -n 's/^op .* ifm=\(t[0-9]*\).* chain=ifm .*/\1/p' sched); do
		grep "^tensor *$t " sched >made
		! grep -E ' (at|live)=' made || false
	done
	# one step for each operation; the number of time steps is that of kernels that are
	# not a chain's member
	steps=$(grep -c '^step .* run=' sched)
	last=$(sed -n 's/^tensor .* live=[0-9]*:\([0-9]*\).*/\1/p' sched | sort -n | tail -1)
	[ $(((last + 1) / 2)) = $((steps - $(grep -c ' chain=ifm' sched))) ]
	refused "s/ live=$last:$last/ live=$((last + 2)):$((last + 2))/" 'but it is used at'
}

@test "the front includes chains: the limit of a row gives its cycles" {
	memory=(--system-config Ethos_U85_SYS_DRAM_Low --memory-mode Dedicated_Sram)
	for kind in 3:UNIDIRECTIONAL_SEQUENCE_LSTM 2:LOG_SOFTMAX; do
		"$GEN" "${kind%:*}" "${kind#*:}" >m.tflite
		tfl-partition -a ethos-u85-256 -o part m.tflite 2>notes
		npu-sched -a ethos-u85-256 "${memory[@]}" --front -o front part 2>notes
		# every fourth row in a quick run
		tail -n +2 front | cut -f1,3 | awk -v quick="${NPUTOOLS_QUICK-}" \
			'quick == "" || NR % 4 == 1' >rows
		[ -s rows ]
		while read -r bytes cycles; do
			npu-sched -a ethos-u85-256 "${memory[@]}" -o sched \
				--arena-cache-size="$((bytes ? bytes : 1))" part 2>notes
			npu-wenc sched | npu-cmdgen -o out.tflite
			got=$(npu-perf "${memory[@]}" --json out.tflite 2>notes |
				cycles_of timeline_cycles)
			# npu-perf rounds
			awk -v a="$cycles" -v b="$got" 'BEGIN { d = a - b; exit d * d > 0.25 }'
		done <rows
		grep -q ' chain=ifm' sched
	done
	grep -q 'operations chained 0 -> ' front
}

@test "blocks and chains that the graph prescribes are used" {
	"$GEN" 1 SQUARED_DIFFERENCE >m.tflite
	[ "$(chained 512 m.tflite)" -ge 1 ]
	for say in chain=none block=2x2x16; do
		sed "/^op /s/ round=/ $say round=/" part >said
		npu-sched -a ethos-u85-512 --system-config Ethos_U85_SYS_DRAM_Mid \
			--memory-mode Dedicated_Sram -o sched said 2>notes
		! grep ' chain=ifm' sched || false
	done
}

@test "an impossible chain is refused" {
	"$GEN" 1 SQUARED_DIFFERENCE >m.tflite
	[ "$(chained 512 m.tflite)" -ge 1 ]
	o=$(sed -n 's/^op *\(o[0-9]*\) .* chain=.*/\1/p' sched | head -1)
	refused 's/ethos-u85-512/ethos-u65-512/' 'has no chains'
	refused "/^step .* run=$o\\($\\| \\)/s/\$/ rows=0:1/" 'whole operations'
	refused "/^op *$o /s/ block=[0-9x]*/ block=2x2x16/" 'in extents, type or block'
	first=$(sed -n 's/^op *\(o[0-9]*\) .*/\1/p' sched | head -1)
	refused "/^op *$first /s/ block=/ chain=ifm block=/" 'nothing runs before it'
	sed "/^op *$first /s/\$/ chain=ifm/" part >bad
	refuses 2 "chain= is not allowed before npu-sched has run" npu-sched -a ethos-u85-512 \
		--system-config Ethos_U85_SYS_DRAM_Mid --memory-mode Dedicated_Sram bad
}

@test "residual additions take almost no time" {
	local model=$SHARED/models/resnet_quant.tflite least=3 few many
	local target=(-a ethos-u85-128 --system-config Ethos_U85_SYS_DRAM_Low
		--memory-mode Dedicated_Sram)
	if [ -z "$SHARED" ]; then
		model=$PWD/block.tflite least=2
		"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model" block 6 24 32 >"$model"
	fi
	tfl-partition -a ethos-u85-128 -o part "$model" 2>notes
	sed '/^op .* do=add /s/$/ chain=none/' part >apart
	npu-sched "${target[@]}" -o sched part 2>notes
	npu-sched "${target[@]}" -o plain apart 2>notes
	[ "$(grep -c '^op .* do=add .* chain=ifm' sched)" -ge $least ]
	run ! grep -q '^op .* do=add .* chain=ifm' plain
	few=$(sed -n 's/^target .* objective=\([0-9]*\).*/\1/p' sched)
	many=$(sed -n 's/^target .* objective=\([0-9]*\).*/\1/p' plain)
	echo "$few cycles, $many without chains"
	[ $((few * 100)) -lt $((many * 95)) ]
}
