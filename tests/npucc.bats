# SPDX-License-Identifier: Apache-2.0
# npucc: options reach their stage, failures keep their status, and the pipeline is exactly
# the stages.

bats_require_minimum_version 1.5.0
load lib/common
load lib/model

model=$BATS_TEST_DIRNAME/models/digits.tflite
target=(-a ethos-u55-128 --system-config RTSS_HE_SRAM_MRAM
	--memory-mode Shared_Sram)

# a directory of fake stages that write their arguments to a file and copy their input
fakes()
{
	mkdir fake
	cp "$BIN/npucc" fake/
	local p
	for p in tfl-quantcheck tfl-partition npu-sched npu-wenc npu-cmdgen \
		tfl2c; do
		cat >"fake/$p" <<'END'
#!/bin/bash
# the name after -o is the output, and a last operand after -- is the input
printf '%s\n' "$@" >"${0%/*}/../args.${0##*/}"
out=/dev/stdout in=/dev/stdin
while [ $# -gt 0 ]; do
	case $1 in
	-o) out=$2; shift ;;
	--) in=$2 ;;
	esac
	shift
done
echo "note of ${0##*/}" >&2
{ cat "$in"; echo "${0##*/}"; } >"$out"
END
		chmod +x "fake/$p"
	done
}

@test "every option reaches its stage" {
	fakes
	echo model >m.tflite
	fake/npucc "${target[@]}" --config=my.ini --optimize Size \
		--arena-cache-size=4096 --effort 5 --cpu SOFTMAX --fail-on-cpu -j3 -9 \
		--model=calibrated --no-map \
		-n net --dialect=mlek -X tfl-quantcheck:--strict --allow=type \
		-X npu-cmdgen:--thing=1 -o m.h m.tflite 2>notes
	printf '%s\n' --pass --strict --allow=type -- m.tflite | cmp - args.tfl-quantcheck
	printf '%s\n' --by-name=m.tflite --accelerator-config=ethos-u55-128 --cpu=SOFTMAX \
		--fail-on-cpu | cmp - args.tfl-partition
	printf '%s\n' --permit=m.tflite --accelerator-config=ethos-u55-128 \
		--system-config=RTSS_HE_SRAM_MRAM --memory-mode=Shared_Sram \
		--config=my.ini --optimise=Size --arena-cache-size=4096 \
		--effort=5 --jobs=3 --level=9 --model=calibrated |
		cmp - args.npu-sched
	sed 's/\.npucc-[0-9a-f]*/PRIVATE/' args.npu-wenc |
		cmp - <(printf '%s\n' --blob=./PRIVATE/flash.bin --permit=m.tflite --jobs=3 -9)
	sed 's/\.npucc-[0-9a-f]*/PRIVATE/' args.npu-cmdgen |
		cmp - <(printf '%s\n' --permit=m.tflite --permit=./PRIVATE --jobs=3 --no-map \
			--thing=1)
	head -3 args.tfl2c | cmp - <(printf '%s\n' -n net --dialect=mlek)
	# for an input file, tfl-quantcheck runs beside the other stages
	printf '%s\n' model tfl-partition npu-sched npu-wenc npu-cmdgen tfl2c | cmp - m.h
	[ "$(wc -l <notes)" = 6 ]
}

@test "the suffix of the output selects the last stage" {
	fakes
	echo model >m.tflite
	for o in m.part:tfl-partition m.sched:npu-sched m.wenc:npu-wenc \
		m_npu.tflite:npu-cmdgen m.xml:npu-cmdgen; do
		fake/npucc "${target[@]}" -o "${o%:*}" m.tflite 2>/dev/null
		[ "$(tail -1 "${o%:*}")" = "${o#*:}" ]
	done
	fake/npucc "${target[@]}" -o - <m.tflite 2>/dev/null >out
	[ "$(tail -1 out)" = npu-cmdgen ]
	refuses 2 'behind a stage); tfl2c makes C code of the .tflite: --format=source ' \
		fake/npucc "${target[@]}" -o m.c m.tflite
	refuses 2 'behind a stage); npu-cmdgen --emit=npz and npu-vela --output-format=raw write .npz files' \
		fake/npucc "${target[@]}" -o out_vela.npz m.tflite
	for o in m.exe m.bin m; do
		refuses 2 "$o: unknown suffix of the output" \
			fake/npucc "${target[@]}" -o "$o" m.tflite
		for s in .tflite .h .xml .part .sched .wenc; do
			grep -q "^npucc: .*\\$s\>" refuses.err
		done
	done
	refuses 2 "no chip: use --part=NAME" fake/npucc m.tflite
	refuses 2 "more than one model" fake/npucc -o m.h a.tflite b.tflite
	refuses 2 "option requires an argument -- 'a'" fake/npucc -o m.h -a
	refuses 2 "'cat' is no stage" fake/npucc -X cat:-n -o m.h m.tflite
}

@test "a failed stage determines the message and the status, and no output is written" {
	fakes
	echo model >m.tflite
	for p in tfl-quantcheck tfl-partition npu-sched npu-wenc npu-cmdgen \
		tfl2c; do
		mv "fake/$p" saved
		printf '%s\n' '#!/bin/sh' "echo $p: error: no >&2" 'exit 1' \
			>"fake/$p"
		chmod +x "fake/$p"
		refuses 1 "$p: error: no" \
			fake/npucc "${target[@]}" -o out.h m.tflite
		[ "$(wc -l <refuses.err)" = 1 ]
		refuses 1 "$p: error: no" fake/npucc "${target[@]}" \
			--keep=kept -o out.h m.tflite
		[ ! -e kept ]
		[ ! -e out.h ]
		mv saved "fake/$p"
	done
}

# replace STAGE LINE...: a fake stage that runs these lines
replace()
{
	local stage=$1
	shift
	printf '%s\n' '#!/bin/bash' "$@" >"fake/$stage"
	chmod +x "fake/$stage"
}

# nothing_but NAME...: the directory contains only these names
nothing_but()
{
	[ "$(ls -A)" = "$(printf '%s\n' "$@" | sort)" ] || { ls -A; return 1; }
}

@test "a stage killed by a signal is reported with the signal, and the status is 2" {
	fakes
	echo model >m.tflite
	local s
	for s in 9:SIGKILL 11:SIGSEGV 15:SIGTERM 13:SIGPIPE; do
		for p in npu-wenc tfl2c; do
			cp "fake/$p" saved
			replace $p 'cat >/dev/null' "kill -${s%:*} \$\$"
			refuses 2 "npucc: error: $p was killed by signal ${s%:*} (${s#*:}," \
				fake/npucc "${target[@]}" -o m.h m.tflite
			[ "$(wc -l <refuses.err)" = 1 ]
			refuses 2 "npucc: error: $p was killed by signal ${s%:*} (${s#*:}," \
				fake/npucc "${target[@]}" --keep=kept m.tflite
			mv saved "fake/$p"
		done
	done
	# the last message of a killed stage is printed, too
	replace tfl2c 'echo broken invariant >&2; kill -6 $$'
	refuses 2 "SIGABRT" fake/npucc "${target[@]}" -o m.h m.tflite
	[ "$(head -1 refuses.err)" = "broken invariant" ]
	replace tfl2c 'exit 3'
	refuses 2 "npucc: error: tfl2c ended with status 3 without a message" \
		fake/npucc "${target[@]}" -o m.h m.tflite
	replace tfl2c 'exit 1'
	refuses 1 "npucc: error: tfl2c ended with status 1 without a message" \
		fake/npucc "${target[@]}" -o m.h m.tflite
	rm -f args.* refuses.*
	nothing_but fake m.tflite
}

@test "a message on a text that nobody keeps has the model's name, and no line" {
	fakes
	echo model >m.tflite
	replace npu-sched 'echo "npu-sched: standard input:17: error: no op o3" >&2' \
		'echo "npu-sched: standard input: error: too large" >&2; exit 1'
	printf 'npu-sched: m.tflite: error: %s\n' 'no op o3' 'too large' >want
	run fake/npucc "${target[@]}" -o m.h m.tflite
	[ "$status" = 1 ]
	diff -u want <(printf '%s\n' "$output")
	sed -i 's/m.tflite/standard input/' want
	run fake/npucc "${target[@]}" -o m.h - <m.tflite
	diff -u want <(printf '%s\n' "$output")
}

@test "a failure is reported even if the parent ignores SIGCHLD" {
	fakes
	echo model >m.tflite
	replace tfl2c 'echo no >&2; exit 2'
	status=0
	(trap '' CHLD && exec env fake/npucc "${target[@]}" -o m.h m.tflite) 2>err ||
		status=$?
	[ $status = 2 ]
	[ ! -e m.h ]
}

@test "a closed output pipe is a failure" {
	status=0
	{ npucc "${target[@]}" -o - "$model" 2>err && echo 0 >status ||
		echo $? >status; } | true
	grep -q 'npucc: error: npu-cmdgen was killed by signal 13 (SIGPIPE,' err
	[ "$(cat status)" = 2 ]
}

@test "all other stages stop when one stage is killed" {
	fakes
	echo model >m.tflite
	# one stage is busy, the other has a child that keeps its standard error open
	replace npu-sched 'exec sleep 100'
	replace tfl-partition 'sleep 30 & wait'
	replace npu-wenc 'kill -9 $$'
	start=$SECONDS
	refuses 2 "SIGKILL" fake/npucc "${target[@]}" -o m.h m.tflite
	[ $((SECONDS - start)) -lt 20 ]
}

@test "a model that is not fully integer stops the stages that already process it" {
	fakes
	echo model >m.tflite
	replace tfl-quantcheck 'sleep 0.3; echo no >&2; exit 1'
	replace npu-sched 'exec sleep 100'
	start=$SECONDS
	refuses 1 "no" fake/npucc "${target[@]}" -o m.h m.tflite
	[ $((SECONDS - start)) -lt 20 ]
	[ ! -e m.h ]
}

@test "if two stages fail, the failure of the first in the pipe is reported" {
	fakes
	echo model >m.tflite
	replace tfl-quantcheck 'sleep 0.3; echo first >&2; exit 1'
	replace tfl2c 'echo last >&2; exit 2'
	refuses 1 "first" fake/npucc "${target[@]}" -o m.h m.tflite
	[ "$(wc -l <refuses.err)" = 1 ]
}

@test "messages show the file names of the command line" {
	fakes
	echo model >m.tflite
	mkdir -p sub
	# the last stage reports the name of its output; other stages report the name of
	# their input
	replace tfl2c 'echo "tfl2c: ${@: -1}: error: No space left on device" >&2' 'exit 2'
	refuses 2 "tfl2c: sub/m.h: error: No space left on device" \
		fake/npucc "${target[@]}" -o sub/m.h m.tflite
	replace npu-wenc 'echo "npu-wenc: standard input: error: no" >&2' 'exit 2'
	refuses 2 "npu-wenc: m.tflite: error: no" \
		fake/npucc "${target[@]}" -o sub/m.h m.tflite
	replace npu-wenc 'for f; do :; done; echo "npu-wenc: $f:7: error: no" >&2' 'exit 2'
	refuses 2 "npu-wenc: m.sched:7: error: no" \
		fake/npucc "${target[@]}" --keep=new/kept -o sub/m.h m.tflite
	[ ! -e new ]
	[ -z "$(ls -A sub)" ]
}

@test "npucc writes only its output, does not need TMPDIR, and uses unpredictable temporary names" {
	cp "$model" m.tflite
	for o in "" --check --keep=kept; do
		# shellcheck disable=SC2086
		TMPDIR=/dev/full npucc "${target[@]}" $o -o m.h m.tflite 2>/dev/null
		rm -rf kept
		nothing_but m.h m.tflite
	done
	TMPDIR=/dev/full npucc "${target[@]}" --check -o - - <m.tflite 2>/dev/null >out
	nothing_but m.h m.tflite out
	rm out
	# closed standard streams
	npucc "${target[@]}" -o m.h m.tflite <&- >&- 2>&-
	status=0
	npucc "${target[@]}" -o m.h <&- 2>err || status=$?
	[ $status = 2 ]
	rm err
	nothing_but m.h m.tflite
}

@test "a full disk does not damage existing files" {
	cp "$model" m.tflite
	mkdir kept
	local f
	for f in m.h m.tflite m_npu.tflite manifest.json; do echo "old $f" >"kept/$f"; done
	echo old >out.h
	cp -r kept before
	local k
	for k in 1 20 40 60; do
		status=0
		(ulimit -f $k && trap '' XFSZ && exec npucc "${target[@]}" \
			--keep=kept -o out.h m.tflite) 2>err || status=$?
		[ $status = 2 ]
		grep -q 'File too large' err
		# the file that cannot be written, not the input of the same name
		grep -qE ': (kept/|out\.h)[^ ]*: error: File too large' err
		diff -r before kept
		[ "$(cat out.h)" = old ]
	done
	# if one name cannot be replaced, all other names keep their old files
	rm out.h
	mkdir kept/report.txt
	cp -r kept/. before/
	rm -rf before/report.txt
	mkdir before/report.txt
	status=0
	npucc "${target[@]}" --keep=kept -o out.h m.tflite 2>err || status=$?
	[ $status = 2 ]
	diff -r before kept
	[ ! -e out.h ]
	rm err
	nothing_but before kept m.tflite
}

@test "file names may contain newlines and quotes, and may have 250 bytes" {
	local long odd=$'a\nb "c" \\d'
	long=$(printf 'n%.0s' {1..243})
	cp "$model" "$odd.tflite"
	npucc "${target[@]}" --keep=kept -o "$odd.h" "$odd.tflite"
	jq -j '.files[0].name' kept/manifest.json >name
	printf '%s' "$odd.tflite" | cmp - name
	[ -e "kept/$odd.wenc" ]
	[ -s "$odd.h" ]
	rm -r kept
	cp "$model" "$long.tflite"
	npucc "${target[@]}" --check --keep=kept -o "${long}_long.h" "$long.tflite"
	[ -s "${long}_long.h" ]
	[ "$(jq '.files | length' kept/manifest.json)" = 15 ]
	jq -r '.files[] | .sha256 + "  kept/" + .name' kept/manifest.json |
		sha256sum -c --quiet
	jq -e '.options | keys_unsorted == ["quantize", "cut", "quantcheck", "partition",
		"sched", "wenc", "cmdgen", "tfl2c"]' kept/manifest.json
}

@test "the header does not depend on --check and --keep" {
	cp "$model" m.tflite
	npucc "${target[@]}" --dialect=xxd -o a.h m.tflite
	npucc "${target[@]}" --dialect=xxd --check -o b.h m.tflite
	npucc "${target[@]}" --dialect=xxd --keep=kept -o c.h m.tflite
	cmp a.h b.h
	cmp a.h c.h
	cmp a.h kept/m.h
}

@test "--help, --usage and --version work as in the other programs" {
	npucc --help | grep -q '^Usage: npucc'
	npucc --usage | grep -q '^Usage: npucc'
	[ "$(npucc --version)" = "npucc (nputools) $(sed -n \
		's/^VERSION := //p' "$TOP/Makefile")" ]
	refuses 2 "unrecognized option '--no-such-option'" \
		npucc --no-such-option
}

@test "npucc and a pipeline of the real stages write the same bytes" {
	npucc "${target[@]}" -o npu.tflite "$model"
	tfl-quantcheck --pass "$model" | tfl-partition -a ethos-u55-128 |
		npu-sched "${target[@]}" | npu-wenc | npu-cmdgen -o pipe.tflite
	cmp npu.tflite pipe.tflite
	npucc "${target[@]}" -o - - <"$model" >stdin.tflite
	cmp npu.tflite stdin.tflite
	# names that open another file in each stage, or no file
	npucc "${target[@]}" -o dev.tflite /dev/stdin <"$model"
	cmp npu.tflite dev.tflite
	npucc "${target[@]}" -o fifo.tflite <(cat "$model")
	cmp npu.tflite fifo.tflite
	npucc "${target[@]}" -n net -o net.h "$model"
	tfl2c -n net -o want.h npu.tflite
	cmp net.h want.h
}

@test "--check verifies the result, and --keep keeps all files" {
	npucc "${target[@]}" --check --keep=kept -n net -o net.h "$model"
	ls kept >names
	printf '%s\n' digits.h digits.part digits.sched digits.tflite \
		digits.wenc digits_npu.tflite front.json manifest.json partition.txt \
		report.csv report.html report.json report.txt report.yaml \
		summary.csv trace.json | cmp - names
	# layer names, also if the compiled model has no source map
	npucc "${target[@]}" --no-map --keep=nomap -n net "$model"
	for f in report.csv report.html report.json report.yaml trace.json; do
		grep -q dw1 kept/$f
		cmp kept/$f nomap/$f
	done
	run ! grep -q nputools.map nomap/digits_npu.tflite
	grep -qx 'Network summary for digits' kept/report.txt
	# the fastest plan is a point of the Pareto front, and the page contains all points
	npucc "${target[@]}" --within=0 --keep=fastest "$model"
	jq -se '.[0] as $r | .[1].front | length > 3 and any(.[];
		.sram == $r.sram_bytes and (.cycles | round) == $r.calibrated_cycles)' \
		fastest/report.json kept/front.json
	[ "$(jq '.front | length' kept/front.json)" = \
		"$(sed -n '/id="data"/,/<\/script>/p' kept/report.html | sed '1d;$d' |
			jq '.points | length')" ]
	npucc "${target[@]}" --model=robust --keep=robust "$model"
	cmp kept/front.json robust/front.json
	npucc --front --part=alif-e7-he "$model" >named
	npucc --front --part=alif-e7-he <"$model" | cmp - named
	refuses 2 "--front and --explain exclude --keep" npucc "${target[@]}" --front --keep=x \
		"$model"
	cmp net.h kept/digits.h
	cmp kept/digits.tflite "$model"
	jq -e '.timeline_cycles > 0' kept/report.json
	jq -r '.files[] | .sha256 + "  kept/" + .name' kept/manifest.json |
		sha256sum -c --quiet
	jq -e '.options.sched[0] == "--accelerator-config=ethos-u55-128"' \
		kept/manifest.json
	npucc "${target[@]}" --keep=again -n net "$model"
	diff -r kept again
	# options before the stages; -q changes no file
	npucc "${target[@]}" --cut-outputs=dw1 --keep=cut "$model" 2>/dev/null
	jq -e '.options | .cut == ["--cut-outputs=dw1"] and .quantize == []' cut/manifest.json
	npucc -q "${target[@]}" --cut-outputs=dw1 --keep=again "$model"
	cmp cut/manifest.json again/manifest.json
}

@test "a kept directory has the curve of all plans, also beside --keep-plan and --plan" {
	npucc "${target[@]}" --keep=free "$model"
	npucc "${target[@]}" --keep=kept --keep-plan=plan "$model"
	npucc "${target[@]}" --keep=made --plan=plan "$model"
	[ "$(ls kept)" = "$(ls free)" ]
	[ "$(ls made)" = "$(ls free)" ]
	cmp kept/front.json free/front.json
	cmp made/front.json free/front.json
	cmp made/digits_npu.tflite free/digits_npu.tflite
}

@test "the manifest describes the network inputs and outputs" {
	npucc "${target[@]}" --keep=kept "$model"
	jq -e '.batch == 1 and .inputs == [{ name: "picture", type: "INT8",
		shape: [1, 28, 28, 1], bytes: 784, layout: "NHWC",
		arena_offset: .inputs[0].arena_offset,
		quantization: { scale: [0.003921569], zero_point: [-128] } }] and
		(.outputs | length) == 1' kept/manifest.json
	# the offsets are those in the header
	for i in INPUT:inputs OUTPUT:outputs; do
		want=$(sed -n "s/^#define .*_${i%:*}_0_ARENA_OFFSET \([0-9]*\).*/\1/p" \
			kept/digits.h)
		[ -n "$want" ]
		jq -e ".${i#*:}[0].arena_offset == $want" kept/manifest.json
	done
}

@test "--keep=FILE.tar.gz has the directory in one file, with the same bytes every time" {
	cp "$model" m.tflite
	npucc "${target[@]}" --keep=kept m.tflite
	npucc "${target[@]}" --keep=a.tar.gz m.tflite
	gzip -t a.tar.gz
	mkdir x
	tar -C x -xzf a.tar.gz
	diff -r kept x/m
	sleep 1
	npucc "${target[@]}" -j1 --keep=sub/b.tar.gz -o out.tflite m.tflite
	cmp a.tar.gz sub/b.tar.gz
	cmp out.tflite kept/m_npu.tflite
	# no times and no owners
	[ -z "$(TZ=UTC tar -tvzf a.tar.gz --numeric-owner |
		grep -v ' 0/0 .* 1970-01-01 00:00 ')" ]
	# the archive has less than half the size of the files
	[ "$(wc -c <a.tar.gz)" -lt $(($(cat kept/* | wc -c) / 2)) ]
	# a name of more than 100 bytes
	long=$(printf 'n%.0s' {1..200})
	cp m.tflite "$long.tflite"
	npucc "${target[@]}" --keep=long.tar.gz "$long.tflite"
	tar -tzf long.tar.gz | grep -x "$long/$long.wenc"
	# the model may be standard input, or in the directory of --keep, where it stays as it is
	npucc "${target[@]}" --keep=piped <m.tflite
	cmp piped/model_npu.tflite kept/m_npu.tflite
	cp -r kept inside
	chmod 400 inside/m.tflite
	npucc "${target[@]}" --keep=inside inside/m.tflite
	diff -r inside kept
	[ "$(stat -c %a inside/m.tflite)" = 400 ]
	npucc "${target[@]}" --keep=inside -o inside/m_npu.tflite m.tflite
	diff -r inside kept
	# an old archive stays if a stage fails
	cp a.tar.gz before
	printf 'no model' >bad.tflite
	run ! npucc "${target[@]}" --keep=a.tar.gz bad.tflite
	cmp a.tar.gz before
	rm -r a.tar.gz before
	mkdir a.tar.gz
	refuses 2 'a.tar.gz: error: is a directory' npucc "${target[@]}" \
		--keep=a.tar.gz m.tflite
}

@test "a model that is not fully integer gives status 1, the reason, and no output" {
	need flatc jq
	jq '.subgraphs[0].tensors[0].type = 0' "$TOP/tests/models/fc.json" \
		>float.json
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" float.json
	refuses 1 "interface-float" npucc "${target[@]}" -o out.h float.tflite
	[ ! -e out.h ]
}

@test "for a model that is not fully integer, a note says where operators would run with --allow" {
	need flatc jq
	# integers, then DEQUANTIZE, ABS and QUANTIZE, then ABS of floats
	jq '.operator_codes += [{deprecated_builtin_code:114,builtin_code:114,version:1},
			{deprecated_builtin_code:6,builtin_code:6,version:1},
			{deprecated_builtin_code:101,builtin_code:101,version:1}]
		| .subgraphs[0].tensors += [{shape:[1,2],type:0,name:"a"},{shape:[1,2],type:0,name:"b"},
			{shape:[1,2],type:0,name:"c"}]
		| .subgraphs[0].outputs = [3, 6]
		| .subgraphs[0].operators += [{opcode_index:2,inputs:[3],outputs:[4]},
			{opcode_index:3,inputs:[4],outputs:[5]},{opcode_index:3,inputs:[5],outputs:[6]}]' \
		"$TOP/tests/models/fc.json" >mid.json
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" mid.json
	run npucc "${target[@]}" -o out.tflite mid.tflite
	[ "$status" -eq 1 ]
	[ ! -e out.tflite ]
	local allow
	allow=$(sed -n 's/.*; \(--allow=[a-z,-]*\) lets it pass$/\1/p' <<<"$output")
	[ "${lines[-1]}" = "npucc: note: mid.tflite: with --allow, 1 of 4 operators on the NPU in 1 region, 3 on the CPU" ]
	# a model in a pipe is gone: there is no such note
	run npucc "${target[@]}" -o out.tflite <mid.tflite
	[ "$status" -eq 1 ]
	[[ "${lines[-1]}" == "tfl-quantcheck: standard input: error: not fully integer: "* ]]
	# with --check the pipe was copied to a file: the note appears
	run npucc "${target[@]}" --check -o out.tflite <mid.tflite
	[[ "${lines[-1]}" == "npucc: note: standard input: with --allow, 1 of 4 "* ]]
	npucc "${target[@]}" "$allow" -o out.tflite mid.tflite
	[ -s out.tflite ]
	# nor for a model that --allow does not help: LOG_SOFTMAX has a fixed output scale
	jq '.operator_codes += [{deprecated_builtin_code:50,builtin_code:50,version:1}]
		| .subgraphs[0].tensors += [{shape:[1,2],type:9,name:"log",
			quantization:{scale:[0.05],zero_point:[127]}}]
		| .subgraphs[0].outputs = [4]
		| .subgraphs[0].operators += [{opcode_index:1,inputs:[3],outputs:[4]}]' \
		"$TOP/tests/models/fc.json" >log.json
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" log.json
	refuses 1 "the later stages refuse output-quantization, too" \
		npucc "${target[@]}" -o no.tflite log.tflite
	[[ $(cat refuses.err) != *"with --allow"* ]]
	refuses 2 "operator 1 (LOG_SOFTMAX), tensor 4 (log) can't run on the CPU" \
		npucc "${target[@]}" --allow=output-quantization -o no.tflite log.tflite
}

# fc.json followed by a float operator that is unknown
float_end()
{
	need flatc jq
	jq '.operator_codes += [{deprecated_builtin_code:32,builtin_code:32,custom_code:"Post"}]
		| .subgraphs[0].tensors += [{shape:[1,2],type:0,name:"boxes"}]
		| .subgraphs[0].outputs = [4]
		| .subgraphs[0].operators += [{opcode_index:1,inputs:[3],outputs:[4]}]' \
		"$TOP/tests/models/fc.json" >float.json
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" float.json
}

@test "allowed operators are compiled, and a warning names the operators that run on the CPU" {
	float_end
	npucc "${target[@]}" --allow=float-operator,interface-float \
		-o out.tflite float.tflite 2>err
	grep -qx 'tfl-partition: warning: float.tflite: operator 1 (Post) stays on the CPU: custom operator, for which the application must register a kernel' err
	[ "$(npu-dis --verify out.tflite | wc -l)" = 1 ]
	refuses 1 "(Post): custom operator" npucc "${target[@]}" --fail-on-cpu \
		--allow=float-operator,interface-float -o no.tflite float.tflite
	[ ! -e no.tflite ]
}

@test "a model without NPU operators is compiled to itself" {
	float_end
	# a tensor's name is not taken for an operator's name
	sed 's/weights/ethos-u/' float.tflite >named.tflite
	cmp -s float.tflite named.tflite && false
	mv named.tflite float.tflite
	npucc "${target[@]}" --keep=kept --cpu=FULLY_CONNECTED \
		--allow=float-operator,interface-float -o out.tflite float.tflite 2>err
	grep -qx 'tfl-partition: warning: float.tflite: nothing runs on the NPU' err
	cmp out.tflite kept/float_npu.tflite
	[ "$(jq -r '.files[].name' kept/manifest.json | grep -c report)" = 0 ]
	npucc "${target[@]}" --check --cpu=FULLY_CONNECTED -o fc.tflite \
		"$BATS_TEST_DIRNAME/models/digits.tflite" --cpu=CONV_2D \
		--cpu=DEPTHWISE_CONV_2D --cpu=AVERAGE_POOL_2D --cpu=SOFTMAX \
		--cpu=MEAN --cpu=RESHAPE --cpu=MAX_POOL_2D --cpu=ADD 2>err
	grep -q '^npucc: checked: fc.tflite: ' err
}

@test "--check says what it compared; comparing only the inputs of an operator is not enough" {
	npucc "${target[@]}" --check -o out.tflite "$model" 2>err
	[ "$(grep -c ^npucc err)" = 1 ]
	grep -qx "npucc: checked: out.tflite: command streams verified; 1 output equal to the original model's, byte for byte, for 5 inputs: 2 random, least, greatest, alternating" err
	npucc "${target[@]}" --check --keep=kept -o out.h "$model" 2>err
	grep -q "^npucc: checked: digits_npu.tflite: command streams verified; 1 output" err
	# the model's output is FLOAT32, that of the network is not
	ends ends
	npucc "${target[@]}" --check --integer-io -o out.tflite ends.tflite 2>err
	grep -q "1 output equal to the original model's before DEQUANTIZE, as integers, byte for byte, for" err
	npucc "${target[@]}" --check -o out.tflite ends.tflite 2>err
	grep -q "1 output equal to the original model's, byte for byte, for" err
	float_end
	local o
	for o in "-o new.tflite" "-o new.h" "--keep=new" "-o -"; do
		# shellcheck disable=SC2086
		refuses 1 "npu-sim: error: output 0 is not compared, only the inputs of an operator that npu-sim can't run: " \
			npucc "${target[@]}" --check $o \
			--allow=float-operator,interface-float float.tflite
		[ "$(grep -c '^npu-sim' refuses.err)" = 1 ]
		[ -z "$(ls -d new* .npucc* 2>/dev/null)" ]
	done
	# a result that is no network output may have any value
	jq '.subgraphs[0].outputs = [3]' float.json >kept.json
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" kept.json
	npucc "${target[@]}" --check --allow=float-operator,interface-float \
		-o out.tflite kept.tflite 2>err
	grep -q '^npucc: checked: ' err
}

@test "--check finds a stream that computes other values" {
	mkdir fake
	cp "$BIN"/npucc "$BIN"/tfl-* "$BIN"/npu-* fake/
	mv fake/npu-cmdgen fake/real
	local place
	# the compiled model with another weight for the last class, or with another stream
	printf '%s\n' '#!/bin/bash' 'for out; do :; done' '"${0%/*}/real" "$@"' \
		'printf "\\x7f" | dd of="$out" bs=1 conv=notrunc status=none seek=$(cat place)' \
		>fake/npu-cmdgen
	chmod +x fake/npu-cmdgen
	npucc "${target[@]}" -o good.tflite "$model"
	place=$(grep -obUa -m 1 COP1 good.tflite | cut -d: -f1)
	echo $((place + 100)) >place
	status=0
	fake/npucc "${target[@]}" --check -o out.tflite "$model" 2>err || status=$?
	[ $status != 0 ]
	grep -q '^npu-dis: out.tflite: ' err
	[ ! -e out.tflite ]
}

@test "--fail-on-cpu and a missing memory system are errors" {
	refuses 1 SOFTMAX npucc "${target[@]}" --fail-on-cpu --cpu=SOFTMAX \
		-o out.h "$model"
	refuses 2 "--system-config is required" \
		npucc -a ethos-u55-128 --memory-mode=Shared_Sram -o out.h "$model"
	[ ! -e out.h ]
}

@test "npu.mk makes the same files, and remakes only files that changed" {
	cp "$model" digits.tflite
	cat >Makefile <<END
NPU_ACCELERATOR := ethos-u55-128
NPU_SYSTEM := RTSS_HE_SRAM_MRAM
NPU_MEMORY ?= Shared_Sram
include $TOP/scripts/npu.mk
END
	make -s digits.h digits.perf
	npucc "${target[@]}" -n digits -o want.h digits.tflite
	cmp digits.h want.h
	grep -q 'Timeline' digits.perf
	make digits.h | tee log
	[ "$(grep -c '^npu-\|^tfl' log)" = 0 ]
	make NPU_MEMORY=Sram_Only digits.h | tee log
	grep -q npu-sched log
	[ "$(grep -c tfl-partition log)" = 0 ]
}

@test "--verbose-all prints the lists of each stage, stage after stage" {
	cp "$model" m.tflite
	npucc "${target[@]}" --verbose-all -o m_npu.tflite m.tflite 2>all
	{
		tfl-partition -a ethos-u55-128 --verbose-operators -o m.part m.tflite
		npu-sched "${target[@]}" --verbose-config --verbose-graph \
			--verbose-allocation -o m.sched m.part
		npu-wenc --verbose-allocation -o m.wenc m.sched
		npu-cmdgen --verbose-allocation --verbose-high-level-command-stream \
			--verbose-register-command-stream -o by_hand.tflite m.wenc
	} 2>each
	cmp by_hand.tflite m_npu.tflite
	diff <(sort each) <(sort all)
	grep -q NPU_SET_IFM_BASE0 all
}

# operands of drawn operations, in the order that the generation takes them
@test "the operations of drawn networks are listed for each generation" {
	local seed a system
	for seed in 900004 900017; do
		"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model" -g $seed >m.tflite
		for a in ethos-u55-32 ethos-u65-512 ethos-u85-256; do
			case $a in
			*u55*) system=(--system-config Ethos_U55_High_End_Embedded) ;;
			*u65*) system=(--system-config Ethos_U65_High_End) ;;
			*) system=(--system-config Ethos_U85_SYS_Flash_High) ;;
			esac
			npucc -a $a "${system[@]}" --memory-mode Shared_Sram --verbose-all \
				-o m_npu.tflite m.tflite 2>all
			grep -q '^         name=' all
		done
	done
	npucc -a ethos-u85-256 "${system[@]}" --memory-mode Shared_Sram --verbose-all \
		-o m_npu.tflite "$model" 2>all
	# 35 - count of leading zeros, in SOFTMAX
	grep -A1 '^ *IFM: scalar=35$' all | grep -q '^ *IFM2: h=1,w=1,c=1, .*INT32'
}

@test "an error while writing constants names the output" {
	local out
	for out in out.tflite -; do
		(ulimit -f 1; npucc "${target[@]}" --check -o $out "$model" 2>err >piped) && return 1
		tail -1 err
		[ "$(tail -1 err)" = "npu-wenc: ${out/#-/standard output} (its constants): error: File too large" ]
	done
	[ ! -e out.tflite ]
}

@test "a file too short for a model is called too short, whatever its first bytes are" {
	local n p
	for n in 0 1 7 8 9 11; do
		local words="$n bytes are too few for a TFLite model"
		[ $n != 0 ] || words="empty, not a TFLite model"
		[ $n != 1 ] || words="1 byte is too few for a TFLite model"
		head -c $n "$model" >short.tflite
		for p in "npucc --part=alif-e7-he" tfl-quantcheck npu-sim npu-dis tfl2c npu-perf tfl-partition; do
			# shellcheck disable=SC2086
			refuses 2 "short.tflite: error: $words; export or download it again" $p short.tflite
		done
	done
}

@test "a model of another tool is recognised, and the message names the conversion" {
	# foreign NAME CONTENT WHAT
	foreign() {
		printf "$2" >"$1"
		refuses 2 "$1: error: not a TFLite model but $3" npucc "${digits[@]}" -o no.tflite "$1"
		[ "$(wc -l <refuses.err)" = 1 ]
		[ ! -e no.tflite ]
	}
	digits=(-a ethos-u55-128 --system-config RTSS_HE_SRAM_MRAM --memory-mode Shared_Sram)
	foreign m.pte '\0\0\0\0ET12aaaaaaaa' "an ExecuTorch program; compile the TOSA graph"
	foreign m.onnx '\x08\x09\x12\x07pytorch' "an ONNX model; convert it with onnx2tf"
	foreign m.h5 '\x89HDF\r\n\x1a\naaaa' "a Keras model in an HDF5 file; convert it with"
	foreign m.pt 'PK\x03\x04aaaaaaaa' "a PyTorch model; export it"
	foreign m.pth 'PK\x03\x04aaaaaaaa' "a PyTorch model; export it"
	foreign old.pth '\x80\x02\x8a\x0al\xfc\x9cF\xf9\x20j\xa8P\x19.' "a PyTorch model; export it"
	for p in npu-sim tfl2c npu-perf npu-dis npu-report mkinput; do
		for f in m.pth old.pth; do
			refuses 2 "$f: error: not a TFLite model but a PyTorch model; export" "$p" "$f"
		done
	done
	foreign m.keras 'PK\x03\x04aaaaaaaa' "a Keras model; convert it with"
	foreign saved_model.pb '\x08\x01aaaaaaaaaa' "a TensorFlow SavedModel; convert it with"
	foreign m.tflite 'version https://git-lfs.github.com/spec/v1\n' "a Git LFS pointer; fetch"
	foreign m.tflite '<!DOCTYPE html><html>' "a web page; download the file"
	foreign m.npz 'PK\x03\x04aaaaaaaa' "NumPy arrays; npu-sim -i reads"
	foreign m.zip 'PK\x03\x04aaaaaaaa' "a ZIP archive; unpack it"
	foreign m.tflite.gz '\x1f\x8b\x08aaaaaaaaa' "a gzip archive; unpack it"
	foreign m.png '\x89PNG\r\n\x1a\naaaa' "a picture; mkinput converts it"
	foreign m.safetensors '\x10\x00\x00\x00\x00\x00\x00\x00{}aa' "weights without a network"
	mkdir saved
	touch saved/saved_model.pb
	refuses 2 "saved: error: a TensorFlow SavedModel; convert it" npucc "${digits[@]}" \
		-o no.tflite saved
	# the file name alone does not make a model one of another tool
	cp "$BATS_TEST_DIRNAME/models/digits.tflite" digits.onnx
	npucc "${digits[@]}" -o yes.tflite digits.onnx
	[ -s yes.tflite ]
}
