# SPDX-License-Identifier: Apache-2.0
"""Calls vela_compile() of ExecuTorch's arm_vela.py, which is a file outside of this tree.

usage: arm_vela.py FILE GRAPH DIR ARG...

FILE is not changed.  The packed stream is written to DIR/stream; versions that can keep
intermediate files leave out.tosa and output/out_vela.npz in DIR.  Prints the names of the
blocks of the stream, and the hash of a block that the stream refers to.
"""

import hashlib
import importlib.util
import inspect
import os
import sys


class Serialized:
    """The graph as versions of 2024 take it."""

    def __init__(self, data):
        self.data = data

    def serialize(self):
        return self.data


def load(path):
    spec = importlib.util.spec_from_file_location("arm_vela", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["arm_vela"] = module
    spec.loader.exec_module(module)
    return module


def blocks(stream):
    """Name, content and flag of each block."""
    at = 0
    while at < len(stream):
        name = stream[at:at + 16].rstrip(b"\0").decode()
        size = int.from_bytes(stream[at + 16:at + 20], "little")
        yield name, stream[at + 32:at + 32 + size], stream[at + 20]
        at += 32 + (size + 15) // 16 * 16


def main():
    path, graph, directory, *args = sys.argv[1:]
    module = load(path)
    accepts = inspect.signature(module.vela_compile).parameters
    with open(graph, "rb") as f:
        data = f.read()
    if "tosa_flatbuffer" not in accepts:
        data = Serialized(data)
    more = {"intermediate_path": directory} if "intermediate_path" in accepts else {}
    os.makedirs(directory, exist_ok=True)
    result = module.vela_compile(data, list(args), **more)
    stream = getattr(result, "processed_bytes", result)
    with open(os.path.join(directory, "stream"), "wb") as f:
        f.write(stream)
    print(*(name for name, _, _ in blocks(stream)))
    if "block_placements" not in accepts:
        return
    # weights that the program stores separately
    os.makedirs(directory + "/external", exist_ok=True)
    more["intermediate_path"] = directory + "/external"
    result = module.vela_compile(data, list(args), **more,
                                 block_placements={"weight_data": "flash"})
    weights = next(b for n, b, _ in blocks(stream) if n == "weight_data")
    key = hashlib.sha256(b"flash\0" + weights).hexdigest()
    reference = next(b for n, b, flag in blocks(result.processed_bytes)
                     if n == "weight_data" and flag == 1)
    assert reference.decode() == key == result.external_blocks[0].key
    assert result.external_blocks[0].payload == weights


main()
