/* SPDX-License-Identifier: Apache-2.0 */
/* npu-report: shows the performance and memory of a compiled network. */
#include "base/cli_options.h"
#include "base/file.h"
#include "base/sandbox.h"
#include "report.h"
#include "target/target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OTHERS = 16, PERF_OPTIONS = 5 };

struct options {
	const char *file, *output, *front, *called, *source, *quantized;
	const char *config, *system, *mode, *part; /* of the memory system */
	bool any_accelerator;
	const char *compare[MOST_OTHERS];
	int n_compare;
	const char *other[MOST_OTHERS]; /* NAME=FILE */
	int n_others;
	/* options for npu-perf: name and value in turn, NULL-terminated */
	const char *perf[2 * PERF_OPTIONS + 1];
	int n_perf;
	struct arena *a; /* of meter */
	struct meter meter[MOST_OTHERS + 1]; /* of file, then of compare */
	bool html, gates_time, gates_bytes, numbers, summary, explorer;
	enum explorer explore;
	enum picture svg; /* PICTURES: none */
	double slower, larger; /* percent */
};

static void
choose_picture(void *options, const char *name)
{
	struct options *o = options;
	struct text choices = { 0 };
	int k = 0;
	while (k < PICTURES && strcmp(picture_names[k], name) != 0)
		k++;
	o->svg = (enum picture)k;
	if (k < PICTURES)
		return;
	for (int i = 0; i < PICTURES; i++)
		text_printf(&choices, "%s, ", picture_names[i]);
	cli_error("--svg knows %snot '%s'", text_str(&choices), name);
	text_free(&choices);
}

static void
check_options(void *options)
{
	struct options *o = options;
	const char *const memory[][2] = { { "--config", o->config },
					  { "--system-config", o->system },
					  { "--memory-mode", o->mode }, { "--part", o->part } };
	for (size_t i = 0; i < ARRAY_LEN(memory); i++)
		if (memory[i][1]) {
			o->perf[o->n_perf++] = memory[i][0];
			o->perf[o->n_perf++] = memory[i][1];
		}
	if (o->any_accelerator)
		o->perf[o->n_perf++] = "--any-accelerator";
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
	if ((o->gates_time || o->gates_bytes) && !o->n_compare)
		cli_error("--fail-if-%s works only with --compare",
			  o->gates_time ? "slower" : "larger");
	for (int i = 0; i <= o->n_compare; i++)
		o->meter[i] = (struct meter){ .file = i ? o->compare[i - 1] : o->file,
					      .option = o->perf };
	meters_open(o->a, o->meter, o->n_compare + 1);
}

static void
add_other(void *options, const char *arg)
{
	struct options *o = options;
	if (!strchr(arg, '=') || *arg == '=')
		cli_error("--other needs NAME=FILE, not '%s'", arg);
	if (o->n_others == MOST_OTHERS)
		cli_error("--other: at most %d accelerators are supported", MOST_OTHERS);
	else
		o->other[o->n_others++] = arg;
}

static void
add_compared(void *options, const char *arg)
{
	struct options *o = options;
	if (o->n_compare == MOST_OTHERS)
		cli_error("--compare: at most %d reports are supported", MOST_OTHERS);
	else
		o->compare[o->n_compare++] = arg;
}

static void
take_operand(void *options, const char *arg)
{
	struct options *o = options;
	if (o->file && o->front)
		cli_error("more than a report and its curve");
	*(o->file ? &o->front : &o->file) = arg;
}

static const struct cli_option option_list[] = {
	{ CLI_FLAG("html", html, "write one HTML page with all pictures and their numbers") },
	{ CLI_TAKE("svg", "PICTURE", choose_picture,
		   "write one picture as SVG: memory, timeline, layers, roofline or curve") },
	{ CLI_FLAG("summary", summary,
		   "print a short summary: time, memory, and what limits the network") },
	{ CLI_CHOICE("model-explorer", "VALUE", explore, explorer_names,
		     "write node data for Google's Model Explorer: of each operator the "
		     "cycles (default), bytes moved, bound (what limits it) or place (NPU "
		     "or CPU)"),
	  .flags = OPTION_ARG_OPTIONAL, .seen = CLI_SEEN(explorer) },
	{ CLI_FLAG("numbers", numbers,
		   "print the numbers of the whole network for a script: per line a name, a "
		   "tab and a value") },
	{ CLI_TEXT("front", "FILE", front,
		   "also show the curve of SRAM and cycles in FILE, made by npu-sched --front "
		   "--json") },
	{ CLI_TAKE("other", "NAME=FILE", add_other,
		   "also show the cycles on accelerator NAME; FILE is made by npu-sched "
		   "--front --json for NAME") },
	{ CLI_TEXT("source", "MODEL", source,
		   "on the page, also show the model that was compiled: attributes, shapes, "
		   "quantization and weights of its operators") },
	{ CLI_TEXT("quantization", "FILE", quantized,
		   "also show what the integers cost against the float network; FILE is made by "
		   "tfl-quantize --json") },
	{ CLI_TEXT("called", "NAME", called, "name of the network on page and summary") },
	{ CLI_TAKE("compare", "OLD", add_compared,
		   "show which layers became slower or larger, and which tensors larger or "
		   "elsewhere in memory, since the model or report OLD; may be repeated") },
	{ CLI_REAL("fail-if-slower", "PERCENT", slower, 0, 1000000,
		   "with --compare: fail (status 1) if the network is more than PERCENT "
		   "slower"), .seen = CLI_SEEN(gates_time) },
	{ CLI_REAL("fail-if-larger", "PERCENT", larger, 0, 1000000,
		   "with --compare: fail (status 1) if the network takes PERCENT more bytes of a "
		   "memory"), .seen = CLI_SEEN(gates_bytes) },
	{ CLI_HEADING("Memory system, for a compiled model that does not name one:"),
	  .group = 2 },
	MEMORY_OPTIONS,
	{ SHARED_TEXT(PART, part),
	  .doc = "use the system configuration and memory mode of this chip" },
	{ 0 }
};

static const struct argp argp = {
	.args_doc = "[MODEL|REPORT [CURVE]]",
	.doc = "Show the results of npu-perf for a compiled model as text, page or "
	       "picture.\v"
	       "Exit status: 0 done, 1 slower or larger than --fail-if-... allows, 2 error.  "
	       "See npu-report(1).",
};

static void
allow(const struct sandbox *s, void *options)
{
	const struct options *o = options;
	for (int i = 0; i < o->n_compare; i++)
		sandbox_read(s, o->compare[i]);
	for (int i = 0; i < o->n_others; i++)
		sandbox_read(s, strchr(o->other[i], '=') + 1);
	sandbox_read(s, o->front);
	sandbox_read(s, o->quantized);
	sandbox_read(s, o->source);
	sandbox_read(s, o->part);
}

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

/* by the time of the table's first row */
static bool
check_slower(const struct options *o, const struct report *old, const struct report *r,
	     struct err *e)
{
	const double us = 1e3 * cycles_ms(r, r->whole), before = 1e3 * cycles_ms(old, old->whole);
	return us <= before * (1 + o->slower / 100) ||
	       err_no(e, r->file, 0, "an inference takes %.1f \xc2\xb5s, %.2f %% more than the %.1f "
		      "\xc2\xb5s of %s", us, 100 * (us / before - 1), before, old->file);
}

/* the bytes of a memory: SRAM, the memory of the constants, and the memory of an arena elsewhere */
static bool
check_larger(const struct options *o, const struct report *old, const struct report *r,
	     struct err *e)
{
	static const char *const keys[][2] = { { "sram_bytes" }, { "flash_bytes", "stream_bytes" },
					       { "arena_bytes" } };
	const char *const names[] = { common_fast_text(old, r), "constants and command streams",
				      "arena" };
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		double now = 0, before = 0;
		for (size_t k = 0; k < ARRAY_LEN(keys[i]) && keys[i][k]; k++) {
			now += json_number(r->root, keys[i][k], NAN); /* unknown: no comparison */
			before += json_number(old->root, keys[i][k], NAN);
		}
		if (now > before * (1 + o->larger / 100))
			return err_no(e, r->file, 0, "%s: %.0f bytes are more than the %.0f of %s",
				      names[i], now, before, old->file);
	}
	return true;
}

/* The memory system of r for a file that records none; r without one leaves both names. */
static void
borrow_memory(struct arena *a, const struct report *r, const char *file,
	      const char **system_config, const char **memory_mode)
{
	const char *system = json_string(r->root, "system_config", NULL);
	const char *mode = json_string(r->root, "memory_mode", NULL);
	if (!system || !mode)
		return;
	cli_note("note", "%s does not record its memory system: using that of %s, %s and "
			 "%s", text_plain(a, file), text_plain(a, r->file),
		 text_plain(a, system), text_plain(a, mode));
	*system_config = system;
	*memory_mode = mode;
}

/*
 * Opens all reports: first those with a memory system of their own or by options, whose
 * first one lends its memory system to the others.
 */
static bool
open_reports(struct arena *a, struct options *o, struct report *r,
	     struct report *old, int *status, struct err *e)
{
	const struct report *like = NULL;
	bool waits[MOST_OTHERS + 1] = { 0 };
	for (int turn = 0; turn < 2; turn++)
		for (int i = 0; i <= o->n_compare; i++) {
			struct meter *m = &o->meter[i];
			const char *system = "", *mode = "";
			struct report *to = i ? &old[i - 1] : r;
			if (!turn)
				waits[i] = o->n_compare && !o->n_perf &&
					   lacks_memory_system(a, m);
			if (waits[i] == !turn)
				continue;
			if (turn && like)
				borrow_memory(a, like, m->file, &system, &mode);
			struct bytes json;
			if (!measure(a, m, system, mode, &json, status, e) ||
			    !read_report(a, json, file_name(m->file), to, e))
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
	if (o->quantized && (!file_read(r->a, o->quantized, REPORT_MAX, &b, e) ||
			     !read_quantized(r, b, file_name(o->quantized), e)))
		return false;
	return !o->source || (file_read(r->a, o->source, REPORT_MAX, &b, e) &&
			      read_source(r, b, file_name(o->source), e));
}

int
main(int argc, char **argv)
{
	struct arena *a = arena_open();
	struct options o = { .svg = PICTURES, .a = a };
	struct err e = { 0 };
	struct report old[MOST_OTHERS], r;
	struct text t = { 0 };
	int status = EXIT_YES; /* of npu-perf */
	struct cli_common common = {
		.options = option_list,
		.operand = take_operand,
		.check = check_options,
		.output = &o.output,
		.confined = true, .allow = allow,
	};
	cli_parse(&argp, argc, argv, &o, &common);
	if (open_reports(a, &o, &r, old, &status, &e) && open_fronts(&o, &r, &e)) {
		r.network = o.called ? o.called : r.network;
		shorten_names(&r, old, o.n_compare);
		print_output(&t, &o, old, &r);
		bool ok = file_write(o.output, t.p, t.n, false, &e);
		for (int i = 0; ok && i < o.n_compare; i++)
			ok = (!o.gates_time || check_slower(&o, &old[i], &r, &e)) &&
			     (!o.gates_bytes || check_larger(&o, &old[i], &r, &e));
	}
	meters_close(o.meter, o.n_compare + 1);
	text_free(&t);
	arena_close(a);
	int own = cli_finish(&e);
	return own ? own : status;
}
