#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# The rewrite `pieces` (nputools-rewrites(7) 9): an elementwise operation on a map that copies and
# fills put together.

load lib/common
load lib/model
load lib/rewrites

# padded BEFORE AFTER [JQ]: m.tflite, an ADD of a map of 8 x 8 x 24 whose channels were padded, and
# of a map of as many channels
padded()
{
	local c=$((24 + $1 + $2))
	model m ".operator_codes = [{deprecated_builtin_code:34,builtin_code:34,version:1},
			{deprecated_builtin_code:0,builtin_code:0,version:1}]
		| $t[0].shape = [1,32,32,24] | $t[1] = {shape:[4,2],type:2,buffer:1,name:\"pads\"}
		| $t[2] = ($t[0] | .shape = [1,32,32,$c] | .name = \"deep\")
		| $t[3] = ($t[0] | .shape = [1,32,32,$c] | .name = \"other\"
			| .quantization.scale = [0.7] | .quantization.zero_point = [5])
		| $t += [($t[3] | .name = \"sum\" | .quantization.scale = [1.3])]
		| .buffers[1].data = [range(32) | if . == 24 then $1 elif . == 28 then $2 else 0 end]
		| .subgraphs[0].inputs = [0,3] | .subgraphs[0].outputs = [4]
		| .subgraphs[0].operators = [
			{opcode_index:0,inputs:[0,1],outputs:[2]},
			{opcode_index:1,inputs:[3,2],outputs:[4],builtin_options_type:11,
				builtin_options:{fused_activation_function:0}}]
		${3:+| $3}"
}

# pieces ACCELERATOR [OPTION...]: the plan of m.tflite has the form `pieces`
pieces()
{
	local memory
	memory "$1"
	npucc -q -a "$1" "${memory[@]}" "${@:2}" -o c.sched m.tflite
	grep -q '^rewrite .*rule=pieces' c.sched
}

# some N: on N accelerators or more, and the results are equal with the rule and without it
some()
{
	local a n=0
	for a in $ALL; do
		! pieces "$a" || n=$((n + 1))
		[ -z "${NPUTOOLS_QUICK-}" ] || [[ $a == *-256 ]] || continue
		equal m.tflite "$a"
		equal m.tflite "$a" --no-rewrite=pieces
	done
	echo "on $n of 11"
	[ $n -ge "$1" ]
}

# keeps ACCELERATOR...: the map is put together on these
keeps()
{
	local a
	for a; do
		! pieces "$a" || { echo "on $a"; return 1; }
		equal m.tflite "$a"
	done
}

@test "pieces: an ADD of a map whose channels are padded" {
	padded 0 8
	some 4
	padded 5 7
	some 4
	# the other operand, and zeros in front
	padded 3 0 '.subgraphs[0].operators[1].inputs = [2,3]'
	some 4 # few zeros
}

@test "pieces: near misses" {
	local three=(ethos-u55-128 ethos-u55-256 ethos-u85-256) a
	padded 0 8 '.subgraphs[0].outputs = [4,2]' # the application reads the map, too
	keeps "${three[@]}"
	padded 0 8
	for a in "${three[@]}"; do
		run -1 pieces "$a" --no-rewrite=pieces
	done
	# a second reader
	padded 0 8 '.subgraphs[0].tensors += [.subgraphs[0].tensors[4] | .name = "again"]
		| .subgraphs[0].outputs += [5]
		| .subgraphs[0].operators += [.subgraphs[0].operators[1] | .outputs = [5]]'
	keeps "${three[@]}"
}

@test "pieces: a network too large in every form is refused with a message" {
	padded 0 8 '.subgraphs[0].tensors[0,2,3,4].shape[1,2] = 8000'
	tfl-partition -a ethos-u55-128 -o m.part m.tflite
	run -1 --separate-stderr npu-sched -a ethos-u55-128 \
		--system-config Ethos_U55_High_End_Embedded --memory-mode Shared_Sram -o m.sched m.part
	echo "$stderr"
	grep -q 'error: .*the network needs' <<<"$stderr"
}

@test "pieces: drawn networks compute the same bytes" {
	NATIVE=1 ACCELERATORS=$EVERY drawn 30 10 PIECES
	among 20 PIECES 5 pieces ethos-u85-256 --within=0
}

@test "pieces: a plan is kept and made again" {
	local memory
	padded 0 8
	memory ethos-u55-128
	tfl-partition -a ethos-u55-128 -o m.part m.tflite
	npu-sched -a ethos-u55-128 "${memory[@]}" --keep-plan=plan -o kept.sched m.part
	grep -q '^network pieces ops=2$' plan
	npu-sched -a ethos-u55-128 "${memory[@]}" --plan=plan -o again.sched m.part
	cmp kept.sched again.sched
	sed 's/^network pieces/network split/' plan >wrong
	refuses 2 "the network has no such split" \
		npu-sched -a ethos-u55-128 "${memory[@]}" --plan=wrong m.part
	sed 's/^network pieces/network peaces/' plan >wrong
	refuses 2 "a network is whole, split, or the name of a rule of npu-sched's, not peaces" \
		npu-sched -a ethos-u55-128 "${memory[@]}" --plan=wrong m.part
}
