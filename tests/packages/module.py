# SPDX-License-Identifier: Apache-2.0
"""Uses the module nputools of the wheel: module.py same|quantize|numpy|failures MODEL.

quantize: MODEL is a float model."""

import array
import json
import sys
import threading

import nputools

PART = "alif-e7-he"
MODEL = open(sys.argv[2], "rb").read()


def keep(name, what):
    with open(name, "w") as f:
        json.dump(what, f)


def same():
    """results in the current directory, which the test compares with the programs'"""
    seen = []
    compiled = nputools.compile(MODEL, part=PART, name="digits.tflite", progress=seen.append)
    with open("x.tflite", "wb") as f:
        f.write(compiled)
    keep("e.json", nputools.estimate(bytearray(compiled), name="want.tflite"))
    keep("f.json", nputools.front(memoryview(MODEL), part=PART, name="digits.tflite"))
    keep("p.json", nputools.partition(MODEL)["operators"])
    keep("v.json", nputools.verify(compiled))
    (i,), (o,) = nputools.inputs(compiled), nputools.outputs(compiled)
    assert (i.name, i.shape, i.dtype, i.zero_point) == (
        "picture", (1, 28, 28, 1), "int8", -128), i
    assert o.shape == (1, 10) and o.scale == 1 / 256, o
    picture = bytes((7 * k) % 256 for k in range(784))
    with open("picture", "wb") as f:
        f.write(picture)
    plain, = nputools.simulate(MODEL, [picture])
    out, = nputools.simulate(compiled, [picture])
    assert out.tolist() == plain.tolist() and len(out.tolist()[0]) == 10
    with open("digit", "wb") as f:
        f.write(bytes(v % 256 for v in out.tolist()[0]))
    results = []

    def work():
        results.append(nputools.compile(MODEL, part=PART, name="digits.tflite"))
    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [compiled] * 4


def quantize():
    """q.tflite, of the samples 0.raw and 1.raw, in all kinds of arrays"""
    raw = [open(f"{k}.raw", "rb").read() for k in range(2)]
    q = nputools.quantize(MODEL, raw, ranges="mse", bias_correction=True, name="m.tflite")
    with open("q.tflite", "wb") as f:
        f.write(q)
    floats = [array.array("f", r) for r in raw]
    doubles = [memoryview(array.array("d", v)) for v in floats]
    for samples in (floats, doubles, [[v] for v in floats], (v for v in floats)):
        assert q == nputools.quantize(MODEL, samples, ranges="mse", bias_correction=True,
                                      jobs=2, name="m.tflite")
    wide = nputools.quantize(MODEL, raw, type="int16x8")
    assert [t.dtype for t in nputools.inputs(wide)] == ["int16"]
    assert [t.dtype for t in nputools.inputs(nputools.quantize(
        MODEL, raw, interface="float", fold=False, allow=["SQRT"], keep_int16=["SOFTMAX"],
        accuracy=50))] == ["float32"]
    assert nputools.compile(q, part=PART)
    refused(nputools.Error, "the buffer has 784 bytes", nputools.quantize, MODEL, [bytes(784)])
    refused(nputools.Error, "there are no samples", nputools.quantize, MODEL, [])
    refused(ValueError, "'int4' is not one of int8, int16x8", nputools.quantize, MODEL, raw,
            type="int4")


def numpy():
    """arrays of NumPy, of any order in memory"""
    import numpy as np
    compiled = nputools.compile(np.fromfile(sys.argv[2], "uint8"), part=PART)
    picture = np.arange(784).reshape(1, 28, 28, 1).astype("int8")
    out, = nputools.simulate(compiled, [picture])
    assert out.dtype == np.int8 and out.shape == (1, 10) and out.flags.writeable
    assert np.array_equal(out, nputools.simulate(compiled, [picture.tobytes()])[0])
    turned = np.ascontiguousarray(picture.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)
    assert not turned.flags.c_contiguous
    assert np.array_equal(out, nputools.simulate(compiled, [turned])[0])


def refused(kind, text, function, *args, **options):
    try:
        function(*args, **options)
    except kind as e:
        assert text in str(e), e
        return e
    raise AssertionError("no exception: " + text)


def failures():
    """each failure is an exception; a damaged model is never a crash"""
    e = refused(nputools.Error, "bytes of SRAM0, more than the limit of 2000", nputools.compile,
                MODEL, part=PART, arena_cache_size=2000)
    assert e.refused and e.reason == "does not fit"
    # the size that the message names is enough, and less is not
    least = int(str(e).split("the smallest that works is ")[1])
    nputools.compile(MODEL, part=PART, arena_cache_size=least)
    refused(nputools.Error, "more than the limit", nputools.compile, MODEL, part=PART,
            arena_cache_size=least - 16)
    refused(nputools.Error, "there is no part", nputools.compile, MODEL, part="alif")
    refused(nputools.Error, "cancelled", nputools.compile, MODEL, part=PART,
            progress=lambda done: True)
    refused(nputools.Error, "the model is not compiled", nputools.verify, MODEL)
    refused(nputools.Error, "exclude each other", nputools.compile, MODEL, part=PART,
            within=5, max_cycles=100)
    refused(TypeError, "no option 'parts'", nputools.compile, MODEL, parts=PART)
    refused(ValueError, "optimise is one of", nputools.compile, MODEL, optimise="x")
    refused(nputools.Error, "its buffer has 1", nputools.simulate, MODEL, [b"x"])
    refused(nputools.Error, "0 were passed", nputools.simulate, MODEL, [])
    refused(ValueError, "neither a TFLite model nor", nputools.inputs, b"12345678")
    for n in list(range(0, 400, 7)) + list(range(400, len(MODEL), 997)):
        for call in (nputools.inputs, nputools.outputs, nputools.estimate,
                     lambda m: nputools.simulate(m, [bytes(784)]),
                     lambda m: nputools.compile(m, part=PART)):
            try:
                call(MODEL[:n])
            except (nputools.Error, ValueError):
                pass


{"same": same, "quantize": quantize, "numpy": numpy, "failures": failures}[sys.argv[1]]()
