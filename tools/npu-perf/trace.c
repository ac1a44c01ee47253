/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the timeline in the Trace Event Format, which Chrome and Perfetto open.  Times
 * are in microseconds.  The trace has one process, with a thread for kernels and one
 * for transfers.
 */
#include "report.h"

#include "graph/records.h"

#include <stdlib.h>
#include <string.h>

enum { KERNELS, TRANSFERS };

static void
thread_name(struct text *t, int id, const char *name)
{
	text_printf(t, "{ \"ph\": \"M\", \"pid\": 0, \"tid\": %d, \"name\": "
		       "\"thread_name\", \"args\": { \"name\": \"%s\" } },\n",
		    id, name);
}

static double
microseconds(const struct network *net, double cycles)
{
	return cycles * 1e6 / net->memory.clock;
}

static void
number(struct text *t, const char *key, double v)
{
	text_printf(t, ", \"%s\": ", key);
	number_text(t, v);
}

/* bytes that a row moves: a kernel's reads and writes, or a transfer's size */
static double
moved(const struct perf_row *r, const double read[MEM_AREAS],
      const double write[MEM_AREAS])
{
	double sum = 0;
	for (int a = 0; a < MEM_AREAS; a++)
		sum += read[a] + write[a];
	return r->step.kind == PERF_DMA ? (double)r->dma_bytes : sum;
}

static void
event(struct text *t, const struct network *net, const struct operator *op,
      size_t i)
{
	const struct perf_row *r = &op->run.row[i];
	double read[MEM_AREAS], write[MEM_AREAS];
	struct text name = { 0 };
	row_name(&name, op, i);
	row_traffic(net, r, read, write);
	text_puts(t, ",\n{ \"ph\": \"X\", \"pid\": 0, ");
	text_printf(t, "\"tid\": %d, \"cat\": \"%s\", \"name\": ",
		    r->step.kind == PERF_DMA ? TRANSFERS : KERNELS,
		    npu_op_name(&r->npu));
	text_quoted(t, text_str(&name), name.n);
	number(t, "ts", microseconds(net, op->start + r->step.start));
	number(t, "dur", microseconds(net, r->step.cycles));
	text_puts(t, ", \"args\": { \"cycles\": ");
	number_text(t, r->step.cycles);
	number(t, "npu_cycles", (double)r->cost.npu);
	number(t, "macs", (double)r->cost.macs);
	number(t, "bytes", moved(r, read, write));
	text_puts(t, " } }");
	text_free(&name);
}

/* an arrow from the transfer of a kernel's weights to this kernel */
static void
arrow(struct text *t, const struct network *net, const struct operator *op,
      size_t kernel, int id)
{
	const struct perf_row *to = &op->run.row[kernel];
	const struct perf_row *from = &op->run.row[to->weight_dma];
	text_printf(t, ",\n{ \"ph\": \"s\", \"pid\": 0, \"tid\": %d, \"id\": %d, "
		       "\"cat\": \"wait\", \"name\": \"weights\"", TRANSFERS, id);
	number(t, "ts", microseconds(net, op->start + from->step.start));
	text_printf(t, " },\n{ \"ph\": \"f\", \"bp\": \"e\", \"pid\": 0, \"tid\": %d, "
		       "\"id\": %d, \"cat\": \"wait\", \"name\": \"weights\"",
		    KERNELS, id);
	number(t, "ts", microseconds(net, op->start + to->step.start));
	text_puts(t, " }");
}

/* ---- counters --------------------------------------------------------------------- */

struct change {
	double at, by[MEM_AREAS]; /* change in bytes per cycle, from cycle at on */
	/*
	 * keeps the order of changes at the same time, because sums of doubles depend
	 * on it
	 */
	size_t i;
};

static int
by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

static size_t
collect_changes(const struct network *net, struct change *c)
{
	size_t n = 0;
	for (size_t k = 0; k < net->n; k++)
		for (size_t i = 0; i < net->op[k].run.n; i++) {
			const struct perf_row *r = &net->op[k].run.row[i];
			double read[MEM_AREAS], write[MEM_AREAS];
			double cycles = r->step.end - r->step.start;
			if (!row_listed(r) || cycles <= 0)
				continue;
			row_traffic(net, r, read, write);
			c[n].at = net->op[k].start + r->step.start;
			c[n + 1].at = net->op[k].start + r->step.end;
			for (int a = 0; a < MEM_AREAS; a++) {
				c[n].by[a] = (read[a] + write[a]) / cycles;
				c[n + 1].by[a] = -c[n].by[a];
			}
			c[n].i = n;
			c[n + 1].i = n + 1;
			n += 2;
		}
	qsort(c, n, sizeof(*c), by_time);
	return n;
}

static void
bandwidth_counters(struct text *t, struct arena *a, const struct network *net)
{
	const double rounding = 1e-9; /* rounding error of sums and differences */
	size_t rows = 0;
	for (size_t k = 0; k < net->n; k++)
		rows += net->op[k].run.n;
	struct change *c = anew(a, struct change, 2 * rows + 1);
	double now[MEM_AREAS] = { 0 };
	size_t n = collect_changes(net, c);
	for (size_t i = 0; i < n; i++) {
		for (int m = 0; m < MEM_AREAS; m++)
			now[m] += c[i].by[m];
		if (i + 1 < n && c[i + 1].at <= c[i].at)
			continue;
		text_puts(t, ",\n{ \"ph\": \"C\", \"pid\": 0, \"name\": \"bytes a "
			     "cycle\"");
		number(t, "ts", microseconds(net, c[i].at));
		text_puts(t, ", \"args\": { ");
		for (int m = 0; m < MEM_AREAS; m++) {
			text_printf(t, "%s\"%s\": ", m ? ", " : "",
				    memory_area_csv((enum mem_area)m));
			number_text(t, now[m] > rounding ? now[m] : 0);
		}
		text_puts(t, " } }");
	}
}

/* arena bytes in use, at every kernel and transfer */
static void
arena_counter(struct text *t, struct arena *a, const struct network *net)
{
	if (!net->map)
		return;
	const struct memory_use *use = memory_use(a, net, PLACE_ARENA);
	for (size_t k = 0; k < net->n; k++)
		for (size_t i = 0; i < net->op[k].run.n; i++) {
			const struct operator *op = &net->op[k];
			const struct perf_row *r = &op->run.row[i];
			if (!row_listed(r) || r->npu.index >= op->n_labels)
				continue;
			text_puts(t, ",\n{ \"ph\": \"C\", \"pid\": 0, \"name\": "
				     "\"arena bytes in use\"");
			number(t, "ts", microseconds(net, op->start + r->step.start));
			text_puts(t, ", \"args\": { \"bytes\": ");
			text_i64(t, use[op->command[r->npu.index].moment].bytes);
			text_puts(t, " } }");
		}
}

void
report_trace(struct text *t, const struct network *net)
{
	int n = 0;
	text_printf(t, "{ \"otherData\": { \"note\": \"%s\", \"network\": ",
		    model_note(net));
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
	for (size_t k = 0; k < net->n; k++)
		for (size_t i = 0; i < net->op[k].run.n; i++)
			if (net->op[k].run.row[i].step.kind == PERF_KERNEL &&
			    net->op[k].run.row[i].weight_dma >= 0)
				arrow(t, net, &net->op[k], i, n++);
	struct arena *a = arena_open();
	arena_counter(t, a, net);
	bandwidth_counters(t, a, net);
	arena_close(a);
	text_puts(t, "\n] }\n");
}
