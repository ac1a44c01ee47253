/* SPDX-License-Identifier: Apache-2.0 */
/* Prints one line per kernel and transfer, as a table and as YAML. */
#include "report.h"

#include "stream/op.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void
shape_text(char out[32], struct hwc s)
{
	(void)snprintf(out, 32, "%dx%dx%d", s.h, s.w, s.c);
}

/* what all rows have, kernels, transfers and memories that are still busy */
struct line {
	const char *kind, *in, *out, *limit, *name;
	double start, end;
};

static void
put_line(struct text *t, const struct network *net, const struct line *x,
	 const struct perf_estimate *e)
{
	text_printf(t, "%-11s %-14s %-14s %11.0f %11.0f %9.0f %8.2f %9.0f %9.0f %9.0f %10.0f %11.0f "
		       "%11.0f %6.2f %-14s %s\n",
		    x->kind, x->in, x->out, x->start, x->end, e->total,
		    share(e->total, net->total.total), e->npu, e->memory[MEM_SRAM],
		    e->memory[MEM_DRAM], e->memory[MEM_ON_CHIP_FLASH],
		    e->memory[MEM_OFF_CHIP_FLASH], e->macs,
		    row_utilisation(net, e->macs, e->total), x->limit, x->name);
}

void
report_layers(struct text *t, const struct network *net)
{
	text_putc(t, '\n');
	for (size_t k = 0; k < net->n; k++) {
		const struct operator *op = &net->op[k];
		for (int i = 0; i < 80; i++)
			text_putc(t, '#');
		text_printf(t, "\nPerformance for NPU operator %s\n", op->name);
		text_printf(t, "%-11s %-14s %-14s %11s %11s %9s %8s %9s %9s %9s %9s "
			       "%9s %11s %6s %-14s %s\n",
			    "Operator", "IFM", "OFM", "Start", "End", "Op Cycles",
			    "Network%", "NPU", "SRAM AC", "DRAM AC", "OnFlash AC",
			    "OffFlash AC", "MAC Count", "Util%", "Limited by", "Name");
		for (size_t i = 0; i < op->run.n; i++) {
			const struct perf_row *r = &op->run.row[i];
			char in[32] = "-", out[32] = "-";
			struct text name = { 0 };
			if (!row_listed(r))
				continue;
			if (r->step.kind == PERF_KERNEL) {
				shape_text(in, r->op.ifm.shape);
				shape_text(out, r->op.ofm.shape);
			} else {
				(void)snprintf(in, sizeof(in), "%lld B", (long long)r->dma_bytes);
			}
			row_name(&name, op, i);
			(void)text_str(&name);
			text_make_plain(name.p);
			const struct line x = { .kind = npu_op_name(r->npu), .in = in, .out = out,
						.limit = row_limit(r), .name = name.p,
						.start = op->start + r->step.start,
						.end = op->start + r->step.end };
			put_line(t, net, &x, &op->row[i]);
			text_free(&name);
		}
		const struct busy_memory *b = &op->busy;
		const struct line x = { .kind = busy_kind, .in = "-", .out = "-",
					.limit = memory_area_report(b->area), .name = b->name,
					.start = op->start + b->start, .end = op->start + b->end };
		const struct perf_estimate e = busy_estimate(net, op);
		if (b->end > b->start)
			put_line(t, net, &x, &e);
	}
	text_printf(t, "Start and End: %s; the rest: %s estimator; %s\n",
		    net->model == PERF_CALIBRATED ? "calibrated" : "timeline",
		    perf_model_name(net->model), model_note(net));
}

static void
put_yaml(struct text *t, unsigned n, const char *name, double start_cycle, double end_cycle)
{
	long long start = llrint(start_cycle), end = llrint(end_cycle) - 1;
	text_printf(t, "%u:\n  name: ", n);
	text_yaml(t, name);
	text_printf(t, "\n  start_cycle: %lld\n  end_cycle: %lld\n", start,
		    end < start ? start : end);
}

/*
 * Cycles count from 0, and both start and end cycle belong to the layer.  Halves round
 * to even.
 */
void
report_yaml(struct text *t, const struct network *net)
{
	unsigned n = 0;
	text_printf(t, "# %s\n", model_note(net));
	for (size_t k = 0; k < net->n; k++) {
		const struct operator *op = &net->op[k];
		for (size_t i = 0; i < op->run.n; i++) {
			const struct perf_row *r = &op->run.row[i];
			struct text name = { 0 };
			if (!row_listed(r))
				continue;
			row_name(&name, op, i);
			put_yaml(t, n, text_str(&name), op->start + r->step.start,
				 op->start + r->step.end);
			text_free(&name);
			n++;
		}
		if (op->busy.end > op->busy.start)
			put_yaml(t, n++, op->busy.name, op->start + op->busy.start,
				 op->start + op->busy.end);
	}
}
