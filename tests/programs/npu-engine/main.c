/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command stream as the NPU of the stand-in for the Linux driver (tests/linux): the
 * words and each region's memory are open files that the caller hands on.
 * usage: npu-engine CONFIG FD:WORDS [REGION:FD:BYTES...]
 */
#include "sim/sim.h"

#include "base/arena.h"
#include "base/little_endian.h"
#include "target/accel.h"

#include "base/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static void *
map(int fd, size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		perror("npu-engine");
		exit(EXIT_TROUBLE);
	}
	return p;
}

/* "A:B" or "A:B:C"; how many */
static int
numbers(const char *arg, unsigned long v[3])
{
	int n = 0;
	for (char *end; n < 3; arg = end + 1) {
		v[n++] = strtoul(arg, &end, 0);
		if (*end != ':')
			break;
	}
	return n;
}

static bool
take_region(struct sim_npu_job *job, const char *arg)
{
	unsigned long v[3];
	if (numbers(arg, v) != 3 || v[0] >= SIM_N_REGIONS)
		return false;
	uint8_t *p = map((int)v[1], v[2]);
	job->region[v[0]] = (struct sim_region){ .rd = p, .wr = p, .bytes = v[2] };
	return true;
}

static struct bytes
little_endian(struct arena *a, const uint32_t *word, size_t n)
{
	uint8_t *p = anew(a, uint8_t, 4 * n);
	for (size_t i = 0; i < n; i++)
		store_le32(p + 4 * i, word[i]);
	return (struct bytes){ .p = p, .n = 4 * n };
}

int
main(int argc, char **argv)
{
	struct err e = { 0 };
	struct sim_npu_job job = { .name = "npu-engine" };
	unsigned long v[3];
	if (argc < 3 || numbers(argv[2], v) != 2)
		return EXIT_TROUBLE;
	struct arena *a = arena_open();
	job.accel = accel_of_config((uint32_t)strtoul(argv[1], NULL, 0));
	job.payload = little_endian(a, map((int)v[0], 4 * v[1]), v[1]);
	bool ok = job.accel;
	for (int i = 3; ok && i < argc; i++)
		ok = take_region(&job, argv[i]);
	ok = ok && sim_npu_run(&job, &e);
	arena_close(a);
	if (!ok)
		cli_print(&e);
	return ok ? EXIT_YES : EXIT_NO;
}
