#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The source map: the names in a compiled model.
bats_require_minimum_version 1.5.0

load lib/common

DIGITS=$BATS_TEST_DIRNAME/models/digits.tflite
u55=(--system-config RTSS_HE_SRAM_MRAM --memory-mode Shared_Sram)

# compiled: makes digits.wenc, m.tflite with its source map, and plain.tflite without one
compiled()
{
	npucc -a ethos-u55-128 "${u55[@]}" -o digits.wenc "$DIGITS" 2>/dev/null
	npu-cmdgen -o m.tflite digits.wenc
	npu-cmdgen --no-map -o plain.tflite digits.wenc
}

@test "the names of a compiled file are the graph's" {
	compiled
	for what in --csv --yaml; do
		npu-perf "$what" digits.wenc >graph.out
		npu-perf "${u55[@]}" "$what" m.tflite >file.out
		cmp graph.out file.out
		npu-perf "${u55[@]}" "$what" plain.tflite >plain.out
		run ! cmp -s graph.out plain.out
	done
	npu-perf "${u55[@]}" --csv m.tflite | cut -d, -f15 | grep -x dw1
	npu-perf "${u55[@]}" --yaml m.tflite | grep -x '  name: dw1'
	npu-perf "${u55[@]}" --trace m.tflite |
		jq -e '.traceEvents | any(.name == "dw1")'
	# as many operators as in the source; without the source map their number is unknown
	npu-perf "${u55[@]}" m.tflite | grep -x 'NPU operators = [0-9]* (100.0%)'
	npu-perf "${u55[@]}" plain.tflite | grep -x 'NPU operators = n/a (100.0%)'
	npu-perf digits.wenc | grep -x 'Network summary for digits'
	npu-perf "${u55[@]}" <m.tflite >out
	run ! grep -x 'Network summary for -' out
	grep -x 'Network summary for main' out
}

@test "the source map is not counted as constants, and does not depend on threads or file names" {
	compiled
	for f in m plain; do
		npu-perf "${u55[@]}" --json $f.tflite |
			jq -c '[.flash_bytes, .stream_bytes, .sram_bytes]' >$f.out
	done
	cmp m.out plain.out
	for j in 1 3; do
		npucc -j $j -a ethos-u55-128 "${u55[@]}" -o $j.tflite "$DIGITS" \
			2>/dev/null
		cmp $j.tflite m.tflite
	done
	# the source map does not depend on the file's name
	cp "$DIGITS" other.tflite
	npucc -a ethos-u55-128 "${u55[@]}" -o other_npu.tflite other.tflite 2>/dev/null
	cmp other_npu.tflite m.tflite
}

@test "npu-dis names operations and prints the source map" {
	compiled
	npu-dis --high-level m.tflite | grep ' depthwise .*  # dw1$'
	npu-dis --json m.tflite |
		jq -e '.[0].operations | any(.source == "dw1" and .op == "depthwise")'
	npu-dis --json plain.tflite | jq -e '.[0].operations | all(has("source") | not)'
	npu-dis --map m.tflite >map
	# a command for every operation, at its word
	grep -o '^command word=[0-9]*' map | cut -d= -f2 >words
	npu-dis --json m.tflite | jq '.[0].operations[] | select(has("ifm") or
		has("src")) | .offset / 4' | cmp - words
	grep '^layer kind="DEPTHWISE_CONV_2D" name="dw1" npu=1$' map
	grep '^span what=2 name="picture" shape="i8\[1,28,28,1\]"' map
	grep '^constant what=0 .*name="dw1' map
	# tensors without a name get the name of their layer, and no number of the graph
	grep '^command .*what=2 .*name="digit (l0)"' map
	grep '^constant what=1 .*name="digit (l0)"' map
	run ! grep -E 'name="[a-z][0-9]+"' map
	refuses 2 'the file has no source map' npu-dis --map plain.tflite
}

@test "every tensor of the source map has the address and lifetime of the plan" {
	compiled
	# at=, from= and to= of the graph's records, and of the source map's
	sed -n 's/^tensor .* at=\(0x[0-9a-f]*\) live=\([0-9]*\):\([0-9]*\).*/\1 \2 \3/p' \
		digits.wenc | while read -r at lo hi; do
		echo "$((at)) $lo $hi"
	done | sort >want
	npu-dis --map m.tflite |
		sed -n '/^span what=[0234]/s/.* at=\([0-9]*\) .* from=\([0-9]*\) to=\([0-9]*\)$/\1 \2 \3/p' |
		sort >have
	[ -s want ]
	cmp want have
}

@test "npu-sim and the verifier name the operation that fails" {
	compiled
	npu-sim --trace m.tflite >out
	grep -E '^npu 0 0x[0-9a-f]+ depthwise .* name="dw1"' out
	npu-sim --trace plain.tflite >out
	run ! grep 'name=' out
	# OFM_REGION of the first kernel: a region without a buffer
	at=$(npu-dis m.tflite | grep 'NPU_SET_OFM_REGION' | sed -n 1p | cut -c1-8)
	payload=$(grep -obUa -m 1 COP1 m.tflite | cut -d: -f1)
	printf '\007' | dd of=m.tflite bs=1 seek=$((payload + 32 + at + 2)) \
		conv=notrunc status=none
	run --separate-stderr npu-sim m.tflite
	[ "$status" = 1 ]
	grep -E ' of stem: ' <<<"$stderr"
	run --separate-stderr npu-dis --verify m.tflite
	[ "$status" = 1 ]
	grep -E ' of stem: error: rule ' <<<"$stderr"
}

@test "a compiled file records the memory system for which it was compiled" {
	compiled
	npu-perf --json m.tflite >have
	npu-perf "${u55[@]}" --json m.tflite | cmp - have
	# not only names: the memories of an ini file are recorded, too
	cat >vela.ini <<-END
		[System_Config.Slow]
		core_clock=100e6
		axi0_port=Sram
		axi1_port=OffChipFlash
		Sram_clock_scale=1.0
		OffChipFlash_clock_scale=0.01
		[Memory_Mode.Mine]
		const_mem_area=Axi1
		arena_mem_area=Axi0
		cache_mem_area=Axi0
	END
	slow=(--config=vela.ini --system-config=Slow --memory-mode=Mine)
	npucc -a ethos-u55-128 "${slow[@]}" -o slow.tflite "$DIGITS"
	npu-perf --json slow.tflite >have
	npu-perf "${slow[@]}" --json slow.tflite | cmp - have
	jq -e '.system_config == "Slow" and .core_clock == 1e8' have
	# an option overrides the record in the file
	npu-perf --memory-mode=Sram_Only --json m.tflite |
		jq -e '.memory_mode == "Sram_Only" and
			.system_config == "RTSS_HE_SRAM_MRAM"'
	refuses 2 "--system-config is required" npu-perf plain.tflite
	# headers check the driver's regions and the size of a part's memory
	tfl2c m.tflite >m.h
	grep -q '_NPU_REGIONCFG_0 3$' m.h
	npucc --part=corstone-300 -o part.tflite "$DIGITS"
	npu-perf --json part.tflite | jq -e '.part == "corstone-300"'
	# an invalid profile is refused in one line
	LC_ALL=C sed 's/ burst=[0-9]/ burst=-/' m.tflite >bad.tflite
	refuses 2 "its metadata nputools.target" npu-perf bad.tflite
	refuses 2 "its metadata nputools.target" tfl2c bad.tflite
}

@test "headers and sources leave out the source map; xxd and asm contain the file" {
	compiled
	tfl2c -n n -o a.h m.tflite
	tfl2c -n n --memory-mode=Shared_Sram -o b.h plain.tflite
	cmp a.h b.h
	# A source and its declarations describe the same array, whose parts have the
	# offsets of the file.
	tfl2c -n n --format=source -o a.c m.tflite
	tfl2c -n n --declarations -o d.h m.tflite
	bytes=$(sed -n 's/^#define N_BYTES \([0-9]*\).*/\1/p' d.h)
	grep "n_len = $bytes;" a.c
	[ "$bytes" -lt "$(wc -c <m.tflite)" ]
	echo 'int main(void) { return fwrite(n, 1, n_len, stdout) != n_len; }' |
		cat <(echo '#include <stdio.h>') a.c - >main.c
	cc -o main main.c
	./main >cut.tflite
	npu-sim --compare="$DIGITS" cut.tflite
	stream=$(sed -n 's/^#define N_NPU_STREAM_OFFSET \([0-9]*\).*/\1/p' d.h)
	n=$(sed -n 's/^#define N_NPU_STREAM_BYTES \([0-9]*\).*/\1/p' d.h)
	[ "$n" -gt 0 ]
	cmp -n "$n" -i "$stream" m.tflite cut.tflite
	# unchanged
	tfl2c -n n --dialect=xxd -o x.h m.tflite
	grep "n_len = $(wc -c <m.tflite);" x.h
	tfl2c -n n --format=asm -o n.S m.tflite
	grep -w "$(wc -c <m.tflite)" n.S
}

@test "a source map of other streams is ignored, and a broken source map is refused" {
	need flatc jq
	compiled
	flatc --json --strict-json --raw-binary "$TOP/tests/models/tflite.fbs" \
		-- m.tflite
	jq '(.buffers[.metadata[] | select(.name == "nputools.map").buffer].data) |=
		(.[0] = 9)' m.json >broken.json
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" broken.json
	refuses 2 'broken.tflite: error: source map: byte 1: the version' \
		npu-perf "${u55[@]}" broken.tflite
	refuses 2 'error: source map: byte 1: ' npu-dis broken.tflite
	# npu-sim needs names only for its messages and runs without them
	npu-sim --compare="$DIGITS" broken.tflite
	jq '(.buffers[.metadata[] | select(.name == "nputools.map").buffer].data) |=
		.[:-1]' m.json >short.json
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" short.json
	refuses 2 'ends too early' npu-perf "${u55[@]}" short.tflite
	# the streams of another accelerator with the same names
	npucc -a ethos-u55-256 --any-accelerator "${u55[@]}" -o o.tflite "$DIGITS" 2>/dev/null
	flatc --json --strict-json --raw-binary "$TOP/tests/models/tflite.fbs" -- o.tflite
	jq --slurpfile o o.json '(.buffers[.metadata[] |
		select(.name == "nputools.map").buffer].data) =
		($o[0] | .buffers[.metadata[] | select(.name == "nputools.map").buffer].data)' \
		m.json >stale.json
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" stale.json
	run --separate-stderr npu-perf "${u55[@]}" stale.tflite
	[ "$status" = 0 ]
	grep 'warning: stale.tflite: the source map in the file belongs to other streams; layers have no names' <<<"$stderr"
	grep -x 'NPU operators = n/a (100.0%)' <<<"$output"
}

@test "a compiled file is verified against the graph that it contains" {
	need flatc jq
	compiled
	npu-dis --verify m.tflite | grep -qx 'm.tflite: .*, 0 errors, .*'
	# a zero point that is one more than the graph's: legal, with other results
	at=$(npu-dis m.tflite | grep 'NPU_SET_OFM_ZERO_POINT' | sed -n 1p | cut -c1-8)
	for f in m plain; do
		payload=$(grep -obUa -m 1 COP1 $f.tflite | cut -d: -f1)
		cp $f.tflite $f-zero.tflite
		printf '\201' | dd of=$f-zero.tflite bs=1 seek=$((payload + 32 + at + 2)) \
			conv=notrunc status=none
	done
	npu-dis --verify plain-zero.tflite
	run -1 npu-dis --verify m-zero.tflite
	[[ $output == *" of stem: error: rule 53: o"*": OFM zero point is -127, the graph has -128"* ]]
	# The digest covers everything else.  JSON rounds scales; the scales of this model
	# were converted through JSON before.
	local fbs=$TOP/tests/models/tflite.fbs
	cp "$DIGITS" r.tflite
	flatc --json --strict-json --raw-binary "$fbs" -- r.tflite
	flatc -b --strict-json "$fbs" r.json
	npucc -a ethos-u55-128 "${u55[@]}" -o r_npu.tflite r.tflite 2>/dev/null
	flatc --json --strict-json --raw-binary "$fbs" -- r_npu.tflite
	edit()
	{
		jq "$1" r_npu.json >edited.json
		flatc -b --strict-json "$fbs" edited.json
		run npu-dis --verify edited.tflite
	}
	edit .
	[ "$status" = 0 ] # the same content with other bytes
	edit '.metadata += [{name: "somebody", buffer: 0}] | .description = "mine"'
	[ "$status" = 0 ]
	edit '.subgraphs[0].outputs[0] as $o |
		.subgraphs[0].tensors[$o].quantization.scale[0] *= 2'
	[ "$status" = 1 ]
	[[ $output == *"error: rule 53: "*"the digest in the source map differs"* ]]
	# a graph that cannot be inflated
	edit '(.buffers[.metadata[] | select(.name == "nputools.map").buffer].data) |=
		(.[length - 12] = 255 - .[length - 12])'
	[ "$status" = 2 ]
	[[ $output == *"edited.tflite (its graph)"* ]]
}

@test "a graph that is large compared with its file is replaced by its digest" {
	"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model" add 1000 >long.tflite
	npucc -a ethos-u55-128 "${u55[@]}" -o m.tflite long.tflite 2>/dev/null
	npu-dis --map m.tflite | grep '^graph bytes=0 deflated=0 digest=[0-9a-f]*$'
	npu-dis --verify m.tflite
	at=$(npu-dis m.tflite | grep 'NPU_SET_OFM_ZERO_POINT' | sed -n 1p | cut -c1-8)
	payload=$(grep -obUa -m 1 COP1 m.tflite | cut -d: -f1)
	printf '\007' | dd of=m.tflite bs=1 seek=$((payload + 32 + at + 2)) conv=notrunc \
		status=none
	run -1 npu-dis --verify m.tflite
	[[ $output == *"error: rule 53: "*"the digest in the source map differs"* ]]
}
