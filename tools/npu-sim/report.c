/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "npu-sim.h"

#include <inttypes.h>
#include <stdio.h>

/* the values of a tensor in so many frames */
struct shown {
	const void *p;
	int frames;
};

static struct shown
shown_now(struct sim *s, int index)
{
	return (struct shown){ .p = sim_tensor(s, index), .frames = 1 };
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
put_hash(struct text *x, const struct tfl_tensor *t, const struct shown *v)
{
	text_printf(x, "%016" PRIx64,
		    hash_xxh3(v->p, (size_t)tfl_bytes(t) * (size_t)v->frames));
}

static void
put_tensor(struct text *x, struct sim *s, int index, struct shown v)
{
	const struct tfl_tensor *t = &sim_model(s)->subgraph[0].tensor[index];
	text_printf(x, "t%d %s[", index, tfl_type_name(t->type));
	put_dims(x, t, v.frames, ",");
	text_puts(x, "] xxh3=");
	put_hash(x, t, &v);
	text_putc(x, ' ');
	text_quoted(x, t->name, __builtin_strlen(t->name));
}

/* " = t12 \"name\"": where the plain model has the same values */
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

static struct shown
shown_output(struct sim *s, const struct options *o, uint8_t *const *stacked, int k)
{
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	if (!stacked)
		return shown_now(s, g->out[k]);
	return (struct shown){ .p = stacked[k], .frames = o->frames };
}

void
print_outputs(struct text *x, struct sim *s, const struct options *o,
	      uint8_t *const *stacked)
{
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	for (int k = 0; k < g->n_out; k++) {
		text_printf(x, "output %d ", k);
		put_tensor(x, s, g->out[k], shown_output(s, o, stacked, k));
		text_putc(x, '\n');
	}
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
	text_printf(x, "], \"producer\": %d, \"xxh3\": \"", t->producer);
	put_hash(x, t, &v);
	text_puts(x, "\"}");
}

/* inputs as the last frame left them, outputs of all */
static void
put_json_interface(struct text *x, struct sim *s, const struct options *o,
		   uint8_t *const *stacked)
{
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	text_puts(x, " \"inputs\": [");
	for (int k = 0; k < g->n_in; k++) {
		text_puts(x, k ? ",\n  " : "\n  ");
		put_json_tensor(x, s, g->in[k], shown_now(s, g->in[k]));
	}
	text_puts(x, "\n ],\n \"outputs\": [");
	for (int k = 0; k < g->n_out; k++) {
		text_puts(x, k ? ",\n  " : "\n  ");
		put_json_tensor(x, s, g->out[k], shown_output(s, o, stacked, k));
	}
	text_puts(x, "\n ],\n");
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

void
print_json(struct text *x, struct sim *s, const struct options *o,
	   uint8_t *const *stacked, const struct err *verdict)
{
	const struct tfl_model *m = sim_model(s);
	text_puts(x, "{\n \"model\": ");
	text_quoted(x, m->name, __builtin_strlen(m->name));
	text_puts(x, ",\n");
	if (!o->n_input)
		text_printf(x, " \"seed\": %" PRIu64 ",\n", o->seed);
	if (o->frames > 1)
		text_printf(x, " \"frames\": %d,\n", o->frames);
	put_json_interface(x, s, o, stacked);
	put_json_stand_ins(x, s);
	text_printf(x, " \"checked\": %s,\n",
		    o->n_expect || o->compare ? "true" : "false");
	text_printf(x, " \"equal\": %s",
		    o->n_expect || o->compare
			? verdict->status ? "false" : "true"
			: "null");
	if (verdict->status) {
		text_puts(x, ",\n \"difference\": ");
		text_quoted(x, verdict->text, __builtin_strlen(verdict->text));
	}
	text_puts(x, "\n}\n");
}
