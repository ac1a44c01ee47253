/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a plan from a path: chooses by exact cost which stretches become one section.
 *
 * The choices are edges of a graph whose nodes are the stretches' boundaries.  An edge
 * is a section of the path kept as slices of its palette; that section as one slice
 * with a new palette; or a few adjacent stretches as such a slice.  The shortest path
 * through this graph is the plan.
 */
#include "weights/search.h"
#include "weights/weights.h"

#include <string.h>

/* The cheapest coding found so far for all values up to a boundary. */
struct node {
	uint64_t bits;
	size_t from;	 /* the previous boundary on this path */
	bool slices;	 /* keep the path's palette and slices */
	struct fit fit;	 /* if !slices: one slice with this fit */
};

struct choice {
	struct window *w;
	struct stretch *path;
	size_t n;
	struct stats *stats; /* of each stretch */
	struct mode *modes;  /* of each stretch as a slice of its palette */
	struct node *nodes;  /* n + 1 boundaries */
	struct stats sum;
};

static const struct palette *
palette_of(const struct choice *c, size_t i)
{
	const struct codes *codes = c->w->codes;
	return &codes->palettes[codes->states[c->path[i].state].family];
}

/*
 * Moves the start of a slice that continues a palette with runs behind its leading
 * zeros (see struct wslice).  Drops slices that become empty.
 */
static void
align_slices(struct choice *c)
{
	const uint16_t *d = c->w->d;
	size_t kept = 0;

	for (size_t i = 0; i < c->n; i++) {
		struct stretch s = c->path[i];
		bool runs = palette_of(c, i)->runs;
		if (runs && !s.fresh && kept > 0) {
			while (s.begin < s.end &&
			       d[s.begin] == WEIGHTS_ZERO)
				s.begin++;
			c->path[kept - 1].end = s.begin;
			if (s.begin == s.end)
				continue;
		}
		c->path[kept++] = s;
	}
	c->n = kept;
}

static void
relax_edge(struct choice *c, size_t from, size_t to, uint64_t bits,
      const struct fit *fit)
{
	struct node *n = &c->nodes[to];

	bits += c->nodes[from].bits;
	if (bits >= n->bits)
		return;
	n->bits = bits;
	n->from = from;
	n->slices = !fit;
	if (fit)
		n->fit = *fit;
}

/*
 * Stretches i..j-1 are a section of the path.  The fit of all stretches is already an
 * edge.
 */
static void
relax_section(struct choice *c, size_t i, size_t j)
{
	bool all = i == 0 && j == c->n;
	const struct palette *pal = palette_of(c, i);
	uint64_t bits = 0;
	bool writable = true;

	memset(&c->sum, 0, sizeof(c->sum));
	for (size_t k = i; k < j; k++) {
		uint64_t slice = 0;
		if (!all)
			stats_join(&c->sum, &c->stats[k]);
		writable = writable &&
			   fit_mode(&c->stats[k], pal, c->path[k].fresh,
				    &c->modes[k], &slice);
		bits += slice;
	}
	if (!all) {
		struct fit f = fit_stats(&c->sum, c->w->effort->thorough);
		relax_edge(c, i, j, f.bits, &f);
	}
	if (writable)
		relax_edge(c, i, j, bits, NULL);
}

static void
choose_sections(struct choice *c, const struct fit *whole)
{
	size_t end = 0; /* end of the section that contains stretch i */
	size_t most = c->w->effort->joined;

	for (size_t i = 1; i <= c->n; i++)
		c->nodes[i].bits = UINT64_MAX;
	relax_edge(c, 0, c->n, whole->bits, whole);
	for (size_t i = 0; i < c->n; i++) {
		if (i == end) {
			while (++end < c->n && !c->path[end].fresh)
				;
			relax_section(c, i, end);
		}
		if (c->nodes[i].bits == UINT64_MAX)
			continue;
		/* a few adjacent stretches as one slice */
		memset(&c->sum, 0, sizeof(c->sum));
		for (size_t k = i; k < c->n && k - i < most; k++) {
			stats_join(&c->sum, &c->stats[k]);
			struct fit f = fit_stats(&c->sum, c->w->effort->thorough);
			relax_edge(c, i, k + 1, f.bits, &f);
		}
	}
}

static void
add_section(struct choice *c, struct plan *p, size_t end)
{
	const struct node *node = &c->nodes[end];
	const struct stretch *s = c->path;
	struct fit f = node->fit;
	size_t from = node->from;

	if (!node->slices) {
		plan_add(p, c->w->d, s[from].begin, s[end - 1].end, &f.palette,
			 f.mode, true);
		if (c->w->next)
			codes_add(c->w->next, &f);
		return;
	}
	f.palette = *palette_of(c, from);
	for (size_t i = from; i < end; i++)
		plan_add(p, c->w->d, s[i].begin, s[i].end, &f.palette,
			 c->modes[i], s[i].fresh);
	f.mode = c->modes[from];
	if (c->w->next)
		codes_add(c->w->next, &f);
}

struct plan
plan_begin(const struct window *w)
{
	struct plan p = { .a = w->a };

	if (w->before) {
		agrow(p.a, p.palettes, p.n_palettes, &p.cap_palettes);
		p.palettes[p.n_palettes++] = *w->before;
	}
	return p;
}

struct plan
plan_sections(struct window *w, struct arena *scratch, size_t n,
	      const struct fit *whole)
{
	struct choice *c = anew(scratch, struct choice, 1);
	struct plan p = plan_begin(w);

	*c = (struct choice){
		.w = w,
		.path = w->path,
		.n = n,
		.stats = anew(scratch, struct stats, n),
		.modes = anew(scratch, struct mode, n),
		.nodes = anew(scratch, struct node, n + 1),
	};
	align_slices(c);
	for (size_t i = 0; i < c->n; i++) {
		const struct stretch *s = &c->path[i];
		const uint16_t *d = w->d + s->begin;
		if (!w->even)
			stats_of(&c->stats[i], d, s->end - s->begin);
		else if (c->n > 1)
			stats_count(&c->stats[i], d, s->end - s->begin);
		else
			c->stats[i] = *w->even;
	}
	choose_sections(c, whole);
	/* the nodes lead from the last section to the first */
	size_t *end_nodes = anew(scratch, size_t, n), n_sections = 0;
	for (size_t i = c->n; i > 0; i = c->nodes[i].from)
		end_nodes[n_sections++] = i;
	for (size_t i = n_sections; i-- > 0;)
		add_section(c, &p, end_nodes[i]);
	return p;
}
