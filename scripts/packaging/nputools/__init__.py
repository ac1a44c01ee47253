# SPDX-License-Identifier: Apache-2.0
"""Quantizes and compiles models for Arm Ethos-U NPUs, and verifies, runs and prices the result.

The functions call libnputools, which is the extra "library" of this package: the same input
and options give the bytes and the numbers of the programs tfl-quantize, npucc, npu-dis
--verify, npu-sim and npu-perf.

    import nputools
    compiled = nputools.compile(open("m.tflite", "rb").read(), part="alif-e7-he")
    outputs = nputools.simulate(compiled, [picture])       # NumPy arrays
    print(nputools.estimate(compiled)["inference_seconds"])

A model and an array is anything with the buffer protocol: bytes, memoryview, NumPy arrays.
The results of simulate() are NumPy arrays where NumPy is installed, and memoryviews
elsewhere.  Notes and warnings go to the logger "nputools".  A call that fails raises Error.
Several threads may call the functions at once; a call does not hold Python's lock.
"""

import array
import ctypes
import functools
import json
import logging
import os
import re
import struct
import sys

__all__ = ["Error", "Tensor", "compile", "estimate", "front", "inputs", "outputs",
           "partition", "prefix", "quantize", "simulate", "verify", "version"]

_HERE = os.path.dirname(os.path.abspath(__file__))
_log = logging.getLogger("nputools")


class Error(Exception):
    """A call failed.  code: of enum nputools_code; reason: its name, such as "does not fit";
    refused: True if the model is valid and the answer is no."""

    def __init__(self, messages, code, reason, refused):
        lines = messages.strip().splitlines()
        super().__init__(lines[-1] if lines else reason)
        self.messages, self.code, self.reason = messages, code, reason
        self.refused = refused


# ---- the library ------------------------------------------------------------------------

class _Output(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t),
                ("messages", ctypes.c_char_p), ("code", ctypes.c_int)]


_Progress = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_double)


class _Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p),
                ("accelerator", ctypes.c_char_p), ("system_config", ctypes.c_char_p),
                ("memory_mode", ctypes.c_char_p), ("part", ctypes.c_char_p),
                ("optimise", ctypes.c_int), ("effort", ctypes.c_int),
                ("level", ctypes.c_int), ("jobs", ctypes.c_uint),
                ("arena_cache_size", ctypes.c_int64), ("max_cycles", ctypes.c_int64),
                ("fail_on_cpu", ctypes.c_int), ("no_map", ctypes.c_int),
                ("allow_overflow", ctypes.c_int), ("within", ctypes.c_double),
                ("progress", _Progress), ("progress_context", ctypes.c_void_p),
                ("allocate", ctypes.c_void_p), ("release", ctypes.c_void_p),
                ("memory_context", ctypes.c_void_p), ("yield_every", ctypes.c_int64),
                ("allow_unequal_quantization", ctypes.c_int), ("integer_io", ctypes.c_int),
                ("cpu", ctypes.c_char_p), ("no_rewrite", ctypes.c_char_p),
                ("cut_inputs", ctypes.c_char_p), ("cut_outputs", ctypes.c_char_p),
                ("allow", ctypes.c_char_p)]


class _Quantization(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("ranges", ctypes.c_int), ("wide", ctypes.c_int),
                ("float_interface", ctypes.c_int), ("no_fold", ctypes.c_int),
                ("equalize", ctypes.c_int), ("bias_correction", ctypes.c_int),
                ("per_channel_fc", ctypes.c_int), ("frames", ctypes.c_uint),
                ("allow", ctypes.c_char_p), ("keep_wide", ctypes.c_char_p),
                ("accuracy", ctypes.c_double)]


class _Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


@functools.lru_cache(maxsize=None)
def _library():
    """the library, loaded by the first call"""
    try:
        from nputools_library import PATH
    except ImportError as e:
        raise ImportError("nputools: the library is not installed: pip install --no-index "
                          "--find-links DIR 'nputools[library]', where DIR has the wheels"
                          ) from e
    try:
        lib = ctypes.CDLL(PATH)
    except OSError as e:
        raise ImportError(f"nputools: the library does not run on this system: {e}") from e
    model = [ctypes.c_void_p, ctypes.c_size_t]
    buffers = [ctypes.POINTER(_Buffer), ctypes.c_size_t]
    options, out = [ctypes.POINTER(_Options)], [ctypes.POINTER(_Output)]
    lib.nputools_version.restype = ctypes.c_char_p
    lib.nputools_code_name.restype = ctypes.c_char_p
    for name in ("compile", "partition", "front", "verify", "estimate"):
        getattr(lib, "nputools_" + name).argtypes = options + model + out
    lib.nputools_simulate.argtypes = options + model + 2 * buffers + out
    lib.nputools_quantize.argtypes = (options + [ctypes.POINTER(_Quantization)] + model +
                                      buffers + out)
    return lib


_GOALS = {"performance": 0, "size": 1, "balanced": 2}
_TEXTS = ("name", "accelerator", "system_config", "memory_mode", "part")
_NUMBERS = ("effort", "level", "jobs", "arena_cache_size", "max_cycles", "yield_every")
_FLAGS = ("fail_on_cpu", "no_map", "allow_overflow", "allow_unequal_quantization", "integer_io")
_LISTS = ("cpu", "no_rewrite", "cut_inputs", "cut_outputs", "allow")
_RANGES = {"minmax": 0, "moving-average": 1, "percentile": 2, "mse": 3,
           "entropy": 4}


def _options(given):
    o = _Options(size=ctypes.sizeof(_Options))
    for key, value in given.items():
        if value is None:
            continue
        if key in _TEXTS:
            setattr(o, key, os.fsencode(value))
        elif key in _LISTS:
            words = [value] if isinstance(value, (str, int)) else value
            setattr(o, key, ",".join(str(w) for w in words).encode() or None)
        elif key in _NUMBERS:
            try:
                setattr(o, key, int(value))
            except (TypeError, ValueError):
                unit = ": 16K is 16 * 1024" if key == "arena_cache_size" else ""
                raise ValueError(f"{key} is a whole number, not {value!r}{unit}") from None
        elif key in _FLAGS:
            setattr(o, key, bool(value))
        elif key in ("optimise", "optimize"):
            if str(value).lower() not in _GOALS:
                raise ValueError(f"{key} is one of {', '.join(_GOALS)}, not {value!r}")
            o.optimise = _GOALS[str(value).lower()]
        elif key == "progress":
            o.progress = _Progress(lambda _, done: bool(value(done)))
        elif key == "within":
            o.within = float(value) or -1.0
        else:
            raise TypeError(f"there is no option {key!r}; there are " + ", ".join(
                _TEXTS + _LISTS + _NUMBERS + _FLAGS + ("optimise", "progress", "within")))
    return o


def _bytes(model):
    """the bytes of a buffer, whatever its shape"""
    if isinstance(model, (str, os.PathLike)):
        raise TypeError(f"pass bytes, not a file name: open({str(model)!r}, 'rb').read()")
    return model if isinstance(model, bytes) else memoryview(model).tobytes()


def _address(data):
    """a pointer to bytes, which the caller keeps alive"""
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p)


def _call(function, options, model, *more, first=(), no_is_answer=False):
    """the results of a function of the library: its status, and a copy of its data"""
    out, lib = _Output(), _library()
    data, chosen = _bytes(model), _options(options)
    status = getattr(lib, "nputools_" + function)(
        ctypes.byref(chosen), *first, _address(data), len(data), *more, ctypes.byref(out))
    try:
        messages = (out.messages or b"").decode(errors="replace")
        result = ctypes.string_at(out.data, out.size) if out.size else b""
        if status == 0 or (status == 1 and no_is_answer):
            for line in messages.splitlines():
                _log.log(logging.WARNING if re.match("(.*: )?warning: ", line) else logging.INFO,
                         "%s", line)
            return status, result, out.data
        raise Error(messages, out.code, lib.nputools_code_name(out.code).decode(),
                    status == 1)
    finally:
        lib.nputools_free(ctypes.byref(out))


# ---- what a user calls --------------------------------------------------------------------

def version():
    '''the version of the library, such as "1.0.0"'''
    return _library().nputools_version().decode()


def prefix():
    """the directory with share/nputools/npu.mk, share/cmake and the manual, share/doc"""
    return _HERE


def compile(model, **options):
    """Compiles a quantized TFLite model or a TOSA graph, and returns the compiled model.

    Options: part, or accelerator, system_config and memory_mode; optimise ("performance",
    "size", "balanced"), effort, level, jobs, arena_cache_size, max_cycles, fail_on_cpu,
    no_map, allow_overflow, within (percent), yield_every (cycles), allow_unequal_quantization,
    integer_io (no QUANTIZE and DEQUANTIZE at float inputs and outputs); cpu (operators that stay
    on the CPU), no_rewrite (rules that are not applied), cut_inputs and cut_outputs (tensors
    between which the network is compiled), allow (rules of tfl-quantcheck that the model may
    break: a model with "float-operator" is refused otherwise), each a name or a list of names; name (of the model,
    for messages and the source map), and progress, a function that gets the part of the work
    that is done, and cancels the call if it returns True.
    Messages name the options of the programs: --integer-io is integer_io here.
    """
    return _call("compile", options, model)[1]


def partition(model, **options):
    """Says which operators run on the NPU, and why others do not: tfl-partition --report
    --json as a dict."""
    return json.loads(_call("partition", options, model)[1])


def front(model, **options):
    """The least cycles for more and more SRAM: npu-sched --front --json as a dict."""
    return json.loads(_call("front", options, model)[1])


def verify(model, **options):
    """Checks the command streams of a compiled model: npu-dis --verify --json, a list with
    a dict for each stream.  Raises Error if a rule is broken; the report is then its attribute report."""
    status, result, _ = _call("verify", options, model, no_is_answer=True)
    report = json.loads(result)
    if status:
        e = Error("a rule is broken\n", 1, "a rule is broken", True)
        e.report = report
        raise e
    return report


def estimate(model, **options):
    """Estimates the time and memory of a compiled model: npu-perf --json as a dict.

    "inference_seconds" is the time of an inference, which npucc prints; "inference_ms" and
    the cycles are those of the NPU alone, without the operators on the CPU."""
    return json.loads(_call("estimate", options, model)[1])


def simulate(model, values, **options):
    """Runs a TFLite model, plain or compiled, or a TOSA graph, once.

    values has an array for each input, with the type and shape that inputs(model) tells, up
    to dimensions of 1; an array of float32 is quantized, as by npu-sim -i.  bytes and bytearray
    are the values themselves, little-endian, or a file .npy.
    Returns a list of arrays, one for each output, with its shape and type.
    """
    into = outputs(model)
    arrays = [_npy(v) for v in values]
    given = _buffers(arrays)
    results = (_Buffer * max(1, len(into)))()
    _, data, start = _call("simulate", options, model, given, len(arrays), results, len(into))
    return [_array(data[r.data - start:r.data - start + r.size] if r.size else b"", t)
            for r, t in zip(results, into)]


def _buffers(arrays):
    """the structures of bytes, which the caller keeps alive"""
    given = (_Buffer * max(1, len(arrays)))()
    for i, data in enumerate(arrays):
        given[i] = _Buffer(_address(data), len(data))
    return given


def _npy(values):
    """an array as a file .npy, which has its type and shape; bytes are taken as they are"""
    if isinstance(values, (bytes, bytearray)):
        return bytes(values)
    v = memoryview(values)
    code = v.format.lstrip("@=<>!")
    kind = next((k for k, codes in _KINDS.items() if code in codes), None)
    if not kind:
        raise ValueError(f"an array of format {v.format!r} has no numbers that a model takes")
    swapped = v.format[0] in ">!" or (v.format[0] != "<" and sys.byteorder == "big")
    head = repr({"descr": f"{'>' if swapped else '<'}{kind}{v.itemsize}",
                 "fortran_order": False, "shape": v.shape}).encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + v.tobytes()


def _floats(values):
    """the FLOAT32 bytes of an array; bytes are taken as they are"""
    if isinstance(values, (bytes, bytearray)):
        return bytes(values)
    v = memoryview(values)
    if v.format == "f":
        return v.tobytes()
    return array.array("f", memoryview(v.tobytes()).cast(v.format)).tobytes()


def quantize(model, samples, ranges="minmax", type="int8", interface="int8", fold=True,
             equalize=False, bias_correction=False, per_channel_fc=False, frames=1, allow=None,
             keep_int16=None, accuracy=None, **options):
    """Quantizes a float TFLite model, and returns the integer model: tfl-quantize.

    samples: real inputs by which the ranges are measured, 100 or so.  A sample is an array, or
    for a model of several inputs a list of arrays.  An array has numbers of any type; bytes
    and bytearray are FLOAT32 values or a file .npy.

    ranges: "minmax", "moving-average", "percentile", "mse", "entropy"; type: "int8",
    "int16x8"; interface: "int8", "float"; allow: True or a list of names of operators that may stay float;
    keep_int16: a list of patterns of operators in 16 bits; accuracy: the most loss in percent;
    options: name, jobs and progress, as of compile().
    """
    for value, words in ((ranges, _RANGES), (type, ("int8", "int16x8")),
                         (interface, ("int8", "float"))):
        if value not in words:
            raise ValueError(f"{value!r} is not one of {', '.join(words)}")
    how = _Quantization(ctypes.sizeof(_Quantization), _RANGES[ranges], type == "int16x8",
                        interface == "float", not fold, equalize, bias_correction,
                        per_channel_fc, frames)
    if allow:
        how.allow = b"all" if allow is True else ",".join(allow).encode()
    if keep_int16:
        how.keep_wide = ",".join(keep_int16).encode()
    if accuracy is not None:
        how.accuracy = float(accuracy) or -1.0
    arrays = [_floats(v) for s in samples for v in (s if isinstance(s, (list, tuple)) else [s])]
    return _call("quantize", options, model, _buffers(arrays), len(arrays),
                 first=[ctypes.byref(how)])[1]


def _array(data, tensor):
    try:
        import numpy
    except ImportError:
        return memoryview(bytearray(data)).cast(tensor.format, tensor.shape) \
            if tensor.shape and tensor.format and 0 not in tensor.shape else memoryview(data)
    return numpy.frombuffer(data, tensor.dtype).reshape(tensor.shape).copy()


# ---- inputs and outputs of a model -----------------------------------------------------------

class Tensor:
    """An input or output of a model: name, shape, dtype (a name of NumPy), scale and
    zero_point (None without quantization)."""

    def __init__(self, name, shape, dtype, code, scale, zero_point):
        self.name, self.shape, self.dtype, self.format = name, shape, dtype, code
        self.scale, self.zero_point = scale, zero_point

    def __repr__(self):
        return (f"Tensor({self.name!r}, shape={self.shape}, dtype={self.dtype}, "
                f"scale={self.scale}, zero_point={self.zero_point})")


# NumPy's kinds of the formats of memoryview
_KINDS = {"b": ("?",), "i": tuple("bhilqn"), "u": tuple("BHILQN"), "f": tuple("efd")}
_TYPES = {0: ("float32", "f"), 2: ("int32", "i"), 3: ("uint8", "B"), 4: ("int64", "q"),
          6: ("bool", "?"), 7: ("int16", "h"), 9: ("int8", "b"), 10: ("float64", "d"),
          12: ("uint64", "Q"), 15: ("uint32", "I"), 16: ("uint16", "H")}


class _Table:
    """a table of FlatBuffers; a read outside of the file raises struct.error"""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.slots = at - self.read("i", at)

    def read(self, code, at):
        if at < 0:
            raise struct.error("offset before the file")
        return struct.unpack_from("<" + code, self.data, at)[0]

    def field(self, slot):
        size = self.read("H", self.slots)
        offset = self.read("H", self.slots + 4 + 2 * slot) if 4 + 2 * slot < size else 0
        return self.at + offset if offset else None

    def scalar(self, slot, code, default=0):
        at = self.field(slot)
        return default if at is None else self.read(code, at)

    def table(self, slot):
        at = self.field(slot)
        return None if at is None else _Table(self.data, at + self.read("I", at))

    def vector(self, slot, code):
        at = self.field(slot)
        if at is None:
            return []
        at += self.read("I", at)
        return list(struct.unpack_from(f"<{self.read('I', at)}{code}", self.data, at + 4))

    def tables(self, slot):
        at = self.field(slot)
        if at is None:
            return []
        at += self.read("I", at) + 4
        return [_Table(self.data, at + 4 * i + self.read("I", at + 4 * i))
                for i in range(self.read("I", at - 4))]


class _Texts:
    """the strings of a file"""

    def __init__(self, data):
        self.data, self.seen, self.left = data, {}, len(data)

    def at(self, place):
        """the string at a place; those of a file do not overlap, but may be the same one"""
        if place not in self.seen:
            n, = struct.unpack_from("<I", self.data, place)
            self.left -= n
            if self.left < 0:
                raise struct.error("a string is too long")
            self.seen[place] = self.data[place + 4:place + 4 + n]
        return self.seen[place]

    def of(self, table, slot):
        at = table.field(slot)
        return b"" if at is None else self.at(at + table.read("I", at))

    def list(self, table, slot):
        at = table.field(slot)
        at = at if at is None else at + table.read("I", at) + 4
        return [] if at is None else [
            self.at(at + 4 * i + table.read("I", at + 4 * i))
            for i in range(table.read("I", at - 4))]


def _tensor(t):
    code = t.scalar(1, "b")
    if code not in _TYPES:
        raise ValueError(f"nputools: tensors of type {code} have no type of NumPy")
    q = t.table(4)
    scale, zero = (q.vector(2, "f"), q.vector(3, "q")) if q else ([], [])
    name = bytes(t.vector(3, "B")).decode(errors="replace")
    return Tensor(name, tuple(t.vector(0, "i")), *_TYPES[code],
                  scale[0] if len(scale) == 1 else None,
                  (zero[0] if zero else 0) if len(scale) == 1 else None)


# types of a TOSA graph that inputs and outputs may have: those of _TYPES
_OF_TOSA = {1: 6, 3: 9, 4: 7, 5: 2}


def _tosa_borders(root, texts, outputs):
    """the inputs or outputs of the region main, or of the only one"""
    regions = root.tables(1)
    region = next((r for r in regions if texts.of(r, 0) == b"main"), regions[0])
    block = region.tables(1)[0]
    tensors = {texts.of(t, 0): t for t in block.tables(2)}
    found = []
    for name in texts.list(block, 4 if outputs else 3):
        t = tensors[name]
        code = t.scalar(2, "I")
        if code not in _OF_TOSA:
            raise ValueError(f"nputools: TOSA tensors of type {code} are no input or output")
        found.append(Tensor(name.decode(errors="replace"), tuple(t.vector(1, "i")),
                            *_TYPES[_OF_TOSA[code]], None, None))
    return found


def _borders(model, outputs):
    data = bytes(_bytes(model))
    if data[4:8] not in (b"TFL3", b"TOSA"):
        raise ValueError("nputools: neither a TFLite model nor a TOSA graph (no TFL3 or TOSA at "
                         "byte 4)")
    try:
        root = _Table(data, struct.unpack_from("<I", data)[0])
        if data[4:8] == b"TOSA":
            return _tosa_borders(root, _Texts(data), outputs)
        graph = root.tables(2)[0]
        tensors = graph.tables(0)
        return [_tensor(tensors[i]) for i in graph.vector(2 if outputs else 1, "i")]
    except (struct.error, IndexError, KeyError, MemoryError) as e:
        raise ValueError(f"nputools: the model is damaged: {e}") from e


def inputs(model):
    """the inputs of a TFLite model, plain or compiled, or of a TOSA graph: a list of Tensor"""
    return _borders(model, False)


def outputs(model):
    """the outputs of a TFLite model, plain or compiled, or of a TOSA graph: a list of Tensor"""
    return _borders(model, True)
