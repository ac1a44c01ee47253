# SPDX-License-Identifier: Apache-2.0
# Weights for Ethos-U85's fast decoder.

load lib/common
load lib/timeline

DIGITS=$TOP/tests/models/digits.tflite

# plan MACS MODE: schedules part to sched for this size of U85
plan()
{
	npu-sched -a "ethos-u85-$1" --system-config "$(sized "ethos-u85-$1")" \
		--memory-mode "$2" -o sched part 2>notes
}

# decoded DIR: decodes the weights of sched to DIR
decoded()
{
	mkdir "$1"
	npu-wenc -o wenc sched
	npu-wenc --decode -o "$1" wenc
}

@test "all weights can use the fast decoder on five sizes, with exact results and correct decoding" {
	for n in 128 256 512 1024 2048; do
		tfl-partition -a ethos-u85-$n -o plain "$DIGITS" 2>notes
		sed '/ do=\(conv\|fc\) /s/ kernel=/ fast=1 kernel=/' plain >part
		plan $n Dedicated_Sram
		grep -q ' do=conv .* fast=1' sched
		decoded fast-$n
		npu-cmdgen -o m.tflite wenc
		npu-dis --verify --source wenc m.tflite
		npu-dis --high-level m.tflite | grep -q ',fast'
		npu-sim --seed $n --compare "$DIGITS" m.tflite
		sed '/ do=\(conv\|fc\) /s/ kernel=/ fast=0 kernel=/' plain >part
		plan $n Dedicated_Sram
		decoded standard-$n
		diff -r fast-$n standard-$n
	done
}

# layer EXPRESSION: m.tflite with 256 inputs and 64 outputs; jq's EXPRESSION gives weight i
layer()
{
	jq ".subgraphs[0].tensors[0].shape = [1, 256] |
		.subgraphs[0].tensors[1].shape = [64, 256] |
		.subgraphs[0].tensors[2].shape = [64] |
		.subgraphs[0].tensors[3].shape = [1, 64] |
		.buffers[1].data = [range(16384) | . as \$i | $1] |
		.buffers[2].data = [range(256) | 0]" "$TOP/tests/models/fc.json" >m.json
	flatc -b "$TOP/tests/models/tflite.fbs" m.json
	tfl-partition -a ethos-u85-256 -o part m.tflite 2>notes
}

# planned MODE FAST: the cycles; the weights of FAST operations must use the fast decoder
planned()
{
	plan 256 "$1"
	[ "$(grep -c ' fast=1' sched)" = "$2" ]
	sed -n 's/^target .* objective=\([0-9]*\).*/\1/p' sched
}

@test "the decoder that takes less time is chosen, and a prescribed one is used" {
	need flatc jq
	# from SRAM a decoder of 256 MACs makes 8 weights a cycle, or 32; from DRAM the
	# number of bytes decides
	layer '($i * 37 + ($i / 7 | floor) * 11) % 256'
	fast=$(planned Sram_Only 1)
	planned Dedicated_Sram 0
	sed -i '/ do=fc /s/ kernel=/ fast=0 kernel=/' part
	[ "$fast" -lt "$(planned Sram_Only 0)" ]
	# four values take 2 bits each
	layer '($i * 37 + ($i / 7 | floor) * 11 + ($i * $i / 13 | floor)) % 4'
	planned Dedicated_Sram 1
	npu-wenc sched | npu-cmdgen -o out.tflite
	npu-dis --verify out.tflite
	npu-sim --seed 1 --compare m.tflite out.tflite
}

@test "large layers in SRAM use the fast decoder" {
	local model=$SHARED/models/ad01_int8.tflite kind fast='' slow=''
	if [ -z "$SHARED" ]; then
		model=$PWD/large.tflite
		"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model" conv 2 4 256 >"$model"
	fi
	tfl-partition -a ethos-u85-256 "$model" >part 2>notes
	sed '/ do=\(conv\|fc\) /s/ kernel=/ fast=0 kernel=/' part >standard
	for kind in part standard; do
		npu-sched -a ethos-u85-256 --system-config Ethos_U85_SRAM_Only \
			--memory-mode Sram_Only -o sched $kind 2>notes
		fast=$slow
		slow=$(sed -n 's/^target .* objective=\([0-9]*\).*/\1/p' sched)
	done
	echo "$fast cycles, $slow with the standard decoder"
	[ $((fast * 100)) -lt $((slow * 55)) ]
}

@test "weights that the fast decoder cannot read are refused" {
	tfl-partition -a ethos-u85-256 -o plain "$DIGITS" 2>notes
	sed '/ do=depthwise /s/ kernel=/ fast=1 kernel=/' plain >part
	refuses 2 'fast=1 is for weights of conv and fc' npu-sched \
		-a ethos-u85-256 --system-config Ethos_U85_SYS_DRAM_Low \
		--memory-mode Dedicated_Sram part
	# weights of one filter go to 200 below 0, of another one above 0
	sed '/ do=conv /s/ kernel=/ fast=1 kernel=/
		s/^\(weights *w2 .* zero=\)0\*24/\1-100,100,0*22/' plain >part
	refuses 2 'span more than 255' npu-sched \
		-a ethos-u85-256 --system-config Ethos_U85_SYS_DRAM_Low \
		--memory-mode Dedicated_Sram part
}
