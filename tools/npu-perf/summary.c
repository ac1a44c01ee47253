/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the network summary.  Its first lines have Vela's text, which people paste and
 * scrape (npu-perf(1)).
 */
#include "report.h"

#include "target/accel.h"
#include "target/part.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL = 41, TEXT_LABEL = 33 }; /* column at which a value starts */

/* A line of the summary: a label, and behind it the value. */
#define PUT_LINE(t, label, ...)                                              \
	(text_printf(t, "%-*s", LABEL, label), text_printf(t, __VA_ARGS__))

struct scale {
	double gb, mb;	/* bytes of a GB and of a MB */
	double average; /* bytes of a GB where an average in GB/s is printed */
};

static const struct scale scales[] = {
	{ 1e9, 1e6, 1e9 },
	{ 1024.0 * 1024 * 1024, 1024.0 * 1024, 1024.0 * 1024 * 1000 },
};

static void
text_line(struct text *t, const char *label, const char *value)
{
	struct arena *a = arena_open();
	text_printf(t, "%-*s%20s\n", TEXT_LABEL, label, value ? text_plain(a, value) : "n/a");
	arena_close(a);
}

/* "Off-chip Flash bandwidth", in 25 columns */
static void
area_label(struct text *t, enum mem_area area, const char *what)
{
	char label[64];
	(void)snprintf(label, sizeof(label), "%s %s", memory_area_report(area),
		       what);
	text_printf(t, "%-25s", label);
}

static void
kib(struct text *t, int64_t bytes)
{
	if (bytes < 0)
		text_printf(t, "%12s KiB\n", "n/a");
	else
		text_printf(t, "%12.2f KiB\n", (double)bytes / 1024);
}

static void
kib_line(struct text *t, const char *label, int64_t bytes)
{
	text_printf(t, "%-*s", LABEL, label);
	kib(t, bytes);
}

static double
area_bytes(const struct network *net, enum mem_area area)
{
	double sum = 0;
	for (int p = 0; p < PERF_PURPOSES; p++)
		for (int d = 0; d < PERF_DIRECTIONS; d++)
			sum += net->total.bytes[area][p][d];
	return sum;
}

static double
seconds(const struct network *net, double cycles)
{
	return cycles / net->memory.clock;
}

/* the part's name of a memory, if Vela's, which the lines below have, is another one */
static void
part_memory(struct text *t, const struct network *net, const char *label, enum mem_area area)
{
	const struct target_part *p =
	    target_part_with(net->memory.chip, net->memory.system, net->memory.mode);
	const char *name = !p ? "" : area == MEM_SRAM ? target_part_fast_memory(p)
						      : p->constant_memory;
	if (p && strcmp(name, memory_area_report(area)) != 0)
		PUT_LINE(t, label, "%12s of %s (%s in Vela's lines)\n", name, p->name,
			 memory_area_report(area));
}

static void
head(struct text *t, const struct options *o, const struct network *net)
{
	struct arena *scratch = arena_open();
	text_printf(t, "\nNetwork summary for %s\n", text_plain(scratch, net->name));
	arena_close(scratch);
	text_line(t, "Accelerator configuration", net->accel->report_name);
	text_line(t, "System configuration", net->memory.system);
	text_line(t, "Memory mode", net->memory.mode);
	PUT_LINE(t, "Accelerator clock", "%12.0f MHz\n", net->memory.clock / 1e6);
	part_memory(t, net, "Memory of the arena", MEM_SRAM);
	part_memory(t, net, "Memory of the constants", net->memory.const_area);
	for (int a = 0; a < MEM_AREAS; a++) {
		if (area_bytes(net, (enum mem_area)a) <= 0)
			continue;
		text_puts(t, "Design peak ");
		area_label(t, (enum mem_area)a, "bandwidth");
		text_printf(t, "    %12.2f GB/s\n",
			    net->machine.bytes_per_cycle[a] *
				net->memory.clock / scales[o->units == 4].gb);
	}
	text_putc(t, '\n');
	for (int a = 0; a < MEM_AREAS; a++)
		if (network_used(net, (enum mem_area)a) != 0) {
			text_puts(t, "Total ");
			area_label(t, (enum mem_area)a, "used");
			text_puts(t, "          ");
			kib(t, network_used(net, (enum mem_area)a));
		}
	if (net->bytes.separate)
		kib_line(t, "Inputs and outputs outside of the arena",
			 net->bytes.separate);
}

static void
operators(struct text *t, const struct options *o, const struct network *net)
{
	bool is_counted = net->n_layers >= 0;
	int all = net->n_cpu + (is_counted ? net->n_layers : 0);
	text_printf(t, "\nCPU operators = %d", net->n_cpu);
	if (is_counted || net->n_cpu == 0)
		text_printf(t, " (%.1f%%)\n",
			    all ? 100.0 * net->n_cpu / all : 0.0);
	else
		text_puts(t, " (n/a)\n");
	for (int i = 0; o->cpu_names && i < net->n_cpu; i++)
		text_printf(t, "   %s\n", net->cpu[i].label);
	if (is_counted)
		text_printf(t, "NPU operators = %d (%.1f%%)\n", net->n_layers,
			    all ? 100.0 * net->n_layers / all : 100.0);
	else
		text_printf(t, "NPU operators = n/a (%s)\n",
			    net->n_cpu ? "n/a" : "100.0%");
}

/* pads prefix and label to 33 columns; the caller prints the value */
static void
bandwidth_label(struct text *t, const char *prefix, enum mem_area area)
{
	text_printf(t, "%-8s", prefix);
	area_label(t, area, "bandwidth");
}

static void
bandwidths(struct text *t, const struct options *o, const struct network *net,
	   enum mem_area area, double time)
{
	const struct scale *s = &scales[o->units == 4];
	const double (*b)[PERF_DIRECTIONS] = net->total.bytes[area];
	double all = area_bytes(net, area);
	const struct {
		const char *prefix;
		double bytes;
	} lines[] = {
		{ "Input", b[PERF_FEATURE_MAPS][PERF_READ] },
		{ "Weight", b[PERF_WEIGHTS][PERF_READ] +
				b[PERF_WEIGHTS][PERF_WRITE] },
		{ "Output", b[PERF_FEATURE_MAPS][PERF_WRITE] },
		{ "Total", all },
	};
	text_putc(t, '\n');
	bandwidth_label(t, "Average", area);
	text_printf(t, "        %12.2f GB/s\n",
		    time > 0 ? all / time / s->average : 0.0);
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		bandwidth_label(t, lines[i].prefix, area);
		text_printf(t, "        %12.2f MB/batch\n",
			    lines[i].bytes / s->mb);
	}
	bandwidth_label(t, "Total", area);
	text_printf(t, " per input %9.2f MB/inference (batch size %d)\n",
		    all / s->mb / net->batch, net->batch);
}

/* a compiler's estimate is truncated as that compiler prints it; ours are not */
static void
cycles_line(struct text *t, const struct network *net, const char *label, double cycles)
{
	bool ours = net->model == PERF_TIMELINE || net->model == PERF_CALIBRATED;
	text_printf(t, "%-30s           %12.0f cycles/batch\n", label,
		    ours ? cycles : trunc(cycles));
}

static void
cycles(struct text *t, const struct network *net)
{
	const struct perf_estimate *e = &net->total;
	double time = seconds(net, e->total);
	PUT_LINE(t, "Neural network macs", "%12.0f MACs/batch\n", e->macs);
	PUT_LINE(t, "Network Tops/s", "%12.2f Tops/s\n\n",
		 time > 0 ? e->macs * 2 / time / 1e12 : (double)NAN);
	cycles_line(t, net, "NPU cycles", e->npu);
	for (int a = 0; a < MEM_AREAS; a++) {
		char label[64];
		(void)snprintf(label, sizeof(label), "%s Access cycles",
			       memory_area_report((enum mem_area)a));
		cycles_line(t, net, label, e->memory[a]);
	}
	cycles_line(t, net, "Total cycles", e->total);
	text_printf(t, "\n%-34s%7.2f ms, %7.2f inferences/s (batch size %d)\n",
		    "Batch Inference time", time * 1e3,
		    time > 0 ? net->batch / time : (double)NAN, net->batch);
}

/* the estimate to plan with */
static void
calibrated(struct text *t, const struct network *net)
{
	const struct memory_system *m = &net->memory;
	text_putc(t, '\n');
	PUT_LINE(t, "Calibrated estimate", "%12.0f cycles, %.3f ms\n", net->calibrated,
		 seconds(net, net->calibrated) * 1e3);
	PUT_LINE(t, "With a probability of 80 %", "%12.0f to %.0f cycles, %.3f to %.3f ms\n",
		 net->interval.low, net->interval.high, seconds(net, net->interval.low) * 1e3,
		 seconds(net, net->interval.high) * 1e3);
	if (net->extrapolated)
		text_puts(t, "On Arm's simulator of the NPU; no chip with this NPU and memory was measured\n");
	else
		text_printf(t, "Fitted on %d measurements with %s, constants read "
			       "from it\n", m->fit.measured, m->system);
}

/* prints what an inference takes besides the NPU's cycles of a batch, and any measurement */
static void
inference(struct text *t, const struct network *net)
{
	double all = network_cycles(net);
	double npu_ms = seconds(net, all) * 1e3 / net->batch;
	if (net->batch > 1)
		PUT_LINE(t, "An inference", "%12.0f cycles of %d in a batch, %.3f ms\n",
			 all / net->batch, net->batch, npu_ms);
	else if (net->n_cpu > net->n_uncosted)
		PUT_LINE(t, "On the NPU", "%12.3f ms\n", npu_ms);
	if (net->n_bodies) /* nobody knows how often a body runs */
		PUT_LINE(t, "Bodies of IF and WHILE", "%12d NPU operator%s, each counted once\n",
			 net->n_bodies, net->n_bodies == 1 ? "" : "s");
	/* The CPU has another clock and waits for the NPU; its cycles are in no sum of cycles. */
	int costed = net->n_cpu - net->n_uncosted;
	if (costed) {
		struct inference x = network_inference(net);
		PUT_LINE(t, "On the CPU", "%12.0f cycles of a %s, roughly: %d operator%s\n",
			 x.cpu_cycles, x.core.name, costed, costed == 1 ? "" : "s");
		PUT_LINE(t, "NPU and CPU", "%12.3f ms, %.3f to %.3f ms: the CPU's cycles are known "
			 "to a factor of %.2g\n", x.seconds * 1e3, x.low * 1e3, x.high * 1e3,
			 x.cpu_error);
	}
	if (net->n_uncosted)
		PUT_LINE(t, "On the CPU", "%12d operator%s not costed\n", net->n_uncosted,
			 net->n_uncosted == 1 ? "" : "s");
	if (net->measured.inferences)
		PUT_LINE(t, "Measured", "%12.0f cycles, %.2f times the estimate\n",
			 measured_cycles(&net->measured),
			 all > 0 ? measured_cycles(&net->measured) / all : (double)NAN);
}

void
report_summary(struct text *t, const struct options *o,
	       const struct network *net)
{
	double time = seconds(net, net->total.total);
	head(t, o, net);
	operators(t, o, net);
	for (int a = 0; a < MEM_AREAS; a++)
		if (area_bytes(net, (enum mem_area)a) > 0)
			bandwidths(t, o, net, (enum mem_area)a, time);
	text_putc(t, '\n');
	kib_line(t, "Original Weights Size", net->weights.original);
	kib_line(t, "NPU Encoded Weights Size", net->weights.encoded_bytes);
	text_putc(t, '\n');
	cycles(t, net);
	text_printf(t, "\nCycles and bandwidths above: %s estimator; %s\n",
		    perf_model_name(net->model), model_note(net));
	if (net->model == PERF_CALIBRATED)
		calibrated(t, net);
	text_printf(t, "\nTimeline of the command streams (%s)\n", PERF_DISCLAIMER);
#define FIGURE(key, kind, value, sentence)
#define FIGURE_SUMMARY(label, ...) PUT_LINE(t, label, __VA_ARGS__);
#include "figures.def"
	struct text more = { 0 };
	inference(&more, net);
	if (more.n)
		text_printf(t, "\n%s", text_str(&more));
	text_free(&more);
	if (net->measured.inferences || net->measured.n_ops || net->measured.samples > 0)
		report_measured(t, net);
}
