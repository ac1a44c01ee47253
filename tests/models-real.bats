#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Published models, each difficult in another respect.  All operators run on the NPU, except
# float inputs and outputs, which may run on the CPU or be left out.  The bytes are the
# same.

load lib/common

# real FIRST ACCELERATOR SYSTEM MODE: every second model from FIRST on (NPUTOOLS_ALL: every
# one; NPUTOOLS_QUICK: only models smaller than 600 KiB), in both variants
real()
{
	local in name n=$1 size=()
	[ -z "${NPUTOOLS_QUICK-}" ] || size=(-size -600k)
	shift
	while read -r in; do
		n=$((n + 1))
		[ $((n % 2)) = 0 ] || [ -n "${NPUTOOLS_ALL-}" ] || continue
		name=${in##*/}
		npucc -a "$1" --system-config="$2" --memory-mode="$3" --check \
			--fail-on-cpu --integer-io -o ints.tflite "$in" 2>err || {
			cat err
			return 1
		}
		tfl-partition --report "$in" 2>/dev/null | awk -v name="$name" '
			$2 == "CPU" && $3 != "QUANTIZE" && $3 != "DEQUANTIZE" { print name, $0; bad = 1 }
			END { exit bad }'
	done < <(if [ -n "$SHARED" ]; then
		find "$SHARED/models-real" -name '*.tflite' "${size[@]}" | sort
	else
		stand_ins | grep -v /graph- # those have operators of the CPU
	fi)
}

@test "published models are exact on ethos-u55-128" {
	real 1 ethos-u55-128 Ethos_U55_High_End_Embedded Shared_Sram
}

@test "published models are exact on ethos-u65-512 with an SRAM of its own" {
	real 0 ethos-u65-512 Ethos_U65_High_End Dedicated_Sram
}
