/* SPDX-License-Identifier: Apache-2.0 */
/* The answer for a program that passes the model on: an error in one line, and few findings. */
#include "quantcheck.h"

#include <string.h>

bool
review_pass(const struct review *r, bool strict, struct err *e)
{
	if (review_answer(r, strict))
		return true;
	struct text t = { 0 };
	int all, floats = review_float_operators(r, &all);
	/* without an error, floats are at the ends of a quantized model alone */
	const char *remedy = !r->count[ERROR] ? (r->float_in.border || r->float_out.border
							 ? ", and --integer-io of npucc leaves them out" : "")
			     : review_can_be_quantized(r) ? ", and tfl-quantize makes an integer model"
							  : "";
	if (strict)
		text_printf(&t, ", %d warning%s", r->count[WARNING],
			    r->count[WARNING] == 1 ? "" : "s");
	if (floats)
		text_printf(&t, "; %d of %d operators read%s or compute%s floats%s", floats, all,
			    floats == 1 ? "s" : "", floats == 1 ? "s" : "", remedy);
	text_puts(&t, "; ");
	review_put_advice(&t, r, strict);
	(void)err_no(e, r->m->name, 0, "%s: %d error%s%s", review_refusal(r, strict),
		     r->count[ERROR], r->count[ERROR] == 1 ? "" : "s", text_str(&t));
	text_free(&t);
	return false;
}

/* the place of a finding's rule in the list of rules */
static int
rule_of(const struct finding *f)
{
	int i = 0;
	while (rule_at(i) != f->check)
		i++;
	return i;
}

void
report_briefly(struct text *t, const struct review *r, const char *program)
{
	enum { FEW = 2 };
	int all[MAX_RULES][SEVERITIES] = { 0 };
	for (size_t i = 0; i < r->n_findings; i++)
		all[rule_of(&r->finding[i])][r->finding[i].severity] += !r->finding[i].follows;
	for (size_t i = 0; i < r->n_findings; i++) {
		const struct finding *f = &r->finding[i];
		int *n = &all[rule_of(f)][f->severity];
		if (f->severity == NOTE || f->follows || !*n)
			continue;
		text_printf(t, "%s%s%s: ", program, *program ? ": " : "", r->m->name);
		if (*n > FEW) {
			report_kind(t, r, f, *n);
			*n = 0;
		} else {
			report_finding(t, r, f);
		}
	}
	size_t before = t->n;
	text_printf(t, "%s%s%s: ", program, *program ? ": " : "", r->m->name);
	if (!report_cuts(t, r))
		t->n = before;
}
