/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies a view to another view.  Both views are expressed in common axes, which are
 * merged where strides allow.  Three axes become H, W and C of an operation, the others
 * a loop of operations.  If different axes are contiguous in source and destination,
 * channels are single elements, unless the NPU can exchange columns and channels.
 */
#include "lower/nd.h"

#include "base/fixed.h"
#include "graph/facts.h"
#include "lower/linux.h"

#include <stdlib.h>

enum { MAX_EXTENT = 65536, GOOD_DEPTH = 128 };

struct axis {
	int64_t n, from, to; /* extent, and strides in elements */
};

struct plan {
	int type; /* type of the elements that are copied */
	int wide; /* number of such elements per element of the tensor */
	int64_t from_at, to_at;
	int n;
	struct axis v[2 * ND_MAX];
	int hwc[3]; /* axes inside an operation; -1: none */
	enum out_order order; /* order in which the operation stores what it reads */
	bool forwards; /* no axis with a negative stride may be inside an operation */
};

/* Inserts an axis; axes are sorted by the destination's stride, largest first. */
static void
add_axis(struct plan *q, int64_t n, int64_t from, int64_t to)
{
	if (n == 1)
		return;
	/* only a destination may have negative strides: ethosu-memory(7) 5.4 */
	if (from < 0) {
		q->from_at += (n - 1) * from;
		q->to_at += (n - 1) * to;
		from = -from;
		to = -to;
	}
	int k = q->n++;
	for (; k > 0 && llabs(q->v[k - 1].to) < llabs(to); k--)
		q->v[k] = q->v[k - 1];
	q->v[k] = (struct axis){ .n = n, .from = from, .to = to };
}

/* Finds the common axes of both views.  Returns false if they have none. */
static bool
find_common_axes(struct plan *q, struct nd from, struct nd to)
{
	q->from_at = from.offset;
	q->to_at = to.offset;
	if (!nd_reshape(&to, from.dim, from.rank))
		(void)nd_reshape(&from, to.dim, to.rank);
	while (from.rank > 0 || to.rank > 0) {
		int i = from.rank - 1, k = to.rank - 1;
		if (i >= 0 && from.dim[i] == 1) {
			from.rank--;
			continue;
		}
		if (k >= 0 && to.dim[k] == 1) {
			to.rank--;
			continue;
		}
		if (i < 0 || k < 0)
			return false;
		int64_t n = from.dim[i] < to.dim[k] ? from.dim[i] : to.dim[k];
		if (from.dim[i] % n || to.dim[k] % n)
			return false;
		add_axis(q, n, from.stride[i], to.stride[k]);
		from.dim[i] /= n;
		from.stride[i] *= n;
		to.dim[k] /= n;
		to.stride[k] *= n;
	}
	return true;
}

/* Cuts a long contiguous run into rows of channels: such blocks use the hardware better. */
static void
cut_runs(struct plan *q)
{
	struct axis *a = q->n ? &q->v[q->n - 1] : NULL;
	if (!a || a->n <= GOOD_DEPTH || a->from != 1 || a->to != 1)
		return;
	int64_t d = GOOD_DEPTH;
	while (d > 1 && a->n % d)
		d--;
	if (d < 8)
		return;
	struct axis rows = { .n = a->n / d, .from = d, .to = d };
	a->n = d;
	q->v[q->n++] = *a;
	*a = rows;
}

static bool
is_backwards(const struct plan *q, int i)
{
	return i >= 0 && q->v[i].to < 0;
}

/* Makes the two longest other axes rows and columns, in their order. */
static void
choose_rows(const struct plan *q, int hwc[3])
{
	hwc[0] = hwc[1] = -1;
	for (int k = 1; k >= 0; k--)
		for (int i = 0; i < q->n; i++)
			if (i != hwc[2] && i != hwc[1] &&
			    !(q->forwards && is_backwards(q, i)) &&
			    (hwc[k] < 0 || q->v[i].n > q->v[hwc[k]].n))
				hwc[k] = i;
	if (hwc[0] > hwc[1]) {
		int t = hwc[0];
		hwc[0] = hwc[1];
		hwc[1] = t;
	}
}

static bool
is_walked(const struct plan *q, int i)
{
	return i == q->hwc[0] || i == q->hwc[1] || i == q->hwc[2];
}

/* Returns the number of operations; INT64_MAX if it overflows. */
static int64_t
count_copy_ops(const struct plan *q)
{
	int64_t n = 1;
	for (int i = 0; i < q->n; i++) {
		int64_t each = is_walked(q, i) ? MAX_EXTENT : 1;
		int64_t times = ceil_div_i64(q->v[i].n, each);
		if (__builtin_mul_overflow(n, times, &n))
			return INT64_MAX;
	}
	return n;
}

/*
 * Finds the axes that are contiguous in the source (channels) and in the destination
 * (columns).
 */
static bool
find_exchange(const struct plan *q, int hwc[3])
{
	hwc[0] = hwc[1] = hwc[2] = -1;
	for (int i = 0; i < q->n; i++) {
		if (q->v[i].to < 0)
			return false;
		if (q->v[i].from == 1)
			hwc[2] = i;
		else if (q->v[i].to == 1)
			hwc[1] = i;
	}
	for (int i = 0; i < q->n; i++)
		if (i != hwc[1] && i != hwc[2] &&
		    (hwc[0] < 0 || q->v[i].n > q->v[hwc[0]].n))
			hwc[0] = i;
	return hwc[1] >= 0 && hwc[2] >= 0;
}

/*
 * Finds an axis that is contiguous on both sides and reversed in the destination; no
 * other axis may be reversed.
 */
static bool
find_reverse(const struct plan *q, int hwc[3])
{
	hwc[2] = -1;
	for (int i = 0; i < q->n; i++)
		if (q->v[i].from == 1 && q->v[i].to == -1)
			hwc[2] = i;
		else if (q->v[i].to < 0)
			return false;
	choose_rows(q, hwc);
	return hwc[2] >= 0;
}

/* Uses an output order of the NPU if this takes fewer operations than single elements. */
static void
choose_order(struct plan *q, bool exchanges)
{
	struct plan other = *q;
	int *hwc = q->hwc;
	/* writing rows in reverse takes half the time of columns */
	if (is_backwards(q, hwc[1]) && !is_backwards(q, hwc[0])) {
		int t = hwc[0];
		hwc[0] = hwc[1];
		hwc[1] = t;
	}
	if (hwc[2] >= 0)
		return;
	if (exchanges && find_exchange(q, other.hwc))
		other.order = ORDER_HCW;
	else if (find_reverse(q, other.hwc))
		other.order = ORDER_REVERSE_C;
	if (other.order && count_copy_ops(&other) <= count_copy_ops(q))
		*q = other;
}

static bool
plan_copy(const struct lower *l, const struct nd *from, const struct nd *to,
	  struct plan *q)
{
	*q = (struct plan){ .forwards = low_linux_forwards(l) };
	/* pools have 8 and 16 bits; wider elements are copied as several of 16 bits */
	const int bytes = graph_type_bytes(from->type);
	q->wide = bytes > 2 ? bytes / 2 : 1;
	q->type = bytes == 1 ? TFL_INT8 : TFL_INT16;
	if (from->type == TFL_UINT8)
		q->type = TFL_UINT8;
	if (!find_common_axes(q, *from, *to))
		return false;
	if (q->wide > 1) {
		for (int i = 0; i < q->n; i++) {
			q->v[i].from *= q->wide;
			q->v[i].to *= q->wide;
		}
		q->from_at *= q->wide;
		q->to_at *= q->wide;
		q->v[q->n++] = (struct axis){ .n = q->wide, .from = 1, .to = 1 };
	}
	int n = 0;
	for (int i = 0; i < q->n; i++) { /* merge axes where strides allow */
		struct axis *last = n ? &q->v[n - 1] : NULL, a = q->v[i];
		if (last && last->from == a.from * a.n && last->to == a.to * a.n) {
			a.n *= last->n;
			*last = a;
		} else {
			q->v[n++] = a;
		}
	}
	q->n = n;
	cut_runs(q);
	/* the axis that is contiguous on both sides becomes the channels */
	q->hwc[2] = -1;
	for (int i = 0; i < q->n; i++)
		if (q->v[i].from == 1 && q->v[i].to == 1)
			q->hwc[2] = i;
	choose_rows(q, q->hwc);
	if (low_has(l, LACK_ORDERS))
		choose_order(q, !l->for_linux);
	return true;
}

int64_t
nd_copies(const struct lower *l, const struct nd *from, const struct nd *to)
{
	struct plan q;
	if (!plan_copy(l, from, to, &q)) {
		struct nd mid = nd_linear(from); /* as they have no common axes */
		int64_t a = nd_copies(l, from, &mid), b = nd_copies(l, &mid, to);
		return a > ND_MAX_COPIES || b > ND_MAX_COPIES ? INT64_MAX : a + b;
	}
	return count_copy_ops(&q);
}

/*
 * Returns the source or the destination of one operation; the destination in the order
 * of storage.
 */
static struct g_operand
copied_operand(const struct plan *q, const struct nd *v, const int64_t *at, bool to)
{
	struct nd w = { .t = v->t, .type = q->type, .rank = 3,
			.offset = to ? q->to_at : q->from_at };
	bool exchanged = to && q->order == ORDER_HCW;
	for (int i = 0; i < q->n; i++)
		w.offset += at[i] * (to ? q->v[i].to : q->v[i].from);
	for (int k = 0; k < 3; k++) {
		int i = q->hwc[exchanged && k ? 3 - k : k];
		w.dim[k] = 1;
		if (i < 0)
			continue;
		int64_t left = q->v[i].n - at[i];
		w.dim[k] = left < MAX_EXTENT ? left : MAX_EXTENT;
		w.stride[k] = to ? q->v[i].to : q->v[i].from;
	}
	if (to && q->order == ORDER_REVERSE_C) { /* starts at the last element */
		w.offset += (w.dim[2] - 1) * w.stride[2];
		w.stride[2] = 1;
	}
	return nd_to_operand(&w);
}

bool
nd_is_same(const struct nd *x, const struct nd *y)
{
	struct g_operand a, b;
	return nd_operand(x, &a) && nd_operand(y, &b) && operand_equal(&a, &b);
}

void
nd_copy(struct lower *l, const struct nd *from, const struct nd *to)
{
	struct plan q;
	if (nd_is_same(from, to))
		return;
	if (nd_copies(l, from, to) > LOW_MAX_OPS) {
		low_refuse_many(l);
		return;
	}
	if (!plan_copy(l, from, to, &q)) {
		struct nd mid = nd_linear(from);
		struct hwc shape = { .h = 1, .w = 1, .c = (int32_t)nd_elements(from) };
		mid.t = low_tensor(l, from->type, shape, NULL);
		nd_copy(l, from, &mid);
		nd_copy(l, &mid, to);
		return;
	}
	int64_t at[2 * ND_MAX] = { 0 };
	for (int i = 0; i >= 0;) {
		struct g_operand x = copied_operand(&q, from, at, false);
		struct g_op *op = low_copy(l, x, copied_operand(&q, to, at, true));
		if (q.order) {
			op->kind = OP_REORDER;
			G_PUT(op, OP, order, (int)q.order);
		}
		for (i = q.n; i-- > 0; at[i] = 0)
			if ((at[i] += is_walked(&q, i) ? MAX_EXTENT : 1) < q.v[i].n)
				break;
	}
}
