/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One inference by a direct call of the driver: the network is one NPU operator, and the
 * header has the call.  For a chip, begin with scripts/boards; this file leaves out:
 *
 *	the NPU's base address   define NPU_BASE; Corstone-300's is only the default
 *	a memory for scratch     .bss must be where the NPU reaches it, which is often not the
 *				 CPU's TCM; else give scratch a section of its own
 *	data caches              clean before network_invoke(), invalidate after it
 *	the NPU's interrupt      enable it; its handler calls ethosu_irq_handler(&driver)
 *	power and clocks         of the NPU and of its memories
 *	an SRAM of the NPU only  (Dedicated_Sram), which ethosu_init() and network_invoke() take
 *
 * The headers are made from a model network.tflite; another name of the header changes the
 * names NETWORK_... and network_invoke (npucc -o digits.h: DIGITS_..., digits_invoke):
 *
 *	npucc -a ethos-u55-128 --system-config=... --memory-mode=Shared_Sram \
 *		-o network.h network.tflite
 *	mkinput -o input_data.h --expected=expected_output.h network.tflite FILE
 */
#include "ethosu_driver.h"

#include "expected_output.h"
#include "input_data.h"
#include "network.h"

#include <string.h>

/* mkinput numbers the arrays if there are several */
#if NETWORK_INPUTS == 1
#define input_data_0 input_data
#endif
#if NETWORK_OUTPUTS == 1
#define expected_output_data_0 expected_output_data
#endif

#ifndef NPU_BASE
#define NPU_BASE 0x48102000 /* of the NPU's registers: Corstone-300 */
#endif

static uint8_t scratch[NETWORK_NPU_SCRATCH_BYTES] __attribute__((aligned(16)));
static struct ethosu_driver driver;

int
main(void)
{
	/* no fast memory of the NPU's own, secure, privileged */
	if (ethosu_init(&driver, (void *)NPU_BASE, NULL, 0, 1, 1))
		return 2;
#ifdef NETWORK_STATES /* variables keep their values from one inference to the next */
	network_reset(scratch);
#endif
#define FILL(n) \
	memcpy(scratch + NETWORK_INPUT_##n##_ARENA_OFFSET, input_data_##n, \
	       NETWORK_INPUT_##n##_BYTES);
	NETWORK_EACH_INPUT(FILL)
	if (network_invoke(&driver, scratch))
		return 2;
	int differ = 0;
#define COMPARE(n) \
	differ |= memcmp(scratch + NETWORK_OUTPUT_##n##_ARENA_OFFSET, \
			 expected_output_data_##n, NETWORK_OUTPUT_##n##_BYTES);
	NETWORK_EACH_OUTPUT(COMPARE)
	return differ != 0;
}
