# SPDX-License-Identifier: Apache-2.0
# Bodies of IF and WHILE: further subgraphs, each compiled as a network of its own.

bats_require_minimum_version 1.5.0

load lib/common
load lib/model
load lib/state

GEN=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model
CONTROL=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/control-model
u55=(-a ethos-u55-128 --system-config Ethos_U55_High_End_Embedded --memory-mode Shared_Sram)
u65=(-a ethos-u65-512 --system-config Ethos_U65_High_End --memory-mode Dedicated_Sram)
u85=(-a ethos-u85-256 --system-config Ethos_U85_SYS_DRAM_Mid --memory-mode Dedicated_Sram)
kinds=(if while both)

# control KIND TURNS NAME [SEED]: m.tflite, which calls a drawn operator, or a drawn network
control()
{
	"$GEN" "${4:-1}" ${3:+"$3"} >network.tflite
	"$CONTROL" "$1" "$2" <network.tflite >m.tflite
}

# in_bodies FILE: the number of NPU operators in other subgraphs than the first
in_bodies()
{
	npu-dis "$1" 2>/dev/null | grep -c '^subgraph [1-9]'
}

# drawn SEED TARGET...: a drawn network, called by IF, WHILE, or WHILE and IF, is equal.  A
# network with floats is left out.
drawn()
{
	# control-model feeds a loop's results back as inputs of another scale
	local kind=${kinds[$1 % 3]} unequal=--allow=unequal-quantization
	control "$kind" $(($1 % 4)) "" "$1"
	tfl-quantcheck $unequal m.tflite >/dev/null 2>&1 || return 0
	npu-sim m.tflite >/dev/null 2>&1 || return 0
	npucc $unequal "${@:2}" --check -o npu.tflite m.tflite 2>log || {
		echo "seed $1, $kind, $3"
		cat log
		return 1
	}
	n=$((n + $(in_bodies npu.tflite)))
}

# each on one generation in turn, or on all with NPUTOOLS_ALL
@test "drawn networks in IF and WHILE run on the NPU and are equal" {
	local i n=0 last=72
	[ -z "${NPUTOOLS_QUICK-}" ] || last=9
	[ -z "${NPUTOOLS_ALL-}" ] || last=900
	for ((i = 1; i <= last; i++)); do
		[ $((i / 3 % 3)) != 0 ] && [ -z "${NPUTOOLS_ALL-}" ] || drawn $i "${u55[@]}"
		[ $((i / 3 % 3)) != 1 ] && [ -z "${NPUTOOLS_ALL-}" ] || drawn $i "${u65[@]}"
		[ $((i / 3 % 3)) != 2 ] && [ -z "${NPUTOOLS_ALL-}" ] || drawn $i "${u85[@]}"
	done
	[ $n -ge $((last * 5 / 3)) ] # most have 2, 2 and 4 in the bodies
}

@test "a model that is not integer is refused before its bodies are compiled" {
	model network "$t |= map(.type = 0 | del(.quantization)) | $t[1:3][].buffer = 0
		| .subgraphs[0].inputs = [0,1,2]"
	"$CONTROL" while 2 <network.tflite >m.tflite
	refuses 1 "tfl-quantcheck: m.tflite: error: float-operator: " npucc "${u55[@]}" -o x.tflite m.tflite
	run -1 grep -v '^npucc: note: \|^tfl-quantcheck: ' refuses.err
}

@test "npucc writes what the stages write, one body after the other" {
	need jq
	local n stage args=()
	control both 3 CONV_2D
	for n in 1 2 3 4; do
		tfl-partition -a ethos-u55-128 --subgraph=$n m.tflite | npu-sched "${u55[@]}" |
			npu-wenc | npu-cmdgen -o body$n.tflite
		args+=("--body=$n=body$n.tflite")
	done
	tfl-partition -a ethos-u55-128 m.tflite | npu-sched "${u55[@]}" | npu-wenc |
		npu-cmdgen "${args[@]}" -o chain.tflite
	npucc -q "${u55[@]}" -o npu.tflite m.tflite
	cmp chain.tflite npu.tflite
	npucc -q "${u55[@]}" -o - <m.tflite | cmp - npu.tflite
	npucc -q "${u55[@]}" --keep=kept m.tflite
	cmp kept/m_npu.tflite npu.tflite
	for n in 1 2 3 4; do # npu-cmdgen writes the name of its input into the file
		npu-sim --seed=1 --compare=body$n.tflite kept/m.body${n}_npu.tflite
		for stage in part sched wenc; do
			[ "$(jq --arg n "m.body$n.$stage" '[.files[].name] | index($n)' \
				kept/manifest.json)" != null ]
			grep -q "^nputools-graph 1 stage=$stage" kept/m.body$n.$stage
		done
	done
	# the report lists the bodies, as --subgraph compiles them
	[ "$(grep -c '^subgraph [1-4], a body of IF or WHILE: ' kept/partition.txt)" = 4 ]
	grep -A1 '^subgraph 4, .*: else$' kept/partition.txt | grep ' 0  NPU  CONV_2D'
	tfl-partition -a ethos-u55-128 --report m.tflite | cmp - kept/partition.txt
	tfl-partition -a ethos-u55-128 --report --json m.tflite | jq -e '(.operators | length) == 2 and
		[.bodies[] | [.subgraph, .name, .operators[-1].runs_on]] ==
		[[1,"condition","npu"],[2,"loop","cpu"],[3,"then","npu"],[4,"else","npu"]]'
	tfl-partition --subgraph=3 --report m.tflite >report
	! grep '^subgraph' report || return 1
	# npu.mk does the same
	ln -s "$TOP/scripts/npu.mk" npu.mk
	mkdir models
	cp m.tflite models/again.tflite
	make -f npu.mk NPU_MODELS=models NPU_ACCELERATOR=ethos-u55-128 \
		NPU_SYSTEM=Ethos_U55_High_End_Embedded NPU_MEMORY=Shared_Sram \
		NPU_PARTITION_FLAGS=--cpu=MEAN NPU_SCHED_FLAGS=--keep-plan=plan again.checked >log
	[ "$(in_bodies again_npu.tflite)" = 4 ]
	npu-sim --seed=1 --compare=npu.tflite again_npu.tflite
	# without --body, the subgraphs stay as they are, and a note says so
	tfl-partition -a ethos-u55-128 m.tflite | npu-sched "${u55[@]}" | npu-wenc |
		npu-cmdgen -o plain.tflite 2>notes
	[ "$(in_bodies plain.tflite)" = 0 ]
	grep -F 'npu-cmdgen: note: ' notes | grep -F ': 4 bodies of IF or WHILE stay on the CPU; the first is subgraph 1: compile it with tfl-partition --subgraph=1, and put it here with --body=1=FILE'
	npu-sim --seed=1 --compare=m.tflite plain.tflite
	# a body is a model of its own
	tfl-partition --subgraph=4 --cut-only -o else.tflite m.tflite
	npu-sim --seed=1 --compare=else.tflite body4.tflite
	[ -z "$(ls -d .npucc-* 2>/dev/null)" ]
}

@test "options about the model's inputs, outputs and operators do not reach bodies" {
	control both 3 CONV_2D
	npucc -q "${u55[@]}" --check --cpu=0 --batch=2 --input-layout=0=nhwc -o npu.tflite m.tflite
	[ "$(in_bodies npu.tflite)" = 4 ]
	npucc -q "${u55[@]}" --check --cpu=CONV_2D --keep-plan=plan -o npu.tflite m.tflite
	[ "$(npu-dis npu.tflite 2>/dev/null | grep -c '^subgraph [34]')" = 0 ]
	npucc -q "${u55[@]}" --cpu=CONV_2D --plan=plan -o again.tflite m.tflite
	cmp npu.tflite again.tflite
}

# offset SUBGRAPH: where the scratch memory of a compiled subgraph begins
offset()
{
	flatc --json --strict-json --raw-binary "$TOP/tests/models/tflite.fbs" -- npu.tflite
	jq --argjson s "$1" '. as $m | [.subgraphs[].tensors | length] as $n
		| ([.subgraphs[$s].tensors[].name == "npu_scratch"] | index(true)) as $i
		| (.metadata[] | select(.name == "OfflineMemoryAllocation") | .buffer) as $b
		| (12 + 4 * (($n[:$s] | add // 0) + $i)) as $at
		| $m.buffers[$b].data[$at:$at + 4]
		| .[0] + 256 * .[1] + 65536 * .[2]' npu.json
}

@test "a body's memory is behind its callers', and bodies that exclude each other share it" {
	need flatc jq
	control both 3 CONV_2D
	npucc -q "${u55[@]}" -o npu.tflite m.tflite
	local main condition loop first second
	main=$(offset 0) condition=$(offset 1) loop=$(offset 2) first=$(offset 3) second=$(offset 4)
	[ "$main" = 0 ]
	[ "$condition" -gt 0 ]
	[ "$loop" = "$condition" ]
	[ "$first" -gt "$loop" ]
	[ "$first" = "$second" ]
	# variables keep their values: every body has memory of its own
	control if 1 SVDF
	npucc -q "${u55[@]}" --check -o npu.tflite m.tflite
	[ "$(offset 1)" -gt 0 ]
	[ "$(offset 2)" -gt "$(offset 1)" ]
}

@test "npu-perf counts each body once, and npu-dis verifies it" {
	need jq
	control while 3 CONV_2D
	npucc -q "${u55[@]}" -o npu.tflite m.tflite
	npu-dis --verify npu.tflite >lines
	[ "$(grep -c ' 0 errors, 0 warnings' lines)" = 3 ]
	npu-perf --json -o all.json npu.tflite
	tfl-partition -a ethos-u55-128 m.tflite | npu-sched "${u55[@]}" | npu-wenc |
		npu-cmdgen -o plain.tflite
	npu-perf --json -o main.json plain.tflite
	jq -se '.[0] as $all | .[1] as $main | $all.npu_operators_in_bodies == 2 and
		($main | has("npu_operators_in_bodies") | not) and
		$all.npu_operators == 3 and $main.npu_operators == 1 and
		$all.timeline_cycles > $main.timeline_cycles and $all.arena_bytes > $main.arena_bytes and
		$all.flash_bytes >= $main.flash_bytes' all.json main.json
	npu-perf npu.tflite | grep -qx 'Bodies of IF and WHILE  *2 NPU operators, each counted once'
	npu-report all.json >report
	grep -q 'times count each body of IF and WHILE once (2 NPU operators): how often a body runs is not known' report
	npucc "${u55[@]}" m.tflite 2>/dev/null | grep -q '^  bodies   2 NPU operators of bodies'
	[ "$(npu-dis --json npu.tflite | jq -c '[.[].subgraph]')" = '[0,1,2]' ]
	# the same numbers in all reports that npucc keeps
	npucc -q "${u55[@]}" --keep=kept m.tflite
	jq -se '(.[0].timeline_cycles == .[1].timeline_cycles) and
		.[1].inference_npu_cycles == .[2].inference_npu_cycles' \
		all.json kept/report.json kept/manifest.json
}

@test "reports name the operations of bodies as the user does" {
	need jq
	control both 3 CONV_2D
	npucc -q "${u55[@]}" --keep=kept -o npu.tflite m.tflite
	# the name of the subgraph, and that of the result there
	cut -d, -f15 kept/report.csv >names
	for name in t3 "condition/goes on" loop/next loop/first then/t3 else/t3; do
		grep -Fx "$name" names
	done
	run grep npu_command_stream names
	[ "$status" = 1 ]
	npu-dis --high-level npu.tflite | grep -F 'then/t3'
	npu-dis --verify npu.tflite >lines
	[ "$(grep -c ' 0 errors, 0 warnings' lines)" = 5 ]
	# a body without a source map has no names, and neither have those behind it
	npu-cmdgen --no-map -o body3.tflite kept/m.body3.wenc
	npu-cmdgen --body=1=kept/m.body1_npu.tflite --body=2=kept/m.body2_npu.tflite \
		--body=3=body3.tflite --body=4=kept/m.body4_npu.tflite -o npu.tflite kept/m.wenc
	npu-perf --csv npu.tflite | cut -d, -f15 >names
	grep -Fx loop/first names
	grep -Fx body3_npu_command_stream_0/conv_0 names
	grep -Fx body4_npu_command_stream_0/conv_0 names
}

@test "the header lists IF and WHILE, and a call without an interpreter refuses them" {
	control both 3 CONV_2D
	npucc -q "${u55[@]}" -o npu.tflite m.tflite
	tfl2c --resolver -o m.h npu.tflite
	grep -q 'resolver.AddIf()' m.h
	grep -q 'resolver.AddWhile()' m.h
	grep -q 'resolver.AddEthosU()' m.h
	refuses 2 "operator 1 (WHILE): a call without an interpreter can't run the subgraphs" \
		tfl2c --format=call npu.tflite
	control if 3 CONV_2D
	npucc -q "${u55[@]}" -o npu.tflite m.tflite
	refuses 2 "(IF): a call without an interpreter can't run the subgraphs" \
		tfl2c --format=call npu.tflite
}

# calls CODE OPTIONS: one FULLY_CONNECTED, then an operator that calls subgraphs
calls()
{
	model bad ".operator_codes += [{deprecated_builtin_code:$1,builtin_code:$1}]
		| .subgraphs += [.subgraphs[0]] | .subgraphs[1].name = \"body\"
		| $t += [{shape:[1,2],type:9,name:\"last\",quantization:{scale:[2.0],zero_point:[3]}}]
		| .subgraphs[0].outputs = [4] | .subgraphs[0].operators += [{opcode_index:1,inputs:[3],outputs:[4],
			builtin_options_type:$(($1 - 26)),builtin_options:$2}]"
}

# refused TEXT: all programs that read a model refuse bad.tflite with one line
refused()
{
	local p
	for p in npu-sim tfl-quantcheck tfl-partition "npucc ${u55[*]} -o x.tflite"; do
		# shellcheck disable=SC2086 # words
		refuses 2 "$1" $p bad.tflite || return
		[ "$(grep -c error refuses.err)" = 1 ] || return
	done
	[ ! -e x.tflite ]
}

@test "subgraphs that do not exist, or that call themselves, are refused" {
	need flatc jq
	local n
	for n in -1 0 2 2147483647 -2147483648; do
		calls 119 "{cond_subgraph_index:$n,body_subgraph_index:1}"
		refused "subgraph 0: operator 1 (WHILE) calls subgraph $n, not one of 1 to 1"
		calls 118 "{then_subgraph_index:1,else_subgraph_index:$n}"
		refused "subgraph 0: operator 1 (IF) calls subgraph $n, not one of 1 to 1"
	done
	model bad ".operator_codes += [{deprecated_builtin_code:118,builtin_code:118}]
		| .subgraphs += [.subgraphs[0]]
		| .subgraphs[1].operators = [{opcode_index:1,inputs:[0],outputs:[3],
			builtin_options_type:92,builtin_options:{then_subgraph_index:1,else_subgraph_index:1}}]"
	refused "subgraph 1 is called by itself"
	# a condition that is no boolean, and inputs that differ
	calls 119 "{cond_subgraph_index:1,body_subgraph_index:1}"
	refuses 2 "operator 1 (WHILE): its inputs, outputs and condition do not fit subgraphs 1 and 1" \
		npu-sim bad.tflite
}

@test "--subgraph and --body are refused if they name no body, or another one" {
	control if 1 CONV_2D
	refuses 2 "subgraph 3 is no body of IF or WHILE" tfl-partition --subgraph=3 m.tflite
	refuses 2 "--subgraph" tfl-partition --subgraph=0 m.tflite
	refuses 2 "--by-name excludes --subgraph" tfl-partition --subgraph=1 --by-name m.tflite
	npucc -q "${u55[@]}" -o m.wenc m.tflite
	"$GEN" 2 CONV_2D >other.tflite
	npucc -q "${u55[@]}" -o other_npu.tflite other.tflite
	refuses 2 "its inputs and outputs are not those of subgraph 1" \
		npu-cmdgen --body=1=other_npu.tflite -o x.tflite m.wenc
	refuses 2 "subgraph 3 is no body of IF or WHILE" \
		npu-cmdgen --body=3=other_npu.tflite -o x.tflite m.wenc
	tfl-partition -a ethos-u65-512 --subgraph=1 m.tflite | npu-sched "${u65[@]}" | npu-wenc |
		npu-cmdgen -o u65.tflite
	refuses 2 "u65.tflite: error: is for ethos-u65-512, and the model for ethos-u55-128" \
		npu-cmdgen --body=1=u65.tflite -o x.tflite m.wenc
	for n in 1 =x x=y 0=x 1-x; do
		refuses 2 "--body needs N=FILE, not '$n'" npu-cmdgen --body=$n -o x.tflite m.wenc
	done
	refuses 2 "none.tflite" npu-cmdgen --body=1=none.tflite -o x.tflite m.wenc
	[ ! -e x.tflite ]
}

@test "a loop without an end is an error, not a hang" {
	control while 70000 RELU
	refuses 2 "operator 1 (WHILE): loops of more than 65536 turns" npu-sim m.tflite
}

@test "a variable that a body and the model share stays one variable" {
	read_in_body
	npucc -q "${u55[@]}" -o npu.tflite m.tflite
	npu-sim --inputs=random,random,random,random --compare=m.tflite npu.tflite
	tfl-partition --report m.tflite | grep -q 'CPU  READ_VARIABLE'
	# without a body: the CPU reads after it assigns
	ring 9 0 "0,0,0,0,0,0" '.subgraphs[0].tensors += [{name:"later",shape:[1,3,2],type:9,quantization:q}]
		| .subgraphs[0].outputs = [3, 8]
		| .subgraphs[0].operators += [{opcode_index:2,inputs:[1],outputs:[8],builtin_options_type:112,builtin_options:{}}]'
	npucc -q "${u55[@]}" --cpu=READ_VARIABLE --cpu=ASSIGN_VARIABLE -o npu.tflite m.tflite
	npu-sim --inputs=random,random,random,random --compare=m.tflite npu.tflite
}
