/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a dozen lines: which operators run where, time, memory, and what to try next. */
#include "report.h"

#include "perf/cpu.h"

#include <math.h>
#include <string.h>

enum { LONGEST = 3, NAME = 36, REASONS = 4, WIDEST = 100 };

static double
number(const struct report *r, const char *key)
{
	return json_number(r->root, key, 0);
}

/* operators on the CPU with one reason */
struct reason {
	const char *text;
	struct kind { const char *name; size_t n; } *kind;
	size_t n_kinds, cap;
};

/* prints a line for each of the first REASONS reasons, with the kinds of their operators */
static void
put_reasons(struct text *t, const struct report *r)
{
	struct reason *v = NULL;
	size_t n = 0, cap = 0;
	for (size_t i = 0; i < r->n_nodes; i++) {
		const struct node *x = &r->node[i];
		size_t k = 0;
		if (x->layer >= 0 || !x->reason)
			continue;
		while (k < n && strcmp(v[k].text, x->reason) != 0)
			k++;
		if (k == n) {
			agrow(r->a, v, n, &cap);
			v[n++] = (struct reason){ .text = x->reason };
		}
		struct reason *why = &v[k];
		size_t at = 0;
		while (at < why->n_kinds && strcmp(why->kind[at].name, x->kind) != 0)
			at++;
		if (at == why->n_kinds) {
			agrow(r->a, why->kind, why->n_kinds, &why->cap);
			why->kind[why->n_kinds++] = (struct kind){ .name = x->kind };
		}
		why->kind[at].n++;
	}
	for (size_t k = 0; k < n && k < REASONS; k++) {
		text_printf(t, "  %-8s ", k ? "" : "CPU");
		for (size_t i = 0; i < v[k].n_kinds; i++) {
			const struct kind *x = &v[k].kind[i];
			text_printf(t, "%s%s", i ? ", " : "", text_plain(r->a, x->name));
			if (x->n > 1)
				text_printf(t, " x%zu", x->n);
		}
		text_printf(t, ": %s\n", text_plain(r->a, v[k].text));
		const char *floats = floats_text(r);
		if (floats && is_left_out_by_integer_io(v[k].text))
			text_printf(t, "           %s\n", text_plain(r->a, floats));
	}
	if (n > REASONS)
		text_printf(t, "           %zu more reasons: tfl-partition --report\n", n - REASONS);
}

static void
put_time(struct text *t, const struct report *r)
{
	struct arena *a = r->a;
	double batch = batch_of(r);
	if (r->cpu_time > 0)
		text_printf(t, "  time     roughly %s: ", human_ms(a, inference_ms(r).ms));
	else
		text_puts(t, "  time     ");
	text_printf(t, "%s%s at %s, %s cycles", human_ms(a, cycles_ms(r, r->cycles)),
		    r->cpu_time > 0 ? " of the NPU" : "", human_clock(a, r->clock),
		    human_count(a, r->cycles / batch));
	if (r->cpu_time > 0)
		text_printf(t, "; about %s of the CPU", human_ms(a, cycles_ms(r, r->cpu_time)));
	if (batch > 1)
		text_printf(t, "; %.0f times that for a batch of %.0f", batch, batch);
	text_putc(t, '\n');
	const char *range = range_text(r);
	if (range)
		text_printf(t, "  range    %s\n", range);
	const char *formulas = formulas_text(r);
	if (formulas)
		text_printf(t, "  formulas %s\n", formulas);
	double unknown = number(r, "cpu_operators_without_cycles");
	double bodies = number(r, "npu_operators_in_bodies");
	if (bodies > 0)
		text_printf(t, "  bodies   %.0f NPU operator%s of bodies of IF and WHILE count%s "
			       "once, however often a body runs\n", bodies, bodies > 1 ? "s" : "",
			    bodies > 1 ? "" : "s");
	if (unknown > 0)
		text_printf(t, "  unknown  %.0f operator%s on the CPU, whose time nobody estimates, "
			       "add%s to that\n", unknown, unknown > 1 ? "s" : "",
			    unknown > 1 ? "" : "s");
}

static void
put_memory(struct text *t, const struct report *r)
{
	const char *memory = constants_text(r);
	bool is_one = has_one_memory(r);
	/* with the bytes, which --arena-cache-size takes */
	text_printf(t, "  %-8s %s%s", text_plain(r->a, fast_text(r)), human_bytes(r->a, r->sram),
		    is_one ? " of arena" : "");
	if (r->sram >= 1024)
		text_printf(t, ", %s bytes", human_count(r->a, r->sram));
	text_putc(t, '\n');
	text_printf(t, "  %-8s %s of constants, %s of command streams",
		    is_one ? "" : text_plain(r->a, memory),
		    human_bytes(r->a, number(r, "flash_bytes")),
		    human_bytes(r->a, number(r, "stream_bytes")));
	if (!arena_is_in_sram(r))
		text_printf(t, ", %s of arena%s", human_bytes(r->a, number(r, "arena_bytes")),
			    !strcmp(memory, "DRAM") ? "" : " in DRAM");
	text_putc(t, '\n');
}

static const char *
shown_label(const struct report *r, const struct longest *x)
{
	return text_shortened(r->a, text_plain(r->a, x->label), NAME);
}

/*
 * A line for each operator; with its number and type in the model, as the page has them, if there is
 * space and the name does not say them.
 */
static void
put_longest(struct text *t, const struct report *r)
{
	struct longest v[LONGEST];
	size_t n = list_longest(r, LONGEST, v), width = 0;
	for (size_t i = 0; i < n; i++) {
		size_t label = strlen(shown_label(r, &v[i]));
		width = label > width ? label : width;
	}
	for (size_t i = 0; i < n; i++) {
		const struct longest *x = &v[i];
		const char *label = shown_label(r, x), *type = "";
		const char *line = arena_printf(r->a, "  %-8s %-*s  %4.1f %%, %s, %s", i ? "" : "longest",
						(int)width, label, 100 * share_of_time(r, x->time),
						human_ms(r->a, cycles_ms(r, x->time)), x->limit);
		if (x->node && strncmp(label, x->node->kind, strlen(x->node->kind)) != 0)
			type = arena_printf(r->a, "; %zu %s", x->node->index,
					    text_plain(r->a, x->node->kind));
		bool fits = text_width(line) + text_width(type) <= WIDEST;
		text_printf(t, "%s%s\n", line, fits ? type : "");
	}
}

static void
put_next(struct text *t, const struct report *r)
{
	struct gain *g;
	size_t n = list_gains(r, &g);
	const char *above = "";
	bool has_mean = false; /* in the lines above, which do not say what it is */
	bool has_limits = false;
	for (size_t i = 0; i < n; i++)
		has_limits |= !strncmp(g[i].how, "--arena-cache-size", strlen("--arena-cache-size"));
	if (r->n_points && !has_limits) {
		above = "options";
		text_printf(t, "  %s  no other limit of %s saves 3 %% of the time%s\n", above,
			    text_plain(r->a, fast_text(r)),
			    arena_is_in_sram(r) ? " or 10 % of the bytes for at most 70 % more time" : "");
	}
	for (size_t i = 0; i < n; i++) {
		/* what an option changes, and what needs another chip */
		const char *name = g[i].is_other ? "hardware" : "options";
		text_printf(t, "  %-8s %s%s: %s time", strcmp(name, above) ? name : "",
			    *g[i].how ? g[i].how : g[i].what,
			    *g[i].how && g[i].same_chip ? ", on this chip" : "",
			    more_text(r->a, g[i].cycles, r->whole));
		if (g[i].sram != r->sram)
			text_printf(t, ", %s %s", text_plain(r->a, g[i].memory),
				    human_bytes(r->a, g[i].sram));
		const char *more[] = { g[i].npu, g[i].objective, g[i].needs };
		for (size_t k = 0; k < ARRAY_LEN(more); k++)
			if (more[k])
				text_printf(t, "; %s", more[k]);
		text_putc(t, '\n');
		has_mean |= g[i].objective != NULL;
		if (has_mean && (i + 1 == n || g[i + 1].is_other)) {
			text_printf(t, "           %s\n", mean_text);
			has_mean = false;
		}
		above = name;
	}
	if (!r->n_points && !r->n_others)
		text_printf(t, "  %-8s npucc --advice: the time with other limits of %s and on other "
			       "accelerators\n", *above ? "" : "options", text_plain(r->a, fast_text(r)));
}

void
print_summary(struct text *t, const struct report *r)
{
	const char *part = json_string(r->root, "part", NULL);
	text_printf(t, "%s for %s%s%s, %s, %s\n",
		    text_plain(r->a, r->network),
		    json_string(r->root, "accelerator", "?"), part ? " of " : "",
		    part ? text_plain(r->a, part) : "",
		    text_plain(r->a, json_string(r->root, "system_config", "?")),
		    text_plain(r->a, json_string(r->root, "memory_mode", "?")));
	const char *driver = driver_text(r);
	if (driver)
		text_printf(t, "  driver   %s\n", driver);
	double npu = number(r, "npu_layers"), cpu = number(r, "cpu_operators");
	if (npu + cpu > 0)
		text_printf(t, "  NPU      %.0f of %.0f operators", npu, npu + cpu);
	else /* the graph does not count its operators */
		text_puts(t, "  NPU      all operators");
	if (cpu > 0)
		text_printf(t, "; %.0f on the CPU", cpu);
	if (cpu > number(r, "cpu_operators_without_cycles"))
		text_printf(t, ", roughly %s cycles of a %s",
			    human_count(r->a, cpu_cycles_rounded(cpu_cycles_of(r))), r->cpu_name);
	text_putc(t, '\n');
	put_reasons(t, r);
	const char *overflow = overflow_text(r);
	if (overflow)
		text_printf(t, "  overflow %s\n", text_plain(r->a, overflow));
	put_time(t, r);
	put_memory(t, r);
	/* npu-sched --yield-every: the operators of a divided stream, and what they add */
	double n = number(r, "npu_operators");
	if (json_get(r->root, "yield_every_cycles"))
		text_printf(t, "  yield    %.0f operator%s of up to %s cycles; %s cycles and %s of "
			       "commands more, up to %s live between them\n", n, n == 1 ? "" : "s",
			    human_count(r->a, number(r, "yield_longest_cycles")),
			    human_count(r->a, number(r, "yield_added_cycles")),
			    human_bytes(r->a, number(r, "yield_added_stream_bytes")),
			    human_bytes(r->a, number(r, "yield_kept_bytes")));
	const char *busy = busy_text(r), *limits = limits_text(r), *faster = faster_text(r);
	const char *commands = commands_text(r);
	if (busy)
		text_printf(t, "  busy     %s\n", text_plain(r->a, busy));
	if (limits)
		text_printf(t, "  limit    %s\n", text_plain(r->a, limits));
	if (commands)
		text_printf(t, "  commands %s\n", text_plain(r->a, commands));
	if (faster)
		text_printf(t, "  faster   %s\n", text_plain(r->a, faster));
	put_longest(t, r);
	put_next(t, r);
}
