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

@test "the threads of a call end with the call" {
	[ -n "$SHARED" ] || skip "no shared models"
	# large enough for threads; its input is not the one that embed makes
	run "$embed" "$SHARED/models/person_detect.tflite" alif-e7-hp alif-e7-hp
	[ "$(tail -n 1 <<<"$output")" = 'threads: 1' ]
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
	diff - <(sed 's/size is .*/size/; s/there are alif.*/there are/; s/needs [0-9].*/needs/; s/\(sizes of options\): [0-9][0-9]/\1/' out) <<-'EOF'
	1.0.0
	no options: 2 input, nothing: error: options: accelerator is required, unless part names a chip
	no target: 2 input, nothing: error: options: accelerator is required, unless part names a chip
	newer caller: 2 input, nothing: error: options: size
	newer members, all zero: 2 input, nothing: error: options: effort is 10, not from 0 to 9
	newer members: 2 input, nothing: error: options: size
	sizes of options
	part: 2 input, nothing: error: there is no part 'no such chip'; there are
	effort: 2 input, nothing: error: options: effort is 10, not from 0 to 9
	little memory: 1 does not fit, nothing: model.part: error: the network needs
	no bytes: 2 input, nothing: model.tflite: error: 0 bytes are too few for a TFLite model
	half: 2 input, nothing: model.tflite: error: FlatBuffer tensors at byte 440 points beyond the end of the file
	verify: 2 input, nothing: model.tflite: error: no ethos-u operator: not a compiled model
	estimate: 2 input, nothing: model.tflite: error: no ethos-u operator: the model is not compiled for an Ethos-U NPU
	begin: 2 input, nothing: model.tflite: error: 8 bytes are too few for a TFLite model
	null: 2 input, nothing: model.tflite: error: 0 bytes are too few for a TFLite model
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

# The memory of the model's bytes and of reading it is small; every allocation is made to fail
# by tests/check-all (STEP=1).
@test "an allocation that fails ends the call, which frees its memory, with threads too" {
	local jobs
	for jobs in 1 4; do
		"$embed-hooks" starve "$TOP/tests/models/digits.tflite" himax-we2 "$jobs" \
			"${STEP-61}" >out
		cat out
		grep -q ' 0 wrong, 0 blocks left$' out
	done
}

@test "progress is told ten times a second and never falls, and cancels a call" {
	local jobs
	# a network that takes some tenths of a second
	"${embed%/*}/chain-model" conv 200 >model.tflite
	for jobs in 1 3; do
		"$embed-hooks" cancel model.tflite alif-e7-hp "$jobs" >out
		cat out
		grep -q ' 0 wrong$' out
		# a processor that runs other tests, too, may be late
		awk '/longest/ { match($0, /longest [0-9]+/)
			if (substr($0, RSTART + 8, RLENGTH - 8) + 0 > 300) exit 1 }' out
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

@test "the versions of header, library and tree are the same" {
	local v
	v=$(sed -n 's/^VERSION := //p' "$TOP/Makefile")
	awk -v v="$v" '/define NPUTOOLS_VERSION_(MAJOR|MINOR|PATCH)/ { s = s "." $3 }
		END { exit s != "." v }' "$TOP/tools/libnputools/nputools.h"
}
