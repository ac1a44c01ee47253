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

static void
allow(void *options, const char *list)
{
	struct options *o = options;
	struct err e = { 0 };
	if (!rules_add(&o->allowed, list, &e))
		cli_error("%s", e.text);
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

static void
review_file(const struct options *o, struct arena *a, struct err *e)
{
	struct tfl_model *m;
	struct review r;
	if (!model_read_file(a, o->file, &m, e) || !tfl_check_plain(m, e))
		return;
	review_model(&r, a, m, o->allowed);
	if (o->pass) { /* copies the model to the output, or nothing */
		struct text t = { 0 };
		if (!o->quiet)
			report_briefly(&t, &r, program_invocation_short_name);
		(void)fputs(text_str(&t), stderr);
		text_free(&t);
		if (review_pass(&r, o->strict, e))
			(void)file_write(o->output, m->file.p, m->file.n, true, e);
		return;
	}
	struct text t = { 0 };
	if (o->json)
		report_json(&t, &r, o->strict);
	else
		report_text(&t, &r, o->strict, o->quiet);
	if (file_write(o->output, t.p, t.n, false, e) && !review_answer(&r, o->strict))
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
