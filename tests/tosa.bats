#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# TOSA graphs: every case is what the specification computes, and what breaks a
# rule is refused in one line.

load lib/common

# files_of DIR STEM FLAG: "FLAG DIR/STEM_0.npy FLAG DIR/STEM_1.npy ...", in `list`
files_of()
{
	local k
	list=()
	for ((k = 0; ; k++)); do
		[ -e "$1/$2_$k.npy" ] || return 0
		list+=("$3" "$1/$2_$k.npy")
	done
}

@test "the reference kernels compute every case, without a warning" {
	local dir in bad=0
	need_shared tosa/cases
	for dir in "$SHARED"/tosa/cases/*/; do
		files_of "$dir" input -i
		in=("${list[@]}")
		files_of "$dir" output -e
		if ! npu-sim "${in[@]}" "${list[@]}" "$dir/model.tosa" >out 2>err ||
			[ -s err ]; then
			echo "$dir: $(head -1 err)"
			bad=1
		fi
	done
	[ $bad = 0 ]
}

@test "what breaks a rule is refused in one line with the file's name" {
	local file status bad=0
	need_shared tosa/bad
	for file in "$SHARED"/tosa/bad/*.tosa; do
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
	for file in version-1.1 version-1.0-draft; do
		npu-sim "$SHARED/tosa/bad/$file.tosa" >out
	done
}

# compile_case DIR ACCELERATOR SYSTEM MODE: DIR's graph as m.tflite; 1: refused
compile_case()
{
	local status=0
	tosa-partition -o m.part "$1/model.tosa" 2>err || status=$?
	[ $status = 0 ] || return $status
	npu-sched -a "$2" --system-config="$3" --memory-mode="$4" -o m.sched m.part &&
		npu-wenc -o m.wenc m.sched && npu-cmdgen -o m.tflite m.wenc
}

# every case is compiled to what equals its golden, or refused with a reason;
# refused may be INTDIV alone, which the NPU has no lowering for
place_all()
{
	local dir status bad=0
	need_shared tosa/cases
	for dir in "$SHARED"/tosa/cases/*/; do
		status=0
		compile_case "$dir" "$@" 2>>err || status=$?
		if [ $status = 1 ] && [[ $dir == */intdiv-* ]] &&
			grep -q 'INTDIV.*can.t run on the NPU: ' err; then
			continue
		fi
		files_of "$dir" input -i
		in=("${list[@]}")
		files_of "$dir" output -e
		if [ $status != 0 ] ||
			! npu-sim "${in[@]}" "${list[@]}" m.tflite >out 2>err; then
			echo "$dir: status $status: $(head -1 err)"
			bad=1
		fi
	done
	[ $bad = 0 ]
}

@test "every case but INTDIV on ethos-u55-128, exact" {
	place_all ethos-u55-128 Ethos_U55_High_End_Embedded Shared_Sram
}

@test "every case but INTDIV on ethos-u65-256, exact" {
	place_all ethos-u65-256 Ethos_U65_High_End Dedicated_Sram
}

@test "npu-sim compares a TOSA graph with what became of it" {
	local name
	need_shared tosa/cases
	for name in p-conv-0 p-softmax-0 p-attention-0 net-ad01-int8; do
		compile_case "$SHARED/tosa/cases/$name" ethos-u55-256 \
			Ethos_U55_High_End_Embedded Shared_Sram
		npu-sim --inputs=random,min,max,alternating \
			--compare="$SHARED/tosa/cases/$name/model.tosa" m.tflite
	done
}
