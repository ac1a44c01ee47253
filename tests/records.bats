# SPDX-License-Identifier: Apache-2.0
# The emitter's records, from which cycles are estimated, equal what is decoded from the words.

load lib/common

records=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/records
GEN=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model

# encoded ACCELERATOR OPTION...: m.wenc of m.tflite
encoded()
{
	local system=Ethos_U55_High_End_Embedded mode=Shared_Sram
	case $1 in
	*-u65-*) system=Ethos_U65_High_End mode=Dedicated_Sram ;;
	*-u85-*) system=$(sized "$1") mode=Dedicated_Sram ;;
	esac
	tfl-partition -a "$1" m.tflite 2>notes |
		npu-sched -a "$1" --system-config "$system" --memory-mode "$mode" "${@:2}" 2>notes |
		npu-wenc >m.wenc
}

# agree FAMILY...: a random operator of each family has equal records on all generations
agree()
{
	local family a n=0
	for family; do
		"$GEN" 1 "$family" >m.tflite
		for a in ethos-u55-128 ethos-u65-512 ethos-u85-128 ethos-u85-2048; do
			encoded $a
			grep -q '^node .* on=npu' m.wenc || continue
			"$records" m.wenc >out || { echo "$family on $a"; cat out; return 1; }
			n=$((n + 1))
		done
	done
	[ $n -ge $# ]
}

@test "records of operators equal what is decoded" {
	local names
	mapfile -t names < <("$GEN" -l)
	agree "${names[@]}"
}

@test "records of networks in stripes and chains equal what is decoded" {
	for seed in 3 6 9 12; do
		"$GEN" -g $seed >m.tflite
		for a in ethos-u55-256 ethos-u65-256 ethos-u85-512; do
			encoded $a --optimise=Size
			"$records" m.wenc
		done
	done
}

@test "a record that differs is found" {
	"$GEN" 1 CONV_2D >m.tflite
	encoded ethos-u55-128
	"$records" m.wenc
	run "$records" -x m.wenc
	[ "$status" = 1 ]
	[[ $output = *"blockdep "*", decoded "* ]]
}
