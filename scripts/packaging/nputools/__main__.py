# SPDX-License-Identifier: Apache-2.0
"""python3 -m nputools --prefix: the directory with npu.mk, CMake files and manual."""

import sys

import nputools

if sys.argv[1:] == ["--prefix"]:
    print(nputools.prefix())
elif sys.argv[1:] == ["--version"]:
    print(nputools.version())
else:
    sys.exit("usage: python3 -m nputools --prefix | --version")
