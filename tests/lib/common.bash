# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For every bats file:  load lib/common
#
# TOP is the tree.  BIN has the programs and is first in PATH.  SHARED is the directory of
# models and golden outputs, or empty (shared.bash).  Every test runs in a scratch
# directory.

TOP=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
# A helper in a subdirectory of tests/ is loaded with the same TOP.
[ -e "$TOP/Makefile" ] || TOP=$(cd "$TOP/.." && pwd)
BIN=${NPUTOOLS_BIN:-$TOP/build/bin}
export PATH=$BIN:$TOP/scripts:$PATH LC_ALL=C
# shellcheck source=tests/lib/shared.bash
. "$TOP/tests/lib/shared.bash"

# Bats records each command before the command runs, so that a failure can show a trace.
# Each record takes 0.2 ms, and loops add them up to most of a suite's time.  Here bats
# records only the commands that stand in the test itself.  When a function fails, the trace
# shows the line that called the function.
setup()
{
	set +T
	cd "$BATS_TEST_TMPDIR" || return
}

# need PROGRAM...: skips the test if one of the programs is absent
need()
{
	local p
	for p; do
		command -v "$p" >/dev/null || skip "no $p"
	done
}

# in_process COMMAND...: runs commands, one string each, one after the other in one process
# (tests/programs/in-process); file names have no spaces
in_process()
{
	printf '%s\n' "$@" | "${NPUTOOLS_TESTBIN:-$TOP/build/tests}/in-process"
}

# cycles_of NAME: reads the output of npu-perf --json from standard input and prints
# timeline_cycles, or another key of the whole network.  jq would take 15 ms to start for
# one number.
cycles_of()
{
	sed -n "/^\"timeline_cycles\"/s/^\(.*, \)*\"$1\": \([0-9.]*\),.*/\2/p"
}

# operators CONDITION: the names of the rows of schema/operators.def for which awk's
# CONDITION is true.  $1 is the name, $2 kernel, $3 real, $6 family, $8 types.
operators()
{
	sed -n 's/^OPERATOR(\(.*\))$/\1/p' "$TOP/schema/operators.def" |
		awk -F', ' "$1 { print \$1 }"
}

# the names of the kit's programs
programs()
{
	local d
	for d in "$TOP"/tools/*/main.c; do
		basename "$(dirname "$d")"
	done
}

# refuses STATUS TEXT COMMAND...: the command exits with STATUS, prints an error line that
# contains TEXT, writes nothing to standard output and is not killed by a signal
refuses()
{
	local want=$1 text=$2 said status=0
	shift 2
	"$@" >refuses.out 2>refuses.err </dev/null || status=$?
	[ "$status" = "$want" ] || {
		echo "$*: status $status, not $want"
		cat refuses.err
		return 1
	}
	[ ! -s refuses.out ] || {
		echo "$*: wrote $(wc -c <refuses.out) bytes all the same"
		return 1
	}
	# a process for each of some thousand texts would take seconds
	read -rd '' said <refuses.err || :
	[[ $said == *"$text"* ]] || {
		echo "$*: no '$text' in:"
		cat refuses.err
		return 1
	}
	# nputools-hacking(7), Code: a program that says no or refuses has "error:" in its reason
	[[ $1 != npu-* && $1 != tfl* && $1 != mkinput && $1 != tosa-* || $said == *": error: "* ]] || {
		echo "$*: no 'error:' in:"
		cat refuses.err
		return 1
	}
	[[ ! $said =~ error:\ ([^$'\n']*:\ )?error:\  ]] || {
		echo "$*: 'error:' twice in:"
		cat refuses.err
		return 1
	}
}

# sized ACCELERATOR: the system configuration for a size of Ethos-U85
sized()
{
	case $1 in
	*-128 | *-256) echo Ethos_U85_SYS_DRAM_Low ;;
	*-512 | *-1024) echo Ethos_U85_SYS_DRAM_Mid ;;
	*) echo Ethos_U85_SYS_DRAM_High ;;
	esac
}
