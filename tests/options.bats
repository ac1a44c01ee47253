#!/usr/bin/env bats
# Options: programs, pages, completions and npucc agree about them.
bats_require_minimum_version 1.5.0

load lib/common

# options PROGRAM: the long options of its --help, sorted
options() {
	"$1" --help | grep -oE '(^ +|^ +-., |, )--[a-z0-9-]+' |
		grep -oE -- '--[a-z0-9-]+' |
		sort -u
}

@test "every option of a synopsis or list in a manual page is in --help" {
	for p in $(programs); do
		options "$p" >has
		# .It Fl Fl name, .Op Fl Fl name: an option of the page's own program.  An
		# option of another program has the program's name (.Xr) before it.
		sed -n 's/^\.\(It\|Op\) //p' "$TOP/man/$p.1" |
			sed 's/Xr .*//; s/Fl Fl/--/g' | grep -oE -- '-- [a-z0-9][a-z0-9-]*' |
			tr -d ' ' | grep -v -- '-$' | sort -u >says
		run comm -13 has says
		[ -z "$output" ] || { echo "man/$p.1:" $output; false; }
	done
}

@test "npucc passes only options that the program has" {
	# a row of npucc: the name, then the programs that it is passed to as it is
	printf '%s\n' '#define OPTION(id, key, long, value, programs, doc) @ long programs' \
		'#define TO(program) program' '#define AS(program, form)' \
		'#include "options.def"' >options.c
	"${CC:-cc}" -E -P -I "$TOP/schema" options.c | tr -s '\n' ' ' | sed 's/@ /\n/g' |
		awk '{ for (i = 2; i <= NF; i++) if ($i != "OWN") print $i, "--" $1 }' |
		tr -d '"' >passed
	grep -oE 'AS\([A-Z0-9]+, "--[a-z-]+' "$TOP/schema/options.def" |
		sed 's/AS(\(.*\), "/\1 /' >>passed
	[ "$(wc -l <passed)" -gt 20 ]
	declare -A program=([QUANTCHECK]=tfl-quantcheck [PARTITION]=tfl-partition
		[TOSA_PARTITION]=tosa-partition
		[SCHED]=npu-sched [WENC]=npu-wenc [CMDGEN]=npu-cmdgen [TFL2C]=tfl2c
		[QUANTIZE]=tfl-quantize [CUT]=tfl-partition [SIM]=npu-sim [DIS]=npu-dis [PERF]=npu-perf)
	while read -r which option; do
		[ -n "${program[$which]-}" ] || { echo "which is $which?"; false; }
		"${program[$which]}" --help | grep -qF -- "$option" ||
			{ echo "${program[$which]} has no $option"; false; }
	done <passed
}

@test "members of libnputools' options that are options of programs have a row" {
	# without those of the call: size, name of the model, functions and what they take
	sed -n '/^struct nputools_options {/,/^}/p' "$TOP/tools/libnputools/nputools.h" |
		sed 's,/[*].*,,' | grep -oE '^	[a-z_0-9 ]+[ *][a-z_]+;' | grep -oE '[a-z_]+;' |
		tr -d ';' | grep -vxE 'size|name|progress_context|memory_context' | sort >members
	[ "$(wc -l <members)" -gt 12 ]
	grep -oE '\b(MEMBER|NUMBER)\([a-z_]+' "$TOP/schema/options.def" |
		sed 's/.*(//' | grep -vx name | sort >rows
	diff members rows
}

@test "common options are the same in all programs, with the same error messages" {
	for p in $(programs); do
		# Vela's options are those of another program
		[ "$p" != npu-vela ] || continue
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

@test "completion covers every program and its choices" {
	for shell in nputools.bash _nputools; do
		for p in $(programs); do
			grep -qE "(^|[[:space:]])$p( |\$)" "$TOP/scripts/completions/$shell" ||
				{ echo "$shell: $p"; false; }
		done
	done
	complete() { :; }
	# shellcheck source=/dev/null
	. "$TOP/scripts/completions/nputools.bash"
	# complete_words WORD...: COMPREPLY for an empty word after these
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
	complete_words npu-vela --part
	[ "${#COMPREPLY[@]}" -ge "$(grep -c '^PART(' "$TOP/schema/part.def")" ]
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

@test "-h is --help, and --help lists it" {
	for p in $(programs); do
		"$p" --help >long
		"$p" -h >short
		cmp long short
		"$p" -? | cmp - long
		"$p" --version -? >version
		"$p" --version | cmp - version
		grep -qE '^  -h, --help +Give this help list$' long
	done
}

@test "all mistakes of a command line are reported in one run" {
	refuses 2 "--effort takes a whole number from 1 to 9, not '77'" npu-sched \
		--effort=77 --optimise=Best --acelerator-config=x --json=1 -q a b --level
	cat >want <<-'EOF'
		npu-sched: error: unrecognized option '--acelerator-config'; did you mean --accelerator-config?
		npu-sched: error: option '--json' doesn't allow an argument
		npu-sched: error: invalid option -- 'q'
		npu-sched: error: option '--level' requires an argument
		npu-sched: error: --effort takes a whole number from 1 to 9, not '77'
		npu-sched: error: --optimise: no such choice: 'Best'; choices: Performance, Size, Balanced
		Try `npu-sched --help' or `npu-sched --usage' for more information.
	EOF
	diff want refuses.err
	# a letter among others, behind an option with a name
	refuses 2 "invalid option -- 'q'" npu-sched --json -qzv x
	cat >want <<-'EOF'
		npu-sched: error: invalid option -- 'q'
		npu-sched: error: invalid option -- 'z'
		Try `npu-sched --help' or `npu-sched --usage' for more information.
	EOF
	diff want refuses.err
	# names are checked together with what is missing
	refuses 2 "no model: name a file" npucc -a ethos-u55-12 --part=none \
		--system-config=Fast --memory-mode=Shared
	for w in "accelerator 'ethos-u55-12'" "part 'none'" "system configuration 'Fast'" \
		"memory mode 'Shared'"; do
		grep -qF -- "$w" refuses.err
	done
	refuses 2 "--accelerator-config is required" npu-sched x.part
	grep -q -- "--system-config is required" refuses.err
	grep -q -- "--memory-mode is required" refuses.err
	# an option of another program
	refuses 2 "unrecognized option '--labels'; --pass=tfl-quantize:--labels=FILE has" npucc --labels=x m.tflite
	refuses 2 "unrecognized option '--labels'; LABELS is an operand: npu-eval LABELS" npu-eval --labels x y.npy
	# an abbreviation that fits two options is ambiguous
	refuses 2 "option '--m' is ambiguous; possibilities: '--memory-mode' '--model'" npucc --m x
	# one that fits two spellings of an option is not
	npucc --part=himax-we2 --opt=Size -o a.tflite "$TOP/tests/models/digits.tflite" 2>notes
	npucc --part=himax-we2 --optimise=Size -o b.tflite "$TOP/tests/models/digits.tflite" 2>notes
	cmp a.tflite b.tflite
}

@test "a second --part of another chip is refused" {
	local program
	for program in npu-sched npu-perf tfl-partition tfl2c; do
		refuses 2 "--part is given twice, as alif-e8-hp and as nxp-imx93" \
			$program --part=alif-e8-hp --part=nxp-imx93 x
		# as a script does that adds an option to a variable
		refuses 2 "x: error: No such file" $program --part=alif-e8-hp --part=alif-e8-hp x
	done
}
