/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CONCATENATION along channels whose inputs or result store them in another order
 * (channels.c).
 */
#include "channels.h"

#include "lower/conv.h"

/* of each channel of the result, in stored order: its input, and its position in that input */
struct mixture {
	int32_t n;
	int *input;
	int32_t *at;
};

bool
concat_is_ordered(const struct part *p, const struct tfl_op *op)
{
	bool any = p->channels[op->out[0]].at != NULL;
	for (int i = 0; i < op->n_in; i++)
		any = any || p->channels[op->in[i]].at || p->channels[op->in[i]].part_of;
	return any;
}

static struct mixture
mixture_of(const struct part *p, const struct tfl_op *op)
{
	const int32_t *order = p->channels[op->out[0]].at;
	struct mixture m = { .n = p->sg->tensor[op->out[0]].dim[3] };
	int *input = anew(p->a, int, (size_t)m.n);
	int32_t *place = anew(p->a, int32_t, (size_t)m.n), start = 0;
	for (int i = 0; i < op->n_in; i++) {
		const int32_t *at = p->channels[op->in[i]].at;
		int32_t n = p->sg->tensor[op->in[i]].dim[3];
		for (int32_t q = 0; q < n; q++) {
			int32_t c = start + (at ? at[q] : q);
			input[c] = i;
			place[c] = q;
		}
		start += n;
	}
	m.input = anew(p->a, int, (size_t)m.n);
	m.at = anew(p->a, int32_t, (size_t)m.n);
	for (int32_t q = 0; q < m.n; q++) {
		int32_t c = order ? order[q] : q;
		m.input[q] = input[c];
		m.at[q] = place[c];
	}
	return m;
}

/* the number of consecutive channels from q on that come from one input */
static int32_t
run_of(const struct mixture *m, int32_t q)
{
	int32_t n = 1;
	while (q + n < m->n && m->input[q + n] == m->input[q])
		n++;
	return n;
}

/* do the channels from q on equal one whole input in its stored order? */
static bool
is_whole_input(const struct part *p, const struct tfl_op *op, const struct mixture *m, int32_t q)
{
	int32_t n = run_of(m, q);
	for (int32_t k = 0; k < n; k++)
		if (m->at[q + k] != k)
			return false;
	return n == p->sg->tensor[op->in[m->input[q]]].dim[3];
}

/* channels q to q + n - 1 of the result, in stored order */
static struct nd
channel_range(struct part *p, const struct tfl_op *op, int32_t q, int32_t n)
{
	struct nd to = nd_ofm(p, op->out[0]);
	return nd_part(&to, 3, q, n);
}

void
bind_ordered_concat(struct part *p, const struct tfl_op *op)
{
	struct mixture m = mixture_of(p, op);
	for (int32_t q = 0, n; q < m.n; q += n) {
		int in = op->in[m.input[q]];
		struct g_operand place;
		n = run_of(&m, q);
		if (p->channels[in].part_of || !is_whole_input(p, op, &m, q))
			continue;
		struct nd to = channel_range(p, op, q, n);
		if (nd_operand(&to, &place))
			bind_place(p, in, place);
	}
}

void
lower_ordered_concat(struct part *p, const struct tfl_op *op)
{
	struct mixture m = mixture_of(p, op);
	for (int32_t q = 0, n; q < m.n; q += n) {
		struct nd from = nd_ifm(p, op->in[m.input[q]]);
		n = run_of(&m, q);
		struct nd to = channel_range(p, op, q, n);
		if (is_whole_input(p, op, &m, q) && from.t == to.t && from.offset == to.offset)
			continue;
		low_copy_channels(p->l, &from, &to, m.at + q);
	}
}
