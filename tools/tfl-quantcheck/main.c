/* SPDX-License-Identifier: Apache-2.0 */
/* tfl-quantcheck: is a TFLite model fully integer, and if not, why? */
#include "base/cli_options.h"
#include "base/file.h"
#include "kernels/kernels.h"
#include "quantcheck.h"

#include <stdio.h>
#include <string.h>

struct options {
	const char *file, *output;
	bool json, pass, strict, quiet, rules;
	rule_set allowed;
};

/* the rules in a comma-separated list; 0: one of them does not exist */
static rule_set
read_rules(const char *list)
{
	rule_set all = 0;
	for (const char *s = list, *end;; s = end + 1) {
		const struct check *c;
		end = strchrnul(s, ',');
		size_t n = (size_t)(end - s);
		int i = 0;
		while ((c = rule_at(i)) &&
		       (strlen(c->name) != n || memcmp(c->name, s, n) != 0))
			i++;
		if (!c)
			return 0;
		all |= (rule_set)1 << i;
		if (!*end)
			return all;
	}
}

static void
allow(void *options, const char *list)
{
	struct options *o = options;
	rule_set rules = read_rules(list);
	struct text all = { 0 };
	for (int i = 0; !rules && rule_at(i); i++)
		text_printf(&all, "%s%s", i ? ", " : "", rule_at(i)->name);
	if (!rules)
		cli_error("--allow=%s: no such rule; rules: %s", list,
			  text_str(&all));
	text_free(&all);
	o->allowed |= rules;
}

static void
check_options(void *options)
{
	const struct options *o = options;
	if (o->json && o->pass)
		cli_error("--json and --pass exclude each other: both write to the output");
}

static const struct cli_option option_list[] = {
	{ CLI_FLAG("json", json, "print the report as JSON") },
	{ CLI_FLAG("pass", pass,
		   "for use in a pipe: copy the model to the output if it is fully integer, "
		   "otherwise write nothing; findings go to standard error") },
	{ SHARED_FLAG(STRICT, strict) },
	{ CLI_TAKE("allow", "RULE[,RULE...]", allow,
		   "report violations of RULE as notes, which never change the answer") },
	{ CLI_FLAG("rules", rules, "list the rules, and exit") },
	{ CLI_FLAG("quiet", quiet, "print the answer alone: one line"),
	  .key = 'q' },
	{ 0 }
};

static const struct argp argp = {
	.doc = "Check whether a TFLite model is fully integer, and list the operators "
	       "and tensors that are not.\v"
	       "Exit status: 0 fully integer, 1 not fully integer, 2 error.",
};

/*
 * Reports the answer "no" in one line: why, how many operators are affected, and
 * which --allow would change the answer.  Warnings count if they are part of the reason.
 */
static void
refuse_model(const struct options *o, const struct review *r, struct err *e)
{
	struct text t = { 0 };
	int all, floats = review_float_operators(r, &all);
	if (o->strict)
		text_printf(&t, ", %d warning%s", r->count[WARNING],
			    r->count[WARNING] == 1 ? "" : "s");
	if (floats)
		text_printf(&t, "; %d of %d operators read%s or compute%s floats%s", floats, all,
			    floats == 1 ? "s" : "", floats == 1 ? "s" : "",
			    review_can_be_quantized(r) ? ", and tfl-quantize makes an integer model"
						       : "");
	text_puts(&t, "; ");
	review_put_advice(&t, r, o->strict);
	(void)err_no(e, r->m->name, 0, "%s: %d error%s%s", review_refusal(r, o->strict),
		     r->count[ERROR], r->count[ERROR] == 1 ? "" : "s", text_str(&t));
	text_free(&t);
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

/*
 * --pass: the findings on standard error.  More than FEW of one rule and severity are one
 * line, at the place of the first.
 */
static void
tell_findings(const struct review *r)
{
	enum { FEW = 2 };
	int all[MAX_RULES][SEVERITIES] = { 0 };
	struct text t = { 0 };
	for (size_t i = 0; i < r->n_findings; i++)
		all[rule_of(&r->finding[i])][r->finding[i].severity] += !r->finding[i].follows;
	for (size_t i = 0; i < r->n_findings; i++) {
		const struct finding *f = &r->finding[i];
		int *n = &all[rule_of(f)][f->severity];
		if (f->severity == NOTE || f->follows || !*n)
			continue;
		text_printf(&t, "%s: %s: ", program_invocation_short_name, r->m->name);
		if (*n > FEW) {
			report_kind(&t, r, f, *n);
			*n = 0;
		} else {
			report_finding(&t, r, f);
		}
	}
	size_t before = t.n;
	text_printf(&t, "%s: %s: ", program_invocation_short_name, r->m->name);
	if (!report_cuts(&t, r))
		t.n = before;
	(void)fputs(text_str(&t), stderr);
	text_free(&t);
}

static void
review_file(const struct options *o, struct arena *a, struct err *e)
{
	struct tfl_model *m;
	struct review r;
	if (!model_read_file(a, o->file, &m, e) || !tfl_check_plain(m, e))
		return;
	review_model(&r, a, m, o->allowed);
	bool yes = review_answer(&r, o->strict);
	if (o->pass) { /* copies the model to the output, or nothing */
		if (!o->quiet)
			tell_findings(&r);
		if (yes)
			(void)file_write(o->output, m->file.p, m->file.n, true, e);
		else
			refuse_model(o, &r, e);
		return;
	}
	struct text t = { 0 };
	if (o->json)
		report_json(&t, &r, o->strict);
	else
		report_text(&t, &r, o->strict, o->quiet);
	if (file_write(o->output, t.p, t.n, false, e) && !yes)
		e->status = EXIT_NO;
	text_free(&t);
}

int
main(int argc, char **argv)
{
	struct options o = { 0 };
	struct err e = { 0 };
	struct cli_common common = {
		.options = option_list,
		.check = check_options,
		.file = &o.file, .what = "model",
		.output = &o.output,
		.confined = true,
	};
	cli_parse(&argp, argc, argv, &o, &common);
	struct arena *a = arena_open();
	if (o.rules) {
		struct text t = { 0 };
		report_rules(&t);
		(void)file_write(o.output, t.p, t.n, false, &e);
		text_free(&t);
	} else {
		review_file(&o, a, &e);
	}
	arena_close(a);
	/* the report has already printed the answer "no" */
	bool said = e.status == EXIT_NO && !o.pass;
	int status = cli_finish(said ? &(struct err){ 0 } : &e);
	return status ? status : e.status;
}
