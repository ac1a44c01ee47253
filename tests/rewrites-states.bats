#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# The rewrite `states` (nputools-rewrites(7) 8): a state that is shifted in place.

load lib/common
load lib/model
load lib/rewrites
load lib/state

# the zero point is the first value of the state, so that the runtime sets it
first=(9 -5 "251,251,251,251,251,251")
# an operator reads all rows, and its result is the model's output
inside='.operator_codes += [{deprecated_builtin_code:19,builtin_code:19,version:1}]
	| .subgraphs[0].tensors += [.subgraphs[0].tensors[3] | .name = "out"]
	| .subgraphs[0].outputs = [8]
	| .subgraphs[0].operators += [{opcode_index:6,inputs:[3],outputs:[8]}]'

# stream ROWS NEW CHANNELS [JQ]: m.tflite, whose state is the last ROWS rows of its inputs of NEW
# rows
stream()
{
	local n=$1 k=$2 c=$3 all=$(($1 + $2))
	ring "${first[@]}" "$inside
		| .buffers[1].data = [range(12) | if . == 4 then $k else 0 end]
		| .buffers[2].data = [1,0,0,0,$all,0,0,0,$c,0,0,0]
		| .buffers[4].data = [range($n * $c) | 251]
		| .subgraphs[1].tensors[1].shape = [1,$n,$c]
		| .subgraphs[0].tensors |= (.[0].shape = [1,$k,$c] | .[2].shape = [1,$n,$c]
			| .[3].shape = [1,$all,$c] | .[4].shape = [1,$n,$c] | .[8].shape = [1,$all,$c])
		${4:+| $4}"
}

# on_chip ACCELERATOR: sets `memory` to a system whose arena is in SRAM
on_chip()
{
	case $1 in
	ethos-u65-*) memory=(--system-config=Ethos_U65_Embedded --memory-mode=Shared_Sram) ;;
	ethos-u85-*) memory=(--system-config=Ethos_U85_SYS_Flash_High --memory-mode=Shared_Sram) ;;
	*) memory "$1" ;;
	esac
}

# shifts: the rule applies for all accelerators; outputs of each frame are equal, and
# streams obey all rules
shifts()
{
	local a memory
	for a in $ALL; do
		on_chip "$a"
		npucc -q -a "$a" "${memory[@]}" -o c.sched m.tflite
		grep -q '^rewrite .*rule=states' c.sched
		npucc -q -a "$a" "${memory[@]}" -o c.tflite m.tflite
		npu-dis --verify c.tflite | grep -q ', 0 errors, 0 warnings$'
		npu-sim --frames=9 --inputs=random,min,max,alternating --compare=m.tflite c.tflite
	done
}

# keeps [OPTION...]: the rule does not apply, and outputs of each frame are equal
keeps()
{
	local memory
	on_chip ethos-u55-128
	npucc -q -a ethos-u55-128 "${memory[@]}" "$@" -o c.sched m.tflite
	run -1 grep '^rewrite .*rule=states' c.sched
	npucc -q -a ethos-u55-128 "${memory[@]}" "$@" -o c.tflite m.tflite
	npu-sim --frames=9 --compare=m.tflite c.tflite
}

@test "states: old and new rows overlap, or not" {
	stream 3 1 2
	shifts
	stream 2 5 16
	shifts
	stream 22 1 64
	shifts
	stream 7 3 33
	shifts
	stream 61 1 5
	shifts
	stream 230 7 48
	shifts
}

@test "states: a random number of rows and channels" {
	for _ in 1 2 3 4; do
		stream $((RANDOM % 40 + 1)) $((RANDOM % 9 + 1)) $((RANDOM % 70 + 1))
		shifts
	done
}

@test "states: less SRAM" {
	stream 200 1 64
	on_chip ethos-u55-128
	npucc -q -a ethos-u55-128 "${memory[@]}" --no-rewrite=states -o old.tflite m.tflite
	npucc -q -a ethos-u55-128 "${memory[@]}" -o new.tflite m.tflite
	old=$(npu-perf "${memory[@]}" --json old.tflite | jq .sram_bytes)
	new=$(npu-perf "${memory[@]}" --json new.tflite | jq .sram_bytes)
	echo "$old $new"
	# at least the copy of 200 rows, without alignment
	[ $((old - new)) -ge 12800 ]
}

@test "states: not where a copy is needed" {
	# the rows are an output of the model
	ring "${first[@]}"
	keeps
	# a first value that the runtime cannot set
	stream 3 1 2 '.buffers[4].data = [1,2,3,4,5,6]'
	keeps
	# two reads of the state
	stream 3 1 2 '.subgraphs[0].tensors += [.subgraphs[0].tensors[2] | .name = "again"]
		| .subgraphs[0].outputs += [9]
		| .subgraphs[0].operators |= .[:3] + [.[2] | .outputs = [9]] + .[3:]'
	keeps
	# the new rows are in front of the state
	stream 3 1 2 '.subgraphs[0].operators[3].inputs = [0,2]
		| .buffers[1].data = [range(12) | 0] | .buffers[2].data = [1,0,0,0,3,0,0,0,2,0,0,0]'
	keeps
	# every second row is kept
	stream 2 2 2 '.buffers[1].data = [range(12) | 0] | .buffers[3].data[4] = 2'
	keeps
	# the arena is in DRAM
	stream 22 1 64
	npucc -q -a ethos-u85-256 --system-config=Ethos_U85_SYS_DRAM_Mid --memory-mode=Dedicated_Sram \
		-o c.sched m.tflite
	run -1 grep '^rewrite .*rule=states' c.sched
}

@test "states: turned off" {
	stream 22 1 64
	keeps --no-overlap
	keeps --no-rewrite=states
	keeps --no-rewrite=all
	npu-sched --list-rewrites | grep -q '^states '
	refuses 2 "there is no rule 'stats'; did you mean states?" npu-sched --no-rewrite=stats m.part
}
