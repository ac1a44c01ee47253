/* SPDX-License-Identifier: Apache-2.0 */
/* A picture of the shared memory: a column for each network, addresses upwards. */
#include "share.h"

enum { WIDTH = 90, GAP = 20, HEIGHT = 400, TOP = 40, LEFT = 90, LEGEND = 60,
       LINES = 4 /* of the scale */ };

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
	for (int i = 0; i <= LINES; i++) {
		int64_t at = s->choice.place.bytes * i / LINES;
		text_printf(t, "<text x=\"%d\" y=\"%.2f\" text-anchor=\"end\">%lld</text>\n",
			    LEFT - 8, y_of(s, at) + 4, (long long)at);
	}
	for (int i = 0; i < s->p.n; i++) {
		const struct row *r = chosen(s, i);
		int64_t at = s->choice.place.at[i];
		const char *name = s->net[i].name; /* an identifier */
		put_box(s, t, i, (struct span){ at, r->arena }, "#9ecae1",
			arena_printf(s->a, "%s: arena, %lld bytes at %lld", name,
				     (long long)r->arena, (long long)at));
		for (int k = 0; k < r->n_kept; k++)
			put_box(s, t, i, (struct span){ at + r->kept[k].at, r->kept[k].n }, "#fd8d3c",
				arena_printf(s->a, "%s: variable, %lld bytes", name,
					     (long long)r->kept[k].n));
		for (int k = 0; k < s->p.n_chains; k++) {
			const struct chain *c = &s->p.chain[k];
			if (c->from != i && c->to != i)
				continue;
			struct span x = c->from == i ? r->out[c->out] : r->in[c->in];
			put_box(s, t, i, (struct span){ at + x.at, x.n }, "#74c476",
				arena_printf(s->a, "%s to %s, without a copy",
					     s->net[c->from].name, s->net[c->to].name));
		}
		text_printf(t, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
			    LEFT + i * (WIDTH + GAP) + WIDTH / 2, TOP + HEIGHT + 18, name);
	}
	text_printf(t, "<text x=\"%d\" y=\"%d\"><tspan fill=\"#3182bd\">arena</tspan>, <tspan "
		       "fill=\"#e6550d\">variable</tspan>, <tspan fill=\"#31a354\">chained "
		       "tensor</tspan></text>\n</svg>\n", LEFT, TOP + HEIGHT + 42);
}
