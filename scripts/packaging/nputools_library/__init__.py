# SPDX-License-Identifier: Apache-2.0
"""libnputools, the library that the module nputools calls."""

import os

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libnputools.so.1")
