/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network without an interpreter: one NPU operator by the header's call of the
 * driver, other networks by the function of tfl2c --format=call.
 */
#include "run.h"

#include "ethosu_driver.h"

#include "network_model.h"

#include <stdio.h>

#ifdef NETWORK_MODEL_CALL_ARENA_BYTES
#define SCRATCH_BYTES NETWORK_MODEL_CALL_ARENA_BYTES
#define RUN network_model_call
#else
#define SCRATCH_BYTES NETWORK_MODEL_NPU_SCRATCH_BYTES
#define RUN network_model_invoke
#endif

static uint8_t scratch[SCRATCH_BYTES]
    __attribute__((section(ARENA_SECTION), aligned(16)));

#if NETWORK_MODEL_NPU_CACHE_BYTES > 0
static uint8_t cache[NETWORK_MODEL_NPU_CACHE_BYTES]
    __attribute__((section("cache_sec"), aligned(16)));
#define INVOKE(driver) RUN(driver, scratch, cache)
#define CACHE cache, sizeof(cache)
#else
#define INVOKE(driver) RUN(driver, scratch)
#define CACHE NULL, 0
#endif

#include "arena_places.h" /* input_at[], output_at[]: made of the header */

int
run_init(void)
{
	if (npu_init(CACHE)) {
		(void)puts("the driver does not start");
		return -1;
	}
#ifdef NETWORK_MODEL_STATES
	network_model_reset(scratch);
#endif
	return 0;
}

void *
run_input(int i)
{
	return scratch + input_at[i];
}

const void *
run_output(int i)
{
	return scratch + output_at[i];
}

int
run_invoke(void)
{
	struct ethosu_driver *driver = ethosu_reserve_driver();
	if (!driver)
		return -1;
	int status = INVOKE(driver);
	ethosu_release_driver(driver);
	return status;
}
