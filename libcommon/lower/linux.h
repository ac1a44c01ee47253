/* SPDX-License-Identifier: Apache-2.0 */
/* What the target of a lowering can do: its accelerator, and the driver of Linux. */
#ifndef LOWER_LINUX_H
#define LOWER_LINUX_H

#include "target/generation.h"

struct err;
struct g_model;
struct g_op;
struct lower;

/*
 * Returns true if a target accelerator is set, has the feature, and the driver
 * allows it.
 */
bool low_has(const struct lower *l, enum accel_lack what);
/*
 * Returns why the Linux driver would refuse an operation; NULL if the driver accepts the
 * operation, or if the graph is not for Linux.
 */
const char *low_linux_limit(const struct lower *l, const struct g_op *op);
/* Returns true if copies must not use negative strides. */
bool low_linux_forwards(const struct lower *l);
/* The names that --target of the front ends accepts.  Setting the target fails if the
 * accelerator has no driver in Linux. */
extern const char *const low_targets[];
/* rows of struct cli_option that set the members accel and target */
#define LOW_OPTIONS                                                                       \
	{ SHARED_TEXT(ACCELERATOR, accel), .doc = "lower for this accelerator (default: all)" }, \
	{ SHARED_CHOICE(TARGET, target, low_targets) }
bool low_set_target(struct lower *l, int target, struct err *e);
void low_put_target(const struct lower *l, struct g_model *m); /* into the graph */

#endif
