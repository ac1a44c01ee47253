/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several networks on one arena (npu-share): they run in turn, forwards and backwards, and
 * each must give its bytes although the others have used the same memory.
 */
#include "run.h"

#include "ethosu_driver.h"

#include "share.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint8_t arena[SHARE_ARENA_BYTES] __attribute__((section(ARENA_SECTION), aligned(16)));

#ifdef SHARE_FAST_BYTES
static uint8_t fast[SHARE_FAST_BYTES] __attribute__((section("cache_sec"), aligned(16)));
#define FAST fast, sizeof(fast)
#define MEMORY arena, fast
#else
#define FAST NULL, 0
#define MEMORY arena
#endif

struct place {
	unsigned at;
	const void *data;
	unsigned bytes;
};

struct network {
	const char *name;
	const struct place *in, *out;
	int n_in, n_out;
	int (*run)(struct ethosu_driver *driver);
};

#include "networks.h" /* networks[]: made by firmware-demo */

static int
run(struct ethosu_driver *driver, const struct network *n)
{
	for (int k = 0; k < n->n_in; k++)
		memcpy(arena + n->in[k].at, n->in[k].data, n->in[k].bytes);
	if (n->run(driver)) {
		(void)printf("%s: the NPU failed\n", n->name);
		return 2;
	}
	for (int k = 0; k < n->n_out; k++)
		if (memcmp(arena + n->out[k].at, n->out[k].data, n->out[k].bytes) != 0) {
			(void)printf("%s: output %d is not what was expected\n", n->name, k);
			return 1;
		}
	return 0;
}

int
main(void)
{
	enum { N = sizeof(networks) / sizeof(networks[0]), ROUNDS = 2 };
	memset(arena, 0xa5, sizeof(arena));
	if (npu_init(FAST))
		return 2;
	struct ethosu_driver *driver = ethosu_reserve_driver();
	int status = driver ? 0 : 2;
	for (int i = 0; i < 2 * N * ROUNDS && !status; i++) {
		int k = i / N % 2 ? N - 1 - i % N : i % N;
		status = run(driver, &networks[k]);
	}
	(void)printf("%d networks in an arena of %u bytes\n", N, (unsigned)sizeof(arena));
	(void)puts(status ? "the output is not what was expected" : "output as expected");
	return status;
}
