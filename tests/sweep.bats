# SPDX-License-Identifier: Apache-2.0
# npu-sweep's store and engines: the same table, whoever computed the results, whatever
# happened meanwhile.

load lib/common

model=$BATS_TEST_DIRNAME/models/digits.tflite
memory=(--system-config=Ethos_U55_High_End_Embedded --memory-mode=Shared_Sram)

# sweep ARGUMENT...: two models, one of them broken, for a U55, a U65 and a U85
sweep()
{
	[ -e good.tflite ] ||
		"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model" conv 3 8 8 >good.tflite
	[ -e bad.tflite ] || head -c 1000 good.tflite >bad.tflite
	npu-sweep "${memory[@]}" -a ethos-u55-64,ethos-u65-256,ethos-u85-256 --limits=2 \
		"$@" good.tflite bad.tflite
}

# answers STATUS COMMAND...
answers()
{
	local want=$1 status=0
	shift
	"$@" || status=$?
	[ $status = "$want" ] || { echo "$*: status $status"; return 1; }
}

# expected: makes want and want.json, the tables of a sweep here.  The sweep is computed once
# for all tests; its store is $once/r.
once=$BATS_FILE_TMPDIR/once
expected()
{
	if [ ! -e "$once/want.json" ]; then
		mkdir -p "$once"
		(cd "$once" && answers 2 sweep --results=r -o want 2>err) || return
		answers 2 sweep --results="$once/r" --merge --json -o "$once/want.json" 2>log || return
		grep -qF '9 of 18 jobs failed; the first: tfl-quantcheck: bad.tflite: error: ' "$once/err" || return
	fi
	cp "$once"/want* "$once"/*.tflite .
}

# programs DIR: the kit in DIR, whose npucc is a script of standard input.  It may run
# the real one, "$npucc".
programs_with()
{
	mkdir "$1"
	cp "$BIN"/* "$1"
	mv "$1/npucc" "$1/npucc.real"
	{ printf '#!/bin/bash\nnpucc=%q\n' "$PWD/$1/npucc.real" && cat; } >"$1/npucc"
	chmod +x "$1/npucc"
}

# computes_the_same ENGINE: as a sweep here does.  A quick run only writes the tasks of make,
# whose jobs are those of ninja.
computes_the_same()
{
	expected
	sweep --results=r --emit="$1" --jobs-per-task=4 -o tasks
	[ "$1" != make ] || [ -z "${NPUTOOLS_QUICK-}" ] || return 0
	"$1" -f tasks -j2 >log
	answers 2 sweep --results=r --merge --json 2>err | cmp want.json -
	# nothing is left to do
	"$1" -f tasks -j2 >log
	[ -z "$(grep run-jobs log)" ]
	sweep --results=r --emit=jsonl >left
	[ ! -s left ]
	# a table of the plan alone
	answers 2 npu-sweep --plan="$(echo r/plans/*)" --results=r --limits=2 --merge --json \
		2>err | cmp want.json -
}

@test "ninja computes what a sweep here does" {
	need ninja
	computes_the_same ninja
}

@test "make computes what a sweep here does" {
	computes_the_same make
}

@test "lines of a plan, in any order and number, are plans" {
	need jq
	expected
	sweep --emit=jsonl >plan
	[ "$(jq -r .job plan | paste -sd ' ')" = "$(seq -s ' ' 18)" ]
	tac plan | split -l 5 - part.
	local part
	for part in part.*; do
		npu-sweep --plan=- --results=r --run-jobs=all <"$part"
	done
	answers 2 sweep --results=r --merge --json 2>err | cmp want.json -
}

# slurm_conf: a controller and two nodes on this machine, without anybody else's help
slurm_conf()
{
	local host me node port=$((20000 + 3 * ($$ % 5000))) # other tests may run beside this
	host=$(hostname -s) me=$(id -un)
	mkdir state
	cat <<-END
	ClusterName=sweep
	SlurmctldHost=$host(127.0.0.1)
	SlurmUser=$me
	SlurmdUser=$me
	AuthType=auth/none
	CredType=cred/none
	SlurmctldPort=$port
	SlurmctldPidFile=$PWD/ctld.pid
	SlurmdPidFile=$PWD/%n.pid
	SlurmdSpoolDir=$PWD/spool.%n
	StateSaveLocation=$PWD/state
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	SelectType=select/cons_tres
	SelectTypeParameters=CR_Core
	JobAcctGatherType=jobacct_gather/none
	MpiDefault=none
	SchedulerParameters=sched_interval=1,batch_sched_delay=0
	PartitionName=all Nodes=n1,n2 Default=YES State=UP
	END
	for node in 1 2; do
		echo "NodeName=n$node NodeHostname=$host NodeAddr=127.0.0.1" \
			"Port=$((port + node)) CPUs=1 State=UNKNOWN"
	done
}

# run_slurm SCRIPT: on a cluster that is started and stopped here
run_slurm()
{
	local status=0 pids=()
	export SLURM_CONF=$PWD/slurm.conf
	slurm_conf >slurm.conf
	slurmctld -D -c >ctld.log 2>&1 3>&- &
	pids+=($!)
	for node in n1 n2; do
		slurmd -D -N $node >$node.log 2>&1 3>&- &
		pids+=($!)
	done
	for _ in $(seq 100); do
		[ "$(sinfo -h -t idle -o %D 2>/dev/null)" != 2 ] || break
		sleep 0.1
	done
	timeout 100 sbatch --wait -o %a.out "$1" || status=$?
	kill "${pids[@]}"
	wait "${pids[@]}" || :
	return $status
}

@test "Slurm computes what a sweep here does" {
	need slurmctld slurmd sbatch sinfo
	expected
	sweep --results=r --emit=slurm --jobs-per-task=3 -o sweep.sh
	bash -n sweep.sh
	run_slurm sweep.sh >log 2>&1 || { cat log ctld.log ./*.out; false; }
	[ "$(find . -maxdepth 1 -name '*.out' | wc -l)" = 6 ]
	answers 2 sweep --results=r --merge --json 2>err | cmp want.json -
}

@test "a task of Slurm's array, without Slurm" {
	expected
	sweep --results=r --emit=slurm --jobs-per-task=9 -o sweep.sh
	grep -qx '#SBATCH --array=0-1' sweep.sh
	# the stored plan serves another engine, too
	npu-sweep --plan="$(echo r/plans/*.jsonl)" --results=r --emit=make -o again.mk
	SLURM_ARRAY_TASK_ID=0 bash sweep.sh
	SLURM_ARRAY_TASK_ID=1 bash sweep.sh
	answers 2 sweep --results=r --merge --json 2>err | cmp want.json -
	refuses 1 "of an array of Slurm" bash sweep.sh
	# an array of no more tasks than Slurm takes
	tee m{1..700}.tflite <"$model" >log
	for i in {1..700}; do
		echo "$i" >>m$i.tflite
	done
	npu-sweep "${memory[@]}" -a ethos-u55-64 --emit=slurm --jobs-per-task=1 \
		m{1..700}.tflite >many.sh
	grep -qx '#SBATCH --array=0-[0-9]\{3\}' many.sh
}

@test "killed ten times, and resumed" {
	expected
	local i delay pid
	for i in 1 2 3 4 5 6 7 8 9 10; do
		delay=0.0$((RANDOM % 90 + 10))
		sweep --results=r -j1 >have 2>err &
		pid=$!
		sleep $delay
		# npu-sweep itself: the function is its parent
		kill -KILL "$(pgrep -P $pid npu-sweep)" $pid 2>/dev/null || :
		wait $pid || :
	done
	answers 2 sweep --results=r 2>err | cmp want -
	[ -z "$(grep damaged err)" ]
	[ "$(find r -name '*.json' | wc -l)" = 18 ]
	# Ctrl-C: the programs end, the results stay
	rm -r r
	programs_with slow <<-'END'
	[[ "$*" != *--front* ]] || sleep 60
	exec "$npucc" "$@"
	END
	slow/npu-sweep "${memory[@]}" -a ethos-u55-64 --results=r -j3 "$model" 2>err &
	pid=$!
	while [ "$(find r -name '*.json' 2>/dev/null | wc -l)" != 2 ]; do
		sleep 0.05
	done
	kill -TERM $pid
	answers 143 wait $pid
	# a result is stored before it is counted
	grep -q 'stopped with [12] of 3 jobs done; the same command continues the sweep' err
	[ -z "$(find r -name '.nputools*')" ]
}

@test "two sweeps fill one store at once" {
	expected
	sweep --results=r -o one 2>err1 &
	sweep --results=r -o two 2>err2 || :
	wait $! || :
	cmp want one
	cmp want two
	[ "$(find r -name '*.json' | wc -l)" = 18 ]
	[ -z "$(find r -name '.nputools*')" ]
}

@test "damaged results are computed again" {
	expected
	cp -r "$once/r" .
	local files
	mapfile -t files < <(find r -name '*.json' | sort)
	sed -i 's/"sram": [0-9]*/"sram": 1/' "${files[0]}"
	truncate -s 100 "${files[1]}"
	: >"${files[2]}"
	cp "${files[4]}" "${files[3]}"
	head -c 5000 /dev/urandom >"${files[5]}"
	sweep --results=r --dry-run >commands 2>err
	[ "$(wc -l <commands)" = 5 ]
	grep -qF 'warning: r: 5 damaged results are computed again' err
	answers 2 sweep --results=r 2>err | cmp want -
	answers 2 sweep --results=r --merge 2>err | cmp want -
	[ -z "$(grep damaged err)" ]
}

@test "--gc removes what no sweep can use, and nothing else" {
	expected
	cp -r "$once/r" .
	local one
	one=$(find r -name '*.json' | head -1)
	truncate -s 10 "$one"
	touch r/aa.txt "${one%/*}/.nputools-new"
	touch -d '2000-01-01' "${one%/*}/.nputools-old"
	npu-sweep --gc --results=r >log
	[ "$(cat log)" = "removed: 1 temporary files, 1 damaged results, 0 results of other builds, 0 plans
kept: 18 files" ]
	[ -e r/aa.txt ] && [ ! -e "$one" ] && [ -e "${one%/*}/.nputools-new" ]
	answers 2 sweep --results=r 2>err | cmp want -
	# by other programs they are of no use
	programs_with other <<<'exec "$npucc" "$@"'
	other/npu-sweep --gc --results=r >log
	grep -q '18 results of other builds' log
	refuses 2 "--gc needs --results=DIR" npu-sweep --gc
	refuses 2 "nowhere: error: No such file" npu-sweep --gc --results=nowhere
}

@test "a full disk is said, and leaves nothing" {
	if mkdir disk && mount -t tmpfs -o size=32k none disk 2>/dev/null; then
		local status=0
		npu-sweep "${memory[@]}" -a ethos-u55-64,ethos-u55-128,ethos-u55-256 \
			--results=disk/r "$model" >out 2>err || status=$?
		find disk -name '.nputools*' >left
		umount disk
		cat err
		[ $status = 2 ] && [ ! -s out ] && [ ! -s left ]
		[ "$(wc -l <err)" = 1 ]
		grep -q '^npu-sweep: disk/r/.*: error: No space left on device$' err
	fi
	# a limit of files' sizes is one, too
	run bash -c 'ulimit -f 0; exec npu-sweep "$@"' sh "${memory[@]}" -a ethos-u55-64 \
		--results=r "$model"
	[ "$status" = 2 ]
	[[ "$output" = "npu-sweep: r/"*": error: File too large" ]]
	[ -z "$(find r -type f)" ]
}

@test "failures are results: crashes, timeouts, and another try" {
	programs_with bad <<-'END'
	case $* in
	*Size*) kill -SEGV $$ ;;
	*--front*) sleep 60 ;;
	esac
	exec "$npucc" "$@"
	END
	local line=(-a ethos-u55-64 --results=r --timeout=5 "$model")
	answers 2 bad/npu-sweep "${memory[@]}" "${line[@]}" >table 2>err
	cut -f2,8- table | diff - <(printf '%s\t%s\t%s\t%s\n' \
		optimise front status message \
		Performance '*' ok - \
		Front - timeout 'no result within 5 s' \
		Size - crashed 'npucc was ended by signal 11 (Segmentation fault)')
	grep -qx 'npu-sweep: error: 2 of 3 jobs failed; the first: npucc was ended by signal 11 (Segmentation fault)' err
	# by other programs they are other jobs
	npu-sweep "${memory[@]}" "${line[@]}" --dry-run >commands
	[ "$(wc -l <commands)" = 3 ]
	# nothing is computed again, unless that is asked for
	rm -r r bad
	programs_with bad <<-'END'
	[ ! -e broken ] || exit 3
	exec "$npucc" "$@"
	END
	touch broken
	answers 2 bad/npu-sweep "${memory[@]}" "${line[@]}" >table 2>err
	grep -qP '\tfailed\tnpucc ended with status 3 and without a message$' table
	rm broken
	answers 2 bad/npu-sweep "${memory[@]}" "${line[@]}" 2>err | cmp table -
	bad/npu-sweep "${memory[@]}" "${line[@]}" --retry >again
	npu-sweep "${memory[@]}" -a ethos-u55-64 "$model" | cmp again -
	# a machine that is full has no result
	programs_with full <<<'echo "npucc: x: error: No space left on device" >&2; exit 2'
	refuses 2 "npucc: x: error: No space left on device" full/npu-sweep "${memory[@]}" \
		"${line[@]}"
}

@test "--against finds what became worse" {
	npu-sweep "${memory[@]}" -a ethos-u55-64 --results=old --json -o old.json "$model"
	npu-sweep "${memory[@]}" -a ethos-u55-64 --results=old --against=old.json \
		"$model" >same
	[ "$(wc -l <same)" = 1 ]
	npu-sweep "${memory[@]}" -a ethos-u55-64 --results=old --against=old "$model" |
		cmp same -
	# 1.5 % fewer cycles then
	need jq
	local have want percent
	have=$(jq '.[] | select(.optimise == "Size" and .limit == null) | .cycles' old.json)
	want=$((have * 1000 / 1015))
	percent=$(awk "BEGIN { printf \"%.2f\", 100 * $have / $want - 100 }")
	jq "[.[] | if .optimise == \"Size\" then .cycles = $want else . end]" old.json >less
	answers 1 npu-sweep "${memory[@]}" -a ethos-u55-64 --results=old --against=less \
		"$model" >worse 2>err
	grep -qx 'npu-sweep: error: 1 results are worse than in less by more than 0 %' err
	[ "$(sed 1d worse)" = "$(printf '%s\t' digits Ethos_U55_High_End_Embedded \
		ethos-u55-64 Size - cycles $want "$have" "$percent")slower" ]
	npu-sweep "${memory[@]}" -a ethos-u55-64 --results=old --against=less \
		--tolerance=2 "$model" | cmp worse -
	answers 1 npu-sweep "${memory[@]}" -a ethos-u55-64 --results=old --against=less \
		--json "$model" 2>err | jq -e ".[0].percent == $percent" >log
	# faster is no fault, failing is
	jq '[.[] | .cycles *= 2]' old.json >more
	npu-sweep "${memory[@]}" -a ethos-u55-64 --results=old --against=more "$model" |
		grep -q 'faster$'
	mkdir broken
	head -c 1000 "$model" >broken/digits.tflite
	answers 1 npu-sweep "${memory[@]}" -a ethos-u55-64 --against=old.json \
		--tolerance=50 broken/digits.tflite >fails 2>err
	[ "$(grep -c 'fails: tfl-quantcheck: broken/digits.tflite: error' fails)" = 2 ]
	refuses 2 "not a table of npu-sweep --json" npu-sweep "${memory[@]}" \
		-a ethos-u55-64 --results=old --against=<(echo '{}') "$model"
	# a model or an accelerator that the old table does not have is not compared; the rest is
	cp "$model" renamed.tflite
	answers 1 npu-sweep "${memory[@]}" -a ethos-u55-64 --results=old --against=old.json \
		--tolerance=50 "$model" renamed.tflite >names 2>err
	[ "$(sed 1d names)" = "$(printf '%s\t' renamed Ethos_U55_High_End_Embedded ethos-u55-64 \
		- - status - - -)not compared" ]
	grep -qx 'npu-sweep: old.json: error: no result of renamed, Ethos_U55_High_End_Embedded, ethos-u55-64 to compare with' err
	answers 1 npu-sweep "${memory[@]}" -a ethos-u55-64,ethos-u55-128 --results=old \
		--against=old.json --json "$model" 2>err |
		jq -e 'map([.accelerator, .change]) == [["ethos-u55-128", "not compared"]]' >log
	# an old table that lacks a limit, or a model that fails in both, is no fault
	jq '[.[] | select(.limit == null)]' old.json >plans
	npu-sweep "${memory[@]}" -a ethos-u55-64 --results=old --against=plans "$model" |
		cmp same -
	answers 2 npu-sweep "${memory[@]}" -a ethos-u55-64 --json -o failed.json \
		broken/digits.tflite 2>err
	npu-sweep "${memory[@]}" -a ethos-u55-64 --against=failed.json broken/digits.tflite |
		cmp same -
}

@test "a page, a sentence, and the options of a compiled file" {
	npucc -a ethos-u65-256 "${memory[@]}" -o like.tflite "$model"
	npu-sweep --like=like.tflite --limits=1 --results=r "$model" >table
	[ "$(sed 1d table | cut -f1 | sort -u)" = ethos-u65-256 ]
	npu-sweep "${memory[@]}" -a ethos-u65-256 --limits=1 --results=r "$model" |
		cmp table -
	npu-sweep --like=like.tflite --results=r --pick "$model" >sentence
	[ "$(wc -l <sentence)" = 1 ]
	# the knee is worth its limit
	local limit
	limit=$(grep -oP '(?<=--arena-cache-size=)\d+' sentence)
	npucc -a ethos-u65-256 "${memory[@]}" --arena-cache-size="$limit" -o k.tflite "$model"
	npu-perf "${memory[@]}" --json k.tflite | grep -qF "\"sram_bytes\": $limit,"
	npu-sweep --like=like.tflite --results=r --html -o page.html "$model"
	grep -qF "$(cut -c1-60 sentence)" page.html
	# in the large picture and in the one for a telephone
	[ "$(grep -c 'class="knee"' page.html)" = 2 ]
	npu-sweep --like=like.tflite --results=r -o suffix.html "$model"
	cmp page.html suffix.html
	npu-sweep --like=like.tflite --results=r -o suffix.json "$model"
	npu-sweep --like=like.tflite --results=r --json "$model" | cmp - suffix.json
	[ -z "$(grep -i 'http' page.html)" ]
	# readable on a telephone and in the dark, with units
	grep -q 'name="viewport" content="width=device-width' page.html
	grep -q 'prefers-color-scheme: dark' page.html
	grep -qE '<text class="across"[^>]*>[0-9.]+ (KiB|bytes)<' page.html
	grep -qE '<text class="up"[^>]*>[0-9.]+ (µs|ms)<' page.html
	refuses 2 "the file contains no memory system" npu-sweep --like="$model" "$model"
}

@test "--pick takes half of the SRAM for 2 % of the time, and not for 3 %" {
	# a compiler whose fronts are the lines of the file front
	programs_with kit <<-'END'
		case " $* " in *" --front "*) cat front ;; *) exec "$npucc" "$@" ;; esac
	END
	local time want text
	while IFS=: read -r time want text; do
		printf '%s\n' "sram cycles" "7900 104000" "8000 $time" "16000 100000" "40000 99900" >front
		kit/npu-sweep "${memory[@]}" -a ethos-u55-128 --pick "$model" >sentence
		grep -q -- "take --arena-cache-size=$want with" sentence || { cat sentence; false; }
		grep -qF "$text" sentence || { cat sentence; false; }
	done <<-'END'
		101900:8000:which saves 50 % of the SRAM of the knee of the front and takes 1.9 % more time
		103000:16000:, the knee of the front:
	END
	# the last one: 0.1 %
	grep -q ' the fastest plan takes 40000 bytes and less than 1 % fewer cycles\.$' sentence
	# of two points, none is below the line: the smaller product of SRAM and time
	printf '%s\n' "sram cycles" "13000 400000" "15600 80000" >front
	kit/npu-sweep "${memory[@]}" -a ethos-u55-128 --pick "$model" | grep -q -- '--arena-cache-size=15600 '
	printf '%s\n' "sram cycles" "13000 400000" "99000 390000" >front
	kit/npu-sweep "${memory[@]}" -a ethos-u55-128 --pick "$model" | grep -q -- '--arena-cache-size=13000 '
}

@test "a limit does not move the knee" {
	programs_with kit <<-'END'
		case " $* " in *" --front "*) cat front ;; *) exec "$npucc" "$@" ;; esac
	END
	printf '%s\n' "sram cycles" "13000 310000" "13300 260000" "16000 66000" "20000 51000" "25000 48000" >front
	local limit want text
	while IFS=: read -r limit want text; do
		kit/npu-sweep --part=alif-e8-hp --pick "--max-$limit" "$model" | head -1 >sentence
		grep -q -- "take --arena-cache-size=$want with" sentence || { cat sentence; false; }
		grep -qF -- "$text" sentence || { cat sentence; false; }
	done <<-'END'
		sram=30000:16000:, the knee of the front: the smallest plan within the limits takes 13000 bytes
		sram=16000:16000:, the knee of the front: the smallest plan within the limits takes 13000 bytes
		sram=15999:13300:, the fastest plan within the limits, as the plan without limits takes 16000 bytes
		sram=13000:13000:: the smallest plan within the limits is also the fastest.
		ms=0.166:16000:, the knee of the front: the fastest plan within the limits takes 25000 bytes
		ms=0.164:20000:, the smallest plan within the limits, as the plan without limits takes 16000 bytes
	END
}

@test "a plan that is too large for a part is no candidate" {
	# SRAM, constants, streams and 4 KiB, in a memory of 256 KiB
	programs_with kit <<-'END'
		case " $* " in *" --front "*) cat front ;; *) exec "$npucc" "$@" ;; esac
	END
	printf 'sram\tcycles\tobjective\tchange\tflash\tstreams\n' >front
	printf '%s\t%s\t0\tx\t100000\t2000\n' 20000 9000 150000 5000 160000 4000 >>front
	kit/npu-sweep --part=alif-e8-he-tcm --front "$model" >table
	cut -f3-6 table | grep '000$' | diff - <(printf '%s\t%s\t~%s\t%s\n' 20000 20000 102000 9000 \
		150000 150000 102000 5000)
	[ -z "$(grep -P '\t160000\t' table)" ]
	kit/npu-sweep --part=alif-e8-he-tcm --pick "$model" | grep -qE 'take --arena-cache-size=(2|15)0000 '
}

@test "plans that are not ours, and models that have changed, are refused" {
	sweep --emit=jsonl -o plan
	printf 'x\n' >hostile
	refuses 2 "hostile:1: error: the line is not JSON" npu-sweep --plan=hostile \
		--results=r --run-jobs=all
	local change
	for change in 's/"goal": "[A-Z]/&x/' 's/"key": "./&z/' 's/"system": "[^"]*/"system": "/' \
		's/"model": "/&-/' 's/"build"/"x"/' 's/"memory_mode": "/&\\u000a/'; do
		sed "$change" plan >hostile
		refuses 2 "hostile:1: error: " npu-sweep --plan=hostile --results=r --run-jobs=1
	done
	: >hostile
	refuses 2 "the plan has no job" npu-sweep --plan=hostile --results=r --run-jobs=1
	cat plan plan >hostile
	refuses 2 "hostile:19: error: the plan has this job already" \
		npu-sweep --plan=hostile --results=r --run-jobs=1
	for change in 0 19 1-19 2-1 1,,2 x 1- 99999999999999999999; do
		refuses 2 "--run-jobs needs numbers from 1 to 18" \
			npu-sweep --plan=plan --results=r --run-jobs=$change
	done
	sed 's/"build": "./"build": "g/' plan >hostile
	refuses 2 hostile npu-sweep --plan=hostile --results=r --run-jobs=1
	printf x >>good.tflite
	refuses 2 "good.tflite: error: the model or an option of job 1 has changed since the plan was made" \
		npu-sweep --plan=plan --results=r --run-jobs=1
	programs_with other <<<'exec "$npucc" "$@"'
	refuses 2 "plan: error: the plan is for another build of the programs" \
		other/npu-sweep --plan=plan --results=r --run-jobs=1
	refuses 2 "a --results directory of letters, digits" sweep --results='a b' --emit=make
	[ ! -e r ] && [ ! -e 'a b' ]
}

@test "the example of an architecture search finds the best candidate" {
	need python3
	local tests=${NPUTOOLS_TESTBIN:-$TOP/build/tests} i
	for i in 1 2 3 4; do
		"$tests/gen-model" $i RELU >c$i.tflite
	done
	"$TOP/scripts/examples/search.py" 1000000 20 c?.tflite >found
	npu-sweep "${memory[@]}" -a ethos-u55-128 --results=search.results --limits=8 \
		c?.tflite >table || [ $? = 2 ]
	[ "$(cut -f2 found)" = "$(cut -f9 table | grep -v '[a-z-]' | sort -n | head -1 |
		sed 's/0*$//; s/\.$/.0/')" ]
	# nothing fits no memory
	[ "$("$TOP/scripts/examples/search.py" 1 2 c?.tflite | cut -f2)" = inf ]
}

# within COMMAND...: less than 5 s of a processor, and 200 MB
within()
{
	local TIMEFORMAT='%U %S'
	{ time (ulimit -v 200000 && exec "$@") 2>err; } 2>seconds
	cat seconds
	awk '{ exit $1 + $2 >= 5 }' seconds
}

@test "100,000 jobs are planned and merged in 5 s and 200 MB" {
	(ulimit -v 60000 && npu-sim --version >log) || skip "sanitizers need more"
	local names sweep
	names=$(sed -n 's/^ACCEL(.*"\(ethos-u[0-9-]*\)".*/\1/p' "$TOP/schema/target.def" |
		grep -v -- -u65-128 | head -11 | paste -sd,)
	sweep=(npu-sweep "${memory[@]}" -a "$names" --results=r)
	"${sweep[@]}" "$model" >one
	mkdir m
	# copies of the model: a program that makes links would start 3,031 times
	yes "$model" | head -3031 | xargs cat |
		split -b "$(stat -c %s "$model")" -d -a 4 --additional-suffix=.tflite - m/
	[ "$(tr , '\n' <<<"$names" | wc -l)" = 11 ]
	within "${sweep[@]}" --emit=jsonl --retry --results=none -o plan m/*
	[ "$(wc -l <plan)" = 100023 ]
	within npu-sweep --plan=plan --results=r --merge -o table
	[ "$(($(wc -l <table) - 1))" = $((3031 * ($(wc -l <one) - 1))) ]
	grep -P '^0007\t' table | cut -f3- | diff - <(sed 1d one)
	[ -n "${NPUTOOLS_ALL-}" ] || return 0
	within "${sweep[@]}" --emit=ninja -o build.ninja m/*
	within "${sweep[@]}" -o table2 m/*
	cmp table table2
}
