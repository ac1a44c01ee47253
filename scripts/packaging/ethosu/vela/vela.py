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


def _pipe(stream, original):
    """None for the process's own stream; PIPE if the caller has put another in its place."""
    return None if stream is original else subprocess.PIPE


def main(args=None):
    """Compiles a network by Vela's options (sys.argv without args).

    Messages go to standard error.  A network that is not compiled raises
    subprocess.CalledProcessError with npu-vela's status.  What npu-vela prints goes to
    sys.stdout and sys.stderr, even if a notebook or contextlib.redirect_stdout has
    replaced them.
    """
    done = subprocess.run(
        [_program(), *(sys.argv[1:] if args is None else args)],
        stdout=_pipe(sys.stdout, sys.__stdout__),
        stderr=_pipe(sys.stderr, sys.__stderr__),
        encoding="utf-8", errors="replace", check=False)
    if done.stdout:
        sys.stdout.write(done.stdout)
    if done.stderr:
        sys.stderr.write(done.stderr)
    done.check_returncode()
    return 0


def command():
    """The command vela: npu-vela's messages and status are its own."""
    return subprocess.run([_program(), *sys.argv[1:]], check=False).returncode


if __name__ == "__main__":
    sys.exit(command())
