/* SPDX-License-Identifier: Apache-2.0 */
/* Checks each step of a schedule on its own. */
#include "graph/check.h"

#include "graph/facts.h"
#include "target/accel.h"

#include <inttypes.h>

enum { ALIGN = 16 };

/* A transfer moves one run of bytes, so rows of a rolling buffer must not wrap. */
static bool
check_copied(struct check *c, const struct g_step *s, const struct g_tensor *t)
{
	struct g_range r = { .lo = 0, .hi = s->op->ofm.shape.h };
	if (G_HAS(s, G_STEP_rows))
		r = s->rows;
	return !G_HAS(t, G_TENSOR_rows) || t->rows < 1 ||
	       r.lo % t->rows + (r.hi - r.lo) <= t->rows ||
	       BAD(c, s, "p%d: copies rows %" PRId64 ":%" PRId64 " of t%d, a rolling "
			 "buffer of %d rows: they are not contiguous",
			 s->rec.id, r.lo, r.hi,
		   t->rec.id, t->rows);
}

bool
check_steps(struct check *c)
{
	const struct accel *a = c->g->n_targets
				      ? accel_find(c->g->targets[0]->rec.word) : NULL;
	for (size_t i = 0; i < c->g->n_steps; i++) {
		const struct g_step *s = c->g->steps[i];
		if ((s->op != NULL) + (s->weights != NULL) + (s->lut != NULL) != 1)
			return BAD(c, s, "p%d: a step needs exactly one of run=, "
					 "fetch= and lut=",
				   s->rec.id);
		if (s->op && G_HAS(s, G_STEP_rows) &&
		    (s->rows.lo < 0 || s->rows.lo >= s->rows.hi ||
		     s->rows.hi > s->op->ofm.shape.h))
			return BAD(c, s, "p%d: rows=%" PRId64 ":%" PRId64 " does not "
					 "match an OFM of %d rows", s->rec.id, s->rows.lo,
				   s->rows.hi, s->op->ofm.shape.h);
		if (s->op && G_HAS(s, G_STEP_rows) && op_is_transfer(s->op->kind) &&
		    s->op->kind != OP_COPY && s->rows.hi - s->rows.lo < s->op->ofm.shape.h)
			return BAD(c, s, "p%d: a gather or scatter must move all rows",
				   s->rec.id);
		if (s->op && s->op->kind == OP_COPY &&
		    (!check_copied(c, s, s->op->ifm.t) ||
		     !check_copied(c, s, s->op->ofm.t)))
			return false;
		const struct g_weights *w = s->op ? s->op->weights : s->weights;
		int slices = w && w->slices.n ? (int)w->slices.n - 1 : 1;
		if (G_HAS(s, G_STEP_slice) && (s->slice < 0 || s->slice >= slices))
			return BAD(c, s, "p%d: slice=%d does not exist: the number of "
					 "slices is %d", s->rec.id, s->slice,
				   slices);
		if (G_HAS(s, G_STEP_bytes) &&
		    (s->bytes.lo < 0 || s->bytes.lo >= s->bytes.hi ||
		     s->bytes.lo % ALIGN || s->bytes.hi % ALIGN))
			return BAD(c, s, "p%d: bytes= needs a range of multiples of 16",
				   s->rec.id);
		if (s->weights && !s->buffer)
			return BAD(c, s, "p%d: fetch= without buffer=", s->rec.id);
		if (s->scale_buffer && (!s->op || !s->op->weights || s->buffer))
			return BAD(c, s, "p%d: scale-buffer= works only with run= of weights, "
					 "without buffer=", s->rec.id);
		/* with a single core, all scale records are one piece in front of the weights */
		if (s->scale_buffer && a && a->cores != 1)
			return BAD(c, s, "p%d: scale-buffer= is not possible: each core of %s has "
					 "its own scales", s->rec.id, a->name);
		if (!check_chain_of(c, s))
			return false;
		if (G_HAS(s, G_STEP_slot) && (s->slot < 0 || s->slot > 7))
			return BAD(c, s, "p%d: slot=%d must be 0 to 7",
				   s->rec.id, s->slot);
		if (s->blockdep < 0 || s->blockdep > 3)
			return BAD(c, s, "p%d: blockdep=%d must be 0 to 3",
				   s->rec.id, s->blockdep);
		if (!s->op && !s->node)
			return BAD(c, s, "p%d: a transfer needs node=", s->rec.id);
	}
	return true;
}
