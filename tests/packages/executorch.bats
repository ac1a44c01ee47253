# SPDX-License-Identifier: Apache-2.0
# make wheel: arm_vela.py of ExecuTorch, unchanged, with the wheel's extra in place of Vela.
# NPUTOOLS_ARM_VELA names the file, or several files separated by blanks.

load ../lib/common

dir=${NPUTOOLS_WHEELS-}

setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return
	[ -n "${NPUTOOLS_ARM_VELA-}" ] || return 0
	python3 -c 'import numpy' 2>/dev/null || return 0
	python3 -m venv --system-site-packages venv
	venv/bin/pip install -q --disable-pip-version-check --no-index \
		--find-links "$dir" 'nputools[vela]'
}

# setup of common.bash, and what the tests need
setup()
{
	set +T
	cd "$BATS_TEST_TMPDIR" || return
	[ -n "${NPUTOOLS_ARM_VELA-}" ] ||
		skip "NPUTOOLS_ARM_VELA names no arm_vela.py of ExecuTorch"
	[ -e "$BATS_FILE_TMPDIR/venv" ] || skip "no numpy, which arm_vela.py imports"
}

# the arguments that EthosUCompileSpec makes of target, system configuration and memory mode
compile_spec()
{
	args=("--accelerator-config=$1" --config=Arm/vela.ini --output-format=raw
		"--system-config=$2" "--memory-mode=$3" "${@:4}")
}

# arm_vela FILE GRAPH DIR: vela_compile() in the virtual environment, with args
arm_vela()
{
	PATH=$BATS_FILE_TMPDIR/venv/bin:/usr/bin:/bin \
		python3 "$TOP/tests/packages/arm_vela.py" "$1" "$2" "$3" "${args[@]}" >said 2>err ||
		{ cat said err; return 1; }
}

# compiles GRAPH by each file: the stream has the bytes of npu-cmdgen --emit=vela-bin, and
# gives the results of the graph
compile()
{
	local f n=0 a
	npucc -a "${args[0]#*=}" "${args[3]}" "${args[4]}" -X npu-cmdgen:--emit=vela-bin \
		-o - "$1" >want.bin 2>err
	for f in $NPUTOOLS_ARM_VELA; do
		arm_vela "$f" "$1" got$n
		cmp want.bin got$n/stream
		# npu-vela prints its summary, too
		grep -qx "vela_bin_stream cmd_data weight_data scratch_size inputs outputs vela_end_stream" said
		npu-sim --inputs=random,min,max --compare="$1" got$n/stream >out
		a=got$n/output/out_vela.npz
		[ ! -e $a ] || npu-sim --compare="$1" $a >out
		n=$((n + 1))
	done
	[ $n -gt 0 ]
	rm -rf got*
}

@test "vela_compile() packs the streams of nputools for U55, U65 and U85" {
	"$NPUTOOLS_TESTBIN/gen-tosa" 1 >g.tosa
	compile_spec ethos-u55-128 Ethos_U55_High_End_Embedded Shared_Sram \
		--debug-force-regor
	compile g.tosa
	compile_spec ethos-u65-256 Ethos_U65_High_End Dedicated_Sram_384KB \
		--debug-force-regor
	compile g.tosa
	compile_spec ethos-u85-256 Ethos_U85_SYS_DRAM_Mid Sram_Only
	compile g.tosa
	# Ultralytics' exporter
	compile_spec ethos-u85-256 Ethos_U85_SYS_DRAM_Mid Shared_Sram
	compile g.tosa
}

@test "vela_compile() packs layers and a network" {
	[ -n "$SHARED" ] || skip "no shared models"
	local c
	for c in conv2d-0 p-softmax-0 p-residual-0 p-inverted-residual-0 net-kws-ref-model; do
		c=$SHARED/tosa/cases/$c/model.tosa
		[ -e "$c" ] || continue
		compile_spec ethos-u55-128 Ethos_U55_High_End_Embedded Shared_Sram \
			--debug-force-regor
		compile "$c"
		compile_spec ethos-u85-256 Ethos_U85_SYS_DRAM_Mid Sram_Only
		compile "$c"
	done
}

@test "a graph that cannot be compiled is an exception with the program's message" {
	head -c 100 "$TOP/tests/models/digits.tflite" >broken.tosa
	compile_spec ethos-u55-128 Ethos_U55_High_End_Embedded Shared_Sram \
		--debug-force-regor
	for f in $NPUTOOLS_ARM_VELA; do
		if arm_vela "$f" broken.tosa got >out; then
			return 1
		fi
		grep -q '^npu-vela\|^tfl-quantcheck\|^tosa-partition\|^npucc' err
		grep -q 'CalledProcessError' err
	done
}
