/* SPDX-License-Identifier: Apache-2.0 */
/* Prints outputs, operators and the NPU's operations. */
#include "base/hash.h"
#include "base/json_out.h"
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
		text_printf(&x, "op %d %s -> ", sim_op_number(s, op_index), tfl_op_label(op));
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
put_json_tensor(const struct json_out *j, struct sim *s, int index, struct shown v)
{
	const struct tfl_tensor *t = &sim_model(s)->subgraph[0].tensor[index];
	json_line(j, 2);
	json_open(j, NULL, '{');
	json_put_i64(j, "tensor", index);
	json_put_string(j, "name", t->name);
	json_put_string(j, "type", tfl_type_name(t->type));
	json_open(j, "shape", '[');
	put_dims(j->t, t, v.frames, ", ");
	json_close(j, ']');
	json_put_i64(j, "producer", t->producer);
	json_put_format(j, "xxh3", "%016" PRIx64, v.hash);
	json_close(j, '}');
}

bool
print_json(struct text *x, const struct run *r, struct err *e)
{
	const struct json_out out = { .t = x, .style = JSON_SPACED }, *j = &out;
	const struct options *o = r->o;
	const struct tfl_model *m = sim_model(r->s);
	const struct tfl_subgraph *g = &m->subgraph[0];
	bool checked = o->expect.n || o->compare, any = false;
	json_root(j, '{');
	json_line(j, 1);
	json_put_string(j, "model", m->name);
	if (!o->input.n) {
		json_line(j, 1);
		json_key(j, "seed");
		text_printf(x, "%" PRIu64, o->seed);
	}
	if (o->frames > 1) {
		json_line(j, 1);
		json_put_i64(j, "frames", o->frames);
	}
	/* inputs as the last frame left them, outputs of all frames */
	json_line(j, 1);
	json_open(j, "inputs", '[');
	for (int k = 0; k < g->n_in; k++)
		put_json_tensor(j, r->s, g->in[k], shown_now(r->s, g->in[k]));
	json_close_line(j, 1, ']');
	json_line(j, 1);
	json_open(j, "outputs", '[');
	for (int k = 0; k < g->n_out; k++) {
		struct shown v;
		if (!shown_output(r, k, &v, e))
			return false;
		put_json_tensor(j, r->s, g->out[k], v);
	}
	json_close_line(j, 1, ']');
	json_line(j, 1);
	json_open(j, "stand_ins", '[');
	for (int i = 0; i < g->n_ops; i++) {
		const char *why = sim_stand_in(r->s, i);
		if (!why)
			continue;
		any = true;
		json_line(j, 2);
		json_open(j, NULL, '{');
		json_put_i64(j, "operator", i);
		json_put_string(j, "because", why);
		json_close(j, '}');
	}
	if (any)
		json_close_line(j, 1, ']');
	else
		json_close(j, ']');
	json_line(j, 1);
	json_put_bool(j, "checked", checked);
	json_line(j, 1);
	if (checked)
		json_put_bool(j, "equal", !r->verdict.status);
	else
		json_put_null(j, "equal");
	if (r->verdict.status) {
		json_line(j, 1);
		json_put_string(j, "difference", r->verdict.text);
	}
	json_close_line(j, 0, '}');
	text_putc(x, '\n');
	return true;
}
