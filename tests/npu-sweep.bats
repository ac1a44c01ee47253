# SPDX-License-Identifier: Apache-2.0
# npu-sweep: the table is that of the compilations it stands for.

load lib/common

model=$BATS_TEST_DIRNAME/models/digits.tflite
memory=(--system-config=Ethos_U55_High_End_Embedded --memory-mode=Shared_Sram)

@test "a full disk is an error" {
	[ -c /dev/full ] || skip "no /dev/full"
	local args
	for args in --help --usage --version \
		"${memory[*]} -a ethos-u55-64 --limits=0 $model"; do
		status=0
		# shellcheck disable=SC2086
		npu-sweep $args >/dev/full 2>err || status=$?
		[ $status = 2 ]
		[ "$(cat err)" = "npu-sweep: standard output: cannot be written" ]
	done
}

@test "a row is what npucc and npu-perf say" {
	npu-sweep "${memory[@]}" -a ethos-u55-64 --limits=2 -j2 "$model" >table
	[ "$(head -1 table)" = "$(printf '%s\t' accelerator optimise limit \
		sram flash cycles ms)front" ]
	npucc -a ethos-u55-64 "${memory[@]}" -o npu.tflite "$model"
	npu-perf "${memory[@]}" --json npu.tflite |
		jq -r '[.sram_bytes, .flash_bytes, .timeline_cycles] | @tsv' >want
	grep -P '\tPerformance\t-\t' table | cut -f4-6 | cmp - want
}

@test "marked rows are not beaten, others are" {
	npu-sweep "${memory[@]}" -a ethos-u55-128 --limits=3 "$model" >table
	awk -F'\t' 'NR > 1 { s[NR] = $4; c[NR] = $6; f[NR] = $8 }
	END {
		for (i = 2; i <= NR; i++) {
			beaten = 0
			for (j = 2; j <= NR; j++)
				if (s[j] <= s[i] && c[j] <= c[i] &&
				    (s[j] < s[i] || c[j] < c[i] || j < i))
					beaten = 1
			if (beaten == (f[i] == "*"))
				exit 1
		}
	}' table
	npu-sweep "${memory[@]}" -a ethos-u55-128 --limits=3 --front -j1 \
		"$model" >front
	grep -P '\t\*$|^accel' table | cmp - front
}

@test "trouble: no model, no memory system, no such accelerator" {
	refuses 2 "which model?" npu-sweep "${memory[@]}"
	refuses 2 "--system-config is required" npu-sweep -a ethos-u55-64 "$model"
	refuses 2 "there is no accelerator 'ethos-u99'" \
		npu-sweep "${memory[@]}" -a ethos-u99 "$model"
	refuses 2 "--limits takes a number" \
		npu-sweep "${memory[@]}" --limits=x "$model"
	refuses 2 "unrecognized option" npu-sweep --no-such-option
	npu-sweep --help | grep -q '^Usage: npu-sweep'
}
