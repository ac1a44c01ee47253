/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads logs of devices.  The supported lines are:
 *   ML evaluation kit: "NPU TOTAL cycles: N", "NPU AXI0_RD_..." for every inference
 *   ExecuTorch, Zephyr: "ethosu_pmu_cycle_cntr : N", cntr0 to cntr3: sums over inferences,
 *     followed by "(N per inference)"
 *   TensorFlow Lite Micro's profiler: "NAME took N ticks"
 */
#include "report.h"

#include "base/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* the first label that a line contains is used; a longer label comes before its prefix */
static const struct label {
	const char *text;
	enum counter counter;
} labels[] = {
	{ "NPU TOTAL", COUNT_CYCLES },
	{ "NPU ACTIVE", COUNT_ACTIVE },
	{ "NPU IDLE", COUNT_IDLE },
	{ "NPU AXI0_RD_DATA_BEAT_RECEIVED", COUNT_AXI0_READ },
	{ "NPU AXI0_WR_DATA_BEAT_WRITTEN", COUNT_AXI0_WRITE },
	{ "NPU AXI1_RD_DATA_BEAT_RECEIVED", COUNT_AXI1_READ },
	{ "ethosu_pmu_cycle_cntr", COUNT_CYCLES },
	/* the events that ExecuTorch assigns to the counters on U55 and U65 */
	{ "ethosu_pmu_cntr0", COUNT_AXI0_READ },
	{ "ethosu_pmu_cntr1", COUNT_AXI1_READ },
	{ "ethosu_pmu_cntr2", COUNT_AXI0_WRITE },
	{ "ethosu_pmu_cntr3", COUNT_IDLE },
};

static const char *const names[COUNTERS] = {
	[COUNT_CYCLES] = "cycles", [COUNT_ACTIVE] = "active_cycles",
	[COUNT_IDLE] = "idle_cycles", [COUNT_AXI0_READ] = "axi0_read_beats",
	[COUNT_AXI0_WRITE] = "axi0_write_beats",
	[COUNT_AXI1_READ] = "axi1_read_beats",
};

const char *
counter_name(enum counter c)
{
	return names[c];
}

struct values {
	double *v;
	size_t n, cap;
};

struct log {
	struct arena *a;
	struct values counter[COUNTERS];
	struct measured *out;
	size_t cap_ops;
};

/* the number after a label, across "cycles", "beats" and signs; -1: none */
static double
number_behind(const char *p)
{
	static const char *const units[] = { "cycles", "beats" };
	p += strspn(p, " \t");
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (!strncmp(p, units[i], strlen(units[i])))
			p += strlen(units[i]);
	p += strspn(p, " :=\t");
	return *p >= '0' && *p <= '9' ? strtod(p, NULL) : -1;
}

/* if "(12.00 per inference)" follows a sum, returns this number, else the sum */
static double
per_inference(const char *line, double all)
{
	const char *p = strstr(line, " per inference)");
	const char *open = p ? strrchr(line, '(') : NULL;
	return open && open < p && open[1] >= '0' && open[1] <= '9'
		   ? strtod(open + 1, NULL) : all;
}

static void
take_counter(struct log *l, const char *line)
{
	for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
		const char *p = strstr(line, labels[i].text);
		double v = p ? number_behind(p + strlen(labels[i].text)) : -1;
		if (v < 0)
			continue;
		struct values *c = &l->counter[labels[i].counter];
		agrow(l->a, c->v, c->n, &c->cap);
		c->v[c->n++] = per_inference(line, v);
		return;
	}
}

static void
take_operator(struct log *l, const char *line)
{
	static const char took[] = " took ";
	const char *p = strstr(line, took);
	char *end;
	if (!p || p == line)
		return;
	double ticks = strtod(p + sizeof(took) - 1, &end);
	const char *name = p;
	while (name > line && !strchr(" \t|]", name[-1]))
		name--;
	if (strncmp(end, " ticks", 6) != 0 || !(ticks >= 0) || name == p)
		return;
	struct measured *m = l->out;
	agrow(l->a, m->op, m->n_ops, &l->cap_ops);
	m->op[m->n_ops++] = (struct measured_op){
		.name = arena_strndup(l->a, name, (size_t)(p - name)),
		.ticks = ticks };
}

static int
by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

static double
median(struct values *c)
{
	if (!c->n)
		return -1;
	qsort(c->v, c->n, sizeof(*c->v), by_size);
	return (c->v[(c->n - 1) / 2] + c->v[c->n / 2]) / 2;
}

double
measured_cycles(const struct measured *m)
{
	return m->value[COUNT_CYCLES] > 0 ? m->value[COUNT_CYCLES]
					  : m->value[COUNT_ACTIVE];
}

bool
read_measured(struct arena *a, const char *path, struct measured *out,
	      struct err *e)
{
	enum { LOG_MAX = 1 << 26 };
	struct log l = { .a = a, .out = out };
	struct bytes log;
	*out = (struct measured){ .inferences = 0 };
	if (!file_read(a, path, LOG_MAX, &log, e))
		return false;
	char *next = arena_strndup(a, (const char *)log.p, log.n);
	for (char *line; (line = strsep(&next, "\r\n"));) {
		take_counter(&l, line);
		take_operator(&l, line);
	}
	for (int c = 0; c < COUNTERS; c++)
		out->value[c] = median(&l.counter[c]);
	const struct values *v = &l.counter[COUNT_CYCLES];
	v = v->n ? v : &l.counter[COUNT_ACTIVE];
	if (!v->n || !(measured_cycles(out) > 0))
		return err_at(e, path, 0, "the log has no line \"NPU TOTAL cycles: "
					  "N\", \"NPU ACTIVE cycles: N\" or "
					  "\"ethosu_pmu_cycle_cntr : N\"");
	out->inferences = (int)v->n;
	out->least = v->v[0];
	out->most = v->v[v->n - 1];
	return true;
}

/* ---- comparison with the estimate ----------------------------------------------- */

double
counter_estimate(const struct network *net, enum counter c)
{
	return c == COUNT_CYCLES || c == COUNT_ACTIVE ? network_cycles(net)
						 : net->beats[c];
}

static void
put_line(struct text *t, const char *name, double measured, double estimate)
{
	text_printf(t, "  %-38s %12.0f ", name, measured);
	if (estimate > 0)
		text_printf(t, "%12.0f %8.2f\n", estimate, measured / estimate);
	else
		text_printf(t, "%12s %8s\n", "-", "-");
}

/*
 * Prints the interpreter's operators.  The k-th ethos-u operator of an inference is op
 * k.
 */
static void
put_operators(struct text *t, const struct network *net)
{
	const struct measured *m = &net->measured;
	size_t npu = 0;
	for (size_t i = 0; i < m->n_ops; i++) {
		bool is_npu = !strcmp(m->op[i].name, "ethos-u") && net->n;
		double estimate = is_npu ? net->op[npu++ % net->n].run.cycles : 0;
		struct text name = { 0 };
		text_printf(&name, "%s, ticks", m->op[i].name);
		put_line(t, text_str(&name), m->op[i].ticks, estimate);
		text_free(&name);
	}
}

void
report_measured(struct text *t, const struct network *net)
{
	const struct measured *m = &net->measured;
	text_printf(t, "\nMeasured, %d inference%s (cycles %.0f to %.0f)\n",
		    m->inferences, m->inferences == 1 ? "" : "s", m->least,
		    m->most);
	text_printf(t, "  %-38s %12s %12s %8s\n", "", "measured", "timeline",
		    "ratio");
	for (int c = 0; c < COUNTERS; c++)
		if (m->value[c] >= 0)
			put_line(t, names[c], m->value[c],
				 counter_estimate(net, (enum counter)c));
	put_line(t, "cycles, calibrated", measured_cycles(m), net->calibrated);
	put_operators(t, net);
}
