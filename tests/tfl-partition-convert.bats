#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# tfl-partition: conversions between types, elements selected by indices, and PRELU.

load lib/common
load lib/model
load lib/partition
# shellcheck disable=SC2154 # t is set there

CAST=53 DIV=42 DEQUANTIZE=6 GATHER_ND=107 QUANTIZE=114 SQRT=75
I8=9 U8=3 I16=7 I32=2 I64=4 F32=0 # types

cast()
{
	op m $CAST "$1" '[3,5,7]' "${t}[1].type = $2
		| del(${t}[1].quantization) | del(${t}[0].quantization)"
}

@test "integers of any width are converted into any other" {
	for from in $I8 $U8 $I16 $I32 $I64; do
		for to in $I8 $U8 $I16 $I32 $I64; do
			[ $from = $to ] || {
				cast $from $to
				exact m
			}
		done
	done
}

@test "integers of any width are converted in rows of more than 65536 elements" {
	for to in $I16 $I64 $U8; do
		op m $CAST $I8 '[3,65537]' "${t}[1].type = $to
			| del(${t}[1].quantization) | del(${t}[0].quantization)"
		exact m
	done
	op m $CAST $I64 '[2,65536]' "${t}[1].type = $I32
		| del(${t}[1].quantization) | del(${t}[0].quantization)"
	exact m
}

@test "Ethos-U85 transfers columns by indices out of at most 65536" {
	local n list
	for n in 65536 65537; do
		for list in "$(ints '[6,1]' 0 5 7 65535 9 40000)" "$(second 2 '[6,1]')"; do
			op m $GATHER_ND $I8 "[$n,16]" "$list | ${t}[1].shape = [6,16]"
			tfl-partition -a ethos-u85-256 -o m.part m.tflite 2>>notes
			grep -c 'do=gather' m.part || :
			npu-sched -a ethos-u85-256 --system-config Ethos_U85_SYS_DRAM_Mid \
				--memory-mode Dedicated_Sram m.part 2>>log | npu-wenc | npu-cmdgen -o n.tflite
			npu-sim --quiet --inputs=min --compare=n.tflite m.tflite >>log
		done
	done >transfers
	[ "$(paste -sd' ' transfers)" = "1 1 0 0" ]
	grep -q "rows of them, or 65536 positions or elements of each" notes
}

@test "GATHER_ND takes indices of one, two and three dimensions" {
	op m $GATHER_ND $I8 '[4,5,6]' "$(ints '[3,2]' 0 1 3 4 2 2) | ${t}[1].shape = [3,6]"
	exact m
	op m $GATHER_ND $I16 '[4,5,6]' "$(ints '[2,2,3]' 0 1 2 3 4 5 2 2 0 0 0 0) | ${t}[1].shape = [2,2]"
	exact m
	op m $GATHER_ND $U8 '[4,5,6]' "$(ints '[4,1]' 0 1 2 3) | ${t}[1].shape = [4,5,6]"
	exact m
	op m $GATHER_ND $U8 '[4,5,6]' "$(ints '[2,1]' 0 4) | ${t}[1].shape = [2,5,6]"
	refuses 1 "an index is out of range" tfl-partition --fail-on-cpu m.tflite
}

# through_float TYPE CODE ZERO [JQ]: DEQUANTIZE or CAST, SQRT, QUANTIZE to INT8
through_float()
{
	op m "$2" "$1" '[2,3,5]' "${t}[1] = {shape:[2,3,5],type:$F32,name:\"real\"}
		| ${t}[0].quantization = {scale:[0.05],zero_point:[$3]}
		| .operator_codes += [{deprecated_builtin_code:$SQRT,builtin_code:$SQRT,version:1},
			{deprecated_builtin_code:$QUANTIZE,builtin_code:$QUANTIZE,version:1}]
		| $t += [{shape:[2,3,5],type:$F32,name:\"root\"},
			{shape:[2,3,5],type:$I8,name:\"end\",quantization:{scale:[0.0125],zero_point:[-128]}}]
		| .subgraphs[0].outputs = [3]
		| .subgraphs[0].operators += [{opcode_index:1,inputs:[1],outputs:[2]},
			{opcode_index:2,inputs:[2],outputs:[3]}]${4:+ | $4}"
}

@test "a function of a byte may be computed through floats" {
	through_float $I8 $DEQUANTIZE -128
	[ "$(npu_ops m)" = 1 ]
	exact m
	through_float $U8 $CAST 0
	[ "$(npu_ops m)" = 1 ]
	exact m
	# the floats have another reader
	through_float $U8 $CAST 0
	through_float $U8 $CAST 0 '.subgraphs[0].outputs += [1]'
	tfl-partition --report m.tflite | grep -q 'CPU  CAST'
	# --cpu keeps each of these operators on the CPU
	through_float $U8 $CAST 0
	tfl-partition --cpu=SQRT --report m.tflite | grep -q 'CPU  SQRT'
}

@test "the reason names operators that TensorFlow Lite Micro can't run with integers" {
	local micro='and TensorFlow Lite Micro' code
	for code in $SQRT 108 8 116; do
		op m "$code" $I8 '[2,3]'
		stays m "no lowering for this operator, $micro computes it with FLOAT32 alone: replace it (nputools-ops(7), REPLACEMENTS)"
		tfl2c --resolver m.tflite 2>notes >m.h
		grep -qF "warning: m.tflite: operator 0 ($(sed -n 's/^ *0 *CPU *\([A-Z]*\).*/\1/p' report)): TensorFlow Lite Micro computes it with FLOAT32 alone" notes
	done
	op m 78 $I8 '[2,3]' # POW
	stays m "no lowering for this operator, $micro has no kernel for it: replace it"
	# Linux runs other kernels
	tfl-partition -a ethos-u65-256 --target=linux --report m.tflite | grep -q 'because: no lowering for this operator; about'
	# FLOAT32, CUMSUM of int8, and an operator that the NPU computes
	op m $SQRT $F32 '[2,3]'
	stays m "no lowering for this operator; about"
	tfl2c --resolver m.tflite 2>&1 >m.h | grep -F 'warning' && return 1
	op m 128 $I8 '[2,3]' "$(ints '[1]' 0)"
	stays m "no lowering for this operator; about"
	op m 47 $I8 '[2,3]'
	tfl-partition --cpu=EXP --report m.tflite | grep -q 'because: kept on the CPU by --cpu'
	tfl2c --resolver m.tflite 2>&1 >m.h | grep -qF '(EXP): TensorFlow Lite Micro computes it with FLOAT32 alone'
}

@test "the replacements of operators without a lowering are one operation" {
	local mul='{deprecated_builtin_code:18,builtin_code:18,version:1}' code
	local end='{shape:[2,3,5],type:9,name:"end",quantization:{scale:[0.0125],zero_point:[-128]}}'
	for code in 92 8 104; do # SQUARE, FLOOR, CEIL
		through_float $I8 $DEQUANTIZE -128 ".operator_codes[1] = {deprecated_builtin_code:$code,builtin_code:$code}"
		[ "$(npu_ops m)" = 1 ]
		exact m
	done
	# x * RSQRT(x), x * x
	op m 76 $I8 '[2,3,5]' "${t}[0].quantization.zero_point = [-128] | .operator_codes += [$mul]
		| $t += [$end] | .subgraphs[0].outputs = [2]
		| .subgraphs[0].operators += [{opcode_index:1,inputs:[0,1],outputs:[2],builtin_options_type:\"MulOptions\",builtin_options:{}}]"
	[ "$(npu_ops m)" = 1 ]
	exact m
	op m 18 $I8 '[2,3,5]' ".subgraphs[0].operators[0] += {inputs:[0,0],builtin_options_type:\"MulOptions\",builtin_options:{}}"
	[ "$(npu_ops m)" = 1 ]
	exact m
	# x + k * x^3 in FLOAT32, as for SIN
	op m $DEQUANTIZE $I8 '[2,3,5]' "${t}[1] = {shape:[2,3,5],type:$F32,name:\"real\"}
		| .operator_codes += [$mul,{deprecated_builtin_code:$QUANTIZE,builtin_code:$QUANTIZE},{deprecated_builtin_code:0,builtin_code:0}]
		| .buffers += [{data:[171,170,42,190]}]
		| $t += [\"x2\",\"x3\",\"k\",\"kx3\",\"sum\" | {shape:[2,3,5],type:$F32,name:.}] + [$end]
		| ${t}[4] += {shape:[1],buffer:1} | .subgraphs[0].outputs = [7]
		| .subgraphs[0].operators += [[1,[1,1],2],[1,[2,1],3],[1,[3,4],5],[3,[1,5],6],[2,[6],7] | {opcode_index:.[0],inputs:.[1],outputs:[.[2]]}]
		| .subgraphs[0].operators[1:4] |= map(. + {builtin_options_type:\"MulOptions\",builtin_options:{}})
		| .subgraphs[0].operators[4] += {builtin_options_type:\"AddOptions\",builtin_options:{}}"
	[ "$(npu_ops m)" = 1 ]
	exact m
}

# ratio TYPE SCALE ZERO TYPE SCALE ZERO TYPE SCALE ZERO [JQ]: DEQUANTIZE of two tensors,
# DIV, QUANTIZE
ratio()
{
	local side=1,40,50,3
	op m $DEQUANTIZE "$1" "[$side]" "${t}[1] = {shape:[$side],type:$F32,name:\"over\"}
		| ${t}[0].quantization = {scale:[$2],zero_point:[$3]}
		| .operator_codes += [{deprecated_builtin_code:$DIV,builtin_code:$DIV,version:1},
			{deprecated_builtin_code:$QUANTIZE,builtin_code:$QUANTIZE,version:1}]
		| $t += [{shape:[$side],type:$4,name:\"by\",quantization:{scale:[$5],zero_point:[$6]}},
			{shape:[$side],type:$F32,name:\"under\"},
			{shape:[$side],type:$F32,name:\"ratio\"},
			{shape:[$side],type:$7,name:\"end\",quantization:{scale:[$8],zero_point:[$9]}}]
		| .subgraphs[0].inputs = [0, 2] | .subgraphs[0].outputs = [5]
		| .subgraphs[0].operators += [{opcode_index:0,inputs:[2],outputs:[3]},
			{opcode_index:1,inputs:[1,3],outputs:[4],builtin_options_type:\"DivOptions\",builtin_options:{}},
			{opcode_index:2,inputs:[4],outputs:[5]}]${10:+ | ${10}}"
}

@test "two tensors of bytes are divided through floats" {
	# a head of MoveNet, with possible divisions of 0 by 0
	ratio $I8 0.00390625 -128 $I8 0.2495866 -128 $I8 0.0019915 -128
	[ "$(npu_ops m)" = 3 ]
	exact m
	# signs, other types and zero points
	ratio $I8 0.0213 3 $I8 0.0117 -5 $I8 0.0651 7
	exact m
	ratio $U8 0.0313 10 $I8 0.3071 20 $U8 0.00113 0
	exact m
	# too much depends on how floats are rounded halfway
	ratio $I8 0.02 3 $I8 0.01 -5 $I8 0.0625 7
	stays m "no integer factors of the dividend give all quotients"
	# somebody else wants the floats
	ratio $I8 0.0213 3 $I8 0.0117 -5 $I8 0.0651 7 '.subgraphs[0].outputs += [3]'
	tfl-partition --report m.tflite | grep -q 'CPU  DIV'
	ratio $I8 0.0213 3 $I8 0.0117 -5 $I8 0.0651 7
	tfl-partition --cpu=DIV --report m.tflite | grep -q 'CPU  QUANTIZE'
}

@test "PRELU of INT16 with an alpha of INT8 gives the runtime's result" {
	local d=$SHARED/defects/15-prelu-int16
	model m ".operator_codes = [{deprecated_builtin_code:54,builtin_code:54}]
		| $t = [{shape:[1,11,10,12],type:$I16,name:\"in\",quantization:{scale:[0.000262],zero_point:[0]}},
			{shape:[1,1,12],type:$I8,buffer:1,name:\"alpha\",quantization:{scale:[0.000757],zero_point:[0]}},
			{shape:[1,11,10,12],type:$I16,name:\"out\",quantization:{scale:[0.000199],zero_point:[0]}}]
		| .subgraphs[0] |= (.inputs = [0] | .outputs = [2] | .operators = [{inputs:[0,1],outputs:[2]}])
		| .buffers = [{},{data:[232,191,209,248,226,76,228,178,42,46,41,220]}]"
	[ -z "$SHARED" ] || cp "$d/model.tflite" m.tflite
	exact m
	[ -n "$SHARED" ] || return 0
	npu-sim -i "$d/input_0.npy" -e "$d/output_0.npy" m.tflite
	npu-sim -i "$d/input_0.npy" -e "$d/output_0.npy" m.npu
}

# quotient CODE SHAPE DIVISOR-SHAPE DIVISOR...: INT32 by constants
quotient()
{
	op m "$1" $I32 "$2" "$(ints "$3" "${@:4}") | del(${t}[].quantization)"
}

@test "32 bits are divided by constants, down and towards zero" {
	for code in 42 90; do
		for by in 2 3 48 2147483647 -3; do
			quotient $code '[3,5,7]' '[]' $by
			exact m
		done
		quotient $code '[2,3]' '[3]' 5 -6 1000003
		exact m
		quotient $code '[2,3]' '[2,3]' 5 -6 7 8 -9 10
		exact m
	done
	quotient 90 '[2,3]' '[]' 0
	refuses 1 "a divisor is 0" tfl-partition --fail-on-cpu m.tflite
}

# quotients near integers, and dividends at the limits of the range
@test "quotients of the hardest dividends are exact" {
	for code in 42 90; do
		for by in 3 641 -641 2147483647; do
			quotient $code '[16]' '[]' $by
			for v in 0 1 -1 2147483647 -2147483648 -2147483647 2147483646 \
				$by $((by - 1)) $((by + 1)) $((-by)) $((3 * 641)) $((3 * 641 - 1)) \
				1073741824 -1073741825 640; do
				word "$v"
			done >in
			tfl-partition --fail-on-cpu m.tflite |
				npu-sched -a ethos-u55-128 --system-config RTSS_HE_SRAM_MRAM --memory-mode Shared_Sram |
				npu-wenc | npu-cmdgen -o c.tflite
			npu-sim -i in --compare=m.tflite c.tflite
		done
	done
}

@test "quotients of the hardest dividends by computed divisors are exact" {
	local v w values=(0 1 -1 2 -2 3 -3 5 7 -8 640 641 65535 65537 -1000003 1073741823
		1073741824 -1073741825 2147483645 2147483646 2147483647 -2147483646
		-2147483647 -2147483648)
	local n=${#values[@]}
	op m $DIV $I32 "[$n,$n]" "$(second $I32 "[$n,$n]") | $(with 29 '{}')
		| del(${t}[].quantization)"
	for v in "${values[@]}"; do
		for w in "${values[@]}"; do
			word "$v" >&3
			# not by 0, and not to 2^31
			[ "$w" != 0 ] && [ "$v/$w" != -2147483648/-1 ] || w=9
			word "$w" >&4
		done
	done 3>a.bin 4>b.bin
	exact m
	npu-sim -i a.bin -i b.bin --compare=m.tflite m.npu
	# the divisor is repeated, then the dividend
	for v in '[4,6] [6]' '[1,6] [4,6]'; do
		op m $DIV $I32 "${v% *}" "$(second $I32 "${v#* }") | $(with 29 '{}')
			| del(${t}[].quantization) | ${t}[1].shape = [4,6]"
		exact m
	done
}

# word VALUE: 32 bits, little-endian
word()
{
	local bytes
	printf -v bytes '\\x%02x' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) \
		$(($1 >> 24 & 255))
	printf '%b' "$bytes"
}

# quantized SCALE ZERO TYPE: INT32 through FLOAT32
quantized()
{
	op m $CAST $I32 '[5,7]' "${t}[1] = {shape:[5,7],type:$F32,name:\"real\"} | del(${t}[0].quantization)
		| .operator_codes += [{deprecated_builtin_code:$QUANTIZE,builtin_code:$QUANTIZE,version:1}]
		| $t += [{shape:[5,7],type:$3,name:\"end\",quantization:{scale:[$1],zero_point:[$2]}}]
		| .subgraphs[0].outputs = [2]
		| .subgraphs[0].operators += [{opcode_index:1,inputs:[1],outputs:[2]}]"
}

@test "integers are quantized through floats" {
	for scale in 0.00390625 0.18431373 9.5; do
		for zero in -128 17; do
			quantized $scale $zero $I8
			exact m
			# values around every step of the result
			for v in $(awk -v s=$scale 'BEGIN { for (v = -150; v < 150; v++)
					for (d = -1; d <= 1; d++) print int((v + 0.5) * s) + d }' |
				head -875); do
				word "$v"
			done >in
			npu-sim --frames=25 -i in --compare=m.tflite m.npu
		done
	done
	quantized 0.5 0 $I16
	exact m
}

# back TYPE SCALE TYPE SCALE ZERO: DEQUANTIZE, QUANTIZE
back()
{
	op m $DEQUANTIZE "$1" '[5,7]' "${t}[1] = {shape:[5,7],type:$F32,name:\"real\"}
		| ${t}[0].quantization = {scale:[$2],zero_point:[0]}
		| .operator_codes += [{deprecated_builtin_code:$QUANTIZE,builtin_code:$QUANTIZE,version:1}]
		| $t += [{shape:[5,7],type:$3,name:\"end\",quantization:{scale:[$4],zero_point:[$5]}}]
		| .subgraphs[0].outputs = [2]
		| .subgraphs[0].operators += [{opcode_index:1,inputs:[1],outputs:[2]}]"
}

@test "DEQUANTIZE followed by QUANTIZE is exact" {
	back $I8 0.1 $U8 0.05 3
	[ "$(npu_ops m)" = 1 ]
	exact m
	back $I16 0.0005 $I8 0.125 -7
	exact m
	back $I16 0.00390625 $I16 0.0078125 0
	tfl-partition --report m.tflite | tail -1
}
