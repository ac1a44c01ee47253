/* SPDX-License-Identifier: Apache-2.0 */
/* What all operations need: errors, the budget of steps, and windows. */
#include "sim/npu.h"

#include "map/map.h"

#include <stdarg.h>
#include <stdio.h>

const char *
npu_label(struct arena *a, const struct npu_run *r)
{
	bool named = npu_is_kernel(&r->op) || r->op.kind == NPU_DMA;
	return r->job->commands && named
		   ? map_label(a, &r->job->commands[r->op.index]) : NULL;
}

bool
npu_fail(struct npu_run *r, const char *fmt, ...)
{
	char text[600];
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	struct arena *a = arena_open();
	const char *name = npu_label(a, r);
	(void)err_at(r->e, r->job->name, 0,
		     "operator %d (ethos-u), 0x%06zx %s%s%s: %s", r->job->op_index,
		     4 * r->op.at, npu_op_name(&r->op), name ? " of " : "",
		     name ? name : "", text);
	arena_close(a);
	r->e->status = EXIT_NO; /* a stream breaks a rule: this is a result */
	return false;
}

bool
npu_spend(struct npu_run *r, uint64_t n)
{
	if (n > r->budget) {
		(void)npu_fail(r, "the stream needs more computation than the limit of "
				  "npu-sim (%llu steps)",
			       (unsigned long long)r->max_steps);
		r->e->status = EXIT_TROUBLE;
		return false;
	}
	r->budget -= n;
	return true;
}

struct npu_axis
npu_axis_y(const struct npu_op *op)
{
	return (struct npu_axis){ .stride = op->stride_y, .pad = op->pad_top,
				  .dilation = op->dilation_y,
				  .taps = op->kernel_h,
				  .extent = op->ifm_up_h,
				  .upscale = op->upscale };
}

struct npu_axis
npu_axis_x(const struct npu_op *op)
{
	return (struct npu_axis){ .stride = op->stride_x, .pad = op->pad_left,
				  .dilation = op->dilation_x,
				  .taps = op->kernel_w,
				  .extent = op->ifm_up_w,
				  .upscale = op->upscale };
}

bool
npu_check_window(struct npu_run *r, int dilation_rule)
{
	const struct npu_op *op = &r->op;
	if (op->ifm_up_h < 1 || op->ifm_up_w < 1)
		return npu_fail(r, "the IFM extent %lld x %lld that follows from "
				   "OFM, kernel and padding is empty (rule 24)",
				(long long)op->ifm_up_h,
				(long long)op->ifm_up_w);
	return ((op->dilated_h - 1) % op->dilation_y == 0 &&
		(op->dilated_w - 1) % op->dilation_x == 0) ||
	       npu_fail(r, "kernel of %d x %d doesn't suit the dilation (rule %d)",
			op->dilated_h, op->dilated_w, dilation_rule);
}
