/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that demo.c needs to run the network: run_bare.c calls the driver
 * itself, run_tflm.cc is an application of TensorFlow Lite Micro.
 */
#ifndef RUN_H
#define RUN_H

#ifdef __cplusplus
extern "C" {
#endif

/* false: the reason is on standard output */
int run_init(void);
void *run_input(int i);
const void *run_output(int i);
/* 0: done */
int run_invoke(void);

/*
 * npu_init.c: prepares the driver.  fast: the NPU's own memory in memory mode
 * Dedicated_Sram, else NULL.
 */
int npu_init(void *fast, unsigned fast_bytes);

#ifdef __cplusplus
}
#endif

#endif
