/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An inference without an interpreter: tfl2c has put the place of command
 * stream and constants into the header, the driver does the rest.  Where the
 * data cache is on, the scratch memory is cleaned before and invalidated
 * after.
 */
#include "ethosu_driver.h"

#include "model.h"
#include "npu.h"

#include <string.h>

static uint8_t scratch[MODEL_NPU_SCRATCH_BYTES]
    __attribute__((section("tensor_arena_sec"), aligned(16)));

/* memory mode Dedicated_Sram: a second, faster memory of the NPU's own */
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
