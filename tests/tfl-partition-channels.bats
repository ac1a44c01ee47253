#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# tfl-partition: the order of channels, if operators select some channels of a map.

load lib/common
load lib/model
load lib/partition

gen=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-model

# shuffle NAME SIDE CHANNELS UNITS PICK: the units of ShuffleNetV2: half of a feature map's channels
# go through convolutions, and both halves are joined to a map.  The jq program PICK appends
# two halves of tensor $x of $c channels.
shuffle()
{
	need flatc jq
	jq -n --argjson side "$2" --argjson c "$3" --argjson units "$4" "
	def quant: {scale:[0.05],zero_point:[3]};
	def noise(\$n): [range(\$n) | . * . * 37 % 251];
	def ints: [.[] | ., 0, 0, 0];
	def last: (.t | length) - 1;
	def map(\$c): .t += [{shape:[1,\$side,\$side,\$c],type:9,quantization:quant}];
	def const(\$shape; \$type; \$data; \$quant): .buffers += [{data:\$data}]
		| .t += [{shape:\$shape,type:\$type,buffer:(.buffers | length - 1),
			quantization:\$quant}];
	def op(\$code; \$in; \$tag; \$options): .ops += [{opcode_index:\$code,inputs:\$in,
		outputs:[last],builtin_options_type:\$tag,builtin_options:\$options}];
	def conv(\$x; \$o): .t[\$x].shape[3] as \$i
		| const([\$o,1,1,\$i]; 9; noise(\$o * \$i); {scale:[range(\$o) | 0.002 + . / 30000],
			zero_point:[range(\$o) | 0]})
		| const([\$o]; 2; [range(\$o) | ., . % 3, 0, 0]; {scale:[0.0001],zero_point:[0]})
		| map(\$o) | op(0; [\$x, last - 2, last - 1]; 1; {stride_w:1,stride_h:1});
	def gather(\$x; \$at): const([\$at | length]; 2; \$at | ints; null)
		| map(\$at | length) | op(1; [\$x, last - 1]; 23; {axis:3});
	def cut(\$x; \$from; \$n): const([4]; 2; [0,0,0,\$from] | ints; null)
		| const([4]; 2; [1,\$side,\$side,\$from + \$n] | ints; null)
		| const([4]; 2; [1,1,1,1] | ints; null)
		| map(\$n) | op(3; [\$x, last - 3, last - 2, last - 1]; 32; {});
	def pick(\$x): $5;
	def unit: last as \$x | pick(\$x) | (.halves[0]) as \$a
		| conv(.halves[1]; \$c / 2) | conv(last; \$c / 2) | last as \$b
		| map(\$c) | op(2; [\$a, \$b]; 10; {axis:3});
	{t:[],ops:[],buffers:[{}]} | map(3) | conv(0; \$c)
		| reduce range(\$units) as \$k (.; unit) | conv(last; 5)
		| {version:3, buffers, subgraphs:[{tensors:.t,operators:.ops,inputs:[0],outputs:[last]}],
		   operator_codes:[3,36,2,45 | {deprecated_builtin_code:.,builtin_code:.,version:1}]}" >"$1.json"
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" "$1.json"
	rm "$1.json"
}
# shellcheck disable=SC2016 # jq's variables
even_odd='gather($x; [range(0; $c; 2)]) | last as $e | gather($x; [range(1; $c; 2)])
	| .halves = [$e, last]'
# shellcheck disable=SC2016
whole='gather($x; [range($c) | . % 2 * ($c / 2) + (. - . % 2) / 2]) | last as $y
	| cut($y; 0; $c / 2) | last as $a | cut($y; $c / 2; $c / 2) | .halves = [$a, last]'

# none_picks NAME: no operation is made for a GATHER or STRIDED_SLICE
none_picks()
{
	tfl-partition --report "$1.tflite" >report
	tfl-partition "$1.tflite" >part
	grep -oE '^ *[0-9]+ +NPU +(GATHER|STRIDED_SLICE)' report >picks
	[ -s picks ]
	while read -r index _; do
		if grep "^op .* tfl=0\.$index " part; then return 1; fi
	done <picks
}

@test "each half of the channels is contiguous in its feature map" {
	shuffle m 6 24 3 "$even_odd"
	none_picks m
	exact m
}

@test "a shuffle of all channels and a split need no operation" {
	shuffle m 5 20 2 "$whole"
	none_picks m
	exact m
}

# live at the same time: a feature map, the next feature map, and the new half of that
@test "a shuffle needs memory for two feature maps and a half" {
	local pick least
	for pick in "$even_odd" "$whole"; do
		shuffle m 20 64 3 "$pick"
		tfl-partition m.tflite >m.part
		run npu-sched -a ethos-u55-256 --system-config Ethos_U55_High_End_Embedded \
			--memory-mode Shared_Sram --arena-cache-size=16 m.part
		[ "$status" = 1 ] || [ "$status" = 2 ]
		least=${output##* }
		echo "$output"
		[ "$least" -le $((20 * 20 * 64 * 5 / 2)) ]
	done
}

# the model's order, if there are other readers of the feature map
@test "channels keep their order in the model's outputs" {
	shuffle m 6 24 1 "$even_odd"
	tfl-partition m.tflite >part
	if grep '^tensor .*tfl=0\.3 ' part; then return 1; fi
	flatc -t --raw-binary --strict-json "$TOP/tests/models/tflite.fbs" -- m.tflite
	jq '.subgraphs[0].outputs += [3]' m.json >n.json
	flatc -b --strict-json "$TOP/tests/models/tflite.fbs" n.json
	tfl-partition n.tflite >part
	grep '^tensor .*tfl=0\.3 ' part
	exact n
}

# in some of these models, weights are in another order than the model's
@test "random shuffles compute the same" {
	local seed parts=0 n=9
	[ -z "${NPUTOOLS_QUICK-}" ] || n=3
	for seed in {11..19}; do
		"$gen" "$seed" SHUFFLE >m.tflite
		if tfl-partition m.tflite | grep -q '^weights .*from=blob'; then
			parts=$((parts + 1))
		fi
	done
	echo "$parts"
	[ "$parts" -ge 5 ]
	run "$BATS_TEST_DIRNAME/random-models" -b "${NPUTOOLS_BUILD:-$TOP/build}" -s 11 -n $n SHUFFLE
	echo "$output"
	[ "$status" = 0 ]
}
