/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accumulators, scaling, zero point, clamp and tables of U85 (ethosu-commands(7) 26.1
 * to 26.5).
 */
#include "sim/npu85.h"

#include "base/fixed.h"
#include "base/little_endian.h"

#include <string.h>

/* ---- scaling (ethosu-commands(7) 26.2) ------------------------------------ */

/* With |v| below this value, v times any multiplier leaves bits for rounding in 64 bits. */
#define NARROW ((int64_t)1 << 30)

struct npu_scaler
npu_scaler(uint32_t mult, int shift, enum npu_rounding mode, int double_shift)
{
	struct npu_scaler s = { .mult = mult, .shift = shift };
	if (shift == 0) /* a plain product */
		return s;
	int64_t half = (int64_t)1 << (shift - 1);
	bool doubles = shift > 31 - double_shift && double_shift <= 30;
	int64_t d = doubles ? (int64_t)1 << (30 - double_shift) : 0;
	switch (mode) {
	case NPU_ROUND_DBL:
		s.add = half + d;
		s.add_negative = half - d;
		break;
	case NPU_ROUND_DBL_ASYMMETRIC:
		s.add = s.add_negative = half + d;
		break;
	case NPU_ROUND_NATURAL:
		s.add = s.add_negative = half;
		break;
	case NPU_ROUND_SYMMETRIC:
		s.add = half;
		s.add_negative = half - 1;
		break;
	case NPU_ROUND_TRUNCATE:
		s.add_negative = (int64_t)(((uint64_t)1 << shift) - 1);
		break;
	case NPU_ROUND_TRUNCATE_LOWER:
	case NPU_ROUND_UNDEFINED:
		break;
	}
	return s;
}

int64_t
npu_scaled(const struct npu_scaler *s, int64_t v)
{
	int64_t add = v < 0 ? s->add_negative : s->add;
	if (v < NARROW && v > -NARROW && s->shift < 62)
		return (v * s->mult + add) >> s->shift;
	return fixed_scale_wide(v, s->mult, add, s->shift);
}

/* ---- checks -------------------------------------------------------------- */

/*
 * The input that a table function takes, and the OFM that it makes
 * (ethosu-commands(7) 23.5).
 */
static const struct function {
	int in, out; /* bits; negative: signed; 0: not defined */
} functions[32] = {
	[NPU_ACT85_U8_U8] = { 8, 8 },	  [NPU_ACT85_S8_S8] = { -8, -8 },
	[NPU_ACT85_S8_S16] = { -8, -16 }, [NPU_ACT85_S8_S32] = { -8, -32 },
	[NPU_ACT85_S16_S16] = { -16, -16 }, [NPU_ACT85_S16_S32] = { -16, -32 },
	[NPU_ACT85_TANH] = { -16, -16 },  [NPU_ACT85_SIGMOID] = { -16, -16 },
};

/* the first argument of SIGMOID's second segment */
enum { LEAST = -130560 };

/*
 * The simulator computes TANH and SIGMOID as the reference does.  Therefore the table must
 * contain these functions, which is checked at both ends of every segment, interpolated as by
 * the hardware (ethosu-commands(7) 26.4).  Below LEAST the reference saturates, but a table
 * does not (W3 in ethosu-commands(7) 17).
 */
static bool
check_function_table(struct npu_run *r)
{
	enum { SEGMENTS = 512 };
	bool tanh = r->op.activation == NPU_ACT85_TANH;
	int bits = tanh ? 8 : 9; /* of a segment's length */
	int32_t length = 1 << bits;
	for (int32_t i = 0; i < 2 * SEGMENTS; i++) {
		int32_t v = (i / 2 - SEGMENTS / 2) * length +
			    (i & 1 ? length - 1 : 0);
		const uint8_t *entry =
		    r->table + r->op.table.at + 4 * ((v >> bits) + 256);
		int64_t base = (int16_t)load_le16(entry);
		int64_t slope = (int16_t)load_le16(entry + 2);
		int64_t y = base * length + slope * (v & (length - 1)) - (v < 0);
		int64_t is = tanh ? clamp_i32((y + 128) >> 8, INT16_MIN, INT16_MAX)
				  : clamp_i32((y + (1 << 24) + 512) >> 10, 0, INT16_MAX);
		int64_t wants = tanh ? npu_tanh(v) : npu_sigmoid(v);
		if (is != wants && (tanh || v > LEAST))
			return npu_fail(r, "its table is not %s: %d at %d, not %d "
					   "(rule 38)", tanh ? "TANH" : "SIGMOID",
					(int)is, (int)v, (int)wants);
	}
	return true;
}

static bool
check_function(struct npu_run *r)
{
	const struct npu_op *op = &r->op;
	const struct function *f = &functions[op->activation];
	if (op->activation == NPU_ACT_NONE)
		return true;
	if (!f->out)
		return npu_fail(r, "activation %d is not defined (rule 8)",
				op->activation);
	if ((f->out < 0 ? -f->out : f->out) != op->ofm.bits)
		return npu_fail(r, "activation %d makes %d bits, the OFM has %d "
				   "(rule 38)", op->activation,
				f->out < 0 ? -f->out : f->out, op->ofm.bits);
	if (op->table.at + op->table.n > LUT_BYTES)
		return npu_fail(r, "a table of %lld bytes at 0x%llx (rule 38)",
				(long long)op->table.n,
				(unsigned long long)op->table.at);
	for (int64_t i = op->table.at; i < op->table.at + op->table.n; i++)
		if (!r->table_valid[i])
			return npu_fail(r, "reads byte 0x%llx of the tables, "
					   "which nothing has written (rule 38)",
					(unsigned long long)i);
	bool curve = op->activation == NPU_ACT85_TANH ||
		     op->activation == NPU_ACT85_SIGMOID;
	return !curve || check_function_table(r);
}

static bool
clips(const struct npu_op *op)
{
	return op->clip_range == 0 && (op->ofm.bits <= 16 || op->table.n);
}

bool
npu85_stage(struct npu_run *r, struct npu_stage *s)
{
	const struct npu_op *op = &r->op;
	*s = (struct npu_stage){ .row = NULL };
	if (!op->acc_kept && clips(op) && op->min > op->max)
		return npu_fail(r, "clamp minimum %d is above the maximum %d "
				   "(rule 10)", op->min, op->max);
	if (op->rounding == NPU_ROUND_UNDEFINED)
		return npu_fail(r, "rounding mode is not defined (rule 8)");
	if (!npu85_open_ofm(r) || (!op->acc_kept && !check_function(r)))
		return false;
	s->row = anew(r->a, int64_t, (size_t)op->extent.w * (size_t)op->extent.c);
	/*
	 * products of 32-bit words are only shifted, whatever the multiplier
	 * (ethosu-commands(7) 26.3)
	 */
	bool word_product = op->kind == NPU_ELEMENTWISE &&
			    op->mode == NPU_ELT_MUL && op->ifm.bits == 32;
	s->one = npu_scaler(word_product ? 1 : op->ofm_mult, op->ofm_shift,
			    op->rounding, op->ofm_double);
	/* an average is scaled by its division alone (ethosu-commands(7) 26.6) */
	bool average = op->kind == NPU_POOL && op->mode == NPU_POOL_AVERAGE;
	if (average)
		s->one = npu_scaler(1, 0, op->rounding, 0);
	if (!op->scales[0].n || op->acc_kept || average)
		return true;
	struct npu_channel *ch;
	if (!npu_load_channels(r, &ch))
		return false;
	s->channel = ch;
	s->scaler = anew(r->a, struct npu_scaler, (size_t)op->extent.c);
	for (int32_t c = 0; c < op->extent.c; c++)
		s->scaler[c] = npu_scaler(ch[c].mult, ch[c].shift, op->rounding,
					  op->ofm_double);
	return true;
}

/* ---- values -------------------------------------------------------------- */

static int64_t
interpolated(const uint8_t *table, int32_t v, bool wide)
{
	const uint8_t *entry = table + 4 * ((v + 32768) >> 7);
	int32_t base = (int16_t)load_le16(entry);
	int32_t slope = (int16_t)load_le16(entry + 2), f = v & 127;
	if (wide)
		return base * 128 + slope * f;
	return base + ((slope * f + 64) >> 7);
}

static int64_t
looked_up(const struct npu_run *r, int64_t value)
{
	const struct npu_op *op = &r->op;
	const uint8_t *t = r->table + op->table.at;
	int32_t s8 = clamp_i32(value, -128, 127) + 128;
	int32_t s16 = clamp_i32(value, INT16_MIN, INT16_MAX);
	switch (op->activation) {
	case NPU_ACT85_U8_U8:
		return t[clamp_i32(value, 0, 255)];
	case NPU_ACT85_S8_S8:
		return (int8_t)t[s8];
	case NPU_ACT85_S8_S16:
		return (int16_t)load_le16(t + 2 * (size_t)s8);
	case NPU_ACT85_S8_S32:
		return (int32_t)load_le32(t + 4 * (size_t)s8);
	case NPU_ACT85_S16_S16:
		return interpolated(t, s16, false);
	case NPU_ACT85_S16_S32:
		return interpolated(t, s16, true);
	default:
		return value;
	}
}

/*
 * Steps 7 to 9 for one value.  TANH and SIGMOID come before the clamp (W3 in
 * ethosu-commands(7) 17).
 */
static int64_t
finished(const struct npu_run *r, int64_t v)
{
	const struct npu_op *op = &r->op;
	/* a product of words at most; the sum with a zero point stays inside 64 bits */
	const int64_t far = (int64_t)1 << 62;
	v = clamp_i64(v, -far, far) + op->ofm.zero;
	if (op->activation == NPU_ACT85_TANH)
		v = npu_tanh(v);
	else if (op->activation == NPU_ACT85_SIGMOID)
		/* below LEAST it is 1 only if the table says so: its first slope is not 0 */
		v = v < LEAST && load_le16(r->table + op->table.at + 2) == 0 ? 0 : npu_sigmoid(v);
	if (clips(op))
		v = clamp_i64(v, op->min, op->max);
	return op->table.n ? looked_up(r, v) : v;
}

bool
npu85_put(struct npu_run *r, struct npu_stage *s, int32_t y, int32_t x,
	  int32_t n, int64_t *acc)
{
	const struct npu_op *op = &r->op;
	int32_t depth = op->extent.c;
	int64_t count = (int64_t)n * depth;
	/*
	 * shifts to the left lose bits on purpose; other overflows are not documented
	 * (W2 in ethosu-commands(7) 17)
	 */
	bool counts = op->ofm.bits == 32 && (op->kind != NPU_ELEMENTWISE ||
					     op->mode != NPU_ELT_SHL);
	if (npu_has_accumulators(op)) {
		/*
		 * A sum wraps at the width of the accumulator format, an assumption (W4 in
		 * ethosu-commands(7) 17).  The run counts such sums.
		 */
		int bits = op->acc_format == 1 ? 48 : 32;
		int64_t sign = (int64_t)1 << (bits - 1);
		uint64_t mask = ((uint64_t)1 << bits) - 1;
		for (int64_t i = 0; i < count; i++) {
			if (acc[i] >= -sign && acc[i] < sign)
				continue;
			r->overflows++;
			acc[i] = (int64_t)(((uint64_t)acc[i] & mask) ^ (uint64_t)sign) - sign;
		}
	}
	if (op->acc_kept) {
		int64_t at = ((int64_t)y * op->extent.w + x) * depth;
		memcpy(r->held.v + at, acc, (size_t)count * sizeof(*acc));
		return true;
	}
	for (int64_t i = 0; i < count; i++) {
		int32_t c = (int32_t)(i % depth);
		int64_t v = acc[i] + (s->channel ? s->channel[c].bias : 0);
		s->row[i] = finished(r, npu_scaled(s->scaler ? &s->scaler[c]
							     : &s->one, v));
		r->overflows += counts && s->row[i] != (int32_t)s->row[i];
	}
	if (y == 0 && x == 0)
		r->flag = s->row[0] & 1;
	npu85_store(r, y, x, n, s->row);
	return true;
}

/* ---- accumulators (ethosu-commands(7) 26.5) -------------------------------- */

bool
npu85_open_accumulators(struct npu_run *r)
{
	const struct npu_op *op = &r->op;
	struct npu_held *h = &r->held;
	bool keep = op->acc_input == NPU_ACC_KEEP && npu_has_accumulators(op);
	if (keep && (!h->v || !hwc_equal(h->shape, op->extent) ||
		     !hwc_equal(h->ublock, op->ublock)))
		return npu_fail(r, "continues accumulators that the operation "
				   "before has not left so (rule 55)");
	if ((keep || op->acc_kept) && !npu_is_one_block(op))
		return npu_fail(r, "accumulators of more than one block are kept "
				   "(rule 55)");
	if (keep || !op->acc_kept)
		return true;
	uint64_t n = (uint64_t)hwc_elements(op->extent);
	if (n > SIM_MAX_BYTES / 8 || !npu_spend(r, n))
		return npu_fail(r, "keeps %llu accumulators",
				(unsigned long long)n);
	if (r->holding)
		arena_close(r->holding);
	r->holding = arena_open();
	*h = (struct npu_held){ .v = anew(r->holding, int64_t, (size_t)n),
				.shape = op->extent, .ublock = op->ublock };
	return true;
}

const int64_t *
npu85_held(const struct npu_run *r, int32_t y, int32_t x)
{
	const struct npu_op *op = &r->op;
	if (op->acc_input != NPU_ACC_KEEP)
		return NULL;
	return r->held.v + ((int64_t)y * op->extent.w + x) * op->extent.c;
}
