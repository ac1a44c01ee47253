#!/usr/bin/env bats
# npu-dis: the listing in Vela's format, and the rules that broken streams break.
bats_require_minimum_version 1.5.0

load lib/common
load lib/poke

MODEL=$BATS_TEST_DIRNAME/models/digits-ethos-u55-128.tflite # as an earlier version compiled it

# breaks RULE: m.tflite breaks this rule; the program reports the rule and exits with 1
breaks() {
	run --separate-stderr npu-dis --verify m.tflite
	[ "$status" = 1 ] || { echo "status $status"; return 1; }
	grep -q "error: rule $1: " <<<"$stderr" || {
		echo "no rule $1 in: $stderr"
		return 1
	}
}

@test "one view at a time, and no accelerator for a model, which names its own" {
	local views
	for views in "--json --high-level" "--high-level --map" "--map --json"; do
		# shellcheck disable=SC2086
		refuses 2 "--high-level, --json and --map exclude each other" npu-dis $views x.tflite
	done
	refuses 2 "--accelerator-config works only with --raw; a model names its own" \
		npu-dis -a ethos-u55-128 x.tflite
}

@test "npu-dis lists the words of the log as the log does" {
	if [ -n "$SHARED" ]; then
		sed -n '/Command Stream: Output/,/stream length/p' \
			"$SHARED/seeds/vela-log.txt" >want
		[ "$(wc -l <want)" = 86 ] # 82 commands, headings, sums
	else # the same listing of words that npu-cmdgen writes
		npucc -a ethos-u55-256 --system-config Ethos_U55_High_End_Embedded \
			--memory-mode Shared_Sram -o m.wenc "$TOP/tests/models/digits.tflite"
		npu-cmdgen --emit=words m.wenc >want
		[ "$(wc -l <want)" -gt 86 ]
	fi
	# the words from the columns: param and code, then the payload
	sed -n 's/^0x...... *\(.*\) \(....\) \(....\) - .*/\2\3 \1/; T
		s/://; s/  *$//; p' want >words.hex
	npu-dis --raw -a ethos-u55-256 words.hex | diff want -
	# the same as binary
	for w in $(cat words.hex); do
		printf '%b' "\\x${w:6:2}\\x${w:4:2}\\x${w:2:2}\\x${w:0:2}"
	done >words.bin
	npu-dis --raw --accelerator-config=ethos-u55-256 <words.bin | diff want -
}

@test "the same network compiled again has the same commands" {
	model=reference/vela-compiled/3.12.0/ethos-u55-256_Shared_Sram
	need_shared $model/seed_mnist_fc.tflite
	sed -n '/Command Stream: Output/,/stream length/p' \
		"$SHARED/seeds/vela-log.txt" >want
	npu-dis "$SHARED/$model/seed_mnist_fc.tflite" >got
	# the weights differ, and with them one length
	diff want got | grep '^[<>]' >differ || true
	[ "$(wc -l <differ)" = 2 ]
	[ "$(grep -c WEIGHT_LENGTH differ)" = 2 ]
}

@test "a listing counts its commands and bytes" {
	npu-dis "$MODEL" >list
	n=$(sed -n 's/^Number of commands = //p' list)
	[ "$n" = "$(grep -c '^0x' list)" ]
	bytes=$(sed -n 's/^Command stream length = \(.*\) bytes/\1/p' list)
	[ "$bytes" = 1380 ]
	grep -q '^0x000560: .* - cmd0.NPU_OP_STOP  *65535$' list
	npu-dis -o list2 "$MODEL"
	cmp list list2
	npu-dis <"$MODEL" | cmp - list
	npu-dis -n 0 "$MODEL" | cmp - list
}

@test "--fields decodes bits, numbers and addresses" {
	npu-dis --fields "$MODEL" >list
	grep -q ' 0105 - cmd0.NPU_SET_IFM_PRECISION  *65  signed=yes precision=8 format=nhcwb16 scale_mode=both rounding=dbl$' list
	grep -q 'NPU_SET_KERNEL_STRIDE .* stride_x_m1_low=1 stride_y_m1_low=1 weight_order=part_kernel' list
	grep -q 'NPU_SET_OFM_SCALE  *49  multiplier=1419905773 shift=49$' list
	grep -q 'NPU_OP_POOL  *1  mode=average$' list
	grep -q 'NPU_SET_IFM_ZERO_POINT  *65408  65408 signed=-128$' list
	# the columns before the fields are unchanged
	npu-dis "$MODEL" >plain
	cut -c1-67 list | sed 's/ *$//' | diff - plain
}

@test "--high-level has a line for every operation" {
	npu-dis --high-level "$MODEL" >list
	[ "$(wc -l <list)" = 12 ]
	[ "$(cut -d' ' -f2 list | tr '\n' ' ')" = \
		"conv depthwise conv depthwise conv add depthwise conv conv average conv stop " ]
	grep -q '^0x0004b4 average ifm=7x7x32:s8,nhcwb16@1:0x0 ofm=3x3x32:s8,nhwc@1:0x620 kernel=3x3 stride=2x2 pad=0,0,0,0 scale=3817748709>>35 ' list
}

@test "--json has the same facts" {
	need jq
	npu-dis --json "$MODEL" >m.json
	[ "$(jq -r '.[0].accelerator' m.json)" = ethos-u55-128 ]
	[ "$(jq '.[0].operations | length' m.json)" = 12 ]
	[ "$(jq -c '.[0].operations[] | select(.op == "average") | .ofm.shape' \
		m.json)" = "[3,3,32]" ]
	[ "$(jq '.[0].operations[-1].param' m.json)" = 65535 ]
}

@test "each stream of a model is listed and verified" {
	npucc -a ethos-u65-512 --system-config Ethos_U65_High_End \
		--memory-mode Dedicated_Sram --cpu=ADD -o m.tflite \
		"$TOP/tests/models/digits.tflite" 2>err
	npu-dis m.tflite >all
	[ "$(grep -c '^Number of commands' all)" = 2 ]
	[ "$(grep -c '^subgraph 0 operator [02] (.*):$' all)" = 2 ]
	npu-dis -n 1 m.tflite >second
	[ "$(grep -c '^Number of commands' second)" = 1 ]
	tail -n "$(wc -l <second)" all | diff - second
	npu-dis --verify m.tflite >verdict
	[ "$(grep -c ', 0 errors, 0 warnings$' verdict)" = 2 ]
	refuses 2 "no stream 2" npu-dis -n 2 m.tflite
}

@test "--verify finds no fault in models that the kit compiles" {
	run --separate-stderr npu-dis --verify "$MODEL"
	[ "$status" = 0 ]
	[ -z "$stderr" ]
	[[ $output == *"1380 bytes for ethos-u55-128, 0 errors, 0 warnings" ]]
}

@test "--verify names file, operator, place, command and rule" {
	cp "$MODEL" m.tflite
	poke_command m.tflite NPU_SET_OFM_REGION 1 05 00
	run --separate-stderr npu-dis --verify m.tflite
	[ "$status" = 1 ]
	grep -q '^npu-dis: m.tflite: operator [0-9]*, 0x000120 CONV: error: rule 29: OFM: region 5 has no buffer$' \
		<<<"$stderr"
	# -q keeps errors
	run --separate-stderr npu-dis -q --verify m.tflite
	[ "$status" = 1 ]
	grep -q 'rule 29' <<<"$stderr"
}

@test "--verify --json prints findings as JSON" {
	need jq
	npu-dis --verify --json "$MODEL" >v.json
	[ "$(jq -c '[.[0].errors, .[0].warnings, .[0].findings]' v.json)" = "[0,0,[]]" ]
	cp "$MODEL" m.tflite
	poke_command m.tflite NPU_SET_OFM_REGION 1 05 00
	run -1 --separate-stderr npu-dis --verify --json m.tflite
	[ "$(jq -c '.[0].findings[0] | [.severity, .rule, .offset, .command]' \
		<<<"$output")" = '["error",29,288,"CONV"]' ]
	[ "$(wc -l <<<"$stderr")" = 1 ]
}

@test "--verify checks the memory rules" {
	cp "$MODEL" m.tflite
	poke_payload m.tflite NPU_SET_IFM_BASE0 1 00 00 00 7f
	breaks 30
	cp "$MODEL" m.tflite
	poke_command m.tflite NPU_SET_OFM_REGION 1 00 00
	breaks 33
	# reads memory behind the input, which no operation has written
	cp "$MODEL" m.tflite
	poke_payload m.tflite NPU_SET_IFM_BASE0 1 50 0d 00 00
	breaks 52
	# one operation is missing: its OFM is not written, and the next operation reads it
	cp "$MODEL" m.tflite
	at=$(npu-dis m.tflite | grep NPU_OP_CONV | sed -n 1p | cut -c1-8)
	poke m.tflite $((at + 32)) 00 01 00 00
	breaks 52
	cp "$MODEL" m.tflite
	poke_payload m.tflite NPU_SET_WEIGHT_BASE 1 b0 00 00 00
	breaks 43
}

@test "--verify checks the order and the container" {
	cp "$MODEL" m.tflite
	poke_command m.tflite NPU_SET_BLOCKDEP 3 03 00
	breaks 47
	cp "$MODEL" m.tflite
	poke m.tflite 4 02 00 10 00 # no OPTIMIZER_CONFIG
	run npu-dis --verify m.tflite
	[ "$status" = 1 ]
	[[ $output == *"command stream of 16 words in a payload"* ]]
	refuses 2 "command stream of 16 words" npu-dis m.tflite
	cp "$MODEL" m.tflite
	poke m.tflite 12 00 00 00 20 # architecture 2
	breaks 48
	cp "$MODEL" m.tflite
	poke m.tflite 7 01 # release of the optimizer's configuration
	breaks 48
}

@test "--verify checks raw words by all rules except those of memory" {
	at=$(payload "$MODEL")
	dd if="$MODEL" of=words bs=1 skip=$((at + 32)) count=1380 status=none
	npu-dis --raw -a ethos-u55-128 --verify words
	run --separate-stderr npu-dis --raw -a ethos-u55-256 --verify words
	[ "$status" = 1 ] # blocks and banks of another accelerator
	grep -q 'rule 39' <<<"$stderr"
	# a driver payload names its accelerator
	dd if="$MODEL" of=cop1 bs=1 skip="$at" count=1412 status=none
	npu-dis --raw --verify cop1
	head -c -4 words >cut
	run npu-dis --raw -a ethos-u55-128 --verify cut
	[ "$status" = 1 ]
	[[ $output == *"rule 2: the stream ends without STOP"* ]]
}

@test "a word that is no command ends the listing with an error" {
	printf '0001010f 00004000\n' >hex
	run npu-dis --raw -a ethos-u55-128 hex
	[ "$status" = 2 ]
	[[ $output == *"NPU_SET_IFM_REGION"* ]]
	[[ $output == *"the stream ends before its payload"* ]]
	echo 00010123 >hex
	run npu-dis --raw -a ethos-u55-128 hex
	[ "$status" = 2 ]
	[[ $output == *"command 0x0123 doesn't exist on ethos-u55-128"* ]]
	npu-dis --raw -a ethos-u65-512 hex | grep -q PARALLEL_MODE
}

@test "npu-sim refuses a stream that breaks a rule, with status 1" {
	cp "$MODEL" m.tflite
	npu-sim m.tflite >/dev/null
	poke_payload m.tflite NPU_SET_OFM_BASE0 1 00 00 00 7f
	refuses 1 "(rule 30)" npu-sim m.tflite
	refuses 1 "0x000120 conv: OFM: " npu-sim m.tflite
	cp "$MODEL" m.tflite
	poke_command m.tflite NPU_SET_IFM_UPSCALE 1 03 00
	refuses 1 "(rule 8)" npu-sim m.tflite
	cp "$MODEL" m.tflite
	poke_payload m.tflite NPU_SET_WEIGHT_BASE 2 40 02 00 00
	refuses 1 "weights of core 0: " npu-sim m.tflite
	cp "$MODEL" m.tflite
	poke_command m.tflite NPU_SET_OFM_BLK_DEPTH_M1 1 06 00
	refuses 1 "OFM block depth 7 is no multiple of 8" npu-sim m.tflite
	cp "$MODEL" m.tflite
	poke m.tflite 0 00
	refuses 1 "not a driver payload" npu-sim m.tflite
}

@test "faulty inputs and options are refused" {
	refuses 2 "no ethos-u operator" npu-dis "$TOP/tests/models/digits.tflite"
	echo 12345678 >hex
	refuses 2 "bare words don't name their accelerator" npu-dis --raw hex
	refuses 2 "there is no accelerator 'ethos-u85'" npu-dis --raw -a ethos-u85 hex
	refuses 2 "did you mean ethos-u55-128?" npu-dis --raw -a ethosu55-128 hex
	printf 'abc' >three
	refuses 2 "not a multiple of 4" npu-dis --raw -a ethos-u55-128 \
		<(printf '\1\2\3')
	echo 0x0001010f 123456789 >hex
	refuses 2 "word 2 has 9 hexadecimal digits; a word of a command stream has at most 8" \
		npu-dis --raw -a ethos-u55-128 hex
	refuses 2 "more than one model or payload" npu-dis a b
}

@test "an incomplete listing is not written, and an old one stays" {
	cp "$MODEL" m.tflite
	# code bits that no command has, in the middle of the stream
	poke m.tflite 800 ff ff ff 7f
	echo old >listing
	refuses 2 "reserved code bits" npu-dis -o listing m.tflite
	[ "$(cat listing)" = old ]
}

# with_source [ACCELERATOR]: makes the graph and the stream: m.wenc, m_npu.tflite
with_source()
{
	local accel=${1:-ethos-u55-128}
	memory=(--system-config=RTSS_HE_SRAM_MRAM --memory-mode=Shared_Sram)
	[ "$accel" = ethos-u55-128 ] ||
		memory=(--system-config=Ethos_U85_SYS_DRAM_Low --memory-mode=Dedicated_Sram)
	tfl-partition -a "$accel" "$TOP/tests/models/digits.tflite" |
		npu-sched -a "$accel" "${memory[@]}" 2>notes | npu-wenc >m.wenc
	npu-cmdgen -o m_npu.tflite m.wenc
}

# differs SED-PROGRAM WORDS: the stream is not that of the edited graph
differs()
{
	sed "$1" m.wenc >edited.wenc
	! cmp -s m.wenc edited.wenc || { echo "no edit: $1"; return 1; }
	run -1 npu-dis --verify --source=edited.wenc m_npu.tflite
	[[ $output == *"rule 53: $2"* ]] || { echo "$1: $output"; return 1; }
}

# step_of OPERATION: the step of m.wenc that runs this operation; plans differ
step_of()
{
	sed -n "s/^step *\(p[0-9]*\) .*run=$1\( .*\)\{0,1\}\$/\1/p" m.wenc
}

@test "--source compares a stream with its graph" {
	with_source
	npu-dis --verify --source=m.wenc m_npu.tflite
	differs '/^op *o1 /s/ofm-zero=-128/ofm-zero=-127/' \
		"o1: OFM zero point is -128, the graph has -127"
	differs '/^op *o9 /s/scale=[0-9]*:/scale=12345:/' "o9: multiplier is"
	differs '/^op *o2 /s/clamp=-128:/clamp=-100:/' "o2: minimum is -128, the graph has -100"
	differs '/^op *o9 /s/do=avgpool/do=maxpool/' "step $(step_of o9) runs o9 (maxpool), not this operation"
	differs '/^op *o13 /s/do=shr/do=shl/' "step $(step_of o13) runs o13 (shl), not this operation"
	differs '/^op *o1 /s/ act=clamp//;/^op *o1 /s/$/ act=tanh/' "o1: activation is 0"
	differs '/^code *c2 /s/stream=0x[0-9a-f]*:/stream=0x10:/' "o2: weights of core 0"
	# an address that t1 may have, too: no live tensor overlaps it
	for at in 0x0 0x400 0x800 0xc00 0x1000 0x1800 0x2000 0x2800 0x3000 0x3800; do
		sed "/^tensor *t1 /s/ at=0x[0-9a-f]*/ at=$at/" m.wenc >edited.wenc
		run npu-dis --verify --source=edited.wenc m_npu.tflite
		[ "$status" != 1 ] || break
	done
	[ "$status" = 1 ] && [[ $output == *"rule 53: "*"t1 is planned at"* ]]
	refuses 2 "--source works only with --verify" npu-dis --source=m.wenc m_npu.tflite
	refuses 2 "npu-wenc has not run" npu-dis --verify \
		--source=<(sed '1s/wenc/sched/' m.wenc) m_npu.tflite
}

@test "steps that are missing together are one finding" {
	local o
	need_shared models/mbv2_int8.tflite
	for o in Size Performance; do
		npucc --part=alif-e7-hp --optimise=$o -o $o.wenc "$SHARED/models/mbv2_int8.tflite"
		npu-cmdgen -o $o.tflite $o.wenc
	done
	# the plan without stripes lacks the steps of many stripes
	run -1 npu-dis --verify --source=Size.wenc Performance.tflite
	[[ $output =~ "rule 53: step p"[0-9]+", which runs o"[0-9]+", and "[0-9]+" more steps are missing" ]]
	[ "$(grep -c 'missing$' <<<"$output")" -le 4 ]
}

@test "--source compares the tensors of the operators" {
	need flatc jq
	local fbs=$TOP/tests/models/tflite.fbs
	npucc -a ethos-u55-128 --system-config=RTSS_HE_SRAM_MRAM --memory-mode=Shared_Sram \
		-o m.wenc "$TOP/tests/models/digits.tflite" 2>notes
	npu-cmdgen --no-map -o m.tflite m.wenc
	flatc --json --strict-json --raw-binary "$fbs" -- m.tflite
	# edited JQ-PROGRAM WORDS: --verify of the edited model reports these words
	edited()
	{
		jq ".subgraphs[0].outputs[0] as \$o |
			.subgraphs[0].tensors[\$o] |= ($1)" m.json >e.json
		flatc -b --strict-json "$fbs" e.json
		run npu-dis --verify e.tflite
		[ "$status" = 0 ] || { echo "the rules find $1: $output"; return 1; }
		run -1 npu-dis --verify --source=m.wenc e.tflite
		[[ $output == *"error: rule 53: t"*"$2"* ]] || { echo "$1: $output"; return 1; }
	}
	edited '.shape = [2, 5]' "has the shape [2,5], the graph has [1,10]"
	edited '.type = 3' "has the type UINT8, the graph has INT8"
	edited '.quantization.scale[0] = 2' "has a different scale in the graph"
	edited '.quantization.zero_point[0] += 1' "has a different zero point in the graph"
}

@test "--source compares a stream for U85 with its graph" {
	with_source ethos-u85-256
	npu-dis --verify --source=m.wenc m_npu.tflite
	differs '/^op *o1 /s/ofm-zero=-128/ofm-zero=-127/' \
		"o1: OFM zero point is -128, the graph has -127"
	differs '/^op *o9 /s/scale=[0-9]*:/scale=12345:/' "o9: OFM's multiplier is"
	differs '/^op *o2 /s/clamp=-128:/clamp=-100:/' "o2: minimum is -128, the graph has -100"
	differs '/^op *o9 /s/do=avgpool/do=maxpool/' "step $(step_of o9) runs o9 (maxpool), not this operation"
	differs '/^op *o13 /s/do=shr/do=shl/' "step $(step_of o13) runs o13 (shl), not this operation"
	differs '/^op *o12 /s/ act=lut/ act=clamp/' "o12: activation is"
	differs '/^code *c2 /s/stream=0x[0-9a-f]*:/stream=0x10:/' "o2: weights of core 0"
}

@test "--source finds constants that differ from the graph's" {
	with_source
	sed -i '/^op *o0 /s/$/ x-note=1/' m.wenc # is copied through and makes no difference
	npu-dis --verify --source=m.wenc m_npu.tflite
	tfl-partition "$(case_or_drawn models/seanet_add0.tflite 3 CONV_2D)" 2>notes |
		npu-sched -a ethos-u55-128 "${memory[@]}" 2>notes | npu-wenc >other.wenc
	run -1 npu-dis --verify --source=other.wenc m_npu.tflite
	[[ $output == *"the constants differ from blob flash of the graph"* ]]
	tfl-partition "$TOP/tests/models/digits.tflite" |
		npu-sched -a ethos-u55-256 --any-accelerator "${memory[@]}" 2>notes |
		npu-wenc >m256.wenc
	run -1 npu-dis --verify --source=m256.wenc m_npu.tflite
	[[ $output == *"the stream is for ethos-u55-128, the graph for ethos-u55-256"* ]]
}
