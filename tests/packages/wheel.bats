# SPDX-License-Identifier: Apache-2.0
# make wheel: the wheels in fresh virtual environments, without a network.

load ../lib/common

dir=${NPUTOOLS_WHEELS-}
memory=(--system-config=Ethos_U55_High_End_Embedded --memory-mode=Shared_Sram)
digits=$TOP/tests/models/digits.tflite

# environment NAME REQUIREMENT: makes a virtual environment with this package
environment()
{
	[ ! -e "$1" ] || return 0
	python3 -m venv "$1"
	"$1/bin/pip" install -q --disable-pip-version-check --no-index \
		--find-links "$dir" "$2"
}

setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return
	environment plain nputools
	environment vela 'nputools[vela]'
	environment module 'nputools[library]'
}

in_plain()
{
	PATH=$BATS_FILE_TMPDIR/plain/bin:/usr/bin:/bin "$@"
}

in_module()
{
	PATH=$BATS_FILE_TMPDIR/module/bin:/usr/bin:/bin "$@"
}

in_vela()
{
	PATH=$BATS_FILE_TMPDIR/vela/bin:/usr/bin:/bin "$@"
}

@test "pip install nputools installs the programs, and no command vela" {
	npucc -a ethos-u55-128 "${memory[@]}" -o want.tflite "$digits"
	in_plain npucc -a ethos-u55-128 "${memory[@]}" --check -o x.tflite "$digits"
	cmp want.tflite x.tflite
	for p in $(programs); do
		[ "$(in_plain "$p" --version)" = "$("$BIN/$p" --version)" ]
	done
	run in_plain python3 -c "import ethosu.vela"
	[ "$status" = 1 ]
	[ ! -e "$BATS_FILE_TMPDIR/plain/bin/vela" ]
}

@test "pip install nputools[vela] installs the command vela" {
	npu-vela --accelerator-config=ethos-u55-128 "${memory[@]}" --output-dir=want \
		"$digits" >want.out 2>want.err
	in_vela vela --accelerator-config=ethos-u55-128 "${memory[@]}" --output-dir=out \
		"$digits" >out.out 2>out.err
	diff -r want out
	run in_vela vela --accelerator-config=ethos-u99 "$digits"
	[ "$status" = 2 ]
}

# the calls of ExecuTorch's arm_vela.py between the graph and the .npz file
@test "ethosu.vela.vela.main(args) works as ExecuTorch calls it" {
	tfl-quantcheck --pass "$digits" >/dev/null
	"$NPUTOOLS_TESTBIN/gen-tosa" 1 >out.tosa
	npu-vela --accelerator-config=ethos-u55-128 "${memory[@]}" --output-format=raw \
		--debug-force-regor --output-dir=want out.tosa 2>/dev/null
	in_vela python3 - <<'END'
from ethosu.vela import vela

args = ["--accelerator-config=ethos-u55-128", "--config=Arm/vela.ini",
        "--output-format=raw", "--debug-force-regor",
        "--system-config=Ethos_U55_High_End_Embedded", "--memory-mode=Shared_Sram"]
args.append("--output-dir=output")
args.append("out.tosa")
vela.main(" ".join(args).split(" "))
try:
    vela.main(["--accelerator-config=ethos-u55-128", "none.tosa"])
except Exception as e:
    assert "npu-vela" in str(e), e
else:
    raise SystemExit("no error of a graph that is not there")
END
	cmp want/out_vela.npz output/out_vela.npz
}

# ExecuTorch compiles a permutation for trial, and discards what is printed
@test "vela.main() prints to the streams that replace sys.stdout and sys.stderr" {
	cp "$digits" m.tflite
	in_vela python3 - >out 2>err <<'END'
import contextlib
import io
from ethosu.vela import vela

out, err = io.StringIO(), io.StringIO()
with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
    vela.main(["--accelerator-config=ethos-u55-128", "m.tflite"])
assert "Network summary for m" in out.getvalue(), out.getvalue()
assert "npu-vela: warning: no --memory-mode" in err.getvalue(), err.getvalue()
END
	[ ! -s out ] && [ ! -s err ]
	in_vela python3 -c 'from ethosu.vela import vela
vela.main(["--accelerator-config=ethos-u55-128", "m.tflite"])' >out 2>err
	grep -q "Network summary for m" out
	grep -q "npu-vela: warning: no --memory-mode" err
}

# module CASE: of module.py, in the environment
module()
{
	in_module python3 "$TOP/tests/packages/module.py" "$1" "${2-$digits}"
}

@test "the module compiles, verifies, runs and estimates as the programs do" {
	cp "$digits" digits.tflite
	npucc -q --part=alif-e7-he -o want.tflite digits.tflite
	npu-perf --json want.tflite | jq -S . >want.json
	npucc -q --part=alif-e7-he --front --json -o - digits.tflite | jq -S . >front.json
	tfl-partition --report --json digits.tflite | jq -S .operators >operators.json
	npu-dis --verify --json want.tflite | jq -S '[.[] | del(.name)]' >verify.json
	module same
	cmp x.tflite want.tflite
	jq -S . e.json | diff want.json -
	jq -S . f.json | diff front.json -
	jq -S . p.json | diff operators.json -
	jq -S '[.[] | del(.name)]' v.json | diff verify.json -
	# the simulator's answer
	npu-sim -i picture -o . want.tflite >/dev/null
	cmp digit <(tail -c 10 output_0.npy)
}

@test "the module quantizes as tfl-quantize does" {
	local k float=$TOP/tests/models/digits-float.tflite
	for k in 0 1; do
		mkinput --range=0,1 --format=raw -o "$k.raw" "$float" \
			"$TOP/tests/models/digits/digit-$k.pgm"
	done
	cp "$float" m.tflite
	tfl-quantize --ranges=mse --bias-correction --data=0.raw --data=1.raw -o want.tflite m.tflite
	module quantize "$float"
	cmp want.tflite q.tflite
}

@test "without the library, the module says how to install it" {
	run in_plain python3 -c 'import nputools; nputools.compile(b"", part="alif-e7-he")'
	[ "$status" = 1 ]
	[ "${lines[-1]}" = "ImportError: nputools: the library is not installed: pip install --no-index --find-links DIR 'nputools[library]', where DIR has the wheels" ]
	[ "$(in_plain python3 -c "import nputools; print(nputools.inputs(open('$digits', 'rb').read())[0].name)")" = picture ]
}

@test "the tags of the wheels are true" {
	need readelf objdump
	local so p latest
	so=$(echo "$BATS_FILE_TMPDIR"/module/lib/python3*/site-packages/nputools_library/libnputools.so.1)
	latest=$(objdump -T "$so" | grep -o 'GLIBC_2[.][0-9]*' | sort -Vu | tail -n 1)
	p=$(find "$dir" -name 'nputools_library-*' -printf '%f')
	[ "${p#*-*-}" = "py3-none-manylinux_2_${latest#GLIBC_2.}_$(uname -m).whl" ]
	p=$(find "$dir" -name 'nputools-*' -printf '%f')
	[ "${p#*-*-}" = "py3-none-manylinux_2_17_$(uname -m).musllinux_1_1_$(uname -m).whl" ]
	for p in $(programs); do
		run readelf -d "$BATS_FILE_TMPDIR/plain/bin/$p"
		[[ $output != *NEEDED* ]]
	done
	[ -z "$(find "$BATS_FILE_TMPDIR/plain/lib" -name '*.so*' -path '*nputools*')" ]
	# a library with more than glibc, and a program that is not static
	mkdir -p bin lib
	cp "$so" lib
	cp "$(command -v readelf)" bin/npucc
	run "$TOP/scripts/packaging/make-wheel" bin 1.0.0 out
	[ "$status" = 1 ]
	[[ $output = *'npucc: needs shared libraries: build with STATIC=1' ]]
}

@test "the module takes and returns arrays of NumPy" {
	local numpy
	numpy=$(python3 -c 'import numpy, os; print(os.path.dirname(numpy.__path__[0]))') ||
		skip "no NumPy"
	PYTHONPATH=$numpy module numpy
}

@test "the module's failures are exceptions with the program's message" {
	module failures
}

@test "the wheel has the manual, npu.mk and the files for CMake" {
	local prefix
	prefix=$(in_plain python3 -m nputools --prefix)
	cmp "$prefix/share/nputools/npu.mk" "$TOP/scripts/npu.mk"
	[ "$(ls "$prefix"/share/doc/nputools/*.[1-9].html | wc -l)" = "$(ls "$TOP"/man/*.[1-9] | wc -l)" ]
	cp "$digits" network.tflite
	cat >Makefile <<-END
		NPU_ACCELERATOR := ethos-u55-128
		NPU_SYSTEM := RTSS_HE_SRAM_MRAM
		NPU_MEMORY := Shared_Sram
		include $prefix/share/nputools/npu.mk
	END
	in_plain make -s network.h
	[ -s network.h ]
	command -v cmake >/dev/null || skip "no cmake for the other half"
	printf '%s\n' 'cmake_minimum_required(VERSION 3.16)' 'project(x NONE)' \
		'find_package(nputools REQUIRED)' 'message("npucc: ${NPUTOOLS_NPUCC}")' >CMakeLists.txt
	in_plain cmake -DCMAKE_PREFIX_PATH="$prefix" -B out . 2>&1 | grep "npucc: $BATS_FILE_TMPDIR/plain/bin/npucc"
}

@test "the same programs make the same wheels" {
	mkdir bin lib
	cp "$BATS_FILE_TMPDIR"/module/lib/python3*/site-packages/nputools_library/libnputools.so.1 lib
	cp "$BATS_FILE_TMPDIR"/plain/bin/{npu-*,npucc,tfl*,tosa*,mkinput} bin
	"$TOP/scripts/packaging/make-wheel" bin "$("$BIN/npucc" --version | sed 's/.* //')" \
		again >/dev/null
	for f in again/*.whl; do
		cmp "$f" "$dir/${f##*/}"
	done
}
