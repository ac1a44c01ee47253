/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ethosu driver's check of a command stream once more, for tests: from the numbers of
 * commands, without the tables and the decoder of the tree, and as lenient as the driver is.
 */
#ifndef DRIVER_H
#define DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct driver_use {
	uint64_t bytes[8];
	bool written[8];
};

/* 0, or the errno that the driver gives */
int driver_check(bool u65, const uint32_t *word, size_t n, struct driver_use *use);

#endif
