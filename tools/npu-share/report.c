/* SPDX-License-Identifier: Apache-2.0 */
/* The result as a table and as JSON, with the networks that a kilobyte less makes slower. */
#include "share.h"

#include "base/json_out.h"

#include "base/fixed.h"

#include <math.h>
#include <string.h>

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

/* weighted time of a choice, without what breaks ties */
static double
time_of(const struct share *s, const struct choice *c)
{
	double sum = 0;
	for (int i = 0; i < s->p.n; i++)
		sum += s->p.net[i].rate * s->p.net[i].row[c->row[i]].seconds;
	return sum;
}

/* the time of a choice as text: of a run of each network, if none has a weight */
static const char *
time_text(const struct share *s, const struct choice *c)
{
	double time = time_of(s, c), runs = 0;
	for (int i = 0; i < s->p.n; i++)
		runs += s->p.net[i].row[c->row[i]].seconds;
	return arena_printf(s->a, "%.4g ms %s", 1e3 * (time > 0 ? time : runs),
			    time > 0 ? "in each second" : "for a run of each network");
}

/* what a choice with less memory costs; a tie may be broken by less than the time counts */
static double
cost_of(const struct share *s, const struct choice *c)
{
	return fmax(0, time_of(s, c) - time_of(s, &s->choice));
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

/* the name of a memory; if one has two budgets, with what these are of */
static const char *
memory_name(const struct share *s, enum memory m)
{
	const char *name = m == MEMORY_CONSTANTS ? s->constants_in : s->arenas_in;
	if (strcmp(s->arenas_in, s->constants_in) != 0 || m == MEMORY_BOTH)
		return name;
	return arena_printf(s->a, "%s for %s", name, m == MEMORY_CONSTANTS ? "constants" : "arenas");
}

/* apart: the bytes without sharing; 0: there are none to compare with */
static void
put_budget(struct text *t, const char *what, int64_t used, int64_t budget, int64_t apart)
{
	text_printf(t, "%s: %lld bytes", what, (long long)used);
	if (budget < INT64_MAX)
		text_printf(t, " of %lld", (long long)budget);
	if (apart)
		text_printf(t, "; %lld without sharing", (long long)apart);
	text_putc(t, '\n');
}

/* The bytes that a network keeps between its runs, and no other one may use. */
static void
put_kept(const struct share *s, struct text *t, int net)
{
	const int64_t unit = 16; /* place_arenas() keeps whole units */
	const struct row *r = chosen(s, net);
	int64_t bytes = 0, first = 0, end = 0; /* offsets in the shared arena */
	for (int64_t at = 0; at < r->arena; at += unit) {
		bool is_kept = false;
		for (int k = 0; k < r->n_kept; k++)
			is_kept |= r->kept[k].at < at + unit && at < r->kept[k].at + r->kept[k].n;
		if (!is_kept)
			continue;
		end = s->choice.place.at[net] + at + unit;
		first = bytes ? first : end - unit;
		bytes += unit;
	}
	if (bytes)
		text_printf(t, "%lld bytes keep the variables of %s, between offsets %lld and %lld: no "
			       "other network uses these\n", (long long)bytes, s->net[net].name,
			    (long long)first, (long long)end);
}

static void
put_less(const struct share *s, struct text *t, const struct less *x)
{
	const struct choice *c = &x->choice;
	if (x->bytes <= 0)
		return;
	const char *budget = arena_printf(s->a, "%lld bytes of %s, 1024 less than used",
					  (long long)x->bytes, memory_name(s, x->memory));
	if (!x->fits) {
		text_printf(t, "no plans fit %s\n", budget);
		return;
	}
	const double resolution = 1e-7; /* seconds: the table's last digit */
	double cost = cost_of(s, c);
	text_printf(t, "%s, would cost ", budget);
	if (cost > 0 && cost < resolution)
		text_puts(t, "less than 0.0001 ms in each second");
	else
		text_printf(t, "%.4g ms in each second", 1e3 * cost);
	/* a network can only win what another one loses */
	for (int gain = 0, losers = 0; gain <= 1; gain++)
		for (int i = 0; i < s->p.n; i++) {
			double more = s->p.net[i].row[c->row[i]].seconds - chosen(s, i)->seconds;
			if (fabs(more) < resolution || (more < 0) != gain || (gain && !losers))
				continue;
			text_printf(t, "; each run of %s takes %.4g ms %s", s->net[i].name,
				    1e3 * fabs(more), gain ? "less" : "more");
			losers += !gain;
		}
	text_putc(t, '\n');
}

void
print_table(const struct share *s, struct text *t)
{
	const struct choice *c = &s->choice;
	const enum memory saved = saved_memory(&s->p);
	bool deadlines = false;
	int64_t persistent = 0;
	for (int i = 0; i < s->p.n; i++) {
		deadlines |= s->p.net[i].deadline > 0;
		persistent += chosen_file(s, i)->persistent;
	}
	text_printf(t, "%-20s %8s %8s %10s %9s %8s%s\n", "network", "offset", "arena", "cycles",
		    "ms a run", "runs/s", deadlines ? "  response <= deadline, ms" : "");
	for (int i = 0; i < s->p.n; i++) {
		const struct row *r = chosen(s, i);
		const struct net *n = &s->p.net[i];
		text_printf(t, "%-20s %8lld %8lld %10.0f %9.4f %8g", s->net[i].name,
			    (long long)c->place.at[i], (long long)r->arena, r->cycles,
			    1e3 * r->seconds, n->rate);
		if (n->deadline > 0)
			text_printf(t, " %9.4f <= %g", 1e3 * response_of(&s->p, c->row, i),
				    1e3 * n->deadline);
		text_putc(t, '\n');
	}
	put_budget(t, memory_name(s, MEMORY_ARENAS), c->place.bytes, s->p.arena,
		   sum_of_arenas(s));
	for (int i = 0; i < s->p.n; i++)
		put_kept(s, t, i);
	if (s->o->tflm)
		put_budget(t, "memory of the interpreters, which the NPU does not use",
			   persistent, INT64_MAX, 0);
	if (c->fast)
		put_budget(t, "SRAM", c->fast, s->p.fast, 0);
	put_budget(t, memory_name(s, MEMORY_CONSTANTS), flash_bytes(s), s->p.flash, s->separate_flash);
	if (s->p.both < INT64_MAX)
		put_budget(t, s->arenas_in, c->place.bytes + flash_bytes(s), s->p.both, 0);
	text_printf(t, "time: %s", time_text(s, c));
	if (is_smaller(s))
		text_printf(t, "; --within=0: %s, %lld bytes of %s", time_text(s, &s->fastest),
			    (long long)used_of(&s->fastest, saved), memory_name(s, saved));
	text_putc(t, '\n');
	const char *in = !is_smaller(s) ? "these budgets"
					: arena_printf(s->a, "so many bytes of %s",
						       memory_name(s, saved));
	if (c->is_exact)
		text_printf(t, "proved: no other plans take less time in %s%s\n", in,
			    c->place.is_proven ? ", and no other offsets less memory" : "");
	else
		text_printf(t, "proved: the best plans take at most %.2f %% less time in %s\n",
			    100 * gap_of(s), in);
	text_printf(t, "tested: %d runs in random order on one memory; all outputs equal those of "
		       "the original models\n", s->runs);
	for (int i = 0; i < s->n_savings; i++) {
		const struct choice *less = &s->saving[i].choice;
		text_printf(t, "--within=%.0f: %s, %lld bytes of %s\n",
			    s->saving[i].percent, time_text(s, less), (long long)used_of(less, saved),
			    memory_name(s, saved));
	}
	for (int i = 0; i < s->n_less; i++)
		put_less(s, t, &s->less[i]);
}

/* ---- JSON ----------------------------------------------------------------------------- */

static void
put_spans(const struct json_out *j, const char *key, const struct span *v, int n, int64_t base)
{
	json_open(j, key, '[');
	for (int k = 0; k < n; k++) {
		json_open(j, NULL, '{');
		json_put_i64(j, "at", base + v[k].at);
		json_put_i64(j, "bytes", v[k].n);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void
put_network(const struct share *s, const struct json_out *j, int net)
{
	const struct row *r = chosen(s, net);
	const struct net *n = &s->p.net[net];
	const struct tfl_subgraph *g = &chosen_file(s, net)->m->subgraph[0];
	int64_t at = s->choice.place.at[net], constants = 0;
	for (int k = 0; k < r->n_segments; k++)
		constants += r->segment[k].bytes;
	json_open(j, NULL, '{');
	json_put_string(j, "name", s->net[net].name);
	json_put_string(j, "model", s->net[net].path);
	json_put_i64(j, "rows", n->n_rows);
	json_put_i64(j, "row", s->choice.row[net]);
	json_put_i64(j, "limit", r->sram);
	json_put_i64(j, "at", at);
	json_put_i64(j, "arena", r->arena);
	if (s->o->tflm)
		json_put_i64(j, "persistent", chosen_file(s, net)->persistent);
	json_put_i64(j, "fast", r->fast);
	json_put_i64(j, "flash", constants);
	json_put_i64(j, "streams", r->stream);
	json_put_f64(j, "cycles", r->cycles);
	json_put_f64(j, "seconds", r->seconds);
	json_put_f64(j, "seconds_low", chosen_file(s, net)->low);
	json_put_f64(j, "seconds_high", chosen_file(s, net)->high);
	json_put_f64(j, "rate", n->rate);
	if (n->deadline > 0) {
		json_put_f64(j, "deadline", n->deadline);
		json_put_f64(j, "response", response_of(&s->p, s->choice.row, net));
	}
	put_spans(j, "inputs", r->in, g->n_in, at);
	put_spans(j, "outputs", r->out, g->n_out, at);
	put_spans(j, "states", r->kept, r->n_kept, at);
	json_close(j, '}');
}

static void
put_json_less(const struct share *s, const struct json_out *j, const struct less *x)
{
	static const char *const keys[MEMORY_COUNT] = { "arena", "flash", "memory" };
	const struct choice *c = &x->choice;
	const char *key = keys[x->memory];
	if (!x->fits) {
		json_put_null(j, key);
		return;
	}
	json_open(j, key, '{');
	json_put_i64(j, "bytes", x->bytes);
	json_put_f64(j, "time", time_of(s, c));
	json_put_f64(j, "costs", cost_of(s, c));
	json_open(j, "payers", '[');
	for (int i = 0; i < s->p.n; i++) {
		const struct row *from = chosen(s, i), *to = &s->p.net[i].row[c->row[i]];
		if (c->row[i] == s->choice.row[i])
			continue;
		json_open(j, NULL, '{');
		json_put_string(j, "name", s->net[i].name);
		json_put_i64(j, "arena", to->arena);
		json_put_f64(j, "seconds", to->seconds);
		json_put_f64(j, "pays", s->p.net[i].rate * (to->seconds - from->seconds));
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

static void
put_json_budget(const struct json_out *j, const char *key, int64_t v)
{
	if (v < INT64_MAX)
		json_put_i64(j, key, v);
	else
		json_put_null(j, key);
}

void
print_json(const struct share *s, struct text *t)
{
	const struct json_out out = { .t = t, .style = JSON_SPACED }, *j = &out;
	const struct choice *c = &s->choice;
	json_root(j, '{');
	json_open(j, "networks", '[');
	for (int i = 0; i < s->p.n; i++) {
		json_line(j, 0);
		put_network(s, j, i);
	}
	json_close(j, ']');
	json_line(j, 0);
	json_open(j, "chains", '[');
	for (int k = 0; k < s->p.n_chains; k++) {
		json_open(j, NULL, '{');
		json_put_string(j, "from", s->net[s->p.chain[k].from].name);
		json_put_i64(j, "output", s->p.chain[k].out);
		json_put_string(j, "to", s->net[s->p.chain[k].to].name);
		json_put_i64(j, "input", s->p.chain[k].in);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_line(j, 0);
	json_put_string(j, "arena_in", s->spilling ? "dram" : "sram");
	json_put_i64(j, "arena", c->place.bytes);
	json_put_i64(j, "arenas_apart", sum_of_arenas(s));
	put_json_budget(j, "arena_budget", s->p.arena);
	json_put_i64(j, "fast", c->fast);
	json_put_i64(j, "flash", flash_bytes(s));
	json_put_i64(j, "flash_apart", s->separate_flash);
	put_json_budget(j, "flash_budget", s->p.flash);
	put_json_budget(j, "memory_budget", s->p.both);
	json_put_f64(j, "time", time_of(s, c));
	json_put_f64(j, "within", share_within(s));
	json_open(j, "fastest", '{');
	json_put_i64(j, "arena", s->fastest.place.bytes);
	json_put_i64(j, "flash", s->fastest.flash);
	json_put_f64(j, "time", time_of(s, &s->fastest));
	json_close(j, '}');
	json_put_f64(j, "bound", c->is_exact ? time_of(s, c) : c->bound);
	json_put_f64(j, "gap", gap_of(s));
	json_put_bool(j, "exact", c->is_exact);
	json_put_i64(j, "runs", s->runs);
	json_line(j, 0);
	json_open(j, "smaller", '[');
	for (int i = 0; i < s->n_savings; i++) {
		json_open(j, NULL, '{');
		json_put_f64(j, "within", s->saving[i].percent);
		json_put_i64(j, "arena", s->saving[i].choice.place.bytes);
		json_put_i64(j, "flash", s->saving[i].choice.flash);
		json_put_f64(j, "time", time_of(s, &s->saving[i].choice));
		json_close(j, '}');
	}
	json_close(j, ']');
	json_line(j, 0);
	json_open(j, "kilobyte_less", '{');
	for (int i = 0; i < s->n_less; i++)
		put_json_less(s, j, &s->less[i]);
	text_puts(t, "}}\n");
}
