/* SPDX-License-Identifier: Apache-2.0 */
/* Scaling and the output stage (ethosu-commands(7) 6.2 to 6.6). */
#include "sim/npu.h"

#include "base/fixed.h"
#include "base/little_endian.h"

/* With |v| below this value, v times any multiplier leaves bits for rounding in 64 bits. */
#define NARROW ((int64_t)1 << 30)

/*
 * (v * mult + rounding) >> shift.  With double rounding d_term is added in the direction
 * of v's sign (ethosu-commands(7) 6.2, 6.10).
 */
static inline int64_t
scale(int64_t v, uint32_t mult, int shift, enum npu_rounding rounding,
      int64_t d_term)
{
	bool narrow = v < NARROW && v > -NARROW && shift < 62;
	int64_t half = shift ? (int64_t)1 << (shift - 1) : 0, add = 0;
	if (rounding == NPU_ROUND_NATURAL)
		add = half;
	else if (rounding == NPU_ROUND_DBL)
		add = half + (v >= 0 ? d_term : -d_term);
	else if (v < 0)
		add = (int64_t)(((uint64_t)1 << shift) - 1);
	if (shift == 0)
		add = 0;
	if (narrow)
		return (v * mult + add) >> shift;
	/* 40-bit sums times 2^32: results that don't fit saturate everywhere */
	return fixed_scale_wide(v, mult, add, shift);
}

int64_t
npu_scale(int64_t v, uint32_t mult, int shift, enum npu_rounding rounding)
{
	return scale(v, mult, shift, rounding,
		     shift > 31 ? (int64_t)1 << 30 : 0);
}

int64_t
npu_scale_operand(int64_t v, uint32_t mult, int shift,
		  enum npu_rounding rounding, int d)
{
	return scale(v, mult, shift, rounding,
		     shift > 31 - d ? (int64_t)1 << (30 - d) : 0);
}

/* ---- checks ------------------------------------------------------------- */

bool
npu_output_check(struct npu_run *r)
{
	const struct npu_op *op = &r->op;
	bool plain32 = op->ofm.bits == 32 && !npu_uses_table(op);
	if (!plain32 && op->min > op->max)
		return npu_fail(r, "clamp minimum %d is above the maximum %d "
				   "(rule 10)", op->min, op->max);
	if (npu_uses_table(op)) {
		struct npu_range t = op->table;
		int n = op->activation - NPU_ACT_TABLE0;
		if (n > 7 || (t.n == 1024 && n % 4) || (t.n == 2048 && n))
			return npu_fail(r, "table %d can't hold %lld bytes (rule 38)", n,
					(long long)t.n);
		for (int64_t i = t.at; i < t.at + t.n; i++)
			if (!r->table_valid[i])
				return npu_fail(r, "reads byte 0x%llx of the tables, "
						   "which nothing has written since it "
						   "was lost (rule 38)",
						(unsigned long long)i);
		return true;
	}
	if (op->activation != NPU_ACT_NONE && op->activation != NPU_ACT_TANH &&
	    op->activation != NPU_ACT_SIGMOID)
		return npu_fail(r, "activation %d is not defined (rule 8)",
				op->activation);
	return true;
}

/* ---- values ------------------------------------------------------------- */

static int32_t
lookup(const struct npu_run *r, int32_t v)
{
	const struct npu_op *op = &r->op;
	const uint8_t *t = r->table + op->table.at;
	if (op->ofm.bits == 16) {
		/*
		 * 512 segments of 128: base in the low half, slope in the high half
		 * (ethosu-commands(7) 6.5)
		 */
		v = clamp_i32(v, INT16_MIN, INT16_MAX);
		const uint8_t *entry = t + 4 * ((v + 32768) >> 7);
		int32_t base = (int16_t)load_le16(entry);
		int32_t slope = (int16_t)load_le16(entry + 2);
		return clamp_i32(base + ((slope * (v & 127) + 64) >> 7),
				 INT16_MIN, INT16_MAX);
	}
	if (op->ofm.bits == 32) /* the index is an int8 (clip range 3) */
		return (int32_t)load_le32(t + 4 * (clamp_i32(v, -128, 127) + 128));
	return op->ofm.is_signed
		   ? (int8_t)t[(clamp_i32(v, -128, 127) + 128)]
		   : t[clamp_i32(v, 0, 255)];
}

/* Keeps sums with a zero point inside 64 bits: any value beyond saturates anyway. */
static inline int64_t
limit_60_bits(int64_t v)
{
	const int64_t far = (int64_t)1 << 60;
	return v > far ? far : v < -far ? -far : v;
}

void
npu_output(const struct npu_run *r, const int64_t *s, int64_t n, int32_t *out)
{
	const struct npu_op *op = &r->op;
	int32_t zero = op->ofm.zero, lo = op->min, hi = op->max;
	if (op->ofm.bits == 8) { /* the OFM's type limits MIN and MAX (ethosu-commands(7) 6.4) */
		lo = clamp_i32(lo, op->ofm.is_signed ? -128 : 0, 255);
		hi = clamp_i32(hi, -128, op->ofm.is_signed ? 127 : 255);
	}
	if (op->activation == NPU_ACT_TANH || op->activation == NPU_ACT_SIGMOID) {
		bool tanh = op->activation == NPU_ACT_TANH;
		for (int64_t i = 0; i < n; i++) {
			int32_t f = tanh ? npu_tanh(limit_60_bits(s[i]))
					 : npu_sigmoid(limit_60_bits(s[i]));
			out[i] = clamp_i32((int64_t)f + zero, lo, hi);
		}
	} else if (npu_uses_table(op)) {
		for (int64_t i = 0; i < n; i++)
			out[i] = lookup(r, clamp_i32(limit_60_bits(s[i]) + zero, lo,
						     hi));
	} else if (op->ofm.bits == 32) {
		/* no zero point and no clamp, but saturation (ethosu-commands(7) 6.4) */
		for (int64_t i = 0; i < n; i++)
			out[i] = clamp_i32(s[i], INT32_MIN, INT32_MAX);
	} else {
		for (int64_t i = 0; i < n; i++)
			out[i] = clamp_i32(limit_60_bits(s[i]) + zero, lo, hi);
	}
}

void
npu_watch(struct npu_run *r, const int64_t *acc, int64_t n)
{
	int bits = r->op.acc_format == 1 ? 40 : 32;
	int64_t limit = (int64_t)1 << (bits - 1);
	for (int64_t i = 0; i < n; i++)
		r->overflows += acc[i] < -limit || acc[i] >= limit;
}
