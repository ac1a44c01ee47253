/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two buffers for the input and two for the output: while the NPU uses one pair, the
 * core writes and reads the other pair, and no data is copied.  The network is
 * compiled with --separate-io-regions, and has one input and one output; for several,
 * network_bases() of the header takes a pointer to each.
 */
#include "ethosu_driver.h"

#include "expected_output.h"
#include "input_data.h"
#include "network.h"

#include <string.h>

#ifndef NPU_BASE
#define NPU_BASE 0x48102000
#endif
#ifndef FRAMES
#define FRAMES 4 /* a firmware goes on for ever */
#endif

#define ROOM(bytes) (((bytes) + 15) & ~15) /* the second is aligned to 16, too */

static uint8_t input[2][ROOM(NETWORK_INPUT_0_BYTES)] __attribute__((aligned(16)));
static uint8_t output[2][ROOM(NETWORK_OUTPUT_0_BYTES)] __attribute__((aligned(16)));
#if NETWORK_NPU_SCRATCH_BYTES > 0
static uint8_t scratch[ROOM(NETWORK_NPU_SCRATCH_BYTES)]
    __attribute__((section("tensor_arena_sec"), aligned(16)));
#else /* inputs and outputs are all tensors */
static void *const scratch = NULL;
#endif
static struct ethosu_driver driver;

void NPU_Handler(void); /* its name in the platform's vector table */

void
NPU_Handler(void)
{
	ethosu_irq_handler(&driver);
}

/* the driver reads base and size again after the NPU is done */
static int
start(int frame)
{
	static uint64_t base[NETWORK_NPU_BASES];
	static size_t size[NETWORK_NPU_BASES];
	network_bases(base, size, scratch, input[frame % 2], output[frame % 2]);
	return ethosu_invoke_async(&driver, network + NETWORK_NPU_STREAM_OFFSET,
				   NETWORK_NPU_STREAM_BYTES, base, size,
				   NETWORK_NPU_BASES, NULL);
}

/* for example a camera's interrupt */
static void
fill(int frame)
{
	memcpy(input[frame % 2], input_data, NETWORK_INPUT_0_BYTES);
}

/* true if the output is the expected one */
static int
use(int frame)
{
	return !memcmp(output[frame % 2], expected_output_data, NETWORK_OUTPUT_0_BYTES);
}

int
main(void)
{
	if (ethosu_init(&driver, (void *)NPU_BASE, NULL, 0, 1, 1))
		return 2;
#ifdef NETWORK_STATES /* variables keep their values from one inference to the next */
	network_reset(scratch);
#endif
	fill(0);
	for (int frame = 0; frame < FRAMES; frame++) {
		if (start(frame))
			return 2;
		/* meanwhile: the next input, and the output of the previous frame */
		fill(frame + 1);
		if (frame && !use(frame - 1))
			return 1;
		if (ethosu_wait(&driver, true))
			return 2;
		/* the NPU has read the input, which may be overwritten */
		memset(input[frame % 2], 0, NETWORK_INPUT_0_BYTES);
	}
	return !use(FRAMES - 1);
}
