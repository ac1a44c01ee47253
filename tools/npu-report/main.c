/* SPDX-License-Identifier: Apache-2.0 */
/* npu-report: what a compiled network does, to look at. */
#include "base/cli.h"
#include "base/file.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

enum { OPT_HTML = 256, OPT_SVG, OPT_FRONT, OPT_COMPARE, OPT_SLOWER,
       OPT_NUMBERS };

struct options {
	const char *file, *output, *front, *compare;
	bool html, gate, numbers;
	enum picture svg; /* PICTURES: none */
	double slower;	  /* percent */
};

static const struct argp_option option_list[] = {
	{ "html", OPT_HTML, NULL, 0, "one page with all pictures and their numbers", 0 },
	{ "svg", OPT_SVG, "PICTURE", 0,
	  "one picture: memory, timeline, layers, roofline, curve", 0 },
	{ "numbers", OPT_NUMBERS, NULL, 0,
	  "the network's numbers for a script: a name, a tab, a value a line", 0 },
	{ "front", OPT_FRONT, "FILE", 0,
	  "the curve, of npu-sched --front --json", 0 },
	{ "compare", OPT_COMPARE, "OLD", 0,
	  "what got slower, larger, moved since another report", 0 },
	{ "fail-if-slower", OPT_SLOWER, "PERCENT", 0,
	  "with --compare: exit with 1 if the timeline takes so much longer", 0 },
	{ 0 }
};

static enum picture
picture_of(struct argp_state *state, const char *name)
{
	for (int i = 0; i < PICTURES; i++)
		if (!strcmp(picture_names[i], name))
			return (enum picture)i;
	struct text known = { 0 };
	for (int i = 0; i < PICTURES; i++)
		text_printf(&known, "%s, ", picture_names[i]);
	argp_error(state, "--svg knows %snot '%s'", text_str(&known), name);
	return PICTURES;
}

static double
percent_of(struct argp_state *state, const char *arg)
{
	const double most = 1e6;
	char *end;
	double v = strtod(arg, &end);
	if (end == arg || *end || !(v >= 0 && v <= most))
		argp_error(state, "--fail-if-slower takes percent from 0 on, not '%s'",
			   arg);
	return v;
}

static void
check_combination(struct argp_state *state, const struct options *o)
{
	if (o->svg < PICTURES && (o->html || o->compare))
		argp_error(state, "--svg goes with neither --html nor --compare");
	if (o->numbers && (o->html || o->compare || o->svg < PICTURES))
		argp_error(state, "--numbers goes with no picture, page or "
				  "comparison");
	if (o->gate && !o->compare)
		argp_error(state, "--fail-if-slower goes with --compare");
}

static error_t
parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case OPT_HTML: o->html = true; break;
	case OPT_NUMBERS: o->numbers = true; break;
	case OPT_SVG: o->svg = picture_of(state, arg); break;
	case OPT_FRONT: o->front = arg; break;
	case OPT_COMPARE: o->compare = arg; break;
	case OPT_SLOWER:
		o->gate = true;
		o->slower = percent_of(state, arg);
		break;
	case ARGP_KEY_ARG:
		if (o->file && o->front)
			argp_error(state, "one report and its curve at a time");
		*(o->file ? &o->front : &o->file) = arg;
		break;
	case ARGP_KEY_END: check_combination(state, o); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "[REPORT [CURVE]]",
	.doc = "Draws what npu-perf --json says of a compiled network.\v"
	       "Exit status: 0 done, 1 slower than --fail-if-slower allows, 2 trouble.  "
	       "See npu-report(1).",
};

static void
print(struct text *t, const struct options *o, const struct report *old,
      const struct report *r)
{
	if (o->compare)
		print_comparison(t, old, r, o->html);
	else if (o->svg < PICTURES)
		draw(t, r, o->svg, true);
	else if (o->html)
		print_page(t, r);
	else if (o->numbers)
		print_numbers(t, r);
	else
		print_plain(t, r);
}

static bool
check_slower(const struct options *o, const struct report *old,
	     const struct report *r, struct err *e)
{
	if (!o->gate || r->cycles <= old->cycles * (1 + o->slower / 100))
		return true;
	return err_no(e, "%s: %.0f cycles are %.2f %% more than the %.0f of %s", r->file,
		      r->cycles, 100 * (r->cycles / old->cycles - 1), old->cycles,
		      old->file);
}

int
main(int argc, char **argv)
{
	struct options o = { .svg = PICTURES };
	struct err e = { 0 };
	struct report old, r;
	struct text t = { 0 };
	struct cli_common common = {
		.output = &o.output,
	};
	cli_parse(&argp, argc, argv, &o, &common);
	struct arena *a = arena_open();
	if ((!o.compare || read_report(a, o.compare, NULL, &old, &e)) &&
	    read_report(a, o.file, o.front, &r, &e)) {
		print(&t, &o, &old, &r);
		if (file_write(o.output, t.p, t.n, false, &e))
			(void)check_slower(&o, &old, &r, &e);
	}
	text_free(&t);
	arena_close(a);
	return cli_finish(&e);
}
