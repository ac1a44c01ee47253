#!/usr/bin/env bats
# Programs that read foreign files give up their rights before: nputools-security(7).
bats_require_minimum_version 1.5.0

load lib/common

MODEL=$BATS_TEST_DIRNAME/models/digits.tflite
NPU=$BATS_TEST_DIRNAME/models/digits-ethos-u55-128.tflite
PROFILE=(--system-config=Ethos_U55_High_End_Embedded --memory-mode=Shared_Sram)
TARGET=(-a ethos-u55-128 "${PROFILE[@]}")
CONFINED="npu-sim npu-dis npu-perf tfl-quantcheck tfl-partition tosa-partition npu-sched npu-wenc npu-cmdgen tfl2c
mkinput tfl-quantize npu-report npu-eval"

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

# graphs: the graph behind each stage
graphs()
{
	tfl-partition -o m.part "$MODEL"
	npu-sched "${TARGET[@]}" -o m.sched m.part 2>/dev/null
	npu-wenc -o m.wenc m.sched
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
	contained tfl2c "$MODEL"
	contained mkinput --random=1 --expected=/dev/null "$MODEL"
	contained tfl-quantize --random "$MODEL"
	npu-sim --seed=1 -o y "$MODEL" >/dev/null
	echo 3 >labels
	contained npu-eval labels y/output_0.npy
	grep -q accuracy said
	contained npu-eval --model="$MODEL" --targets=y/output_0.npy labels y/output_0.npy
	grep -q error said
}

@test "nor does a graph between the stages" {
	graphs
	contained npu-sched "${TARGET[@]}" -j2 m.part
	contained npu-sched "${TARGET[@]}" --front --json m.part
	contained npu-wenc -j2 m.sched
	mkdir weights
	contained npu-wenc --decode -o weights m.wenc
	[ -s weights/w0.npy ]
	contained npu-cmdgen m.wenc
}

@test "npu-report starts npu-perf before it gives up the right to do so" {
	local other=other.tflite
	npu-perf --json "${PROFILE[@]}" -o r.json "$NPU"
	contained npu-report r.json
	npu-report r.json | cmp - said
	contained npu-report "${PROFILE[@]}" "$NPU"
	grep -q "inference" said
	mkdir d
	npucc "${TARGET[@]}" -o npu.tflite "$MODEL"
	contained npu-report --html --source="$MODEL" -o d/page.html npu.tflite
	[ -s d/page.html ]
	# the file records no memory system: npu-perf waits for that of the report
	cp "$NPU" $other
	contained npu-report --compare=r.json $other
	grep -q "$other does not record its memory system: using that of r.json" said
	npu-report --no-sandbox --compare=r.json $other 2>&1 | cmp - said
	sed -E "s/(\"memory_mode\": \")[^\"]*\"/\1$(printf '%0600d' 0)\"/" r.json >long.json
	refuses 2 "npu-perf: the names of its memory system are too long" npu-report \
		--compare=long.json $other
	# a process that waits ends with its reader
	echo "{" >bad.json
	refuses 2 bad.json npu-report --compare=$other bad.json
}

@test "a list of samples permits to read its files alone" {
	mkdir -p all/a elsewhere
	mkinput --random=1 --format=npy -o elsewhere/x.npy "$MODEL"
	cp elsewhere/x.npy all/a/one.npy
	ln -s ../../elsewhere/x.npy all/a/two.npy
	ln -s ../elsewhere all/b
	mkdir d
	intruded mkinput --format=npy --list=all -o d/stack.npy "$MODEL"
	[ "$(cat deeds)" = tried ]
	cmp <(tail -c 64 d/stack.npy) <(tail -c 64 elsewhere/x.npy)
	[ "$(wc -l <d/stack.labels)" = 3 ]
	printf '%s 1\n' "$PWD"/elsewhere/x.npy "$PWD"/all/a/two.npy >list
	mkinput --format=raw --list=list -o stack "$MODEL"
	[ "$(wc -c <stack)" = "$((2 * $(mkinput --random=1 --format=raw "$MODEL" | wc -c)))" ]
	mkinput --format=raw --list=- -o piped "$MODEL" <list
	mkinput --format=raw --list=<(cat list) -o pipe "$MODEL"
	cmp stack piped
	cmp stack pipe
}

@test "an output file permits to write in its directory, and to read nothing there" {
	mkdir d
	graphs
	echo secret >secret
	intruded npu-wenc --blob=d/blob -o m.wenc m.sched
	grep -qx "created a file" deeds # beside m.wenc
	[ -s d/blob ]
	intruded npu-wenc --blob=d/blob -o d/wenc m.sched
	[ "$(cat deeds)" = tried ]
	[ -s d/wenc ]
	intruded npu-sched "${TARGET[@]}" --keep-plan=d/plan -o d/sched m.part
	[ "$(cat deeds)" = tried ]
	cmp d/sched m.sched
	npu-sched "${TARGET[@]}" --plan=d/plan m.part | cmp - m.sched
	intruded tfl2c --resolver=d/r.cc -o d/h "$MODEL"
	[ "$(cat deeds)" = tried ]
	[ -s d/r.cc ]
	intruded mkinput --random=1 --expected=d/y.npy -o d/x.h "$MODEL"
	[ "$(cat deeds)" = tried ]
	[ -s d/y.npy ]
	intruded npu-dis -o d/out "$NPU"
	[ "$(cat deeds)" = tried ]
	[ -s d/out ]
	intruded npu-sim -o d/outputs "$MODEL"
	[ "$(cat deeds)" = tried ]
	[ -s d/outputs/output_0.npy ]
}

@test "a program in the sandbox does the same as without" {
	local p options
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
		options=()
		[ "$p" != npu-sched ] || options=("${TARGET[@]}")
		[ "$p" != tfl-quantize ] || options=(--random)
		[ "$p" != npu-eval ] || { echo 3 >labels; options=(labels); }
		refuses 2 "nothing: error: No such file or directory" "$p" "${options[@]}" nothing
		refuses 2 "d: error: a directory; name a file" "$p" "${options[@]}" d
		"$p" --help | grep -q -- --no-sandbox
	done
}

@test "a graph's file is read only with --permit or --no-sandbox" {
	cp "$MODEL" m.tflite
	tfl-partition --by-name m.tflite >m.part
	refuses 2 "m.tflite: error: the command line does not name this file; --permit=FILE permits" \
		npu-sched "${TARGET[@]}" m.part
	npu-sched --no-sandbox "${TARGET[@]}" m.part 2>/dev/null >m.sched
	npu-sched --permit=m.tflite "${TARGET[@]}" m.part 2>/dev/null | cmp - m.sched
	refuses 2 "m.tflite: error: the command line does not name this file" npu-wenc m.sched
	npu-wenc --permit=m.tflite m.sched >m.wenc
	refuses 2 "m.tflite: error: the command line does not name this file" npu-cmdgen m.wenc
	npu-cmdgen --permit=m.tflite --permit=other m.wenc >npu.tflite
	npu-cmdgen --permit=. m.wenc | cmp - npu.tflite
	npu-perf m.wenc >perf 2>notes
	grep -q "warning: m.wenc: operators of the CPU have no names: m.tflite: the command \
line does not name this file; --permit=FILE permits to read it" notes
	npu-perf --permit=m.tflite m.wenc >perf 2>notes
	[ ! -s notes ]
	npu-perf --no-sandbox m.wenc >perf 2>notes
	[ ! -s notes ]
}

# cost PROGRAM ARGUMENT...: processor time of 20 runs, in ms
cost()
{
	local TIMEFORMAT='%U %S'
	{
		time for _ in {1..20}; do
			"$@" >none 2>&1
		done
	} 2>&1 | awk '{ print int(($1 + $2) * 1000) }'
}

# 2 ms each, the least of three: the machine may be busy
@test "the sandbox takes less than 2 ms of processor time" {
	local p with without t args
	for p in npu-dis npu-perf npu-sim; do
		args=("$NPU")
		[ $p != npu-perf ] || args+=("${PROFILE[@]}")
		with=999999 without=999999
		for _ in 1 2 3; do
			t=$(cost $p "${args[@]}")
			[ "$t" -ge "$with" ] || with=$t
			t=$(cost $p --no-sandbox "${args[@]}")
			[ "$t" -ge "$without" ] || without=$t
		done
		echo "$p: 20 runs in $with ms, without $without ms"
		[ $((with - without)) -lt 40 ]
	done
}
