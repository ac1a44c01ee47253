# SPDX-License-Identifier: Apache-2.0
# Exact rewrites (nputools-rewrites(7)): each rule applies to networks that are drawn for it, does
# not apply to near misses, and leaves every byte of the results as it is.

load lib/common
load lib/model
load lib/rewrites

# conv NAME H W C  O KH KW SH SW  PADDING DILATION: a CONV_2D of int8; PADDING: same or valid
conv()
{
	local valid=1 n=$(($5 * $6 * $7 * $4)) oh ow
	[ "${10}" = valid ] || valid=0
	if [ $valid = 1 ]; then
		oh=$((($2 - $6) / $8 + 1)) ow=$((($3 - ($7 - 1) * ${11} - 1) / $9 + 1))
	else
		oh=$((($2 + $8 - 1) / $8)) ow=$((($3 + $9 - 1) / $9))
	fi
	model "$1" ".operator_codes[0] |= (.deprecated_builtin_code = 3 | .builtin_code = 3)
		| $t[0].shape = [1,$2,$3,$4] | $t[1].shape = [$5,$6,$7,$4] | $t[2].shape = [$5]
		| $t[3].shape = [1,$oh,$ow,$5] | $t[3].quantization.scale = [16.0]
		| .subgraphs[0].operators[0] |= (.builtin_options_type = 1
		  | .builtin_options = {padding:$valid, stride_w:$9, stride_h:$8,
		    dilation_w_factor:${11}, dilation_h_factor:1})
		| .buffers[1].data = [range($n) | (. * 37 + 11) % 251]
		| .buffers[2].data = [range($5 * 4) | if . % 4 == 0 then . * 7 % 256 else 0 end]"
}

@test "rules are listed, and turned off by name" {
	tfl-partition --list-rewrites >list
	grep -q '^window ' list
	npucc --list-rewrites | cmp - list
	tosa-partition --list-rewrites | cmp - list
	conv m 32 32 3 16 3 3 2 2 same 1
	applies window m.tflite ethos-u55-128
	nowhere window m.tflite --no-rewrite=window
	nowhere window m.tflite --no-rewrite=all
	refuses 2 "there is no rule 'windw'; did you mean window?" \
		tfl-partition --no-rewrite=window,windw m.tflite
	refuses 2 "there is no rule ''" tosa-partition --no-rewrite= m.tflite
}

@test "a record of the graph says what a rule changed" {
	conv m 32 32 3 16 3 3 2 2 same 1
	tfl-partition -a ethos-u85-256 -o m.part m.tflite
	grep '^rewrite ' m.part | grep -q 'rule=window name="out" tfl=0.0 bytes=-144 cycles=[1-9]'
	# later stages keep the record
	memory ethos-u85-256
	npu-sched -a ethos-u85-256 "${memory[@]}" m.part >m.sched
	cmp <(grep '^rewrite ' m.part) <(grep '^rewrite ' m.sched)
	# without an accelerator there are no cycles, so that the rule does not apply
	! tfl-partition m.tflite | grep '^rewrite '
}

@test "reports of a compiled model name the changes" {
	local memory
	need jq
	conv m 32 32 3 16 3 3 2 2 same 1
	memory ethos-u85-256
	npucc -q -a ethos-u85-256 "${memory[@]}" -o c.tflite m.tflite
	npu-perf "${memory[@]}" --json c.tflite >c.json
	[ "$(jq -c '.rewrites | map([.rule, .name, .bytes])' c.json)" = '[["window","out",-144]]' ]
	npu-report c.json | grep -A2 "^Exact rewrites" | grep -q "3x3 over 3 channels.* window "
	npu-report --html -o c.html c.json
	grep -q '<section id="rewrites">' c.html
	npucc -q -a ethos-u85-256 "${memory[@]}" --no-rewrite=all -o c.tflite m.tflite
	npu-perf "${memory[@]}" --json c.tflite | jq -e '.rewrites == null' >/dev/null
}

@test "window: columns of an image become channels, with overlap and without" {
	# even padding; odd padding, zeros in front; no padding, overlapping pixels
	conv m 24 24 3 16 3 3 2 2 same 1
	often window m.tflite
	conv m 24 32 3 16 5 5 2 2 same 1
	often window m.tflite
	conv m 16 40 1 16 3 8 2 2 valid 1
	often window m.tflite
	conv m 12 31 2 8 3 7 1 1 valid 1
	often window m.tflite
	conv m 12 33 2 8 3 6 1 3 valid 1
	often window m.tflite
}

@test "window: a copy contains the padding where that pays" {
	conv m 49 10 1 64 10 4 2 2 same 1
	often window m.tflite
	applies window m.tflite ethos-u55-128 | grep -q "10x1 over 4 channels of a padded copy"
	applies window m.tflite ethos-u55-128 --no-overlap | grep -q "10x3 over 2 channels"
	equal m.tflite ethos-u55-128 --no-overlap
	# the windows do not read the last columns
	conv m 20 17 1 24 3 6 1 4 same 1
	often window m.tflite
	# a copy that is large in comparison with the OFM
	conv m 49 10 1 4 10 4 2 2 same 1
	! applies window m.tflite ethos-u55-128 | grep "padded copy"
}

@test "window: --no-overlap reads no byte twice" {
	conv m 12 31 2 8 3 7 1 1 valid 1
	nowhere window m.tflite --no-overlap
	conv m 16 40 1 16 3 8 2 2 valid 1
	applies window m.tflite ethos-u55-128 --no-overlap
	equal m.tflite ethos-u55-128 --no-overlap
	tfl-partition -a ethos-u55-128 --no-overlap m.tflite | grep -q ' ifm=t0\[16,20,2\] '
	tfl-partition -a ethos-u55-128 m.tflite | grep -q ' ifm=t0\[16,17,8\]+0:40,2,1 '
}

@test "window: a TOSA graph gets the same rule, with equal bytes" {
	local a memory
	conv m 49 10 1 64 10 4 2 2 same 1
	"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/tfl-tosa" m.tflite >m.tosa
	for a in ethos-u55-128 ethos-u85-256; do
		tosa-partition -a $a --report m.tosa | grep "^rewrite window: .* of a padded copy"
		! tosa-partition -a $a --report --no-rewrite=all m.tosa | grep "^rewrite"
		memory $a
		npucc -q -a $a "${memory[@]}" -o tosa.tflite m.tosa
		npu-dis --verify -q tosa.tflite
		npu-sim --seed=5 --compare=m.tosa tosa.tflite >/dev/null
	done
}

@test "window: near misses stay as they are" {
	conv m 24 24 3 16 3 3 1 1 same 2 # dilated columns
	nowhere window m.tflite
	conv m 24 24 17 16 3 3 1 1 valid 1 # too many channels
	nowhere window m.tflite
	conv m 24 24 3 16 3 1 2 2 valid 1 # one column
	nowhere window m.tflite
}

@test "window: drawn convolutions compute the same bytes" {
	LOOSE=1 ACCELERATORS="ethos-u55-32 ethos-u55-128 ethos-u65-512 ethos-u85-256 ethos-u85-2048" \
		drawn 30 15 CONV_2D_WINDOW
}

# argmax NAME H W C: an ARG_MAX over channels of int8
argmax()
{
	model "$1" ".operator_codes[0] |= (.deprecated_builtin_code = 56 | .builtin_code = 56)
		| $t = [$t[0] + {shape:[1,$2,$3,$4]}, {shape:[1],type:2,buffer:1,name:\"axis\"},
		  {shape:[1,$2,$3],type:2,name:\"out\"}]
		| .subgraphs[0].outputs = [2]
		| .subgraphs[0].operators[0] |= (.inputs = [0,1] | .outputs = [2]
		  | .builtin_options_type = 40 | .builtin_options = {output_type:2})
		| .buffers = [{}, {data:[3,0,0,0]}]"
}

@test "rowmax: the maximum of a row is found by halves of the row" {
	local a n
	for n in 21 32; do
		argmax m 24 23 $n
		for a in ethos-u55-128 ethos-u55-256 ethos-u65-512; do
			applies rowmax m.tflite $a
			equal m.tflite $a
			equal m.tflite $a --no-rewrite=rowmax
		done
	done
	# U85 has a pool of its own; a row of three elements is not worth it
	run applies rowmax m.tflite ethos-u85-256
	[ "$status" = 1 ]
	argmax m 24 23 3
	nowhere rowmax m.tflite
}

@test "rowmax: drawn searches compute the same bytes" {
	LOOSE=1 ACCELERATORS="ethos-u55-32 ethos-u55-128 ethos-u65-512" drawn 20 10 ARG_MAX ARG_MIN
}
