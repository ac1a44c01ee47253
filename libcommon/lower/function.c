/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the functions that Ethos-U85 lacks: ethosu-commands(7) 26.4. */
#include "lower/lower.h"

#include "graph/build.h"
#include "kernels/tables.h"

/* 2^16 * sigmoid(k / 24) - 2^15, k = -256...255, as in the reference. */
static int32_t
point(const struct sigmoid16 *s, int k)
{
	int32_t half = s->half[k < 0 ? (k < -255 ? 255 : -k) : (k > 255 ? 255 : k)];
	return k < 0 ? 32768 - half : half - 32768;
}

struct g_lut *
low_function(struct graph *g, bool tanh)
{
	enum { POINTS = 512 };
	struct sigmoid16 s;
	sigmoid16_prepare(&s, 1, tanh);
	int64_t *v = anew(g->a, int64_t, POINTS);
	for (int i = 0; i < POINTS; i++) {
		int32_t base = point(&s, i - POINTS / 2);
		int32_t slope = point(&s, i - POINTS / 2 + 1) - base;
		slope = slope < 0 ? 0 : slope;
		v[i] = (uint16_t)base | (int64_t)slope << 16;
	}
	if (!tanh)
		v[0] = (v[0] & UINT16_MAX) | 1 << 16;
	struct g_lut *l = graph_add_g_lut(g);
	G_PUT(l, LUT, bits, 16);
	G_PUT(l, LUT, values, (struct g_list){ .v = v, .n = POINTS });
	return l;
}
