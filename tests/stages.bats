# SPDX-License-Identifier: Apache-2.0
# The text format between the stages, on real models: it round-trips, may be edited, and is
# checked for consistency.  Refusals of small edited graphs are in tests/cases/.

load lib/common
load lib/model

digits=$BATS_TEST_DIRNAME/models/digits.tflite
memory=(--system-config Ethos_U55_High_End_Embedded --memory-mode Shared_Sram)

# stages MODEL [OPTION...]: makes m.part, m.sched and m.wenc; the options are npu-sched's
stages()
{
	tfl-partition -o m.part "$1"
	npu-sched -a ethos-u55-128 "${memory[@]}" "${@:2}" -o m.sched m.part 2>notes ||
		{ cat notes; return 1; }
	npu-wenc -o m.wenc m.sched
}

# models of moderate size; every tenth in a quick run
models()
{
	local step=1
	[ -z "${NPUTOOLS_QUICK-}" ] || step=10
	echo "$digits"
	models_or_stand_ins | awk -v s=$step 'NR % s == 0'
}

@test "at every stage, a graph that was printed, read and printed again is the same" {
	round=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/graph_text
	[ -x "$round" ] || skip "no $round"
	while read -r m; do
		stages "$m"
		"$round" m.part m.sched m.wenc
	done < <(models)
	# the comparison can fail
	sed 's/ = */=/; s/^op  */op /' m.part >other.part
	run "$round" other.part
	[ "$status" = 1 ]
}

@test "numbers of records may have gaps and any order" {
	model m ".operator_codes += [{deprecated_builtin_code:9, builtin_code:9, version:4}]
		| $t += [$t[3]] | $t[4].name = \"other\" | .subgraphs[0].outputs = [3,4]
		| .subgraphs[0].operators += [.subgraphs[0].operators[0]]
		| .subgraphs[0].operators[1].outputs = [4]"
	tfl-partition -a ethos-u65-256 m.tflite >m.part
	local memory=(--system-config=Ethos_U65_High_End --memory-mode=Dedicated_Sram) to
	for to in o0 o2 o3 o9; do
		sed "s/^\(op *\)o0 /\1$to /" m.part >gap.part
		npu-sched -a ethos-u65-256 "${memory[@]}" gap.part | npu-wenc >gap.wenc
	done
}

@test "numbers up to the limits are read, and larger ones are refused" {
	reads() # TEXT MESSAGE; an empty message means that the number is accepted
	{
		sed "s/^area .* used=[^ ]*/area arena region=1 used=$1/; s/ bound=[^ ]*//" \
			m.sched >n.sched
		run npu-wenc -o n.wenc n.sched
		[[ $output = *"$2"* ]] || { echo "$1: $output"; return 1; }
		[ "$status" = "$([ -z "$2" ] && echo 0 || echo 2)" ]
	}
	stages "$digits"
	for n in 999999999999999999 1000000000000000000 9223372036854775807 \
		0x7fffffffffffffff 00000000000000000999999; do
		reads "$n" ""
	done
	for n in -9223372036854775808 -1 0 9; do
		reads "$n" "exceeds the arena, which has $n bytes"
	done
	reads 000000000000000000007 "which has 7 bytes"
	reads 0x1f "which has 31 bytes"
	for n in "" x - 9223372036854775808 -9223372036854775809 0x8000000000000000 \
		18446744073709551616 100000000000000000000; do
		reads "$n" "used needs a whole number"
	done
	for n in 0x 12x 999999999999999999x; do
		reads "$n" "used has 'x' after its value"
	done
}

@test "comments and x- keys are copied to the last stage" {
	tfl-partition "$digits" | sed -e '/^op .*o1 /s/$/ x-mine="a b" # kept/' \
		-e '/^tensor .*t2 /i # a line above' \
		-e '/^eof/i # the end' >m.part
	npu-sched -a ethos-u55-128 "${memory[@]}" m.part 2>/dev/null |
		npu-wenc >m.wenc
	grep -q '^op .*o1 .* x-mine="a b"  # kept$' m.wenc
	grep -A1 '^# a line above$' m.wenc | grep -q '^tensor  t2 '
	tail -2 m.wenc | head -1 | grep -qx '# the end'
	npu-cmdgen -o edited.tflite m.wenc
	stages "$digits"
	npu-cmdgen m.wenc | cmp - edited.tflite
}

@test "a block that was edited by hand is used, and the results are equal" {
	tfl-partition "$digits" | sed '/^op .*o1 /s/$/ block=4x8x16/' >m.part
	npu-sched -a ethos-u55-128 "${memory[@]}" m.part 2>/dev/null >m.sched
	grep -q '^op .*o1 .* block=4x8x16 ' m.sched
	npu-wenc m.sched | npu-cmdgen -o m_npu.tflite
	npu-dis --verify m_npu.tflite
	npu-sim --compare="$digits" m_npu.tflite
}

@test "a block dependency that was edited by hand is used, and a wrong one is refused" {
	stages "$digits"
	sed "/^op /s/ blockdep=[0-3]//; /^op /s/\$/ blockdep=0/" m.wenc >edited.wenc
	npu-cmdgen --emit=words edited.wenc |
		awk '/NPU_SET_BLOCKDEP/ { print $NF }' >deps
	[ "$(cat deps)" = 0 ] # written once, as the value never changes
	sed -i "/^op /s/ blockdep=0/ blockdep=3/" edited.wenc
	refuses 2 ": BLOCKDEP 3: a block of " npu-cmdgen edited.wenc
	grep -q ' breaks rule 47: ' refuses.err
}

@test "an address that was edited by hand is kept" {
	tfl-partition "$digits" >m.part
	name=$(sed -n 's/^tensor .* name="\([^"]*\)".* io=in.*/\1/p' m.part)
	[ -n "$name" ]
	sed -i '/^tensor .* io=in/s/$/ at=0x1000/; 0,/^weights /s/^weights .*/& at=0x800/' m.part
	npu-sched -a ethos-u55-128 "${memory[@]}" m.part 2>/dev/null | npu-wenc >m.wenc
	grep -q '^tensor .* io=in .* at=0x1000 ' m.wenc
	grep -q '^weights .* at=0x800$' m.wenc
	grep -q '^code .*scales=0x800:' m.wenc
	npu-cmdgen -o m_npu.tflite m.wenc
	npu-dis --verify m_npu.tflite
	npu-sim --compare="$digits" m_npu.tflite
}

@test "a changed blob is detected by its hash, a truncated one by its length" {
	stages "$digits"
	sed '/^blob  *model/{n;s/^..../AAAA/}' m.sched >bad.sched
	refuses 2 'blob model hashes to' npu-wenc bad.sched
	sed '/^blob  *model/{n;d}' m.sched >bad.sched
	refuses 2 'blob model ' npu-wenc bad.sched
	sed '/^blob  *flash/{n;s/^..../AAAA/}' m.wenc >bad.wenc
	refuses 2 'blob flash hashes to' npu-cmdgen bad.wenc
	sed '/^blob  *model/s/xxh3=................/xxh3=0123456789abcdef/' \
		m.wenc >bad.wenc
	refuses 2 ', not to 0123456789abcdef' npu-cmdgen bad.wenc
	sed -i '/^blob  *model/{s/^/# /}' m.wenc
	refuses 2 'm.wenc:' npu-cmdgen m.wenc
}

@test "a truncated file is refused at any length" {
	stages "$digits"
	n=$(wc -c <m.wenc)
	for i in 1 2 3 5 8 13 21 34 55 89; do
		head -c $((n * i / 90)) m.wenc >cut.wenc
		refuses 2 'cut.wenc:' npu-cmdgen cut.wenc
	done
	head -c $((n - 1)) m.wenc >cut.wenc # only the last newline is missing: the file is complete
	npu-cmdgen -o m_npu.tflite cut.wenc
}

@test "each stage names the missing stage" {
	stages "$digits"
	refuses 2 'm.part:1: error: npu-sched has not run' npu-wenc m.part
	refuses 2 'm.sched:1: error: npu-wenc has not run' npu-cmdgen m.sched
	refuses 2 'm.part:1: error: npu-sched has not run' npu-cmdgen m.part
	refuses 2 'is scheduled already' npu-sched -a ethos-u55-128 "${memory[@]}" \
		m.sched
	refuses 2 'the graph is encoded already' npu-wenc m.wenc
}

@test "blobs by name give the same model as embedded blobs" {
	cp "$digits" d.tflite
	tfl-partition d.tflite | npu-sched -a ethos-u55-128 "${memory[@]}" \
		2>/dev/null | npu-wenc | npu-cmdgen -o embedded.tflite
	tfl-partition --by-name d.tflite >m.part
	grep -q '^blob .*from="d.tflite"' m.part
	npu-sched -a ethos-u55-128 "${memory[@]}" --permit=d.tflite m.part 2>/dev/null |
		npu-wenc --blob=d.flash --permit=. -o m.wenc
	grep -q '^blob .*from="d.flash"' m.wenc
	[ "$(wc -c <m.wenc)" -lt 40000 ]
	npu-cmdgen --permit=d.tflite --permit=d.flash -o named.tflite m.wenc
	cmp embedded.tflite named.tflite
	# as in npucc: the file comes from a pipe and is named
	tfl-partition --by-name=d.tflite <d.tflite |
		npu-sched -a ethos-u55-128 "${memory[@]}" --permit=. 2>/dev/null |
		npu-wenc --permit=. | npu-cmdgen --permit=. -o piped.tflite
	cmp embedded.tflite piped.tflite
	# the named file must still have the same bytes
	printf x | dd of=d.flash bs=1 seek=5 conv=notrunc status=none
	refuses 2 'blob flash hashes to' npu-cmdgen --permit=. m.wenc
	truncate -s -1 d.flash
	refuses 2 'blob flash: d.flash has' npu-cmdgen --permit=. m.wenc
}

@test "the number of threads does not change schedules and weights" {
	while read -r m; do
		tfl-partition -o m.part "$m"
		for j in 1 8; do
			npu-sched -a ethos-u55-256 "${memory[@]}" -j $j \
				-o $j.sched m.part 2>/dev/null
			npu-wenc -j $j -o $j.wenc 1.sched
		done
		cmp 1.sched 8.sched
		cmp 1.wenc 8.wenc
	done < <(models | awk 'NR % 6 == 1')
}

@test "if there are several faults, the first in the graph is reported, at any -j" {
	stages "$digits"
	# the weights of o3 end early, which is detected last; o8 is read before it is
	# written
	sed '/^code .* weights=w3 /s/:[0-9]*$/:16/; /^op /s/ blockdep=[0-3]//
		/^op /s/$/ blockdep=3/' m.wenc >bad.wenc
	for j in 1 8; do
		refuses 2 'o3 breaks rule 43: DEPTHWISE: weights of core 0' \
			npu-cmdgen -j $j bad.wenc
	done
}

# predicted MODEL OPTION...: the predicted cycles are the cycles that npu-perf reports
predicted()
{
	tfl-partition "$1" | npu-sched "${@:2}" 2>/dev/null | npu-wenc >m.wenc
	npu-cmdgen -o m_npu.tflite m.wenc
	local want got
	want=$(sed -n 's/^target .* cycles=\([^ ]*\).*/\1/p' m.wenc)
	# no operation on the NPU: there is no stream to estimate
	[ "$want" != 0 ] || return 0
	got=$(npu-perf --json "${@:4}" m_npu.tflite | cycles_of calibrated_cycles)
	# npu-perf prints whole cycles
	awk -v a="$want" -v b="$got" 'BEGIN { d = a - b; exit d * d > 0.2501 }' ||
		{ echo "$*: predicted $want, npu-perf says $got"; return 1; }
}

@test "predicted cycles are the estimate of the finished file" {
	local n=0 i u55=(ethos-u55-32 ethos-u55-64 ethos-u55-128 ethos-u55-256)
	local u65=(ethos-u65-256 ethos-u65-512)
	# one accelerator of each generation in turn, or all with NPUTOOLS_ALL
	while read -r m; do
		n=$((n + 1))
		for i in 0 1 2 3; do
			[ $((n % 4)) = $i ] || [ -n "${NPUTOOLS_ALL-}" ] || continue
			predicted "$m" -a "${u55[i]}" "${memory[@]}"
		done
		for i in 0 1; do
			[ $((n % 2)) = $i ] || [ -n "${NPUTOOLS_ALL-}" ] || continue
			predicted "$m" -a "${u65[i]}" --system-config Ethos_U65_High_End \
				--memory-mode Dedicated_Sram
		done
	done < <(models)
}

@test "the message for an impossible limit names the smallest possible limit" {
	while read -r m; do
		tfl-partition -o m.part "$m"
		grep -q '^op ' m.part || continue
		args=(-a ethos-u55-128 "${memory[@]}")
		refuses 1 'the smallest that works is' \
			npu-sched "${args[@]}" --arena-cache-size=16 m.part
		least=$(sed 's/.* //' refuses.err)
		refuses 1 'the smallest that works is' \
			npu-sched "${args[@]}" --arena-cache-size=$((least - 16)) m.part
		npu-sched "${args[@]}" --arena-cache-size="$least" m.part \
			>m.sched 2>notes || { echo "$m: $least"; cat notes; false; }
		used=$(sed -n 's/^area  *arena .*used=\([0-9]*\).*/\1/p' m.sched)
		[ "$used" -le "$least" ]
		npu-wenc m.sched | npu-cmdgen -o m_npu.tflite
		npu-sim --compare="$m" m_npu.tflite >out
	done < <(models | awk -v all="${NPUTOOLS_ALL-}" 'all || NR % 2')
}

@test "a chain of any length is written in place" {
	"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model" add 2100 4 4 >chain.tflite
	npucc -a ethos-u55-128 "${memory[@]}" -o chain_npu.tflite chain.tflite
	npu-sim --compare=chain.tflite chain_npu.tflite
	# over= that leads back to the tensor itself is refused
	tfl-partition "$digits" | npu-sched -a ethos-u55-128 "${memory[@]}" 2>notes |
		sed '/^tensor  t7 /s/ over=[^ ]*//; /^tensor  t7 /s/$/ over=t7/' >m.sched
	refuses 2 'error: t7: over= leads back to the same tensor' npu-wenc m.sched
}

# refused TEXT: npu-wenc refuses the edited schedule with this text
refused()
{
	cmp -s m.sched edited.sched && { echo "no edit: $1"; return 1; }
	refuses 2 "$1" npu-wenc edited.sched
	grep -qE '^npu-wenc: edited.sched:[0-9]+: error: ' refuses.err
}

@test "a graph without one of its operations, or in another order, is refused" {
	stages "$digits"
	"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model" 41001 CONCATENATION >parts.tflite
	n=0
	for m in "$digits" parts.tflite; do
		tfl-partition -o m.part "$m"
		for id in $(sed -n 's/^op *\(o[0-9]*\) .*/\1/p' m.part); do
			grep -v "^op *$id " m.part >edited.part
			refuses 2 ' writ' npu-sched -a ethos-u55-128 "${memory[@]}" edited.part
			grep -qE '^npu-sched: edited.part:[0-9]+: error: ' refuses.err
			n=$((n + 1))
		done
	done
	[ $n -ge 40 ] # 38 and 2
	# also the last operation, whose result only an operator on the CPU reads
	tfl-partition --cpu=SOFTMAX -o m.part "$digits" 2>notes
	last=$(sed -n 's/^op *\(o[0-9]*\) .*/\1/p' m.part | tail -1)
	grep -v "^op *$last " m.part >edited.part
	refuses 2 "of the CPU's input t1, 0 of 10 bytes are written" \
		npu-sched -a ethos-u55-128 "${memory[@]}" edited.part
	# the second of two operations first
	tfl-partition -o m.part "$digits"
	second=$(grep '^op ' m.part | sed -n 2p)
	awk -v s="$second" '$0 == s { next } /^op / && !done { print s; done = 1 } { print }' \
		m.part >edited.part
	refuses 2 'reads t2, which nothing before it writes' \
		npu-sched -a ethos-u55-128 "${memory[@]}" edited.part
}

@test "two tensors of the graph cannot stand for one tensor of the model" {
	tfl-partition "$digits" | sed 's/^\(tensor  t13 .*\)/\1 tfl=0.32/' >m.part
	refuses 2 'error: t13 stands for tensor 0.32 of the model, as t1 does' \
		npu-sched -a ethos-u55-128 "${memory[@]}" m.part
}

@test "a schedule without one of its steps is refused" {
	stages "$digits"
	n=0
	for p in $(sed -n 's/^step *\(p[0-9]*\) .*/\1/p' m.sched); do
		grep -v "^step *$p " m.sched >edited.sched
		case $(grep "^step *$p " m.sched) in
		# of an operation in stripes, one is missing
		*run=*) refused "no step runs o" || refused "but has run " ;;
		*) refused " holds 0 of " || refused "does not hold the weights or scales that o" ;;
		esac
		n=$((n + 1))
	done
	[ $n -gt 40 ]
	grep -v '^step' m.sched >edited.sched
	refused "no step runs o0"
}

@test "a schedule must run each operation once, after the operations that it reads from" {
	stages "$digits"
	sed '/^step .*run=o2 /p' m.sched | sed '0,/^step  *p[0-9]* run=o2 /s//step p900 run=o2 /' >edited.sched
	refused "has run 14 of 14"
	# two operations change places
	sed 's/run=o5$/run=o16/;t;s/run=o16$/run=o5/' m.sched >edited.sched
	refused "o16 reads rows 0:1 of t18, but o15 has written 0"
	sed 's/^\(tensor  t2 .*live=\)[0-9]*:[0-9]*/\11:1/' m.sched >edited.sched
	refused "t2: live=1:1, but it is used at 3"
	sed 's/^\(buffer  b0 .*live=[0-9]*:\)[0-9]*/\11/' m.sched >edited.sched
	refused "b0: live="
	at=$(sed -n 's/^tensor  t0 .* at=\([^ ]*\) .*/\1/p' m.sched)
	sed "s/^\(buffer  b0 .*at=\)[^ ]*/\1$at/" m.sched >edited.sched
	refused "b0 at $at overlaps t0 at $at while both are live"
	sed "/^area  *arena/s/used=[0-9]*/used=1024/" m.sched >edited.sched
	refused "exceeds the arena, which has 1024 bytes"
	sed 's/^\(tensor  t0 .*\) area=arena/\1/' m.sched >edited.sched
	refused "t0 is not a constant, so it can't be in flash"
}

@test "bands must run in order and with the distance that they need" {
	"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model" block 6 32 64 >chain.tflite
	stages chain.tflite --optimise=Size --within=1000000 # without buffers of weights
	mapfile -t p < <(sed -n 's/^step  *\(p[0-9]*\) run=o1 rows=.*/\1/p' m.sched)
	[ ${#p[@]} -gt 2 ]
	# two steps of the same operation change places
	awk -v a="${p[0]}" -v b="${p[1]}" '$1 == "step" && $2 == a { one = $0; next }
		{ print }
		$1 == "step" && $2 == b { print one }' m.sched >edited.sched
	refused "of t3, but o1 has written 0"
	# the last of them is missing
	grep -v "^step  *${p[-1]} " m.sched >edited.sched
	refused "o1 has written"
	sed 's/^\(tensor  t[0-9]* .* rows=\)[0-9]*/\11/' m.sched >edited.sched
	refused "a rolling buffer of 1 rows"
}

@test "npu-cmdgen verifies its output and names the line of the graph" {
	stages "$digits"
	line=$(grep -n '^op  *o1 ' m.wenc | cut -d: -f1)
	sed '/^op  *o1 /s/clamp=[-0-9]*:/clamp=200:/' m.wenc >edited.wenc
	for emit in tflite cmd words list; do
		refuses 2 "edited.wenc:$line: error: o1 breaks rule 10: " \
			npu-cmdgen --emit=$emit edited.wenc
	done
	sed '/^op  *o1 /s/ ab=[0-9]*/ ab=2/' m.wenc >edited.wenc
	refuses 2 "edited.wenc:$line: error: o1 breaks rule 40: " \
		npu-cmdgen -o out.tflite edited.wenc
	[ ! -e out.tflite ]
}

@test "the message for a mistyped name proposes a similar name" {
	model m
	tfl-partition -o m.part m.tflite
	profile=(--system-config=RTSS_HE_SRAM_MRAM --memory-mode=Shared_Sram)
	refuses 2 "there is no accelerator 'ethos-u55-12'; there are ethos-u55-32," \
		npu-sched -a ethos-u55-12 "${profile[@]}" m.part
	refuses 2 "did you mean ethos-u55-32?" npu-sched -a ethosu55-32 "${profile[@]}" m.part
	# the generation stays; for a part of a name, the accelerator with 256 MACs
	for w in ethos-u85:u85-256 u85-256:u85-256 u55-256:u55-256 ethos-u85-64:u85-128 \
		u85_256:u85-256 U55_64:u55-64 ethos_u65:u65-256 55-128:u55-128 U85-:u85-256; do
		refuses 2 "did you mean ethos-${w#*:}?" npu-sched -a "${w%:*}" "${profile[@]}" m.part
	done
	refuses 2 "did you mean RTSS_HE_SRAM_MRAM?" npu-sched -a ethos-u55-128 \
		--system-config=RTSS_HE_SRAM_MRM --memory-mode=Shared_Sram m.part
	refuses 2 "did you mean Shared_Sram?" npu-sched -a ethos-u55-128 \
		--system-config=RTSS_HE_SRAM_MRAM --memory-mode=shared_sramm m.part
	refuses 2 "m.tflite: error: --cpu=NOPE: no operator has this name or index" \
		tfl-partition --cpu=NOPE m.tflite
	refuses 2 "did you mean FULLY_CONNECTED?" tfl-partition --cpu=FULLY_CONECTED m.tflite
	refuses 2 "did you mean nhcwb16?" tfl-partition --input-layout=0=NHCWB-16 m.tflite
	refuses 2 "did you mean nhwc?" tfl-partition --input-layout=nhcw,row-stride=8 m.tflite
	refuses 2 "did you mean nchw?" tosa-partition --output-layout=nchv m.tosa
	refuses 2 "did you mean cmsis?" tfl2c --dialect=cmis m.tflite
	refuses 2 "did you mean mlek-tests?" mkinput --dialect=mlek-test --random=1 m.tflite
	refuses 2 "--cpu=1: no operator has this name" tfl-partition --cpu=1 m.tflite
	tfl-partition --cpu=SOFTMAX -o m.part m.tflite
}

@test "payload and constants alone are the bytes in the finished model" {
	model m
	npucc -a ethos-u55-128 --system-config=RTSS_HE_SRAM_MRAM \
		--memory-mode=Shared_Sram -o m.wenc m.tflite
	npu-cmdgen --no-map -o m_npu.tflite m.wenc
	npu-cmdgen --emit=payload -o payload m.wenc
	npu-cmdgen --emit=constants -o constants m.wenc
	tfl2c -n m m_npu.tflite >m.h
	at() { sed -n "s/^#define M_NPU_$1 //p" m.h; }
	cut_out() { tail -c +$(($1 + 1)) m_npu.tflite | head -c "$2"; }
	cut_out "$(at STREAM_OFFSET)" "$(at STREAM_BYTES)" | cmp - payload
	[ "$(head -c 4 payload)" = COP1 ]
	[ "$(stat -c %s constants)" = "$(at CONSTANT_BYTES)" ]
	cut_out "$(at CONSTANT_OFFSET)" "$(at CONSTANT_BYTES)" | cmp - constants
	refuses 2 "--emit: no such choice: 'payloads'; choices: tflite, cmd, words, list, npz, vela-bin, payload, constants, debug-xml; did you mean payload?" \
		npu-cmdgen --emit=payloads m.wenc
	npucc -a ethos-u55-128 --system-config=RTSS_HE_SRAM_MRAM --cpu=FULLY_CONNECTED \
		--memory-mode=Shared_Sram -o cpu.wenc m.tflite
	refuses 2 "--emit=payload needs a model with one NPU operator, the model has 0" \
		npu-cmdgen --emit=payload cpu.wenc
}

@test "a live range of a tensor or a buffer is in order, and of steps that exist" {
	stages "$digits"
	grep -q '^buffer .* live=' m.sched
	for record in tensor buffer; do
		for live in -1:1 -9223372036854775808:1 5:4 0:9223372036854775807 0:2147483648; do
			sed "0,/^$record .* live=/s/^\($record .*\) live=[^ ]*/\1 live=$live/" m.sched >n.sched
			cmp -s m.sched n.sched && return 1
			refuses 2 "live=$live ends " npu-wenc -o n.wenc n.sched
		done
	done
}

@test "sizes have units up to G, and a goal is known in any case" {
	model m
	tfl-partition -o m.part m.tflite
	local target=(-a ethos-u55-128 --system-config=RTSS_HE_SRAM_MRAM --memory-mode=Shared_Sram)
	for pair in 4G=4294967296 1g=1073741824 3M=3145728 64k=65536 0x10K=16384; do
		npu-sched "${target[@]}" --arena-cache-size=${pair%=*} -o a.sched m.part
		npu-sched "${target[@]}" --arena-cache-size=${pair#*=} -o b.sched m.part
		cmp a.sched b.sched
	done
	refuses 2 "such as 65536, 64K or 1M, not '1025G'" npu-sched "${target[@]}" --arena-cache-size=1025G m.part
	npu-sched "${target[@]}" --optimise=Size -o a.sched m.part
	for goal in size SIZE sIZE; do
		npu-sched "${target[@]}" --optimise=$goal -o b.sched m.part
		cmp a.sched b.sched
		npucc "${target[@]}" --optimise=$goal -o b.tflite m.tflite
	done
	refuses 2 "--optimise: no such choice: 'siz'; choices: Performance, Size, Balanced" npu-sched "${target[@]}" --optimise=siz m.part
}

@test "with the driver of Linux, a part has the SRAM of the device tree" {
	model m
	tfl-partition -a ethos-u65-256 -o m.part m.tflite
	tfl-partition -a ethos-u65-256 --target=linux -o linux.part m.tflite
	npu-sched --part=nxp-imx93 m.part | grep '^target .* cache-bytes=393216 '
	npu-sched --part=nxp-imx93 linux.part | grep '^target .* cache-bytes=98304 '
	# the board's tree may have more
	npu-sched --part=nxp-imx93 --arena-cache-size=128K linux.part | grep '^target .* cache-bytes=131072 '
	# so many bytes are in the node, says the page
	man -P cat -l "$TOP/man/nputools-linux.7" | grep -q '96 KiB (0x18000 bytes)'
	npucc --target=linux --part=nxp-imx93 -o m.sched m.tflite
	grep '^target .* cache-bytes=98304 ' m.sched
}

@test "a part selects accelerator, profile and memory" {
	model m
	tfl-partition -o m.part m.tflite
	npu-sched --part=alif-e7-he -o by-part.sched m.part
	npu-sched -a ethos-u55-128 --system-config=RTSS_HE_SRAM_MRAM \
		--memory-mode=Shared_Sram --arena-cache-size=4194304 -o by-hand.sched m.part
	sed "s/ part=alif-e7-he$//" by-part.sched | cmp - by-hand.sched
	npu-sched --list-parts >list
	for p in npucc npu-perf tfl2c; do
		"$p" --list-parts | cmp - list
	done
	npucc --list-profiles | cmp - <(npu-sched --list-profiles)
	# the first word of a line is a name to copy
	head -n 1 list | grep '^part  *NPU  *memory of the arena  *of the constants  *NPU.s own SRAM  *system'
	sed '1d; s/ .*//' list >names
	[ "$(sort -u names | wc -l)" = "$(($(wc -l <list) - 1))" ]
	# each part compiles: its accelerator and its profile belong together
	for part in $(<names); do
		npucc --part="$part" -o "$part.h" m.tflite
	done
	# operators that only this accelerator can run are lowered for it
	"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model" 7 RESIZE_BILINEAR >resize.tflite
	for part in alif-e4-u85 alif-e8-u85; do
		npucc --part="$part" -o resize.part resize.tflite
		grep -q '^op .* do=resize' resize.part
	done
	refuses 2 "; did you mean alif-e7-hp, alif-e7-he, alif-e7-hp-tcm, alif-e7-he-tcm?" \
		npu-sched --part=alif-e7 m.part
	refuses 2 "; did you mean alif-e1c-he-tcm?" npu-sched --part=ALIF_E1C m.part
	# of many parts, the chips, each once
	refuses 2 "there is no part 'alif'; npucc --list-parts lists those of alif-e1, alif-e3, alif-e4, alif-e5, alif-e6, alif-e7, alif-e8, alif-e1c (a file" \
		npu-sched --part=alif m.part
	refuses 2 "did you mean himax-we2?" npu-sched --part=himax-we m.part
	refuses 2 "part alif-e7-he has an ethos-u55-128, not an ethos-u55-256; parts with an ethos-u55-256: alif-e3-hp," \
		npu-sched --part=alif-e7-he -a ethos-u55-256 m.part
	npucc --part=alif-e7-he -o m_npu.tflite m.tflite
	refuses 1 "m_npu.tflite: error: part alif-e7-hp has an ethos-u55-256, not an ethos-u55-128" \
		tfl2c --part=alif-e7-hp m_npu.tflite
	# a tensor of 3 MB is too large for one part and fits the other
	model big "$t[0].shape=[1,3000000] | $t[3].shape=[1,3000000] | $t[1].shape=[2,4]
		| .operator_codes=[{deprecated_builtin_code:28,builtin_code:28}]
		| .subgraphs[0].operators=[{inputs:[0],outputs:[3]}]
		| .subgraphs[0].outputs=[3]"
	refuses 1 "the tensor arena takes 600" tfl2c --part=alif-e7-hp big.tflite
	refuses 1 "SRAM0 of alif-e7-hp has 4194304: " tfl2c --part=alif-e7-hp big.tflite
	refuses 1 "parts where it fits: nxp-imx93" tfl2c --part=alif-e7-hp big.tflite
}

# the same words, whoever is asked
@test "a part with another accelerator, or a profile of another one, is refused" {
	local program words="part himax-we2 has an ethos-u55-64, not an ethos-u55-256" \
		made="system configuration Himax_WiseEye2 is made for ethos-u55-64, not for ethos-u55-256; use --any-accelerator to accept it"
	local wrong=(--accelerator-config=ethos-u55-256 --part=himax-we2)
	local profile=(--accelerator-config=ethos-u55-256 --system-config=Himax_WiseEye2 --memory-mode=Shared_Sram)
	model m
	tfl-partition -o m.part m.tflite
	"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-tosa" 1 >m.tosa
	for program in "npucc -o m_npu.tflite m.tflite" "tfl-partition m.tflite" "tosa-partition m.tosa" \
		"npu-sched m.part" "npu-vela m.tflite" "npu-share --rate=m=1 -o s m.tflite"; do
		# shellcheck disable=SC2086 # words
		refuses 2 "$words" $program "${wrong[@]}"
	done
	for program in "npucc -o m_npu.tflite m.tflite" "npu-sched m.part" "npu-vela m.tflite" \
		"npu-sweep m.tflite" "npu-share --rate=m=1 -o s m.tflite"; do
		# shellcheck disable=SC2086
		refuses 2 "$made" $program "${profile[@]}"
	done
	npu-vela m.tflite "${profile[@]}" --any-accelerator >log
	npu-share --rate=m=1 "${profile[@]}" --any-accelerator m.tflite >log
	npucc -a ethos-u55-256 -o big.wenc m.tflite
	npu-cmdgen -o big.tflite big.wenc
	for program in npu-perf npu-report; do
		refuses 2 "big.tflite: error: $words" $program --part=himax-we2 big.tflite
		refuses 2 "$made" $program "${profile[@]:1}" big.tflite
		$program "${profile[@]:1}" --any-accelerator big.tflite >log
	done
	refuses 2 "big.wenc: error: $words" npu-perf --part=himax-we2 big.wenc
	refuses 1 "big.tflite: error: $words" tfl2c --part=himax-we2 big.tflite
	ln -s "$TOP/scripts/npu.mk" npu.mk
	run make -f npu.mk NPU_ACCELERATOR=ethos-u55-256 NPU_SYSTEM=Himax_WiseEye2 \
		NPU_MEMORY=Shared_Sram m.sched
	[ "$status" -ne 0 ]
	grep -qF "$made" <<<"$output"
}

@test "a file describes a part, for every program that has --part" {
	local p
	model m
	cat >board.ini <<-'END'
		[Part.my-board]
		accelerator = ethos-u55-128
		system_config = RTSS_HE_SRAM_MRAM
		memory_mode = Shared_Sram
		arena_memory = SRAM0
		arena_bytes = 4194304
		constant_memory = MRAM
		constant_bytes = 5767168
		cpu_clock = 160e6
	END
	# the same as the part whose values these are, but for its name
	tfl-partition --part=board.ini -o m.part m.tflite
	tfl-partition --part=alif-e7-he m.tflite | cmp - m.part
	npu-sched --part=board.ini m.part | sed 's/my-board part-system=.* cpu-clock=[^ ]*/alif-e7-he/' >mine
	npu-sched --part=alif-e7-he m.part | cmp - mine
	npucc --part=./board.ini -o m_npu.tflite m.tflite
	npucc --part=alif-e7-he -o want.tflite m.tflite
	npu-perf --part=board.ini --json m_npu.tflite | jq 'del(.part, .network, .own_part)' >got
	npu-perf --part=alif-e7-he --json want.tflite | jq 'del(.part, .network)' | cmp - got
	[ "$(npu-perf --part=board.ini --json m_npu.tflite | jq -r .part)" = my-board ]
	tfl2c --part=board.ini m_npu.tflite >m.h
	npu-report --part=board.ini --summary m_npu.tflite >summary
	npu-report --part=board.ini --html m_npu.tflite >page
	grep -q '<small>arena; SRAM0 has 4096 KiB</small>' page
	grep -q '<small>constants; MRAM has 5632 KiB' page
	npu-vela --part=board.ini m.tflite >log
	cmp output/m_vela.tflite m_npu.tflite
	npu-sweep --part=board.ini,alif-e7-he --limits=0 --results=r --json m.tflite >rows
	[ "$(jq '[.[] | .cycles] | length' rows)" -ge 2 ]
	ln -s "$TOP/scripts/npu.mk" npu.mk
	make -f npu.mk NPU_PART=board.ini m.h
	[ "$(sed -n 's/^target.* part=\([^ ]*\).*/\1/p' m.sched)" = my-board ]
	# what the file has changed is compiled again
	sed -i 's/4194304/65536/' board.ini
	npu-sweep --part=board.ini --limits=0 --results=r --merge --json m.tflite >rows2 || true
	[ "$(jq '[.[] | select(.status == "ok")] | length' rows2)" = 0 ]
	# a profile of its own
	cat >>board.ini <<-'END'
		[System_Config.Mine]
		core_clock = 250e6
		axi0_port = Sram
		axi1_port = OffChipFlash
		Sram_clock_scale = 1.0
		OffChipFlash_clock_scale = 0.1
		[Memory_Mode.Shared_Sram]
		const_mem_area = Axi1
		arena_mem_area = Axi0
		cache_mem_area = Axi0
	END
	sed -i 's/RTSS_HE_SRAM_MRAM/Mine/' board.ini
	npucc --part=board.ini -o own.tflite m.tflite
	[ "$(npu-perf --part=board.ini --json own.tflite | jq -c '[.system_config, .core_clock]')" = '["Mine",250000000]' ]
	# later programs know the part without its file: from the compiled model, a graph, a report
	sed -i 's/^cpu_clock.*/cpu = Cortex-M85\ncpu_clock = 1e9/' board.ini
	npucc --part=board.ini --keep=kept -o own.tflite m.tflite
	npu-perf --part=board.ini --json --called=m own.tflite >want
	[ "$(jq -c '[.cpu, .cpu_clock, .sram_name, .constants_name]' want)" = '["Cortex-M85",1000000000,"SRAM0","MRAM"]' ]
	mkdir elsewhere
	cp own.tflite kept/m.wenc elsewhere
	npu-report --part=board.ini --summary own.tflite >summary
	(
		cd elsewhere
		npu-perf --json --called=m own.tflite | cmp - ../want
		npu-report --summary own.tflite | cmp - ../summary
		npu-report --html --called=m ../want >page.html
		grep -qF '; SRAM0 has 64 KiB' page.html
		npu-perf --json m.wenc | jq -c '[.cpu, .cpu_clock, .own_part]' >../got
	)
	jq -c '[.cpu, .cpu_clock, .own_part]' want | cmp - got
	jq -c '[.cpu, .cpu_clock, .own_part]' kept/report.json | cmp - got
	npucc --part=renesas-ra8p1 --keep=kept -o m_npu.tflite m.tflite
	[ "$(jq -c '[.cpu, .cpu_clock, .own_part]' kept/report.json)" = '["Cortex-M85",1000000000,null]' ]
	npucc --part=board.ini -o m_npu.tflite m.tflite
	sed 's/cpu-clock=[^ ]*/cpu-clock=-1/' elsewhere/m.wenc >bad.wenc
	refuses 2 "clock of the target's part is out of range" npu-perf bad.wenc
	# the memories hold, or the message has the numbers
	sed -i 's/5767168/100/' board.ini
	refuses 1 "MRAM of my-board has 100: " npucc --part=board.ini -o no.tflite m.tflite
	npucc --part=board.ini --allow-overflow -o yes.tflite m.tflite
	sed 's/^arena_bytes.*//' board.ini >no.ini
	refuses 2 "no.ini:1: error: [Part.my-board] has no arena_bytes" npucc --part=no.ini -o no.tflite m.tflite
	sed 's/^cpu = .*/cpu = Cortex-M0/' board.ini >no.ini
	refuses 2 "no.ini:9: error: cpu = Cortex-M0 is none of Cortex-M55, " npu-perf --part=no.ini m_npu.tflite
	sed 's/arena_bytes/arena_byte/' board.ini >no.ini
	refuses 2 "unknown key 'arena_byte'; did you mean arena_bytes?" npu-sched --part=no.ini m.part
	echo >no.ini
	refuses 2 "no.ini: error: there is no section [Part.NAME]" npu-sched --part=no.ini m.part
	# names in the file are checked before anything runs, and the message has their line
	sed 's/ethos-u55-128/ethos-u55-12/' board.ini >no.ini
	refuses 2 "no.ini:2: error: there is no accelerator 'ethos-u55-12'; there are" npucc --part=no.ini m.tflite
	sed 's/= Mine/= Yours/' board.ini >no.ini
	refuses 2 "no.ini:3: error: there is no built-in system configuration 'Yours'; there are" \
		npu-share --part=no.ini m.tflite
	sed 's/= Shared_Sram/= Shared/' board.ini >no.ini
	refuses 2 "no.ini: error: there is no section [Memory_Mode.Shared]; there are: Shared_Sram" \
		npu-perf --part=no.ini m_npu.tflite
	sed '/^.System_Config/,$d; s/= Mine/= Ethos_U55_Deep_Embedded/; s/= Shared_Sram/= Shared/' board.ini >no.ini
	refuses 2 "no.ini:4: error: there is no built-in memory mode 'Shared'; there are" \
		npucc --part=no.ini m.tflite
	# values that contradict each other
	sed 's/= 4194304/= 64K/; s/= 65536/= 64K/' board.ini >same.ini
	npu-sched --part=same.ini m.part | sed 's/same.ini/board.ini/' >mine
	npu-sched --part=board.ini m.part | cmp - mine
	sed 's/^Sram_clock_scale.*/Sram_clock_scale = 8/' board.ini >fast.ini
	npu-sched --part=fast.ini m.part 2>notes >mine
	grep -qx "npu-sched: note: fast.ini: Sram_clock_scale is 8, a share of the port's peak: 64 bytes per cycle of the NPU, but a port moves 8" notes
	# no LINE MESSAGE SED: a part that is refused
	no() {
		sed "$3" board.ini >no.ini
		refuses 2 "no.ini:$1: error: $2" npu-sched --part=no.ini m.part
	}
	no 6 "arena_bytes = 64 KiB is not a number of bytes from 1 to 1099511627776, such as 65536, 64K or 1M" \
		's/^arena_bytes.*/arena_bytes = 64 KiB/'
	no 10 "cpu_clock = 0 is not a number from 1 to" 's/^cpu_clock.*/cpu_clock = 0/'
	no 7 "constant_memory = SRAM0 is the memory of the arena, but in memory mode Shared_Sram the constants are in OffChipFlash" \
		's/^constant_memory.*/constant_memory = SRAM0/'
	no 7 "npu_sram_bytes: memory mode Shared_Sram has no SRAM of the NPU's own" 's/^arena_bytes.*/&\nnpu_sram_bytes = 1M/'
	cat >no.ini <<-'END'
		[Part.dedicated]
		accelerator = ethos-u65-256
		system_config = Ethos_U65_High_End
		memory_mode = Dedicated_Sram
		arena_memory = DRAM
		arena_bytes = 1M
		constant_memory = DRAM
		constant_bytes = 1M
	END
	refuses 2 "no.ini:1: error: [Part.dedicated] has no npu_sram_bytes: memory mode Dedicated_Sram has SRAM of the NPU's own" \
		npu-sched --part=no.ini m.part
	echo npu_sram_bytes = 64K >>no.ini
	npu-sched --part=no.ini m.part >mine
	# the example of the page
	sed -n '/^.Part.my-board/,/^.Ed/{/^.Ed/!p}' "$TOP/man/nputools.7" >example.ini
	npucc --part=example.ini -o own.tflite m.tflite
	# a maker, or a file without its suffix
	refuses 2 "there is no part 'nuvoton'; did you mean nuvoton-m55m1? (a file NAME.ini describes another chip: nputools(7), PARTS)" \
		npucc --part=nuvoton m.tflite
	refuses 2 "there is no part 'none-such'; npucc --list-parts lists them (a file NAME.ini" \
		npucc --part=none-such m.tflite
	refuses 2 "there is no part 'example'; npucc --list-parts lists them; the file is --part=example.ini" \
		npucc --part=example m.tflite
	refuses 2 "missing.ini: error: No such file or directory" tfl2c --part=missing.ini m_npu.tflite
}

@test "with a part, what does not fit its memories is refused in every output format" {
	# two feature maps of 1 MB, and weights that are copied to SRAM where there is space
	local noise='[foreach range(N) as $i (7; (. * 16807) % 2147483647; . / 8 | floor % 256)]' missing
	model wide "$t[0].shape=[1,63,63,256] | $t[3].shape=[1,63,63,256] | $t[2].shape=[256] |
		$t[1].shape=[256,3,3,256] | .buffers[2].data=[range(1024) | 0] |
		.buffers[1].data=${noise/N/589824} |
		.operator_codes=[{deprecated_builtin_code:3,builtin_code:3}] |
		.subgraphs[0].operators=[{inputs:[0,1,2],outputs:[3],builtin_options_type:1,
			builtin_options:{stride_w:1,stride_h:1}}]"
	npucc --part=corstone-300 -o ok.tflite wide.tflite
	# the plan for more SRAM than there is
	for o in out.tflite out.sched out.wenc out.h; do
		refuses 1 "SRAM of corstone-300 has 2097152: " npucc --part=corstone-300 \
			--arena-cache-size=4M -o "$o" wide.tflite
		[ ! -e "$o" ]
		option=$(sed -n 's/^npucc: note: with \(--[^ ]*\) the network fits corstone-300$/\1/p' refuses.err)
		npucc --part=corstone-300 --arena-cache-size=4M "$option" -o "$o" wide.tflite
		npucc --part=corstone-300 --arena-cache-size=4M --allow-overflow -o "$o" wide.tflite 2>notes
		grep -qx 'npu-sched: note: the limit of 4194304 bytes is above the size of SRAM of corstone-300, 2097152 bytes' notes
	done
	npucc --part=corstone-300 --arena-cache-size=2M -o fits.tflite wide.tflite 2>notes
	[ -z "$(grep 'the limit of' notes)" ]
	refuses 1 "SRAM of corstone-300 has" npucc --part=corstone-300 --arena-cache-size=4M -o - wide.tflite
	[ "$(npucc --part=corstone-300 --arena-cache-size=4M -o - <wide.tflite 2>/dev/null | wc -c)" = 0 ]
	refuses 1 "SRAM of corstone-300 has" npucc --part=corstone-300 --arena-cache-size=4M --keep=kept wide.tflite
	refuses 1 "SRAM of corstone-300 has" npucc --part=corstone-300 --arena-cache-size=4M --check -o out.tflite wide.tflite
	[ ! -e kept ] || [ -z "$(ls kept)" ]
	# the NPU's own memory, and one memory for arena and constants
	refuses 1 "the NPU's own SRAM of nxp-imx93 has 393216: " \
		npucc --part=nxp-imx93 --arena-cache-size=1M -o out.tflite wide.tflite
	# constants: 1.1 MB that do not compress, in 1 MiB
	model weights "$t[0].shape=[1,1100] | $t[1].shape=[1000,1100] | $t[3].shape=[1,1000] |
		$t[2].shape=[1000] | .buffers[2].data = [range(4000) | 0] |
		.buffers[1].data = ${noise/N/1100000}"
	for o in out.tflite out.sched out.wenc out.h; do
		refuses 1 "MRAM of renesas-ra8p1 has 1048576: " npucc --part=renesas-ra8p1 -o "$o" weights.tflite
		grep -q 'parts with an ethos-u55-256 where it fits: alif-e3-hp, .*--allow-overflow' refuses.err
		grep -qE 'note: weights.tflite does not fit renesas-ra8p1 with --optimise=Size either \([0-9]+ bytes are missing\): take another part or memory mode' refuses.err
		# as many as with this option
		missing=$(grep -oP 'Size either \(\K[0-9]+' refuses.err)
		refuses 1 ": $missing are missing" npucc --part=renesas-ra8p1 --optimise=Size -o "$o" weights.tflite
	done
	# Sram_Only: arena and constants are in the memory of the arena
	sed 's/^	*//' >sram.ini <<-'END'
		[Part.small]
		accelerator = ethos-u55-128
		system_config = RTSS_HE_SRAM_MRAM
		memory_mode = Shared_Sram
		arena_memory = SRAM0
		arena_bytes = 1000000
		constant_memory = MRAM
		constant_bytes = 5767168
	END
	npucc --part=./sram.ini -o out.tflite weights.tflite
	for o in out.tflite out.sched out.h; do
		refuses 1 "SRAM0 of small has 1000000: " \
			npucc --part=./sram.ini --memory-mode=Sram_Only -o "$o" weights.tflite
		grep -q 'tensor arena and model take' refuses.err
		grep -q 'take another part or memory mode' refuses.err
	done
	npucc --part=renesas-ra8p1 --allow-overflow -o out.tflite weights.tflite
	refuses 1 "MRAM of renesas-ra8p1 has" tfl2c out.tflite
	tfl2c --allow-overflow out.tflite >out.h
	# summary, page and header say what is missing
	grep -qE '^ \* MRAM is too small, 1048576 of 1[0-9]{6} bytes: use other memory of the board\.$' out.h
	npucc --part=renesas-ra8p1 --allow-overflow --advice --report=page.html weights.tflite >said
	lacks='renesas-ra8p1 lacks [0-9]+ of the [0-9]+ KiB of MRAM; the time assumes other memory of the same speed'
	grep -qE "^  overflow $lacks$" said
	grep -qE "^<li>$lacks</li>$" page.html
	# the curve, which has no plan that fits
	grep -q '^  options  ' said
	grep -q 'id="sram-curve"' page.html
	npucc --part=alif-e7-hp -o fits.h weights.tflite
	[ -z "$(grep 'too small, ' fits.h)" ]
	# no plan: npu-sched names the least SRAM, and who has it
	model tall "$t[0].shape=[1,240,240,100] | $t[3].shape=[1,240,240,100] |
		.operator_codes=[{deprecated_builtin_code:14,builtin_code:14}] |
		$t[3].quantization = {scale: [0.00390625], zero_point: [-128]} |
		.subgraphs[0].operators=[{inputs:[0],outputs:[3]}]"
	refuses 1 "more than the limit of 1970176; the smallest that works is 5760000; parts whose memory for the arena is as large: none; with another NPU: nxp-imx93; --allow-overflow accepts it" \
		npucc --part=himax-we2 -o out.tflite tall.tflite
	npucc --part=himax-we2 --allow-overflow tall.tflite >said 2>notes
	grep -qx 'npu-sched: note: no plan is within the 1970176 bytes of SRAM of himax-we2: --allow-overflow takes one without this limit' notes
	grep -qx '  overflow himax-we2 lacks 3701 of the 5625 KiB of SRAM; the time assumes other memory of the same speed' said
	npucc --part=himax-we2 --allow-overflow -o out.tflite weights.tflite 2>notes
	[ ! -s notes ]
	# the same advice for a plan of more SRAM than the part has
	refuses 1 "parts with an ethos-u55-64 where it fits: none; with another NPU: nxp-imx93; --allow-overflow accepts it" \
		npucc --part=himax-we2 --arena-cache-size=8M -o out.tflite tall.tflite
}

@test "a profile of another accelerator is an error without --any-accelerator" {
	model m
	tfl-partition -o m.part m.tflite
	profile=(--system-config=RTSS_HE_SRAM_MRAM --memory-mode=Shared_Sram)
	refuses 2 "error: system configuration RTSS_HE_SRAM_MRAM is made for ethos-u55-128, not for ethos-u55-256; use --any-accelerator to accept it" \
		npu-sched -a ethos-u55-256 "${profile[@]}" m.part
	npu-sched -a ethos-u55-256 "${profile[@]}" --any-accelerator -o m.sched m.part
	npu-sched -a ethos-u55-256 --system-config=Ethos_U55_High_End_Embedded \
		--memory-mode=Shared_Sram -o m.sched m.part
}
