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
	! python3 -c "import ctypes; ctypes.CDLL('$(realpath "$lib")')" 2>/dev/null ||
		touch "$BATS_FILE_TMPDIR/loads"
}

# python FILE...: runs the program of standard input with the module; model is the first file
python()
{
	[ -e "$BATS_FILE_TMPDIR/loads" ] || skip "Python cannot load the library of this build"
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
	for call in nputools.compile, nputools.estimate, nputools.inputs:
	    refused(TypeError, "pass bytes, not a file name: open('io.tflite', 'rb').read()", call, "io.tflite")
	refused(ValueError, "arena_cache_size is a whole number, not '16K': 16K is 16 * 1024",
	        nputools.compile, model, arena_cache_size="16K", **of)
	refused(ValueError, "effort is a whole number, not 'much'", nputools.compile, model, effort="much", **of)
	refused(nputools.Error, "io.tflite: error: the network needs", nputools.compile, model,
	        arena_cache_size=2000, **of)
	END
}

@test "a float model is refused, and warnings are logged as warnings" {
	cp "$TOP/tests/models/digits-float.tflite" .
	python digits-float.tflite <<-'END'
	import logging
	refused(nputools.Error, "not fully integer: 13 errors", nputools.compile, model, part="himax-we2")
	refused(nputools.Error, "not fully integer: 13 errors", nputools.front, model, part="himax-we2")
	records = []
	log = logging.getLogger("nputools")
	log.setLevel(logging.INFO)
	log.addFilter(lambda r: records.append(r) or True)
	assert nputools.compile(model, part="himax-we2", allow=["float-operator"])
	levels = {r.levelno for r in records if "warning: " in r.getMessage()}
	assert levels == {logging.WARNING}, records
	END
}

@test "a TOSA graph has inputs and outputs, and runs as its compiled model" {
	local i
	for i in 1 2 3 4 5 6; do
		"${NPUTOOLS_TESTBIN:-$TOP/build/tests}/gen-tosa" $i >g.tosa
		npucc -q --part=alif-e8-u85 -o m.tflite g.tosa
		python g.tosa m.tflite <<-'END'
		compiled = open(sys.argv[2], "rb").read()
		plain = nputools.inputs(model)
			assert [(t.shape, t.dtype) for t in plain] == \
		    [(t.shape, t.dtype) for t in nputools.inputs(compiled)], plain
		assert all(t.scale is None for t in plain)
		def size(t):
		    n = {"int8": 1, "bool": 1, "int16": 2, "int32": 4}[t.dtype]
		    for d in t.shape:
		        n *= d
		    return n
		data = [bytes((7 * k) % 251 if t.dtype != "bool" else k % 2 for k in range(size(t)))
		        for t in plain]
		a, b = nputools.simulate(model, data), nputools.simulate(compiled, data)
		assert len(a) == len(b) > 0
		for x, y in zip(a, b):
		    assert x.tolist() == y.tolist() and len(bytes(x)) > 0
		END
	done
	# every cut of the file, and every changed byte of its tables, is refused or read
	python g.tosa <<-'END'
	refused(ValueError, "neither a TFLite model nor a TOSA graph", nputools.inputs, b"12345678")
	for k in range(8, len(model)):
	    for damaged in (model[:k], model[:k] + bytes([255 - model[k]]) + model[k + 1:]):
	        for call in (nputools.inputs, nputools.outputs, lambda m: nputools.simulate(m, [])):
	            try:
	                call(damaged)
	            except (nputools.Error, ValueError):
	                pass
	END
}

@test "a .npy file as an input is refused with a line that says so" {
	cp "$TOP/tests/models/digits.tflite" .
	mkinput --format=npy --range=0,1 -o in.npy digits.tflite "$TOP/tests/models/digits/digit-3.pgm"
	python digits.tflite in.npy <<-'END'
	file = open(sys.argv[2], "rb").read()
	refused(nputools.Error, "input 0 (picture) takes 784 bytes, its buffer has 912: it is a .npy file; "
	        "pass the values without the file's header", nputools.simulate, model, [file])
	refused(nputools.Error, "input 0 (picture) takes 784 bytes, its buffer has 3", nputools.simulate,
	        model, [b"abc"])
	assert nputools.simulate(model, [file[-784:]])
	END
}
