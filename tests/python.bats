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

@test "inputs are taken and refused by type and shape, as npu-sim takes .npy files" {
	cp "$TOP/tests/models/digits.tflite" m.tflite
	npucc -q --part=himax-we2 -o c.tflite m.tflite
	mkinput --format=npy --range=0,1 -o in.npy m.tflite "$TOP/tests/models/digits/digit-3.pgm"
	python c.tflite in.npy <<-'END'
	import array, subprocess
	t, = nputools.inputs(model)
	assert t.shape == (1, 28, 28, 1) and t.dtype == "int8"
	file = open(sys.argv[2], "rb").read()
	def shaped(code, values, *shape):
	    return memoryview(array.array(code, values).tobytes()).cast("B").cast(code, shape)
	def npu_sim(data):
	    with open("of.npy", "wb") as f:
	        f.write(nputools._npy(data))
	    run = subprocess.run(["npu-sim", "-i", "of.npy", "-o", "out", "c.tflite"], capture_output=True,
	                         text=True)
	    return run.stderr.strip().split("error: ")[1] if run.returncode else \
	        open("out/output_0.npy", "rb").read()[-10:]
	want = npu_sim(file)
	assert want != npu_sim(bytes(file[:-784]) + bytes(784))
	values = memoryview(file[-784:]).cast("b").tolist()
	real = [t.scale * (v - t.zero_point) for v in values]
	for same in (file, file[-784:], bytearray(file[-784:]), shaped("b", values, 28, 28),
	             shaped("b", values, 1, 28, 28, 1), shaped("f", real, 28, 28)):
	    assert bytes(nputools.simulate(model, [same])[0]) == want
	    assert len(same) == 784 or npu_sim(same) == want
	for other in (shaped("B", [v % 256 for v in values], 28, 28), shaped("b", values, 784),
	              shaped("b", values, 14, 56), shaped("d", real, 28, 28), shaped("f", real[:196], 14, 14),
	              shaped("h", values, 28, 28), array.array("b", values)):
	    refused(nputools.Error, "input 0: error: " + npu_sim(other), nputools.simulate, model, [other])
	refused(nputools.Error, "elements have another type, tensor picture is INT8[1,28,28,1]",
	        nputools.simulate, model, [shaped("B", [0] * 784, 28, 28)])
	refused(nputools.Error, "the shape is [784], tensor picture is INT8[1,28,28,1]",
	        nputools.simulate, model, [array.array("b", values)])
	refused(nputools.Error, "input 0 (picture) takes 784 bytes, its buffer has 3", nputools.simulate,
	        model, [b"abc"])
	END
	python m.tflite <<-'END'
	size = nputools.compile(model, part="himax-we2", optimize="size")
	assert size == nputools.compile(model, part="himax-we2", optimise="Size")
	assert size != nputools.compile(model, part="himax-we2")
	refused(ValueError, "optimize is one of", nputools.compile, model, optimize="x")
	END
}
