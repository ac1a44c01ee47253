#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Every byte, and every character that a terminal or a format obeys, in names of tensors,
# operators, graphs, files, profiles and networks.  Each output is parsed by another parser.

load lib/common
load lib/model

names()
{
	python3 "$TOP/tests/lib/names.py" "$@"
}

memory=(--system-config=RTSS_HE_SRAM_MRAM --memory-mode=Shared_Sram)
NAMES="0 1 2 3"

setup()
{
	set +T
	cd "$BATS_TEST_TMPDIR" || return
	need python3
}

# hostile K: K.tflite is a FULLY_CONNECTED and a custom operator, all with the name K
hostile()
{
	local at
	at=$(printf '@%.0s' {1..180})
	[ -e plain.tflite ] || model plain "
		$t += [$t[3] + { name: \"o$at\" }] | $t[0].name = \"i$at\" | $t[1].name = \"w$at\" |
		$t[3].name = \"m$at\" | .subgraphs[0].name = \"$at\" | .subgraphs[0].outputs = [4] |
		.operator_codes += [{ deprecated_builtin_code: 32, builtin_code: 32, custom_code: \"$at\" }] |
		.subgraphs[0].operators += [{ opcode_index: 1, inputs: [3], outputs: [4] }]"
	names make "$1" plain.tflite "$1.tflite"
}

stages()
{
	local k=$1
	tfl-partition -o "$k.part" "$k.tflite" 2>"$k.err.part"
	npu-sched -a ethos-u55-128 "${memory[@]}" -o "$k.sched" "$k.part" 2>"$k.err.sched"
	npu-wenc -o "$k.wenc" "$k.sched"
	npu-cmdgen -o "${k}_npu.tflite" "$k.wenc"
	tfl2c -o "$k.h" "${k}_npu.tflite" 2>"$k.err.h"
}

@test "the text between the stages keeps the bytes of every name" {
	local k
	for k in $NAMES; do
		hostile $k
		stages $k
		names bytes $k "${k}_npu.tflite"
		npu-dis --verify --source=$k.wenc ${k}_npu.tflite >verified
		npucc -a ethos-u55-128 "${memory[@]}" -o by-npucc.tflite $k.tflite 2>err
		cmp by-npucc.tflite ${k}_npu.tflite
		# the model is read by another reader
		flatc --json --strict-json --raw-binary --allow-non-utf8 -o read \
			"$TOP/tests/models/tflite.fbs" -- ${k}_npu.tflite
	done
}

@test "reports in JSON and YAML are read by another parser, which finds every name" {
	local k
	for k in $NAMES; do
		hostile $k
		stages $k
		tfl-quantcheck --json $k.tflite >$k.check.json || [ $? = 1 ]
		npu-perf --json ${k}_npu.tflite >$k.perf.json
		npu-perf --json $k.wenc >$k.wenc.json
		npu-perf --trace $k.wenc >$k.trace.json
		npu-perf --yaml $k.wenc >$k.yaml
		npu-report --model-explorer=place $k.perf.json >$k.explorer.json
		npu-report --html $k.perf.json | sed -n '/id="data"/,/<\/script>/p' | sed '1d;$d' >$k.page.json
		npu-sim --json "${k}_npu.tflite" >$k.sim.json 2>/dev/null || [ $? -le 2 ]
		npu-sched -a ethos-u55-128 "${memory[@]}" --explain --json $k.part >$k.explain.json 2>/dev/null
		npu-sched -a ethos-u55-128 "${memory[@]}" --front --json $k.part >$k.front.json 2>/dev/null
		npu-dis --json ${k}_npu.tflite >$k.dis.json
		npu-dis --verify --json ${k}_npu.tflite >$k.verify.json
		names json $k $k.check.json $k.perf.json $k.wenc.json $k.trace.json $k.explorer.json \
			$k.page.json $k.dis.json
		cat $k.*.json | jq . >jq.out
		cat $k.*.json | python3 -c 'import sys; sys.stdin.buffer.read().decode("utf-8")'
		python3 -c 'import yaml' 2>/dev/null && names yaml $k $k.yaml
	done
}

@test "names of files are in every report and manifest, and an archive stays in its directory" {
	local k n
	for k in $NAMES; do
		n=$(names file $k; echo x)
		n=${n%x}
		cp "$BATS_TEST_DIRNAME/models/digits.tflite" "$n.tflite"
		npucc -a ethos-u55-128 "${memory[@]}" --keep=kept-$k -o o.tflite -- "./$n.tflite" 2>err
		cp err err.$k
		npu-sweep "${memory[@]}" -a ethos-u55-128 --limits=0 --json -- "./$n.tflite" >sweep.json
		jq -e 'length == 2' sweep.json
		cp sweep.json kept-$k
		npu-sweep "${memory[@]}" -a ethos-u55-128 --limits=0 -- "./$n.tflite" >sweep.$k
		python3 - kept-$k <<-'END'
		import json, os, sys
		d = os.fsencode(sys.argv[1])
		for f in os.listdir(d):
		    if f.endswith(b'.json'):
		        json.loads(open(os.path.join(d, f), 'rb').read().decode('utf-8'))
		have = {x['name'] for x in json.load(open(os.path.join(d, b'manifest.json')))['files']}
		files = {f for f in os.listdir(d)}
		assert len(have) == len(files) - 2, (have, files)
		END
		rm "./$n.tflite"
	done
	# messages about files, options and values
	n=$'x\e[1m\302\233\233\342\200\256'
	cp "$BATS_TEST_DIRNAME/models/digits-ethos-u55-128.tflite" "$n.npu"
	for command in tfl-quantcheck tfl-partition npu-sched npu-wenc npu-cmdgen npu-dis npu-sim npu-perf \
		npu-report npu-eval npu-run tfl2c npucc; do
		"$command" "$n.absent" >out.$command 2>&1 </dev/null || [ $? -le 2 ]
		[ "$command" = npu-cmdgen ] || "$command" "$n.npu" >>out.$command 2>&1 </dev/null ||
			[ $? -le 2 ]
	done
	for command in 'npu-dis --verify' 'npu-dis --verify=linux' 'npu-perf --part=himax-we2' 'npu-report --part=himax-we2' \
		"npu-sched --part=$n" "tfl2c --name=$n" "npu-perf --model=$n"; do
		$command "$n.npu" >>out.last 2>&1 </dev/null || [ $? -le 2 ]
	done
	names plain err.* out.* sweep.[0-9]
	# stems that are no directory, or another one
	for n in . .. ...  ''; do
		cp "$BATS_TEST_DIRNAME/models/digits.tflite" "./$n.tflite"
		npucc -a ethos-u55-128 "${memory[@]}" --keep=k.tar.gz -o o.tflite "./$n.tflite" 2>err
		python3 - <<-'END'
		import tarfile
		for m in tarfile.open('k.tar.gz').getnames():
		    assert m.split('/')[0] == 'model' and m.count('/') == 1, m
		END
		rm "./$n.tflite"
	done
}

@test "no name reaches a terminal with a character that it obeys" {
	local k run=0
	for k in $NAMES; do
		hostile $k
		stages $k
		for command in "tfl-quantcheck $k.tflite" "tfl-quantcheck --strict $k.tflite" \
			"tfl-partition --report $k.tflite" "tfl-partition --verbose-operators $k.tflite -o x.part" \
			"npu-report ${k}_npu.tflite" "npu-report --summary ${k}_npu.tflite" \
			"npu-report --compare=${k}_npu.tflite ${k}_npu.tflite" \
			"npu-perf ${k}_npu.tflite" "npu-perf --verbose-performance ${k}_npu.tflite" \
			"npu-perf --show-cpu-operations $k.wenc" "npu-dis ${k}_npu.tflite" \
			"npu-dis --high-level ${k}_npu.tflite" "npu-dis --map ${k}_npu.tflite" \
			"npu-dis --verify --source=$k.wenc ${k}_npu.tflite" "npu-sim $k.tflite" \
			"npu-sim --trace --compare=$k.tflite ${k}_npu.tflite" \
			"npu-sched -a ethos-u55-128 ${memory[*]} --explain $k.part" \
			"npu-sched -a ethos-u55-128 ${memory[*]} --front $k.part" \
			"npu-sched -a ethos-u55-128 ${memory[*]} -v --verbose-allocation --verbose-graph $k.part -o x.sched" \
			"npu-wenc --stats $k.sched -o x.wenc" "npu-wenc --verbose-allocation $k.sched -o x.wenc" \
			"npu-cmdgen --verbose-allocation --verbose-high-level-command-stream $k.wenc -o x.tflite" \
			"npucc --part=alif-e7-he --fail-on-cpu $k.tflite" "npucc --part=alif-e7-he --verbose-all -o x.tflite $k.tflite" \
			"npucc --part=alif-e7-he $k.tflite"; do
			run=$((run + 1))
			$command >out.$run 2>&1 </dev/null || [ $? -le 2 ]
			echo "$command" >"out.$run.command"
		done
	done
	names plain out.* *.err.*
}

@test "names of profiles, networks and other accelerators are words and strings" {
	local s m name
	# each character that a section's name can have
	s=$(printf 'My "Chip" in=t0 #1 \\ \303\204 \t\177')
	m='Sh red#1'
	printf '%s\n' "[System_Config.$s]" core_clock=100e6 axi0_port=Sram axi1_port=OffChipFlash \
		Sram_clock_scale=1.0 OffChipFlash_clock_scale=0.5 "[Memory_Mode.$m]" \
		const_mem_area=Axi1 arena_mem_area=Axi0 cache_mem_area=Axi0 >s.ini
	npucc -a ethos-u55-128 --config=s.ini --system-config="$s" --memory-mode="$m" --keep=kept \
		-o m.tflite "$BATS_TEST_DIRNAME/models/digits.tflite"
	npu-perf --json m.tflite | jq -e --arg s "$s" --arg m "$m" '.system_config == $s and .memory_mode == $m'
	npu-report --summary m.tflite >out
	names plain out
	# the words of a graph are read and printed unchanged
	npu-wenc -o again kept/digits.sched
	cmp again kept/digits.wenc
	grep '^target' kept/digits.wenc | grep -qF 'memory="Sh red#1"'
	for name in $'a\e[31m"\u9b\u202e' '</script>'; do
		npu-perf --called="$name" m.tflite >>out
		npu-report --called="$name" --summary m.tflite >>out
		npu-perf --called="$name" --json m.tflite | jq . >/dev/null
		npu-report --called="$name" --html m.tflite >out.html
		[ "$(grep -c '</script>' out.html)" = 2 ]
	done
	names plain out
}
