# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For every bats file:  load lib/common
#
# TOP the tree, BIN the programs (also first in PATH), SHARED the directory of
# models and golden outputs, or empty (shared.bash).  Every test runs in a scratch directory.

TOP=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
# a helper in a subdirectory of tests/ is loaded with the same TOP
[ -e "$TOP/Makefile" ] || TOP=$(cd "$TOP/.." && pwd)
BIN=${NPUTOOLS_BIN:-$TOP/build/bin}
export PATH=$BIN:$TOP/scripts:$PATH LC_ALL=C
# shellcheck source=tests/lib/shared.bash
. "$TOP/tests/lib/shared.bash"

# Bats notes each command before it runs, for a trace of functions where one fails: 0.2 ms
# each, which loops sum up to most of a suite's time.  Here it notes those that stand in the
# test itself; of a function that fails there is the line that called it.
setup()
{
	set +T
	cd "$BATS_TEST_TMPDIR" || return
}

# need PROGRAM...: skips the test where one is absent
need()
{
	local p
	for p; do
		command -v "$p" >/dev/null || skip "no $p"
	done
}

# cycles_of NAME: timeline_cycles and others of the whole network, of npu-perf --json on
# standard input.  jq would take 15 ms to start, for a number.
cycles_of()
{
	sed -n "/^\"timeline_cycles\"/s/^\(.*, \)*\"$1\": \([0-9.]*\),.*/\2/p"
}

# names of the kit's programs
programs()
{
	local d
	for d in "$TOP"/tools/*/; do
		basename "$d"
	done
}

# those that are WebAssembly modules, too: npu-sweep does nothing but run processes
modules()
{
	programs | grep -vx npu-sweep
}

# refuses STATUS TEXT COMMAND...: the command ends with STATUS, an error line
# that contains TEXT, nothing on standard output and no signal
refuses()
{
	local want=$1 text=$2 status=0
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
	grep -qF -e "$text" refuses.err || {
		echo "$*: no '$text' in:"
		cat refuses.err
		return 1
	}
}

# sized ACCELERATOR: the system configuration that goes with a size of Ethos-U85
sized()
{
	case $1 in
	*-128 | *-256) echo Ethos_U85_SYS_DRAM_Low ;;
	*-512 | *-1024) echo Ethos_U85_SYS_DRAM_Mid ;;
	*) echo Ethos_U85_SYS_DRAM_High ;;
	esac
}
