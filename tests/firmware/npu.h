/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the inference loop needs of whoever computes, and of the board.
 * npu_ethosu.c: an Ethos-U through the core driver; npu_cpu.c: the network of
 * tests/models/fc.json in C, for an emulator that has no NPU.
 */
#ifndef NPU_H
#define NPU_H

#include <stdbool.h>
#include <stdint.h>

/* one inference; 0: done, else the driver's error */
int npu_invoke(const int8_t *input, int8_t *output);

/*
 * Waits for the next input to be in input_data.  Here a DMA, an interrupt or
 * another core would fill it.  False: there will be no more.
 */
bool frame_wait(uint32_t frame, int8_t *input, int n);

/* output_data is complete: tell whoever reads it */
void frame_done(uint32_t frame);

/* ends the test */
_Noreturn void board_exit(const char *message, int status);

#endif
