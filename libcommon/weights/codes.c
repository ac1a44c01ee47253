/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the candidate codes for a value, from which a path chooses. */
#include "weights/search.h"
#include "weights/weights.h"

enum { NEVER = 255 };

/*
 * Adds a column, and one state for every ZDIV.  The column has the bits of the direct values
 * up to c->greatest, from their indices.  UNREACHED exceeds every limit.
 */
static void
add_column(struct codes *c, const uint16_t *index, struct mode m)
{
	const struct palette *pal = &c->palettes[c->n_families - 1];

	if (c->n_columns >= DIRECT_COLUMNS) {
		int column = c->n_columns - DIRECT_COLUMNS;
		bool plain = m.wdiv == WEIGHTS_WDIV_PLAIN;
		unsigned u = (unsigned)palette_plain_width(pal);
		unsigned plain_end = pal->n ? pal->n : 1u << u;
		unsigned end = m.trunc ? 3 : WEIGHTS_QUOTIENTS; /* limit of quotients */

		for (int d = 0; d <= c->greatest; d++) {
			unsigned x = index[d], q = x >> m.wdiv, bits;
			if (plain)
				bits = x < plain_end ? u : NEVER;
			else
				bits = q >= end ? NEVER : m.wdiv + 1u + (m.trunc ? q > 0 : q);
			c->bits[d][column] = (uint8_t)bits;
		}
		if (pal->runs)
			c->bits[WEIGHTS_ZERO][column] = 0;
	}
	for (uint8_t z = 0; z < (pal->runs ? WEIGHTS_ZDIVS : 1); z++) {
		m.zdiv = z;
		c->states[c->n_states++] = (struct state){
			.family = (uint8_t)(c->n_families - 1),
			.column = (uint8_t)c->n_columns,
			.mode = m,
		};
	}
	c->n_columns++;
}

/*
 * Adds the codes of a palette: divisors least..most, plain indices if `plain`, and the
 * truncated code with divisor `trunc` unless it is -1.  Returns the family, or -1 if
 * the tables are full.
 */
static int
add_family(struct codes *c, const struct palette *pal, int least, int most,
	   bool plain, int trunc)
{
	uint16_t index[WEIGHTS_N_INDEX];
	int n = most - least + 1 + plain + (trunc >= 0);

	for (int f = 0; f < c->n_families; f++)
		if (palette_equal(&c->palettes[f], pal))
			return f;
	if (c->n_families == MAX_FAMILIES || c->n_columns + n > MAX_COLUMNS ||
	    c->n_states + n * (pal->runs ? WEIGHTS_ZDIVS : 1) > MAX_STATES)
		return -1;
	c->palettes[c->n_families++] = *pal;
	palette_indices(pal, index);
	for (int d = least; d <= most; d++)
		add_column(c, index, (struct mode){ .wdiv = (uint8_t)d });
	if (trunc >= 0)
		add_column(c, index, (struct mode){ .wdiv = (uint8_t)trunc,
						    .trunc = true });
	if (plain)
		add_column(c, index,
			   (struct mode){ .wdiv = WEIGHTS_WDIV_PLAIN });
	return c->n_families - 1;
}

void
codes_init(struct codes *c, uint16_t greatest, const struct palette *before,
	   bool runs)
{
	struct palette pal = { .ofs = WEIGHTS_ZERO, .bits = 2 };

	while (pal.bits < 9 && (greatest - pal.ofs) >> pal.bits)
		pal.bits++;
	c->n_families = c->n_columns = c->n_states = 0;
	c->with_runs = runs || (before && before->runs);
	c->greatest = greatest;
	add_family(c, &pal, 0, WEIGHTS_DIVISORS - 1, true, -1);
	if (runs) {
		pal.runs = true;
		pal.ofs = WEIGHTS_ZERO + 1; /* zeros are coded as runs */
		add_family(c, &pal, 0, WEIGHTS_DIVISORS - 1, true, -1);
	}
	c->before = -1;
	if (before)
		c->before = add_family(c, before, 2, WEIGHTS_DIVISORS - 1,
				       true, -1);
}

void
codes_narrow(struct codes *c)
{
	struct palette pal = c->palettes[0];

	if (pal.bits == 2)
		return;
	pal.bits--;
	add_family(c, &pal, 1, 0, true, -1);
	pal.ofs = WEIGHTS_ZERO + 1;
	add_family(c, &pal, 1, 0, true, -1);
}

void
codes_add(struct codes *c, const struct fit *f)
{
	struct mode m = f->mode;
	bool plain = m.wdiv == WEIGHTS_WDIV_PLAIN;

	/* the direct families have this code already */
	if (f->palette.n == 0 && !plain && !m.trunc)
		return;
	if (plain)
		add_family(c, &f->palette, 1, 0, true, -1);
	else
		add_family(c, &f->palette, m.wdiv ? m.wdiv - 1 : 0,
			   m.wdiv < WEIGHTS_DIVISORS - 1 ? m.wdiv + 1 : m.wdiv,
			   false, m.trunc ? m.wdiv : -1);
}
