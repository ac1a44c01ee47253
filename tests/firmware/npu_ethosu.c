/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An inference without an interpreter: tfl2c's header has the places of command
 * stream and constants, and the driver runs them.  If the data cache is on, the
 * scratch memory is cleaned before the inference and invalidated after it.
 */
#include "ethosu_driver.h"

#include "model.h"
#include "npu.h"

#include <string.h>

static uint8_t scratch[MODEL_NPU_SCRATCH_BYTES]
    __attribute__((section("tensor_arena_sec"), aligned(16)));

/* memory mode Dedicated_Sram: a second, faster memory, the NPU's own */
#if MODEL_NPU_CACHE_BYTES > 0
static uint8_t cache[MODEL_NPU_CACHE_BYTES]
    __attribute__((section("cache_sec"), aligned(16)));
#define INVOKE(driver) model_invoke(driver, scratch, cache)
#else
#define INVOKE(driver) model_invoke(driver, scratch)
#endif

int
npu_invoke(const int8_t *input, int8_t *output)
{
	struct ethosu_driver *driver = ethosu_reserve_driver();
	int status;
	if (!driver)
		return -1;
	memcpy(scratch + MODEL_INPUT_0_ARENA_OFFSET, input,
	       MODEL_INPUT_0_BYTES);
	status = INVOKE(driver);
	memcpy(output, scratch + MODEL_OUTPUT_0_ARENA_OFFSET,
	       MODEL_OUTPUT_0_BYTES);
	ethosu_release_driver(driver);
	return status;
}
