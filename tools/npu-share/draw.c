/* SPDX-License-Identifier: Apache-2.0 */
/* A picture of the shared memory: a column for each network, addresses upwards. */
#include "share.h"

enum { WIDTH = 90, GAP = 20, HEIGHT = 400, TOP = 40, LEFT = 90, LEGEND = 60 };

static double
y_of(const struct share *s, int64_t at)
{
	int64_t bytes = s->choice.place.bytes ? s->choice.place.bytes : 1;
	return TOP + HEIGHT - (double)HEIGHT * (double)at / (double)bytes;
}

static void
put_box(const struct share *s, struct text *t, int column, struct span span, const char *color,
	const char *title)
{
	double y = y_of(s, span.at + span.n);
	text_printf(t, "<rect x=\"%d\" y=\"%.2f\" width=\"%d\" height=\"%.2f\" fill=\"%s\" "
		       "stroke=\"#333\" stroke-width=\"0.5\"><title>%s</title></rect>\n",
		    LEFT + column * (WIDTH + GAP), y, WIDTH, y_of(s, span.at) - y, color, title);
}

static void
put_network(const struct share *s, struct text *t, int net)
{
	const struct row *r = chosen(s, net);
	int64_t at = s->choice.place.at[net];
	const char *name = s->net[net].name; /* an identifier */
	put_box(s, t, net, (struct span){ at, r->arena }, "#9ecae1",
		arena_printf(s->a, "%s: arena, %lld bytes at %lld", name, (long long)r->arena,
			     (long long)at));
	for (int k = 0; k < r->n_kept; k++)
		put_box(s, t, net, (struct span){ at + r->kept[k].at, r->kept[k].n }, "#fd8d3c",
			arena_printf(s->a, "%s: variable, %lld bytes", name,
				     (long long)r->kept[k].n));
	for (int k = 0; k < s->p.n_chains; k++) {
		const struct chain *c = &s->p.chain[k];
		struct span x = c->from == net ? r->out[c->out] : r->in[c->in];
		if (c->from == net || c->to == net)
			put_box(s, t, net, (struct span){ at + x.at, x.n }, "#74c476",
				arena_printf(s->a, "%s to %s, without a copy",
					     s->net[c->from].name, s->net[c->to].name));
	}
	text_printf(t, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
		    LEFT + net * (WIDTH + GAP) + WIDTH / 2, TOP + HEIGHT + 18, name);
}

static void
put_scale(const struct share *s, struct text *t)
{
	enum { LINES = 4 };
	for (int i = 0; i <= LINES; i++) {
		int64_t at = s->choice.place.bytes * i / LINES;
		text_printf(t, "<text x=\"%d\" y=\"%.2f\" text-anchor=\"end\">%lld</text>\n",
			    LEFT - 8, y_of(s, at) + 4, (long long)at);
	}
}

void
draw_memory(const struct share *s, struct text *t)
{
	int width = LEFT + s->p.n * (WIDTH + GAP) + GAP;
	text_printf(t, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%d\" "
		       "height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n"
		       "<title>The arenas of %d networks in %lld bytes</title>\n"
		       "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
		       "<text x=\"%d\" y=\"20\">bytes of the shared arena</text>\n",
		    width, TOP + HEIGHT + LEGEND, s->p.n, (long long)s->choice.place.bytes, 8);
	put_scale(s, t);
	for (int i = 0; i < s->p.n; i++)
		put_network(s, t, i);
	text_printf(t, "<text x=\"%d\" y=\"%d\"><tspan fill=\"#3182bd\">arena</tspan>, <tspan "
		       "fill=\"#e6550d\">variable</tspan>, <tspan fill=\"#31a354\">chained "
		       "tensor</tspan></text>\n</svg>\n", LEFT, TOP + HEIGHT + 42);
}
