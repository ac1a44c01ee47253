/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a dozen lines: which operators run where, time, memory, and what to try next. */
#include "report.h"

#include "perf/cpu.h"

#include <math.h>
#include <string.h>

enum { LONGEST = 3, NAME = 34 };

static double
number(const struct report *r, const char *key)
{
	return json_number(r->root, key, 0);
}

static void
put_head(struct text *t, const struct report *r)
{
	const char *part = json_string(r->root, "part", NULL);
	text_printf(t, "%s for %s%s%s, %s, %s\n",
		    text_plain(r->a, r->network),
		    json_string(r->root, "accelerator", "?"), part ? " of " : "",
		    part ? text_plain(r->a, part) : "",
		    text_plain(r->a, json_string(r->root, "system_config", "?")),
		    text_plain(r->a, json_string(r->root, "memory_mode", "?")));
}

/* the first operator on the CPU with a reason */
static const struct node *
node_on_cpu(const struct report *r)
{
	for (size_t i = 0; i < r->n_nodes; i++)
		if (r->node[i].layer < 0 && r->node[i].reason)
			return &r->node[i];
	return NULL;
}

static void
put_processors(struct text *t, const struct report *r)
{
	double npu = number(r, "npu_layers"), cpu = number(r, "cpu_operators");
	if (npu + cpu > 0)
		text_printf(t, "  NPU      %.0f of %.0f operators", npu, npu + cpu);
	else /* the graph does not count its operators */
		text_puts(t, "  NPU      all operators");
	if (cpu > 0)
		text_printf(t, "; %.0f on the CPU, roughly %s cycles of a Cortex-M55",
			    cpu, human_count(r->a, cpu_cycles_rounded(number(r, "cpu_cycles"))));
	text_putc(t, '\n');
	const struct node *x = node_on_cpu(r);
	if (x)
		text_printf(t, "  CPU      %s: %s\n", text_plain(r->a, x->kind),
			    text_plain(r->a, x->reason));
}

static void
put_time(struct text *t, const struct report *r)
{
	struct arena *a = r->a;
	bool extrapolated = json_true(r->root, "calibrated_extrapolated");
	double batch = batch_of(r);
	text_printf(t, "  time     %s at %s, %s cycles",
		    human_ms(a, cycles_ms(r, r->cycles)), human_clock(a, r->clock),
		    human_count(a, r->cycles / batch));
	if (batch > 1)
		text_printf(t, "; %.0f times that for a batch of %.0f", batch, batch);
	text_putc(t, '\n');
	text_printf(t, "  band     %s to %s for 8 of 10 networks%s\n",
		    human_ms(a, cycles_ms(r, number(r, "calibrated_low"))),
		    human_ms(a, cycles_ms(r, number(r, "calibrated_high"))),
		    extrapolated ? ", of Arm's model of the NPU: no such chip was "
				   "measured" : "");
}

static void
put_memory(struct text *t, const struct report *r)
{
	text_printf(t, "  SRAM     %s\n", human_bytes(r->a, r->sram));
	text_printf(t, "  flash    %s of constants, %s of command streams\n",
		    human_bytes(r->a, number(r, "flash_bytes")),
		    human_bytes(r->a, number(r, "stream_bytes")));
}

static void
put_limits(struct text *t, const struct report *r)
{
	const double least = 0.005; /* of the time */
	struct shares s = limit_shares(r);
	const char *between = "  limit    ";
	for (int k = 0; k < LIMITS; k++) {
		if (s.of[k] < least)
			continue;
		text_printf(t, "%s%s %.0f %%", between, limit_text(r, (enum limit)k),
			    100 * s.of[k]);
		between = ", ";
	}
	text_putc(t, '\n');
}

static void
put_longest(struct text *t, const struct report *r)
{
	const struct layer *longest[LONGEST];
	size_t n = largest_layers(r, offsetof(struct layer, total), LONGEST, longest);
	for (size_t i = 0; i < n; i++) {
		const struct layer *l = longest[i];
		const char *name = shortened(r->a, text_plain(r->a, l->label), NAME);
		text_printf(t, "  %-8s %-*s %4.1f %%, %s, %s\n", i ? "" : "longest",
			    NAME + 1, name, 100 * l->total / r->cycles,
			    human_ms(r->a, cycles_ms(r, l->total)),
			    limit_text(r, layer_limit(l)));
	}
}

/* such as "3 % more time" */
static const char *
difference(const struct report *r, double cycles)
{
	double percent = 100 * (cycles / r->cycles - 1);
	return arena_printf(r->a, "%.0f %% %s", fabs(percent),
			    percent < 0 ? "less time" : "more time");
}

/*
 * A gain is worth a line if it saves 5% of the time, or 10% of the memory at less than
 * 1.7 times the time.
 */
static bool
is_worth(const struct report *r, const struct gain *g)
{
	const double time = 0.95, memory = 0.9, slow = 1.7;
	return g->cycles < time * r->cycles ||
	       (*g->how && g->sram < memory * r->sram && g->cycles < slow * r->cycles);
}

static void
put_next(struct text *t, const struct report *r)
{
	struct gain *g;
	size_t n = list_gains(r, &g);
	const char *name = "try";
	for (size_t i = 0; i < n; i++) {
		if (!is_worth(r, &g[i]))
			continue;
		text_printf(t, "  %-8s %s: %s", name, *g[i].how ? g[i].how : g[i].what,
			    difference(r, g[i].cycles));
		if (g[i].sram != r->sram)
			text_printf(t, " in %s", human_bytes(r->a, g[i].sram));
		text_putc(t, '\n');
		name = "";
	}
	if (!r->n_others)
		text_printf(t, "  %-8s --report=FILE.html: pictures, and what another "
			       "accelerator would take\n", name);
}

void
print_summary(struct text *t, const struct report *r)
{
	put_head(t, r);
	put_processors(t, r);
	put_time(t, r);
	put_memory(t, r);
	put_limits(t, r);
	put_longest(t, r);
	put_next(t, r);
}
