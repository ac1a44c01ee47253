/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering for the Linux driver ethosu, which refuses some commands of the NPU
 * (nputools-linux(7), RULES).
 */
#include "lower/linux.h"

#include "lower/lower.h"
#include "target/accel.h"

const char *const low_targets[] = { "any", "linux", NULL };

bool
low_has(const struct lower *l, enum accel_lack what)
{
	bool refused = what == LACK_RESIZE || what == LACK_GATHER || what == LACK_BRANCHES;
	return l->accel && !accel_lacks(l->accel, what) && !(l->for_linux && refused);
}

bool
low_linux_forwards(const struct lower *l)
{
	return l->for_linux && accel_lacks(l->accel, LACK_ORDERS);
}

static bool
runs_backwards(const struct g_operand *o)
{
	return o->view == VIEW_STRIDED &&
	       (o->stride[0] < 0 || o->stride[1] < 0 || o->stride[2] < 0);
}

const char *
low_linux_limit(const struct lower *l, const struct g_op *op)
{
	if (!l->for_linux)
		return NULL;
	if (low_linux_forwards(l) && (runs_backwards(&op->ifm) || runs_backwards(&op->ofm) ||
				      runs_backwards(&op->ifm2)))
		return "the Linux driver accepts no negative strides";
	if (G_HAS(op, G_OP_order) && op->order == ORDER_HCW)
		return "the Linux driver accepts no transposed OFM";
	return NULL;
}

bool
low_set_target(struct lower *l, int target, struct err *e)
{
	l->for_linux = target != 0;
	return !target || (l->accel && l->accel->generation != GEN_U55) ||
	       err_set(e, "--target=linux is for Ethos-U65 and Ethos-U85: select one of them "
		       "with --accelerator-config");
}

void
low_put_target(const struct lower *l, struct g_model *m)
{
	if (l->for_linux)
		G_PUT(m, MODEL, driver, DRIVER_LINUX);
}
