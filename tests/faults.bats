# SPDX-License-Identifier: Apache-2.0
# The nth memory request, the nth read or the nth write fails, for every n that SAMPLES
# allows.  tests/faults/drive.c says how a program must react.

load lib/common

model=$BATS_TEST_DIRNAME/models/digits.tflite
target=(-a ethos-u55-128 --system-config RTSS_HE_SRAM_MRAM
	--memory-mode Shared_Sram)
SAMPLES=${SAMPLES-25} # for each kind and program; 100000 are all, in a minute and a half

# faults PROGRAM ARGUMENT...: files "old*" must not be lost.  An argument @NAME is an
# output, which exists already if its name begins with "old".
faults()
{
	# linked with a shared libc, so that a library can be loaded before it
	local dynamic=${NPUTOOLS_BUILD:-$TOP/build}/dynamic/bin
	local tests=${NPUTOOLS_TESTBIN:-$TOP/build/tests} p=$1 a args=()
	[ -e "$tests/inject.so" ] || {
		echo "no $tests/inject.so, which make tests builds"
		return 1
	}
	shift
	mkdir run
	cd run || return
	for a; do
		case $a in
		@old*) echo old >"${a#@}" ;;
		esac
		args+=("${a/@/}")
	done
	"$tests/fault-drive" "$tests/inject.so" "$SAMPLES" "$dynamic/$p" "${args[@]}"
	cd ..
	rm -r run
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
	[[ $BIN != *asan* ]] || skip "faults are injected by replacing malloc, which the sanitizers replace, too"
}

stages()
{
	tfl-quantcheck --pass -o m.tflite "$model"
	tfl-partition -o m.part m.tflite
	npu-sched "${target[@]}" -o m.sched m.part 2>notes
	npu-wenc -o m.wenc m.sched
	npu-cmdgen -o npu.tflite m.wenc
}

@test "tfl-quantcheck and tfl-partition survive faults" {
	faults tfl-quantcheck --pass -o @old "$model"
	faults tfl-quantcheck --json -o @new "$model"
	faults tfl-partition -o @old "$model"
}

@test "npu-sched survives faults" {
	stages
	faults npu-sched "${target[@]}" -o @old ../m.part
	faults npu-sched "${target[@]}" -j2 -o @new ../m.part
}

@test "npu-wenc and npu-cmdgen survive faults" {
	stages
	faults npu-wenc -o @old --blob @old.blob ../m.sched
	faults npu-wenc -j2 -o @new ../m.sched
	faults npu-wenc --decode -o . ../m.wenc
	faults npu-cmdgen -o @old ../m.wenc
	faults npu-cmdgen --emit=list -o @new ../m.wenc
}

@test "npu-sim, npu-dis and npu-perf survive faults" {
	stages
	faults npu-sim ../npu.tflite
	faults npu-sim --json --frames=2 ../npu.tflite
	faults npu-sim --compare ../m.tflite --inputs=min,max -o @new ../npu.tflite
	faults npu-sim -o @out --dump @dump ../npu.tflite
	faults npu-dis -o @old ../npu.tflite
	faults npu-dis --verify --json -o @new ../npu.tflite
	faults npu-perf "${target[@]:2}" -o @old ../npu.tflite
	faults npu-perf "${target[@]:2}" --json ../m.wenc
}

@test "tfl2c and mkinput survive faults" {
	stages
	faults tfl2c -n m -o @old --resolver=old.cc ../npu.tflite
	faults mkinput --random=1 -o @old --expected=new.h "$model"
	faults mkinput --format=npy --range=0,1 -o @new "$model" \
		"$BATS_TEST_DIRNAME/models/digits/digit-7.pgm"
}

@test "programs for many inputs and their evaluation survive faults" {
	stages
	digits=$BATS_TEST_DIRNAME/models/digits
	printf "$digits/digit-%d.pgm %d\\n" 1 1 7 7 >list
	mkinput --list=list --range=0,1 -o d.npy "$model"
	npu-sim --frames=2 -i d.npy -o out "$model"
	faults mkinput --list=../list --range=0,1 -o @old --labels=new "$model"
	faults npu-sim --frames=2 --reset -j2 -i ../d.npy -o @out "$model"
	faults npu-eval ../d.labels ../out/output_0.npy ../out/output_0.npy -o @old
	faults npu-eval --layers --json "$model" ../d.npy -o @new
}

@test "programs that print to standard output survive faults" {
	stages
	faults tfl-quantcheck "$model"
	faults tfl-partition --report "$model"
	faults npu-wenc --stats -o new ../m.sched
	faults npu-dis --verify ../npu.tflite
	faults npu-perf "${target[@]:2}" ../npu.tflite
	# not --help: without memory, argp asserts
	faults npucc --version
}

@test "npucc survives faults" {
	SAMPLES=$((SAMPLES / 2))
	faults npucc "${target[@]}" -o @old.h "$model"
	faults npucc "${target[@]}" --check --keep=@kept -o @old.tflite "$model"
}

@test "npu-sweep" {
	# its programs beside it, which the calls that fail do not reach
	local memory=("${target[@]:2}")
	faults npu-sweep -a ethos-u55-128 "${memory[@]}" --limits=0 -o @old "$model"
	faults npu-sweep -a ethos-u55-128 "${memory[@]}" --emit=jsonl -o @new "$model"
}

@test "npucc survives faults in its stages" {
	SAMPLES=$((SAMPLES / 8))
	for p in tfl-quantcheck tfl-partition npu-sched npu-wenc npu-cmdgen tfl2c; do
		FAULTS_INTO=$p faults npucc "${target[@]}" -o @old.h "$model"
	done
	for p in npu-dis npu-sim; do
		FAULTS_INTO=$p faults npucc "${target[@]}" --check -o @old.h "$model"
	done
	FAULTS_INTO=npu-wenc faults npucc "${target[@]}" --keep=@kept "$model"
}
