/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the data of the page's script as JSON in the page.  The files of page/ explain
 * the members where they use them.
 */
#include "report.h"

#include "perf/cpu.h"

#include <string.h>

/* rounds to tenths of a cycle, which no picture can show */
static void
put_number(const struct json_out *j, const char *key, double v)
{
	json_put_rounded(j, key, v, 10);
}

/* begins a list of the data, on a line of its own */
static void
open_list(const struct json_out *j, const char *key)
{
	json_line(j, 0);
	json_open(j, key, '[');
}

static void
put_nodes(const struct json_out *j, const struct report *r)
{
	size_t n_rewrites;
	const struct json *rewrite = json_items(r->root, "rewrites", &n_rewrites);
	json_open(j, "nodes", '[');
	for (size_t i = 0; i < r->n_nodes; i++) {
		const struct node *x = &r->node[i];
		json_line(j, 0);
		json_open(j, NULL, '{');
		json_put_string(j, "n", x->name);
		json_put_string(j, "l", x->label);
		json_put_string(j, "k", x->kind);
		json_put_string(j, "t", x->title);
		json_put_i64(j, "y", x->layer);
		if (x->within >= 0)
			json_put_i64(j, "in", x->within);
		json_open(j, "r", '[');
		for (size_t k = 0; k < x->n_reads; k++)
			json_put_i64(j, NULL, (int64_t)x->reads[k]);
		json_close(j, ']');
		if (x->cpu_cycles > 0) {
			put_number(j, "cpu", cpu_cycles_rounded(x->cpu_cycles));
			put_number(j, "ct", x->cpu_time);
		}
		if (x->reason)
			json_put_string(j, "why", x->reason);
		/* what exact rewrites changed at the operator */
		bool any = false;
		for (size_t k = 0; k < n_rewrites; k++) {
			if (strcmp(json_string(&rewrite[k], "name", ""), x->name) != 0)
				continue;
			if (!any)
				json_open(j, "w", '[');
			any = true;
			json_put_string(j, NULL, rewrite_text(r, &rewrite[k]));
		}
		if (any)
			json_close(j, ']');
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void
put_layers(const struct json_out *j, const struct report *r)
{
	open_list(j, "layers");
	for (size_t i = 0; i < r->n_layers; i++) {
		const struct layer *l = &r->layer[i];
		json_line(j, 0);
		json_open(j, NULL, '{');
		put_number(j, "s", l->start);
		put_number(j, "m", l->macs);
		put_number(j, "b", l->bytes);
		put_number(j, "c", l->constant_bytes);
		put_number(j, "w", l->weight_bytes);
		put_number(j, "o", l->original_bytes);
		put_number(j, "n", (double)l->n_kernels);
		if (l->block.h > 0) {
			json_open(j, "k", '[');
			put_number(j, NULL, l->block.h);
			put_number(j, NULL, l->block.w);
			put_number(j, NULL, l->block.c);
			json_close(j, ']');
		}
		json_open(j, "t", '[');
		for (int k = 0; k < LIMITS; k++)
			put_number(j, NULL, l->cycles[k]);
		json_close(j, ']');
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void
put_operations(const struct json_out *j, const struct report *r)
{
	int *node = anew(r->a, int, r->n_layers + 1); /* the first one of each layer */
	for (size_t i = 0; i < r->n_layers; i++)
		node[i] = -1;
	for (size_t i = r->n_nodes; i-- > 0;)
		if (r->node[i].layer >= 0)
			node[r->node[i].layer] = (int)i;
	open_list(j, "ops");
	for (size_t i = 0; i < r->n_ops; i++) {
		const struct operation *o = &r->op[i];
		json_open(j, NULL, '[');
		json_put_i64(j, NULL, o->layer < 0 ? -1 : node[o->layer]);
		put_number(j, NULL, o->start);
		put_number(j, NULL, o->end);
		json_put_i64(j, NULL, o->is_transfer ? LIMITS : (int)o->limit);
		json_close(j, ']');
	}
	json_close(j, ']');
}

/* the operators on the CPU: node, times, and a name for operators without a node */
static void
put_cpu(const struct json_out *j, const struct report *r)
{
	json_line(j, 0);
	json_put_string(j, "cpu", r->cpu_name);
	open_list(j, "cpus");
	for (size_t i = 0; i < r->n_cpu; i++) {
		const struct cpu_operator *c = &r->cpu[i];
		json_open(j, NULL, '[');
		json_put_i64(j, NULL, c->node);
		put_number(j, NULL, c->start);
		put_number(j, NULL, c->end);
		json_put_string(j, NULL, c->kind);
		json_close(j, ']');
	}
	json_close(j, ']');
}

static void
put_spans(const struct json_out *j, const struct report *r)
{
	static const char *const kinds[] = { "tensor", "buffer", "input", "output", "variable" };
	open_list(j, "spans");
	for (size_t i = 0; i < r->n_spans; i++) {
		const struct span *s = &r->span[i];
		size_t kind = ARRAY_LEN(kinds) - 1;
		while (kind && strcmp(kinds[kind], s->kind) != 0)
			kind--;
		json_line(j, 0);
		json_open(j, NULL, '[');
		json_put_i64(j, NULL, s->node);
		json_put_string(j, NULL, s->label);
		json_put_i64(j, NULL, (int64_t)kind);
		json_put_string(j, NULL, place_text(r, s->place));
		put_number(j, NULL, s->at);
		put_number(j, NULL, s->bytes);
		put_number(j, NULL, s->start);
		put_number(j, NULL, s->end);
		json_put_string(j, NULL, s->shape);
		json_close(j, ']');
	}
	json_close(j, ']');
	open_list(j, "peaks");
	for (size_t i = 0; i < r->n_peaks; i++) {
		const struct peak *p = &r->peak[i];
		json_open(j, NULL, '{');
		put_number(j, "bytes", p->bytes);
		put_number(j, "top", p->top);
		put_number(j, "start", p->start);
		put_number(j, "end", p->end);
		json_put_string(j, "place", place_text(r, p->place));
		json_close(j, '}');
	}
	json_close(j, ']');
}

void
page_data(struct text *t, const struct report *r)
{
	const struct json_out out = { .t = t, .in_page = true }, *j = &out;
	json_root(j, '{');
	put_number(j, "clock", r->clock);
	put_number(j, "batch", batch_of(r));
	put_number(j, "cycles", r->whole);
	put_number(j, "sram", r->sram);
	json_put_string(j, "memory", fast_text(r)); /* of these bytes */
	put_number(j, "macs", r->macs_per_cycle);
	put_nodes(j, r);
	put_layers(j, r);
	put_operations(j, r);
	put_cpu(j, r);
	put_spans(j, r);
	open_list(j, "points");
	for (size_t i = 0; i < r->n_points; i++) {
		json_open(j, NULL, '[');
		put_number(j, NULL, r->point[i].sram);
		put_number(j, NULL, r->point[i].cycles + r->cpu_time);
		json_put_string(j, NULL, r->point[i].change);
		put_number(j, NULL, r->point[i].is_beaten);
		json_close(j, ']');
	}
	json_close(j, ']');
	open_list(j, "limits");
	for (int k = 0; k < LIMITS; k++)
		json_put_string(j, NULL, limit_text(r, (enum limit)k));
	json_close(j, ']');
	source_data(j, r);
	json_close(j, '}');
}
