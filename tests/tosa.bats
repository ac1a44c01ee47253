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
