/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second implementation of the ethosu driver's check of a command stream, for tests.  It
 * uses the numbers of the commands, but no table and no decoder of the tree.  It is as
 * lenient as the driver.
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

/* Returns 0, or the errno with which the driver refuses the stream. */
int driver_check(bool u65, const uint32_t *word, size_t n, struct driver_use *use);

#endif
