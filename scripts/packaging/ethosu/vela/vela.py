# SPDX-License-Identifier: Apache-2.0
"""The function that ExecuTorch's backend and other tools call: npu-vela does its work."""

import os
import shutil
import subprocess
import sys
import sysconfig


def _program():
    """npu-vela of the environment that this module is in, or the first one in PATH."""
    own = os.path.join(sysconfig.get_path("scripts"), "npu-vela")
    found = own if os.access(own, os.X_OK) else shutil.which("npu-vela")
    if not found:
        raise FileNotFoundError("npu-vela is neither in this environment nor in PATH")
    return found


def main(args=None):
    """Compiles a network by Vela's options (sys.argv without args).

    Messages go to standard error.  A network that is not compiled raises
    subprocess.CalledProcessError with npu-vela's status.
    """
    subprocess.run([_program(), *(sys.argv[1:] if args is None else args)], check=True)
    return 0


def command():
    """The command vela: npu-vela's messages and status are its own."""
    return subprocess.run([_program(), *sys.argv[1:]], check=False).returncode


if __name__ == "__main__":
    sys.exit(command())
