/* SPDX-License-Identifier: Apache-2.0 */
/* npu-report: shows the performance and memory of a compiled network. */
#include "base/cli.h"
#include "base/file.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

enum { OPT_HTML = 256, OPT_SVG, OPT_FRONT, OPT_COMPARE, OPT_SLOWER,
       OPT_NUMBERS, OPT_SUMMARY, OPT_OTHER, OPT_CALLED, OPT_CONFIG, OPT_SYSTEM,
       OPT_MODE, OPT_PART, OPT_EXPLORER };

enum { MOST_OTHERS = 16, PERF_OPTIONS = 4 };

struct options {
	const char *file, *output, *front, *called;
	const char *compare[MOST_OTHERS];
	int n_compare;
	const char *other[MOST_OTHERS]; /* NAME=FILE */
	int n_others;
	/* options for npu-perf: name and value in turn, NULL-terminated */
	const char *perf[2 * PERF_OPTIONS + 1];
	int n_perf;
	bool html, gate, numbers, summary, explorer;
	enum explorer explore;
	enum picture svg; /* PICTURES: none */
	double slower;	  /* percent */
};

static const struct argp_option option_list[] = {
	{ "html", OPT_HTML, NULL, 0,
	  "write one HTML page with all pictures and their numbers", 0 },
	{ "svg", OPT_SVG, "PICTURE", 0,
	  "write one picture as SVG: memory, timeline, layers, roofline or curve", 0 },
	{ "summary", OPT_SUMMARY, NULL, 0,
	  "print a short summary: time, memory, and what limits the network", 0 },
	{ "model-explorer", OPT_EXPLORER, "VALUE", OPTION_ARG_OPTIONAL,
	  "write node data for Google's Model Explorer: of each operator the cycles "
	  "(default), bytes moved, bound (what limits it) or place (NPU or CPU)", 0 },
	{ "numbers", OPT_NUMBERS, NULL, 0,
	  "print the numbers of the whole network for a script: per line a name, a tab "
	  "and a value", 0 },
	{ "front", OPT_FRONT, "FILE", 0,
	  "also show the curve of SRAM and cycles in FILE, made by npu-sched --front "
	  "--json", 0 },
	{ "other", OPT_OTHER, "NAME=FILE", 0,
	  "also show the cycles on accelerator NAME; FILE is made by npu-sched --front "
	  "--json for NAME", 0 },
	{ "called", OPT_CALLED, "NAME", 0,
	  "name of the network on page and summary", 0 },
	{ "compare", OPT_COMPARE, "OLD", 0,
	  "show which layers became slower or larger, and which tensors larger or "
	  "elsewhere in memory, since the model or report OLD; may be repeated", 0 },
	{ "fail-if-slower", OPT_SLOWER, "PERCENT", 0,
	  "with --compare: fail (status 1) if the network is more than PERCENT "
	  "slower", 0 },
	{ NULL, 0, NULL, 0, "Memory system, for a compiled model that does not name "
			    "one:", 2 },
	{ "config", OPT_CONFIG, "FILE", 0,
	  "read --system-config and --memory-mode from FILE, in the syntax of "
	  "vela.ini", 0 },
	{ "system-config", OPT_SYSTEM, "NAME", 0,
	  "profile of the clock and the memory speeds", 0 },
	{ "memory-mode", OPT_MODE, "NAME", 0,
	  "which memory holds constants, arena and cache", 0 },
	{ "part", OPT_PART, "NAME", 0,
	  "use the system configuration and memory mode of this chip", 0 },
	{ 0 }
};

static enum picture
picture_of(const char *name)
{
	for (int i = 0; i < PICTURES; i++)
		if (!strcmp(picture_names[i], name))
			return (enum picture)i;
	struct text choices = { 0 };
	for (int i = 0; i < PICTURES; i++)
		text_printf(&choices, "%s, ", picture_names[i]);
	cli_error("--svg knows %snot '%s'", text_str(&choices), name);
	text_free(&choices);
	return PICTURES;
}

static double
percent_of(const char *arg)
{
	const double most = 1e6;
	char *end;
	double v = strtod(arg, &end);
	if (end == arg || *end || !(v >= 0 && v <= most))
		cli_error("--fail-if-slower needs a percentage of 0 or more, not '%s'",
			  arg);
	return v;
}

static void
check_combination(struct options *o)
{
	if (o->svg == PICTURES && !o->numbers && !o->summary && !o->explorer)
		o->html |= text_has_suffix(o->output, ".html");
	if (o->explorer && (o->html || o->n_compare || o->svg < PICTURES || o->numbers ||
			    o->summary))
		cli_error("--model-explorer excludes --html, --svg, --summary, "
			  "--numbers and --compare");
	if (o->summary && (o->html || o->n_compare || o->svg < PICTURES || o->numbers))
		cli_error("--summary excludes --html, --svg, --numbers and --compare");
	if (o->svg < PICTURES && (o->html || o->n_compare))
		cli_error("--svg excludes --html and --compare");
	if (o->numbers && (o->html || o->n_compare || o->svg < PICTURES))
		cli_error("--numbers excludes --html, --svg and --compare");
	if (o->gate && !o->n_compare)
		cli_error("--fail-if-slower works only with --compare");
}

/* An option may be given twice; npu-perf uses the last one. */
static void
pass_on(struct options *o, const char *name, const char *value)
{
	if (o->n_perf == 2 * PERF_OPTIONS) {
		cli_error("too many options for the memory system");
		return;
	}
	o->perf[o->n_perf++] = name;
	o->perf[o->n_perf++] = value;
}

static void
add_other(struct options *o, const char *arg)
{
	if (!strchr(arg, '=') || *arg == '=')
		cli_error("--other needs NAME=FILE, not '%s'", arg);
	if (o->n_others == MOST_OTHERS)
		cli_error("--other: at most %d accelerators are supported", MOST_OTHERS);
	else
		o->other[o->n_others++] = arg;
}

static error_t
parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case OPT_HTML: o->html = true; break;
	case OPT_NUMBERS: o->numbers = true; break;
	case OPT_SUMMARY: o->summary = true; break;
	case OPT_CALLED: o->called = arg; break;
	case OPT_EXPLORER:
		o->explorer = true;
		if (arg)
			o->explore = (enum explorer)cli_choice(
			    "--model-explorer", arg, explorer_names);
		break;
	case OPT_OTHER: add_other(o, arg); break;
	case OPT_CONFIG: pass_on(o, "--config", arg); break;
	case OPT_SYSTEM: pass_on(o, "--system-config", arg); break;
	case OPT_MODE: pass_on(o, "--memory-mode", arg); break;
	case OPT_PART: pass_on(o, "--part", arg); break;
	case OPT_SVG: o->svg = picture_of(arg); break;
	case OPT_FRONT: o->front = arg; break;
	case OPT_COMPARE:
		if (o->n_compare == MOST_OTHERS)
			cli_error("--compare: at most %d reports are supported",
				  MOST_OTHERS);
		else
			o->compare[o->n_compare++] = arg;
		break;
	case OPT_SLOWER:
		o->gate = true;
		o->slower = percent_of(arg);
		break;
	case ARGP_KEY_ARG:
		if (o->file && o->front)
			cli_error("more than one report and its curve");
		*(o->file ? &o->front : &o->file) = arg;
		break;
	case ARGP_KEY_END: check_combination(o); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = option_list, .parser = parse_option,
	.args_doc = "[MODEL|REPORT [CURVE]]",
	.doc = "Show the results of npu-perf for a compiled model as text, page or "
	       "picture.\v"
	       "Exit status: 0 done, 1 slower than --fail-if-slower allows, 2 error.  "
	       "See npu-report(1).",
};

static void
print_output(struct text *t, const struct options *o, const struct report *old,
      const struct report *r)
{
	if (o->n_compare)
		print_comparison(t, old, (size_t)o->n_compare, r, o->html);
	else if (o->svg < PICTURES)
		draw(t, r, o->svg, true);
	else if (o->html)
		print_page(t, r);
	else if (o->explorer)
		print_explorer(t, r, o->explore);
	else if (o->summary)
		print_summary(t, r);
	else if (o->numbers)
		print_numbers(t, r);
	else
		print_plain(t, r);
}

static bool
check_slower(const struct options *o, const struct report *old,
	     const struct report *r, struct err *e)
{
	if (r->cycles <= old->cycles * (1 + o->slower / 100))
		return true;
	return err_no(e, "%s: %.0f cycles are %.2f %% more than the %.0f of %s", r->file,
		      r->cycles, 100 * (r->cycles / old->cycles - 1), old->cycles,
		      old->file);
}

/* The memory system of r for a file that records none, as options of npu-perf. */
static bool
borrow_memory(struct arena *a, const struct report *r, const char *file,
	      const char **option)
{
	const char *system = json_string(r->root, "system_config", NULL);
	const char *mode = json_string(r->root, "memory_mode", NULL);
	if (!system || !mode)
		return false;
	cli_note("note", "%s does not record its memory system: using that of %s, %s and "
			 "%s", text_plain(a, file), text_plain(a, r->file),
		 text_plain(a, system), text_plain(a, mode));
	option[0] = "--system-config";
	option[1] = system;
	option[2] = "--memory-mode";
	option[3] = mode;
	option[4] = NULL;
	return true;
}

/*
 * Opens all reports: first those with a memory system of their own or by options, whose
 * first one lends its memory system to the others.
 */
static bool
open_reports(struct arena *a, const struct options *o, struct report *r,
	     struct report *old, int *status, struct err *e)
{
	const struct report *like = NULL;
	bool waits[MOST_OTHERS + 1] = { 0 };
	for (int turn = 0; turn < 2; turn++)
		for (int i = 0; i <= o->n_compare; i++) {
			const char *file = i ? o->compare[i - 1] : o->file;
			struct report *to = i ? &old[i - 1] : r;
			const char *borrowed[2 * PERF_OPTIONS + 1];
			const char *const *option = o->perf;
			if (!turn)
				waits[i] = o->n_compare && !o->n_perf &&
					   lacks_memory_system(a, file);
			if (waits[i] == !turn)
				continue;
			if (turn && like && borrow_memory(a, like, file, borrowed))
				option = borrowed;
			struct bytes json;
			if (!measure(a, file, option, &json, status, e) ||
			    !read_report(a, json, file_name(file), to, e))
				return false;
			like = like ? like : to;
		}
	return true;
}

/* Shortens the names of compared files to their base names where these differ. */
static void
shorten_names(struct report *r, struct report *old, int n_old)
{
	struct report *all[MOST_OTHERS + 1] = { r };
	const char *base[MOST_OTHERS + 1];
	for (int i = 0; i < n_old; i++)
		all[i + 1] = &old[i];
	for (int i = 0; i <= n_old; i++)
		base[i] = file_base(all[i]->file);
	for (int i = 0; i <= n_old; i++) {
		bool unique = true;
		for (int k = 0; k <= n_old; k++)
			unique &= k == i || strcmp(base[k], base[i]) != 0;
		if (unique)
			all[i]->file = base[i];
	}
}

static bool
open_fronts(const struct options *o, struct report *r, struct err *e)
{
	struct bytes b;
	if (o->front && (!file_read(r->a, o->front, REPORT_MAX, &b, e) ||
			 !read_front(r, b, file_name(o->front), e)))
		return false;
	for (int i = 0; i < o->n_others; i++) {
		size_t n = strcspn(o->other[i], "=");
		const char *file = o->other[i] + n + 1;
		if (!file_read(r->a, file, REPORT_MAX, &b, e) ||
		    !read_other(r, b, file_name(file), arena_strndup(r->a, o->other[i], n),
				e))
			return false;
	}
	return true;
}

int
main(int argc, char **argv)
{
	struct options o = { .svg = PICTURES };
	struct err e = { 0 };
	struct report old[MOST_OTHERS], r;
	struct text t = { 0 };
	int status = EXIT_YES; /* of npu-perf */
	struct cli_common common = {
		.output = &o.output,
	};
	cli_parse(&argp, argc, argv, &o, &common);
	struct arena *a = arena_open();
	if (open_reports(a, &o, &r, old, &status, &e) && open_fronts(&o, &r, &e)) {
		r.network = o.called ? o.called : r.network;
		shorten_names(&r, old, o.n_compare);
		print_output(&t, &o, old, &r);
		bool ok = file_write(o.output, t.p, t.n, false, &e);
		for (int i = 0; ok && o.gate && i < o.n_compare; i++)
			ok = check_slower(&o, &old[i], &r, &e);
	}
	text_free(&t);
	arena_close(a);
	int own = cli_finish(&e);
	return own ? own : status;
}
