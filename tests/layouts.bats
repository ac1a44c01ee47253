# SPDX-License-Identifier: Apache-2.0
# Network inputs and outputs in the application's layout: --input-layout, --output-layout.

load lib/common
load lib/model
load lib/call

chain=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model
target=(-a ethos-u55-256 --system-config Ethos_U55_High_End_Embedded
	--memory-mode Shared_Sram)

# schedule OPTION...: compiles x.part to x.tflite
schedule()
{
	npu-sched "${target[@]}" "$@" -o x.sched x.part 2>notes
	npu-wenc x.sched | npu-cmdgen -o x.tflite
	npu-dis --verify -q x.tflite
}

# the metadata of x.tflite about network inputs and outputs
ends()
{
	strings -n 12 x.tflite | sed -n '/^nputools-ends 1$/,/^[^bino]/p'
}

# fan: makes the fan with one input and one output of 24x24x16
fan()
{
	"$chain" fan 11 >fan.tflite
}

@test "all layouts give equal bytes, with batches and without" {
	local l b batches=(1 2)
	fan
	for l in nhwc nhcwb16 nchw nhwc,row-stride=640 nhwc,pixel-stride=20 \
		nhwc,row-stride=1280,pixel-stride=24; do
		# in a quick run, layouts have a batch and none in turn
		[ -z "${NPUTOOLS_QUICK-}" ] || batches=($((3 - batches[0])))
		for b in "${batches[@]}"; do
			tfl-partition --input-layout=$l --output-layout=$l \
				-o x.part fan.tflite
			schedule --batch=$b
			npu-sim --seed $b --compare fan.tflite x.tflite >/dev/null
		done
	done
}

@test "layouts work for an NPU with memory of its own, and for U65's two cores" {
	fan
	target=(-a ethos-u65-512 --system-config Ethos_U65_High_End
		--memory-mode Dedicated_Sram)
	for l in nhcwb16 nchw nhwc,row-stride=640; do
		tfl-partition --input-layout=$l --output-layout=$l -o x.part fan.tflite
		schedule
		npu-sim --seed 3 --compare fan.tflite x.tflite >/dev/null
	done
}

@test "the compiled file describes its layouts" {
	fan
	tfl-partition --input-layout=nhwc,row-stride=640,pixel-stride=20 \
		--output-layout=0=nhcwb16 -o x.part fan.tflite
	schedule
	ends >said
	grep -qx "input 0 layout=nhwc shape=1,24,24,16 row-stride=640 pixel-stride=20" said
	grep -q "^output 0 layout=nhcwb16 shape=1," said
	# from the first element to the last
	bytes=$((23 * 640 + 23 * 20 + 16))
	tfl2c -n nn x.tflite >nn.h
	grep -qx "#define NN_INPUT_0_BYTES $bytes" nn.h
	grep -qx "#define NN_INPUT_0_ROW_STRIDE 640" nn.h
	grep -qx "#define NN_INPUT_0_NETWORK_SHAPE { 1, 24, 24, 16 }" nn.h
	grep -qx "#define NN_OUTPUT_0_LAYOUT_NHCWB16 1" nn.h
	printf '#include <stdio.h>\n#include "nn.h"\nint main(void)\n{ return %s; }\n' \
		"nn_input_0_offset(2, 3, 5) != 2 * 640 + 3 * 20 + 5" >t.c
	"${CC:-cc}" -Werror -o t t.c
	./t
	rm x.sched x.part
	npucc "${target[@]}" --input-layout=nhwc,row-stride=640 --keep=kept \
		--check -o x.tflite fan.tflite >/dev/null 2>&1
	jq -e '.inputs[0] | .layout == "nhwc" and .row_stride == 640 and
		.network_shape == [1, 24, 24, 16]' kept/manifest.json
}

# pixels FRAME WIDTH BYTES Y X H W C: writes the pixels of a crop, C bytes of each, to
# standard output
pixels()
{
	od -An -v -tx1 -w"$3" "$1" |
		awk -v w="$2" -v y="$4" -v x="$5" -v h="$6" -v n="$7" -v c="$8" '
			{ i = NR - 1; r = int(i / w) - y; q = i % w - x }
			r >= 0 && r < h && q >= 0 && q < n {
				for (k = 1; k <= c; k++)
					printf "\\x%s", $k
			}' >hex
	# shellcheck disable=SC2059
	printf "$(cat hex)"
}

@test "a crop of a larger frame, and RGBX as RGB, need no copy" {
	fan
	tfl-partition --input-layout=nhwc,row-stride=$((320 * 20)),pixel-stride=20 \
		-o x.part fan.tflite
	schedule
	# 320x240 pixels of 20 bytes; the network's 24x24x16 begins at row 100, column 57
	seq 1 300000 | head -c $((320 * 240 * 20)) >frame
	at=$(((100 * 320 + 57) * 20))
	tail -c +$((at + 1)) frame | head -c $((23 * 320 * 20 + 23 * 20 + 16)) >crop
	pixels frame 320 20 100 57 24 24 16 >dense
	npu-sim -i crop -o there x.tflite >/dev/null
	npu-sim -i dense -o here fan.tflite >/dev/null
	cmp there/output_0.npy here/output_0.npy
}

@test "a network reads its rectangle from a frame of 320x240" {
	local f side=96
	f=$(network person_detect)
	[ -n "$SHARED" ] || side=28 # the demo's
	tfl-partition --input-layout=nhwc,row-stride=320 -o x.part "$f"
	schedule
	seq 1 300000 | head -c $((320 * 240)) >frame
	tail -c +$((80 * 320 + 100 + 1)) frame | head -c $(((side - 1) * 320 + side)) >crop
	pixels frame 320 1 80 100 $side $side 1 >dense
	npu-sim -i crop -o there x.tflite >/dev/null
	npu-sim -i dense -o here "$f" >/dev/null
	cmp there/output_0.npy here/output_0.npy
}

@test "the output bricks of one network are the input of the next" {
	fan
	tfl-partition --output-layout=nhcwb16 -o x.part fan.tflite
	schedule
	ends | sed -n 's/^output 0 //p' >first
	npu-sim --seed 4 -o one x.tflite >/dev/null
	mv x.sched bricks.sched
	tfl-partition --input-layout=nhcwb16 -o x.part fan.tflite
	schedule
	# The output of the first network is the input of the second, byte for byte, if
	# layout and shape are the same.
	ends | sed -n 's/^input 0 //p' | cmp - first
	npu-sim -i one/output_0.npy -o two x.tflite >/dev/null
	npu-sim --seed 4 -o want fan.tflite >/dev/null
	npu-sim -i want/output_0.npy -o wanted fan.tflite >/dev/null
	cmp two/output_0.npy wanted/output_0.npy
	# bricks between the networks are no slower than nhwc
	tfl-partition -o x.part fan.tflite
	schedule
	cycles() { sed -n 's/^target .* cycles=\([^ ]*\).*/\1/p' "$1"; }
	awk -v a="$(cycles bricks.sched)" -v b="$(cycles x.sched)" 'BEGIN { exit !(a <= b) }'
}

@test "mkinput writes an input in its layout" {
	fan
	tfl-partition --input-layout=nhcwb16 --output-layout=nhwc,pixel-stride=32 \
		-o x.part fan.tflite
	schedule
	mkinput --random 5 --format npy -o v.npy x.tflite
	mkinput --random 5 --format raw -o v.bin --expected e.bin x.tflite
	npu-sim -i v.npy -o a x.tflite >/dev/null
	npu-sim -i v.bin -e e.bin -o b x.tflite >/dev/null
	cmp a/output_0.npy b/output_0.npy
	mkinput --random 5 --format npy -o w.npy fan.tflite
	cmp v.npy w.npy
}

@test "an impossible layout is refused with the reason" {
	fan
	p=(tfl-partition fan.tflite)
	refuses 2 "there is no input 1" "${p[@]}" --input-layout=1=nhcwb16
	refuses 2 "a pixel has 16 bytes and a row 384, but the strides are 16 and 300" \
		"${p[@]}" --input-layout=nhwc,row-stride=300
	refuses 2 "a layout must be nhwc, nhcwb16 or nchw" "${p[@]}" --input-layout=nhw
	refuses 2 "row-stride and pixel-stride work only with nhwc" "${p[@]}" --output-layout=nchw,row-stride=300
	refuses 2 "only ,row-stride=BYTES and ,pixel-stride=BYTES can follow a layout" "${p[@]}" --output-layout=nhwc,rows=300
	model fc
	refuses 2 "input 0 (in) can't have layout nchw: it has 2 dimensions, not 4" \
		tfl-partition --input-layout=nchw fc.tflite
	refuses 2 "operator 0, FULLY_CONNECTED, runs on the CPU, which supports only nhwc" \
		tfl-partition --cpu=0 --output-layout=nhcwb16 fc.tflite
}

# copied FILE LAYOUT: input and output are copied, with a note; the bytes are equal, and the
# copies have an estimate
copied()
{
	tfl-partition -a "${target[1]}" --input-layout="$2" --output-layout="$2" -o x.part \
		"$1" 2>notes
	grep -q "^tfl-partition: note: $1: input 0 (in) is copied by the NPU, [0-9]* bytes: " notes
	schedule
	npu-sim --seed 2 --compare "$1" x.tflite >/dev/null
	npu-wenc x.sched | npu-perf --csv | grep -q ',in/nhwc'
}

@test "a tensor of another shape is copied, and the copy's cost is shown" {
	local l
	model own "$t[0].shape[0] = 4 | $t[-1].shape[0] = 4"
	for l in nhcwb16 nhwc,row-stride=64; do
		copied own.tflite $l
	done
	target=(-a ethos-u85-256 --system-config Ethos_U85_SYS_DRAM_Mid
		--memory-mode Dedicated_Sram_384KB)
	copied own.tflite nhcwb16
	# a transfer by indices takes contiguous columns
	for l in nhcwb16 nhwc,row-stride=8192; do
		"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model" 6 GATHER >g.tflite
		tfl-partition -a ethos-u85-256 --input-layout=$l -o x.part g.tflite
		schedule
		npu-sim --seed 2 --compare g.tflite x.tflite >/dev/null
	done
}

@test "the NPU does not copy booleans to another layout" {
	local name l gen=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model
	for name in GREATER LOGICAL_NOT REDUCE_ANY; do
		"$gen" 3 $name >m.tflite
		for l in nhcwb16 nchw nhwc,row-stride=8192; do
			refuses 2 "can't have layout ${l%%,*}" tfl-partition --output-layout=$l m.tflite
			grep -q ": the NPU does not support BOOL$" refuses.err
		done
	done
}

@test "random models work in bricks, planes and strides" {
	local seed l gen=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model drawn=0 last=8
	[ -z "${NPUTOOLS_QUICK-}" ] || last=3
	[ -z "${NPUTOOLS_ALL-}" ] || last=200
	for ((seed = 1; seed <= last; seed++)); do
		"$gen" $seed >m.tflite
		for l in nhcwb16 nchw nhwc,row-stride=8192,pixel-stride=256; do
			tfl-partition --input-layout=0=$l --output-layout=$l -o x.part m.tflite \
				2>err || { grep -q "can't have" err; continue; }
			schedule
			# strides of a small file may span a hundred megabytes
			npu-sim --any-size --seed $seed --compare m.tflite x.tflite >/dev/null
			drawn=$((drawn + 1))
		done
	done
	[ $drawn -ge $((2 * last)) ]
}

@test "a layout that was edited in the graph is used if it is consistent, and otherwise refused" {
	fan
	tfl-partition -o plain.part fan.tflite
	sed '/^tensor  *t[01] /s/$/ layout=nhcwb16/' plain.part >x.part
	schedule
	npu-sim --compare fan.tflite x.tflite >/dev/null
	ends | grep -q "^output 0 layout=nhcwb16"
	sed '/^tensor  *t0 /s/$/ row-stride=1000/' plain.part >x.part
	schedule
	npu-sim --compare fan.tflite x.tflite >/dev/null
	n=$(sed -n '/^tensor  *t2 /=' plain.part)
	sed '/^tensor  *t2 /s/$/ row-stride=1000/' plain.part >x.part
	refuses 2 "x.part:$n: error: t2 has strides, which only an input or output of the model" \
		npu-sched "${target[@]}" x.part
	sed '/^tensor  *t0 /s/$/ row-stride=100/' plain.part >x.part
	refuses 2 "too small for a pixel of 16 bytes or a row of 384" npu-sched "${target[@]}" x.part
	tfl-partition --cpu=0 -o cpu.part fan.tflite 2>/dev/null
	sed '/^tensor .* io=/s/$/ layout=nhcwb16/' cpu.part >x.part
	refuses 2 "runs on the CPU, which supports only nhwc, but t" npu-sched "${target[@]}" x.part
}

@test "a C function reads and writes layouts, also of a batch" {
	fan
	tfl-partition --input-layout=nhwc,row-stride=640 --output-layout=nhcwb16 \
		-o x.part fan.tflite
	schedule --batch=2
	call_runs x.tflite
	grep -q '^#define NET_ACTUAL_BATCH_SIZE 2' net.h
	# one byte further is another picture
	sed -i 's/^#define INPUT_PLACES(frame) { arena/& + 1/' call_glue.h
	run call_link x.tflite
	[ "$status" -eq 1 ]
}

@test "metadata that contradicts a tensor's layout is refused" {
	fan
	tfl-partition --input-layout=nhwc,row-stride=640 -o x.part fan.tflite
	schedule
	sed 's/row-stride=640/row-stride=641/' x.tflite >y.tflite
	refuses 2 "nputools.ends can't be read, or describes other tensors: line 2" npu-sim y.tflite
	refuses 2 "nputools.ends can't be read" tfl2c y.tflite
	refuses 2 "nputools.ends can't be read" mkinput --random 1 y.tflite
}

@test "the models work in bricks, planes and strides" {
	local m f l models=(person_detect kws_ref_model mbv2_int8 resnet_quant)
	[ -z "$SHARED" ] || [ -n "${NPUTOOLS_ALL-}" ] || skip "heavy: NPUTOOLS_ALL"
	[ -n "$SHARED" ] || models=(person_detect)
	for m in "${models[@]}"; do
		f=$(network "$m")
		for l in nhcwb16 nchw nhwc,row-stride=4000,pixel-stride=8; do
			tfl-partition --input-layout=$l -o x.part "$f"
			schedule
			npu-sim --seed 1 --compare "$f" x.tflite >/dev/null
		done
	done
}
