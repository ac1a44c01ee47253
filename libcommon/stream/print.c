/* SPDX-License-Identifier: Apache-2.0 */
/* Streams as text: the listing of commands, and one line per operation. */
#include "stream/stream.h"

#include "base/text.h"
#include "stream/op.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- commands ----------------------------------------------------------- */

/* Prints the bit fields.  Returns how many the command has. */
static int
print_bits(struct text *t, const struct npu_command *c)
{
	const struct npu_field *field[NPU_FIELDS_MAX];
	int n = npu_command_fields(c->info, c->generation, field);
	for (int i = 0; i < n; i++) {
		const struct npu_field *f = field[i];
		unsigned v = c->param >> f->lsb & ((1u << f->width) - 1);
		const char *name = npu_enum_name(f->set, v);
		text_printf(t, " %s=", f->name);
		if (name)
			text_puts(t, name);
		else
			text_printf(t, "%u", v);
	}
	return n;
}

static void
print_number(struct text *t, const struct npu_command *c)
{
	const char *name = c->info->name;
	if (text_has_suffix(name, "_M1"))
		text_printf(t, " %d", c->param + 1);
	else if (c->info->bits85 == 12) /* offsets of RESIZE */
		text_printf(t, " %u signed=%d", c->param,
			    (c->param & 0xfff) - (c->param & 0x800) * 2);
	else if (text_has_suffix(name, "ZERO_POINT") || text_has_suffix(name, "SCALAR") ||
		 text_has_suffix(name, "_MIN") || text_has_suffix(name, "_MAX"))
		text_printf(t, " %u signed=%d", c->param, (int16_t)c->param);
	else
		text_printf(t, " %u", c->param);
}

static void
print_fields(struct text *t, const struct npu_command *c)
{
	struct npu_registers r = { 0 };
	int bits = npu_command_bits(c->info, c->generation);
	if (!c->is_op)
		npu_write(&r, c);
	switch ((enum npu_payload)c->info->payload) {
	case NPU_PARAM:
		if (!print_bits(t, c) && bits)
			print_number(t, c);
		if (c->has_payload) /* an operation: the target of a branch */
			text_printf(t, " target=0x%06" PRIx32, c->payload);
		break;
	case NPU_ADDRESS:
		text_printf(t, " 0x%" PRIx64, npu_address(&r, c->reg));
		break;
	case NPU_STRIDE:
		text_printf(t, " %" PRId64, npu_stride(&r, c->reg));
		break;
	case NPU_BYTES40:
		text_printf(t, " %" PRId64, npu_address(&r, c->reg));
		break;
	case NPU_SCALE:
		text_printf(t, " multiplier=%" PRIu32, c->payload);
		(void)print_bits(t, c);
		break;
	case NPU_STEP:
		(void)print_bits(t, c);
		text_printf(t, " one_step_mod=%" PRIu32 " blk_step_mod=%" PRIu32,
			    c->payload & 0x7ff, c->payload >> 16 & 0x7ff);
		break;
	case NPU_BYTES:
	case NPU_PLAIN:
		text_printf(t, " %" PRIu32, c->payload);
		break;
	}
}

bool
stream_print(struct text *t, const struct npu_stream *s, bool fields,
	     struct err *e)
{
	struct npu_command c;
	struct err bad = { 0 };
	size_t at = 0;
	unsigned n = 0;
	text_puts(t, "Register-Level Command Stream: Output\n");
	text_printf(t, "  Offset: Payload Param Code - %-30s Param\n", "Command");
	for (; stream_next(s, &at, &c, &bad); n++) {
		char name[40];
		(void)snprintf(name, sizeof(name), "cmd%d.NPU_%s_%s", c.has_payload,
			       c.is_op ? "OP" : "SET", c.info->name);
		text_printf(t, "0x%06zx: ", 4 * c.at);
		if (c.has_payload)
			text_printf(t, "%08" PRIx32, c.payload);
		else
			text_puts(t, "        ");
		text_printf(t, " %04x %04" PRIx32 " - %-30s %5u", c.param, c.code,
			    name, c.param);
		if (fields) {
			text_puts(t, " ");
			print_fields(t, &c);
		}
		text_putc(t, '\n');
	}
	text_printf(t, "Number of commands = %u\n", n);
	text_printf(t, "Command stream length = %zu bytes\n", 4 * s->n_words);
	return !bad.status || err_set(e, "%s", bad.text);
}

/* ---- operations --------------------------------------------------------- */

static void
print_fm(struct text *t, const char *role, const struct npu_fm *f)
{
	text_printf(t, " %s=%dx%dx%d:%c%d", role, f->shape.h, f->shape.w,
		    f->shape.c, f->is_signed ? 's' : 'u', f->bits);
	if (f->storage == NPU_CHAINED)
		text_printf(t, ",chain%d", f->chain);
	else if (!npu_fm_stored(f))
		text_puts(t, ",none");
	else
		text_printf(t, ",%s@%d:0x%" PRIx64,
			    f->bricks ? "nhcwb16" : "nhwc", f->region,
			    f->base[0]);
	if (npu_fm_stored(f) && (f->h0 < f->shape.h || f->w0 < f->shape.w))
		text_printf(t, ",0x%" PRIx64 ",0x%" PRIx64 ",0x%" PRIx64
			    " tiles=%d,%d,%d", f->base[1], f->base[2],
			    f->base[3], f->h0, f->h1, f->w0);
	if (f->zero)
		text_printf(t, ",zero%+d", f->zero);
}

static void
print_range(struct text *t, const char *role, const struct npu_range *r)
{
	text_printf(t, " %s=%" PRId64 "@%d:0x%" PRIx64, role, r->n, r->region,
		    r->at);
}

static void
print_dma(struct text *t, const struct npu_op *op)
{
	const char *internal = "shram"; /* U85: the tables' memory */
	text_printf(t, " bytes=%" PRId64 " src=", op->src.n);
	if (op->src_internal)
		text_printf(t, "%s:0x%" PRIx64, internal, op->src.at);
	else
		text_printf(t, "%d:0x%" PRIx64, op->src.region, op->src.at);
	text_puts(t, " dst=");
	if (op->dst_internal)
		text_printf(t, "%s:0x%" PRIx64, internal, op->dst.at);
	else
		text_printf(t, "%d:0x%" PRIx64, op->dst.region, op->dst.at);
	bool stepped = npu_dma_is_stepped(op); /* U85: steps of the transfers, index of rows */
	if (stepped)
		text_printf(t, " repeat=%dx%d src_step=%" PRId64 ",%" PRId64
			    " dst_step=%" PRId64 ",%" PRId64, op->size1, op->size0,
			    op->src_step[1], op->src_step[0], op->dst_step[1],
			    op->dst_step[0]);
	if (stepped && (op->src_indexed || op->dst_indexed))
		text_printf(t, " index=%s,%" PRId64 "@%d:0x%" PRIx64
			    " max=%" PRId64, op->src_indexed ? "src" : "dst",
			    op->rows.n, op->rows.region, op->rows.at,
			    op->row_max);
	if (!stepped && (op->src_dims > 1 || op->dst_dims > 1))
		text_printf(t, " repeat=%dx%d skip=%" PRId64 ",%" PRId64,
			    op->size1, op->size0, op->skip0, op->skip1);
}

static const char *
name_in(const char *set, unsigned value)
{
	const char *name = npu_enum_name(set, value);
	return name ? name : "?";
}

void
stream_print_op(struct text *t, const struct npu_op *op)
{
	static const char *const weights[NPU_MAX_STREAMS] = {
		"weights", "weights1", "weights2", "weights3" };
	text_printf(t, "0x%06zx %s", 4 * op->at, npu_op_name(op));
	if (op->kind == NPU_DMA) {
		print_dma(t, op);
		return;
	}
	if (!npu_is_kernel(op)) {
		text_printf(t, " %d", op->param);
		return;
	}
	if (op->ifm_scalar)
		text_printf(t, " ifm=scalar%+d", op->scalar);
	else
		print_fm(t, "ifm", &op->ifm);
	if (op->has_ifm2 && op->ifm2_scalar)
		text_printf(t, " ifm2=scalar%+d", op->scalar);
	else if (op->has_ifm2)
		print_fm(t, "ifm2", &op->ifm2);
	if (op->has_ifm2 && op->ifm2_first)
		text_puts(t, " order=ifm2_first");
	print_fm(t, "ofm", &op->ofm);

	if (op->kind != NPU_ELEMENTWISE && op->kind != NPU_RESIZE) {
		text_printf(t, " kernel=%dx%d stride=%dx%d", op->kernel_h, op->kernel_w,
			    op->stride_y, op->stride_x);
		if (op->dilation_y > 1 || op->dilation_x > 1)
			text_printf(t, " dilation=%dx%d", op->dilation_y,
				    op->dilation_x);
		text_printf(t, " pad=%d,%d,%d,%d", op->pad_top, op->pad_left,
			    op->pad_bottom, op->pad_right);
		if (op->upscale != UPSCALE_NONE)
			text_printf(t, " upscale=%s",
				    npu_enum_name("upscale", op->upscale));
	}
	for (int i = 0; i < NPU_MAX_STREAMS; i++)
		if (op->weights[i].n)
			print_range(t, weights[i], &op->weights[i]);
	if (op->scales[0].n)
		print_range(t, "scales", &op->scales[0]);
	if (op->scales[1].n)
		print_range(t, "scales1", &op->scales[1]);
	if (op->weights[0].n && op->kind == NPU_CONV)
		text_printf(t, " order=%s%s%s",
			    op->part_kernel ? "part_kernel" : "depth_first",
			    op->fast_weights ? ",fast" : "",
			    op->sparse_weights ? ",sparse" : "");

	const char *act = npu_enum_name(op->ublock.h ? "activation85" : "activation",
					(unsigned)op->activation);
	const char *round = npu_enum_name("rounding", op->rounding);
	if (op->global_scale)
		text_printf(t, " scale=%" PRIu32 ">>%d", op->ofm_mult,
			    op->ofm_shift);
	text_printf(t, " round=%s act=%s[%d,%d]", round ? round : "?",
		    act ? act : "?", op->min, op->max);
	text_printf(t, " block=%dx%dx%d blockdep=%d", op->block.h, op->block.w,
		    op->block.c, op->blockdep);

	/* the properties that only U85 has, where they differ from their defaults */
	if (op->kind == NPU_RESIZE)
		text_printf(t, " mode=%s y=%d/%d%+d x=%d/%d%+d",
			    name_in("resize", (unsigned)op->mode), op->resize_y.n, op->resize_y.d,
			    op->resize_y.offset, op->resize_x.n, op->resize_x.d,
			    op->resize_x.offset);
	if (op->transpose != NPU_HWC || op->reverse != NPU_FORWARD)
		text_printf(t, " transpose=%s reverse=%s",
			    name_in("transpose", op->transpose),
			    name_in("reverse", op->reverse));
	if (op->acc_input != NPU_ACC_RESET || op->acc_kept)
		text_printf(t, " accumulators=%s,%s",
			    name_in("accumulator_input", op->acc_input),
			    op->acc_kept ? "kept" : "out");
	if (op->ublock.h)
		text_printf(t, " microblock=%dx%dx%d", op->ublock.h,
			    op->ublock.w, op->ublock.c);
}
