/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the steps of a region as stripes and transfers, one per line, in the layout of
 * the reference's "high-level command stream".
 */
#include "cmdgen.h"

#include "base/text.h"
#include "graph/facts.h"
#include "target/blocks.h"

struct box {
	struct hwc from, to;
};

static void
put_box(struct text *t, const char *name, struct box b)
{
	text_printf(t, ", %s=<Box [0, %d, %d, %d] - [1, %d, %d, %d]>", name,
		    b.from.h, b.from.w, b.from.c, b.to.h, b.to.w, b.to.c);
}

static struct box
box_of(const struct g_operand *o, int32_t lo, int32_t hi)
{
	return (struct box){ .from = { .h = lo },
			     .to = { .h = hi, .w = o->shape.w, .c = o->shape.c } };
}

void
put_stripe(struct text *t, const struct cmdgen *c, const struct g_step *s)
{
	const struct g_op *op = s->op;
	struct g_range rows = { .lo = 0, .hi = op->ofm.shape.h };
	/* the output channels of a step: those of its weight slice, or all */
	struct g_range depth = { .lo = 0, .hi = op->ofm.shape.c };
	if (op->weights && op->weights->slices.n)
		depth = (struct g_range){ .lo = op->weights->slices.v[s->slice],
					  .hi = op->weights->slices.v[s->slice + 1] };
	if (G_HAS(s, G_STEP_rows))
		rows = s->rows;
	struct emit_rows in = emit_ifm_rows(op, rows);
	struct box ifm = box_of(&op->ifm, in.lo, in.hi);
	struct box ofm = box_of(&op->ofm, (int32_t)rows.lo, (int32_t)rows.hi);
	ofm.from.c = (int32_t)depth.lo;
	ofm.to.c = (int32_t)depth.hi;
	if (op->kind == OP_DEPTHWISE) {
		ifm.from.c = ofm.from.c;
		ifm.to.c = ofm.to.c;
	}
	text_printf(t, "<NpuStripe: name=%s", op_label(c, op));
	put_box(t, "ifm_box", ifm);
	if (op->ifm2.t && op->ifm2.shape.h == 1)
		put_box(t, "ifm2_box", box_of(&op->ifm2, 0, 1));
	else if (op->ifm2.t)
		put_box(t, "ifm2_box", box_of(&op->ifm2, in.lo, in.hi));
	else
		text_puts(t, ", ifm2_box=<Box [] - []>");
	put_box(t, "ofm_box", ofm);
	if (op->weights)
		put_box(t, "weight_box",
			(struct box){ .from = { .c = (int32_t)depth.lo },
				      .to = { .h = 1, .w = 1, .c = (int32_t)depth.hi } });
	else
		text_puts(t, ", weight_box=None");
	/* in the order height, width, IFM depth, OFM depth */
	struct block_query q = op_block_query(op, (int32_t)(rows.hi - rows.lo));
	struct hwc block = block_ifm(c->accel, &q, op->block);
	text_printf(t, ", block_config=[%d, %d, %d, %d]>", op->block.h,
		    op->block.w, block.c, op->block.c);
}

void
put_transfer(struct text *t, const struct g_step *s)
{
	if (!s) { /* inserted by the emitter before an operation with a table */
		text_puts(t, "<DMA: in=flash, out=shram, table>");
	} else if (s->lut) {
		text_printf(t, "<DMA: in=l%d, out=shram slot %d>", s->lut->rec.id,
			    s->slot);
	} else if (s->op) {
		const struct g_op *op = s->op;
		struct g_range rows = { .lo = 0, .hi = op->ofm.shape.h };
		if (G_HAS(s, G_STEP_rows))
			rows = s->rows;
		text_printf(t, "<DMA: name=%s, in=t%d, out=t%d, rows %d to %d>",
			    op->name ? op->name : "", op->ifm.t->rec.id, op->ofm.t->rec.id,
			    (int)rows.lo, (int)rows.hi);
	} else {
		text_printf(t, "<DMA: name=%s, in=w%d slice %d, out=b%d>",
			    s->weights->name ? s->weights->name : "",
			    s->weights->rec.id, s->slice, s->buffer->rec.id);
	}
}

void
print_high_level(const struct cmdgen *c, size_t node, struct text *t)
{
	const struct emit_words *w = &c->stream[node];
	text_printf(t, "print_high_level_command_stream() %s\n",
		    region_name(c, node));
	for (size_t i = 0; i < w->n_marks; i++) {
		const struct g_step *s = w->mark[i].step;
		text_printf(t, "%3zu ", i);
		if (s && s->op && !op_is_transfer(s->op->kind))
			put_stripe(t, c, s);
		else
			put_transfer(t, s);
		text_putc(t, '\n');
	}
}
