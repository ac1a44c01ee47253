# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# After lib/common:  load lib/rewrites

ALL="ethos-u55-32 ethos-u55-64 ethos-u55-128 ethos-u55-256 ethos-u65-256 ethos-u65-512
	ethos-u85-128 ethos-u85-256 ethos-u85-512 ethos-u85-1024 ethos-u85-2048"

# draws a network: GEN SEED [KIND]
GEN=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model

# all of them, or one of each generation in a quick run
EVERY=$ALL
[ -z "${NPUTOOLS_QUICK-}" ] || EVERY="ethos-u55-32 ethos-u65-512 ethos-u85-256"

# memory ACCELERATOR: sets `memory` to the options of a memory system
memory()
{
	case $1 in
	ethos-u55-*) memory=(--system-config=Ethos_U55_High_End_Embedded --memory-mode=Shared_Sram) ;;
	ethos-u65-*) memory=(--system-config=Ethos_U65_High_End --memory-mode=Dedicated_Sram) ;;
	*) memory=(--system-config=Ethos_U85_SYS_DRAM_Mid --memory-mode=Dedicated_Sram) ;;
	esac
}

# equal MODEL ACCELERATOR [OPTION...]: the compiled model computes the bytes of the plain model
# for inputs over their whole range, and its streams obey all rules
equal()
{
	local memory
	memory "$2"
	npucc -q -a "$2" "${memory[@]}" "${@:3}" -o equal.tflite "$1" &&
		npu-dis --verify -q equal.tflite &&
		npu-sim --seed=7 --compare="$1" equal.tflite >/dev/null || {
		echo "$*: not equal"
		return 1
	}
}

# applies RULE MODEL ACCELERATOR [OPTION...]
applies()
{
	tfl-partition -a "$3" "${@:4}" --report "$2" | grep "^rewrite $1: "
}

# often RULE MODEL: results are equal for all accelerators (a quick run: for some), with the rule
# and without it; the rule pays, and therefore applies, for most of them
often()
{
	local a n=0
	for a in $ALL; do
		applies "$1" "$2" "$a" && n=$((n + 1))
		[ -z "${NPUTOOLS_QUICK-}" ] || [[ $a == *-256 ]] || continue
		equal "$2" "$a" && equal "$2" "$a" --no-rewrite="$1" || return
	done
	echo "$1 applies for $n of 11 accelerators"
	[ $n -ge 6 ]
}

# nowhere RULE MODEL [OPTION...]: the rule applies for no accelerator
nowhere()
{
	local a
	for a in $ALL; do
		! applies "$1" "$2" "$a" "${@:3}" || { echo "$1 applies: $2, $a"; return 1; }
	done
}

# among COUNT FAMILY LEAST COMMAND...: COMMAND is true for at least LEAST of COUNT drawn m.tflite
among()
{
	local seed n=0
	for ((seed = 1; seed <= $1; seed++)); do
		"$GEN" $seed "$2" >m.tflite
		! "${@:4}" || n=$((n + 1))
	done
	echo "${*:4}: $n of $1"
	[ $n -ge "$3" ]
}

# drawn COUNT QUICK FAMILY...: COUNT drawn models of these families compute the bytes of the plain
# models; QUICK of them in a quick run, ten times COUNT with NPUTOOLS_ALL.  FIRST is the first
# seed; other variables are those of random-models.
drawn()
{
	local n=$1
	[ -z "${NPUTOOLS_QUICK-}" ] || n=$2
	[ -z "${NPUTOOLS_ALL-}" ] || n=$((10 * $1))
	"$BATS_TEST_DIRNAME/random-models" -b "${NPUTOOLS_BUILD:-$TOP/build}" -n "$n" \
		-s "${FIRST-1}" "${@:3}"
}
