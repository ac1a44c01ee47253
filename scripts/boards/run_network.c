/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the firmware that all boards share.  make-network writes its headers.  Macros of a
 * board:
 *   NETWORK_ARENA_SECTION  section of the arena, which the NPU must reach: no TCM
 *   NETWORK_CACHES         for network.c: a function that cleans and invalidates the data cache,
 *   NETWORK_HEADER         and the header that declares it
 */
#include "run_network.h"

#include "ethosu_driver.h"
#include "expected_output.h"
#include "input_data.h"
#include "network.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* mkinput numbers the arrays if there are several */
#if NETWORK_INPUTS == 1
#define input_data_0 input_data
#endif
#if NETWORK_OUTPUTS == 1
#define expected_output_data_0 expected_output_data
#endif

#define OTHER "input_data.h or expected_output.h is of another network: run make-network again"
#define CHECK_INPUT(n) \
	_Static_assert(sizeof(input_data_##n) == NETWORK_INPUT_##n##_BYTES, OTHER);
#define CHECK_OUTPUT(n) \
	_Static_assert(sizeof(expected_output_data_##n) == NETWORK_OUTPUT_##n##_BYTES, OTHER);
NETWORK_EACH_INPUT(CHECK_INPUT)
NETWORK_EACH_OUTPUT(CHECK_OUTPUT)

static const struct tensor {
	size_t offset, bytes; /* in the arena */
	const void *data;     /* the input, or the output expected */
} inputs[] = {
#define INPUT(n) { NETWORK_INPUT_##n##_ARENA_OFFSET, NETWORK_INPUT_##n##_BYTES, input_data_##n },
	NETWORK_EACH_INPUT(INPUT)
}, outputs[] = {
#define OUTPUT(n) \
	{ NETWORK_OUTPUT_##n##_ARENA_OFFSET, NETWORK_OUTPUT_##n##_BYTES, expected_output_data_##n },
	NETWORK_EACH_OUTPUT(OUTPUT)
};

#ifndef NETWORK_ARENA_SECTION
#define NETWORK_ARENA_SECTION ".bss.network_arena"
#endif

/* whole cache lines of a Cortex-M55 or M85: a driver that invalidates them spoils no other data */
enum { LINE = 32 };
static uint8_t arena[(NETWORK_CALL_ARENA_BYTES + LINE - 1) / LINE * LINE]
	__attribute__((section(NETWORK_ARENA_SECTION), aligned(LINE)));
#if NETWORK_NPU_CACHE_BYTES > 0 /* Dedicated_Sram */
static uint8_t fast[NETWORK_NPU_CACHE_BYTES]
	__attribute__((section(".bss.network_fast"), aligned(16)));
#define NETWORK_CALL(driver) network_call(driver, arena, fast)
#else
#define NETWORK_CALL(driver) network_call(driver, arena)
#endif

/* true if output i is as expected; otherwise the console shows the first byte that differs */
static bool
is_expected(unsigned i)
{
	const unsigned char *want = outputs[i].data, *have = arena + outputs[i].offset;
	for (size_t k = 0; k < outputs[i].bytes; k++)
		if (have[k] != want[k]) {
			printf("network: byte %lu of output %u is %u, expected %u\n",
			       (unsigned long)k, i, (unsigned)have[k], (unsigned)want[k]);
			return false;
		}
	return true;
}

int
run_network(struct ethosu_driver *driver)
{
#ifdef NETWORK_STATES /* variables: the test is of the first inference */
	network_reset(arena);
#endif
	for (unsigned i = 0; i < NETWORK_INPUTS; i++)
		memcpy(arena + inputs[i].offset, inputs[i].data, inputs[i].bytes);
	const int status = NETWORK_CALL(driver);
	if (status) {
		printf("network: the driver returned %d\n", status);
		return status;
	}
	unsigned differ = 0;
	size_t bytes = 0;
	for (unsigned i = 0; i < NETWORK_OUTPUTS; i++) {
		differ += !is_expected(i);
		bytes += outputs[i].bytes;
	}
	if (!differ)
		printf("network: all %lu bytes of the output%s are as expected\n",
		       (unsigned long)bytes, NETWORK_OUTPUTS > 1 ? "s" : "");
	return differ != 0;
}
