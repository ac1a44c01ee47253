/* SPDX-License-Identifier: Apache-2.0 */
/* A memory system in vela.ini's syntax: all queries of an accepted one must work. */
#include "fuzz.h"

#include "target/accel.h"
#include "target/memory.h"
#include "target/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_open();
	struct err e = { 0 };
	struct memory_system m = { 0 };
	const struct accel *accel = accel_find("ethos-u65-256");
	int fd = memfd_create("ini", 0);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	char path[40];
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (memory_load(a, path, "S", "M", accel, &m, &e))
		for (int i = 0; i < MEM_AREAS; i++)
			(void)memory_bytes_per_cycle(&m, accel,
						     (enum mem_area)i);
	(void)close(fd);
	arena_close(a);
	return 0;
}
