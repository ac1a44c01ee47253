/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the uses of every tensor, then runs every check on every tensor and operator. */
#include "quantcheck.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
type_is_float(int type)
{
	switch (type) {
	case TFL_FLOAT32:
	case TFL_FLOAT16:
	case TFL_FLOAT64:
	case 18: /* BFLOAT16 */
	case 21: /* FLOAT8_E4M3FN */
	case 22: /* FLOAT8_E5M2 */
		return true;
	default:
		return false;
	}
}

bool
type_is_quantized(int type)
{
	return type == TFL_INT8 || type == TFL_UINT8 || type == TFL_INT16 ||
	       type == TFL_INT4;
}

const struct tfl_tensor *
op_input(const struct review *r, struct place at, int k)
{
	const struct tfl_op *op = place_op(r, at);
	if (k >= op->n_in || op->in[k] < 0)
		return NULL;
	return &r->m->subgraph[at.subgraph].tensor[op->in[k]];
}

const struct check *
rule_at(int i)
{
	if (i < n_tensor_checks)
		return &tensor_checks[i];
	i -= n_tensor_checks;
	return i < n_op_checks ? &op_checks[i] : NULL;
}

bool
rules_add(rule_set *rules, const char *list, struct err *e)
{
	for (const char *s = list, *end;; s = end + 1) {
		const struct check *c;
		end = strchrnul(s, ',');
		size_t n = (size_t)(end - s);
		int i = 0;
		while ((c = rule_at(i)) && (strlen(c->name) != n || memcmp(c->name, s, n) != 0))
			i++;
		if (!c)
			break;
		*rules |= (rule_set)1 << i;
		if (!*end)
			return true;
	}
	struct text all = { 0 };
	for (int i = 0; rule_at(i); i++)
		text_printf(&all, "%s%s", i ? ", " : "", rule_at(i)->name);
	(void)err_set(e, "--allow=%s: no such rule; rules: %s", list, text_str(&all));
	text_free(&all);
	return false;
}

static void
add_finding(struct review *r, struct finding f, const char *fmt, va_list ap)
{
	char text[600];
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	bool allowed = false;
	for (int i = 0; r->allowed >> i; i++)
		allowed |= rule_at(i) == f.check && r->allowed >> i & 1;
	f.text = arena_strdup(r->a, text);
	if (allowed)
		f.severity = NOTE;
	agrow(r->a, r->finding, r->n_findings, &r->cap_findings);
	r->finding[r->n_findings++] = f;
	r->count[f.severity] += !f.follows;
	r->allowed_errors += allowed && f.check->severity == ERROR;
}

void
review_add(struct review *r, const struct check *c, struct place at,
	   const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add_finding(r, (struct finding){ .check = c, .severity = c->severity, .at = at },
	    fmt, ap);
	va_end(ap);
}

void
review_warn(struct review *r, const struct check *c, struct place at,
	    const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add_finding(r, (struct finding){ .check = c, .severity = WARNING, .at = at }, fmt,
	    ap);
	va_end(ap);
}

void
review_follow(struct review *r, const struct check *c, struct place at,
	      const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add_finding(r, (struct finding){ .check = c, .severity = WARNING, .at = at,
				 .follows = true },
	    fmt, ap);
	va_end(ap);
}

/*
 * Inputs that have indices or sizes, whatever their type.  A small integer type is
 * therefore not a quantized value there (nputools-tflite(5) 6.2).
 */
static bool
input_is_index(int code, int k)
{
	switch (code) {
	case TFL_GATHER:
	case TFL_GATHER_ND:
		return k == 1;
	case TFL_SCATTER_ND:
	case TFL_EMBEDDING_LOOKUP:
		return k == 0;
	case TFL_ONE_HOT:
		return k < 2;
	case TFL_CAST: /* reads raw numbers */
		return k == 0;
	default:
		return false;
	}
}

static struct use *
find_uses(struct arena *a, const struct tfl_subgraph *g)
{
	struct use *use = anew(a, struct use, (size_t)g->n_tensors);
	for (int i = 0; i < g->n_tensors; i++)
		use[i].op = g->tensor[i].producer;
	for (int i = 0; i < g->n_ops; i++) {
		const struct tfl_op *op = &g->op[i];
		for (int k = 0; k < op->n_in; k++) {
			int t = op->in[k];
			if (t < 0)
				continue;
			use[t].what |= USE_READ;
			if (input_is_index(op->code, k))
				use[t].what |= USE_INDEX;
			/* constants of custom operators */
			if (op->code == TFL_CUSTOM && g->tensor[t].data.p)
				use[t].what |= USE_BLOB;
			if (use[t].op < 0)
				use[t].op = i;
		}
		for (int k = 0; k < op->n_mid; k++)
			if (op->mid[k] >= 0) {
				use[op->mid[k]].what |= USE_MID;
				use[op->mid[k]].op = i;
			}
		/* results of CAST are plain numbers, whatever their type */
		for (int k = 0; k < g->op[i].n_out; k++)
			use[g->op[i].out[k]].what |=
			    USE_WRITTEN |
			    (g->op[i].code == TFL_CAST ? USE_INDEX : 0);
	}
	for (int i = 0; i < g->n_in; i++)
		use[g->in[i]].what |= USE_INPUT;
	for (int i = 0; i < g->n_out; i++)
		use[g->out[i]].what |= USE_OUTPUT;
	return use;
}

/* by subgraph, operator (none first), tensor and rule: a unique order */
static int
compare_findings(const void *pa, const void *pb)
{
	const struct finding *a = pa, *b = pb;
	if (a->at.subgraph != b->at.subgraph)
		return a->at.subgraph < b->at.subgraph ? -1 : 1;
	if (a->at.op != b->at.op)
		return a->at.op < b->at.op ? -1 : 1;
	if (a->at.tensor != b->at.tensor)
		return a->at.tensor < b->at.tensor ? -1 : 1;
	return strcmp(a->check->name, b->check->name);
}

void
review_model(struct review *r, struct arena *a, const struct tfl_model *m,
	     rule_set allowed)
{
	*r = (struct review){ .a = a, .m = m, .allowed = allowed, .variables.a = a };
	r->use = anew(a, struct use *, (size_t)m->n_subgraphs);
	r->use[0] = find_uses(a, &m->subgraph[0]);
	find_float_borders(r);
	find_signals(r);
	find_cuts(r);
	for (int g = 0; g < m->n_subgraphs; g++) {
		if (g)
			r->use[g] = find_uses(a, &m->subgraph[g]);
		for (int i = 0; i < m->subgraph[g].n_tensors; i++) {
			struct use u = r->use[g][i];
			struct place at = { g, u.op, i };
			/* a converter may leave unused tensors */
			for (int c = 0; u.what && c < n_tensor_checks; c++)
				tensor_checks[c].tensor(r, &tensor_checks[c], at);
		}
		for (int i = 0; i < m->subgraph[g].n_ops; i++) {
			struct place at = { g, i, -1 };
			for (int c = 0; c < n_op_checks; c++)
				op_checks[c].op(r, &op_checks[c], at);
		}
	}
	if (r->n_findings)
		qsort(r->finding, r->n_findings, sizeof(*r->finding),
		      compare_findings);
}

bool
review_answer(const struct review *r, bool strict)
{
	return !r->count[ERROR] && !(strict && r->count[WARNING]);
}

int
review_float_operators(const struct review *r, int *all)
{
	int n = 0;
	*all = 0;
	for (int k = 0; k < r->m->n_subgraphs; k++) {
		const struct tfl_subgraph *g = &r->m->subgraph[k];
		*all += g->n_ops;
		for (int i = 0; i < g->n_ops; i++) {
			const struct tfl_op *op = &g->op[i];
			bool has_floats = false;
			for (int j = 0; j < op->n_in + op->n_out; j++) {
				int t = j < op->n_in ? op->in[j] : op->out[j - op->n_in];
				has_floats |= t >= 0 && type_is_float(g->tensor[t].type);
			}
			n += has_floats;
		}
	}
	return n;
}

bool
review_can_be_quantized(const struct review *r)
{
	const struct tfl_subgraph *g = &r->m->subgraph[0];
	for (int k = 0; k < g->n_in; k++) {
		const struct tfl_tensor *t = &g->tensor[g->in[k]];
		if (t->type != TFL_FLOAT32 && t->quant.n_scale != 1 && !t->data.p)
			return false;
	}
	return true;
}

const char *
review_refusal(const struct review *r, bool strict)
{
	for (size_t i = 0; i < r->n_findings; i++)
		if (r->finding[i].check->integer &&
		    r->finding[i].severity >= (strict ? WARNING : ERROR))
			return "not fully integer";
	return "integer, but not as the kernels compute";
}

/* Does the model break the rule, and is it refused for that? */
static bool
breaks_rule(const struct review *r, const struct check *c, bool strict)
{
	bool breaks = false;
	for (size_t i = 0; i < r->n_findings; i++) {
		const struct finding *f = &r->finding[i];
		breaks |= f->check == c && !f->follows &&
			  f->severity >= (strict ? WARNING : ERROR);
	}
	return breaks;
}

void
review_put_advice(struct text *t, const struct review *r, bool strict)
{
	const char *before = "--allow=";
	const struct check *c;
	for (int k = 0; (c = rule_at(k)); k++)
		if (c->is_final && breaks_rule(r, c, strict)) {
			text_printf(t, "the later stages refuse %s, too", c->name);
			return;
		}
	for (int k = 0; (c = rule_at(k)); k++)
		if (breaks_rule(r, c, strict)) {
			text_printf(t, "%s%s", before, c->name);
			before = ",";
		}
	text_puts(t, " lets it pass");
}
