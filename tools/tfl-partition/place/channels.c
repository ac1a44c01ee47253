/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the order in which feature maps store their channels
 * (nputools-lowering(7) 5.9).  Channels that an operator picks from a feature map,
 * as a half of a channel shuffle, are stored next to each other, so that the
 * picking operator has nothing to do.  Producers and consumers of the feature map
 * have their weights in that order.
 */
#include "channels.h"

struct reading {
	int op, next; /* 1 + the next reading of the same tensor; 0: none */
};

struct ordering {
	struct part *p;
	struct pick *pick;
	int *first_reader; /* of each tensor: 1 + index of its first reading; 0: none */
	struct reading *reader;
	enum { UNKNOWN, NO, YES } *takes;
};

/* true if the operator is lowered alone and unchanged */
static bool
is_plain(const struct part *p, int i)
{
	const struct placement *x = &p->op[i];
	return x->npu && (x->as == AS_ALONE || x->as == AS_PICK) && !x->left_out;
}

/* a convolution with one weight per channel, whose weights can be reordered */
static bool
is_conv(const struct part *p, int i, enum g_op_kind *kind)
{
	const struct low_conv *c = &p->op[i].lop.conv;
	int code = p->sg->op[i].code;
	if (!is_plain(p, i) || (code != TFL_CONV_2D && code != TFL_DEPTHWISE_CONV_2D) ||
	    c->groups != 1 || (c->kind == OP_CONV && code != TFL_CONV_2D))
		return false;
	*kind = c->kind;
	return low_conv_fits(c);
}

static bool takes_order(struct ordering *o, int tensor);

static bool
reader_takes(struct ordering *o, int i, int tensor)
{
	struct part *p = o->p;
	const struct tfl_op *op = &p->sg->op[i];
	enum g_op_kind kind;
	if (!is_plain(p, i))
		return false;
	if (op->code == TFL_CONCATENATION)
		return concat_has_channels(p, op);
	if (op->code == TFL_CONV_2D || op->code == TFL_DEPTHWISE_CONV_2D)
		return is_conv(p, i, &kind) && op->in[0] == tensor &&
		       (kind == OP_CONV || takes_order(o, op->out[0]));
	for (int k = 0; k < op->n_out; k++)
		if (o->pick[op->out[k]].root != o->pick[tensor].root ||
		    !takes_order(o, op->out[k]))
			return false;
	return o->pick[tensor].root && op->n_out;
}

/* can all readers of a tensor read it in any channel order? */
static bool
takes_order(struct ordering *o, int tensor)
{
	if (o->takes[tensor] != UNKNOWN)
		return o->takes[tensor] == YES;
	bool ok = !o->p->crosses[tensor] && !o->p->value[tensor].t;
	for (int r = o->first_reader[tensor]; ok && r; r = o->reader[r - 1].next)
		ok = reader_takes(o, o->reader[r - 1].op, tensor);
	o->takes[tensor] = ok ? YES : NO;
	return ok;
}

/* does the pick take channels that are not adjacent and ascending? */
static bool
is_scattered(const struct pick *k)
{
	for (int32_t i = 1; i < k->n; i++)
		if (k->at[i] != k->at[i - 1] + 1)
			return true;
	return false;
}

/* ---- parts of a feature map ------------------------------------------------ */

/* a feature map whose channels are to be ordered */
struct feature_map {
	int tensor;
	int32_t n;
	int n_classes;
	/* of each channel: channels of one class are stored next to each other; 0: no class */
	int32_t *class;
	/* its parts: the inputs of a CONCATENATION, or the feature map itself */
	int n_in;
	const int *in;
	int32_t *at; /* the order: at[q] is the channel stored at position q */
};

/* is there a reader that is not a pick itself? */
static bool
is_read(const struct ordering *o, int tensor)
{
	for (int r = o->first_reader[tensor]; r; r = o->reader[r - 1].next)
		if (!is_picking_op(&o->p->sg->op[o->reader[r - 1].op]))
			return true;
	return false;
}

/*
 * Adds a class for a pick, unless the pick equals a class or takes all channels.
 * Returns false if the pick overlaps a class only in part or has a channel twice.
 */
static bool
add_class(struct feature_map *m, const struct pick *k, struct arena *a)
{
	int32_t class = m->class[k->at[0]], size = 0;
	bool *seen = anew(a, bool, (size_t)m->n);
	for (int32_t i = 0; i < k->n; i++) {
		if (seen[k->at[i]])
			return false;
		seen[k->at[i]] = true;
	}
	if (k->n == m->n)
		return true;
	for (int32_t i = 0; i < k->n; i++)
		if (m->class[k->at[i]] != class)
			return false;
	for (int32_t c = 0; c < m->n; c++)
		size += m->class[c] == class;
	if (class)
		return size == k->n;
	m->n_classes++;
	for (int32_t i = 0; i < k->n; i++)
		m->class[k->at[i]] = m->n_classes;
	return true;
}

/* ---- the order ------------------------------------------------------------------ */

/* true if the producer can make the tensor in any channel order */
static bool
is_free(struct ordering *o, int tensor)
{
	const struct part *p = o->p;
	int from = p->sg->tensor[tensor].producer;
	enum g_op_kind kind;
	return from >= 0 && !p->channels[tensor].at && !p->channels[tensor].part_of &&
	       is_conv(p, from, &kind) && kind == OP_CONV && takes_order(o, tensor);
}

/*
 * Appends class by class, and in each class input by input, whose own order remains:
 * alternately from the first input to the last and back.  With two classes and two inputs,
 * the last input's channels are thus next to each other.  Inputs that are copied come first;
 * inputs that their producer writes in place come last.
 */
static void
put_channels(struct ordering *o, struct feature_map *m)
{
	const struct part *p = o->p;
	int n = 0, *turn = anew(p->a, int, (size_t)m->n_in);
	int32_t done = 0, sum = 0, *start = anew(p->a, int32_t, (size_t)m->n_in);
	m->at = anew(p->a, int32_t, (size_t)m->n);
	for (int k = 0; k < m->n_in; k++) {
		start[k] = sum;
		sum += p->sg->tensor[m->in[k]].dim[3];
	}
	for (int written = 0; written < 2; written++)
		for (int k = 0; k < m->n_in; k++)
			if (is_free(o, m->in[k]) == written)
				turn[n++] = k;
	for (int class = 0; class <= m->n_classes; class++) {
		bool back = class % 2 == 0 && m->n_classes; /* classes count from 1 */
		for (int i = 0; i < n; i++) {
			int k = turn[back ? n - 1 - i : i];
			const int32_t *at = p->channels[m->in[k]].at;
			for (int32_t q = 0; q < p->sg->tensor[m->in[k]].dim[3]; q++) {
				int32_t c = start[k] + (at ? at[q] : q);
				if (m->class[c] == class)
					m->at[done++] = c;
			}
		}
	}
}

static const int32_t *
unless_counted(const int32_t *at, int32_t n)
{
	for (int32_t k = 0; k < n; k++)
		if (at[k] != k)
			return at;
	return NULL;
}

/*
 * Orders a feature map made of `in`: inputs of a CONCATENATION, or the result of a
 * convolution.
 */
static void
order_feature_map(struct ordering *o, int tensor, const int *in, int n_in)
{
	struct part *p = o->p;
	struct feature_map m = { .tensor = tensor, .n = p->sg->tensor[tensor].dim[3], .in = in,
			 .n_in = n_in };
	if (!is_pickable_fm(p, tensor) || !takes_order(o, tensor))
		return;
	m.class = anew(p->a, int32_t, (size_t)m.n);
	for (int t = 0; t < p->sg->n_tensors; t++)
		if (o->pick[t].root == tensor + 1 && is_read(o, t) &&
		    !add_class(&m, &o->pick[t], p->a))
			return;
	put_channels(o, &m);

	/* an input without an order takes the order that its channels have in the feature map */
	int32_t start = 0;
	for (int k = 0; k < n_in; k++) {
		int32_t n = p->sg->tensor[in[k]].dim[3], got = 0;
		if (in[k] != tensor && is_free(o, in[k])) {
			int32_t *at = anew(p->a, int32_t, (size_t)n);
			for (int32_t q = 0; q < m.n; q++)
				if (m.at[q] >= start && m.at[q] < start + n)
					at[got++] = m.at[q] - start;
			p->channels[in[k]].at = unless_counted(at, n);
		}
		start += n;
	}

	/* each picked tensor becomes a part of the feature map */
	for (int t = 0; t < p->sg->n_tensors; t++) {
		const struct pick *k = &o->pick[t];
		if (k->root != tensor + 1 || t == tensor)
			continue;
		p->op[p->sg->tensor[t].producer].as = AS_PICK;
		if (!is_read(o, t))
			continue;
		int32_t *number = anew(p->a, int32_t, (size_t)m.n), got = 0;
		for (int32_t c = 0; c < m.n; c++)
			number[c] = -1;
		for (int32_t i = 0; i < k->n; i++)
			number[k->at[i]] = i;
		int32_t *at = anew(p->a, int32_t, (size_t)k->n);
		struct channels *x = &p->channels[t];
		for (int32_t q = 0; q < m.n; q++) {
			if (number[m.at[q]] < 0)
				continue;
			x->first = got ? x->first : q;
			at[got++] = number[m.at[q]];
		}
		x->part_of = tensor + 1;
		x->at = unless_counted(at, k->n);
	}
	p->channels[tensor].at = unless_counted(m.at, m.n);
}

void
order_channels(struct part *p)
{
	const struct tfl_subgraph *sg = p->sg;
	struct ordering o = { .p = p, .pick = anew(p->a, struct pick, (size_t)sg->n_tensors) };
	enum g_op_kind kind;

	/* which channels of another tensor has each tensor? */
	bool any = false, *made = anew(p->a, bool, (size_t)sg->n_tensors);
	for (int i = 0; i < sg->n_ops; i++)
		for (int k = 0; k < sg->op[i].n_out; k++)
			made[sg->op[i].out[k]] = is_picking_op(&sg->op[i]);
	for (int i = 0; i < sg->n_tensors; i++)
		if (!made[i])
			o.pick[i] = pick_all(p, i);
	for (int i = 0; i < sg->n_ops; i++)
		for (int k = 0; k < sg->op[i].n_out && is_plain(p, i); k++) {
			struct pick r = pick_of(p, &sg->op[i], k, o.pick);
			if (!r.root)
				continue;
			o.pick[sg->op[i].out[k]] = r;
			any = any || is_scattered(&r);
		}
	if (!any) /* only adjacent ones */
		return;

	size_t n = 0;
	for (int i = 0; i < sg->n_ops; i++)
		n += (size_t)sg->op[i].n_in;
	o.first_reader = anew(p->a, int, (size_t)sg->n_tensors);
	o.reader = anew(p->a, struct reading, n + 1);
	n = 0;
	for (int i = sg->n_ops; i-- > 0;)
		for (int k = sg->op[i].n_in; k-- > 0;) {
			int t = sg->op[i].in[k];
			if (t < 0)
				continue;
			o.reader[n] = (struct reading){ .op = i, .next = o.first_reader[t] };
			o.first_reader[t] = (int)++n;
		}

	o.takes = arena_alloc(p->a, (size_t)sg->n_tensors, sizeof(*o.takes));
	for (int i = 0; i < p->sg->n_ops; i++) {
		const struct tfl_op *op = &p->sg->op[i];
		if (!is_plain(p, i))
			continue;
		if (op->code == TFL_CONCATENATION && concat_has_channels(p, op))
			order_feature_map(&o, op->out[0], op->in, op->n_in);
		else if (!is_conv(p, i, &kind))
			continue;
		else if (kind == OP_DEPTHWISE)
			p->channels[op->out[0]].at = p->channels[op->in[0]].at;
		else
			for (int t = 0; t < p->sg->n_tensors; t++)
				if (o.pick[t].root == op->out[0] + 1 && is_scattered(&o.pick[t])) {
					order_feature_map(&o, op->out[0], op->out, 1);
					break;
				}
	}
}

void
lower_picked(struct part *p, const struct tfl_op *op)
{
	for (int k = 0; k < op->n_out; k++) {
		const struct channels *x = &p->channels[op->out[k]];
		struct hwc shape = tfl_hwc(&p->sg->tensor[op->out[k]]);
		if (x->part_of)
			p->value[op->out[k]] = low_box(part_ofm(p, x->part_of - 1), shape,
						       (struct hwc){ .c = x->first });
	}
}
