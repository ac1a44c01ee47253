/* SPDX-License-Identifier: Apache-2.0 */
/* Applies the rules of schema/rewrites.def in order: nputools-rewrites(7). */
#include "rewrite/rules.h"

#include "base/bytes.h"
#include "base/cli.h"
#include "base/little_endian.h"
#include "base/nearest.h"
#include "base/text.h"
#include "graph/build.h"
#include "rewrite/exact.h"

#include <stdarg.h>
#include <string.h>

/* Which program applies a rule, and when: schema/rewrites.def. */
enum rule_kind { FRONT_END, IN_PLAN, ALTERNATIVE };

static const struct rule {
	const char *name, *sentence;
	exact_rule *apply;
	enum rule_kind kind;
} rules[] = {
#define RULE(n, function, text, k) { .name = #n, .sentence = text, .apply = function, .kind = k },
#define REWRITE(n, function, text) RULE(n, function, text, FRONT_END)
#define PLANNED(n, function, text) RULE(n, function, text, IN_PLAN)
#define CHOSEN(n, function, text) RULE(n, function, text, ALTERNATIVE)
#include "rewrites.def"
};

/* ---- options ------------------------------------------------------------------- */

/* Takes the first name of a list, which becomes the rest, or NULL. */
static bool
take_off(const char **list, uint64_t *off, struct err *e)
{
	enum { LONGEST = 64 };
	char name[LONGEST] = "";
	const char *names[ARRAY_LEN(rules)], *p = *list;
	bool matched = false;
	size_t n = strcspn(p, ",");
	memcpy(name, p, n < sizeof(name) ? n : sizeof(name) - 1);
	*list = p[n] ? p + n + 1 : NULL;
	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		names[i] = rules[i].name;
		if (!strcmp(name, "all") || !strcmp(name, names[i])) {
			*off |= (uint64_t)1 << i;
			matched = true;
		}
	}
	const char *meant = matched ? NULL : nearest_word(name, names, ARRAY_LEN(rules));
	return matched || err_set(e, "--no-rewrite: there is no rule '%s'%s%s%s; --list-rewrites lists "
				  "them", name, meant ? "; did you mean " : "", meant ? meant : "",
				  meant ? "?" : "");
}

bool
rewrite_off(const char *list, uint64_t *off, struct err *e)
{
	while (list)
		if (!take_off(&list, off, e))
			return false;
	return true;
}

void
rewrite_take_off(void *off, const char *arg)
{
	while (arg) {
		struct err e = { 0 };
		if (!take_off(&arg, off, &e))
			cli_refuse(&e);
	}
}

void
rewrite_list(struct text *t)
{
	for (size_t i = 0; i < ARRAY_LEN(rules); i++)
		text_printf(t, "%-10s %s\n", rules[i].name, rules[i].sentence);
}

/* ---- records ------------------------------------------------------------------- */

struct g_rewrite *
exact_note(struct exact *x, const struct g_op *op, int64_t bytes, double cycles,
	   const char *fmt, ...)
{
	enum { LONGEST = 200 };
	char text[LONGEST];
	va_list v;
	va_start(v, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, v);
	va_end(v);
	struct g_rewrite *r = graph_add_g_rewrite(x->g);
	G_PUT(r, REWRITE, rule, x->rule);
	if (op->name)
		G_PUT(r, REWRITE, name, op->name);
	if (op->tfl.n)
		G_PUT(r, REWRITE, tfl, op->tfl);
	if (bytes)
		G_PUT(r, REWRITE, bytes, bytes);
	if (cycles >= 1 || cycles <= -1)
		G_PUT(r, REWRITE, cycles, (int64_t)cycles);
	G_PUT(r, REWRITE, text, arena_strndup(x->a, text, strlen(text)));
	return r;
}

void
exact_number(struct text *t, int64_t v)
{
	if (v >= 1000) {
		exact_number(t, v / 1000);
		text_printf(t, ",%03d", (int)(v % 1000));
	} else {
		text_i64(t, v);
	}
}

static void
put_saved(struct text *t, const char *between, int64_t v, const char *what)
{
	if (!v)
		return;
	text_puts(t, between);
	exact_number(t, v < 0 ? -v : v);
	text_printf(t, " %s %s", what, v < 0 ? "more" : "fewer");
}

void
rewrite_print(const struct graph *g, struct text *t)
{
	for (size_t i = 0, n; i < g->n_rewrites; i += n) {
		const struct g_rewrite *r = g->rewrites[i];
		int64_t bytes = r->bytes, cycles = r->cycles;
		/* one line is enough for records of the same rule and text, without channels */
		for (n = 1; i + n < g->n_rewrites; n++) {
			const struct g_rewrite *next = g->rewrites[i + n];
			if (strcmp(r->rule, next->rule) != 0 || strcmp(r->text, next->text) != 0 ||
			    r->channels.n || next->channels.n)
				break;
			bytes += next->bytes;
			cycles += next->cycles;
		}
		text_printf(t, "rewrite %s: %s", r->rule, r->text);
		if (n > 1)
			text_printf(t, ", %zu times", n);
		put_saved(t, ": ", bytes, "bytes of constants");
		put_saved(t, bytes ? ", about " : ": about ", cycles, "cycles");
		text_putc(t, '\n');
		for (size_t k = 0; k < r->channels.n; k++)
			text_printf(t, "%s%d", k ? "," : "  channels ", (int)r->channels.v[k]);
		if (r->channels.n)
			text_putc(t, '\n');
	}
}

/* ---- tensors, operations and constants ---------------------------------------- */

bool
exact_is_inner(const struct graph *g, const struct g_tensor *t)
{
	for (size_t i = 0; i < g->n_nodes; i++)
		if (tensors_have(&g->nodes[i]->in, t) || tensors_have(&g->nodes[i]->out, t))
			return false;
	return !G_HAS(t, G_TENSOR_io) && !t->variable && !t->over.n && !tensor_is_const(t);
}

struct g_op *
exact_writer(const struct graph *g, const struct g_tensor *t, const struct g_op *reader)
{
	struct g_op *writer = NULL;
	for (size_t i = 0; i < g->n_ops; i++) {
		struct g_op *op = g->ops[i];
		if (op == reader)
			continue;
		if (op->ifm.t == t || op->ifm2.t == t || (op->ofm.t == t && writer))
			return NULL;
		writer = op->ofm.t == t ? op : writer;
	}
	return exact_is_inner(g, t) ? writer : NULL;
}

bool
exact_is_bytes(const struct g_operand *o)
{
	return o->t && (o->view == VIEW_WHOLE || o->view == VIEW_RESHAPE) &&
	       o->type == o->t->shape.type && !tensor_has_strides(o->t) && !o->t->planes &&
	       (o->type == TFL_INT8 || o->type == TFL_UINT8);
}

bool
exact_is_word(const struct exact *x, const struct g_operand *o, int32_t *v, bool *ok)
{
	struct bytes b;
	if (!o->t || !tensor_is_const(o->t) || G_HAS(o->t, G_TENSOR_io) ||
	    o->type != TFL_INT32 || o->t->shape.type != TFL_INT32 || hwc_elements(o->t->hwc) != 1)
		return false;
	*ok = *ok && graph_source(x->g, &o->t->rec, &o->t->source, &b, x->e);
	if (!*ok || b.n < sizeof(*v))
		return false;
	*v = (int32_t)load_le32(b.p);
	return true;
}

bool
exact_is_unscaled(const struct g_op *op)
{
	return !G_HAS(op, G_OP_opa) ||
	       (op->scaled == SCALED_BOTH && op->opa.mult == 1 && !op->opa.shift && op->opb == 1);
}

void
exact_drop_op(struct exact *x, const struct g_op *op)
{
	struct graph *g = x->g;
	struct g_op **kept = anew(x->a, struct g_op *, g->n_ops + 1);
	size_t n = 0;
	for (size_t i = 0; i < g->n_ops; i++)
		if (g->ops[i] != op)
			kept[n++] = g->ops[i];
	graph_set_ops(g, kept, n);
}

void
exact_drop_tensor(struct exact *x, const struct g_tensor *t)
{
	struct graph *g = x->g;
	bool *keep = anew(x->a, bool, g->n_tensors + 1);
	for (size_t i = 0; i < g->n_tensors; i++)
		keep[i] = g->tensors[i] != t;
	graph_keep_g_tensor(g, keep);
}

void
exact_drop_unused(struct exact *x, const bool *marked, size_t n)
{
	struct graph *g = x->g;
	bool *keep = anew(x->a, bool, g->n_tensors + 1);
	for (size_t i = 0; i < g->n_tensors; i++)
		keep[i] = i >= n || !marked[i];
	for (size_t i = 0; i < g->n_ops; i++)
		for (int k = 0; k < 3; k++)
			if (operand_ofm_first(g->ops[i], k)->t)
				keep[operand_ofm_first(g->ops[i], k)->t->rec.index] = true;
	graph_keep_g_tensor(g, keep);
}

void
exact_move(struct exact *x, size_t first, size_t n, size_t at)
{
	struct graph *g = x->g;
	struct g_op **op = anew(x->a, struct g_op *, g->n_ops + 1);
	size_t all = 0;
	for (size_t i = 0; i <= g->n_ops; i++) {
		for (size_t k = 0; i == at && k < n; k++)
			op[all++] = g->ops[first + k];
		if (i < g->n_ops && (i < first || i >= first + n))
			op[all++] = g->ops[i];
	}
	graph_set_ops(g, op, all);
}

static void
keep_source(const struct graph *g, bool *keep, const struct g_source *s)
{
	for (size_t i = 0; s->blob && i < g->n_blobs; i++)
		keep[i] |= !strcmp(g->blobs[i]->name, s->blob);
}

/* Applies the rules of one kind. */
static bool
apply(struct exact *x, const struct rewrite_options *o, enum rule_kind kind)
{
	x->overlap = !o->no_overlap;
	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		x->rule = rules[i].name;
		if (rules[i].kind == kind && !(o->off >> i & 1) && !rules[i].apply(x))
			return false;
	}
	return true;
}

bool
rewrite_exact(struct lower *l, const struct rewrite_options *o, struct err *e)
{
	struct graph *g = l->g;
	struct exact x = { .l = l, .accel = l->accel, .g = g, .a = l->a, .e = e };
	size_t before = g->n_rewrites;
	if (l->accel)
		x.estimate = estimate_open(l->a, l->accel);
	if (!apply(&x, o, FRONT_END))
		return false;
	if (g->n_rewrites == before)
		return true;
	/* drop weights and scales that no operation uses */
	bool *weights = anew(l->a, bool, g->n_weights + 1);
	bool *scales = anew(l->a, bool, g->n_scales + 1);
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		if (op->weights)
			weights[op->weights->rec.index] = true;
		if (op->scales)
			scales[op->scales->rec.index] = true;
	}
	graph_keep_g_weights(g, weights);
	graph_keep_g_scales(g, scales);
	/* drop blobs of the lowering that no constant refers to */
	bool *blobs = anew(l->a, bool, g->n_blobs + 1);
	for (size_t i = 0; i < g->n_weights; i++)
		keep_source(g, blobs, &g->weights[i]->source);
	for (size_t i = 0; i < g->n_tensors; i++)
		if (tensor_is_const(g->tensors[i]))
			keep_source(g, blobs, &g->tensors[i]->source);
	for (size_t i = g->n_blobs; i-- > 0;)
		if (!blobs[i] && strcmp(g->blobs[i]->name, "model") != 0)
			graph_drop_blob(g, g->blobs[i]);
	return true;
}

bool
rewrite_planned(struct arena *a, struct graph *g, const struct accel *accel, bool spilling,
		const struct rewrite_options *o, struct err *e)
{
	struct exact x = { .accel = accel, .g = g, .a = a, .spilling = spilling, .e = e };
	return apply(&x, o, IN_PLAN);
}

const char *
rewrite_chosen_name(int i)
{
	for (size_t k = 0; k < ARRAY_LEN(rules); k++)
		if (rules[k].kind == ALTERNATIVE && i-- == 0)
			return rules[k].name;
	return NULL;
}

bool
rewrite_chosen(struct arena *a, struct graph *g, const struct accel *accel,
	       const struct rewrite_options *o, const char *last, struct err *e)
{
	struct exact x = { .accel = accel, .g = g, .a = a, .estimate = estimate_open(a, accel), .e = e };
	struct rewrite_options first = *o;
	for (size_t k = ARRAY_LEN(rules); k-- > 0 && strcmp(rules[k].name, last) != 0;)
		first.off |= (uint64_t)1 << k;
	return apply(&x, &first, ALTERNATIVE);
}
