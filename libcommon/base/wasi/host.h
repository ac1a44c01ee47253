/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the host that runs the WebAssembly modules: WASI cannot start programs
 * (scripts/wasm/wasi.js).
 */
#ifndef BASE_WASI_HOST_H
#define BASE_WASI_HOST_H

#ifdef __wasi__

/*
 * Runs the program argv[0] with three of this program's descriptors as its own.  For
 * -1, the program gets an empty file, or its output is discarded.  Returns the status
 * as from waitpid(), or -1 if there is no such program.
 */
__attribute__((import_module("nputools"), import_name("run")))
extern int host_run(char **argv, int argc, int in, int out, int err);

/*
 * Returns a descriptor of a file in memory: data that is written to it can be read from
 * it once.
 */
__attribute__((import_module("nputools"), import_name("buffer")))
extern int host_buffer(void);

#endif

#endif
