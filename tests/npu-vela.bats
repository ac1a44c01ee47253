#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# npu-vela: Vela's options and Vela's files.

load lib/common
load lib/model

model=$BATS_TEST_DIRNAME/models/digits.tflite
system=Ethos_U55_High_End_Embedded
memory=(--system-config "$system" --memory-mode Shared_Sram)

@test "npu-vela writes the compiled model, the summary and the log" {
	npu-vela "$model" --accelerator-config ethos-u55-128 "${memory[@]}" \
		--output-dir=a/b >log
	npucc -a ethos-u55-128 "${memory[@]}" -o want.tflite "$model"
	cmp want.tflite a/b/digits_vela.tflite
	[ "$(ls a/b)" = "$(printf '%s\n' digits_summary_$system.csv digits_vela.tflite)" ]
	cp want.tflite digits.tflite
	npu-perf "${memory[@]}" --summary-csv digits.tflite | cmp - a/b/digits_summary_$system.csv
	[ "$(head -1 a/b/digits_summary_$system.csv | tr , '\n' | wc -l)" = 52 ]
	[ "$(sed -n 2p log)" = "Network summary for digits" ]
	grep -q '^Total SRAM used ' log
}

@test "inputs and outputs may be outside of the arena" {
	npu-vela "$model" "${memory[@]}" --separate-io-regions >log
	npu-sim --seed 1 --compare="$model" output/digits_vela.tflite >log
	npu-dis output/digits_vela.tflite | grep -q 'IFM_REGION.*3'
	refuses 2 "--separate-io-regions is not supported with --output-format=raw" npu-vela \
		"$model" "${memory[@]}" --separate-io-regions --output-format raw
	[ "$(ls output)" = "$(printf '%s\n' digits_summary_$system.csv digits_vela.tflite)" ]
}

@test "--verbose-all lists on standard output and writes a file of layers" {
	run --separate-stderr npu-vela --verbose-all --output-dir=out "${memory[@]}" "$model"
	[ "$status" -eq 0 ]
	[[ "$output" == *"System Configuration"*"NPU_SET_IFM_"*"Network summary for digits"* ]]
	[ -z "$stderr" ]
	[ "$(head -1 out/digits_per-layer.csv)" = "TFLite_operator,NNG Operator,SRAM Usage,Peak%,Op Cycles,Network%,NPU,SRAM AC,DRAM AC,OnFlash AC,OffFlash AC,MAC Count,Network%,Util%,Name" ]
}

@test "raw output of a TOSA graph and of a model can be read by npu-sim" {
	npu-vela "$model" "${memory[@]}" --output-format raw >log
	npu-sim --compare="$model" output/digits_vela.npz >log
	# with the options of ExecuTorch's backend
	cp "$(tosa_case abs-0)/model.tosa" out.tosa
	npu-vela --accelerator-config=ethos-u55-128 --system-config=$system \
		--memory-mode=Shared_Sram --verbose-operators --verbose-cycle-estimate \
		--config=Arm/vela.ini --output-format=raw --debug-force-regor --output-dir=D \
		out.tosa >log
	npu-sim --compare=out.tosa D/out_vela.npz >log
	npu-vela --verbose-all "${memory[@]}" --output-format=raw --output-dir=E out.tosa >log
	[ -s E/out_vela.npz ]
}

@test "without a memory system Vela's default is used, with a warning" {
	npu-vela "$model" >log 2>err
	[ "$(grep -c '^npu-vela: warning: no --' err)" = 2 ]
	[ -s output/digits_summary_internal-default.csv ]
	npu-vela --accelerator-config ethos-u65-256 "$model" >log 2>err
	grep -q 'default, Ethos_U65_Client_Server$' err
	npu-vela --accelerator-config ethos-u85-256 "$model" >log 2>err
	grep -q 'default, Ethos_U85_SYS_DRAM_Mid$' err
	grep -q 'default, Dedicated_Sram_384KB$' err
	npu-sim --seed 2 --compare="$model" output/digits_vela.tflite >log
	refuses 2 "ethos-u75-256" npu-vela --accelerator-config ethos-u75-256 "$model"
}

@test "several configuration files count as one" {
	cat >sys.ini <<-'END'
	[System_Config.mine]
	core_clock=100e6
	axi0_port=Sram
	axi1_port=OffChipFlash
	Sram_clock_scale=1.0
	OffChipFlash_clock_scale=0.5
	END
	cat >mem.ini <<-'END'
	[Memory_Mode.ours]
	const_mem_area=Axi1
	arena_mem_area=Axi0
	cache_mem_area=Axi0
	END
	npu-vela --config sys.ini --config mem.ini --system-config mine --memory-mode ours \
		"$model" >log
	grep -q '^Accelerator clock *100 MHz' log
	[ -s output/digits_summary_mine.csv ]
	[ "$(npu-vela --list-configs mem.ini | tail -1)" = "  ours" ]
	npu-vela --list-configs Arm/vela.ini | grep -q Ethos_U55_Deep_Embedded
	refuses 2 "npu-vela: nowhere.ini: error: No such file or directory" npu-vela --list-configs nowhere.ini
}

@test "operators on the CPU are no error, even all of them" {
	npu-vela "$model" "${memory[@]}" --ignore-ops CONV_2D,FULLY_CONNECTED \
		--show-cpu-operations >log 2>err
	grep -q 'CONV_2D' log
	model m
	npu-vela m.tflite "${memory[@]}" --ignore-ops FULLY_CONNECTED >log 2>err
	grep -q '^npu-vela: warning: no summary: nothing of the network runs on the NPU, which needs integers' err
	# a float network, too; one of unequal scales is refused
	npu-vela "$TOP/tests/models/digits-float.tflite" "${memory[@]}" --output-dir float >log 2>err
	grep -q '^npu-vela: warning: no summary: nothing .*; tfl-quantize makes an integer network' err
	[ "$(ls float)" = digits-float_vela.tflite ]
	load lib/partition
	op unequal 22 9 '[1,6]' "$t[1].quantization={scale:[0.9],zero_point:[3]}" # RESHAPE
	refuses 1 'integer, but not as the kernels compute' npu-vela unequal.tflite "${memory[@]}" --output-dir none
	[ ! -e none ]
	[ "$(ls output)" = "$(printf '%s\n' digits_summary_$system.csv digits_vela.tflite m_vela.tflite)" ]
}

@test "every option of Vela 5.1 and 3.12 is accepted, reported or refused" {
	# from OPTIONS.md of Vela 5.1.0
	for o in output-dir=x output-format=tflite verbose-all verbose-config verbose-graph \
		verbose-tensor-format verbose-schedule verbose-allocation \
		verbose-high-level-command-stream verbose-register-command-stream \
		verbose-weights verbose-cycle-estimate verbose-performance \
		show-cpu-operations ignore-ops=SOFTMAX accelerator-config=ethos-u55-128 \
		system-config=$system memory-mode=Shared_Sram optimise=Size \
		arena-cache-size=100000 cpu-tensor-alignment=16 cop-format=COP1 \
		experimental-softmax-int16-neg-exp-range=10.0 config=Arm/vela.ini; do
		set -- "$@" "--$o"
	done
	[ $# -gt 20 ]
	for o in verbose-quantization verbose-packing verbose-tensor-purpose \
		verbose-operators verbose-progress timing show-subgraph-io-summary \
		tensor-allocator=Greedy max-block-dependency=3 recursion-limit=1000 \
		hillclimb-max-iterations=99999 debug-force-legacy-core debug-force-regor \
		disable-chaining disable-fwd disable-cascading disable-buffering \
		disable-ifm-reuse; do
		set -- "$@" "--$o"
	done
	npu-vela "$@" "$model" >log 2>err
	[ "$(grep -c '^npu-vela: --[a-z-]* does nothing: ' err)" = 18 ]
	for o in enable-debug-db force-symmetric-int-weights \
		supported-ops-report api-version cop-format=COP2 cpu-tensor-alignment=64; do
		refuses 2 "npu-vela: error: --$o is not supported: " npu-vela "--$o" "$model"
	done
	# Vela needs no network for these two: one error says all
	for o in supported-ops-report api-version; do
		run ! npu-vela "--$o"
		[ "$(grep -c ': error: ' <<<"$output")" = 1 ]
	done
	refuses 2 "unrecognized option '--no-such-option'" npu-vela --no-such-option
	refuses 2 "option '--verbose' is ambiguous" npu-vela --verbose
	refuses 2 "option '--optimise' requires an argument" npu-vela --optim
}

@test "a failure leaves no file, and a full disk is an error" {
	refuses 2 "npu-vela: nothing.tflite: error: No such file or directory" npu-vela nothing.tflite
	refuses 2 "no network; name a .tflite or .tosa file" npu-vela --timing
	refuses 1 "npu-sched" npu-vela "${memory[@]}" --arena-cache-size 16 "$model"
	[ ! -e output ]
	[ -c /dev/full ] || skip "no /dev/full"
	for args in --help --usage --version "${memory[*]} $model"; do
		status=0
		# shellcheck disable=SC2086
		npu-vela $args >/dev/full 2>err || status=$?
		[ $status = 2 ]
		[ "$(tail -1 err)" = "npu-vela: standard output: error: No space left on device" ]
	done
}

@test "only several configuration files need a temporary file, which is removed" {
	TMPDIR=/no-such npu-vela "${memory[@]}" "$model" >log
	rm -r output
	printf '[Memory_Mode.a]\nconst_mem_area=Axi1\narena_mem_area=Axi0\ncache_mem_area=Axi0\n' >a.ini
	printf '# nothing\n' >b.ini
	mkdir tmp
	TMPDIR=$PWD/tmp npu-vela --system-config $system --memory-mode Shared_Sram --config a.ini \
		--config b.ini "$model" >log 2>&1 || [ $? = 2 ]
	[ -z "$(ls -A tmp)" ]
	refuses 2 "npu-vela: /no-such/nputools-" env TMPDIR=/no-such npu-vela "${memory[@]}" \
		--config a.ini --config b.ini "$model"
	refuses 2 "npu-vela: c.ini: error: No such file or directory" env TMPDIR="$PWD/tmp" npu-vela \
		"${memory[@]}" --config a.ini --config c.ini "$model"
	[ -z "$(ls -A tmp)" ]
	[ ! -e output ]
}

@test "a file that cannot be written whole is not written at all" {
	local said
	# a limit of file sizes stands for a full disk; it also limits files in memory
	said=$(ulimit -f 1; npu-vela "${memory[@]}" "$model" 2>&1 >/dev/null) && return 1
	[ "$(tail -1 <<<"$said")" = "npu-vela: file in memory: error: File too large" ]
	[ ! -e output ]
	mkdir -p out/digits_summary_$system.csv
	refuses 2 "out/digits_summary_$system.csv: " npu-vela "${memory[@]}" --output-dir out "$model"
	[ "$(ls -A out)" = digits_summary_$system.csv ]
	mkdir other
	cp "$model" m.tflite
	ln -s ../m.tflite other/m_vela.tflite
	refuses 2 "the output would overwrite the input" npu-vela "${memory[@]}" --output-dir other \
		m.tflite
	cmp "$model" m.tflite
}

# the programs that npu-vela has started, and itself
started()
{
	grep -lsz "^NPU_VELA_TEST=$BATS_TEST_TMPDIR$" /proc/[0-9]*/environ || true
}

@test "a signal ends npu-vela immediately, and no file is left" {
	[ -r /proc/self/environ ] || skip "no /proc"
	local real=$SHARED/models-real/deeplabv3_mnv2_dm05.tflite i status=0 begin
	[ -n "$SHARED" ] && [ -e "$real" ] || skip "no ../shared"
	NPU_VELA_TEST=$BATS_TEST_TMPDIR npu-vela "${memory[@]}" "$real" >log 2>&1 3>&- &
	# without the signal it takes seconds
	for ((i = 0; i < 500; i++)); do
		[ "$(started | wc -l)" -lt 3 ] || break
		sleep 0.01
	done
	begin=${EPOCHREALTIME/./}
	kill -TERM $!
	wait $! || status=$?
	[ $status = 143 ]
	[ $((${EPOCHREALTIME/./} - begin)) -lt 1000000 ]
	[ ! -e output ]
	for ((i = 0; i < 100; i++)); do
		[ -n "$(started)" ] || return 0
		sleep 0.01
	done
	return 1
}
