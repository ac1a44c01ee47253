#!/usr/bin/env bats
# tfl2c --format=call: a network as a C function, which is compiled, run and compared with
# the simulator.
bats_require_minimum_version 1.5.0

load lib/common
load lib/model
load lib/call

target=(-a ethos-u55-128 --system-config=RTSS_HE_SRAM_MRAM --memory-mode=Shared_Sram)

compiled() # MODEL OPTION...
{
	npucc "${target[@]}" "${@:2}" -o npu.tflite "$1" 2>err
}

@test "one NPU operator is one call of the driver" {
	compiled "$TOP/tests/models/digits.tflite"
	call_runs npu.tflite
	[ "$(grep -c 'status = net_npu(' net.c)" = 1 ]
}

# mixed NAME: a model with float inputs and outputs, FULLY_CONNECTED, SPLIT, CONCATENATION,
# and one QUANTIZE of each kind
mixed()
{
	model "$1" ".operator_codes += [114,6,49,2,22,25 |
			{deprecated_builtin_code:.,builtin_code:.,version:1}]
		| .buffers += [{data:[1,0,0,0]}]
		| $t += [{shape:[1,4],type:0,name:\"real in\"},{shape:[1,2],type:0,name:\"real out\"},
			{shape:[1],type:2,buffer:3,name:\"axis\"},
			{shape:[1,1],type:9,name:\"left\",quantization:{scale:[2.0],zero_point:[3]}},
			{shape:[1,1],type:9,name:\"right\",quantization:{scale:[2.0],zero_point:[3]}},
			{shape:[1,2],type:9,name:\"swapped\",quantization:{scale:[2.0],zero_point:[3]}},
			{shape:[2,1],type:9,name:\"shaped\",quantization:{scale:[2.0],zero_point:[3]}},
			{shape:[2,1],type:3,name:\"bytes\",quantization:{scale:[1.37],zero_point:[120]}},
			{shape:[2,1],type:7,name:\"words\",quantization:{scale:[0.043],zero_point:[0]}},
			{shape:[1,2],type:9,name:\"soft\",quantization:{scale:[0.00390625],zero_point:[-128]}}]
		| .subgraphs[0].inputs = [4] | .subgraphs[0].outputs = [5,12,11,13]
		| .subgraphs[0].operators |= [{opcode_index:1,inputs:[4],outputs:[0]}] + . +
			[{opcode_index:3,inputs:[6,3],outputs:[7,8],builtin_options_type:35,builtin_options:{num_splits:2}},
			{opcode_index:4,inputs:[8,7],outputs:[9],builtin_options_type:10,builtin_options:{axis:1}},
			{opcode_index:5,inputs:[9],outputs:[10]},
			{opcode_index:1,inputs:[10],outputs:[11]},
			{opcode_index:1,inputs:[11],outputs:[12]},
			{opcode_index:6,inputs:[9],outputs:[13],builtin_options_type:9,builtin_options:{beta:0.5}},
			{opcode_index:2,inputs:[9],outputs:[5]}]"
}

@test "CPU operators between NPU operators are inline code or functions" {
	mixed m
	compiled m.tflite --cpu=SPLIT --cpu=CONCATENATION --cpu=RESHAPE --cpu=SOFTMAX \
		--cpu=QUANTIZE
	call_runs npu.tflite
	[ "$(grep -c '_rounded(x' net.c)" = 1 ]
	[ "$(grep -c '_requantized(x' net.c)" = 2 ]
	[ "$(grep -c '^int net_op' net.h)" = 1 ]
	grep -qx 'int net_op[0-9]*_softmax(const int8_t \*input_0,' net.h
	grep -qx '#define NET_OP[0-9]*_BETA 0.5f' net.h
	grep -qx '#define NET_OP[0-9]*_INPUT_0_SHAPE { 1, 2 }' net.h
	grep -qx '#define NET_OP[0-9]*_OUTPUT_0_ZERO_POINT (-128)' net.h
	# a wrong byte is detected
	sed -i 's/int net_call(/int wrong_call(/; s/^net_call(/wrong_call(/' net.c
	cat >>net.c <<-'END'
	int net_call(struct ethosu_driver *driver, void *arena_memory);
	int net_call(struct ethosu_driver *driver, void *arena_memory)
	{
		int status = wrong_call(driver, arena_memory);
		((uint8_t *)arena_memory)[NET_OUTPUT_3_ARENA_OFFSET] ^= 1;
		return status;
	}
	END
	run call_link npu.tflite
	[ "$status" -eq 1 ]
	[ "$output" = "status 0, 3 outputs differ" ]
}

# edge_floats: 64 floats: both signs of 0, of the numbers around 0.25 and 0.5, of ties and their neighbours,
# of ends of the types, of 2^23, 2^31, 2^62, of the largest number, infinity and NaN
edge_floats()
{
	local b v bits="00000000 00000001 00800000 3e7fffff 3e800000 3e800001 3effffff 3f000000 3f000001 3f3fffff
		3f400000 3f400001 3fa00000 40400000 42890000 42898000 4289c000 42730000 42748000 41980000 3f7b8000
		3f7b9000 4b000000 4b000001 4afffffe 4ec00000 4f000000 4effffff 5e800000 7f7fffff 7f800000 7fc00000"
	for b in $bits; do
		for v in $((16#$b)) $((16#$b | 16#80000000)); do
			# shellcheck disable=SC2059 # the format has the bytes
			printf "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $((v & 255)) $((v >> 8 & 255)) $((v >> 16 & 255)) $((v >> 24)))"
		done
	done
}

@test "QUANTIZE and DEQUANTIZE have the simulator's bytes for ties, ends, huge numbers and NaN" {
	need gcc jq
	# outputs of each type, each from the floats and back to float
	model m '[["int8",9,0.5,-10], ["uint8",3,0.1,255], ["int16",7,3e-5,0], ["int32",2,0.75,-7]] as $to
		| .operator_codes = [114,6 | {deprecated_builtin_code:.,builtin_code:.,version:1}] | .buffers = [{}]
		| .subgraphs[0] |= (.inputs = [0] | .outputs = [range(1;9)]
		| .tensors = [{shape:[64],type:0,name:"real"}] + ($to | map({shape:[64],type:.[1],name:.[0],
			quantization:{scale:[.[2]],zero_point:[.[3]]}})) + ($to | map({shape:[64],type:0,name:("real " + .[0])}))
		| .operators = [range(4) | {opcode_index:0,inputs:[0],outputs:[. + 1]},
			{opcode_index:1,inputs:[. + 1],outputs:[. + 5]}])'
	edge_floats >in
	[ "$(stat -c %s in)" = 256 ]
	npu-sim -i in -o want m.tflite
	tfl2c -n net --format=call -o net.c m.tflite
	tfl2c -n net --format=call --declarations -o net.h m.tflite
	cat >run.c <<-'END'
		#include <stdio.h>
		#include "net.h"
		static uint8_t arena[NET_CALL_ARENA_BYTES] __attribute__((aligned(16)));
		static int put(size_t at, size_t n) { return fwrite(arena + at, n, 1, stdout) != 1; }
		int main(void)
		{
			if (fread(arena + NET_INPUT_0_ARENA_OFFSET, NET_INPUT_0_BYTES, 1, stdin) != 1 || net_call(arena))
				return 2;
		#define PUT(n) if (put(NET_OUTPUT_##n##_ARENA_OFFSET, NET_OUTPUT_##n##_BYTES)) return 2;
			NET_EACH_OUTPUT(PUT)
			return 0;
		}
	END
	gcc -std=c99 -O2 -Wall -Wextra -Wconversion -Wno-unused-const-variable -Werror -o run run.c net.c
	./run <in >got
	for f in want/output_?.npy; do # behind the header
		tail -c +129 "$f"
	done | cmp - got
	# NaN becomes the zero point, as on an Arm core
	tail -c 1 want/output_0.npy | od -An -td1 | grep -qx ' *-10'
}

@test "a network without NPU operators has only functions and copies" {
	mixed m
	call_runs m.tflite
	run ! grep -q ethosu net.c net.h
	# a function fails: the call ends with the function's status
	sed -i 's/return call_operator(1, /return 7; &/' call_glue.h
	run call_link m.tflite
	[ "$status" -eq 7 ]
	[[ "$output" == "status 7, "* ]]
}

@test "an NPU with fast memory of its own is called with that memory" {
	mixed m
	npucc -a ethos-u65-256 --system-config=Ethos_U65_High_End --memory-mode=Dedicated_Sram \
		--cpu=SOFTMAX -o npu.tflite m.tflite 2>err
	call_runs npu.tflite
}

@test "the arena of a call has no second copy of the NPU's fast memory" {
	npucc -q --part=nxp-imx93 -o npu.tflite "$TOP/tests/models/digits.tflite"
	call_runs npu.tflite
	tfl2c -n net -o model.h npu.tflite
	local scratch fast plan
	scratch=$(value NET_NPU_SCRATCH_BYTES model.h)
	fast=$(value NET_NPU_CACHE_BYTES model.h)
	plan=$(value NET_PLAN_BYTES model.h)
	[ "$fast" -gt "$scratch" ]
	[ "$(value NET_CALL_ARENA_BYTES net.h)" = "$scratch" ]
	grep -q 'beside it, CALL_ARENA_BYTES$' net.h
	# an interpreter reserves the fast scratch tensor; the summary does not count it
	[ "$plan" = "$fast" ]
	grep -q "summary counts only the $scratch bytes that are used" model.h
	grep -q 'beside it, TENSOR_ARENA_SIZE$' model.h
	[ "$(npu-perf --json npu.tflite | jq .arena_bytes)" = "$scratch" ]
	# the limit is that of the function
	tfl2c --format=call --arena-limit="$scratch" npu.tflite >/dev/null
	refuses 1 "the arena of the call takes $scratch bytes, the limit is $((scratch - 1))" \
		tfl2c --format=call --arena-limit=$((scratch - 1)) npu.tflite
	# an arena that is larger than the fast memory has all of it already
	npucc -q --part=nxp-imx93 --cpu=CONV_2D -o large.tflite "$TOP/tests/models/digits.tflite"
	tfl2c -n net -o model.h large.tflite
	[ "$(value NET_PLAN_BYTES model.h)" = "$(value NET_NPU_SCRATCH_BYTES model.h)" ]
	grep -q "summary counts PLAN only" model.h
}

@test "the header of a network with CPU operators proposes --format=call" {
	mixed m
	compiled m.tflite --cpu=SOFTMAX
	tfl2c -n net npu.tflite | grep -q -- '--format=call'
	compiled "$TOP/tests/models/digits.tflite"
	tfl2c -n net npu.tflite >net.h
	run ! grep -q -- '--format=call' net.h
}

@test "models of other compilers and models with many CPU operators can be called" {
	compiled "$(network kws_ref_model)" --cpu=CONV_2D --cpu=SOFTMAX --cpu=RESHAPE
	call_runs npu.tflite
	[ -z "$SHARED" ] || call_runs "$SHARED/reference/vela-compiled/5.1.0/ethos-u65-512_Dedicated_Sram/ad01_int8.tflite"
}

@test "variables keep their values from call to call" {
	local model=$SHARED/models-real/wakeword_vad.tflite
	[ -n "$SHARED" ] || model=$(network lstm)
	compiled "$model"
	call_runs npu.tflite
	grep -q '^void net_reset(' net.h
}

@test "a network that cannot be called is refused with the reason and status 2" {
	model p '.subgraphs[0].outputs = [3, 1]'
	refuses 2 "output 1 is a constant, or has no bytes" tfl2c --format=call p.tflite
	refuses 2 "--format=call excludes --namespace, --shared-arena and --dialect=xxd" \
		tfl2c --format=call --namespace=a p.tflite
}
