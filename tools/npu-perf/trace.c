/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline in the Trace Event Format that Chrome and Perfetto open:
 * microseconds; one process, a thread for kernels and one for transfers.
 */
#include "report.h"

#include <string.h>

enum { KERNELS, TRANSFERS };

static void
thread_name(struct text *t, int id, const char *name)
{
	text_printf(t, "{ \"ph\": \"M\", \"pid\": 0, \"tid\": %d, \"name\": "
		       "\"thread_name\", \"args\": { \"name\": \"%s\" } },\n",
		    id, name);
}

static void
event(struct text *t, const struct network *net, const struct operator *op,
      size_t i)
{
	const struct perf_row *r = &op->run.row[i];
	double us = 1e6 / net->memory.clock;
	struct text name = { 0 };
	row_name(&name, op, i);
	text_puts(t, ",\n{ \"ph\": \"X\", \"pid\": 0, ");
	text_printf(t, "\"tid\": %d, \"cat\": \"%s\", \"name\": ",
		    r->step.kind == PERF_DMA ? TRANSFERS : KERNELS,
		    npu_op_name(&r->npu));
	text_quoted(t, text_str(&name), name.n);
	text_puts(t, ", \"ts\": ");
	number_text(t, (op->start + r->step.start) * us);
	text_puts(t, ", \"dur\": ");
	number_text(t, r->step.cycles * us);
	text_puts(t, ", \"args\": { \"cycles\": ");
	number_text(t, r->step.cycles);
	text_printf(t, ", \"npu_cycles\": %lld, \"macs\": %lld, \"bytes\": %lld",
		    (long long)r->cost.npu, (long long)r->cost.macs,
		    (long long)r->dma_bytes);
	text_puts(t, " } }");
	text_free(&name);
}

void
report_trace(struct text *t, const struct network *net)
{
	text_printf(t, "{ \"otherData\": { \"note\": \"%s\", \"network\": ",
		    PERF_DISCLAIMER);
	text_quoted(t, net->name, strlen(net->name));
	text_puts(t, " },\n\"traceEvents\": [\n");
	thread_name(t, KERNELS, "kernels");
	thread_name(t, TRANSFERS, "transfers");
	text_printf(t, "{ \"ph\": \"M\", \"pid\": 0, \"name\": \"process_name\", "
		       "\"args\": { \"name\": \"%s\" } }", net->accel->name);
	for (size_t k = 0; k < net->n; k++)
		for (size_t i = 0; i < net->op[k].run.n; i++)
			if (row_listed(&net->op[k].run.row[i]))
				event(t, net, &net->op[k], i);
	text_puts(t, "\n] }\n");
}
