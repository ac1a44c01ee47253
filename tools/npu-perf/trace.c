/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the timeline in the Trace Event Format, which Chrome and Perfetto open.  Times
 * are in microseconds.  The trace has one process, with a thread for kernels and one
 * for transfers.
 */
#include "report.h"

#include "graph/records.h"
#include "stream/op.h"
#include "target/accel.h"

#include <stdlib.h>

enum { KERNELS, TRANSFERS };

/* an event: its phase, and its thread; -1: of the whole process */
static void
begin(const struct json_out *j, const char *phase, int thread)
{
	json_line(j, 0);
	json_open(j, NULL, '{');
	json_put_string(j, "ph", phase);
	if (*phase == 'f')
		json_put_string(j, "bp", "e");
	json_put_i64(j, "pid", 0);
	if (thread >= 0)
		json_put_i64(j, "tid", thread);
}

static void
name_event(const struct json_out *j, int thread, const char *what, const char *name)
{
	begin(j, "M", thread);
	json_put_string(j, "name", what);
	json_open(j, "args", '{');
	json_put_string(j, "name", name);
	json_close(j, '}');
	json_close(j, '}');
}

static void
put_time(const struct json_out *j, const char *key, const struct network *net, double cycles)
{
	json_put_f64(j, key, cycles * 1e6 / net->memory.clock);
}

/* a bar from a cycle of the network on; the caller adds members of "args", and ends both */
static void
begin_event(const struct json_out *j, const struct network *net, int thread, const char *kind,
	    const char *name, double start, double cycles)
{
	begin(j, "X", thread);
	json_put_string(j, "cat", kind);
	json_put_string(j, "name", name);
	put_time(j, "ts", net, start);
	put_time(j, "dur", net, cycles);
	json_open(j, "args", '{');
	json_put_f64(j, "cycles", cycles);
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

/* the value of a counter from a cycle of the network on; the caller adds its members, and ends it */
static void
begin_counter(const struct json_out *j, const char *name, const struct network *net, double cycle)
{
	begin(j, "C", -1);
	json_put_string(j, "name", name);
	put_time(j, "ts", net, cycle);
	json_open(j, "args", '{');
}

static void
bandwidth_counters(const struct json_out *j, struct arena *a, const struct network *net)
{
	const double rounding = 1e-9; /* rounding error of sums and differences */
	size_t rows = 0, n = 0;
	for (size_t k = 0; k < net->n; k++)
		rows += net->op[k].run.n;
	struct change *c = anew(a, struct change, 2 * rows + 1);
	double now[MEM_AREAS] = { 0 };
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
			for (int m = 0; m < MEM_AREAS; m++) {
				c[n].by[m] = (read[m] + write[m]) / cycles;
				c[n + 1].by[m] = -c[n].by[m];
			}
			c[n].i = n;
			c[n + 1].i = n + 1;
			n += 2;
		}
	qsort(c, n, sizeof(*c), by_time);
	for (size_t i = 0; i < n; i++) {
		for (int m = 0; m < MEM_AREAS; m++)
			now[m] += c[i].by[m];
		if (i + 1 < n && c[i + 1].at <= c[i].at)
			continue;
		begin_counter(j, "bytes a cycle", net, c[i].at);
		for (int m = 0; m < MEM_AREAS; m++)
			json_put_f64(j, memory_area_csv((enum mem_area)m),
				     now[m] > rounding ? now[m] : 0);
		json_close(j, '}');
		json_close(j, '}');
	}
}

/* arena bytes in use, at every kernel and transfer */
static void
arena_counter(const struct json_out *j, struct arena *a, const struct network *net)
{
	if (!net->map)
		return;
	const struct memory_use *use = memory_use(a, net, PLACE_ARENA);
	for (size_t k = 0; k < net->n; k++)
		for (size_t i = 0; i < net->op[k].run.n; i++) {
			const struct operator *op = &net->op[k];
			const struct perf_row *r = &op->run.row[i];
			if (!row_listed(r) || r->npu->index >= op->n_labels)
				continue;
			begin_counter(j, "arena bytes in use", net, op->start + r->step.start);
			json_put_i64(j, "bytes", use[op->command[r->npu->index].moment].bytes);
			json_close(j, '}');
			json_close(j, '}');
		}
}

void
report_trace(struct text *t, const struct network *net)
{
	const struct json_out out = { .t = t, .style = JSON_PADDED }, *j = &out;
	int n = 0; /* arrows */
	json_root(j, '{');
	json_open(j, "otherData", '{');
	json_put_string(j, "note", model_note(net));
	json_put_string(j, "network", net->name);
	json_close(j, '}');
	json_line(j, 0);
	json_open(j, "traceEvents", '[');
	name_event(j, KERNELS, "thread_name", "kernels");
	name_event(j, TRANSFERS, "thread_name", "transfers");
	name_event(j, -1, "process_name", net->accel->name);
	for (size_t k = 0; k < net->n; k++)
		for (size_t i = 0; i < net->op[k].run.n; i++) {
			const struct operator *op = &net->op[k];
			const struct perf_row *r = &op->run.row[i];
			double read[MEM_AREAS], write[MEM_AREAS], sum = 0;
			struct text name = { 0 };
			if (!row_listed(r))
				continue;
			row_name(&name, op, i);
			row_traffic(net, r, read, write);
			for (int m = 0; m < MEM_AREAS; m++)
				sum += read[m] + write[m];
			begin_event(j, net, r->step.kind == PERF_DMA ? TRANSFERS : KERNELS,
				    npu_op_name(r->npu), text_str(&name),
				    op->start + r->step.start, r->step.cycles);
			json_put_f64(j, "npu_cycles", (double)r->cost.npu);
			json_put_f64(j, "macs", (double)r->cost.macs);
			/* that a kernel reads and writes, or a transfer's size */
			json_put_f64(j, "bytes", r->step.kind == PERF_DMA ? (double)r->dma_bytes : sum);
			json_close(j, '}');
			json_close(j, '}');
			text_free(&name);
		}
	for (size_t k = 0; k < net->n; k++) {
		const struct busy_memory *b = &net->op[k].busy;
		if (!(b->end > b->start))
			continue;
		begin_event(j, net, KERNELS, busy_kind, b->name, net->op[k].start + b->start,
			    b->end - b->start);
		json_close(j, '}');
		json_close(j, '}');
	}
	/* an arrow from the transfer of a kernel's weights to this kernel */
	for (size_t k = 0; k < net->n; k++)
		for (size_t i = 0; i < net->op[k].run.n; i++) {
			const struct operator *op = &net->op[k];
			const struct perf_row *to = &op->run.row[i];
			if (to->step.kind != PERF_KERNEL || to->weight_dma < 0)
				continue;
			for (int end = 0; end < 2; end++) {
				const struct perf_row *r = end ? to : &op->run.row[to->weight_dma];
				begin(j, end ? "f" : "s", end ? KERNELS : TRANSFERS);
				json_put_i64(j, "id", n);
				json_put_string(j, "cat", "wait");
				json_put_string(j, "name", "weights");
				put_time(j, "ts", net, op->start + r->step.start);
				json_close(j, '}');
			}
			n++;
		}
	struct arena *a = arena_open();
	arena_counter(j, a, net);
	bandwidth_counters(j, a, net);
	arena_close(a);
	json_close_line(j, 0, ']');
	json_close(j, '}');
	text_putc(t, '\n');
}
