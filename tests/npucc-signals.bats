# SPDX-License-Identifier: Apache-2.0
# npucc is killed by signals at random times: no program continues, no temporary file is
# left, and existing files stay complete.

load lib/common

model=$BATS_TEST_DIRNAME/models/digits.tflite
target=(-a ethos-u55-128 --system-config RTSS_HE_SRAM_MRAM
	--memory-mode Shared_Sram)
TIMES=${TIMES-100} # 100 need some 10 s

# processes that npucc has started, among them npucc itself and its guard
marked()
{
	grep -lsz "^NPUCC_TEST=$BATS_TEST_TMPDIR$" /proc/[0-9]*/environ
}

# files that are neither outputs nor the test's own
leftovers()
{
	find . -mindepth 1 \( -name '.*' -o -path ./kept \) -print
}

# quiet SECONDS: within that time all processes have ended and no temporary file is left
quiet()
{
	local i
	for ((i = 0; i <= $1 * 100; i++)); do
		[ -n "$(marked)$(leftovers)" ] || return 0
		sleep 0.01
	done
	echo "after $2:"
	marked | while read -r f; do tr '\0' ' ' <"${f%environ}cmdline"; echo; done
	leftovers
	return 1
}

@test "signals at random times leave no process, no temporary file and no partial output" {
	[ -r /proc/self/environ ] || skip "no /proc"
	npucc "${target[@]}" -o want.tflite "$model"
	RANDOM=${SEED-1}
	local kinds=(TERM HUP INT KILL) options=("" --check --keep=kept/in)
	local i early=0
	echo old >old
	for ((i = 0; i < TIMES; i++)); do
		local s=${kinds[RANDOM % 4]} o=${options[RANDOM % 3]} status=0
		cp old out.tflite
		# shellcheck disable=SC2086
		NPUCC_TEST=$BATS_TEST_TMPDIR timeout --foreground --preserve-status -s $s \
			"0.0$(printf %02d $((RANDOM % 90 + 1)))" npucc \
			"${target[@]}" $o -o out.tflite "$model" 2>err || status=$?
		if [ $status != 0 ]; then
			early=$((early + 1))
			# SIGKILL cannot be caught and may arrive while outputs get their
			# names
			if [ $s = KILL ] && ! cmp -s old out.tflite; then
				cmp out.tflite want.tflite
				rm -rf kept
			fi
			[ $s = KILL ] || cmp old out.tflite
			quiet "$([ $s = KILL ] && echo 3 || echo 0)" "$s $o, $i of seed ${SEED-1}"
		else
			cmp out.tflite want.tflite
		fi
		rm -rf kept
	done
	echo "$early of $TIMES ended before they were done"
	[ $((early * 5)) -ge "$TIMES" ]
}

@test "a signal while the model is being read leaves nothing" {
	local s
	for s in TERM HUP INT KILL; do
		for o in "" --check; do
			mkfifo pipe
			sleep 100 >pipe &
			# shellcheck disable=SC2086
			NPUCC_TEST=$BATS_TEST_TMPDIR timeout --foreground -s $s 0.1 \
				npucc "${target[@]}" $o -o out.tflite <pipe || status=$?
			kill $!
			rm pipe
			quiet 3 "$s $o"
			[ ! -e out.tflite ]
		done
	done
}

@test "the guard has a name and a process group of its own" {
	mkfifo pipe
	sleep 100 >pipe &
	local writer=$! npucc guard
	# the subshell is replaced by npucc, which reads from a pipe without data
	NPUCC_TEST=$BATS_TEST_TMPDIR npucc "${target[@]}" -o out.tflite <pipe 2>err &
	npucc=$!
	for i in {1..200}; do
		guard=$(marked | while read -r f; do
			grep -lx nputools-guard "${f%environ}comm"
		done | cut -d/ -f3)
		[ -z "$guard" ] || break
		sleep 0.01
	done
	[ -n "$guard" ]
	[ "$guard" != "$npucc" ]
	[ "$(ps -o pgid= -p "$guard" | tr -d ' ')" = "$guard" ]
	kill -KILL "$npucc"
	kill "$writer"
	quiet 3 KILL
}

@test "a stage that ignores SIGTERM is killed" {
	mkdir fake
	cp "$BIN"/npucc fake/
	for p in tfl-quantcheck tfl-partition npu-sched npu-wenc npu-cmdgen; do
		printf '%s\n' '#!/bin/bash' 'trap "" TERM INT HUP' 'echo ready >>ready' \
			'while :; do sleep 0.1; done' >fake/$p
		chmod +x fake/$p
	done
	for s in TERM KILL; do
		NPUCC_TEST=$BATS_TEST_TMPDIR timeout --foreground -s $s 0.3 \
			fake/npucc "${target[@]}" -o out.tflite "$model" || status=$?
		[ "$(wc -l <ready)" = 5 ]
		rm ready
		quiet 3 $s
	done
}
