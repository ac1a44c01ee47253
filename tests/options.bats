#!/usr/bin/env bats
# Options: programs, pages, completions and npucc say the same of them.
bats_require_minimum_version 1.5.0

load lib/common

# options PROGRAM: the long ones of its --help, sorted
options() {
	"$1" --help | grep -oE '(^ +|^ +-., |, )--[a-z0-9-]+' |
		grep -oE -- '--[a-z0-9-]+' |
		sort -u
}

@test "every option of a synopsis or list in a manual page is in --help" {
	for p in $(programs); do
		options "$p" >has
		# .It Fl Fl name, .Op Fl Fl name: of the page's own program, whose
		# name an option of another one stands behind (.Xr)
		sed -n 's/^\.\(It\|Op\) //p' "$TOP/man/$p.1" |
			sed 's/Xr .*//; s/Fl Fl/--/g' | grep -oE -- '-- [a-z0-9][a-z0-9-]*' |
			tr -d ' ' | grep -v -- '-$' | sort -u >says
		run comm -13 has says
		[ -z "$output" ] || { echo "man/$p.1:" $output; false; }
	done
}

@test "what npucc passes to a program is an option of it" {
	grep -oE 'TO\([A-Z0-9]+, "--[a-z-]+' "$TOP/tools/npucc/options.def" |
		sed 's/TO(\(.*\), "/\1 /' | sort -u >passed
	[ "$(wc -l <passed)" -gt 20 ]
	declare -A program=([QUANTCHECK]=tfl-quantcheck [PARTITION]=tfl-partition
		[SCHED]=npu-sched [WENC]=npu-wenc [CMDGEN]=npu-cmdgen [TFL2C]=tfl2c
		[SIM]=npu-sim [DIS]=npu-dis [PERF]=npu-perf)
	while read -r which option; do
		[ -n "${program[$which]-}" ] || { echo "which is $which?"; false; }
		"${program[$which]}" --help | grep -qF -- "$option" ||
			{ echo "${program[$which]} has no $option"; false; }
	done <passed
}

@test "common options are the same everywhere, and refused the same" {
	for p in $(programs); do
		[ "$p" = npucc ] || "$p" --help | grep -qE '^  -o, --output=(FILE|DIR) '
		refuses 2 "requires an argument" "$p" -o
	done
	for p in npu-sched npu-wenc npu-sim npucc; do
		"$p" --help | grep -q '^  -j, --jobs=N '
	done
	for p in npu-sched npu-wenc npu-sim; do
		refuses 2 "-j takes a whole number from 0 to 64, not '65'" "$p" -j 65 x
	done
	for p in tfl-quantcheck tfl-partition tosa-partition npu-sched npu-wenc \
		npu-cmdgen tfl2c npu-sim npu-dis; do
		refuses 2 "more than one " "$p" a b
	done
}

@test "completion knows every program, and what it may choose from" {
	for shell in nputools.bash _nputools; do
		for p in $(programs); do
			grep -qE "(^|[[:space:]])$p( |\$)" "$TOP/scripts/completions/$shell" ||
				{ echo "$shell: $p"; false; }
		done
	done
	complete() { :; }
	# shellcheck source=/dev/null
	. "$TOP/scripts/completions/nputools.bash"
	# complete_words WORD...: COMPREPLY for the last one, empty
	complete_words() {
		COMP_WORDS=("$@" '') COMP_CWORD=$#
		COMPREPLY=()
		_nputools "$1"
	}
	complete_words npu-sched -a
	[ "${#COMPREPLY[@]}" = "$(grep -c '^ACCEL(' "$TOP/schema/target.def")" ]
	complete_words npu-sched --memory-mode
	[ "${#COMPREPLY[@]}" = "$(grep -c '^MODE(' "$TOP/schema/memory.def")" ]
	complete_words npucc --system-config
	[ "${#COMPREPLY[@]}" = \
		"$(grep -cE '^(SYSTEM|FITTED|LIMITED)\(' "$TOP/schema/memory.def")" ]
	complete_words npucc --optimise
	[ "${COMPREPLY[*]}" = "Performance Size Balanced" ]
	complete_words npu-perf --model
	[ "${COMPREPLY[*]}" = "timeline calibrated vela-2.1 vela-3.12 regor" ]
	complete_words npucc --dialect
	[ "${COMPREPLY[*]}" = "alif mlek cmsis xxd" ]
	complete_words npu-report --svg
	[ "${COMPREPLY[*]}" = "memory timeline layers roofline curve" ]
	COMP_WORDS=(npu-wenc --st) COMP_CWORD=1
	_nputools npu-wenc
	[ "${COMPREPLY[*]}" = --stats ]
}
