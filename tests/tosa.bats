#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# TOSA graphs: every case computes the specification's results, and a graph that breaks a
# rule is refused in one line.

load lib/common

# files_of DIR STEM FLAG: sets `list` to "FLAG DIR/STEM_0.npy FLAG DIR/STEM_1.npy ..."
files_of()
{
	local k
	list=()
	for ((k = 0; ; k++)); do
		[ -e "$1/$2_$k.npy" ] || return 0
		list+=("$3" "$1/$2_$k.npy")
	done
}

@test "a graph that breaks a rule is refused in one line with the file's name" {
	local file files n whole status bad=0
	files=("$SHARED"/tosa/bad/*.tosa)
	if [ -z "$SHARED" ]; then # truncated graphs, and one with another identifier
		whole=$(tosa_case p-add-0)/model.tosa
		for n in 4 60 200 $(($(stat -c %s "$whole") / 2)); do
			head -c "$n" "$whole" >"cut-$n.tosa"
		done
		sed '1s/TOSA/TOSB/' "$whole" >name.tosa
		files=(./*.tosa)
	fi
	for file in "${files[@]}"; do
		case $file in */version-1.1.tosa | */version-1.0-draft.tosa) continue ;; esac
		status=0
		npu-sim "$file" >out 2>err || status=$?
		if [ $status != 2 ] || [ -s out ] || [ "$(wc -l <err)" != 1 ] ||
			! grep -qF "${file##*/}: error: " err; then
			echo "$file: status $status: $(head -2 err)"
			bad=1
		fi
	done
	[ $bad = 0 ]
	[ -n "$SHARED" ] || return 0
	for file in version-1.1 version-1.0-draft; do
		npu-sim "$SHARED/tosa/bad/$file.tosa" >out
	done
}

# compile_case DIR ACCELERATOR SYSTEM MODE: compiles DIR's graph to m.tflite; status 1:
# refused
compile_case()
{
	local status=0
	tosa-partition -a "$2" -o m.part "$1/model.tosa" 2>err || status=$?
	[ $status = 0 ] || return $status
	npu-sched -a "$2" --system-config="$3" --memory-mode="$4" -o m.sched m.part &&
		npu-wenc -o m.wenc m.sched && npu-cmdgen -o m.tflite m.wenc
}

# case_commands DIR ACCELERATOR SYSTEM MODE: adds to `commands`: DIR's graph is compiled, and its
# outputs equal the case's and the reference kernels', without a warning
case_commands()
{
	local in list
	files_of "$1" input -i
	in=("${list[@]}")
	files_of "$1" output -e
	commands+=("tosa-partition -a $2 -o m.part $1/model.tosa"
		"npu-sched -a $2 --system-config=$3 --memory-mode=$4 -o m.sched m.part"
		"npu-wenc -o m.wenc m.sched" "npu-cmdgen -o m.tflite m.wenc"
		"silent npu-sim --quiet ${in[*]} ${list[*]} --compare=$1/model.tosa m.tflite")
}

# place_drawn ACCELERATOR SYSTEM MODE: generated graphs and the demo's compute the reference
# kernels' results when compiled
place_drawn()
{
	local dir name
	for name in a b c d e net-; do
		dir=$(tosa_case $name)
		compile_case "$dir" "$@"
		npu-sim --seed=5 --compare="$dir/model.tosa" m.tflite >out
	done
}

# place_all FIRST ACCELERATOR SYSTEM MODE: compiles every third case from FIRST on, or all
# cases with NPUTOOLS_ALL.  The outputs must equal the case's golden and the reference
# kernels' results, without a warning.
place_all()
{
	local first=$1 step=3 dirs i commands=()
	shift
	[ -n "$SHARED" ] || { place_drawn "$@"; return; }
	[ -z "${NPUTOOLS_ALL-}" ] || step=1 first=0
	[ -z "${NPUTOOLS_QUICK-}" ] || step=$((7 * step)) # of those, one in seven
	ln -s "$SHARED/tosa/cases" cases
	dirs=(cases/*/)
	# the largest network takes a fifth of the suite's time, and ten times as much as all
	# other cases under sanitizers
	[ -n "${NPUTOOLS_ALL-}" ] ||
		mapfile -t dirs < <(printf '%s\n' "${dirs[@]}" | grep -v /net-mbv2)
	for ((i = first; i < ${#dirs[@]}; i += step)); do
		case_commands "${dirs[i]%/}" "$@"
	done
	in_process "${commands[@]}"
}

@test "a third of all cases computes exact results on ethos-u55-128" {
	place_all 0 ethos-u55-128 Ethos_U55_High_End_Embedded Shared_Sram
}

@test "another third computes exact results on ethos-u65-256" {
	place_all 1 ethos-u65-256 Ethos_U65_High_End Dedicated_Sram
}

@test "the last third computes exact results on ethos-u85-256" {
	place_all 2 ethos-u85-256 Ethos_U85_SYS_DRAM_Mid Dedicated_Sram_384KB
	[ -n "$SHARED" ] || return 0
	# shifts to the lower bits, multipliers of 31 bits for operands of 16 bits
	local commands=()
	for name in arithmetic-right-shift-0 logical-right-shift-2 rescale-pc-i16-i16-0; do
		case_commands "cases/$name" ethos-u85-256 Ethos_U85_SYS_DRAM_Mid \
			Dedicated_Sram_384KB
	done
	in_process "${commands[@]}"
}

@test "npu-sim compares a TOSA graph with its compiled model" {
	local name
	for name in p-conv-0 p-softmax-0 p-attention-1 net-ad01-int8; do
		compile_case "$(tosa_case "$name")" ethos-u55-256 \
			Ethos_U55_High_End_Embedded Shared_Sram
		npu-sim --inputs=random,min,max,alternating \
			--compare="$(tosa_case "$name")/model.tosa" m.tflite
	done
}

@test "npz and vela-bin files have the same network and can be run, verified and estimated" {
	local name kind
	for name in p-add-0 p-multi-output-1 p-highrank-2 logical-and-0 reshape-0; do
		compile_case "$(tosa_case "$name")" ethos-u65-256 Ethos_U65_High_End \
			Dedicated_Sram
		files_of "$(tosa_case "$name")" input -i
		in=("${list[@]}")
		files_of "$(tosa_case "$name")" output -e
		for kind in npz vela-bin; do
			npu-cmdgen --emit=$kind -o m.$kind m.wenc
			npu-sim "${in[@]}" "${list[@]}" m.$kind
			npu-sim --compare="$(tosa_case "$name")/model.tosa" m.$kind
			npu-dis --verify --source=m.wenc m.$kind
			npu-perf --system-config=Ethos_U65_High_End \
				--memory-mode=Dedicated_Sram m.$kind
		done
	done
	# no constants: ExecuTorch packs an empty string of NumPy as one zero byte
	cp "$TOP/tests/cases/tosa-partition/select/m.tosa" model.tosa
	compile_case . ethos-u65-256 Ethos_U65_High_End Dedicated_Sram
	npu-cmdgen --emit=vela-bin -o m.vela-bin m.wenc
	npu-sim --compare=model.tosa m.vela-bin
	LC_ALL=C grep -qaP 'weight_data\x00{5}\x01\x00{31}scratch_size' m.vela-bin
}

@test "mkinput and tfl2c read the graph and its compiled files" {
	local name kind dir
	for name in p-add-0 p-multi-output-1; do
		dir=$(tosa_case "$name")
		compile_case "$dir" ethos-u55-128 Ethos_U55_High_End_Embedded Shared_Sram
		in=("$dir"/input_*.npy)
		[ -n "$SHARED" ] || in=(--random 1)
		mkinput -o in.h --expected=want.h "$dir/model.tosa" "${in[@]}"
		grep -Eq 'int(8|16|32)_t input_data' in.h
		for kind in tflite npz vela-bin; do
			npu-cmdgen --emit=$kind -o m.$kind m.wenc
			mkinput -o m.h --expected=$kind.h m.$kind "${in[@]}"
			cmp in.h m.h
			cmp want.h $kind.h
			tfl2c -n m m.$kind | grep -q 'M_NPU_MACS 128\|_MACS'
		done
	done
	refuses 2 "not a TFLite model" tfl2c "$dir/model.tosa"
}

@test "a raw network that is truncated or malformed is refused in one line" {
	local n kind status
	compile_case "$(tosa_case p-add-0)" ethos-u55-128 \
		Ethos_U55_High_End_Embedded Shared_Sram
	for kind in npz vela-bin; do
		npu-cmdgen --emit=$kind -o m.$kind m.wenc
		for n in 30 100 1000 $(($(stat -c %s m.$kind) - 1)); do
			head -c "$n" m.$kind >"cut"
			status=0
			npu-sim cut >out 2>err || status=$?
			[ $status = 2 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ]
		done
	done
}

@test "the npz is an archive with all keys, and none of them is pickled" {
	need unzip
	compile_case "$(tosa_case p-add-0)" ethos-u55-128 \
		Ethos_U55_High_End_Embedded Shared_Sram
	npu-cmdgen --emit=npz -o m.npz m.wenc
	unzip -t m.npz
	for key in cmd_data weight_data weight_region scratch_{shape,size,region} \
		scratch_fast_{shape,size,region} \
		{input,output,variable}_{shape,elem_size,region,offset}; do
		unzip -l m.npz | grep -q " $key.npy$"
	done
	! unzip -p m.npz | grep -qa "'|O'"
}

@test "numpy reads the npz without pickles, with the keys, types and shapes of Vela" {
	local python name dir
	for python in python3 /usr/bin/python3 ''; do
		[ -z "$python" ] || ! "$python" -c 'import numpy' 2>/dev/null || break
	done
	[ -n "$python" ] || skip "needs numpy"
	for name in p-add-0 p-multi-output-1 p-conv-0; do
		dir=$(tosa_case $name)
		compile_case "$dir" ethos-u55-128 \
			Ethos_U55_High_End_Embedded Shared_Sram
		npu-cmdgen --emit=npz -o m.npz m.wenc
		# as ExecuTorch loads it
		"$python" - >have <<-END
			import numpy
			z = numpy.load("m.npz", allow_pickle=False)
			for k in sorted(z.files):
			    v = z[k]
			    print(k, v.dtype.kind if v.dtype.kind == "S" else v.dtype, *v.shape)
			assert z["cmd_data"].tobytes()[:4] == b"COP1"
			assert type(z["scratch_shape"][0]) == numpy.int64
			assert z["scratch_shape"][0] == z["scratch_size"]
		END
		ins=$(find "$dir" -name 'input_*.npy' | wc -l)
		outs=$(find "$dir" -name 'output_*.npy' | wc -l)
		# a generated graph has one input and one output, and no files of them
		[ -n "$SHARED" ] || ins=1 outs=1
		{
			printf '%s S\n' cmd_data weight_data
			printf '%s int64\n' {weight,scratch,scratch_fast}_region \
				scratch{,_fast}_size
			printf '%s int64 1\n' scratch{,_fast}_shape
			for e in "input $ins" "output $outs"; do
				printf "${e% *}_%s int64 ${e#* }\n" elem_size offset region
				echo "${e% *}_shape int64 ${e#* } 6"
			done
			printf 'variable_%s float64 0\n' elem_size offset region shape
		} | LC_ALL=C sort | diff - have
	done
}

@test "the message names the smallest SRAM that works, and this size works" {
	local on=(-a ethos-u55-128 --system-config=Ethos_U55_High_End_Embedded
		--memory-mode=Shared_Sram) least
	cp "$(tosa_case p-add-0)/model.tosa" net.tosa
	refuses 1 "the smallest that works is" \
		npucc "${on[@]}" --arena-cache-size=100 -o m.tflite net.tosa
	least=$(sed -n 's/.*the smallest that works is \([0-9]*\)$/\1/p' refuses.err)
	npucc "${on[@]}" --arena-cache-size="$least" --check -o m.tflite net.tosa
	refuses 1 "the smallest that works is $least" \
		npucc "${on[@]}" --arena-cache-size=$((least - 16)) -o m.tflite net.tosa
}

@test "networks from TFLite take the same cycles by either front end, within 2 %" {
	need_shared tosa/cases # tfl-tosa.bats checks the tree's own networks
	local pair place accel system mode cycles
	# SOFTMAX is one operator in TFLite and is decomposed in TOSA; the other operators
	# are the same
	local pairs=(kws-ref-model:kws_ref_model resnet-quant:resnet_quant)
	[ -n "${NPUTOOLS_QUICK-}" ] ||
		pairs+=(ad01-int8:ad01_int8 person-detect:person_detect)
	for pair in "${pairs[@]}"; do
		for place in "ethos-u55-128 Ethos_U55_High_End_Embedded Shared_Sram" \
			"ethos-u65-256 Ethos_U65_High_End Dedicated_Sram"; do
			read -r accel system mode <<<"$place"
			cycles=()
			for m in "$SHARED/tosa/cases/net-${pair%:*}/model.tosa" \
				"$SHARED/models/${pair#*:}.tflite"; do
				npucc -a "$accel" --system-config="$system" --model=timeline \
					--memory-mode="$mode" -o m.wenc "$m" 2>/dev/null
				cycles+=("$(npu-perf --json m.wenc | cycles_of timeline_cycles)")
			done
			awk -v a="${cycles[0]}" -v b="${cycles[1]}" 'BEGIN {
				exit !(a <= 1.02 * b && b <= 1.02 * a) }' ||
				{ echo "$pair on $accel: ${cycles[*]}"; false; }
		done
	done
}

@test "npucc and npu.mk recognise a TOSA graph by its first bytes or by its suffix" {
	cp "$(tosa_case p-conv-0)/model.tosa" net.tosa
	npucc -a ethos-u55-128 --system-config=Ethos_U55_High_End_Embedded \
		--memory-mode=Shared_Sram --check --keep=kept -o c.tflite net.tosa
	[ -s kept/net.part ] && [ -s kept/net.h ] && [ ! -e kept/net.tflite ]
	cmp kept/net.tosa net.tosa
	[ "$(jq -r '.files[0].name' kept/manifest.json)" = net.tosa ]
	npucc --part=alif-e7-he -X tosa-partition:--no-overlap --keep=kept net.tosa
	jq -e '.options.partition == ["--part=alif-e7-he", "--no-overlap"]' kept/manifest.json
	for o in --separate-io-regions --integer-io --cpu=ADD --strict --allow=interface-float \
		--pass=tfl-partition:--strict; do
		refuses 2 "npucc: net.tosa: error: ${o%%=[iA]*} is for TFLite models only" \
			npucc --part=alif-e7-he $o -o no.tflite net.tosa
	done
	refuses 2 "error: --pass=tosa-partition:--report is for TOSA graphs only, and this is a TFLite model" \
		npucc --part=alif-e7-he -Xtosa-partition:--report -o no.tflite \
		"$TOP/tests/models/digits.tflite"
	npucc --part=alif-e7-he -Xtosa-partition:--input-layout=nchw --fail-on-cpu -o l.tflite net.tosa
	make -f "$TOP/scripts/npu.mk" NPU_ACCELERATOR=ethos-u55-128 \
		NPU_SYSTEM=Ethos_U55_High_End_Embedded NPU_MEMORY=Shared_Sram net_npu.tflite
	cmp c.tflite net_npu.tflite
	# from a pipe in pieces, and from a file as standard input
	(head -c 5 net.tosa && sleep 0.1 && tail -c +6 net.tosa) |
		npucc -a ethos-u55-128 --system-config=Ethos_U55_High_End_Embedded \
		--memory-mode=Shared_Sram --check -o - | cmp - c.tflite
	npucc -a ethos-u55-128 --system-config=Ethos_U55_High_End_Embedded \
		--memory-mode=Shared_Sram --keep=piped -o - <net.tosa | cmp - c.tflite
	[ -s piped/model.part ] && cmp piped/model.tosa net.tosa
	status=0
	head -c 100 net.tosa | npucc -a ethos-u55-128 \
		--system-config=Ethos_U55_High_End_Embedded --memory-mode=Shared_Sram \
		-o - 2>err >out || status=$?
	[ $status = 2 ] && [ ! -s out ]
	grep -q '^tosa-partition: standard input: error: FlatBuffer' err
}

# single NAME SEED: the path of a shared graph of one operator, or of a generated one
single()
{
	local drawn=$PWD/single-$2.tosa
	if [ -n "$SHARED" ]; then
		drawn=$SHARED/tosa/cases/$1/model.tosa
	else
		"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-tosa" "$2" single >"$drawn"
	fi
	echo "$drawn"
}

@test "doubling of pixels is one operation, and so is any nearest resize on Ethos-U85" {
	local k
	[ "$(tosa-partition "$(single resize-nearest-4 327)" | grep -c '^op ')" = 1 ]
	for k in 0:62 2:95 5:303; do # offsets, a border, a ratio of 3/2
		tosa-partition -a ethos-u85-256 "$(single resize-nearest-${k%:*} ${k#*:})" >m
		grep -q '^op .*do=resize .*sample=nearest' m
	done
}

@test "ARGMAX of bytes uses keys of 16 bits, and the argmax pool on Ethos-U85" {
	tosa-partition "$(single argmax-1 8)" >m
	run ! grep -q '^tensor.*=i32.*from=' m
	tosa-partition -a ethos-u85-256 "$(single argmax-6 8)" >m
	grep -q '^op .*do=argmax' m
}

# random_tosa COUNT ALL ARGUMENT...: COUNT random graphs, a third of more than ten in a quick
# run, or ALL with NPUTOOLS_ALL
random_tosa()
{
	local n=$1
	[ -z "${NPUTOOLS_QUICK-}" ] || [ "$n" -le 10 ] || n=$((n / 3))
	[ -z "${NPUTOOLS_ALL-}" ] || n=$2
	run -0 "$TOP/tests/random-tosa" -b "${NPUTOOLS_BUILD:-$TOP/build}" -n "$n" "${@:3}"
}

@test "random graphs compute the same when compiled" {
	random_tosa 30 30 -s 500
	[[ ${lines[-1]} == *' 0 failed, '* ]]
}

@test "random operators of any kind compute the same when compiled" {
	random_tosa 10 1000 -s 700 -1
	[[ ${lines[-1]} == *' 0 failed, '*' 0 refused' ]]
}

@test "sequences of random movements compute the same when compiled" {
	random_tosa 12 100 -s 59 -m
	[[ ${lines[-1]} == *' 0 failed, '*' 0 refused' ]]
}

@test "PADs between random operators compute the same when compiled" {
	random_tosa 18 300 -s 91 -p
	[[ ${lines[-1]} == *' 0 failed, '*' 0 refused' ]]
}

# drawn_ops SEED: the number of operations of a drawn graph with PADs, whose text is in m
drawn_ops()
{
	"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-tosa" "$1" pads >m.tosa
	tosa-partition m.tosa >m
	grep -c '^op ' m
}

@test "the operator before a PAD writes between the borders, or those behind pad" {
	[ "$(drawn_ops 103)" = 3 ] # a TABLE, and two sides
	grep -q '^op .*do=add .*tfl=0.1 .* ofm=t1\[1,6,21\]@1,0,0 ' m
	[ "$(drawn_ops 154)" = 4 ] # before a MAX_POOL2D, and none is made by the PAD, 19
	run ! grep '^op .*tfl=0.19 ' m
	[ "$(drawn_ops 550)" = 2 ] # before a CONV2D and a DEPTHWISE_CONV2D
}

@test "no sum over channels subtracts a zero point: other compilers never ask for this" {
	local s sums=0
	for s in {1..60}; do
		"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-tosa" "$s" >m.tosa
		tosa-partition m.tosa >m
		run ! grep '^op .*do=reducesum .*ifm-zero=[^0]' m
		sums=$((sums + $(grep -c '"ones"' m || true)))
	done
	[ "$sums" -gt 0 ]
}

@test "constants of any value, and products that wrap, compute the same when compiled" {
	random_tosa 24 500 -s 1 -x
	[[ ${lines[-1]} == *' 0 failed, '* ]]
}

@test "a RESCALE by 0 behind a MATMUL gives its zero point" {
	run -0 "$TOP/tests/random-tosa" -b "${NPUTOOLS_BUILD:-$TOP/build}" -n 1 -s 2944 -x
	[[ ${lines[-1]} == '3 compiled and equal, 0 failed, '* ]]
}

@test "a product whose operands are bounded is one operation" {
	local gen=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-tosa
	"$gen" 3 full >any.tosa # of any words
	"$gen" 29 full >fits.tosa # of words that CLAMPs bound
	[ "$(tosa-partition any.tosa | grep -c '^op .*do=mul')" = 3 ]
	[ "$(tosa-partition fits.tosa | grep -c '^op .*do=mul')" = 1 ]
}

@test "convolutions with computed weights compute the same when compiled" {
	run -0 "$TOP/tests/random-tosa" -b "${NPUTOOLS_BUILD:-$TOP/build}" -n 2 -s 3 -c
	[[ ${lines[-1]} == *' 0 failed, '*' 0 refused' ]]
}

# judge CASE TARGET: a case of another compiler for Ethos-U85 computes the outputs in its
# files
judge()
{
	dir=$SHARED/reference/vela-u85/cases/tosa-$1
	shift
	compile_case "$dir" "$@"
	files_of "$dir" input -i
	in=("${list[@]}")
	files_of "$dir" output -e
	npu-sim "${in[@]}" "${list[@]}" m.tflite
	npu-dis -q --verify --source=m.wenc m.tflite
}

@test "graphs that another compiler accepts for Ethos-U85 alone compute the same" {
	need_shared reference/vela-u85
	# two RESCALEs of the same 48 bits; weights and indices that are inputs; branches
	for name in CONV48/0 CONV_nonconst/9 SCATTER/3 COND_IF/2 COND_IF2/6; do
		judge $name ethos-u55-128 Ethos_U55_High_End_Embedded Shared_Sram
		judge $name ethos-u85-256 Ethos_U85_SYS_DRAM_Mid Dedicated_Sram_384KB
	done
	for name in WHILE/2 WHILE/7 WHILE/9 WHILE/11; do
		judge $name ethos-u85-1024 Ethos_U85_SYS_DRAM_Mid Dedicated_Sram_384KB
	done
}

@test "a table from 16 bits to 32 is one operation on accelerators that have it" {
	local m=$TOP/tests/cases/tosa-partition/table-words/m.tosa
	local u85=(--system-config=Ethos_U85_SYS_DRAM_Mid --memory-mode=Sram_Only)
	tosa-partition -a ethos-u85-128 -o m.part "$m"
	npu-sched -a ethos-u85-128 "${u85[@]}" -o m.sched m.part
	npu-wenc -o m.wenc m.sched
	npu-cmdgen -o m.tflite m.wenc
	npu-sim --inputs=random,min,max --compare="$m" m.tflite
	npu-dis --verify --source=m.wenc m.tflite
	npu-dis --high-level m.tflite | grep -q s16_s32
	refuses 2 "ethos-u55-128 has no table from 16 to 32 bits" npu-sched -a ethos-u55-128 \
		--system-config=Ethos_U55_High_End_Embedded --memory-mode=Shared_Sram m.part
}

@test "a region that does not suit its operator is refused with the reason" {
	local m=$TOP/tests/cases/tosa-partition/cond-if/m.tosa
	# region, tensors, attribute: the file's strings, in its order
	sed '0,/else/s//elsx/' "$m" >region.tosa
	refuses 2 "operator 0 (COND_IF): there is no region else" npu-sim region.tosa
	sed '0,/main_t0/s//main_tx/' "$m" >name.tosa
	refuses 2 "is not declared" tosa-partition name.tosa
	m=$TOP/tests/cases/tosa-partition/while-loop/m.tosa
	sed '0,/body/s//bodx/' "$m" >region.tosa
	refuses 2 "operator 0 (WHILE_LOOP): there is no region body" npu-sim region.tosa
	sed '0,/body_t6/s//body_tx/' "$m" >name.tosa
	refuses 2 "is not declared" tosa-partition name.tosa
}

# words N...: 32 bits each
words()
{
	local n
	for n; do
		# shellcheck disable=SC2059 # the octal digits are the format
		printf "$(printf '\\%03o\\%03o\\%03o\\%03o' $((n & 255)) $((n >> 8 & 255)) \
			$((n >> 16 & 255)) $((n >> 24 & 255)))"
	done
}

@test "an overflow in a branch that is not taken gives no warning" {
	local m=$TOP/tests/cases/tosa-partition/cond-if/m.tosa max=2147483647
	words $max $max $max $max $max $max $max $max $max >x # x + y, or x - y
	words 1 2 3 4 5 6 7 8 9 >y
	printf '\000' >no
	printf '\001' >yes
	npu-sim -i no -i x -i y "$m" 2>err
	[ ! -s err ]
	npu-sim -i yes -i x -i y "$m" 2>err
	grep -q 'warning: .*operator 1 (ADD, then_t2): the result 2147483648' err
}

@test "a loop runs as many turns as inputs or constants say" {
	local cases=$TOP/tests/cases/tosa-partition target
	# each turn x, y = x + y, max(y, x)
	words 3 >turns
	words 1 -2 30 4 5 6 >x
	words 10 20 -30 0 0 0 >y
	words 0 >left
	words 32 58 60 12 15 18 >sum
	words 21 38 30 8 10 12 >most
	npu-sim -i turns -i x -i y -e left -e sum -e most "$cases/while-loop/m.tosa" 2>err
	[ ! -s err ]
	# the same three turns with a constant, compiled
	words 1 -2 30 4 5 6 7 8 >x
	words 10 20 -30 0 0 0 0 0 >y
	words 32 58 60 12 15 18 21 24 >sum
	words 21 38 30 8 10 12 14 16 >most
	cp "$cases/while-counted/m.tosa" model.tosa
	npu-sim -i x -i y -e sum -e most model.tosa
	for target in "ethos-u55-128 Ethos_U55_High_End_Embedded Shared_Sram" \
		"ethos-u85-256 Ethos_U85_SYS_DRAM_Mid Sram_Only"; do
		# shellcheck disable=SC2086 # three words
		compile_case . $target
		npu-dis -q --verify --source=m.wenc m.tflite
		npu-sim -i x -i y -e sum -e most m.tflite
	done
}

# turns N: the compiled model of a loop takes as many turns as the plain one
turns()
{
	words "$1" >turns
	npu-sim -i turns -i x -i y --compare=model.tosa m.tflite >out
	npu-sim -i turns -i x -i y model.tosa >plain
	diff <(grep -o 'xxh3=.*' out) <(grep -o 'xxh3=.*' plain)
}

@test "random loops are refused for accelerators without branches" {
	local seed
	for seed in 1 2 32; do
		"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-tosa" $seed loop >drawn.tosa
		refuses 1 "the number of iterations is not constant" \
			tosa-partition -a ethos-u55-128 drawn.tosa
	done
}

@test "on Ethos-U85, streams branch: a loop runs as many turns as an input says" {
	local n
	cp "$TOP/tests/cases/tosa-partition/while-loop/m.tosa" model.tosa
	words 1 -2 30 4 5 6 >x
	words 10 20 -30 0 0 0 >y
	compile_case . ethos-u85-256 Ethos_U85_SYS_DRAM_Mid Dedicated_Sram
	npu-dis -q --verify --source=m.wenc m.tflite >count
	grep -q '0 errors, 0 warnings$' count
	npu-dis m.tflite >list
	[ "$(grep -c NPU_OP_BRANCH list)" = 3 ]
	for n in -7 0 1 2 20; do
		turns $n
	done
	words 0 >left
	words 32 58 60 12 15 18 >sum
	words 21 38 30 8 10 12 >most
	words 3 >turns
	npu-sim -i turns -i x -i y -e left -e sum -e most m.tflite
	# an operation has its name in each turn
	npu-sim --trace -i turns -i x -i y m.tflite >trace
	[ "$(grep -c 'add .*name=.*body_t5' trace)" = 3 ]
	npu-perf m.tflite --system-config=Ethos_U85_SYS_DRAM_Mid --memory-mode=Dedicated_Sram \
		2>note
	grep -q 'note: m.tflite: .* has a loop; the estimate counts one iteration' note
	refuses 1 "and streams of this accelerator have no branches" \
		tosa-partition -a ethos-u65-256 model.tosa
	npu-cmdgen --emit=npz -o m.npz m.wenc
	npu-sim -i turns -i x -i y --compare=model.tosa m.npz
}

@test "random loops on Ethos-U85 compute the same" {
	random_tosa 8 200 -s 1 -l
	[[ ${lines[-1]} == *' 0 failed, 0 graphs with open results, 0 refused' ]]
}

@test "a stream whose branches differ from the graph's is detected" {
	local first at
	cp "$TOP/tests/cases/tosa-partition/while-loop/m.tosa" model.tosa
	compile_case . ethos-u85-256 Ethos_U85_SYS_DRAM_Mid Sram_Only
	# the address of the branch back, and the condition of the first branch
	npu-dis m.tflite | sed -n 's/^0x\([0-9a-f]*\):.*NPU_OP_BRANCH.*/\1/p' >branches
	[ "$(wc -l <branches)" = 3 ]
	first=$(npu-cmdgen --emit=cmd m.wenc | head -c 64 | od -An -v -tx1 | tr -d ' \n')
	at=$(od -An -v -tx1 m.tflite | tr -d ' \n' | grep -bo "$first" | cut -d: -f1)
	at=$((at / 2))
	for n in 1 3; do
		cp m.tflite bad.tflite
		words $((n == 1 ? 16640 : 0)) | # BRANCH without its condition; to the begin
			dd of=bad.tflite bs=1 conv=notrunc status=none \
				seek=$((at + 0x$(sed -n ${n}p branches) + (n == 1 ? 0 : 4)))
		run -1 npu-dis -q --verify --source=m.wenc bad.tflite
		[[ $output == *"rule 53"*" loop "* ]]
	done
}

# edited SED TEXT: the scheduled loop after this edit is refused with this text
edited()
{
	sed "$1" m.wenc >edited.wenc
	run -1 cmp -s m.wenc edited.wenc
	refuses 2 "$2" npu-cmdgen -o edited.tflite edited.wenc
	[ ! -e edited.tflite ]
}

@test "a graph with a malformed loop is refused in one line" {
	local m=$TOP/tests/cases/tosa-partition/while-loop
	cp "$m/m.tosa" model.tosa
	compile_case . ethos-u85-256 Ethos_U85_SYS_DRAM_Mid Sram_Only
	edited 's/ loop=test//' "n1 is a loop's condition: its test must follow"
	edited 's/ loop=condition//' "n2 is a loop's test: it must follow a loop's condition"
	edited 's/ loop=end//' "n3 is a loop's body: its end must follow"
	edited 's/^\(node *n0 on=npu\)/\1 loop=condition/' \
		"n0 is a loop's condition: it must follow a node of the NPU"
	edited 's/^\(node .* in=t10\) out=t11/\1/' \
		"n2 is a loop's test: it must have one kernel, whose result is one byte"
	edited 's/live=11:17/live=11:25/' \
		"t13, live 11:25, is also used outside of the loop of n1, but is not live during the whole loop, 7:21"
	refuses 2 "ethos-u65-256 has no branches" npu-sched -a ethos-u65-256 \
		--system-config=Ethos_U65_High_End --memory-mode=Dedicated_Sram m.part
}

@test "an endless loop is left with a warning, and refused if its turns are counted" {
	local m=$TOP/tests/cases/tosa-partition/while-counted/m.tosa
	words 65537 >turns
	words 0 0 0 0 0 0 >x
	npu-sim -i turns -i x -i x "$TOP/tests/cases/tosa-partition/while-loop/m.tosa" 2>err
	grep -q 'warning: .*(WHILE_LOOP, .*): its condition is still true after 65536 iterations' err
	cp "$m" more.tosa
	printf '\001' | dd of=more.tosa bs=1 seek=1803 conv=notrunc status=none # 2^24 + 3
	refuses 1 "the number of iterations is not constant, or they take more" \
		tosa-partition more.tosa
}

@test "random operators that once failed compute the same" {
	# A phase of TRANSPOSE_CONV2D behind its input's end, a kernel of more than 64 rows
	# of 16 bits, NEGATE of the smallest word on Ethos-U85.
	local seeds=(782 1065 2549)
	[ -n "${NPUTOOLS_QUICK-}" ] || seeds+=(1446) # a second for each run
	for seed in "${seeds[@]}"; do
		run -0 "$TOP/tests/random-tosa" -b "${NPUTOOLS_BUILD:-$TOP/build}" -n 1 -s $seed -1
		[[ ${lines[-1]} == *' 0 failed, '*' 0 refused' ]]
	done
}

@test "with channels last at the network's inputs and outputs, no TRANSPOSE is needed" {
	"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-tosa" 1 borders >drawn.tosa
	net=$PWD/drawn.tosa ifm=1,11,8,7 ofm=1,10,7,7 # rows, columns, channels
	for net in "$net" ${SHARED:+"$SHARED/tosa/cases/p-conv-0/model.tosa"}; do
		tosa-partition "$net" >first.part
		tosa-partition --input-layout=nhwc --output-layout=0=nhwc "$net" >last.part
		[ "$(grep -c '^op ' first.part)" -gt 2 ]
		[ "$(grep -c '^op ' last.part)" = 1 ]
		grep -q "^tensor.* shape=i8\[$ifm\] .*io=in\$" last.part
		grep -q "^tensor.* shape=i8\[$ofm\] .*io=out\$" last.part
		refuses 2 "there is no input 1" tosa-partition --input-layout=1=nhwc "$net"
		tosa-partition --{in,out}put-layout=nhwc --input-layout=nchw \
			--output-layout=0=nchw "$net" | cmp - first.part # the last counts
		refuses 2 "a layout must be nhwc or nchw, with an optional K=" \
			tosa-partition --input-layout=nhwc,row-stride=9 "$net"
		ifm=1,7,8,3 ofm=1,7,8,23
	done
	refuses 2 "has no TRANSPOSE" tosa-partition --input-layout=0=nhwc \
		"$(tosa_case add-0)/model.tosa"
}

# memory_of ACCELERATOR: the options of its memory system
memory_of()
{
	case $1 in
	ethos-u85*) echo --system-config=Ethos_U85_SYS_DRAM_Low --memory-mode=Dedicated_Sram ;;
	*) echo --system-config=Ethos_U55_High_End_Embedded --memory-mode=Shared_Sram ;;
	esac
}

# The plain graph gets a warning, also where the NPU's result is undefined and npu-sim stops.
@test "values that break a precondition are the graph's fault, before and after compilation" {
	local said='the graph violates a precondition of TOSA' stopped=0 ran=0 a s
	for s in {1..14}; do
		"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-tosa" $s broken >m.tosa
		npu-sim --seed 1 m.tosa >/dev/null 2>plain
		grep -q ": $said\$" plain || { echo "$s"; cat plain; return 1; }
		for a in ethos-u55-128 ethos-u85-256; do
			# computed indices run on Ethos-U85 alone
			# shellcheck disable=SC2046
			npucc -a $a $(memory_of $a) -o c.tflite m.tosa 2>notes || {
				[ $a = ethos-u55-128 ] && grep -q 'indices' notes && continue
				cat notes
				return 1
			}
			run --separate-stderr npu-sim --seed 1 --compare=m.tosa c.tflite
			[ "$status" -le 1 ]
			grep -q ": $said\$" <<<"$stderr"
			if grep 'error: operator 0 (ethos-u)' <<<"$stderr" >error; then
				grep -q ': its values break a precondition of the graph$' error
				stopped=$((stopped + 1))
			else
				ran=$((ran + 1))
			fi
		done
	done
	echo "stopped $stopped, ran $ran"
	[ "$stopped" -ge 10 ]
	[ "$ran" -ge 2 ]
}

@test "a file that its name calls a TOSA graph is refused as one" {
	local p
	: >empty.tosa
	echo 'no graph at all' >text.tosa
	for p in "npucc --part=alif-e8-u85 -o x.tflite" tosa-partition npu-sim; do
		# shellcheck disable=SC2086
		refuses 2 'empty.tosa: error: empty, not a TOSA graph; export' $p empty.tosa
		# shellcheck disable=SC2086
		refuses 2 'text.tosa: error: not a TOSA graph (no TOSA at byte 4); export' $p text.tosa
	done
	# the version has no fields
	"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-tosa" 1 >m.tosa
	dd if=/dev/zero of=m.tosa bs=1 seek=32 count=8 conv=notrunc status=none
	refuses 2 'm.tosa: error: the file has no number of its version' tosa-partition m.tosa
}

@test "reports name and number the operators of a graph as its errors do, with their constants" {
	local m=$TOP/tests/cases/tosa-partition/conv-2d/m.tosa number kind name
	run -0 tosa-partition --report "$m"
	read -r number _ kind name _ <<<"${lines[0]}"
	[ "$kind" = CONV2D ]
	npucc --accelerator-config=ethos-u55-128 -o m.tflite "$m"
	run -0 npu-report --summary m.tflite
	grep -q 'NPU      \([0-9]*\) of \1 operators' <<<"$output"
	grep -q "longest  $name .*; $number $kind\$" <<<"$output"
	npu-sim --trace "$m" | grep "^op $number $kind -> "
	npu-perf --json m.tflite >json
	jq -e --argjson n "$number" '.layers[$n].kind == "CONV2D" and
		([.constants[] | select(.layer == $n) | .bytes] | add) > 0 and
		.npu_layers == ([.layers[] | select(.npu)] | length)' json
}
