/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compilation targets: accelerators, the memories around them, and the rules by
 * which an OFM block fits the accelerator's SHRAM.
 */
#ifndef TARGET_TARGET_H
#define TARGET_TARGET_H

#include <stdbool.h>

struct err;

/* rows of struct cli_option that set the members any_accelerator, config, system and mode */
#define MEMORY_OPTIONS                                                                    \
	{ SHARED_FLAG(ANY, any_accelerator) },                                             \
	{ SHARED_TEXT(CONFIG, config) },                                                   \
	{ SHARED_TEXT(SYSTEM, system) },                                                   \
	{ SHARED_TEXT(MODE, mode) }

/* names from a command line; NULL: option absent */
struct target_names {
	const char *accel, *part, *system, *mode;
	bool has_config; /* system and mode are in a file */
	bool required;	 /* the other names are required if part is NULL */
};

/* Calls say() with an error for every unknown or missing name, as cli_refuse() takes it. */
void target_check_names(const struct target_names *n, void (*say)(const struct err *e));

#endif
