/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests codings: an encoder that reuses the section choices of an earlier measurement
 * writes the same bytes as its own search.  A coding of other weights, or a damaged one,
 * gives a stream of these weights or is refused.
 *
 * weights_coding [COUNT [SEED]]
 */
#include "weights/weights.h"

#include "drawn.h"
#include "views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* weights of 1x1 kernels, and the order of one stream of them */
struct sample {
	uint8_t *w;
	size_t n;
	int32_t zero;
	struct weights_view view;
	struct weights_order ord;
	int level;
};

static void
fill(uint8_t *w, size_t n, int kind)
{
	int few = roll(1, 40), width = roll(1, 60);

	for (size_t i = 0; i < n; i++) {
		if (i % 700 == 699)
			width = roll(1, 60);
		int bell = roll(-width, width) + roll(-width, width);
		w[i] = (uint8_t)(kind == 0   ? bell
				 : kind == 1 ? (roll(0, 9) ? 0 : bell)
				 : kind == 2 ? roll(0, few) * 3
				 : kind == 3 ? 0
					     : roll(-128, 127));
	}
}

static struct sample
draw_sample(struct arena *a)
{
	struct sample s = { .level = roll(1, 12) };
	int32_t o = roll(1, 70), i = roll(1, roll(0, 5) ? 60 : 900);

	s.n = (size_t)o * (size_t)i;
	/* higher levels take a hundred times as long */
	if (s.level > WEIGHTS_LEVEL_MAX || s.n > 3000)
		s.level = WEIGHTS_LEVEL_DEFAULT;
	s.w = anew(a, uint8_t, s.n);
	fill(s.w, s.n, roll(0, 4));
	s.view = view_ohwi(s.w, o, 1, 1, i);
	s.zero = roll(0, 3) ? 0 : roll(-128, 127);
	s.ord = (struct weights_order){
		.traversal = roll(0, 1) ? WEIGHTS_PART_KERNEL : WEIGHTS_DEPTH_FIRST,
		.block_depth = 8 * roll(1, 4), .ou = 8, .ifm_bits = 8,
		.dilation_y = 1, .dilation_x = 1, .end = o, .cores = 1 };
	return s;
}

/* the sample's zero point is stored in the sample itself */
static void
set_zero(struct sample *s)
{
	s->view.zero = &s->zero;
	s->view.n_zero = 1;
}

static bool
holds(struct arena *a, const struct sample *s, struct bytes stream)
{
	struct weights_values got;
	struct err e = { 0 };
	size_t n = weights_order_count(&s->ord, 1, 1, s->view.i);
	int16_t *want = anew(a, int16_t, n);

	weights_reorder(&s->view, &s->ord, want);
	return weights_decode(a, stream, (int64_t)n, &got, &e) &&
	       !memcmp(got.v, want, n * sizeof(*want));
}

static bool
same(struct bytes a, struct bytes b)
{
	return a.n == b.n && !memcmp(a.p, b.p, a.n);
}

static struct bytes
follow(struct arena *a, const struct sample *s, struct bytes coding)
{
	return weights_encode_coding(a, &s->view, &s->ord, s->level, coding);
}

static struct bytes
damage(struct arena *a, struct bytes in)
{
	uint8_t *p = anew(a, uint8_t, in.n);

	memcpy(p, in.p, in.n);
	for (int i = roll(0, 3); i > 0 && in.n; i--)
		p[(size_t)roll(0, (int)in.n - 1)] ^= (uint8_t)(1 << roll(0, 7));
	return (struct bytes){ .p = p, .n = roll(0, 2) ? in.n : (size_t)roll(0, (int)in.n) };
}

/* how many codings were refused, how many damaged ones were used, how many ignored */
static int n_refused, n_followed, n_passed;

static bool
check_damaged(struct arena *a, const struct sample *s, struct bytes coding,
	      struct bytes own)
{
	for (int i = 0; i < 8; i++) {
		struct bytes out = follow(a, s, damage(a, coding));
		n_refused += !out.p;
		n_passed += out.p && same(out, own);
		n_followed += out.p && !same(out, own);
		if (out.p && !holds(a, s, out))
			return false;
	}
	return true;
}

static bool
check(int i)
{
	struct arena *a = arena_open();
	struct sample s = draw_sample(a), other = draw_sample(a);
	struct bytes coding, others;

	set_zero(&s);
	set_zero(&other);
	other.level = WEIGHTS_LEVEL_MIN;
	size_t n = weights_cost_coding(a, &s.view, &s.ord, s.level, &coding);
	(void)weights_cost_coding(a, &other.view, &other.ord, other.level, &others);
	struct bytes own = weights_encode_view(a, &s.view, &s.ord, s.level);
	struct bytes out = follow(a, &s, coding), foreign = follow(a, &s, others);
	const char *what = NULL;

	if (n != own.n || !out.p || !same(out, own))
		what = "not the bytes of a search";
	else if (!foreign.p || !holds(a, &s, foreign))
		what = "other weights' coding";
	else if (!check_damaged(a, &s, coding, own))
		what = "a damaged coding";
	if (what)
		printf("case %d, %zu weights, level %d: %s\n", i, s.n, s.level, what);
	arena_close(a);
	return !what;
}

int
main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 200, failed = 0;

	drawn_state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	for (int i = 0; i < count; i++)
		failed += !check(i);
	/* all three results must have occurred */
	if (count >= 100 && (!n_refused || !n_followed || !n_passed)) {
		printf("damaged codings: %d refused, %d followed, %d passed over\n",
		       n_refused, n_followed, n_passed);
		failed++;
	}
	printf("%d codings, %d failed\n", count, failed);
	return failed != 0;
}
