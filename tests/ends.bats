#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Float inputs and outputs of an integer network run on the CPU or are left out; both
# variants can be compared with the model.

load lib/common
load lib/model

target=(-a ethos-u55-128 --system-config RTSS_HE_SRAM_MRAM --memory-mode Shared_Sram)

compile()
{
	tfl-partition "${@:3}" "$1" | npu-sched "${target[@]}" | npu-wenc |
		npu-cmdgen -o "$2"
	[ "$(npu-dis --verify "$2" | grep -c ', 0 errors, 0 warnings$')" = 1 ]
}

@test "QUANTIZE and DEQUANTIZE at the network's inputs and outputs run on the CPU, with one line each" {
	ends m
	run --separate-stderr tfl-partition --report m.tflite
	[ "${lines[-1]}" = "1 of 3 operators on the NPU in 1 region, 2 on the CPU" ]
	compile m.tflite c.tflite 2>err
	[ "$(grep -c "a FLOAT32 input or output of the model; --integer-io leaves it out" err)" = 2 ]
	# in a pipe tfl-quantcheck has said it
	run --separate-stderr bash -c 'tfl-partition <m.tflite >/dev/null'
	[ -z "$stderr" ]
	npu-sim --compare=m.tflite c.tflite
}

@test "in a report, tensors live while the CPU reads or writes them" {
	ends m
	npucc -q --part=alif-e7-he -o c.tflite m.tflite 2>err
	npu-perf --json c.tflite >c.json
	# QUANTIZE reads the input and writes `in`: both are live in its time, which is the peak
	cpu=$(jq '.on_cpu[0].cycles' c.json)
	npu-report c.tflite >text
	grep -qx "Memory at its peak: SRAM0, 20 bytes in use, cycles 0 to $cpu" text
	[ "$(grep -A 2 '^Memory at' text | grep -c '^  \(real in\|in\) ')" = 2 ]
	# DEQUANTIZE writes the output, which lives until the end
	npu-report --html c.tflite >page.html
	sed -n 's|.*>real out</td><td>output</td>.*>\([0-9.]*\)</td><td class="n">\([0-9.]*\)</td><td>f32.*|\1 \2|p' page.html >got
	jq '.calibrated_cycles + .on_cpu[0].cycles, .on_cpu[1].cycles' c.json | tr '\n' ' ' |
		cat - got | awk '{ near = $3 - $1 < 2 && $1 - $3 < 2 && $4 - $3 - $2 < 2 && $4 > $3 } END { exit !near }'
}

@test "the summary has what --integer-io saves, and the option saves it" {
	ends m
	npucc --part=alif-e7-he m.tflite >floats 2>err
	npucc --part=alif-e7-he --integer-io -o i.tflite m.tflite 2>err
	said=$(sed -n 's/^  options  --integer-io: \([0-9]*\) % less time.*/\1/p' floats)
	jq -n -e --argjson a "$(npu-perf --json m_npu.tflite)" --argjson b "$(npu-perf --json i.tflite)" \
		"(100 * (1 - \$b.inference_seconds / \$a.inference_seconds) - $said) | fabs < 2"
	npu-report --summary i.tflite >integers
	run ! grep -e --integer-io integers
}

@test "with --integer-io the network inputs and outputs are the integer tensors" {
	ends m
	run tfl-partition --integer-io --report m.tflite
	[ "${lines[0]}" = "   0  -    QUANTIZE                 in  (left out by --integer-io)" ]
	[ "${lines[-1]}" = "1 of 1 operators on the NPU in 1 region, 0 on the CPU, 2 left out" ]
	compile m.tflite c.tflite --integer-io --fail-on-cpu
	npu-sim --json c.tflite | jq -e '[.inputs[0], .outputs[0] | .type + " " + .name] ==
		["INT8 in", "INT8 out"]'
	for seed in 1 2 3 4; do
		npu-sim --seed=$seed --compare=m.tflite c.tflite
		npu-sim --seed=$seed --compare=c.tflite m.tflite
	done
	# the graph between the stages has these inputs and outputs
	tfl-partition --integer-io m.tflite | grep -q '^model .* inputs=0\.0 outputs=0\.3$'
	tfl2c -n net c.tflite >net.h
	grep -Eq '^#define NET_INPUT_0_SCALE +0.5f' net.h
	grep -Eq '^#define NET_OUTPUT_0_ZERO_POINT +3$' net.h
	# the same network as a model
	tfl-partition --integer-io --cut-only -o cut.tflite m.tflite
	tfl-partition --report cut.tflite >report
	[ "$(tail -n 1 report)" = "1 of 1 operators on the NPU in 1 region, 0 on the CPU" ]
	compile cut.tflite cut_npu.tflite --fail-on-cpu
	npu-sim --compare=m.tflite cut_npu.tflite
	npu-sim --compare=cut.tflite c.tflite
	# names that are numbers of other tensors
	ends numbered "$t[4].name = \"0\" | $t[5].name = \"3\""
	tfl-partition --integer-io --cut-only -o cut.tflite numbered.tflite
	tfl-partition --report cut.tflite >report
	[ "$(tail -n 1 report)" = "1 of 1 operators on the NPU in 1 region, 0 on the CPU" ]
	# an input that nothing reads stays; two outputs of one tensor
	ends unread "$t += [{shape:[1,3],type:0,name:\"unread\"},{shape:[1,2],type:0,name:\"again\"}]
		| .subgraphs[0].inputs = [6,4] | .subgraphs[0].outputs = [5,7]
		| .subgraphs[0].operators += [{opcode_index:2,inputs:[3],outputs:[7]}]"
	tfl-partition --integer-io --cut-only -o cut.tflite unread.tflite 2>err
	grep -q 'input 0 (unread) stays FLOAT32' err
	tfl-quantcheck --json cut.tflite | jq -e '.inputs == [6, 0] and .outputs == [3, 3]'
}

@test "a difference between the two variants is found" {
	ends m
	ends other '.buffers[2].data[4] -= 64'
	compile other.tflite c.tflite --integer-io
	run npu-sim --compare=m.tflite c.tflite
	[ "$status" -eq 1 ]
	[[ "$output" == *"c.tflite: error: output 0 (tensor "*", but in the other model "* ]]
}

@test "a float input with other readers stays float" {
	# a second QUANTIZE with another scale
	ends m "$t += [{shape:[1,4],type:9,name:\"q2\",quantization:{scale:[0.25],zero_point:[0]}}]
		| .subgraphs[0].operators += [{opcode_index:1,inputs:[4],outputs:[6]}]
		| .subgraphs[0].outputs += [6]"
	run --separate-stderr tfl-partition --integer-io --report m.tflite
	[[ "$stderr" == *"warning: m.tflite: input 0 (real in) stays FLOAT32"* ]]
	compile m.tflite c.tflite --integer-io 2>err
	npu-sim --compare=m.tflite c.tflite
	# the same scale: one input for both
	ends m "$t += [{shape:[1,4],type:9,name:\"q2\",quantization:{scale:[0.5],zero_point:[-10]}}]
		| .subgraphs[0].operators += [{opcode_index:1,inputs:[4],outputs:[6]}]
		| .subgraphs[0].outputs += [6]"
	compile m.tflite c.tflite --integer-io --fail-on-cpu
	npu-sim --compare=m.tflite c.tflite
	# --cpu keeps the QUANTIZE
	compile m.tflite c.tflite --integer-io --cpu=QUANTIZE 2>err
	npu-sim --compare=m.tflite c.tflite
	npu-sim --json c.tflite | jq -e '.inputs[0].type == "FLOAT32"'
}

@test "both variants accept real values as inputs and as expected outputs" {
	ends m
	compile m.tflite c.tflite --integer-io
	printf '%s\n' 1.5,-2,63,-200 >in.csv
	mkinput --format=npy -o real.npy m.tflite in.csv
	mkinput --format=npy -o ints.npy c.tflite in.csv
	npu-sim -i real.npy -o real m.tflite
	npu-sim -i real.npy -e real/output_0.npy m.tflite
	npu-sim -i real.npy -e real/output_0.npy c.tflite
	npu-sim -i ints.npy -e real/output_0.npy c.tflite
	npu-sim -i real.npy -o ints c.tflite
	npu-sim -i ints.npy -e ints/output_0.npy c.tflite
	# half a step away is another value
	printf '%s\n' 1,1 >no.csv
	ends back '.subgraphs[0].inputs = [5] | .subgraphs[0].outputs = [5] | .subgraphs[0].operators = []'
	mkinput --format=npy -o no.npy back.tflite no.csv
	run npu-sim -i real.npy -e no.npy c.tflite
	[ "$status" -eq 1 ]
}

@test "frames are a leading dimension in files, and inputs follow one another" {
	ends m
	compile m.tflite c.tflite --integer-io
	npu-sim --frames=3 --compare=m.tflite -o stacked c.tflite
	for s in 0 1; do npu-sim --frames=2 --seed=$s -o s$s c.tflite; done
	cmp -s s0/output_0.npy s1/output_0.npy && false
	head -c 128 stacked/output_0.npy | tr -d '\0' | grep -aq "'shape': (3, 1, 2)"
	# npu-sim reads its own output: values of three frames, wrong in the last
	npu-sim --frames=3 -e stacked/output_0.npy c.tflite
	printf '\200' >last
	head -c -1 stacked/output_0.npy | cat - last >wrong.npy
	run npu-sim --frames=3 -e wrong.npy c.tflite
	[ "$status" -eq 1 ]
	[[ "$output" == *"c.tflite: error: frame 2, output 0 "*"expected -128"* ]]
	refuses 2 "the shape is [3,1,2], tensor out is INT8[1,2], 2 frames of it; --frames=3 takes" \
		npu-sim --frames=2 -e stacked/output_0.npy c.tflite
	refuses 2 "--frames" npu-sim --frames=0 c.tflite
}

# outputs NAME: FULLY_CONNECTED, and its result as two float tensors
outputs()
{
	model "$1" ".operator_codes += [{deprecated_builtin_code:6,builtin_code:6,version:1}]
		| $t += [{shape:[1,2],type:0,name:\"first\"},{shape:[1,2],type:0,name:\"second\"}]
		| .subgraphs[0].outputs = [4,5]
		| .subgraphs[0].operators += [{opcode_index:1,inputs:[3],outputs:[4]},
			{opcode_index:1,inputs:[3],outputs:[5]}]"
}

@test "published models with float inputs and outputs are exact in both variants" {
	local in models=("$SHARED"/models-real/{catdog,blazeface_front_128}.tflite)
	if [ -z "$SHARED" ]; then
		ends one
		outputs two
		models=(one.tflite two.tflite)
	fi
	for in in "${models[@]}"; do
		compile "$in" plain.tflite 2>err
		compile "$in" ints.tflite --integer-io --fail-on-cpu
		npu-sim --seed=7 --frames=2 --compare="$in" plain.tflite
		npu-sim --seed=7 --frames=2 --compare="$in" ints.tflite
	done
}
