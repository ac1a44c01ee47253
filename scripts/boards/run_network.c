/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the firmware that all boards share.  make-network writes its headers.  Macros of a
 * board:
 *   NETWORK_ARENA_SECTION  section of the arena, which the NPU must reach: no TCM
 *   NETWORK_HEADER         a header to include, for
 *   NETWORK_CACHES         a function that cleans and invalidates the data cache
 */
#include "run_network.h"

#ifdef NETWORK_HEADER
#include NETWORK_HEADER
#endif
#include "ethosu_driver.h"
#include "expected_output.h"
#include "input_data.h"
#include "network.h"

#include <stdio.h>
#include <string.h>

#if NETWORK_INPUTS != 1 || NETWORK_OUTPUTS != 1
#error "run_network.c has one input and one output: copy and compare the others, too"
#endif
_Static_assert(sizeof(input_data) == NETWORK_INPUT_0_BYTES &&
		       sizeof(expected_output_data) == NETWORK_OUTPUT_0_BYTES,
	       "input_data.h or expected_output.h is of another network: run make-network again");
#ifndef NETWORK_ARENA_SECTION
#define NETWORK_ARENA_SECTION ".bss.network_arena"
#endif
#ifndef NETWORK_CACHES
#define NETWORK_CACHES() (void)0 /* no data cache, or it is off */
#endif

static uint8_t arena[NETWORK_CALL_ARENA_BYTES]
	__attribute__((section(NETWORK_ARENA_SECTION), aligned(16)));
#if NETWORK_NPU_CACHE_BYTES > 0 /* Dedicated_Sram */
static uint8_t fast[NETWORK_NPU_CACHE_BYTES]
	__attribute__((section(".bss.network_fast"), aligned(16)));
#define NETWORK_CALL(driver) network_call(driver, arena, fast)
#else
#define NETWORK_CALL(driver) network_call(driver, arena)
#endif

int
run_network(struct ethosu_driver *driver)
{
	const unsigned char *want = (const unsigned char *)expected_output_data;
	const unsigned char *have = arena + NETWORK_OUTPUT_0_ARENA_OFFSET;
	memcpy(arena + NETWORK_INPUT_0_ARENA_OFFSET, input_data, NETWORK_INPUT_0_BYTES);
	NETWORK_CACHES();
	const int status = NETWORK_CALL(driver);
	NETWORK_CACHES();
	if (status) {
		printf("network: the driver returned %d\n", status);
		return status;
	}
	for (unsigned i = 0; i < NETWORK_OUTPUT_0_BYTES; i++)
		if (have[i] != want[i]) {
			printf("network: byte %u of the output is %u, expected %u\n", i,
			       (unsigned)have[i], (unsigned)want[i]);
			return 1;
		}
	printf("network: all %u bytes of the output are as expected\n",
	       (unsigned)NETWORK_OUTPUT_0_BYTES);
	return 0;
}
