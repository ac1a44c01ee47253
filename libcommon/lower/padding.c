/* SPDX-License-Identifier: Apache-2.0 */
#include "lower/padding.h"

#include "lower/convparts.h"

bool
low_pad_fits(struct g_pad pad, struct yx reach)
{
	return pad.top < reach.y && pad.bottom < reach.y && pad.left < reach.x &&
	       pad.right < reach.x && pad.top <= LOW_PAD && pad.bottom <= LOW_PAD &&
	       pad.left <= LOW_PAD && pad.right <= LOW_PAD;
}

/* Adds the borders of [N,H,W,C] to the padding of windows.  Returns false if that is not possible. */
static bool
add_borders(const struct low_borders *b, struct yx reach, struct g_pad *pad)
{
	struct g_pad more = *pad;
	for (int k = 0; k < 4; k++) {
		int64_t most = k == 1 || k == 2 ? LOW_PAD : 0;
		if (b->before[k] > most || b->after[k] > most)
			return false;
	}
	if (!low_pad_fits(*pad, reach)) /* the sum might overflow */
		return false;
	more.top += (int32_t)b->before[1];
	more.bottom += (int32_t)b->after[1];
	more.left += (int32_t)b->before[2];
	more.right += (int32_t)b->after[2];
	if (!low_pad_fits(more, reach))
		return false;
	*pad = more;
	return true;
}

bool
low_conv_takes_pad(struct low_conv *c, const struct low_borders *b)
{
	return b->value == c->ifm_zero && add_borders(b, conv_reach(c), &c->pad);
}

/* Reads an IFM of fewer elements with more padding, but without padding that no window reads. */
static void
pad_axis(struct low_axis *x, int32_t in, int32_t before, int32_t after)
{
	int64_t read = ((int64_t)x->out - 1) * x->stride + x->kernel - before - in;
	x->in = in;
	x->before = before;
	x->after = read < after ? (read > 0 ? (int32_t)read : 0) : after;
}

bool
low_pool_takes_pad(struct low_pool *p, const struct low_borders *b, int64_t least)
{
	struct low_axis *y = &p->axis[0], *x = &p->axis[1];
	struct g_pad pad = { .top = y->before, .bottom = y->after,
			     .left = x->before, .right = x->after };
	if (p->average || b->value > least ||
	    !add_borders(b, (struct yx){ .y = y->kernel, .x = x->kernel }, &pad))
		return false;
	pad_axis(y, y->in - (int32_t)(b->before[1] + b->after[1]), pad.top, pad.bottom);
	pad_axis(x, x->in - (int32_t)(b->before[2] + b->after[2]), pad.left, pad.right);
	return true;
}
