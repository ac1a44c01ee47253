/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and prints the text of a plan. */
#include "plan_text.h"

#include "base/text.h"
#include "network.h"
#include "target/accel.h"

#include "base/file.h"
#include "graph/fields.h"
#include "graph/parse.h"
#include "rewrite/exact.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const model_names[] = { "robust", "calibrated", "timeline", NULL };
static const char *const fit_names[] = { "packed", "between", NULL };
static const char *const care_names[] = { "quick", "normal", "thorough", NULL };
static const char *const objective_names[] = { "fetched", "in-place", NULL };
static const char *const cut_names[] = { "whole", "coarse", "fine", NULL };

enum plan_record {
#define RECORD(n, keyword, prefix, type) PLAN_##n,
#include "plan.def"
	PLAN_RECORDS
};

#define RECORD(n, keyword, prefix, type) typedef struct type rec_##n;
#include "plan.def"
#define RECORD(n, keyword, prefix, type) static const struct key_desc key_##n[] = {
#define KEY(n, field, t, k, e) { .text = t, .kind = KIND_##k, \
	.offset = offsetof(rec_##n, field), .names = (const char *const *)e },
#define DECIDED(n, field, t, k, e) KEY(n, decided.field, t, k, e)
#define END(n) };
#include "plan.def"

static const struct record_desc descs[PLAN_RECORDS] = {
#define RECORD(r, k, p, type) [PLAN_##r] = { .keyword = k, .prefix = p, \
	.size = sizeof(struct type), .n_keys = ARRAY_LEN(key_##r), .key = key_##r },
#include "plan.def"
};

static const char magic[] = "nputools-plan 1";

/* ---- reading --------------------------------------------------------------------- */

static bool
parse_lines(struct parse *s, struct plan_text *t)
{
	struct g_rec *const one[] = { [PLAN_TARGET] = &t->target.rec,
				      [PLAN_NETWORK] = &t->network.rec,
				      [PLAN_MEMORY] = &t->memory.rec };
	const size_t name = strlen("nputools-plan ");
	const char *end, *p = parse_next_line(s, &end);
	s->line = 1;
	if (!p || (size_t)(end - p) <= name || memcmp(p, magic, name) != 0)
		return BAD(s, "not a plan of npu-sched (the first line is '%s')", magic);
	const size_t length = (size_t)(end - p);
	if (length != strlen(magic) || memcmp(p, magic, length) != 0)
		return BAD(s, "version %.*s of a plan: this npu-sched reads version 1",
			   (int)(length - name < 20 ? length - name : 20), p + name);
	while ((p = parse_next_line(s, &end))) {
		if (memchr(p, '\0', (size_t)(end - p)))
			return BAD(s, "a NUL byte in a text file");
		if (p == end || *p == '#')
			continue;
		if (end - p == 3 && !memcmp(p, "eof", 3))
			return s->p == s->end || (s->line++, BAD(s, "text after eof"));
		const int k = parse_keyword(s, descs, PLAN_RECORDS, &p, end);
		if (k < 0)
			return false;
		struct g_rec *r = k == PLAN_OP ? NULL : one[k];
		if (r && r->line)
			return BAD(s, "there are two %s records", descs[k].keyword);
		if (!r) {
			agrow(s->a, t->op, t->n_ops, &t->cap_ops);
			t->op[t->n_ops] = (struct plan_op){ .kind = 0 };
			r = &t->op[t->n_ops++].rec;
		}
		if (!parse_fields(s, &descs[k], r, p, end))
			return false;
	}
	s->line++;
	return BAD(s, "the last line is not eof: the plan is not complete");
}

/* Is a number of a record in its range? */
static bool
check_range(const struct plan_text *t, const struct g_rec *r, const char *key, int64_t value,
	    int64_t most, struct err *e)
{
	return (value >= 0 && value <= most) ||
	       err_at(e, t->file, r->line, "%s wants a number from 0 to %" PRId64 ", not %" PRId64,
		      key, most, value);
}

static bool
check_text(const struct plan_text *t, struct err *e)
{
	const struct plan_memory *m = &t->memory;
	const struct plan_network *n = &t->network;
	if (!t->target.rec.line || !n->rec.line || !m->rec.line)
		return err_at(e, t->file, 0, "the plan has no %s record",
			      !t->target.rec.line ? "target" : !n->rec.line ? "network" : "memory");
	bool is_valid = !strcmp(n->rec.word, "whole") || !strcmp(n->rec.word, "split");
	const char *name;
	for (int i = 0; !is_valid && (name = rewrite_chosen_name(i)); i++)
		is_valid = !strcmp(n->rec.word, name);
	if (!is_valid)
		return plan_err(t, n, e, "a network is whole, split, or the name of a rule of npu-sched's, "
				"not %s", n->rec.word);
	if (m->decided.ahead < 0 || !isfinite(m->decided.ahead))
		return plan_err(t, m, e, "ahead wants a number of cycles");
	if (!check_range(t, &m->rec, "limit", m->decided.limit, NO_LIMIT_BYTES, e) ||
	    !check_range(t, &m->rec, "effort", m->effort, EFFORTS - 1, e) ||
	    !check_range(t, &m->rec, "slide", m->slide, 1, e) ||
	    !check_range(t, &n->rec, "columns", n->columns, 1, e))
		return false;
	for (size_t i = 0; i < t->n_ops; i++) {
		const struct plan_op *x = &t->op[i];
		for (size_t k = 0; k < x->fetch.n; k++)
			if (!check_range(t, &x->rec, "fetch", x->fetch.v[k], 1, e))
				return false;
		if (!check_range(t, &x->rec, "joins", x->decided.joins, 1, e) ||
		    !check_range(t, &x->rec, "fast", x->fast, 1, e) ||
		    !check_range(t, &x->rec, "rows", x->decided.rows, INT32_MAX, e))
			return false;
	}
	return true;
}

/* Is the plan for the target and the options of s?  Keys that are absent suit any. */
static bool
check_target(const struct sched *s, const struct plan_text *t)
{
	const struct plan_target *x = &t->target;
	const struct {
		const char *what, *plan, *now;
	} v[] = {
		{ "accelerator", x->rec.word, s->accel->name },
		{ "system", x->system, s->memory.system },
		{ "memory", x->memory, s->memory.mode },
		{ "model", PLAN_HAS(x, PLAN_TARGET_model) ? model_names[x->model] : NULL,
		  model_names[s->o->model] },
	};
	for (size_t i = 0; i < ARRAY_LEN(v); i++)
		if (v[i].plan && strcmp(v[i].plan, v[i].now) != 0)
			return plan_err(t, x, s->e, "the plan is for %s %s, not %s", v[i].what,
					v[i].plan, v[i].now);
	if (PLAN_HAS(x, PLAN_TARGET_level) && x->level != s->o->level)
		return plan_err(t, x, s->e, "the plan is for level %d, not %d", x->level,
				s->o->level);
	const char *area = place_names[limited_place(s)];
	return !strcmp(t->memory.rec.word, area) ||
	       plan_err(t, &t->memory, s->e, "the limited memory is the %s, not the %s", area,
			t->memory.rec.word);
}

bool
plan_read(struct sched *s)
{
	enum { GAPS = 16, FEW = 1024 };
	struct plan_text *t = anew(s->a, struct plan_text, 1);
	struct bytes text;
	t->file = file_name(s->o->plan);
	enum { PLAN_MAX = 1 << 26 }; /* bytes: a plan has a line for an operation */
	if (!file_read(s->a, s->o->plan, PLAN_MAX, &text, s->e))
		return false;
	struct parse x = { .a = s->a, .file = t->file, .e = s->e, .p = (const char *)text.p,
			   .end = (const char *)text.p + text.n };
	s->plan_input = t;
	if (!parse_lines(&x, t) || !check_text(t, s->e) || !check_target(s, t))
		return false;
	/* lines by the numbers of their operations, which may have gaps */
	for (size_t i = 0; i < t->n_ops; i++)
		t->n_ids = t->op[i].rec.id >= t->n_ids ? t->op[i].rec.id + 1 : t->n_ids;
	if ((size_t)t->n_ids > GAPS * t->n_ops + FEW)
		return err_at(s->e, t->file, 0, "operations go up to o%d, which is too far "
			      "for %zu lines", t->n_ids - 1, t->n_ops);
	t->by_id = anew(s->a, const struct plan_op *, (size_t)t->n_ids + 1);
	for (size_t i = 0; i < t->n_ops; i++) {
		const struct plan_op **at = &t->by_id[t->op[i].rec.id];
		if (*at)
			return plan_err(t, &t->op[i], s->e, "o%d has two lines, also line %u",
					t->op[i].rec.id, (*at)->rec.line);
		*at = &t->op[i];
	}
	return true;
}

const struct plan_op *
plan_line(const struct plan_text *t, const struct g_op *op)
{
	return op->rec.id < t->n_ids ? t->by_id[op->rec.id] : NULL;
}

/* ---- printing -------------------------------------------------------------------- */

void
plan_print(const struct plan_text *p, struct text *t)
{
	text_printf(t, "%s\n# %s\n", magic, p->summary);
	graph_print_record(t, &descs[PLAN_TARGET], &p->target.rec, false);
	graph_print_record(t, &descs[PLAN_NETWORK], &p->network.rec, false);
	graph_print_record(t, &descs[PLAN_MEMORY], &p->memory.rec, false);
	for (size_t i = 0; i < p->n_ops; i++)
		graph_print_record(t, &descs[PLAN_OP], &p->op[i].rec, false);
	text_puts(t, "eof\n");
}
