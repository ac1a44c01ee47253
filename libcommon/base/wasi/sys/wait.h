/* SPDX-License-Identifier: Apache-2.0 */
/* Exit statuses of child programs, as the host of `make wasm` returns them. */
#ifndef BASE_WASI_SYS_WAIT_H
#define BASE_WASI_SYS_WAIT_H

#define WTERMSIG(status) ((status) & 0x7f)
#define WIFSIGNALED(status) (WTERMSIG(status) != 0)
#define WIFEXITED(status) (!WIFSIGNALED(status))
#define WEXITSTATUS(status) ((status) >> 8 & 0xff)

#endif
