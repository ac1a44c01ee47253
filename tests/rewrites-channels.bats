#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The rule "channels" of nputools-rewrites(7): channels of one value and channels that nothing
# reads are removed, and every byte of the results stays as it is.

load lib/common
load lib/model
load lib/rewrites

# two K PADDING ZERO ACTIVATION BIAS COLUMN: a model m of two convolutions of 8 x 8 pixels (SIZE x
# SIZE).  Every second (or NTH) of the 32 channels of "mid", whose zero point is ZERO, has the bias
# BIAS.  The second convolution has a
# kernel of K x K; its weights for these channels are COLUMN, or random (COLUMN: any).
two()
{
	local n=${SIZE-8} nth=${NTH-2} valid=0 o
	[ "$2" = same ] && o=$n || valid=1 o=$((n - $1 + 1))
	model m ".operator_codes[0] |= (.deprecated_builtin_code = 3 | .builtin_code = 3)
		| def map(\$s; \$n; \$z): {shape:\$s, type:9, name:\$n,
			quantization:{scale:[1.0], zero_point:[\$z]}};
		def weights(\$s; \$b): {shape:\$s, type:9, buffer:\$b, name:\"w\",
			quantization:{scale:[0.02], zero_point:[0]}};
		def bias(\$n; \$b): {shape:[\$n], type:2, buffer:\$b, name:\"b\",
			quantization:{scale:[0.02], zero_point:[0]}};
		def bytes: if . < 0 then . + 4294967296 else . end
			| [. % 256, (. / 256 | floor) % 256, (. / 65536 | floor) % 256,
			   (. / 16777216 | floor)];
		def op(\$i; \$o; \$act): {inputs:\$i, outputs:[\$o], builtin_options_type:1,
			builtin_options:{padding:$valid, stride_w:1, stride_h:1,
				dilation_w_factor:1, dilation_h_factor:1,
				fused_activation_function:\$act}};
		$t = [map([1,$n,$n,8]; \"in\"; -3), weights([32,1,1,8]; 1), bias(32; 2),
			map([1,$n,$n,32]; \"mid\"; $3), weights([16,$1,$1,32]; 3), bias(16; 4),
			map([1,$o,$o,16]; \"out\"; 5)]
		| .subgraphs[0] |= (.inputs = [0] | .outputs = [6]
			| .operators = [op([0,1,2]; 3; $4), op([3,4,5]; 6; 0)])
		| .buffers = [{}, {data:[range(256) | (. * 37 + 11) % 251]},
			{data:[range(32) | if . % $nth == 1 then $5 else . * 50 end | bytes[]]},
			{data:[range(512 * $1 * $1) | if . % $nth == 1 and \"$6\" != \"any\"
				then $6 | tonumber? // 0 else (. * 53 + 7) % 253 end]},
			{data:[range(16) | . * 100 - 700 | bytes[]]}]"
}

@test "channels: a channel of one value becomes part of the bias" {
	two 1 same -128 1 -1000000 any
	tfl-partition -a ethos-u55-128 --report m.tflite >report
	grep -q "^rewrite channels: 16 of 32 channels of mid are constant: 384 weights removed" report
	grep -q "^  channels 1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31$" report
	often channels m.tflite
	# the constant is not the zero point: 127 for all inputs
	two 1 same -100 0 1000000 any
	often channels m.tflite
	two 3 valid -100 0 1000000 any
	often channels m.tflite
}

@test "channels: with padding, the constant must be the zero point" {
	two 3 same -128 1 -1000000 any
	often channels m.tflite
	two 3 same -100 1 -1000000 any
	often channels m.tflite
	two 3 same -100 0 -1000000 any
	nowhere channels m.tflite
	equal m.tflite ethos-u55-128
}

@test "channels: a channel whose weights are zero is not read" {
	two 1 same -100 0 7 0
	tfl-partition -a ethos-u55-128 --report m.tflite |
		grep "^rewrite channels: 16 of 32 channels of mid are not read: 384 weights removed"
	often channels m.tflite
	two 3 same -100 0 7 0
	often channels m.tflite
}

@test "channels: a map of one pixel may lose a part of a brick" {
	local a
	SIZE=1 NTH=4 two 1 same -128 1 -1000000 any
	for a in $ALL; do
		applies channels m.tflite "$a" | grep "8 of 32 channels of mid are constant" || return
	done
	often channels m.tflite
}

@test "channels: near misses stay as they are" {
	two 1 same -128 1 -3000 any # not every sum is below the zero point
	nowhere channels m.tflite
	equal m.tflite ethos-u85-256
	two 1 same -128 1 -1000000 any
	nowhere channels m.tflite --no-rewrite=channels
	nowhere channels m.tflite --cpu=1 # the CPU reads all channels
}

@test "channels: without an accelerator, segments keep multiples of 8 channels" {
	two 1 same -128 1 -1000000 any
	tfl-partition m.tflite >m.part
	grep -q '^tensor .* shape=i8\[1,8,8,16\] name="mid"' m.part
	# the tensor is no longer that of the model
	run grep '^tensor .* name="mid".* tfl=' m.part
	[ "$status" = 1 ]
	grep -q '^rewrite .* rule=channels name="mid" tfl=0.0 .* channels=1,3,5,' m.part
}

@test "channels: TOSA graphs lose the same channels" {
	two 1 same -128 1 -1000000 any
	"${GEN%/*}/tfl-tosa" m.tflite >m.tosa
	tosa-partition -a ethos-u55-128 --report m.tosa |
		grep "^rewrite channels: 16 of 32 channels of .* are constant: 384 weights removed"
	local a
	for a in ethos-u55-128 ethos-u65-512 ethos-u85-256; do
		equal m.tosa "$a"
	done
}

# Of the drawn networks, two thirds lose channels.
@test "channels: drawn networks compute the same bytes" {
	NATIVE=1 ACCELERATORS=$EVERY drawn 20 10 CHANNELS
	FIRST=500 LOOSE=1 ACCELERATORS="ethos-u55-64 ethos-u65-256 ethos-u85-512" drawn 20 10 CHANNELS
}

@test "channels: drawn networks lose channels" {
	local s applied=0
	for s in {1..30}; do
		"$GEN" "$s" CHANNELS >m.tflite
		! applies channels m.tflite ethos-u55-128 || applied=$((applied + 1))
	done
	[ "$applied" -ge 15 ]
}
