/* SPDX-License-Identifier: Apache-2.0 */
#include "lower/sample.h"

#include "base/fixed.h"
#include "graph/facts.h"
#include "lower/linux.h"
#include "target/accel.h"

enum { MAX_UP = 2048, MAX_STEPS = 16, MAX_IMAGES = 512 };

bool
low_grid_normalize(struct low_grid *g, int64_t in)
{
	int64_t by = common_divisor(common_divisor(g->up, g->down), g->first);
	if (!by || g->down < 1)
		return false;
	g->up /= by;
	g->down /= by;
	g->first /= by;
	if (g->first >= g->up) {
		g->skip = g->first / g->up;
		g->first %= g->up;
	}
	return g->up <= MAX_UP && g->down < MAX_STEPS * g->up && g->first >= -g->up &&
	       g->skip < in;
}

int64_t
low_grid_nearest(const struct low_grid *g, int64_t in, int64_t o)
{
	int64_t at = o * g->down + g->first + g->up;
	int64_t i = at / g->up - 1; /* rounds down, as first >= -up */
	i += 2 * (at % g->up) >= g->up;
	return g->skip + min_i64(i > 0 ? i : 0, in - g->skip - 1);
}

bool
low_can_sample(const struct lower *l, int type, int64_t images)
{
	return low_has(l, LACK_RESIZE) && images <= MAX_IMAGES &&
	       (type == TFL_INT8 || type == TFL_UINT8 || type == TFL_INT16);
}

/*
 * In npu-perf's estimate, the unit takes four times a pool's cycles per OFM element
 * (ethosu-timing(7) 26), but each operation has a start-up time.  Example: 12 phases of
 * 96x96x32 bytes in SRAM take 77,840 cycles on ethos-u85-256, of which 73,728 are for
 * the elements.
 */
bool
low_sampling_pays(const struct lower *l, const struct nd *out, int n)
{
	enum { BEGINNING = 340, CORNERS = 4 };
	bool wide = out->type == TFL_INT16;
	double all = (double)out->dim[0] * (double)out->dim[1] * (double)out->dim[2] *
		     (double)round_up_i64(out->dim[3], BRICK);
	if (!low_has(l, LACK_RESIZE))
		return false;
	double each = l->accel->out85_cycles[wide ? OUT85_16 : OUT85_8];
	return (CORNERS - 1) * each * all < (double)BEGINNING * n;
}

void
low_sample(struct lower *l, bool bilinear, const struct low_grid *y,
	   const struct low_grid *x, const struct nd *in, const struct nd *out)
{
	for (int64_t i = 0; i < out->dim[0]; i++) {
		/* read only the part of the IFM that the grid reaches */
		struct nd image = nd_part(in, 0, i, 1), to = nd_part(out, 0, i, 1);
		struct g_operand from;
		nd_slice(&image, 1, y->skip, image.dim[1] - y->skip, 1);
		nd_slice(&image, 2, x->skip, image.dim[2] - x->skip, 1);
		if (!nd_operand(&image, &from)) {
			image = nd_readable(l, &image);
			(void)nd_operand(&image, &from);
		}
		/* in the output, channels are contiguous */
		struct g_op *op = low_op(l, OP_RESIZE, from, nd_to_operand(&to));
		G_PUT(op, OP, sample, bilinear ? SAMPLE_BILINEAR : SAMPLE_NEAREST);
		G_PUT(op, OP, up, (struct yx){ .y = (int32_t)y->up, .x = (int32_t)x->up });
		G_PUT(op, OP, down, (struct yx){ .y = (int32_t)y->down, .x = (int32_t)x->down });
		G_PUT(op, OP, first, (struct g_range){ .lo = y->first, .hi = x->first });
		if (graph_type_bytes(image.type) == 2)
			G_PUT(op, OP, acc40, 1);
	}
}
