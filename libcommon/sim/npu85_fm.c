/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operands and results of U85: transposed, reversed, chained (ethosu-commands(7) 23.3,
 * ethosu-memory(7) 25, ethosu-commands(7) 29).
 */
#include "sim/npu85.h"

#include "base/little_endian.h"

#include <string.h>

/* ---- operands ------------------------------------------------------------ */

static int32_t
of_type(int32_t v, const struct npu_fm *f)
{
	if (f->bits == 8)
		return f->is_signed ? (int8_t)v : (uint8_t)v;
	if (f->bits == 16)
		return f->is_signed ? (int16_t)v : (uint16_t)v;
	return v;
}

static int32_t
less_zero(int32_t v, int32_t zero)
{
	return (int32_t)((uint32_t)v - (uint32_t)zero);
}

bool
npu85_load(struct npu_run *r, const struct npu_fm *f, bool scalar,
	   const char *role, struct npu_operand *out)
{
	*out = (struct npu_operand){ .shape = f->shape };
	if (scalar) {
		int32_t *v = anew(r->a, int32_t, 1);
		*v = less_zero(of_type(r->op.scalar, f), f->zero);
		out->v = v;
		return true;
	}
	if (f->storage == NPU_CHAINED) {
		const struct npu_link *k = &r->chain[f->chain % NPU_MAX_CHAINS];
		int64_t n = hwc_elements(f->shape);
		if (f->chain >= NPU_MAX_CHAINS || !k->v)
			return npu_fail(r, "%s: nothing is in chain buffer %d (rule 54)",
					role, f->chain);
		if (!hwc_equal(k->shape, f->shape))
			return npu_fail(r, "%s is %d x %d x %d, chain buffer %d holds "
					   "%d x %d x %d (rule 54)", role, f->shape.h,
					f->shape.w, f->shape.c, f->chain, k->shape.h,
					k->shape.w, k->shape.c);
		if (k->bits != f->bits || k->is_signed != f->is_signed)
			return npu_fail(r, "%s is %c%d, chain buffer %d holds %c%d "
					   "(rule 54)", role, f->is_signed ? 's' : 'u',
					f->bits, f->chain, k->is_signed ? 's' : 'u',
					k->bits);
		int32_t *v = anew(r->a, int32_t, (size_t)n);
		for (int64_t i = 0; i < n; i++)
			v[i] = less_zero(k->v[i], f->zero);
		out->v = v;
		return npu_spend(r, (uint64_t)n);
	}
	if (f->storage != NPU_TILES)
		return npu_fail(r, "%s: storage mode %d (rule 8)", role,
				(int)f->storage);
	if (!fm_check(r, f, role, false))
		return false;
	if (f->bits == 64)
		out->v64 = fm_load64(r, f);
	else
		out->v = fm_load32(r, f);
	return true;
}

/* ---- results ------------------------------------------------------------- */

bool
npu85_open_ofm(struct npu_run *r)
{
	const struct npu_op *op = &r->op;
	const struct npu_fm *f = &op->ofm;
	bool turned = op->transpose != NPU_HWC || op->reverse != NPU_FORWARD;
	if (op->transpose == 4 || op->transpose == 5)
		return npu_fail(r, "transpose code %d is not defined (rule 8)",
				(int)op->transpose);
	if (op->acc_kept)
		return true;
	if (turned && f->storage == NPU_CHAINED)
		return npu_fail(r, "a transposed or reversed OFM is chained "
				   "(rule 56)");
	if (f->storage == NPU_CHAINED) {
		if (f->chain >= NPU_MAX_CHAINS || f->bits > 32)
			return npu_fail(r, "chain buffer %d for %d bits (rule 54)",
					f->chain, f->bits);
		uint64_t n = (uint64_t)hwc_elements(op->extent);
		/* the simulator limits the memory that it keeps between two operations */
		if (n > SIM_MAX_BYTES / 4 || !npu_spend(r, n))
			return npu_fail(r, "a chained feature map of %llu elements",
					(unsigned long long)n);
		if (!r->links)
			r->links = arena_open();
		r->chain[f->chain] = (struct npu_link){
			.v = anew(r->links, int32_t, (size_t)n), .shape = op->extent,
			.bits = f->bits, .is_signed = f->is_signed };
		return true;
	}
	if (f->storage == NPU_STORED_NONE)
		return true;
	if (f->storage != NPU_TILES)
		return npu_fail(r, "OFM: storage mode %d (rule 8)", (int)f->storage);
	return fm_check(r, f, "OFM", true);
}

/* A chain ends with the first member that stores its result (ethosu-commands(7) 29). */
void
npu85_close_ofm(struct npu_run *r)
{
	if (r->op.ofm.storage == NPU_CHAINED || !r->links)
		return;
	arena_close(r->links);
	r->links = NULL;
	memset(r->chain, 0, sizeof(r->chain));
}

struct place {
	int32_t y, x, c;
};

/* The stored position of result (y, x, c) (ethosu-commands(7) 23.3). */
static struct place
turned(const struct npu_op *op, int32_t y, int32_t x, int32_t c)
{
	if (op->reverse == NPU_REVERSE_H)
		y = op->extent.h - 1 - y;
	else if (op->reverse == NPU_REVERSE_W)
		x = op->extent.w - 1 - x;
	else if (op->reverse == NPU_REVERSE_C)
		c = op->extent.c - 1 - c;
	switch (op->transpose) {
	case NPU_WHC:
		return (struct place){ .y = x, .x = y, .c = c };
	case NPU_HCW:
		return (struct place){ .y = y, .x = c, .c = x };
	case NPU_WCH:
		return (struct place){ .y = x, .x = c, .c = y };
	case NPU_CHW:
		return (struct place){ .y = c, .x = y, .c = x };
	case NPU_CWH:
		return (struct place){ .y = c, .x = x, .c = y };
	case NPU_HWC:
		break;
	}
	return (struct place){ .y = y, .x = x, .c = c };
}

static void
store_bits(uint8_t *p, int64_t v, int bits)
{
	if (bits == 8)
		*p = (uint8_t)v;
	else if (bits == 16)
		store_le16(p, (uint16_t)v);
	else
		store_le32(p, (uint32_t)v);
	if (bits == 64)
		store_le32(p + 4, (uint32_t)((uint64_t)v >> 32));
}

static void
store_chain(struct npu_run *r, int32_t y, int32_t x, int32_t n,
	    const int64_t *v)
{
	const struct npu_fm *f = &r->op.ofm;
	struct hwc e = r->op.extent;
	int32_t *to = r->chain[f->chain].v + ((int64_t)y * e.w + x) * e.c;
	for (int64_t i = 0; i < (int64_t)n * e.c; i++)
		to[i] = of_type((int32_t)v[i], f);
}

void
npu85_store(struct npu_run *r, int32_t y, int32_t x, int32_t n,
	    const int64_t *v)
{
	const struct npu_op *op = &r->op;
	const struct npu_fm *f = &op->ofm;
	int32_t depth = op->extent.c;
	if (f->storage == NPU_CHAINED)
		store_chain(r, y, x, n, v);
	if (f->storage != NPU_TILES)
		return;
	uint8_t *mem = r->job->region[f->region].wr;
	for (int32_t i = 0; i < n; i++)
		for (int32_t c = 0; c < depth; c++) {
			struct place p = turned(op, y, x + i, c);
			store_bits(mem + npu_fm_address(f, p.y, p.x, p.c),
				   v[(int64_t)i * depth + c], f->bits);
		}
}
