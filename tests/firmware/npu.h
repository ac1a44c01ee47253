/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that the inference loop needs from the NPU and from the board.
 * npu_ethosu.c: an Ethos-U with the core driver.  npu_cpu.c: the network of
 * tests/models/fc.json in C, for an emulator without an NPU.
 */
#ifndef NPU_H
#define NPU_H

#include <stdbool.h>
#include <stdint.h>

/* one inference; 0: done, else the driver's error */
int npu_invoke(const int8_t *input, int8_t *output);

/*
 * Waits until the next input is in input_data.  In a product, a DMA, an interrupt or
 * another core would write it.  False: there are no more inputs.
 */
bool frame_wait(uint32_t frame, int8_t *input, int n);

/* output_data is complete: informs the reader */
void frame_done(uint32_t frame);

/* ends the test */
_Noreturn void board_exit(const char *message, int status);

#endif
