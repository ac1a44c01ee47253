/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Continuous inferences with the NPU's interrupt at the end of each: the core
 * prepares the next input while the NPU computes.  sections.ld sets the addresses of
 * inputs and outputs; mkinput --sections makes the headers.  The network has one input and
 * one output; for several, see bare.c.
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
#define FRAMES 3 /* a firmware goes on for ever */
#endif

static uint8_t scratch[NETWORK_NPU_SCRATCH_BYTES]
    __attribute__((section("tensor_arena_sec"), aligned(16)));
static struct ethosu_driver driver;

void NPU_Handler(void); /* its name in the platform's vector table */

void
NPU_Handler(void)
{
	ethosu_irq_handler(&driver);
}

/* as network_invoke() of the header, but returns before the NPU is done */
static int
start(void)
{
	static uint64_t base[2];
	static size_t size[2] = { NETWORK_NPU_CONSTANT_BYTES,
				  NETWORK_NPU_SCRATCH_BYTES };
	base[0] = (uintptr_t)(network + NETWORK_NPU_CONSTANT_OFFSET);
	base[1] = (uintptr_t)scratch;
	return ethosu_invoke_async(&driver, network + NETWORK_NPU_STREAM_OFFSET,
				   NETWORK_NPU_STREAM_BYTES, base, size, 2, NULL);
}

/* a step of the core's other work */
static void
prepare_next_input(void)
{
}

static int
finish(void)
{
	int status;
	while ((status = ethosu_wait(&driver, false)) == 1)
		prepare_next_input();
	return status;
}

int
main(void)
{
	if (ethosu_init(&driver, (void *)NPU_BASE, NULL, 0, 1, 1))
		return 2;
#ifdef NETWORK_STATES /* variables keep their values from one inference to the next */
	network_reset(scratch);
#endif
	for (int frame = 0; frame < FRAMES; frame++) {
		memcpy(scratch + NETWORK_INPUT_0_ARENA_OFFSET, input_data,
		       NETWORK_INPUT_0_BYTES);
		if (start() || finish())
			return 2;
		memcpy(output_data, scratch + NETWORK_OUTPUT_0_ARENA_OFFSET,
		       NETWORK_OUTPUT_0_BYTES);
		if (memcmp(output_data, expected_output_data,
			   NETWORK_OUTPUT_0_BYTES))
			return 1;
	}
	return 0;
}
