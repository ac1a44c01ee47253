# SPDX-License-Identifier: Apache-2.0
# Broken input: every program refuses it or works.  No program crashes, hangs, takes too
# much memory or writes half an output.  The inputs are truncated, flipped and overwritten
# copies of valid ones.  A number alone determines the places of the changes.

load lib/common
load lib/model

model=$BATS_TEST_DIRNAME/models/digits.tflite
target=(-a ethos-u55-128 --system-config RTSS_HE_SRAM_MRAM
	--memory-mode Shared_Sram)

have()
{
	[ -x "$BIN/$1" ]
}

# survives COMMAND... -o hostile.out: the command meets the rules in the header of this file
survives()
{
	local status=0 lines
	[ ! -e hostile.out ] || rm -rf hostile.out
	"$@" >stdout 2>stderr </dev/null || status=$?
	case $status in
	0) return 0 ;;
	1) return 0 ;; # an answer, with its report
	2)
		mapfile lines <stderr
		[ ${#lines[@]} = 1 ] || {
			echo "$* ($input): not one line:"
			cat stderr
			return 1
		} ;;
	*)
		echo "$* ($input): status $status"
		cat stderr
		cp "${!#}" "$BATS_RUN_TMPDIR/hostile-in"
		return 1 ;;
	esac
	# a directory that was made for outputs may stay, but without files
	[ ! -e hostile.out ] || [ -z "$(find hostile.out -type f)" ] || {
		echo "$* ($input): refused, and an output"
		return 1
	}
}

# try KIND COUNT COMMAND...: runs COMMAND with COUNT broken copies of the file KIND as the
# last operand
try()
{
	local kind=$1 count=$2 i
	shift 2
	have "$1" || return 0
	[ -z "${NPUTOOLS_QUICK-}" ] || count=$((count / 4))
	(
		# This limit is enough for any of these models; sanitizers need more.  A
		# busy loop ends after 20 seconds of processor time; a sleeping program ends
		# by the suite's limit.
		[[ $BIN == *asan* ]] || ulimit -v 2000000
		ulimit -t 20
		for ((i = 0; i < count; i++)); do
			input="$kind broken $i"
			survives "$@" "$BATS_FILE_TMPDIR/broken/$kind/$i" || exit
		done
	)
}

# makes the demo's files after each stage and broken copies of each file, once for all tests
setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return
	PATH=${NPUTOOLS_BIN:-$BATS_TEST_DIRNAME/../build/bin}:$PATH
	tfl-partition -o part "$BATS_TEST_DIRNAME/models/digits.tflite"
	local target=(-a ethos-u55-128 --system-config RTSS_HE_SRAM_MRAM
		--memory-mode Shared_Sram)
	npu-sched "${target[@]}" --keep-plan=plan -o sched part
	npu-wenc -o wenc sched
	npu-cmdgen -o npu.tflite wenc
	cp "$BATS_TEST_DIRNAME/models/digits.tflite" model.tflite
	for kind in model.tflite npu.tflite part plan sched wenc; do
		mkdir -p broken/$kind
		"${NPUTOOLS_TESTBIN:-$BATS_TEST_DIRNAME/../build/tests}/broken" $kind 120 \
			broken/$kind
	done
}

@test "tfl-quantcheck, tfl-partition and tfl2c survive broken models" {
	try model.tflite 120 tfl-quantcheck --pass -o hostile.out
	try model.tflite 120 tfl-partition -o hostile.out
	try model.tflite 120 tfl2c -n net -o hostile.out
	try model.tflite 30 tfl2c -n net --format=call -o hostile.out
}

@test "tfl-quantize survives broken models" {
	mkdir -p "$BATS_FILE_TMPDIR/broken/float"
	"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/broken" "$TOP/tests/models/digits-float.tflite" 120 \
		"$BATS_FILE_TMPDIR/broken/float"
	try float 120 tfl-quantize --random -o hostile.out
	try model.tflite 20 tfl-quantize --random -o hostile.out
}

@test "npu-sim and mkinput survive broken models" {
	try model.tflite 120 npu-sim -o hostile.out
	try model.tflite 60 mkinput --random=1 -o hostile.out
}

@test "npu-dis, npu-sim, npu-perf and tfl2c survive broken compiled models" {
	try npu.tflite 120 npu-dis -o hostile.out
	try npu.tflite 120 npu-dis --verify -o hostile.out
	try npu.tflite 120 npu-sim -o hostile.out
	try npu.tflite 120 npu-perf "${target[@]:2}" -o hostile.out
	try npu.tflite 60 tfl2c -n net -o hostile.out
	try npu.tflite 30 tfl2c -n net --format=call -o hostile.out
}

@test "npu-sched, npu-wenc and npu-cmdgen survive broken graphs" {
	try part 120 npu-sched "${target[@]}" -o hostile.out
	try plan 120 npu-sched "${target[@]}" -o hostile.out "$BATS_FILE_TMPDIR/part" --plan
	try sched 120 npu-wenc -o hostile.out
	try wenc 120 npu-cmdgen -o hostile.out
}

@test "control characters in names do not reach the terminal" {
	need jq flatc
	local bad='"\u001b[2Jx\ny\u007f"'
	model m "$t[].name = $bad | .subgraphs[0].name = $bad
		| .operator_codes += [{deprecated_builtin_code:32,builtin_code:32,custom_code:$bad}]
		| $t += [{shape:[1,2],type:9,name:$bad,quantization:{scale:[0.5],zero_point:[3]}}]
		| .subgraphs[0].outputs = [4]
		| .subgraphs[0].operators += [{opcode_index:1,inputs:[3],outputs:[4]}]"
	{
		tfl-quantcheck m.tflite
		tfl-partition --report m.tflite
		tfl-partition --verbose-operators -o m.part m.tflite
		npu-sched "${target[@]}" -v --verbose-graph --verbose-allocation \
			-o m.sched m.part
		npu-wenc --stats --verbose-allocation -o m.wenc m.sched
		npu-cmdgen --verbose-allocation --verbose-high-level-command-stream \
			--verbose-register-command-stream -o m_npu.tflite m.wenc
		npu-perf --csv m.wenc
		npu-perf --verbose-performance --show-cpu-operations m.wenc
		npu-perf "${target[@]:2}" --show-cpu-operations m_npu.tflite
		npu-sim --trace --compare m.tflite m_npu.tflite
		npu-dis m_npu.tflite
		tfl2c --resolver -n net m_npu.tflite
	} >out 2>&1
	[ "$(grep -c '?\[2Jx?y?' out)" -gt 30 ]
	[ -z "$(tr -d '\t\n' <out | grep -a '[[:cntrl:]]')" ]
	[ -z "$(grep '^y' out)" ]
}

@test "a file of the wrong kind is refused in one line" {
	printf '' >empty
	head -c 5000 /dev/zero >zeros
	seq 1000 >text
	for f in empty zeros text "$BIN/tfl-quantcheck"; do
		input=$f
		for p in $(programs); do
			args=()
			[ "$p" != npu-sched ] || args=("${target[@]}")
			[ "$p" != npucc ] || args=("${target[@]}" -o out.h)
			[ "$p" != npu-vela ] || args=("${target[@]:2}") # else it warns of defaults
			[ "$p" != npu-eval ] || args=(in) # labels, then outputs
			cp "$f" in
			status=0
			"$p" "${args[@]}" in >out 2>err </dev/null || status=$?
			[ $status = 2 ] && [ ! -s out ] &&
				[ "$(wc -l <err)" = 1 ] || {
				echo "$p of $f: status $status"
				cat err
				false
			}
		done
	done
}

@test "a stage with the file of a wrong stage names the missing stage" {
	refuses 2 npu-sched npu-wenc "$BATS_FILE_TMPDIR/part"
	refuses 2 npu-wenc npu-cmdgen "$BATS_FILE_TMPDIR/sched"
}

# chain N [JQ-PROGRAM]: chain.tflite with N RELUs in reverse order
chain()
{
	model chain ".operator_codes = [{deprecated_builtin_code:19,builtin_code:19}]
		| $t = [range($1 + 1) | {shape:[1,4],type:9,name:\"t\\(.)\",
			quantization:{scale:[0.5],zero_point:[-10]}}]
		| .buffers = [{}]
		| .subgraphs[0].inputs = [0] | .subgraphs[0].outputs = [$1]
		| .subgraphs[0].operators = [range($1) | $1 - 1 - .
			| {inputs:[.],outputs:[. + 1]}] ${2-}"
}

@test "operators in a wrong order are sorted quickly, and a cycle is reported" {
	chain 5
	npu-sim --seed 1 chain.tflite
	chain 30000
	timeout 20 tfl-quantcheck chain.tflite >/dev/null
	chain 5 '| .subgraphs[0].operators[3].inputs = [4]'
	refuses 2 'chain.tflite: error: subgraph 0: operator 1 (RELU) depends on its own result' \
		tfl-quantcheck chain.tflite
}

# wide N: a graph of N operators, whose inputs and outputs are the network's
wide()
{
	local n=$1 i io
	printf '%s\n' 'nputools-graph 1 stage=part' \
		'model m0 name="wide.tflite" description="wide"'
	for ((i = 0; i < 2 * n; i++)); do
		io=out
		((i % 2)) || io=in
		echo "tensor t$i shape=i8[1,1,1,16] scale=1 zero=0 tfl=0.$i io=$io"
	done
	echo "node n0 on=npu tfl=$(seq -s, -f 0.%g 0 $((n - 1)))" \
		"in=$(seq -s, -f t%g 0 2 $((2 * n - 2)))" \
		"out=$(seq -s, -f t%g 1 2 $((2 * n - 1)))"
	for ((i = 0; i < n; i++)); do
		echo "op o$i do=avgpool node=n0 name=\"\" tfl=0.$i ifm=t$((2 * i))" \
			"ofm=t$((2 * i + 1)) ifm-zero=0 ofm-zero=0 kernel=1x1" \
			"stride=1x1 scale=1073741824:30 round=tfl clamp=-128:127"
	done
	echo eof
}

@test "a graph with 10,000 tensors that are live at the same time is scheduled" {
	local n=5000
	[ -z "${NPUTOOLS_QUICK-}" ] || n=1000 # the search for addresses is quadratic
	wide $n >wide.part
	# a list of their 50 million pairs would need 3 GB
	[[ $BIN == *asan* ]] || ulimit -v 400000
	npu-sched "${target[@]}" -o wide.sched wide.part
	[ "$(grep -c '^tensor .* at=' wide.sched)" -eq $((2 * n)) ]
}

@test "5,000 operators that run on the CPU need little memory and time" {
	local n=5000
	[ -z "${NPUTOOLS_QUICK-}" ] || n=1000
	"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model" crowd $n 2 2 >crowd.tflite
	[[ $BIN == *asan* ]] || ulimit -v 120000
	ulimit -t 20
	tfl-partition --cpu=ADD -o crowd.part crowd.tflite
	npu-sched -j1 "${target[@]}" -o crowd.sched crowd.part
	[ "$(grep -c ' on=cpu ' crowd.sched)" -eq $n ]
}

@test "5,000 outputs outside of the SRAM are planned in linear time" {
	model outputs "$t = ([$t[0] + { shape: [1, 16] }] +
			[range(5000) as \$i | $t[0] + { shape: [1, 16], name: \"o\(\$i)\" }]) |
		.operator_codes = [{ deprecated_builtin_code: 59, builtin_code: 59 }] |
		.subgraphs[0].outputs = [range(1; 5001)] |
		.subgraphs[0].operators = [range(1; 5001) | { inputs: [0], outputs: [.] }]"
	tfl-partition -o outputs.part outputs.tflite
	[[ $BIN == *asan* ]] || ulimit -t 12
	npu-sched -j1 -a ethos-u65-256 --system-config Ethos_U65_High_End \
		--memory-mode Dedicated_Sram -o outputs.sched outputs.part
}

@test "a map of 65,535 rows is planned in linear time" {
	model rows "$t = [range(5) | { shape: [65535, 1, 1, 1], type: 7, name: \"t\(.)\",
			quantization: { scale: [0.1], zero_point: [0] } }] |
		$t[1].shape = [1] | $t[3] = { shape: [65535, 1, 1, 1], type: 6, name: \"t3\" } |
		.operator_codes = [61, 123 | { deprecated_builtin_code: ., builtin_code: . }] |
		.subgraphs[0].inputs = [0, 1, 2] | .subgraphs[0].outputs = [4] |
		.subgraphs[0].operators = [{ inputs: [0, 1], outputs: [3] },
			{ opcode_index: 1, inputs: [3, 0, 2], outputs: [4] }] | .buffers = [{}]"
	tfl-partition -a ethos-u65-512 --fail-on-cpu -o rows.part rows.tflite
	[[ $BIN == *asan* ]] || ulimit -t 20
	npu-sched -j1 -a ethos-u65-512 --system-config Ethos_U65_High_End \
		--memory-mode Dedicated_Sram -o rows.sched rows.part
}

@test "the values of 65,535 channels are found in linear time" {
	model channels "$t = [range(3) | { shape: [1, 1, 1, 65535], type: 6, name: \"t\(.)\" }] |
		$t[1].shape = [2, 1, 1, 65535] | $t[2].shape = [2, 1, 1, 1] |
		$t += [[1, 1], [4], [1] | { shape: ., type: 2, name: \"k\" }] |
		$t[3].buffer = 1 | $t[4].buffer = 2 | $t[5].buffer = 1 |
		.buffers = [{}, { data: [0, 0, 0, 0] },
			{ data: [2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 255, 255, 0, 0] }] |
		.operator_codes = [122, 36 | { deprecated_builtin_code: ., builtin_code: . }] |
		.subgraphs[0].inputs = [0] | .subgraphs[0].outputs = [2] |
		.subgraphs[0].operators = [{ inputs: [3, 0, 4], outputs: [1] },
			{ opcode_index: 1, inputs: [1, 5], outputs: [2], builtin_options_type: 23,
				builtin_options: { axis: 3 } }]"
	[[ $BIN == *asan* ]] || ulimit -t 2
	tfl-partition --fail-on-cpu -o channels.part channels.tflite
	# which channels the parts of a quotient need
	model quotient "$t = [range(3) | { shape: [3, 1, 3, 33000], type: 9, name: \"t\(.)\",
			quantization: { scale: [0.01], zero_point: [-128] } }] |
		.operator_codes = [{ deprecated_builtin_code: 42, builtin_code: 42 }] | .buffers = [{}] |
		.subgraphs[0].inputs = [0, 1] | .subgraphs[0].outputs = [2] |
		.subgraphs[0].operators = [{ inputs: [0, 1], outputs: [2] }]"
	tfl-partition -a ethos-u55-64 --fail-on-cpu -o quotient.part quotient.tflite
}

@test "a sum of 1,500 inputs gives the same bytes as the plain model" {
	"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/chain-model" crowd 1500 2 3 >crowd.tflite
	npucc "${target[@]}" -o npu.tflite crowd.tflite
	npu-dis --verify -q npu.tflite
	npu-sim --seed=1 --compare=crowd.tflite npu.tflite
}

@test "an operation without a scale is refused, and the message names its line" {
	npucc "${target[@]}" -o digits.wenc "$model"
	for op in 'avgpool:rule 18: POOL: an average without padding needs OFM scale mode 1' \
		'mul:rule 17: ELEMENTWISE: OFM scale mode 0, the operation needs mode 1'; do
		line=$(grep -n "^op .* do=${op%%:*} " digits.wenc | head -1)
		line=${line%%:*}
		id=$(sed -n "${line}s/^op *\([^ ]*\) .*/\1/p" digits.wenc)
		sed "${line}s/ scale=[0-9:]*//" digits.wenc >unscaled.wenc
		refuses 2 "unscaled.wenc:$line: error: $id breaks ${op#*:}" \
			npu-cmdgen -o out.tflite unscaled.wenc
		[ ! -e out.tflite ]
	done
}

@test "an operator that reads its own result is reported" {
	chain 2 '| .subgraphs[0].operators[1].inputs = [1]'
	for p in tfl-quantcheck tfl-partition; do
		refuses 2 'chain.tflite: error: subgraph 0: operator 1 (RELU) depends on its own result' \
			$p chain.tflite
	done
}

@test "a model that is already compiled is reported" {
	compiled=$BATS_TEST_DIRNAME/models/digits-ethos-u55-128.tflite
	for p in tfl-quantcheck tfl-partition; do
		refuses 2 'digits-ethos-u55-128.tflite: error: is compiled already: it has an ethos-u operator (operator 0 of subgraph 0)' \
			$p "$compiled"
	done
	refuses 2 "is compiled already" tfl-quantcheck --pass "$compiled"
	model tpu '.operator_codes = [{deprecated_builtin_code:32,builtin_code:32,
			custom_code:"edgetpu-custom-op"}]
		| .subgraphs[0].operators = [{inputs:[0],outputs:[3]}]'
	refuses 2 "is compiled already: it has an edgetpu-custom-op operator" \
		npucc "${target[@]}" -o out.tflite tpu.tflite
}

@test "an input that is also an output keeps its value" {
	chain 3 '| .subgraphs[0].outputs = [3, 0]'
	npucc "${target[@]}" -o out.tflite chain.tflite
	npu-dis --verify out.tflite
	npu-sim --compare=chain.tflite out.tflite
	tfl-partition chain.tflite | grep '^tensor .* io=inout'
}
