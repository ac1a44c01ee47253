#!/usr/bin/env bats
# Programs that read foreign files give up their rights before: nputools-security(7).
bats_require_minimum_version 1.5.0

load lib/common

MODEL=$BATS_TEST_DIRNAME/models/digits.tflite
NPU=$BATS_TEST_DIRNAME/models/digits-ethos-u55-128.tflite
PROFILE=(--system-config=Ethos_U55_High_End_Embedded --memory-mode=Shared_Sram)
CONFINED="npu-sim npu-dis npu-perf tfl-quantcheck tfl-partition tosa-partition"

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
	case $BIN in *asan* | *msan* | *tsan*) skip "a sanitizer's programs have no sandbox" ;; esac
	dynamic=${NPUTOOLS_BUILD:-$TOP/build}/dynamic/bin
	intrude=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/intrude.so
	[ -e "$intrude" ] || skip "no $intrude, which make tests builds"
	# what the library does without a sandbox
	intruded npu-dis --no-sandbox "$NPU"
	grep -q "^opened a file$" deeds
	# with one, unless the system has none
	intruded npu-dis "$NPU"
	grep -q "^tried$" deeds || skip "the system offers no sandbox: no Landlock"
}

# intruded PROGRAM ARGUMENT...: runs the program with intrude.so, whose report is then deeds
intruded()
{
	local p=$1
	shift
	rm -rf secret intruder out
	echo secret >secret
	INTRUDE_REPORT=9 LD_PRELOAD=$intrude "$dynamic/$p" "$@" 9>deeds >said 2>&1 || true
}

# contained PROGRAM ARGUMENT...: what the library does in the program changes nothing
contained()
{
	intruded "$@"
	[ "$(cat deeds)" = tried ] || { echo "$*:"; cat deeds said; return 1; }
	[ "$(cat secret)" = secret ] && [ ! -e intruder ]
}

@test "hostile input opens no file, starts no program and reaches no socket" {
	contained npu-dis "$NPU"
	contained npu-dis --verify --json "$NPU"
	contained npu-perf "$NPU"
	contained npu-sim "$MODEL"
	contained npu-sim --compare="$NPU" --frames=3 --reset -j2 "$MODEL"
	contained tfl-quantcheck "$MODEL"
	contained tfl-partition "$MODEL"
	contained tosa-partition "$MODEL"
}

@test "an output file permits to write in its directory, and to read nothing there" {
	mkdir d
	echo secret >secret
	intruded npu-dis -o d/out "$NPU"
	[ "$(cat deeds)" = tried ]
	[ -s d/out ]
	intruded npu-sim -o d/outputs "$MODEL"
	[ "$(cat deeds)" = tried ]
	[ -s d/outputs/output_0.npy ]
}

@test "a program in the sandbox does the same as without" {
	local p
	npu-sim --json --frames=4 -o a/b/c "$MODEL" >x
	npu-sim --json --frames=4 -o with "$MODEL" >y
	npu-sim --json --frames=4 -o without --no-sandbox "$MODEL" | cmp - x
	cmp x y
	diff -r a/b/c with
	diff -r without with
	npu-sim --dump=t -j0 "$MODEL" >/dev/null
	[ "$(ls t | wc -l)" -gt 1 ]
	npu-perf "${PROFILE[@]}" -o perf.txt "$NPU"
	npu-perf "${PROFILE[@]}" --no-sandbox "$NPU" | cmp - perf.txt
	ln -s perf.txt link
	npu-perf -o link "${PROFILE[@]}" - <"$NPU"
	[ -L link ]
	npu-dis -o /dev/null "$NPU"
	npu-dis -o /dev/stdout "$NPU" >one
	npu-dis <(cat "$NPU") | cmp - one
	npu-dis /dev/stdin <"$NPU" | cmp - one
	mkdir d
	for p in $CONFINED; do
		refuses 2 "nothing: No such file or directory" "$p" nothing
		refuses 2 "d: error: a directory; name a file" "$p" d
		"$p" --help | grep -q -- --no-sandbox
	done
}

@test "a graph's file is read only with --no-sandbox" {
	cp "$MODEL" m.tflite
	tfl-partition --by-name m.tflite | npu-sched -a ethos-u55-128 "${PROFILE[@]}" 2>/dev/null |
		npu-wenc >m.wenc
	npu-perf m.wenc >perf 2>notes
	grep -q "warning: m.wenc: operators of the CPU have no names: m.tflite: error: the command \
line does not name this file; --no-sandbox permits to read it" notes
	npu-perf --no-sandbox m.wenc >perf 2>notes
	[ ! -s notes ]
}
