# SPDX-License-Identifier: Apache-2.0
# The Python module (scripts/packaging/nputools) with the library of the build.  packages/wheel.bats
# tests the module of a wheel.

load lib/common

lib=${NPUTOOLS_TESTBIN:-$TOP/build/tests}/../lib/libnputools.so.1

setup_file()
{
	need python3
	mkdir -p "$BATS_FILE_TMPDIR/nputools_library"
	printf 'PATH = "%s"\n' "$(realpath "$lib")" >"$BATS_FILE_TMPDIR/nputools_library/__init__.py"
	python3 -c "import ctypes; ctypes.CDLL('$(realpath "$lib")')" 2>/dev/null ||
		skip "Python cannot load the library of this build"
}

# python FILE...: runs the program of standard input with the module; model is the first file
python()
{
	{
		cat <<-'END'
		import sys
		import nputools
		model = open(sys.argv[1], "rb").read()
		def refused(kind, text, function, *args, **options):
		    try:
		        function(*args, **options)
		    except kind as e:
		        assert text in str(e), e
		        return
		    raise AssertionError("no exception: " + text)
		END
		cat
	} >program.py
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$BATS_FILE_TMPDIR:$TOP/scripts/packaging \
		python3 program.py "$@"
}

@test "the options that messages recommend are options of the module" {
	cp "$TOP/tests/models/digits-float.tflite" m.tflite
	mkinput --range=0,1 --format=npy -o 0.npy m.tflite "$TOP/tests/models/digits/digit-0.pgm"
	tfl-quantize --interface=float --data=0.npy -o io.tflite m.tflite 2>said
	npucc -q --part=alif-e8-u85 --integer-io -o want.tflite io.tflite
	npucc -q --part=alif-e8-u85 --cpu=ADD --cpu=3 --no-rewrite=all --cut-outputs=flat \
		-o mixed.tflite io.tflite
	python io.tflite want.tflite mixed.tflite <<-'END'
	assert "--integer-io" in str(nputools.partition(model)["operators"])
	of = {"part": "alif-e8-u85", "name": "io.tflite"}
	compiled = nputools.compile(model, integer_io=True, **of)
	assert compiled == open(sys.argv[2], "rb").read()
	assert [t.dtype for t in nputools.inputs(compiled)] == ["int8"]
	assert "--integer-io leaves" not in str(nputools.partition(model, integer_io=True))
	assert nputools.compile(model, cpu=["ADD", 3], no_rewrite="all", cut_outputs=["flat"],
	                        **of) == open(sys.argv[3], "rb").read()
	assert nputools.compile(model, cpu=[], cut_inputs=None, **of) == nputools.compile(model, **of)
	front = nputools.front(model, integer_io=True, effort=1, **of)
	assert front["front"]
	refused(nputools.Error, "--cpu=SOFTMX: no operator", nputools.compile, model, cpu="SOFTMX", **of)
	refused(TypeError, "there is no option 'plan'; there are", nputools.compile, model, plan="x")
	END
}
