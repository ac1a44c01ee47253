# SPDX-License-Identifier: Apache-2.0
# libnputools in a C program and in a C++ program (tests/embed), against the programs.

load lib/common

embed=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/embed
lib=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/../lib

setup_file()
{
	[ -x "$embed" ] || skip "no $embed"
}

parts=(alif-e7-hp alif-e7-hp nxp-imx93 alif-e8-u85)

# like_programs MODEL: the results of embed for parts are those of the programs
like_programs()
{
	local k p
	for k in "${!parts[@]}"; do
		p=${parts[k]}
		npucc --part="$p" -o "npucc-$k.tflite" "$1" 2>notes
		cmp "npucc-$k.tflite" "$k.tflite"
		npu-dis --verify --json "$k.tflite" | cmp - "$k.verify"
		# the network's name is that of the file
		mkdir -p "of-$k"
		cp "$k.tflite" "of-$k/${1##*/}"
		npu-perf --json "of-$k/${1##*/}" | cmp - "$k.json"
	done
}

@test "four threads at once get the bytes of npucc, npu-dis and npu-perf" {
	[ -n "$SHARED" ] || skip "no shared models"
	cp "$SHARED/models/kws_ref_model.tflite" .
	"$embed" kws_ref_model.tflite "${parts[@]}" >out
	[ "$(grep -c ': equal$' out)" = 4 ]
	like_programs kws_ref_model.tflite
	cmp 0.tflite 1.tflite
	run cmp 0.tflite 2.tflite
	[ "$status" = 1 ]
}

@test "bodies of IF and WHILE get the bytes of npucc" {
	"${embed%/*}/gen-model" 1 CONV_2D | "${embed%/*}/control-model" both 2 >m.tflite
	"$embed" m.tflite "${parts[@]}" >out || true # compares models of one output
	[ "$(grep -c ': differs$' out)" = 4 ]
	like_programs m.tflite
}

@test "the threads of a call end with the call" {
	[ -n "$SHARED" ] || skip "no shared models"
	# large enough for threads; its input is not the one that embed makes
	run "$embed" "$SHARED/models/person_detect.tflite" alif-e7-hp alif-e7-hp
	[ "$(tail -n 1 <<<"$output")" = 'threads: 0' ]
	cmp 0.tflite 1.tflite
	npucc --part=alif-e7-hp -o want.tflite "$SHARED/models/person_detect.tflite"
	cmp want.tflite 1.tflite
}

@test "reports have the numbers of the locale C in a program of another locale" {
	[ -n "$SHARED" ] || skip "no shared models"
	need localedef
	cp "$SHARED/models/kws_ref_model.tflite" .
	"$embed" kws_ref_model.tflite himax-we2
	mv 0.json want
	localedef -i de_DE -f UTF-8 "$PWD/de_DE.UTF-8" || skip "no sources of locales"
	export LOCPATH=$PWD LC_ALL=de_DE.UTF-8
	[ "$(locale decimal_point)" = , ]
	"$embed" kws_ref_model.tflite himax-we2
	cmp want 0.json
}

@test "the library exports nputools_ alone, and has a soname" {
	need readelf nm
	nm -D --defined-only "$lib/libnputools.so" | awk '$2 == "T" { print $3 }' |
		sed 's/@.*//' | sort >exported
	sed -n 's/.*NPUTOOLS_API .*[ *]\(nputools_[a-z_]*\)(.*/\1/p' "$TOP/tools/libnputools/nputools.h" |
		sort >declared
	[ "$(wc -l <declared)" -ge 6 ]
	diff declared exported
	readelf -d "$lib/libnputools.so" | grep -q 'SONAME.*\[libnputools.so.1\]'
	[ -z "$(nm -g --defined-only "$lib/libnputools.a" | awk 'NF == 3 && $3 !~ /^nputools_/')" ]
}

@test "C++: arguments at fault are refused with a status and a line" {
	[ -x "$embed-cc" ] || skip "no C++ compiler"
	"$embed-cc" "$TOP/tests/models/digits.tflite" >out
	cat out
	diff - <(sed 's/size is .*/size/; s/needs [0-9].*/needs/; s/\(sizes of options\): [0-9][0-9]/\1/' out) <<-'EOF'
	1.0.0
	no options: 2 input, nothing: error: options: accelerator is required, unless part names a chip
	no target: 2 input, nothing: error: options: accelerator is required, unless part names a chip
	newer caller: 2 input, nothing: error: options: size
	newer members, all zero: 2 input, nothing: error: options: effort is 10, not from 0 to 9
	newer members: 2 input, nothing: error: options: size
	sizes of options
	part: 2 input, nothing: error: there is no part 'no such chip'; npucc --list-parts lists them
	effort: 2 input, nothing: error: options: effort is 10, not from 0 to 9
	little memory: 1 does not fit, nothing: model.tflite: error: the network needs
	no bytes: 2 input, nothing: model.tflite: error: empty, not a TFLite model; export or download it again
	half: 2 input, nothing: model.tflite: error: FlatBuffer tensors at byte 440 points beyond the end of the file; if the file is cut short, download it again
	verify: 2 input, nothing: model.tflite: error: no ethos-u operator: the model is not compiled (npucc compiles it), or nothing of it runs on the NPU
	estimate: 2 input, nothing: model.tflite: error: no ethos-u operator: the model is not compiled (npucc compiles it), or nothing of it runs on the NPU
	begin: 2 input, nothing: model.tflite: error: 8 bytes are too few for a TFLite model; export or download it again
	null: 2 input, nothing: model.tflite: error: empty, not a TFLite model; export or download it again
	no inputs: 2 input, nothing: model.tflite: error: inputs is NULL, but n_inputs is 1
	no outputs: 2 input, nothing: model.tflite: error: outputs is NULL, but n_outputs is 1
	no data: 2 input, nothing: model.tflite: error: input 0 (picture): data is NULL
	simulate: 2 input, nothing: model.tflite: error: inputs: 0 were passed, the model has 1
	EOF
}

@test "C++: TOSA graphs and models compile to the bytes of npucc" {
	[ -x "$embed-cc" ] || skip "no C++ compiler"
	"${embed%/*}/gen-tosa" 1 >model.tosa
	cp "$TOP/tests/models/digits.tflite" model.tflite
	for m in model.tosa model.tflite; do
		"$embed-cc" "$m" alif-e4-u85 >library 2>notes
		npucc --part=alif-e4-u85 -o npucc.tflite "$m" 2>notes
		cmp npucc.tflite library
	done
}

@test "within gives the plans of --within" {
	local digits=$TOP/tests/models/digits.tflite percent other
	cp "$digits" .
	for percent in 0 20 -1; do
		"${embed%/*}/embed-options" digits.tflite himax-we2 $percent 0 >library
		other=$percent
		[ $percent != -1 ] || other=0
		if [ $percent = 0 ]; then
			npucc --part=himax-we2 -o npucc.tflite digits.tflite 2>notes
		else
			npucc --part=himax-we2 --within=$other -o npucc.tflite digits.tflite 2>notes
		fi
		cmp npucc.tflite library
		cp library plan$percent
	done
	run cmp -s plan20 plan-1
	[ "$status" = 1 ]
	refuses 2 "options: within is 1e+07, not up to 1e+06" \
		"${embed%/*}/embed-options" digits.tflite himax-we2 1e7 0
}

@test "yield_every divides the stream as --yield-every does" {
	cp "$TOP/tests/models/digits.tflite" .
	"${embed%/*}/embed-options" digits.tflite himax-we2 0 0 8000 >library
	npucc --part=himax-we2 --yield-every=8000 -o npucc.tflite digits.tflite 2>notes
	cmp npucc.tflite library
	[ "$(npu-perf --json library | jq .npu_operators)" -gt 2 ]
	refuses 2 "options: yield_every is -1, not" \
		"${embed%/*}/embed-options" digits.tflite himax-we2 0 0 -1
}

@test "unequal quantization is refused, or copied with allow_unequal_quantization" {
	load lib/model
	load lib/partition
	op m 22 9 '[1,6]' "$t[1].quantization={scale:[0.9],zero_point:[3]}" # RESHAPE
	refuses 1 "m.tflite: error: integer, but not as the kernels compute: 1 error; --allow=unequal-quantization lets it pass" \
		"${embed%/*}/embed-options" m.tflite himax-we2 0 0
	"${embed%/*}/embed-options" m.tflite himax-we2 0 0 0 1 >library
	npucc -q --part=himax-we2 --allow=unequal-quantization -o npucc.tflite m.tflite
	cmp npucc.tflite library
	"${embed%/*}/embed-options" m.tflite himax-we2 0 0 0 0 allow=unequal-quantization >library
	cmp npucc.tflite library
	refuses 2 "no-such-rule: the only rule here is unequal-quantization" \
		tfl-partition --allow=no-such-rule m.tflite
}

# as_npucc MODEL MEMBER=VALUE... -- OPTION...: the library gives the bytes of npucc, and other bytes
# than without these members
as_npucc()
{
	local model=$1 members=()
	shift
	while [ "$1" != -- ]; do
		members+=("$1")
		shift
	done
	shift
	"${embed%/*}/embed-options" "$model" alif-e8-u85 0 0 0 0 "${members[@]}" >library 2>notes
	npucc -q --part=alif-e8-u85 "$@" -o npucc.tflite "$model"
	cmp npucc.tflite library
	"${embed%/*}/embed-options" "$model" alif-e8-u85 0 0 >plain 2>notes
	run cmp -s plain library
	[ "$status" = 1 ]
}

@test "integer_io, cpu, no_rewrite and cuts give the bytes of their options" {
	cp "$TOP/tests/models/digits.tflite" "$TOP/tests/models/digits-float.tflite" .
	mkinput --range=0,1 --format=npy -o 0.npy digits-float.tflite "$TOP/tests/models/digits/digit-0.pgm"
	tfl-quantize --interface=float --data=0.npy -o io.tflite digits-float.tflite 2>said
	as_npucc io.tflite integer_io=1 -- --integer-io
	as_npucc digits.tflite cpu=ADD,SOFTMAX -- --cpu=ADD --cpu=SOFTMAX
	as_npucc digits.tflite cpu=3 -- --cpu=3
	as_npucc digits.tflite no_rewrite=all -- --no-rewrite=all
	as_npucc digits.tflite cut_inputs=pw1 cut_outputs=flat -- --cut-inputs=pw1 --cut-outputs=flat
	"${embed%/*}/gen-tosa" 2 >g.tosa
	refuses 2 "g.tosa: error: integer_io is for TFLite models only, and this is a TOSA graph" \
		"${embed%/*}/embed-options" g.tosa alif-e8-u85 0 0 0 0 integer_io=1
	refuses 2 "g.tosa: error: cut_inputs is for TFLite models only" \
		"${embed%/*}/embed-options" g.tosa alif-e8-u85 0 0 0 0 cut_inputs=x
	refuses 2 "error: --no-rewrite: there is no rule 'windw'; did you mean window?" \
		"${embed%/*}/embed-options" digits.tflite alif-e8-u85 0 0 0 0 no_rewrite=window,windw
	refuses 2 "digits.tflite: error: --cpu=SOFTMX: no operator has this name or index; did you mean SOFTMAX?" \
		"${embed%/*}/embed-options" digits.tflite alif-e8-u85 0 0 0 0 cpu=SOFTMX
	refuses 2 "digits.tflite: error: --cut-inputs: subgraph 0 has no tensor 'nowhere'" \
		"${embed%/*}/embed-options" digits.tflite alif-e8-u85 0 0 0 0 cut_inputs=nowhere
}

@test "a float model is refused as by npucc, or accepted with allow" {
	local rule
	cp "$TOP/tests/models/digits.tflite" "$TOP/tests/models/digits-float.tflite" .
	refuses 1 "digits-float.tflite: error: not fully integer: 13 errors; 13 of 13 operators read or compute floats, and tfl-quantize makes an integer model; --allow=float-operator lets it pass" \
		"${embed%/*}/embed-options" digits-float.tflite himax-we2 0 0
	run npucc --part=himax-we2 -o npucc.tflite digits-float.tflite
	[ "$status" = 1 ]
	[ "$(grep -c 'error: not fully integer' <<<"$output")" = 1 ]
	for rule in float-operator float-operator,interface-float; do
		"${embed%/*}/embed-options" digits-float.tflite himax-we2 0 0 0 0 allow=$rule >library 2>notes
		npucc -q --part=himax-we2 --allow=$rule -o npucc.tflite digits-float.tflite
		cmp npucc.tflite library
	done
	refuses 2 "error: --allow=float: no such rule; rules: " \
		"${embed%/*}/embed-options" digits.tflite himax-we2 0 0 0 0 allow=float
}

@test "bodies take the names of cpu, and not its indices" {
	"${embed%/*}/gen-model" 1 CONV_2D | "${embed%/*}/control-model" both 2 >m.tflite
	as_npucc m.tflite cpu=0 integer_io=1 -- --cpu=0 --integer-io
	as_npucc m.tflite cpu=CONV_2D -- --cpu=CONV_2D
}

@test "a part's memories hold what is compiled for the part, or the call says what is missing" {
	local chain=${embed%/*}/chain-model
	[ -x "$chain" ] || skip "no $chain"
	# 2.9 MB of weights, and 2 MB of flash
	"$chain" conv 1000 >m.tflite
	refuses 1 "bytes are missing; allow_overflow accepts it, for boards with external memory" \
		"${embed%/*}/embed-options" m.tflite nuvoton-m55m1 0 0
	"${embed%/*}/embed-options" m.tflite nuvoton-m55m1 0 1 >library
	[ -s library ]
}

@test "a call without memory fails with a line, and the next call works" {
	[[ $BIN != *san* ]] || skip "sanitizers need address space"
	"$embed-starve" "$TOP/tests/models/digits.tflite" himax-we2
}

# every allocation with NPUTOOLS_ALL, as in make check-long, else a sample; a call takes TSan 0.3 s
step()
{
	case $BIN:${NPUTOOLS_ALL:+all}${NPUTOOLS_QUICK:+quick} in
	*tsan*) echo 601 ;;
	*:all) echo 1 ;;
	*:quick) echo 307 ;;
	*) echo 61 ;;
	esac
}

@test "an allocation that fails ends the call, which frees its memory, with threads too" {
	local jobs
	for jobs in 1 4; do
		"$embed-hooks" starve "$TOP/tests/models/digits.tflite" himax-we2 "$jobs" \
			"$(step)" >out
		cat out
		grep -q ' 0 wrong, 0 blocks left$' out
	done
}

@test "an allocation that fails ends each other function, which frees its memory" {
	local call every=1
	[[ $BIN != *san* ]] || every=13
	for call in partition stage-0 stage-2 stage-3 verify estimate simulate; do
		"$embed-hooks" starve "$TOP/tests/models/digits.tflite" himax-we2 1 $every $call >out
		echo "$call: $(cat out)"
		grep -q '^[1-9][0-9]* allocations: [1-9].* 0 wrong, 0 blocks left$' out
	done
	"$embed-hooks" starve "$TOP/tests/models/digits.tflite" himax-we2 1 "$(step)" stage-1 >out
	cat out
	grep -q ' 0 wrong, 0 blocks left$' out
	# 38,000 allocations
	if [ -n "${NPUTOOLS_ALL-}" ]; then
		"$embed-hooks" starve "$TOP/tests/models/digits.tflite" himax-we2 1 101 front >out
		cat out
		grep -q ' 0 wrong, 0 blocks left$' out
	fi
	run "$embed-hooks" starve "$TOP/tests/models/digits.tflite" himax-we2 1 1 stage-4
	[ "$status" = 2 ]
}

@test "progress is told ten times a second and never falls, and cancels a call" {
	local jobs limit=150
	[[ $BIN != *san* ]] || limit=3000 # instrumented code takes ten times as long
	# a network that takes some tenths of a second
	"${embed%/*}/chain-model" conv 200 >model.tflite
	for jobs in 1 3; do
		"$embed-hooks" cancel model.tflite alif-e7-hp "$jobs" >out
		cat out
		grep -q ' 0 wrong$' out
		awk -v limit="$limit" '/longest/ { match($0, /longest [0-9]+/)
			if (substr($0, RSTART + 8, RLENGTH - 8) + 0 > limit) exit 1 }' out
	done
}

# samples: pictures as .npy and as FLOAT32 arrays of the float model
samples()
{
	local k
	for k in 0 1 2 3; do
		mkinput --range=0,1 --format=npy -o "$k.npy" "$TOP/tests/models/digits-float.tflite" \
			"$TOP/tests/models/digits/digit-$k.pgm"
		tail -c 3136 "$k.npy" >"$k.raw"
	done
	cp "$TOP/tests/models/digits-float.tflite" m.tflite
}

# quantizes_as MEMBER=VALUE... -- OPTION...: the library gives the bytes of the program
quantizes_as()
{
	local members=()
	while [ "$1" != -- ]; do
		members+=("$1")
		shift
	done
	shift
	"$embed-quantize" m.tflite "${members[@]}" 0.raw 1.npy 2.raw 3.npy >library 2>notes
	tfl-quantize "$@" --data=0.raw --data=1.raw --data=2.npy --data=3.npy -o program m.tflite \
		2>said
	cmp program library
	# the library does not measure what the quantization costs
	diff <(grep -v 'note: on 4 calibration samples: signal to quantization noise' said | sed 's/^tfl-quantize: //') notes
}

@test "quantize gives the bytes of tfl-quantize" {
	samples
	quantizes_as --
	npucc --part=alif-e7-he -o x.tflite library
	cp library plain
	quantizes_as jobs=3 --
	cmp plain library
	quantizes_as ranges=1 -- --ranges=moving-average
	quantizes_as ranges=2 -- --ranges=percentile
	quantizes_as ranges=3 jobs=2 -- --ranges=mse
	quantizes_as ranges=4 -- --ranges=entropy
	quantizes_as wide=1 -- --type=int16x8
	quantizes_as float_interface=1 no_fold=1 -- --interface=float --fold=none
	quantizes_as equalize=1 bias_correction=1 -- --equalize --bias-correction
	quantizes_as per_channel_fc=1 frames=2 -- --per-channel-fc --frames=2
	quantizes_as keep_wide=SOFTMAX,FULLY* -- --keep-int16=SOFTMAX '--keep-int16=FULLY*'
	run cmp -s plain library
	[ "$status" = 1 ]
	quantizes_as accuracy=-1 -- --accuracy=0
	quantizes_as allow=all -- --allow
	# a program of the first version knows fewer members
	quantizes_as size=8 --
	quantizes_as ranges=2 wide=1 size=12 -- --ranges=percentile
}

@test "quantize refuses arguments at fault" {
	samples
	refuses 2 'error: there are no samples to measure the ranges with' "$embed-quantize" m.tflite
	refuses 2 'error: quantization: size is 9, not sizeof(struct nputools_quantization)' \
		"$embed-quantize" m.tflite size=9 0.raw
	refuses 2 'error: quantization: ranges is 5, not from 0 to 4' \
		"$embed-quantize" m.tflite ranges=5 0.raw
	refuses 2 'error: quantization: accuracy is 101, not up to 100' \
		"$embed-quantize" m.tflite accuracy=101 0.raw
	refuses 2 'error: quantization: wide excludes keep_wide and accuracy' \
		"$embed-quantize" m.tflite wide=1 keep_wide=x 0.raw
	refuses 2 'm.tflite: error: --keep-int16=x: no operator or tensor has this name' \
		"$embed-quantize" m.tflite keep_wide=x 0.raw
	head -c 3135 0.raw >short
	refuses 2 'buffer 1 of the samples: input picture takes 784 FLOAT32 values, which are 3136 bytes, or a .npy file; the buffer has 3135 bytes' \
		"$embed-quantize" m.tflite 0.raw short
	head -c 3000 0.npy >short
	refuses 2 'a .npy file of the samples: error: ' "$embed-quantize" m.tflite short
	printf '\0\0\300\177' >nan
	{ head -c 3132 0.raw; cat nan; } >bad
	refuses 2 'buffer 0 of the samples: value 783 is not a finite number' \
		"$embed-quantize" m.tflite bad
	refuses 2 'is INT8, not FLOAT32: the model is quantized already' \
		"$embed-quantize" "$TOP/tests/models/digits.tflite" 0.raw
	[ "$(tail -n 1 refuses.err)" = unsupported ]
	refuses 2 'error: ' "$embed-quantize" 0.raw 0.raw
	[ "$(tail -n 1 refuses.err)" = input ]
}

@test "quantize takes NULL for every argument" {
	"$embed-quantize" >out
	diff - out <<-'EOF'
	2 input, nothing: error: model is NULL, but size is 8
	2 input, nothing: error: model is NULL, but size is 8
	2 input, nothing: error: samples is NULL, but n_samples is 1
	2 input, nothing: model.tflite: error: 8 bytes are too few for a TFLite model; export or download it again
	2 input, nothing: error: there are no samples to measure the ranges with: pass real inputs of the model
	2
	EOF
}

@test "quantize frees its memory if an allocation fails, and can be cancelled" {
	local jobs few=1
	[ -z "${NPUTOOLS_QUICK-}" ] || few=
	for jobs in $few 3; do
		"$embed-hooks" starve "$TOP/tests/models/digits-float.tflite" quantize "$jobs" \
			"$(step)" >out
		cat out
		grep -q ' 0 wrong, 0 blocks left$' out
		"$embed-hooks" cancel "$TOP/tests/models/digits-float.tflite" quantize "$jobs" >out
		cat out
		grep -q ' 0 wrong$' out
		awk '/longest/ { match($0, /longest [0-9]+/)
			if (substr($0, RSTART + 8, RLENGTH - 8) + 0 > 150) exit 1 }' out
	done
}

@test "codes: input, unsupported, does not fit" {
	[ -x "$embed-cc" ] || skip "no C++ compiler"
	"$embed-cc" codes "$TOP/tests/models/digits.tflite" \
		"$TOP/tests/models/digits-float.tflite" >out
	cat out
	diff - out <<-'EOF'
	a null result: 2
	no CPU allowed: 1 unsupported
	little memory: 1 does not fit
	no model: 2 input
	half of an allocator: 2 input
	null feature: 0, unknown: 0, compile: 1
	code 99: unknown
	a call in progress: 2 input
	cancelled: 2 cancelled
	EOF
}

@test "stages, front and the partition's report are those of the programs" {
	cp "$TOP/tests/models/digits.tflite" m.tflite
	local target=(-a ethos-u55-128 --system-config=Ethos_U55_High_End_Embedded
		--memory-mode=Shared_Sram)
	"$embed-stages" m.tflite ethos-u55-128 Ethos_U55_High_End_Embedded Shared_Sram >out
	cat out
	diff - out <<-'EOF'
	half of part: 2 input
	half of sched: 2 input
	half of wenc: 2 input
	stage 4: 2
	EOF
	tfl-partition -a ethos-u55-128 m.tflite | cmp - part
	npu-sched "${target[@]}" part 2>notes | cmp - sched
	npu-wenc sched | cmp - wenc
	npu-cmdgen -o want.tflite wenc
	cmp want.tflite tflite
	npu-sched "${target[@]}" --front --json part 2>notes | cmp - front.json
	tfl-partition -a ethos-u55-128 --report --json m.tflite | cmp - partition.json
}

@test "the binary interface is that of the release, and check-abi finds what breaks it" {
	need pahole nm gcc
	"$TOP/scripts/check-abi"
	local h=$TOP/tools/libnputools/nputools.h
	# breaks FROM TO: a header in which TO is in place of FROM is refused
	breaks()
	{
		sed "s/$1/$2/" "$h" >changed.h
		run cmp -s "$h" changed.h
		[ "$status" = 1 ]
		run "$TOP/scripts/check-abi" changed.h /nowhere
		echo "$output"
		[ "$status" = 1 ]
		grep -q '^gone or changed: ' <<<"$output"
	}
	breaks 'int effort;' 'int64_t effort;'
	breaks 'NPUTOOLS_SIZE = 1' 'NPUTOOLS_SIZE = 3'
	breaks 'int code;' 'char *name; int code;'
	breaks 'nputools_has(const char' 'nputools_has(char'
	sed 's/void \*memory_context;$/&\n\tint later;/' "$h" >changed.h
	"$TOP/scripts/check-abi" changed.h /nowhere
}

@test "the structures of the Python module are those of the interface" {
	need python3
	python3 - "$TOP/scripts/packaging" "$TOP/tools/libnputools/abi.txt" <<-'EOF'
	import ctypes, sys
	sys.dont_write_bytecode = True
	sys.path.insert(0, sys.argv[1])
	import nputools
	want, have = {}, {}
	for line in open(sys.argv[2]):
	    if line.startswith("member "):
	        _, struct, at, size, text = line.split(maxsplit=4)
	        name = text.split("(*")[1].split(")")[0] if "(*" in text else text.split()[-1]
	        want.setdefault(struct, []).append((int(at), int(size), name))
	for struct in ("options", "quantization", "output", "buffer"):
	    python = getattr(nputools, "_" + struct.capitalize())
	    have = [(getattr(python, f[0]).offset, getattr(python, f[0]).size, f[0])
	            for f in python._fields_]
	    members = sorted(want["nputools_" + struct])
	    # a module may know fewer members at the end, and the release that the file is of, too
	    n = min(len(have), len(members))
	    assert n and have[:n] == members[:n], (struct, have, members)
	EOF
}

@test "the versions of header, library and tree are the same" {
	local v
	v=$(sed -n 's/^VERSION := //p' "$TOP/Makefile")
	awk -v v="$v" '/define NPUTOOLS_VERSION_(MAJOR|MINOR|PATCH)/ { s = s "." $3 }
		END { exit s != "." v }' "$TOP/tools/libnputools/nputools.h"
}
