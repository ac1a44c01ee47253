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
			const struct perf_estimate *e = &op->row[i];
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
			text_printf(t, "%-11s %-14s %-14s %11.0f %11.0f %9.0f %8.2f %9.0f %9.0f "
				       "%9.0f %10.0f %11.0f %11.0f %6.2f %-14s ",
				    npu_op_name(r->npu), in, out, op->start + r->step.start,
				    op->start + r->step.end, e->total,
				    share(e->total, net->total.total), e->npu,
				    e->memory[MEM_SRAM], e->memory[MEM_DRAM],
				    e->memory[MEM_ON_CHIP_FLASH], e->memory[MEM_OFF_CHIP_FLASH],
				    e->macs, row_utilisation(net, e->macs, e->total),
				    row_limit(r));
			row_name(&name, op, i);
			(void)text_str(&name);
			text_make_plain(name.p);
			text_puts(t, name.p);
			text_putc(t, '\n');
			text_free(&name);
		}
	}
	text_printf(t, "Start and End: %s; the rest: %s estimator; %s\n",
		    net->model == PERF_CALIBRATED ? "calibrated" : "timeline",
		    perf_model_name(net->model), model_note(net));
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
			if (!row_listed(r))
				continue;
			long long start = llrint(op->start + r->step.start);
			long long end = llrint(op->start + r->step.end) - 1;
			struct text name = { 0 };
			row_name(&name, op, i);
			text_printf(t, "%u:\n  name: ", n++);
			text_yaml(t, text_str(&name));
			text_free(&name);
			text_printf(t, "\n  start_cycle: %lld\n"
				       "  end_cycle: %lld\n",
				    start, end < start ? start : end);
		}
	}
}
