#!/usr/bin/env bats
# Ethos-U85: streams of another compiler are listed, run and verified.
bats_require_minimum_version 1.5.0

load lib/common
load lib/model
load lib/poke

REFERENCE=reference/vela-u85
GEN=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model

# made MODEL: the model compiled here for ethos-u85-256, if there is no file of another
# compiler
made() {
	local out
	out=$BATS_FILE_TMPDIR/$(basename "$1" .tflite)-u85.tflite
	[ -e "$out" ] || npucc -a ethos-u85-256 --system-config Ethos_U85_SYS_DRAM_Low \
		--memory-mode Dedicated_Sram --within=0 -o "$out" "$1" 2>notes || { cat notes >&2; return 1; }
	echo "$out"
}

# in a quick run (NPUTOOLS_QUICK), lists are sampled five times more coarsely
coarse=1
[ -z "${NPUTOOLS_QUICK-}" ] || coarse=5

# corpus: paths of the compiled files; a tenth of them, or all with NPUTOOLS_ALL.  The
# stand-ins are the demo and generated operators, compiled here.
corpus() {
	local step=$((10 * coarse)) op
	[ -z "${NPUTOOLS_ALL-}" ] || step=1
	if [ -n "$SHARED" ]; then
		sed -n "2~${step}s,^\([^\t]*\).*,$SHARED/$REFERENCE/\1,p" \
			"$SHARED/$REFERENCE/INDEX.tsv"
		return
	fi
	made "$TOP/tests/models/digits.tflite"
	for op in CONV_2D DEPTHWISE_CONV_2D FULLY_CONNECTED BATCH_MATMUL MEAN ARG_MAX \
		RESIZE_BILINEAR ADD SELECT TRANSPOSE SVDF; do
		"$GEN" 3 $op >$op.tflite
		made $op.tflite
	done
}

# enough N: there are as many files as necessary
enough() {
	echo "# $1 compiled models" >&3
	if [ -n "$SHARED" ]; then [ "$1" -gt $((100 / coarse)) ]; else [ "$1" = 12 ]; fi
}

# the QUANTIZE of a published stream with the words of the description (ethosu-commands(7)
# 37), and a chained sum written by hand
words() {
	cat <<-'END'
		00000105 0001010F 00004000 00000000 00004001 00000000 00004002
		00000000 00004003 00000000 0000010B 0000010C 0000010A 030F0104
		00004005 00000310 00004004 00000310 00004006 00000001 00000109
		00000107 00000100 00000101 00000103 00000102 01410114 0002011F
		00004010 00000000 00004011 00000000 00004012 00000000 00004013
		00000000 00000112 00000111 030F0113 0000011B 0000011C 0000011A
		00004015 00000310 00004014 00000010 00004016 00000010 FF800118
		00000121 00000120 00000122 00000125 FF800126 007F0127 001E4024
		40000000 00000116 00010115 00FF0117 01000124 0000012F 00030005
		FFFF0000
	END
}

@test "registers of U85 are listed with their fields" {
	words | npu-dis --raw -a ethos-u85-256 --fields >list
	grep -q 'NPU_SET_IFM_PRECISION  *0  signed=no precision=8 format=nhwc storage=tile2x2$' list
	grep -q 'NPU_SET_OFM_PRECISION .* scale_mode=global reverse=none transpose=hwc storage=tile2x2$' list
	grep -q 'NPU_SET_OFM_SCALE  *30  multiplier=1073741824 shift=30 dbl_rnd=0 rounding=dbl$' list
	grep -q 'NPU_SET_ACC_FORMAT .* format=int32 input=reset output=enabled microblock=1x2$' list
	grep -q 'NPU_SET_OFM_BLK_DEPTH_M1  *255  256$' list
	grep -q 'NPU_OP_POOL  *3  mode=sum$' list
	words | npu-dis --raw -a ethos-u85-256 --high-level | head -n 1 >line
	echo '0x0000f8 sum ifm=1x1x784:u8,nhwc@1:0x0' \
		'ofm=1x1x784:s8,nhcwb16@2:0x0,zero-128 kernel=1x1' \
		'stride=1x1 pad=0,0,0,0 scale=1073741824>>30 round=dbl' \
		'act=none[-128,127] block=1x2x256 blockdep=0' \
		'microblock=1x2x16' | diff - line
}

@test "a microblock that the accelerator lacks has no depth" {
	words | sed 's/01000124/05000124/' |
		npu-dis --raw -a ethos-u85-256 --high-level |
		grep -q ' microblock=4x4x0$'
	words | sed 's/01000124/05000124/' |
		npu-dis --raw -a ethos-u85-2048 --high-level |
		grep -q ' microblock=4x4x16$'
}

@test "commands of another generation are refused" {
	words | refuses_words ethos-u55-256 "command 0x012e" '0000012E'
	words | refuses_words ethos-u65-512 "command 0x0108" '00000108'
	words | refuses_words ethos-u85-128 "command 0x0123" '00000123'
	words | refuses_words ethos-u85-128 "command 0x0181" '00000181'
	words | refuses_words ethos-u55-128 "command 0x0007" '00000007'
	words | refuses_words ethos-u85-2048 "command 0x40a0" '000040A0 00000000'
}

# refuses_words ACCELERATOR TEXT WORDS: WORDS before the words from standard input are
# refused
refuses_words() {
	{
		echo "$3"
		cat
	} >refused.hex
	run --separate-stderr npu-dis --raw -a "$1" refused.hex
	[ "$status" = 2 ]
	[[ $stderr == *"$2 doesn't exist on $1 (rule 1)"* ]]
}

@test "every stream of U85 is listed" {
	n=0
	while read -r f; do
		npu-dis --fields "$f" >list
		tail -n 1 list | grep -q '^Command stream length = '
		npu-dis --json "$f" >json
		npu-dis --high-level "$f" >lines
		! grep -q '=?' lines || { echo "$f"; return 1; }
		n=$((n + 1))
	done < <(corpus)
	enough $n
}

# flip FILE OFFSET-IN-PAYLOAD BYTE: changes a byte in a copy, m.tflite
flip() {
	local at
	cp "$1" m.tflite
	chmod u+w m.tflite
	at=$(grep -obUa -m 1 COP1 m.tflite | cut -d: -f1)
	printf '%b' "\\x$3" |
		dd of=m.tflite bs=1 seek=$((at + 32 + $2)) conv=notrunc status=none
}

@test "the simulator runs U85's streams and reports broken ones" {
	plain=$(network hello_world_int8)
	f=$SHARED/$REFERENCE/networks/ethos-u85-256/hello_world_int8.tflite
	[ -n "$SHARED" ] || f=$(made "$plain")
	npu-sim --seed 3 --compare "$plain" "$f"
	# the block is 16 deep: order and number of weights change
	at=$(npu-dis "$f" | grep -m 1 ACC_FORMAT | cut -c1-8)
	flip "$f" $((at + 3)) 01
	run -1 --separate-stderr npu-sim m.tflite
	flip "$f" $((at + 3)) 05
	run -1 --separate-stderr npu-sim m.tflite
	[[ $stderr == *"ethos-u85-256 has no microblock of 4 x 4 (rule 8)"* ]]
}

# an average over 4 x 2 divides by 8: its scale is 1, as by Vela 5.1, or 1/8, as before
@test "an average divides by the count, whatever its scale" {
	"$GEN" 2 AVERAGE_POOL_2D >average.tflite
	cp "$(made average.tflite)" m.tflite
	npu-dis --high-level m.tflite | grep -q ' average .* kernel=4x2 .* scale=1073741824>>30 '
	npu-sim --seed 1 m.tflite >want
	poke_command m.tflite OFM_SCALE 1 21 20
	poke_payload m.tflite OFM_SCALE 1 01 00 00 40
	npu-dis --high-level m.tflite | grep -q ' average .* scale=1073741825>>33 '
	npu-sim --seed 1 m.tflite | diff want -
	run --separate-stderr npu-dis --verify m.tflite
	[[ $stderr != *"rule 18"* ]]
	# another scale
	poke_command m.tflite OFM_SCALE 1 20 20
	npu-sim --seed 1 m.tflite | diff want -
	run --separate-stderr npu-dis --verify m.tflite
	[[ $stderr == *"rule 18: an average ignores its scale 1073741825>>32, 1 or 1/8 is usual"* ]]
}

# Vela 4.5 writes 1/n as the scale of an average; the outputs are those of Arm's simulator
@test "streams of Vela 4.5 give the outputs of Arm's simulator" {
	need_shared reference/ambiq
	for d in "$SHARED"/reference/ambiq/*/ofm0.npy; do
		d=${d%/ofm0.npy}
		given=()
		for f in "$d"/ifm*.npy; do
			given+=(-i "$f")
		done
		for f in "$d"/ofm*.npy; do
			given+=(-e "$f")
		done
		npu-sim "${given[@]}" "$d"/*_vela.npz
		npu-dis --verify "$d"/*_vela.npz 2>findings
		[ ! -s findings ]
		basename "$d" >>names
	done
	[ "$(wc -l <names)" = 4 ]
}

@test "no stream of U85 breaks a rule" {
	n=0
	while read -r f; do
		npu-dis --verify --quiet "$f" >verdict
		grep -q ', 0 errors, ' verdict
		n=$((n + 1))
	done < <(corpus)
	enough $n
}

@test "a broken chain, a broken wait and a broken accumulator are found" {
	f=$SHARED/$REFERENCE/ops/ethos-u85-256/CHAIN_E/20.tflite
	[ -n "$SHARED" ] || f=$(made "$TOP/tests/models/digits.tflite")
	stream=$f
	# the consumer reads a buffer that nothing has filled
	at=$(npu-dis --fields "$stream" | grep -A 1 'IFM_PRECISION .*chained' |
		grep -m 1 IFM_REGION | cut -c1-8)
	flip "$f" $((at + 2)) 05
	breaks 54
	# the table is read during its transfer
	at=$(npu-dis "$stream" | grep -m 1 DMA_WAIT | cut -c1-8)
	flip "$f" $((at + 2)) 03
	breaks 44
	# a convolution continues an accumulator that nothing has left
	at=$(npu-dis "$stream" | grep -m 1 ACC_FORMAT | cut -c1-8)
	flip "$f" $((at + 2)) 10
	breaks 55
}

# breaks RULE: m.tflite breaks this rule
breaks() {
	run --separate-stderr npu-dis --verify m.tflite
	[ "$status" = 1 ]
	grep -q "error: rule $1: " <<<"$stderr" || {
		echo "no rule $1 in: $stderr"
		return 1
	}
}

# left MODEL: the number of operators on the CPU, or nothing if the model is refused
left() {
	tfl-partition -a ethos-u85-256 --report "$1" >report 2>notes || return
	awk '/^ *[0-9]+  CPU/ { n++ } END { print n + 0 }' report
}

@test "all operators run on the NPU, as with another compiler" {
	need_shared $REFERENCE/INDEX.tsv
	step=$((6 * coarse))
	[ -z "${NPUTOOLS_ALL-}" ] || step=1
	n=0
	while read -r _ case; do
		m=$SHARED/${case#shared/}/model.tflite
		[ -e "$m" ] || m=$SHARED/$REFERENCE/$case/model.tflite
		[ "$(left "$m")" = 0 ] || {
			echo "$case: $(cat notes)"
			return 1
		}
		n=$((n + 1))
	done < <(grep '^ops/ethos-u85-256/' "$SHARED/$REFERENCE/INDEX.tsv" |
		grep -v tosa | sed -n "1~${step}p")
	echo "# $n models" >&3
	[ "$n" -gt $((60 / coarse)) ]
}

# exact ACCELERATOR MODEL: compiles, verifies and compares with the plain model
exact() {
	tfl-partition ${LOWER-} "$2" 2>notes |
		npu-sched -a "$1" --system-config "$(sized "$1")" \
			--memory-mode Dedicated_Sram 2>notes |
		npu-wenc | npu-cmdgen -o compiled.tflite &&
		npu-dis --verify --quiet compiled.tflite >verdict &&
		npu-sim --seed 5 --compare "$2" compiled.tflite >out || {
		echo "$1 $2"
		return 1
	}
}

@test "operators compile for all five sizes, with equal bytes and no finding of the verifier" {
	n=0
	seen=0
	for a in 128 256 512 1024 2048; do
		for op in ADD AVERAGE_POOL_2D CONV_2D \
			DEPTHWISE_CONV_2D FULLY_CONNECTED LEAKY_RELU \
			LOG_SOFTMAX MAX_POOL_2D MUL PAD SOFTMAX SUB TANH \
			TRANSPOSE_CONV; do
			# each operator has one size in a quick run
			[ $((seen++ % coarse)) = 0 ] || continue
			exact ethos-u85-$a "$(case_or_drawn \
				golden/ops/$op/$((a % 7))/model.tflite $((a % 7 + 1)) $op)"
			n=$((n + 1))
		done
	done
	[ "$n" = $((70 / coarse)) ]
}

@test "a network compiles for all five sizes" {
	for a in 128 256 512 1024 2048; do
		exact ethos-u85-$a "$TOP/tests/models/digits.tflite"
	done
}

@test "the words of a softmax stay within 32 bits, as U85 may not saturate" {
	for m in SOFTMAX/11 SOFTMAX/7 LOG_SOFTMAX/3; do
		exact ethos-u85-256 "$(case_or_drawn "golden/ops/$m/model.tflite" \
			"${m#*/}" "${m%/*}")"
		npu-sim --trace compiled.tflite >trace
		grep -q '^npu .* clz ' trace
		! grep overflows trace
	done
}

@test "a wait for another slot of the tables is no warning" {
	local k
	# a transfer of a table waits for the kernel that reads another one
	for k in 10 40 43; do
		"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-tosa" $k >m.tosa
		npucc -q --part=alif-e8-u85 -o m.tflite m.tosa
		npu-dis --high-level m.tflite >listing
		[ "$(grep -A1 kernel_wait listing | grep -c '# table ')" -ge 1 ]
		npu-dis --verify m.tflite >verdict 2>findings
		run -1 grep 'rule 45' verdict findings
	done
}

@test "a zero point larger than a byte is added to words" {
	m=$(case_or_drawn $REFERENCE/cases/SOFTMAX_16/2/model.tflite 6 SOFTMAX)
	tfl-partition "$m" 2>notes | npu-sched -a ethos-u85-256 \
		--system-config Ethos_U85_SYS_DRAM_Low \
		--memory-mode Dedicated_Sram --dump stages 2>notes >stages
	grep -q 'do=add .*scalar=32767 .*act=lut' stages
	! grep '^op.* ofm-zero=\(32767\|-32768\)' stages || false
	exact ethos-u85-256 "$m"
}

@test "TANH and LOGISTIC of 16 bits have the table that U85 needs" {
	m=$(case_or_drawn $REFERENCE/cases/TANH_16/2/model.tflite 6 TANH)
	exact ethos-u85-256 "$m"
	tfl-partition "$m" 2>notes | npu-sched -a ethos-u85-256 \
		--system-config Ethos_U85_SYS_DRAM_Low \
		--memory-mode Dedicated_Sram 2>notes >sched
	grep -q 'act=tanh lut=l0' sched
	# a table of another function
	sed '/^lut /s/=\([0-9]*\),/=1\1,/' sched | npu-wenc | npu-cmdgen -o t.tflite
	run -1 --separate-stderr npu-sim t.tflite
	[[ $stderr == *"its table is not TANH: "*" (rule 38)"* ]]
	sed 's/ act=tanh lut=l0/ act=tanh/' sched | npu-wenc >wenc
	run -2 --separate-stderr npu-cmdgen -o t.tflite wenc
	[[ $stderr == *"TANH and LOGISTIC need a table on U85: lut="* ]]
}

# totals LIST: our figures and Vela's for a list of files with Vela's figures
totals() {
	local file total macs mode
	declare -A profile=([128]=Low [256]=Low [512]=Mid [1024]=Mid [2048]=High)
	while read -r file total; do
		macs=${file#*ethos-u85-} macs=${macs%%/*}
		mode=Dedicated_Sram
		[ "${macs%-size}" = "$macs" ] || mode=Shared_Sram
		printf '{"file":"%s","vela":%s}' "$file" "$total"
		npu-perf --model=regor --json --memory-mode $mode \
			--system-config "Ethos_U85_SYS_DRAM_${profile[${macs%-size}]}" \
			"$SHARED/$REFERENCE/$file.tflite" || return 1
	done <"$1" | jq -n '[inputs] | range(0; length; 2) as $i |
		.[$i] + { here: .[$i + 1].estimate.total_cycles }'
}

# a difference of one cycle is more than 1 % of a few cycles and is allowed
@test "our totals are within a hundredth of those that Vela reported for its streams" {
	need_shared $REFERENCE/INDEX.tsv
	local step=9
	[ -z "${NPUTOOLS_ALL-}" ] || step=1
	# a quick run, too, has indices in memory
	sed -n "/^#/d;5~${step}p" "$TOP/tests/lib/regor-u85.tsv" |
		awk -v coarse=$coarse 'NR % coarse == 1 % coarse || /GATHER/' >list
	totals list >totals.json
	run jq -c 'select((.here - .vela | fabs) > ([1, .vela * 0.01] | max))' totals.json
	[ -z "$output" ]
	[ "$(jq -s length totals.json)" = "$(wc -l <list)" ]
	[ "$(wc -l <list)" -ge $((140 / coarse)) ]
}

@test "comparisons, selections, scattered and gathered rows, and pairs of words are exact" {
	for m in EQUAL/11 SELECT_V2/11 REDUCE_ALL/1 SCATTER_ND/10 GATHER_x/9 \
		TRANSPOSE_x/10; do
		op=${m%/*}
		exact ethos-u85-256 "$(case_or_drawn "$REFERENCE/cases/$m/model.tflite" \
			"${m#*/}" "${op%_x}")"
	done
}

@test "blocks may be deeper and wider than the feature map if this saves bursts or commands" {
	memory=(--system-config Ethos_U85_SYS_DRAM_Low --memory-mode Dedicated_Sram)
	# eight channels of 8 bits; the cycles are in tests/plans.tsv
	"$GEN" 3 CONV_2D >m.tflite
	LOWER="-a ethos-u85-256" exact ethos-u85-256 m.tflite
	tfl-partition -a ethos-u85-256 -o part m.tflite 2>notes
	npu-sched -a ethos-u85-256 "${memory[@]}" --model=timeline --within=0 -o sched part 2>notes
	grep -q '^op .* do=conv .* block=[0-9]*x[0-9]*x16 ' sched
	# a feature map of one column
	"$GEN" 2 ABS >m.tflite
	LOWER="-a ethos-u85-256" exact ethos-u85-256 m.tflite
	tfl-partition -a ethos-u85-256 -o part m.tflite 2>notes
	npu-sched -a ethos-u85-256 "${memory[@]}" -o sched part 2>notes
	grep -q '^op .* do=abs .* block=[0-9]*x4x' sched
}

# U85's DMA engine reads indices: the only address of an NPU that depends on data
@test "rows selected by computed indices are moved by one transfer" {
	for m in "3 GATHER" "4 GATHER_ND" "16 GATHER" "8 GATHER_ND"; do
		"$GEN" ${m%% *} "${m#* }_COMPUTED" >m.tflite
		native do=gather m.tflite 256
		! grep -q '^node .* on=cpu' part
		tfl-partition -a ethos-u55-128 --report m.tflite >report
		grep -q "indices are not constant, and addresses" report
	done
	# another shape of the indices, and other types
	for edit in 's/ifm2=t[0-9]*/&[1,1,1]/' 's/ofm=t[0-9]*/&.u8/'; do
		sed "/^op .*do=gather/$edit" part >other
		run -2 --separate-stderr npu-sched -a ethos-u85-256 other \
			--system-config Ethos_U85_SYS_DRAM_Low --memory-mode Dedicated_Sram
		[[ $stderr == *"other:"*": error: o"* ]]
	done
}

@test "columns are selected from a map that is a part of another one" {
	local c a
	need flatc jq
	for c in 1 3 $((RANDOM % 20 + 1)); do
		# the result of ABS is in the concatenation, whose other part is written later
		model m "def code(c): {deprecated_builtin_code:c,builtin_code:c,version:1};
			.operator_codes = [code(101),code(36),code(2)]
			| $t[0].shape = [1,1,1,$c]
			| $t[1] = ($t[0] | .name = \"abs\")
			| $t[2] = {shape:[4],type:2,buffer:1,name:\"indices\"}
			| $t[3] = ($t[0] | .shape = [1,1,4,$c] | .name = \"columns\")
			| $t += [$t[0] | .shape = [1,1,1,$((2 * c))] | .name = \"both\"]
			| .buffers[1].data = [range(16) | 0]
			| .subgraphs[0].outputs = [3,4]
			| .subgraphs[0].operators = [{opcode_index:0,inputs:[0],outputs:[1]},
				{opcode_index:1,inputs:[1,2],outputs:[3],builtin_options_type:23,
					builtin_options:{axis:2}},
				{opcode_index:2,inputs:[1,0],outputs:[4],builtin_options_type:10,
					builtin_options:{axis:3}}]"
		for a in 128 512 2048; do
			LOWER="-a ethos-u85-$a" exact ethos-u85-$a m.tflite
		done
	done
}

@test "a few short columns selected by constants are one transfer, too" {
	"$GEN" 7 GATHER >m.tflite
	native do=gather m.tflite 256 1024
}

# there, each scattered place is named once
@test "TOSA's gather and scatter are one transfer, and bits are combined by one operation" {
	on=(--system-config Ethos_U85_SYS_DRAM_Mid --memory-mode Dedicated_Sram)
	# placed GRAPH OPERATION: makes m.tflite and verifies it
	placed()
	{
		tosa-partition -a ethos-u85-512 "$1" >part
		grep -q "^op .*do=$2" part
		[ "$(grep -c '^op ' part)" -le 5 ]
		npu-sched -a ethos-u85-512 "${on[@]}" part 2>notes | npu-wenc |
			npu-cmdgen -o m.tflite
		npu-dis --verify --quiet m.tflite
	}
	for m in "1 gather" "2 scatter" "4 scatter" "6 gather" "27 and" "107 or" "166 xor" \
		"14 shr" "44 resize"; do
		kind=single
		case $m in *gather | *scatter) kind=indices ;; esac
		"${GEN%/*}/gen-tosa" "${m% *}" $kind >m.tosa
		placed m.tosa "${m#* }"
		npu-sim --inputs=random,min,max --compare=m.tosa m.tflite >out
	done
	[ -n "$SHARED" ] || return 0
	for m in "GATHER/0 gather" "GATHER/2 gather" "SCATTER/0 scatter" "SCATTER/3 scatter" \
		"AND/2 and" "OR/5 or" "XOR/2 xor" "LXOR/4 xor" "ASR/4 shr" "LSR/1 lsr" \
		"RESIZE_BILINEAR/11 resize"; do
		dir=$SHARED/$REFERENCE/cases/tosa-${m% *}
		placed "$dir/model.tosa" "${m#* }"
		in=()
		for f in "$dir"/input_*.npy; do
			in+=(-i "$f")
		done
		npu-sim "${in[@]}" -e "$dir/output_0.npy" m.tflite >out
	done
}

@test "weights with two zeros in four take half the cycles of the timeline" {
	local most=9 # tenths of the whole network's cycles
	local low=(--system-config Ethos_U85_SYS_DRAM_Low --memory-mode Dedicated_Sram)
	m=$(network kws_ref_model) # its first convolution has one channel
	[ -n "$SHARED" ] || most=10
	tfl-partition -o part "$m"
	npu-sched -a ethos-u85-128 "${low[@]}" --model=timeline --within=0 part 2>notes >sched
	[ "$(grep -c ' sparse=1' sched)" = 1 ]
	sed '/do=conv/s/$/ sparse=0/' part |
		npu-sched -a ethos-u85-128 "${low[@]}" --model=timeline --within=0 2>notes >dense
	cycles() { sed -n 's/^target .* objective=\([0-9]*\).*/\1/p' "$1"; }
	[ "$(cycles sched)" -lt $(($(cycles dense) * most / 10)) ]
	for a in 128 512 2048; do
		exact ethos-u85-$a "$m"
		npu-dis --high-level compiled.tflite | grep -q 'order=part_kernel,sparse'
		[ -z "$SHARED" ] ||
			exact ethos-u85-$a "$SHARED/$REFERENCE/cases/FC_sparse/3/model.tflite"
	done
	# weights that are not sparse are refused, and accelerators without the format, too
	sed '/do=conv/s/$/ sparse=1/' part >forced
	run -2 --separate-stderr npu-sched -a ethos-u85-128 "${low[@]}" forced
	[[ $stderr == *"sparse=1 needs at most two weights of four that are not 0, and none beyond 127; w"*" has others" ]]
	run -2 --separate-stderr npu-sched -a ethos-u55-128 \
		--system-config Ethos_U55_High_End_Embedded --memory-mode Shared_Sram forced
	[[ $stderr == *"sparse=1, but ethos-u55-128 has no sparse format for this operation" ]]
	[ -n "$SHARED" ] || return 0
	# a stream that declares dense weights sparse is detected
	f=$SHARED/$REFERENCE/networks/ethos-u85-256/ad01_int8.tflite
	at=$(npu-dis "$f" | grep -m 1 WEIGHT_FORMAT | cut -c1-8)
	flip "$f" $((at + 2)) 10
	run -1 --separate-stderr npu-sim m.tflite
	breaks 43
	[[ $stderr == *"two weights of four that are not 0, too many for the sparse format"* ]]
	# a stream that declares sparse weights of another compiler is read by either
	# decoder
	for f in ops/ethos-u85-256/FC_sparse/3 ops/ethos-u85-256/CONV_sparse/9; do
		npu-dis --verify "$SHARED/$REFERENCE/$f.tflite" | grep -q "0 errors"
	done
}

@test "a division and a leaky ReLU of two slopes run on U85 alone" {
	local div=$SHARED/$REFERENCE/cases/DIV_32/0/model.tflite
	if [ -z "$SHARED" ]; then
		div=div.tflite
		model div ".operator_codes = [{deprecated_builtin_code:42,builtin_code:42}]
			| $t = [{shape:[3,5],type:2,name:\"a\"},{shape:[3,5],type:2,name:\"b\"},
				{shape:[3,5],type:2,name:\"c\"}]
			| .subgraphs[0].inputs = [0,1] | .subgraphs[0].outputs = [2]
			| .subgraphs[0].operators = [{inputs:[0,1],outputs:[2],
				builtin_options_type:\"DivOptions\",builtin_options:{}}]"
	fi
	leaky=$(case_or_drawn models/seanet_leaky_relu5.tflite 6 LEAKY_RELU)
	for m in "$div" "$leaky"; do
		for a in 128 1024; do
			LOWER="-a ethos-u85-$a" exact ethos-u85-$a "$m"
		done
		tfl-partition -a ethos-u85-256 -o part "$m"
		run -2 --separate-stderr npu-sched -a ethos-u55-128 --system-config \
			Ethos_U55_High_End_Embedded --memory-mode Shared_Sram part
		[[ $stderr == *"o0: ethos-u55-128 has no "*": lower the model for this accelerator" ]]
	done
	[ "$(grep -c '^op ' part)" = 1 ]
	# npucc passes the accelerator to tfl-partition
	npucc -a ethos-u85-256 --system-config Ethos_U85_SYS_DRAM_Low \
		--memory-mode Dedicated_Sram -o c.tflite "$div" 2>notes
	npu-dis --high-level c.tflite | grep -q ' div '
	run -2 --separate-stderr tfl-partition -a ethos-u85-25 "$div"
	[[ $stderr == *"there is no accelerator 'ethos-u85-25'; there are "* ]]
}

# native PATTERN MODEL MACS...: lowers the model for each size to an operation that matches
# PATTERN, with exact results
native() {
	local like=$1 m=$2 a
	shift 2
	for a; do
		LOWER="-a ethos-u85-$a" exact ethos-u85-$a "$m"
		tfl-partition -a ethos-u85-$a -o part "$m" 2>notes
		grep -q "^op .* $like" part || {
			echo "no $like for $m"
			return 1
		}
	done
	run -2 --separate-stderr npu-sched -a ethos-u65-256 --system-config \
		Ethos_U65_High_End --memory-mode Shared_Sram part
	[[ $stderr == *": ethos-u65-256 has no "*": lower the model for this accelerator" ]]
}

@test "sums of 40 bits have their records and accumulators, also for each channel" {
	for model in 62:depthwise 4:fc; do
		"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model" "${model%:*}" >sums.tflite
		tfl-partition sums.tflite | grep "do=${model#*:} .*acc40=1"
		exact ethos-u85-256 sums.tflite
	done
}

@test "the MAC array multiplies two feature maps" {
	of() { case_or_drawn "$1/model.tflite" "$2" BATCH_MATMUL; }
	native do=matmul "$(of golden/ops/BATCH_MATMUL/1 4)" 128 1024
	native do=matmul "$(of golden/ops/BATCH_MATMUL/10 5)" 256 2048
	native do=matmul "$(of $REFERENCE/cases/BATCH_MATMUL_16/1 2)" 256 512
	# with a bias: words, and an addition
	"$GEN" 14 FULLY_CONNECTED >bias.tflite
	native 'do=matmul.*scale=1:0' bias.tflite 128 1024
}

@test "the output stage exchanges columns and channels, and reverses axes" {
	of() { case_or_drawn "golden/ops/TRANSPOSE/$1/model.tflite" "$2" TRANSPOSE; }
	native order=hcw "$(of 2 1)" 128 2048
	native order=hcw "$(of 10 6)" 256 1024
	"$GEN" 2 REVERSE_V2 >reverse.tflite
	native order=reverse-c reverse.tflite 256 512 1024
}

# turned COLUMNS CHANNELS FRONT BACK: m.tflite, which pads channels and exchanges them with columns
turned() {
	model m ".operator_codes = [{deprecated_builtin_code:34,builtin_code:34,version:1},
			{deprecated_builtin_code:39,builtin_code:39,version:1}]
		| $t[0].shape = [1,1,$1,$2] | $t[1] = {shape:[4,2],type:2,buffer:1,name:\"pads\"}
		| $t[2] = {shape:[4],type:2,buffer:2,name:\"order\"}
		| $t[3] = ($t[0] | .shape = [1,1,$1,$(($2 + $3 + $4))] | .name = \"deep\")
		| $t += [$t[0] | .shape = [1,1,$(($2 + $3 + $4)),$1] | .name = \"turned\"]
		| .buffers[1].data = [range(32) | if . == 24 then $3 elif . == 28 then $4 else 0 end]
		| .buffers[2].data = [0,0,0,0, 1,0,0,0, 3,0,0,0, 2,0,0,0]
		| .subgraphs[0].outputs = [4]
		| .subgraphs[0].operators = [{opcode_index:0,inputs:[0,1],outputs:[3]},
			{opcode_index:1,inputs:[3,2],outputs:[4]}]"
}

@test "an exchange of columns and channels waits for channels that were written just before" {
	local a
	need flatc jq
	turned 20 23 8 1
	LOWER="-a ethos-u85-256" exact ethos-u85-256 m.tflite
	for _ in 1 2 3 4 5 6; do
		turned $((RANDOM % 50 + 5)) $((RANDOM % 30 + 1)) $((RANDOM % 9)) 1
		for a in 128 256 2048; do
			LOWER="-a ethos-u85-$a" exact ethos-u85-$a m.tflite
		done
	done
}

@test "a feature map written backwards by other lowerings is reversed by the output stage" {
	"$GEN" 4 REVERSE_V2 >m.tflite
	tfl-partition m.tflite 2>notes >part
	grep -q 'ofm=t[^ ]*:-' part
	for a in 128 1024; do
		exact ethos-u85-$a m.tflite
		npu-dis --high-level compiled.tflite | grep -q reverse=
	done
}

@test "a unit resizes on the grid of the reference" {
	# by any ratio; of 16 bits; from the middle of an element behind the first
	"$GEN" 7 RESIZE_BILINEAR >m.tflite
	native sample=bilinear m.tflite 128 512 2048
	"$GEN" 18 RESIZE_BILINEAR >m.tflite
	native 'sample=bilinear.*acc40=1' m.tflite 256
	"$GEN" 19 RESIZE_BILINEAR >m.tflite
	native 'ifm=[^ ]*@.*sample=bilinear' m.tflite 1024
	"$GEN" 2 RESIZE_NEAREST_NEIGHBOR >m.tflite
	native sample=nearest m.tflite 256 2048
}

@test "comparisons and selections are exact in all bits" {
	"$GEN" 1 EQUAL >m.tflite
	native do=equal m.tflite 128 1024
	"$GEN" 1 NOT_EQUAL >m.tflite
	native do=unequal m.tflite 256 512
	# of different units: each operand with its own scale
	"$GEN" 9 GREATER >m.tflite
	native 'do=greater .*opa=[1-9].* scale=' m.tflite 256
	"$GEN" 26 GREATER_EQUAL >m.tflite
	native 'do=not-less .*reversed=1 .*opa=[1-9].* scale=' m.tflite 512
	"$GEN" 15 EQUAL >m.tflite
	native 'do=equal .*opa=[1-9].* scale=' m.tflite 2048
	"$GEN" 2 SELECT >m.tflite
	native do=and-not m.tflite 256 2048
	! grep '^lut' part || false
}

# planned MODEL ACCELERATOR SYSTEM SRAM: the cycles
planned() {
	tfl-partition -a "$2" "$(network "$1")" 2>notes |
		npu-sched -a "$2" --system-config "$3" --memory-mode Dedicated_Sram \
			--arena-cache-size "$4" --model=timeline 2>notes |
		sed -n 's/^target .* objective=\([0-9]*\).*/\1/p'
}

# its words outgrow the SRAM of 384 KiB, and their copy in INT8 does not
@test "what a gather reads and writes leaves the SRAM if it does not fit" {
	# shellcheck disable=SC2046
	"$GEN" -p 700837 GATHER_COMPUTED_INT64 $(seq -f %g.0=1 19) >m.tflite
	tfl-partition -a ethos-u85-256 m.tflite >part
	grep -q '^op .*do=gather ' part
	local limit plans=0
	for limit in 64 16384 393216 900000; do
		npu-sched -a ethos-u85-256 --system-config Ethos_U85_SYS_DRAM_Mid \
			--memory-mode Dedicated_Sram --arena-cache-size=$limit --keep-plan=plan part >sched
		npu-sched -a ethos-u85-256 --system-config Ethos_U85_SYS_DRAM_Mid \
			--memory-mode Dedicated_Sram --arena-cache-size=$limit --plan=plan part | cmp - sched
		npu-wenc -o wenc sched
		npu-cmdgen -o out.tflite wenc
		npu-dis -q --verify --source=wenc out.tflite
		npu-sim --inputs=random,min,alternating --compare=out.tflite m.tflite
		! grep -q "^tensor .*i64\[2,3,18,18,48\].*area=arena" sched || plans=$((plans + 1))
	done
	[ $plans = 3 ]
}

# The limit is Vela 5.1's cycles in the SRAM of its file: 500 cycles of latency count once
# for each transfer, and again if the first weights delay the next ones.
@test "weights come in one transfer, or are read in place if waiting delays others" {
	need_shared models # the demo's plan is in tests/plans.tsv
	[ "$(planned kws_ref_model ethos-u85-2048 Ethos_U85_SYS_DRAM_High 22336)" -le 12940 ]
	[ "$(planned hello_world_int8 ethos-u85-2048 Ethos_U85_SYS_DRAM_High 2704)" -le 2079 ]
}

@test "the first largest element is found by one pool, and INT64 is a pair of words" {
	"$GEN" 3 ARG_MAX >m.tflite
	native do=argmax m.tflite 128 1024
	grep -q order=hcw part # a last axis
	"$GEN" 2 ARG_MAX >m.tflite
	native do=argmax m.tflite 256 2048
	! grep -q order=hcw part || false # a small axis, unchanged
	"$GEN" 8 ARG_MAX >m.tflite
	native do=argmax m.tflite 256 2048
	grep -q 'shape=i64' part
}

# six steps of which four fit: the groups share weights, which are encoded for one microblock
@test "an LSTM with a number of steps that no group divides is exact" {
	local choices
	choices="0.2 0.3 2.2 2.3 2.7 $(seq -s ' ' -f 2.%g 8 30)"
	"$GEN" -p -g 730209 $(seq -f %g.0=1 3 20) 1.0=1 ${choices// /=0 }=0 >m.tflite
	npucc -q --check -a ethos-u85-1024 --system-config=Ethos_U85_SYS_Flash_High \
		--memory-mode=Shared_Sram --allow=unequal-quantization -o out.tflite m.tflite
}
