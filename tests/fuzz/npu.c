/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver payload is verified and executed on memory of exactly the regions' sizes:
 * every access outside a region is outside an allocation.
 */
#include "fuzz.h"

#include "sim/sim.h"
#include "verify/verify.h"

#include <stdlib.h>

enum { FLASH_BYTES = 16384, ARENA_BYTES = 12288 };

/* bytes that may be weights, scales or values */
static uint8_t *
memory_new(size_t n)
{
	uint8_t *p = malloc(n);
	if (!p)
		out_of_memory();
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(i % 10 == 9 ? i & 31 : i * 37 ^ i >> 7);
	return p;
}

static void
execute(struct bytes payload)
{
	struct err e = { 0 };
	uint8_t *flash = memory_new(FLASH_BYTES);
	uint8_t *arena = memory_new(ARENA_BYTES);
	struct sim_npu_job job = {
		.name = "fuzz", .payload = payload,
		.max_steps = 1 << 26,
		.region = {
			{ .rd = flash, .bytes = FLASH_BYTES },
			{ .rd = arena, .wr = arena, .bytes = ARENA_BYTES },
		},
	};
	(void)sim_npu_run(&job, &e);
	free(flash);
	free(arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_open();
	struct err e = { 0 };
	struct npu_stream s = { .subgraph = -1, .op = -1 };
	struct npu_verify v = { .jobs = 1 };
	struct bytes in = { .p = data, .n = size };
	if (stream_payload(a, in, &s, &e)) {
		stream_verify(NULL, &s, 1, &v);
		execute(in);
	}
	arena_close(a);
	return 0;
}
