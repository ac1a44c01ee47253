/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the data of the page's script as JSON in the page.  The files of page/ explain
 * the members where they use them.
 */
#include "report.h"

#include "perf/cpu.h"

#include <math.h>
#include <string.h>

void
page_string(struct text *t, const char *s)
{
	struct text quoted = { 0 };
	text_quoted(&quoted, s, strlen(s));
	for (size_t i = 0; i < quoted.n; i++)
		if (strchr("<>&", quoted.p[i]))
			text_printf(t, "\\u%04x", (unsigned)quoted.p[i]);
		else
			text_putc(t, quoted.p[i]);
	text_free(&quoted);
}

/* rounds to tenths of a cycle, which no picture can show */
static void
put_number(struct text *t, double v)
{
	put_rounded(t, v, 10);
}

static void
put_member(struct text *t, const char *key, double v)
{
	text_printf(t, "\"%s\":", key);
	put_number(t, v);
	text_putc(t, ',');
}

static void
put_nodes(struct text *t, const struct report *r)
{
	struct err none = { 0 };
	const char *part = json_string(r->root, "part", NULL);
	struct cpu_core core = cpu_core_of(target_part_find(part, &none));
	text_puts(t, "\"nodes\":[");
	for (size_t i = 0; i < r->n_nodes; i++) {
		const struct node *x = &r->node[i];
		text_puts(t, i ? ",\n{\"n\":" : "\n{\"n\":");
		page_string(t, x->name);
		text_puts(t, ",\"l\":");
		page_string(t, x->label);
		text_puts(t, ",\"k\":");
		page_string(t, x->kind);
		text_puts(t, ",\"t\":");
		page_string(t, x->title);
		text_printf(t, ",\"y\":%d,\"r\":[", x->layer);
		for (size_t k = 0; k < x->n_reads; k++)
			text_printf(t, k ? ",%zu" : "%zu", x->reads[k]);
		text_putc(t, ']');
		if (x->cpu_cycles > 0) {
			text_putc(t, ',');
			text_puts(t, "\"cpu\":");
			put_number(t, cpu_cycles_rounded(x->cpu_cycles * core.factor));
			text_puts(t, ",\"ct\":");
			put_number(t, cpu_cycles_rounded(x->cpu_time));
		}
		if (x->reason) {
			text_puts(t, ",\"why\":");
			page_string(t, x->reason);
		}
		text_putc(t, '}');
	}
	text_puts(t, "],\n");
}

static void
put_layers(struct text *t, const struct report *r)
{
	text_puts(t, "\"layers\":[");
	for (size_t i = 0; i < r->n_layers; i++) {
		const struct layer *l = &r->layer[i];
		text_puts(t, i ? ",\n{" : "\n{");
		put_member(t, "s", l->start);
		put_member(t, "m", l->macs);
		put_member(t, "b", l->bytes);
		put_member(t, "c", l->constant_bytes);
		put_member(t, "w", l->weight_bytes);
		put_member(t, "o", l->original_bytes);
		put_member(t, "n", (double)l->n_kernels);
		if (l->block.h > 0)
			text_printf(t, "\"k\":[%.0f,%.0f,%.0f],", l->block.h,
				    l->block.w, l->block.c);
		for (int k = 0; k < LIMITS; k++) {
			text_puts(t, k ? "," : "\"t\":[");
			put_number(t, l->cycles[k]);
		}
		text_puts(t, "]}");
	}
	text_puts(t, "],\n");
}

/* the first node of each layer */
static int *
nodes_of_layers(const struct report *r)
{
	int *of = anew(r->a, int, r->n_layers + 1);
	for (size_t i = 0; i < r->n_layers; i++)
		of[i] = -1;
	for (size_t i = r->n_nodes; i-- > 0;)
		if (r->node[i].layer >= 0)
			of[r->node[i].layer] = (int)i;
	return of;
}

static void
put_operations(struct text *t, const struct report *r)
{
	const int *node = nodes_of_layers(r);
	text_puts(t, "\"ops\":[");
	for (size_t i = 0; i < r->n_ops; i++) {
		const struct operation *o = &r->op[i];
		text_printf(t, "%s[%d,", i ? "," : "", o->layer < 0 ? -1 : node[o->layer]);
		put_number(t, o->start);
		text_putc(t, ',');
		put_number(t, o->end);
		text_printf(t, ",%d]", o->is_transfer ? LIMITS : (int)o->limit);
	}
	text_puts(t, "],\n");
}

/* the operators on the CPU: node, times, and a name for operators without a node */
static void
put_cpu(struct text *t, const struct report *r)
{
	text_puts(t, "\"cpu\":");
	page_string(t, r->cpu_name);
	text_puts(t, ",\n\"cpus\":[");
	for (size_t i = 0; i < r->n_cpu; i++) {
		const struct cpu_operator *c = &r->cpu[i];
		text_printf(t, "%s[%d,", i ? "," : "", c->node);
		put_number(t, c->start);
		text_putc(t, ',');
		put_number(t, c->end);
		text_putc(t, ',');
		page_string(t, c->kind);
		text_putc(t, ']');
	}
	text_puts(t, "],\n");
}

static int
kind_of(const struct span *s)
{
	static const char *const kinds[] = { "tensor", "buffer", "input", "output",
					     "variable" };
	for (size_t i = 1; i < ARRAY_LEN(kinds); i++)
		if (!strcmp(kinds[i], s->kind))
			return (int)i;
	return 0;
}

static void
put_spans(struct text *t, const struct report *r)
{
	text_puts(t, "\"spans\":[");
	for (size_t i = 0; i < r->n_spans; i++) {
		const struct span *s = &r->span[i];
		const double v[] = { s->at, s->bytes, s->start, s->end };
		text_printf(t, "%s[%d,", i ? ",\n" : "\n", s->node);
		page_string(t, s->label);
		text_printf(t, ",%d,", kind_of(s));
		page_string(t, s->place);
		for (size_t k = 0; k < ARRAY_LEN(v); k++) {
			text_putc(t, ',');
			put_number(t, v[k]);
		}
		text_putc(t, ',');
		page_string(t, s->shape);
		text_putc(t, ']');
	}
	text_puts(t, "],\n\"peaks\":[");
	for (size_t i = 0; i < r->n_peaks; i++) {
		const struct peak *p = &r->peak[i];
		text_puts(t, i ? ",{" : "{");
		put_member(t, "bytes", p->bytes);
		put_member(t, "top", p->top);
		put_member(t, "start", p->start);
		put_member(t, "end", p->end);
		text_puts(t, "\"place\":");
		page_string(t, p->place);
		text_putc(t, '}');
	}
	text_puts(t, "],\n");
}

static void
put_points(struct text *t, const struct report *r)
{
	text_puts(t, "\"points\":[");
	for (size_t i = 0; i < r->n_points; i++) {
		text_puts(t, i ? ",[" : "[");
		put_number(t, r->point[i].sram);
		text_putc(t, ',');
		put_number(t, r->point[i].cycles + r->cpu_time);
		text_putc(t, ',');
		page_string(t, r->point[i].change);
		text_putc(t, ']');
	}
	text_puts(t, "],\n");
}

void
page_data(struct text *t, const struct report *r)
{
	text_putc(t, '{');
	put_member(t, "clock", r->clock);
	put_member(t, "batch", batch_of(r));
	put_member(t, "cycles", r->whole);
	put_member(t, "sram", r->sram);
	put_member(t, "macs", r->macs_per_cycle);
	put_nodes(t, r);
	put_layers(t, r);
	put_operations(t, r);
	put_cpu(t, r);
	put_spans(t, r);
	put_points(t, r);
	for (int k = 0; k < LIMITS; k++) {
		text_puts(t, k ? "," : "\"limits\":[");
		page_string(t, limit_text(r, (enum limit)k));
	}
	text_putc(t, ']');
	source_data(t, r);
	text_putc(t, '}');
}
