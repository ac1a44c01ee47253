#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# tfl-partition: tables, activations, arithmetic on two tensors, reductions.

load lib/common
load lib/model
load lib/partition
# shellcheck disable=SC2154 # t is set there

I8=9 U8=3 I16=7 I32=2 # types
ABS=101 ADD=0 ARG_MAX=56 DIV=42 EXP=47 LOGISTIC=14 LOG_SOFTMAX=50 MEAN=40 RELU=19 RSQRT=76 SOFTMAX=25

@test "any function of 8 bits is one table" {
	for code in $LOGISTIC $EXP; do
		op m "$code" $I8 '[2,3,5,7]'
		[ "$(npu_ops m)" = 1 ]
		exact m
	done
}

@test "EXP and LOG of 16 bits are one table, unless a result leaves 16 bits" {
	local q="${t}[].quantization = {scale:[SCALE],zero_point:[0]}"
	for code in $EXP 73; do
		op m $code $I16 '[2,3,5,7]' "${q/SCALE/0.0005}"
		[ "$(npu_ops m)" = 1 ]
		exact m
		op m $code $I16 '[2,3,5,7]' "${q/SCALE/0.05}"
		tfl-partition --report m.tflite 2>notes |
			grep -q "because: between -32768 and [0-9]*, segment [0-9]* of the reference's table, results leave 16 bits"
	done
}

@test "operators that are one table may change the type between them" {
	# LOGISTIC, then QUANTIZE to the other signedness: a negative value is no index
	for from in $I8:$U8 $U8:$I8; do
		op m $LOGISTIC "${from%:*}" '[2,3,5,7]' \
			".operator_codes += [{deprecated_builtin_code:114,builtin_code:114,version:1}]
			| ${t}[1].quantization = {scale:[0.00390625],zero_point:[$([ $from = $I8:$U8 ] && echo -128 || echo 0)]}
			| $t += [{shape:[2,3,5,7],type:${from#*:},name:\"end\",quantization:{scale:[0.00390625],zero_point:[$([ $from = $I8:$U8 ] && echo 0 || echo -128)]}}]
			| .subgraphs[0].outputs = [2]
			| .subgraphs[0].operators += [{opcode_index:1,inputs:[1],outputs:[2]}]"
		[ "$(npu_ops m)" = 1 ]
		exact m
	done
}

@test "an operator on a constant element is a table, too" {
	op m $DIV $I8 '[4,9]' "$(second $I8 '[1]' '[5]')"
	[ "$(npu_ops m)" = 1 ]
	exact m
}

@test "a division by a computed divisor is exact" {
	op m $DIV $I8 '[4,9]' "$(second $I8 '[4,1]')"
	exact m
}

@test "a table is fused into the operation before it, but not with 16 banks" {
	model m ".operator_codes += [{deprecated_builtin_code:$LOGISTIC,builtin_code:$LOGISTIC,version:1}]
		| $t += [{shape:[1,2],type:9,name:\"end\",quantization:{scale:[0.00390625],zero_point:[-128]}}]
		| .subgraphs[0].outputs = [4]
		| .subgraphs[0].operators += [{opcode_index:1,inputs:[3],outputs:[4]}]"
	[ "$(npu_ops m)" = 1 ]
	exact m
	tfl-partition m.tflite | npu-sched -a ethos-u55-64 \
		--system-config Ethos_U55_High_End_Embedded --memory-mode Shared_Sram >m.sched
	[ "$(grep -c '^op ' m.sched)" = 2 ]
}

@test "a table that writes a part of a CONCATENATION is fused, too" {
	model m ".operator_codes += [{deprecated_builtin_code:$LOGISTIC,builtin_code:$LOGISTIC},
			{deprecated_builtin_code:2,builtin_code:2}]
		| $t[0].shape = [3,4] | $t[3].shape = [3,2]
		| $t += [[[3,2],\"table\"],[[3,2],\"more\"],[[3,4],\"end\"]] | $t[4:] |= map({shape:.[0],
			type:9,name:.[1],quantization:{scale:[0.00390625],zero_point:[-128]}})
		| .subgraphs[0] |= (.inputs = [0,5] | .outputs = [6] | .operators += [
			{opcode_index:1,inputs:[3],outputs:[4]},
			{opcode_index:2,inputs:[5,4],outputs:[6],
				builtin_options_type:10,builtin_options:{axis:1}}])"
	tfl-partition m.tflite >m.part
	grep '^op .* do=fc .* ofm=[^ ]*@0,0,2 .* act=lut ' m.part
	[ "$(npu_ops m)" = 2 ] # the other one copies the input
	exact m
}

@test "both operands may be repeated" {
	op m $ADD $I8 '[3,1,5,2]' "$(second $I8 '[1,4,1,1]') | ${t}[1].shape = [3,4,5,2]"
	[ "$(npu_ops m)" -ge 1 ]
	exact m
}

@test "more than three dimensions may be repeated" {
	op m $ADD $I16 '[2,1,3,1,4]' "$(second $I16 '[1,5,1,6,1]') | ${t}[1].shape = [2,5,3,6,4]"
	exact m
}

@test "a mean over two separate axes and over many elements is exact" {
	axes="${t}[1].shape = [1,5,1,6]"
	op m $MEAN $I8 '[7,5,9,6]' "$(second $I32 '[2]' '[0,0,0,0,2,0,0,0]') | $axes"
	exact m
	op n $MEAN $I8 '[1,300,300,2]' "$(second $I32 '[2]' '[1,0,0,0,2,0,0,0]') | ${t}[1].shape = [1,1,1,2]"
	exact n
}

@test "a mean over channels minus a zero point is one convolution" {
	for code in $MEAN 74; do # SUM
		for type in $I8 $U8; do
			op m $code $type '[1,8,6,40]' "$(second $I32 '[1]' '[3,0,0,0]')
				| ${t}[1].shape = [1,8,6,1] | ${t}[0].quantization.zero_point = [100]
				| ${t}[1].quantization = {scale:[0.3],zero_point:[7]}"
			[ "$(npu_ops m)" = 1 ]
			tfl-partition m.tflite | grep -q '^op .*do=conv .*ifm-zero=100 '
			exact m
		done
	done
}

@test "products that all saturate because of a ratio of scales beyond any shift are exact" {
	MUL=18
	for type in $I8 $U8; do
		op m $MUL $type '[1,8,8,8]' "$(second $type '[1,8,8,8]') | $(with 21 '{}')
			| ${t}[1].quantization.scale = [2.97212411e-35]"
		exact m
	done
	# products of 16 bits do not all saturate
	op m $MUL $I16 '[1,8,8,8]' "$(second $I16 '[1,8,8,8]') | $(with 21 '{}')
		| ${t}[1].quantization.scale = [2.97212411e-35]"
	stays m "the ratio of the scales can't be expressed"
}

@test "quotients of any ratio of scales are exact" {
	for type in $I8 $U8; do
		for scale in 1e-9 1e-7 1e-6 1e-5 1e-3 1e3 1e6; do
			op m $DIV $type '[2,3,5,7]' "$(second $type '[2,3,5,7]')
				| ${t}[1].quantization.scale = [$scale]"
			exact m
		done
	done
	op m $DIV $I8 '[2,3,5,7]' "$(second $I8 '[2,3,5,7]') | ${t}[1].quantization.scale = [1e20]"
	stays m "the ratio of the scales is so small that all quotients are 0"
}

@test "softmax of every type is exact" {
	beta=".subgraphs[0].operators[0] += {builtin_options_type:9,builtin_options:{beta:1}}"
	fixed="$beta | ${t}[1].quantization"
	op m $SOFTMAX $I8 '[3,2,33]' "$fixed = {scale:[0.00390625],zero_point:[-128]}"
	exact m
	op m $SOFTMAX $U8 '[1,17]' "$fixed = {scale:[0.00390625],zero_point:[0]}"
	exact m
	op m $SOFTMAX $I16 '[5,40]' "$fixed = {scale:[0.000030517578125],zero_point:[0]}"
	exact m
}

# root SCALE SCALE: RSQRT of positive values, with the scales of IFM and OFM
root()
{
	op m $ABS $I16 '[40]' ".operator_codes += [{deprecated_builtin_code:$RSQRT,builtin_code:$RSQRT,version:1}]
		| ${t}[].quantization.scale = [$1]
		| $t += [{shape:[40],type:$I16,name:\"end\",quantization:{scale:[$2],zero_point:[0]}}]
		| .subgraphs[0].outputs = [2] | .subgraphs[0].operators += [{opcode_index:1,inputs:[1],outputs:[2]}]"
}

# The variance of a normalization in 16 bits has a small scale, so that the ratio of the scales
# is 2^20 and more.
@test "RSQRT of 16 bits is exact for the scales of a normalization" {
	local in out
	root 1.6e-5 6.9e-5
	exact m
	for _ in 1 2 3; do
		in=$((RANDOM % 90 + 10))e-$((RANDOM % 3 + 5)) out=$((RANDOM % 90 + 10))e-$((RANDOM % 2 + 6))
		echo "scales $in $out"
		root $in $out
		exact m
	done
	# the root of 1 does not fit a word
	root 1e-9 1e-5
	stays m "the ratio of the scales can't be expressed"
}

@test "the report says why an operator runs on the CPU" {
	op m $RSQRT $I16 '[8]' "${t}[1].quantization.scale = [1000]"
	stays m "the ratio of the scales can't be expressed"
	op m $DIV $I16 '[4,3]' "$(second $I16 '[4,3]')"
	stays m "INT16: the reciprocals of 65536 divisors do not fit a table of 256"
	npu-sim m.tflite
	op m $LOG_SOFTMAX $I8 '[1,3000]'
	stays m "rows of 3000 elements: at most 2048"
	op m $SOFTMAX $U8 '[1,9]' "${t}[1].type = 7"
	stays m "IFM is UINT8, OFM is INT16"
	op m $MEAN $I8 '[4,3]' "$(second $I32 '[1]') | ${t}[1].shape = [4]"
	stays m "the axes are not constants in range"
	op m $MEAN $I8 '[4,3]' "$(second $I32 '[1]' '[7,0,0,0]') | ${t}[1].shape = [4]"
	stays m "the axes are not constants in range"
	op m $ADD $I8 '[4,3]' "$(second $I8 '[2,3]')"
	refused m "in and t2 do not broadcast to out"
	op m $ADD $I32 '[4,3]' "$(second $I32 '[4,3]') | .subgraphs[0].operators[0] += {builtin_options_type:11,builtin_options:{fused_activation_function:1}}"
	stays m "32-bit results can't be clamped"
	op m $RELU $I8 '[4,3]' "${t}[1].type = 3"
	stays m "IFM is INT8, OFM is UINT8"
	op m $ABS $I8 '[4,3]' "${t}[1].quantization.scale = [1e-20]"
	stays m "the ratio of the scales can't be expressed"
}

@test "the report estimates the cost of operators on the CPU" {
	op m $SOFTMAX $U8 '[1,9]' "${t}[1].type = 7"
	run --separate-stderr tfl-partition --report m.tflite
	[[ "${lines[0]}" = *"because: IFM is UINT8, OFM is INT16; about 1,300 cycles of a Cortex-M55" ]]
	[ "${lines[1]}" = "the CPU's part: about 1,300 cycles of a Cortex-M55 (a rough estimate)" ]
	tfl-partition m.tflite 2>err >part
	grep -qx 'tfl-partition: warning: m.tflite: operator 0 (SOFTMAX) stays on the CPU: IFM is UINT8, OFM is INT16; about 1,300 cycles of a Cortex-M55' err
	# two operators of the same kind are reported together
	op m $MEAN $I8 '[4,3]' "$(second $I32 '[1]') | ${t}[1].shape = [4]
		| .subgraphs[0].operators += .subgraphs[0].operators
		| $t += [${t}[1]] | .subgraphs[0].operators[1].outputs = [3]"
	tfl-partition m.tflite 2>err >part
	grep -qx 'tfl-partition: warning: m.tflite: operators 0, 1 (MEAN) stay on the CPU: the axes are not constants in range; about 2,200 cycles of a Cortex-M55' err
	# no cost for an operator on the NPU
	op m $ABS $I8 '[4,3]'
	[ "$(tfl-partition --report m.tflite | grep -c Cortex)" = 0 ]
}

# arg NAME CODE TYPE SHAPE AXIS OUTPUT-SHAPE OUTPUT-TYPE: an ARG_MAX or ARG_MIN
arg()
{
	op "$1" "$2" "$3" "$4" "$(ints '[1]' "$5") | ${t}[1] = {shape:$6,type:$7,name:\"out\"}"
}

@test "the largest of any number of elements is found, with any sizes of the other axes" {
	arg m $ARG_MAX $I8 '[1,7,5,21]' 3 '[1,7,5]' 4
	exact m
	for code in $ARG_MAX 79; do
		arg m $code $U8 '[3,300,5]' 1 '[3,5]' 2
		exact m
	done
	arg m $ARG_MAX $I8 '[1,100000]' 1 '[1]' 4
	exact m
	arg m $ARG_MAX $I8 '[513,257]' 0 '[257]' 2
	exact m
	arg m $ARG_MAX $U8 '[70000,3]' 1 '[70000]' 2
	exact m
	arg m 79 $I8 '[2,3,70000]' 1 '[2,70000]' 2
	exact m
}

@test "the pool of Ethos-U85 finds the largest element in as many pieces as necessary" {
	code=0
	for shape in "[70000,3] 1 [70000] 4" "[1,3,70000] 1 [1,70000] 2" \
		"[5000,300] 1 [5000] 4" "[21000,25,2] 1 [21000,2] 2"; do
		read -r in axis out type <<<"$shape"
		code=$((code == ARG_MAX ? 79 : ARG_MAX)) # alternately ARG_MAX and ARG_MIN
		arg m $code $U8 "$in" "$axis" "$out" "$type"
		tfl-partition -a ethos-u85-256 --fail-on-cpu m.tflite >part
		[ "$(grep -c '^op .*do=argmax' part)" -ge 2 ]
		[ "$(grep -c '^op .*do=argmax' part)" -le 8 ]
		npu-sched -a ethos-u85-256 --system-config Ethos_U85_SYS_DRAM_Low \
			--memory-mode Dedicated_Sram part 2>notes | npu-wenc >wenc
		npu-cmdgen -o m.npu wenc
		npu-sim --compare=m.npu m.tflite
		npu-dis --quiet --verify --source=wenc m.npu
	done
}
