/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The findings of the rules, in the order of commands.  Decoding weights takes most of the
 * time, and no other rule depends on it.  Therefore threads decode weights at the end, and
 * their findings are reported at the place of their operation.
 */
#include "verify/rules.h"

#include "base/threads.h"

#include <stdarg.h>
#include <stdio.h>

struct findings {
	struct entry {
		struct npu_finding f;
		struct decoding *later; /* its text replaces f.text; "": no finding; NULL:
					 * f.text is valid */
	} *v;
	size_t n, cap, n_later; /* n_later: entries with a decoding */
	struct arena *a; /* memory of the findings */
};

void
begin_findings(struct checker *c)
{
	c->findings = anew(c->a, struct findings, 1);
	c->findings->a = arena_open();
}

static struct entry *
add_entry(struct checker *c, bool error, int rule)
{
	struct findings *l = c->findings;
	agrow(l->a, l->v, l->n, &l->cap);
	struct entry *x = &l->v[l->n++];
	*x = (struct entry){ .f = { .rule = rule, .error = error, .stream = c->s,
				    .at_bytes = 4 * c->at, .command = c->command } };
	return x;
}

/*
 * Reports early if there are many findings, so that a file full of errors needs little
 * memory.
 */
static void
report_if_many(struct checker *c)
{
	enum { MOST = 4096 };
	if (c->findings->n < MOST)
		return;
	end_findings(c);
	begin_findings(c);
}

void
found(struct checker *c, bool error, int rule, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	struct entry *x = add_entry(c, error, rule);
	x->f.text = arena_strdup(c->findings->a, text);
	report_if_many(c);
}

void
found_later(struct checker *c, int rule, struct decoding *d)
{
	add_entry(c, true, rule)->later = d;
	c->findings->n_later++;
	report_if_many(c);
}

static void
run_decoding(void *ctx, size_t i)
{
	struct decoding *const *d = ctx;
	d[i]->run(d[i]);
}

void
end_findings(struct checker *c)
{
	struct findings *l = c->findings;
	struct npu_verify *v = c->out;
	struct decoding **d = anew(l->a, struct decoding *, l->n_later + 1);
	int64_t *cost = anew(l->a, int64_t, l->n_later + 1);
	size_t n = 0;
	for (size_t i = 0; i < l->n; i++) {
		if (!l->v[i].later)
			continue;
		/* decoding a weight takes an eighth of the time of encoding it */
		cost[n] = l->v[i].later->weights / 8;
		d[n++] = l->v[i].later;
	}
	threads_for(v->jobs, n, cost, run_decoding, d);
	for (size_t i = 0; i < l->n; i++) {
		struct entry *x = &l->v[i];
		if (x->later && !x->later->text[0])
			continue;
		if (x->later)
			x->f.text = x->later->text;
		*(x->f.error ? &v->errors : &v->warnings) += 1;
		if (v->report)
			v->report(v->ctx, &x->f);
	}
	arena_close(l->a);
}
