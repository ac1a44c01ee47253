/* SPDX-License-Identifier: Apache-2.0 */
/* The result as a table and as JSON, with the networks that pay for a kilobyte less. */
#include "share.h"

#include "base/fixed.h"

#include <math.h>
#include <string.h>

enum { KILOBYTE = 1024 };

/* flash of the networks that are alone as written, and of the others */
static int64_t
flash_bytes(const struct share *s)
{
	int64_t sum = (int64_t)s->constants.n;
	for (int i = 0; i < s->p.n; i++) {
		const struct row *r = chosen(s, i);
		sum += r->stream;
		for (int k = 0; k < r->n_segments && !chosen_file(s, i)->alone; k++)
			sum += r->segment[k].bytes;
	}
	return sum;
}

static double
gap_of(const struct share *s)
{
	const struct choice *c = &s->choice;
	return c->time > 0 && !c->is_exact ? (c->time - c->bound) / c->time : 0;
}

static int64_t
sum_of_arenas(const struct share *s)
{
	int64_t sum = 0;
	for (int i = 0; i < s->p.n; i++)
		sum += chosen(s, i)->arena;
	return sum;
}

/* ---- the table ------------------------------------------------------------------------ */

static void
put_budget(struct text *t, const char *what, int64_t used, int64_t budget)
{
	text_printf(t, "%s: %lld bytes", what, (long long)used);
	if (budget < INT64_MAX)
		text_printf(t, " of %lld", (long long)budget);
	text_putc(t, '\n');
}

static void
put_row(const struct share *s, struct text *t, int net)
{
	const struct row *r = chosen(s, net);
	const struct net *n = &s->p.net[net];
	text_printf(t, "%-20s %8lld %8lld %10.0f %9.4f %8g", s->net[net].name,
		    (long long)s->choice.place.at[net], (long long)r->arena, r->cycles,
		    1e3 * r->seconds, n->rate);
	if (n->deadline > 0)
		text_printf(t, " %9.4f of %g", 1e3 * response_of(&s->p, s->choice.row, net),
			    1e3 * n->deadline);
	text_putc(t, '\n');
}

/* what a choice with a smaller budget changes; false: there is none */
static bool
with_less(const struct share *s, bool flash, struct choice *c)
{
	const struct choice *now = &s->choice;
	return choose_within(s, flash ? s->p.arena : now->place.bytes - KILOBYTE,
			     flash ? now->flash - KILOBYTE : s->p.flash, c);
}

static void
put_less(const struct share *s, struct text *t, bool flash)
{
	struct choice c;
	const char *what = flash ? "flash" : s->spilling ? "DRAM" : "SRAM";
	if (!with_less(s, flash, &c)) {
		text_printf(t, "a kilobyte less of %s: not possible\n", what);
		return;
	}
	text_printf(t, "a kilobyte less of %s costs %.4g ms of each second:", what,
		    1e3 * (c.time - s->choice.time));
	const char *sep = " ";
	for (int i = 0; i < s->p.n; i++)
		if (c.row[i] != s->choice.row[i]) {
			const struct row *r = &s->p.net[i].row[c.row[i]];
			text_printf(t, "%s%s pays %.4g ms a run", sep, s->net[i].name,
				    1e3 * (r->seconds - chosen(s, i)->seconds));
			sep = ", ";
		}
	text_puts(t, *sep == ' ' ? " no network pays\n" : "\n");
}

void
print_table(const struct share *s, struct text *t)
{
	const struct choice *c = &s->choice;
	text_printf(t, "%-20s %8s %8s %10s %9s %8s deadline ms\n", "network", "at", "arena",
		    "cycles", "ms", "runs/s");
	for (int i = 0; i < s->p.n; i++)
		put_row(s, t, i);
	put_budget(t, s->spilling ? "DRAM" : "SRAM", c->place.bytes, s->p.arena);
	text_printf(t, "  one arena after the other: %lld bytes%s\n", (long long)sum_of_arenas(s),
		    c->place.is_proven ? "; no placement of these rows takes fewer" : "");
	if (c->fast)
		put_budget(t, "fast memory", c->fast, s->p.fast);
	put_budget(t, "flash", flash_bytes(s), s->p.flash);
	text_printf(t, "  with the constants of each network apart: %lld bytes\n",
		    (long long)s->separate_flash);
	text_printf(t, "time: %.4g ms of each second; ", 1e3 * c->time);
	if (c->is_exact)
		text_puts(t, "no choice of rows takes less\n");
	else
		text_printf(t, "proven gap: %.2f %%\n", 100 * gap_of(s));
	put_less(s, t, false);
	put_less(s, t, true);
	text_printf(t, "proved: %d runs in random order on one memory gave the bytes of the plain "
		       "models\n", s->runs);
}

/* ---- JSON ----------------------------------------------------------------------------- */

static void
put_number(struct text *t, const char *key, double v)
{
	text_printf(t, "\"%s\": ", key);
	text_double(t, v);
}

static void
put_spans(struct text *t, const char *key, const struct span *v, int n, int64_t base)
{
	text_printf(t, ", \"%s\": [", key);
	for (int k = 0; k < n; k++)
		text_printf(t, "%s{\"at\": %lld, \"bytes\": %lld}", k ? ", " : "",
			    (long long)(base + v[k].at), (long long)v[k].n);
	text_putc(t, ']');
}

static void
put_network(const struct share *s, struct text *t, int net)
{
	const struct row *r = chosen(s, net);
	const struct net *n = &s->p.net[net];
	const struct tfl_subgraph *g = &chosen_file(s, net)->m->subgraph[0];
	int64_t at = s->choice.place.at[net], constants = 0;
	for (int k = 0; k < r->n_segments; k++)
		constants += r->segment[k].bytes;
	text_printf(t, "{\"name\": \"%s\", \"model\": ", s->net[net].name);
	text_quoted(t, s->net[net].path, strlen(s->net[net].path));
	text_printf(t, ", \"rows\": %d, \"row\": %d, \"at\": %lld, \"arena\": %lld, \"fast\": %lld, "
		       "\"flash\": %lld, \"streams\": %lld, ", n->n_rows, s->choice.row[net],
		    (long long)at, (long long)r->arena, (long long)r->fast, (long long)constants,
		    (long long)r->stream);
	put_number(t, "cycles", r->cycles);
	text_puts(t, ", ");
	put_number(t, "seconds", r->seconds);
	text_puts(t, ", ");
	put_number(t, "seconds_low", chosen_file(s, net)->low);
	text_puts(t, ", ");
	put_number(t, "seconds_high", chosen_file(s, net)->high);
	text_puts(t, ", ");
	put_number(t, "rate", n->rate);
	if (n->deadline > 0) {
		text_puts(t, ", ");
		put_number(t, "deadline", n->deadline);
		text_puts(t, ", ");
		put_number(t, "response", response_of(&s->p, s->choice.row, net));
	}
	put_spans(t, "inputs", r->in, g->n_in, at);
	put_spans(t, "outputs", r->out, g->n_out, at);
	put_spans(t, "states", r->kept, r->n_kept, at);
	text_putc(t, '}');
}

static void
put_json_less(const struct share *s, struct text *t, const char *key, bool flash)
{
	struct choice c;
	text_printf(t, "\"%s\": ", key);
	if (!with_less(s, flash, &c)) {
		text_puts(t, "null");
		return;
	}
	text_putc(t, '{');
	put_number(t, "time", c.time);
	text_puts(t, ", ");
	put_number(t, "costs", c.time - s->choice.time);
	text_puts(t, ", \"payers\": [");
	const char *sep = "";
	for (int i = 0; i < s->p.n; i++) {
		const struct row *from = chosen(s, i), *to = &s->p.net[i].row[c.row[i]];
		if (c.row[i] == s->choice.row[i])
			continue;
		text_printf(t, "%s{\"name\": \"%s\", \"arena\": %lld, ", sep, s->net[i].name,
			    (long long)to->arena);
		put_number(t, "seconds", to->seconds);
		text_puts(t, ", ");
		put_number(t, "pays", s->p.net[i].rate * (to->seconds - from->seconds));
		text_putc(t, '}');
		sep = ", ";
	}
	text_puts(t, "]}");
}

static void
put_json_budget(struct text *t, const char *key, int64_t v)
{
	if (v < INT64_MAX)
		text_printf(t, "\"%s\": %lld, ", key, (long long)v);
	else
		text_printf(t, "\"%s\": null, ", key);
}

void
print_json(const struct share *s, struct text *t)
{
	const struct choice *c = &s->choice;
	text_puts(t, "{\"networks\": [");
	for (int i = 0; i < s->p.n; i++) {
		text_puts(t, i ? ",\n" : "\n");
		put_network(s, t, i);
	}
	text_puts(t, "],\n\"chains\": [");
	for (int k = 0; k < s->p.n_chains; k++)
		text_printf(t, "%s{\"from\": \"%s\", \"output\": %d, \"to\": \"%s\", \"input\": %d}",
			    k ? ", " : "", s->net[s->p.chain[k].from].name, s->p.chain[k].out,
			    s->net[s->p.chain[k].to].name, s->p.chain[k].in);
	text_printf(t, "],\n\"arena_in\": \"%s\", \"arena\": %lld, \"arenas_apart\": %lld, ",
		    s->spilling ? "dram" : "sram", (long long)c->place.bytes,
		    (long long)sum_of_arenas(s));
	put_json_budget(t, "arena_budget", s->p.arena);
	text_printf(t, "\"fast\": %lld, \"flash\": %lld, \"flash_apart\": %lld, ",
		    (long long)c->fast, (long long)flash_bytes(s), (long long)s->separate_flash);
	put_json_budget(t, "flash_budget", s->p.flash);
	put_number(t, "time", c->time);
	text_puts(t, ", ");
	put_number(t, "bound", c->bound);
	text_puts(t, ", ");
	put_number(t, "gap", gap_of(s));
	text_printf(t, ", \"exact\": %s, \"runs\": %d,\n\"kilobyte_less\": {", c->is_exact ? "true"
										  : "false",
		    s->runs);
	put_json_less(s, t, "arena", false);
	text_puts(t, ", ");
	put_json_less(s, t, "flash", true);
	text_puts(t, "}}\n");
}
