/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One HTML file: a headline, empty boxes for the pictures that the files of page/ draw, tables,
 * and the data of both.  The file loads nothing, and its security policy forbids
 * loading.
 */
#include "report.h"

#include "perf/cpu.h"
#include "target/part.h"

#include <math.h>
#include <string.h>

static double
number(const struct report *r, const char *key)
{
	return json_number(r->root, key, 0);
}

static const char *
string(const struct report *r, const char *key)
{
	return json_string(r->root, key, NULL);
}

/* roughly, as all estimates for the CPU are */
static const char *
cpu_text(const struct report *r, double cycles)
{
	return cycles > 0 ? human_count(r->a, cpu_cycles_rounded(cycles)) : "unknown";
}

/* ---- the headline ------------------------------------------------------------------ */

/* key: the member of the report that value shows in a reader's unit */
static void
put_fact(struct text *t, const struct report *r, const char *name, const char *key,
	 const char *value, const char *more)
{
	text_puts(t, "<div><dt>");
	text_html(t, name);
	text_printf(t, "</dt><dd><b data-key=\"%s\" data-value=\"", key);
	const struct json *v = json_get(r->root, key);
	if (v && v->kind == JSON_NUMBER)
		text_double(t, v->number);
	text_puts(t, "\">");
	text_html(t, value);
	text_puts(t, "</b><small>");
	text_html(t, more);
	text_puts(t, "</small></dd></div>\n");
}

/* the size of a memory, in the unit of --list-parts */
static const char *
size_text(const struct report *r, int64_t bytes)
{
	const int64_t kib = 1024;
	return bytes < kib ? human_bytes(r->a, (double)bytes)
			   : arena_printf(r->a, "%lld KiB", (long long)(bytes / kib));
}

static const char *
memory_of_part(const struct report *r, bool constants)
{
	const struct target_part *p = r->part;
	if (!p || (constants && has_one_memory(r)))
		return "";
	const char *driver = driver_text(r);
	if (!constants && driver)
		return arena_printf(r->a, "; %s", driver);
	if (!constants && p->cache_bytes)
		return arena_printf(r->a, ". The NPU's own SRAM has %s", size_text(r, p->cache_bytes));
	return arena_printf(r->a, "; %s has %s",
			    constants ? p->constant_memory : p->arena_memory,
			    size_text(r, constants ? p->constant_bytes : p->arena_bytes));
}

/* the largest share of the items of put_shares(), which begin with what is busy */
static void
put_limits(struct text *t, const struct report *r)
{
	struct shares s = limit_shares(r);
	double share;
	const char *busy = busiest_text(r, &share);
	const char *limit = s.cpu > s.of[s.most] ? cpu_limit : limit_text(r, s.most);
	text_puts(t, "<div><dt>Limited by</dt><dd><b class=\"words\">");
	text_html(t, busy ? busy : limit);
	if (busy)
		text_printf(t, "</b><small>in use %.0f %% of the %stime</small></dd></div>\n",
			    100 * share, r->cpu_time > 0 ? "NPU's " : "");
	else
		text_printf(t, "</b><small>%.0f %% of the time</small></dd></div>\n",
			    100 * fmax(s.cpu, s.of[s.most]));
}

/* items of a list: what works nearly all the time, the shares of the time, and where to look first */
static void
put_shares(struct text *t, const struct report *r)
{
	struct shares s = limit_shares(r);
	const char *busy = busy_text(r), *limits = limits_text(r);
	const struct layer *most;
	size_t at = offsetof(struct layer, cycles) + (size_t)s.most * sizeof(most->cycles[0]);
	if (busy) {
		text_puts(t, "<li>busy: ");
		text_html(t, busy);
		text_puts(t, "</li>\n");
	}
	if (!limits)
		return;
	if (s.cpu <= s.of[s.most] && largest_layers(r, at, 1, &most))
		limits = arena_printf(r->a, "%s; %s most in %s", limits, limit_text(r, s.most),
				      most->label);
	text_puts(t, "<li>limits: ");
	text_html(t, limits);
	text_puts(t, "</li>\n");
}

static void
put_headline(struct text *t, const struct report *r)
{
	struct arena *a = r->a;
	double npu = number(r, "npu_layers"), cpu = number(r, "cpu_operators");
	const char *range = range_text(r), *part = string(r, "part");
	text_printf(t, "<p>An inference takes about %s on ", human_ms(a, inference_ms(r).ms));
	text_html(t, json_string(r->root, "accelerator", "?"));
	text_puts(t, part ? " of " : "");
	text_html(t, part ? part : "");
	text_printf(t, " at %s. <span class=\"soft\">", human_clock(a, r->clock));
	text_html(t, json_string(r->root, "system_config", "?"));
	text_puts(t, ", ");
	text_html(t, json_string(r->root, "memory_mode", "?"));
	text_puts(t, ". An estimate");
	if (r->cpu_time > 0) {
		text_printf(t, ": %s of the NPU, and about %s of the CPU, ",
			    human_ms(a, cycles_ms(r, r->cycles)),
			    human_ms(a, cycles_ms(r, r->cpu_time)));
		text_html(t, r->cpu_name);
	}
	text_puts(t, ".</span></p>\n");
	text_puts(t, "<dl id=\"facts\" class=\"facts\">\n");
	/* without the CPU, both are the same time */
	put_fact(t, r, "Time", r->cpu_time > 0 ? "inference_seconds" : "inference_ms",
		 human_ms(a, inference_ms(r).ms),
		 arena_printf(a, "%s cycles of the NPU%s%s", human_count(a, r->cycles),
			      range ? ". " : "", range ? range : ""));
	/* the memory of sram_bytes has the arena, or copies of its tensors */
	const char *use = arena_is_in_sram(r) ? "arena"
					      : arena_printf(a, "copies of tensors; the arena is in %s",
							     place_text(r, "arena"));
	put_fact(t, r, fast_text(r), "sram_bytes", human_bytes(a, r->sram),
		 arena_printf(a, "%s%s", use, memory_of_part(r, false)));
	/* the constants by the name of their memory, unless the arena's card has its name */
	const char *constants = constants_text(r);
	if (has_one_memory(r))
		constants = "Constants";
	else if (!strcmp(constants, "flash"))
		constants = "Flash";
	const char *key = constants_key(r), *streams = human_bytes(a, number(r, "stream_bytes"));
	const char *more =
		strcmp(key, "flash_bytes") != 0
			? arena_printf(a, "arena %s, constants %s, command streams %s%s",
				       human_bytes(a, number(r, "arena_bytes")),
				       human_bytes(a, number(r, "flash_bytes")), streams,
				       memory_of_part(r, true))
			: arena_printf(a, "%s%s%s. Command streams: %s%s",
				       has_one_memory(r) ? "in the same " : "constants",
				       has_one_memory(r) ? fast_text(r) : "",
				       memory_of_part(r, true), streams,
				       arena_is_in_sram(r) ? ""
					   : arena_printf(a, ". Arena in %s: %s", place_text(r, "arena"),
							  human_bytes(a, number(r, "arena_bytes"))));
	put_fact(t, r, constants, key, human_bytes(a, number(r, key)), more);
	put_fact(t, r, "On the NPU", "npu_layers",
		 npu + cpu > 0 ? arena_printf(a, "%.0f of %.0f", npu, npu + cpu) : "all",
		 cpu > number(r, "cpu_operators_without_cycles")
			 ? arena_printf(a, "operators; %.0f on the CPU, roughly %s cycles of a %s", cpu,
					cpu_text(r, cpu_cycles_of(r)), r->cpu_name)
		 : cpu > 0 ? arena_printf(a, "operators; %.0f on the CPU, of unknown time", cpu)
			   : "operators, none on the CPU");
	put_limits(t, r);
	text_puts(t, "</dl>\n");
}

/* ---- sections ------------------------------------------------------------------------ */

static void
open_section(struct text *t, const char *id, const char *title)
{
	text_printf(t, "<section id=\"%s\">\n<h2>", id);
	text_html(t, title);
	text_puts(t, "</h2>\n");
}

static void
close_section(struct text *t)
{
	text_puts(t, "</section>\n");
}

static void
put_numbers(struct text *t, const struct table *b, const char *name)
{
	if (!b->n)
		return;
	text_puts(t, "<details><summary>");
	text_html(t, name);
	text_puts(t, "</summary>\n<div class=\"wide\">\n");
	table_html(t, b);
	text_puts(t, "</div>\n</details>\n");
}

static void
put_picture_numbers(struct text *t, const struct report *r, enum picture p)
{
	struct table b = table_picture(r, p);
	static const char *const names[PICTURES] = {
		[PIC_MEMORY] = "All tensors and buffers",
		[PIC_TIMELINE] = "All kernels and transfers",
		[PIC_LAYERS] = "Cycles of all layers", [PIC_ROOFLINE] = "MACs and bytes moved",
		[PIC_CURVE] = "All plans",
	};
	put_numbers(t, &b, names[p]);
}

static void
put_network(struct text *t, const struct report *r)
{
	struct table b = table_picture(r, PIC_ROOFLINE);
	open_section(t, "graph", "Network");
	text_puts(t, "<div class=\"tools\"><label>Colour by <select id=\"colour\">"
		     "<option value=\"time\">time</option>"
		     "<option value=\"memory\">memory in use</option>"
		     "<option value=\"bound\">what limits it</option></select></label>"
		     "<span id=\"network-keys\" class=\"tools\"></span></div>\n");
	if (r->source)
		text_puts(t, "<div class=\"beside\">\n<figure><figcaption>The model</figcaption>"
			     "<div id=\"source\" class=\"box\"></div></figure>\n<figure>"
			     "<figcaption>As compiled</figcaption>");
	text_puts(t, "<div id=\"network\" class=\"box\"></div>\n");
	text_puts(t, r->source ? "</figure>\n</div>\n" : "");
	put_numbers(t, &b, "MACs and bytes moved");
	close_section(t);
}

static void
put_time(struct text *t, const struct report *r)
{
	open_section(t, "time", picture_titles[PIC_TIMELINE]);
	text_puts(t, "<div class=\"tools\"><button type=\"button\" data-zoom=\"0.5\" "
		     "aria-label=\"zoom in\">+</button><button type=\"button\" "
		     "data-zoom=\"2\" aria-label=\"zoom out\">&#8722;</button>"
		     "<button type=\"button\" data-zoom=\"0\">All</button>"
		     "<span class=\"soft\">Drag to move; Ctrl and the wheel, double "
		     "click, + and &#8722; zoom.</span>"
		     "<span id=\"limit-keys\" class=\"tools\"></span></div>\n"
		     "<div id=\"timeline\" class=\"box time\" tabindex=\"0\" role=\"group\" "
		     "aria-label=\"timeline\"></div>\n");
	put_picture_numbers(t, r, PIC_TIMELINE);
	close_section(t);
	open_section(t, "memory-time", picture_titles[PIC_MEMORY]);
	text_puts(t, "<div class=\"tools\" id=\"memory-keys\"></div>\n"
		     "<div id=\"memory\" class=\"box time\" tabindex=\"0\" role=\"group\" "
		     "aria-label=\"memory over time\"></div>\n");
	put_picture_numbers(t, r, PIC_MEMORY);
	close_section(t);
}

static void
put_curve(struct text *t, const struct report *r)
{
	if (!r->n_points)
		return;
	open_section(t, "sram-curve", picture_titles[PIC_CURVE]);
	text_puts(t, "<div id=\"curve\" class=\"box\"></div>\n<p id=\"point\" "
		     "class=\"soft\" aria-live=\"polite\"></p>\n");
	text_puts(t, "<p class=\"soft\">Plans are compared by each kernel's mean of two estimates. A hollow mark "
		     "is a plan that, by the one shown, is not faster than a plan with less SRAM.</p>\n");
	put_picture_numbers(t, r, PIC_CURVE);
	close_section(t);
}

/* ---- short tables ---------------------------------------------------------------------- */

/*
 * A dash before a column's name marks a column that narrow windows omit, a comma (after
 * it) marks numbers.
 */
static void
open_table(struct text *t, const char *const *column)
{
	text_puts(t, "<table>\n<thead><tr>");
	for (size_t i = 0; column[i]; i++) {
		const char *name = column[i];
		bool less = *name == '-', number = name[less] == ',';
		text_puts(t, less && number ? "<th class=\"n less\">"
			     : less	    ? "<th class=\"less\">"
			     : number	    ? "<th class=\"n\">"
					    : "<th>");
		text_html(t, name + less + number);
		text_puts(t, "</th>");
	}
	text_puts(t, "</tr></thead>\n<tbody>\n");
}

static void
close_table(struct text *t)
{
	text_puts(t, "</tbody>\n</table>\n");
}

static void
put_cell(struct text *t, const char *class, const char *s)
{
	text_printf(t, "<td%s%s%s>", *class ? " class=\"" : "", class, *class ? "\"" : "");
	text_html(t, s);
	text_puts(t, "</td>");
}

/* an operator by its label */
static void
put_named(struct text *t, const char *name, const char *label)
{
	text_puts(t, "<td title=\"");
	text_html(t, name);
	text_puts(t, "\">");
	text_html(t, label);
	text_puts(t, "</td>");
}

/* Prints a share as a cell with a bar in the background. */
static void
put_share(struct text *t, double share, double of_most)
{
	text_printf(t, "<td class=\"n share\" style=\"--p:%.1f%%\">%.1f %%</td>",
		    100 * of_most, 100 * share);
}

enum { TOP = 10 };

static void
put_longest(struct text *t, const struct report *r)
{
	static const char *const columns[] = { "operator", "-kind", ",time", ",share",
					       "limited by", NULL };
	struct longest l[TOP];
	size_t n = list_longest(r, TOP, l);
	open_section(t, "longest", "Time by layer");
	open_table(t, columns);
	for (size_t i = 0; i < n; i++) {
		text_puts(t, "<tr>");
		put_named(t, l[i].name, l[i].label);
		put_cell(t, "less", l[i].kind);
		put_cell(t, "n", human_ms(r->a, cycles_ms(r, l[i].time)));
		put_share(t, share_of_time(r, l[i].time), l[i].time / l[0].time);
		put_cell(t, "", l[i].limit);
		text_puts(t, "</tr>\n");
	}
	close_table(t);
	put_picture_numbers(t, r, PIC_LAYERS);
	close_section(t);
}

/* the operators on the CPU in their order */
static void
put_cpu(struct text *t, const struct report *r)
{
	static const char *const columns[] = { "operator", "-kind", ",cycles, roughly",
					       ",time", "because", NULL };
	bool any = false, has_floats = false;
	for (size_t i = 0; i < r->n_nodes; i++) {
		const struct node *x = &r->node[i];
		if (x->layer >= 0)
			continue;
		if (!any) {
			open_section(t, "on-cpu", "On the CPU");
			open_table(t, columns);
			any = true;
		}
		text_puts(t, "<tr>");
		put_named(t, x->name, x->label);
		put_cell(t, "less", x->kind);
		put_cell(t, "n", cpu_text(r, x->cpu_cycles));
		put_cell(t, "n", x->cpu_time > 0 ? human_ms(r->a, cycles_ms(r, x->cpu_time)) : "");
		put_cell(t, "", x->reason ? x->reason : "the compiled file does not say");
		has_floats |= x->reason && is_left_out_by_integer_io(x->reason);
		text_puts(t, "</tr>\n");
	}
	if (!any)
		return;
	close_table(t);
	const char *floats = floats_text(r);
	if (has_floats && floats) {
		text_puts(t, "<p>--integer-io saves memory, too: ");
		text_html(t, floats);
		text_puts(t, ".</p>\n");
	}
	text_puts(t, "<p class=\"soft\">Cycles of a ");
	text_html(t, r->cpu_name);
	text_printf(t, ": expect a factor of %.2g in either direction (npu-perf(1)).</p>\n",
		    r->cpu_error);
	close_section(t);
}

static void
put_measured(struct text *t, const struct report *r)
{
	static const char *const columns[] = { "operator", ",measured", ",estimated", NULL };
	struct table all = table_measured(r);
	if (!all.n)
		return;
	open_section(t, "measured", all.title);
	open_table(t, columns);
	for (int g = 0; g < MEASURED_GROUPS; g++) {
		size_t n;
		double most;
		const struct measured_pair *p = measured_pairs(r, (enum measured_group)g, &n, &most);
		for (size_t i = 0; i < n; i++) {
			const double v[] = { p[i].measured, p[i].estimated };
			text_puts(t, "<tr>");
			put_cell(t, "", p[i].name);
			for (size_t k = 0; k < ARRAY_LEN(v); k++)
				text_printf(t, "<td class=\"n share\" style=\"--p:%.1f%%\">%.6g</td>",
					    most > 0 ? 100 * v[k] / most : 0, v[k]);
			text_puts(t, "</tr>\n");
		}
	}
	close_table(t);
	put_numbers(t, &all, "All operators");
	close_section(t);
}

static void
put_quantized(struct text *t, const struct report *r)
{
	struct table all = table_quantized(r);
	size_t n;
	if (!all.n)
		return;
	const char **line = list_quantized(r, &n);
	open_section(t, "quantized", all.title);
	for (size_t i = 0; i < n; i++) {
		text_puts(t, "<p>");
		text_html(t, line[i]);
		text_puts(t, "</p>\n");
	}
	put_numbers(t, &all, "All operators");
	close_section(t);
}

static void
put_weights(struct text *t, const struct report *r)
{
	static const char *const columns[] = { "operator", ",before", ",encoded",
					       ",encoded / before", NULL };
	struct table all = table_weights(r);
	const struct layer *l[TOP];
	size_t n = largest_layers(r, offsetof(struct layer, weight_bytes), TOP, l);
	while (n && !(l[n - 1]->weight_bytes > 0))
		n--;
	if (!all.n)
		return;
	double share[TOP], most = 1; /* some are encoded to more bytes than before */
	for (size_t i = 0; i < n; i++) {
		share[i] = l[i]->original_bytes > 0
			       ? l[i]->weight_bytes / l[i]->original_bytes : 0;
		most = fmax(most, share[i]);
	}
	open_section(t, "weights", all.title);
	open_table(t, columns);
	for (size_t i = 0; i < n; i++) {
		text_puts(t, "<tr>");
		put_named(t, l[i]->name, l[i]->label);
		put_cell(t, "n", human_bytes(r->a, l[i]->original_bytes));
		put_cell(t, "n", human_bytes(r->a, l[i]->weight_bytes));
		put_share(t, share[i], share[i] / most);
		text_puts(t, "</tr>\n");
	}
	close_table(t);
	put_numbers(t, &all, "All layers");
	close_section(t);
}

static void
put_gains(struct text *t, const struct report *r)
{
	struct gain *g;
	size_t n = list_gains(r, &g);
	bool any_option = false, has_mean = false, has_other = false, has_same = false;
	const char *memory = fast_text(r);
	for (size_t i = 0; i < n; i++) {
		memory = strcmp(memory, g[i].memory) != 0 ? "SRAM" : memory;
		any_option |= *g[i].how != 0;
		has_mean |= g[i].objective != NULL;
		has_same |= g[i].same_chip;
		has_other |= g[i].is_other && !g[i].same_chip;
	}
	const char *const columns[] = { "change", ",time", ",against now",
					arena_printf(r->a, ",%s", memory),
					any_option ? "option" : NULL, NULL };
	if (!n && (r->n_points || r->n_others))
		return;
	open_section(t, "gains", "What would help");
	if (!n) {
		text_puts(t, "<p class=\"soft\">npucc --report=FILE.html --advice lists plans of other "
			     "sizes, and other accelerators.</p>\n");
		close_section(t);
		return;
	}
	open_table(t, columns);
	for (size_t i = 0; i < n; i++) {
		text_puts(t, "<tr>");
		const char *why[] = { g[i].npu, g[i].objective, g[i].needs }, *what = g[i].what;
		for (size_t k = 0; k < ARRAY_LEN(why); k++)
			what = why[k] ? arena_printf(r->a, "%s; %s", what, why[k]) : what;
		put_cell(t, "", what);
		put_cell(t, "n", human_ms(r->a, cycles_ms(r, g[i].cycles)));
		/* such as "+3.1 %"; "0.0 %" without a sign */
		double percent = round(1000 * (g[i].cycles / r->whole - 1)) / 10;
		put_cell(t, "n", arena_printf(r->a, fabs(percent) > 0 ? "%+.1f %%" : "0.0 %%", percent));
		put_cell(t, "n", human_bytes(r->a, g[i].sram));
		if (any_option)
			put_cell(t, "", g[i].how);
		text_puts(t, "</tr>\n");
	}
	close_table(t);
	text_puts(t, "<p class=\"soft\">The plans are those of npu-sched's curves");
	if (has_mean) {
		text_puts(t, "; ");
		text_html(t, mean_text);
	}
	text_puts(t, has_other ? ". Other accelerators have this clock and these memories" : "");
	text_puts(t, has_same ? ". Another NPU on this chip has the clock and the memories of its own part"
			      : "");
	text_puts(t, ".</p>\n");
	close_section(t);
}

void
print_page(struct text *t, const struct report *r)
{
	struct table summary = table_summary(r), warnings = table_warnings(r);
	struct table rewrites = table_rewrites(r);
	page_open(t, r->network);
	put_headline(t, r);
	text_puts(t, "<ul class=\"soft\">\n");
	put_shares(t, r);
	for (size_t i = 0; i < warnings.n; i++) {
		text_puts(t, "<li>");
		text_html(t, warnings.cell[i].text);
		text_puts(t, "</li>\n");
	}
	text_puts(t, "</ul>\n");
	put_gains(t, r);
	text_puts(t, "<div id=\"bar\"><input id=\"search\" type=\"search\" "
		     "placeholder=\"Find an operator\" aria-label=\"find an operator\"/>"
		     "<span id=\"found\" class=\"soft\" role=\"status\"></span></div>\n"
		     "<noscript><p>The pictures need the script in this page; npu-report "
		     "--svg draws some without.</p></noscript>\n"
		     "<div class=\"has-panel\"><main>\n");
	put_network(t, r);
	put_time(t, r);
	put_curve(t, r);
	put_longest(t, r);
	put_cpu(t, r);
	put_measured(t, r);
	put_quantized(t, r);
	put_weights(t, r);
	if (rewrites.n) {
		open_section(t, "rewrites", rewrites.title);
		table_html(t, &rewrites);
		text_puts(t, "<p class=\"soft\">Cycles are those of the kernels that a rule changes, by "
			     "themselves, before a plan is made: together the rules can save less, and a "
			     "rule can take SRAM. <code>npucc --no-rewrite=RULE</code> compiles without it, "
			     "for comparison.</p>\n");
		close_section(t);
	}
	open_section(t, "all", summary.title);
	put_numbers(t, &summary, "Numbers of the whole network");
	close_section(t);
	text_puts(t, "</main>\n<aside id=\"panel\" class=\"empty\" aria-live=\"polite\" "
		     "aria-label=\"the chosen operator\"></aside></div>\n"
		     "<script type=\"application/json\" id=\"data\">\n");
	page_data(t, r);
	text_puts(t, "\n</script>\n<script>\n//<![CDATA[\n");
	text_puts(t, page_js);
	text_puts(t, "//]]>\n</script>\n");
	page_close(t);
}
