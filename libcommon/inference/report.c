/* SPDX-License-Identifier: Apache-2.0 */
/* Prints outputs, operators and the NPU's operations. */
#include "base/hash.h"
#include "inference/inference.h"

#include <inttypes.h>
#include <stdio.h>

/* the values of a tensor in all its frames */
struct shown {
	uint64_t hash;
	int frames;
};

static struct shown
shown_now(struct sim *s, int index)
{
	const struct tfl_tensor *t = &sim_model(s)->subgraph[0].tensor[index];
	return (struct shown){ .hash = hash_xxh3(sim_tensor(s, index),
						 (size_t)tfl_bytes(t)),
			       .frames = 1 };
}

static void
put_dims(struct text *x, const struct tfl_tensor *t, int frames, const char *between)
{
	if (frames > 1)
		text_printf(x, t->rank ? "%d%s" : "%d", frames, between);
	for (int i = 0; i < t->rank; i++)
		text_printf(x, "%s%d", i ? between : "", t->dim[i]);
}

static void
put_tensor(struct text *x, struct sim *s, int index, struct shown v)
{
	const struct tfl_tensor *t = &sim_model(s)->subgraph[0].tensor[index];
	text_printf(x, "t%d %s[", index, tfl_type_name(t->type));
	put_dims(x, t, v.frames, ",");
	text_puts(x, "] xxh3=");
	text_printf(x, "%016" PRIx64 " ", v.hash);
	text_quoted(x, t->name, __builtin_strlen(t->name));
}

/* prints the tensor of the plain model with the same values: " = t12 \"name\"" */
static void
put_place(struct text *x, const struct watch *w, const struct place *at)
{
	const struct tfl_tensor *t =
	    &sim_model(w->plain)->subgraph[0].tensor[at->tensor];
	text_printf(x, " = t%d", at->tensor);
	if (!at->all_rows)
		text_printf(x, " rows %lld:%lld", (long long)at->y,
			    (long long)(at->y + at->h));
	if (!at->all_channels)
		text_printf(x, " channels %lld:%lld", (long long)at->c,
			    (long long)(at->c + at->n_c));
	text_putc(x, ' ');
	text_quoted(x, t->name, __builtin_strlen(t->name));
}

void
print_operator(struct watch *w, struct sim *s, int op_index)
{
	const struct tfl_op *op = &sim_model(s)->subgraph[0].op[op_index];
	struct text x = { 0 };
	for (int k = 0; k < op->n_out; k++) {
		text_printf(&x, "op %d %s -> ", op_index, tfl_op_label(op));
		put_tensor(&x, s, op->out[k], shown_now(s, op->out[k]));
		struct place at;
		if (match_tensor(w, s, op->out[k], &at))
			put_place(&x, w, &at);
		text_putc(&x, '\n');
	}
	text_show(&x, stdout);
}

void
print_npu_event(void *watch, const struct sim_npu_event *ev)
{
	struct watch *w = watch;
	struct text x = { 0 };
	struct place at;
	text_printf(&x, "npu %d %s", ev->op_index, ev->text);
	if (match_feature_map(w, ev, &at))
		put_place(&x, w, &at);
	text_putc(&x, '\n');
	text_show(&x, stdout);
}

void
print_unseen(const struct watch *w)
{
	const struct tfl_subgraph *g = &sim_model(w->plain)->subgraph[0];
	struct text x = { 0 };
	for (int i = 0; i < w->n_order; i++) {
		const struct tfl_tensor *t = &g->tensor[w->order[i]];
		if (w->seen[w->order[i]] >= tfl_elements(t))
			continue;
		text_printf(&x, "not seen: t%d of op %d %s ", w->order[i],
			    t->producer, tfl_op_label(&g->op[t->producer]));
		text_quoted(&x, t->name, __builtin_strlen(t->name));
		text_putc(&x, '\n');
	}
	text_show(&x, stdout);
}

static bool
shown_output(const struct run *r, int k, struct shown *v, struct err *e)
{
	const struct tfl_subgraph *g = &sim_model(r->s)->subgraph[0];
	*v = (struct shown){ .frames = r->o->frames };
	if (r->stacked)
		return spool_hash(&r->stacked[k], &v->hash, e);
	*v = shown_now(r->s, g->out[k]);
	return true;
}

bool
print_outputs(struct text *x, const struct run *r, struct err *e)
{
	const struct tfl_subgraph *g = &sim_model(r->s)->subgraph[0];
	struct shown v;
	for (int k = 0; k < g->n_out; k++) {
		if (!shown_output(r, k, &v, e))
			return false;
		text_printf(x, "output %d ", k);
		put_tensor(x, r->s, g->out[k], v);
		text_putc(x, '\n');
	}
	return true;
}

static void
put_json_tensor(struct text *x, struct sim *s, int index, struct shown v)
{
	const struct tfl_tensor *t = &sim_model(s)->subgraph[0].tensor[index];
	text_printf(x, "{\"tensor\": %d, \"name\": ", index);
	text_quoted(x, t->name, __builtin_strlen(t->name));
	text_printf(x, ", \"type\": \"%s\", \"shape\": [",
		    tfl_type_name(t->type));
	put_dims(x, t, v.frames, ", ");
	text_printf(x, "], \"producer\": %d, \"xxh3\": \"%016" PRIx64 "\"}",
		    t->producer, v.hash);
}

/* inputs as the last frame left them, outputs of all frames */
static bool
put_json_interface(struct text *x, const struct run *r, struct err *e)
{
	const struct tfl_subgraph *g = &sim_model(r->s)->subgraph[0];
	struct shown v;
	text_puts(x, " \"inputs\": [");
	for (int k = 0; k < g->n_in; k++) {
		text_puts(x, k ? ",\n  " : "\n  ");
		put_json_tensor(x, r->s, g->in[k], shown_now(r->s, g->in[k]));
	}
	text_puts(x, "\n ],\n \"outputs\": [");
	for (int k = 0; k < g->n_out; k++) {
		if (!shown_output(r, k, &v, e))
			return false;
		text_puts(x, k ? ",\n  " : "\n  ");
		put_json_tensor(x, r->s, g->out[k], v);
	}
	text_puts(x, "\n ],\n");
	return true;
}

static void
put_json_stand_ins(struct text *x, struct sim *s)
{
	bool any = false;
	text_puts(x, " \"stand_ins\": [");
	for (int i = 0; i < sim_model(s)->subgraph[0].n_ops; i++) {
		const char *why = sim_stand_in(s, i);
		if (!why)
			continue;
		text_printf(x, "%s\n  {\"operator\": %d, \"because\": ",
			    any ? "," : "", i);
		text_quoted(x, why, __builtin_strlen(why));
		text_putc(x, '}');
		any = true;
	}
	text_puts(x, any ? "\n ],\n" : "],\n");
}

bool
print_json(struct text *x, const struct run *r, struct err *e)
{
	const struct options *o = r->o;
	const struct err *verdict = &r->verdict;
	const struct tfl_model *m = sim_model(r->s);
	text_puts(x, "{\n \"model\": ");
	text_quoted(x, m->name, __builtin_strlen(m->name));
	text_puts(x, ",\n");
	if (!o->input.n)
		text_printf(x, " \"seed\": %" PRIu64 ",\n", o->seed);
	if (o->frames > 1)
		text_printf(x, " \"frames\": %d,\n", o->frames);
	if (!put_json_interface(x, r, e))
		return false;
	put_json_stand_ins(x, r->s);
	text_printf(x, " \"checked\": %s,\n",
		    o->expect.n || o->compare ? "true" : "false");
	text_printf(x, " \"equal\": %s",
		    o->expect.n || o->compare
			? verdict->status ? "false" : "true"
			: "null");
	if (verdict->status) {
		text_puts(x, ",\n \"difference\": ");
		text_quoted(x, verdict->text, __builtin_strlen(verdict->text));
	}
	text_puts(x, "\n}\n");
	return true;
}
