/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads logs of devices.  The supported lines are:
 *   ML evaluation kit: "NPU TOTAL cycles: N", "NPU AXI0_RD_..." for every inference
 *   ExecuTorch, Zephyr: "ethosu_pmu_cycle_cntr : N", cntr0 to cntr3: sums over inferences,
 *     followed by "(N per inference)"
 *   logs of Ethos-U85: "NPU MAC_ACTIVE: N cycles", "NPU EXT_RD_DATA_BEAT_RECEIVED: N"
 *   TensorFlow Lite Micro's profiler, and tfl2c --profile: "NAME took N ticks"
 *   a table with the columns "file" and "measured_cycles", separated by tabs: the row of the
 *     model's file
 *   a histogram of QREAD: lines "OFFSET,COUNT", or with the columns' names before them
 */
#include "report.h"

#include "base/file.h"
#include "tflite/flatbuffers.h"

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
	{ "NPU MAC_ACTIVE", COUNT_MAC },
	{ "NPU EXT_RD_DATA_BEAT_RECEIVED", COUNT_EXT_READ },
	{ "NPU EXT_WR_DATA_BEAT_WRITTEN", COUNT_EXT_WRITE },
	{ "NPU SRAM_RD_DATA_BEAT_RECEIVED", COUNT_SRAM_READ },
	{ "NPU SRAM_WR_DATA_BEAT_WRITTEN", COUNT_SRAM_WRITE },
	{ "NPU EXT_RD_TRANS_COMPLETED", COUNT_EXT_READS },
	{ "NPU EXT_WR_TRANS_COMPLETED_M", COUNT_EXT_WRITES },
	{ "NPU SRAM_RD_TRANS_COMPLETED", COUNT_SRAM_READS },
	{ "NPU SRAM_WR_TRANS_COMPLETED_M", COUNT_SRAM_WRITES },
	{ "NPU EXT_RD_STALL_LIMIT", COUNT_EXT_STALL },
	{ "NPU AXI_LATENCY_ANY", COUNT_LATENCY },
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
	[COUNT_AXI1_READ] = "axi1_read_beats", [COUNT_MAC] = "mac_active_cycles",
	[COUNT_EXT_READ] = "ext_read_beats", [COUNT_EXT_WRITE] = "ext_write_beats",
	[COUNT_SRAM_READ] = "sram_read_beats", [COUNT_SRAM_WRITE] = "sram_write_beats",
	[COUNT_EXT_READS] = "ext_reads", [COUNT_EXT_WRITES] = "ext_writes",
	[COUNT_SRAM_READS] = "sram_reads", [COUNT_SRAM_WRITES] = "sram_writes",
	[COUNT_EXT_STALL] = "ext_read_stall_cycles", [COUNT_LATENCY] = "axi_latency",
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
	size_t cap_ops, cap_samples;
	const char *model; /* name of the model's file */
	int file_column, cycles_column; /* of the table; -1: no table has begun */
};

static void
take_counter(struct log *l, const char *line)
{
	static const char *const units[] = { "cycles", "beats" };
	for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
		const char *p = strstr(line, labels[i].text);
		if (!p)
			continue;
		/* the number after the label, across "cycles", "beats" and signs */
		p += strlen(labels[i].text);
		p += strspn(p, " \t");
		for (size_t k = 0; k < ARRAY_LEN(units); k++)
			if (!strncmp(p, units[k], strlen(units[k])))
				p += strlen(units[k]);
		p += strspn(p, " :=\t");
		if (!(*p >= '0' && *p <= '9'))
			continue;
		/* instead of a sum, the number of "(12.00 per inference)" if this follows */
		const char *per = strstr(line, " per inference)");
		const char *open = per ? strrchr(line, '(') : NULL;
		if (open && open < per && open[1] >= '0' && open[1] <= '9')
			p = open + 1;
		struct values *c = &l->counter[labels[i].counter];
		agrow(l->a, c->v, c->n, &c->cap);
		c->v[c->n++] = strtod(p, NULL);
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

/* the text of a column of a table */
static const char *
column(struct log *l, const char *line, int n)
{
	for (; n > 0 && line; n--)
		line = (line = strchr(line, '\t')) ? line + 1 : NULL;
	return line ? arena_strndup(l->a, line, strcspn(line, "\t")) : "";
}

/* A row of a table counts if it is about the model's file. */
static void
take_row(struct log *l, const char *line)
{
	if (!strchr(line, '\t'))
		return;
	if (l->cycles_column < 0) {
		int tabs = 0;
		for (const char *p = line; *p; p += strcspn(p, "\t"), p += *p == '\t', tabs++) {
			const char *name = column(l, line, tabs);
			if (!strcmp(name, "file"))
				l->file_column = tabs;
			if (!strcmp(name, "measured_cycles"))
				l->cycles_column = tabs;
		}
		return;
	}
	double v = strtod(column(l, line, l->cycles_column), NULL);
	if (l->file_column < 0 || !l->model || v <= 0 ||
	    strcmp(column(l, line, l->file_column), l->model) != 0)
		return;
	struct values *c = &l->counter[COUNT_CYCLES];
	agrow(l->a, c->v, c->n, &c->cap);
	c->v[c->n++] = v;
}

/* "OFFSET,COUNT", both decimal, or the offset hexadecimal */
static void
take_sample(struct log *l, const char *line)
{
	char *end, *last;
	long long offset = strtoll(line, &end, 0);
	if (end == line || *end != ',')
		return;
	double count = strtod(end + 1, &last);
	last += strspn(last, " \t");
	if (last == end + 1 || *last || offset < 0 || !(count >= 0) || count > 1e15)
		return;
	struct measured *m = l->out;
	agrow(l->a, m->sample, m->n_samples, &l->cap_samples);
	m->sample[m->n_samples++] = (struct sample){ .offset = offset, .count = count };
	m->samples += count;
}

static int
by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

double
measured_cycles(const struct measured *m)
{
	return m->value[COUNT_CYCLES] > 0 ? m->value[COUNT_CYCLES]
					  : m->value[COUNT_ACTIVE];
}

bool
read_measured(struct arena *a, const char *path, const char *model, struct measured *out,
	      struct err *e)
{
	enum { LOG_MAX = 1 << 26 };
	struct log l = { .a = a, .out = out, .file_column = -1, .cycles_column = -1,
			 .model = model ? file_base(model) : NULL };
	struct bytes log;
	*out = (struct measured){ .inferences = 0 };
	if (!file_read(a, path, LOG_MAX, &log, e))
		return false;
	if (fb_identify(log))
		return err_at(e, path, 0, "a model, and no log of a device with measured cycles; "
			      "npu-report --compare=OLD NEW compares two models");
	char *next = arena_strndup(a, (const char *)log.p, log.n);
	for (char *line; (line = strsep(&next, "\r\n"));) {
		take_counter(&l, line);
		take_operator(&l, line);
		take_row(&l, line);
		take_sample(&l, line);
	}
	for (int i = 0; i < COUNTERS; i++) {
		struct values *c = &l.counter[i];
		if (c->n)
			qsort(c->v, c->n, sizeof(*c->v), by_size);
		/* the median */
		out->value[i] = c->n ? (c->v[(c->n - 1) / 2] + c->v[c->n / 2]) / 2 : -1;
	}
	const struct values *v = &l.counter[COUNT_CYCLES];
	v = v->n ? v : &l.counter[COUNT_ACTIVE];
	bool no_cycles = !v->n || !(measured_cycles(out) > 0);
	if (no_cycles && l.cycles_column >= 0)
		return err_at(e, path, 0, "the table has no row with measured_cycles for the file %s",
			      l.model ? text_plain(a, l.model) : "on standard input");
	if (no_cycles && !(out->samples > 0) && !out->n_ops)
		return err_at(e, path, 0, "the log has no line \"NPU TOTAL cycles: "
					  "N\", \"NPU ACTIVE cycles: N\" or "
					  "\"ethosu_pmu_cycle_cntr : N\"");
	if (no_cycles)
		return true;
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
put_line(struct text *t, const char *name, double measured, double estimate, const char *layers)
{
	text_printf(t, "  %-38s %12.0f ", name, measured);
	if (estimate > 0)
		text_printf(t, "%12.0f %8.2f", estimate, measured / estimate);
	else
		text_printf(t, "%12s %8s", "-", "-");
	if (layers && *layers)
		text_printf(t, "  %s", layers);
	text_putc(t, '\n');
}

/*
 * The k-th ethos-u operator of an inference is op k; the k-th operator of another kind is the
 * k-th of this kind on the CPU.  Both are NULL for an operator that the network lacks.
 */
struct found {
	const struct operator *npu;
	const struct cpu_operator *cpu;
};

static struct found
find_operator(const struct network *net, size_t i)
{
	const struct measured *m = &net->measured;
	size_t before = 0, all = 0;
	for (size_t k = 0; k < i; k++)
		before += !strcmp(m->op[k].name, m->op[i].name);
	if (!strcmp(m->op[i].name, "ethos-u"))
		return (struct found){ .npu = net->n ? &net->op[before % net->n] : NULL };
	for (int k = 0; k < net->n_cpu; k++)
		all += !strcmp(net->cpu[k].label, m->op[i].name);
	before = all ? before % all : 0;
	for (int k = 0; k < net->n_cpu; k++)
		if (!strcmp(net->cpu[k].label, m->op[i].name) && !before--)
			return (struct found){ .cpu = &net->cpu[k] };
	return (struct found){ 0 };
}

double
measured_estimate(const struct network *net, size_t i)
{
	struct found f = find_operator(net, i);
	/* the CPU counts its own cycles while it waits for the NPU */
	double ticks = network_inference(net).core.clock / net->memory.clock;
	return f.npu ? f.npu->run.cycles * ticks : f.cpu ? f.cpu->cost.cycles : 0;
}

void
measured_layers(struct text *t, const struct network *net, size_t i)
{
	struct found f = find_operator(net, i);
	int64_t first = 0, last = 0;
	if (f.cpu)
		text_puts(t, f.cpu->name);
	if (!f.npu || !f.npu->command || !net->map)
		return;
	for (int k = 0; k < f.npu->n_labels; k++) {
		const struct map_command *c = &f.npu->command[k];
		if (c->what != MAP_KERNEL || !c->layer)
			continue;
		first = first ? first : c->layer;
		last = c->layer;
	}
	struct arena *a = arena_open();
	const char **layer = map_labels(a, net->map);
	if (first)
		text_puts(t, layer[first - 1]);
	if (last != first) {
		text_puts(t, " to ");
		text_puts(t, layer[last - 1]);
	}
	arena_close(a);
}

void
report_measured(struct text *t, const struct network *net)
{
	const struct measured *m = &net->measured;
	if (m->inferences)
		text_printf(t, "\nMeasured, %d inference%s (cycles %.0f to %.0f)\n",
			    m->inferences, m->inferences == 1 ? "" : "s", m->least, m->most);
	else
		text_puts(t, "\nMeasured\n");
	text_printf(t, "  %-38s %12s %12s %8s\n", "", "measured", "estimate",
		    "ratio");
	for (int c = 0; c < COUNTERS; c++)
		if (m->value[c] >= 0)
			put_line(t, names[c], m->value[c],
				 counter_estimate(net, (enum counter)c), NULL);
	if (m->inferences && net->model != PERF_CALIBRATED)
		put_line(t, "cycles, calibrated", measured_cycles(m), net->calibrated,
			 NULL);
	/* the operators of the interpreter, or of the C function */
	for (size_t i = 0; i < m->n_ops; i++) {
		double estimate = measured_estimate(net, i);
		struct text name = { 0 }, layers = { 0 };
		text_printf(&name, "%s, ticks", m->op[i].name);
		measured_layers(&layers, net, i);
		(void)text_str(&layers);
		text_make_plain(layers.p);
		put_line(t, text_str(&name), m->op[i].ticks, estimate, layers.p);
		text_free(&name);
		text_free(&layers);
	}
	report_samples(t, net);
}
