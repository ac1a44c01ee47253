/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several networks on one arena (npu-share): they run in random order, and each must give its
 * bytes although the others have used the same memory.  A network begins again, with the first
 * values of its variables, after the last frame.  run_share_tflm.cc includes this file to run
 * them under TensorFlow Lite Micro.
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
	const unsigned char *data; /* of all frames */
	unsigned bytes; /* of a frame */
};

struct network {
	const char *name;
	const struct place *in, *out;
	int n_in, n_out;
	int (*run)(void);
	int (*reset)(void); /* NULL: there are no variables */
};

#ifdef TENSORFLOW_LITE_MICRO_MICRO_INTERPRETER_H_
#define RUN(network) network##_run()
#define RESET(network) network##_reset()

static int
start(void)
{
	tflite::InitializeTarget();
	return share_start(arena) ? 0 : 2;
}
#else
#define RUN(network) network##_run(driver, MEMORY)
#define RESET(network) (network##_reset(arena), 0)

static struct ethosu_driver *driver;

static int
start(void)
{
	driver = ethosu_reserve_driver();
	return driver ? 0 : 2;
}
#endif

#include "networks.h" /* networks[]: made by firmware-demo */

static int
run(const struct network *n, unsigned frame)
{
	for (int k = 0; k < n->n_in; k++)
		memcpy(arena + n->in[k].at, n->in[k].data + frame * n->in[k].bytes, n->in[k].bytes);
	if ((frame == 0 && n->reset && n->reset()) || n->run()) {
		(void)printf("%s: the NPU failed\n", n->name);
		return 2;
	}
	for (int k = 0; k < n->n_out; k++)
		if (memcmp(arena + n->out[k].at, n->out[k].data + frame * n->out[k].bytes,
			   n->out[k].bytes) != 0) {
			(void)printf("%s: output %d of frame %u is not what was expected\n", n->name, k,
				     frame);
			return 1;
		}
	return 0;
}

int
main(void)
{
	enum { N = sizeof(networks) / sizeof(networks[0]), RUNS = 8 * N };
	unsigned frame[N] = { 0 };
	uint32_t random = 1;
	memset(arena, 0xa5, sizeof(arena));
	int status = npu_init(FAST) ? 2 : start();
	for (int i = 0; i < RUNS && !status; i++) {
		random = random * 1664525u + 1013904223u;
		const unsigned n = (random >> 16) % N;
		status = run(&networks[n], frame[n]++ % FRAMES);
	}
	(void)printf("%d networks in an arena of %u bytes, %d runs in random order\n", N,
		     (unsigned)sizeof(arena), RUNS);
	(void)puts(status ? "the output is not what was expected" : "output as expected");
	return status;
}
