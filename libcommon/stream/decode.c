/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes words into commands and commands into registers (ethosu-commands(7) 1, 2). */
#include "stream/stream.h"

#include "stream/op.h"
#include "target/accel.h"

/*
 * Select rows of the table: OLD_ for products other than U85, NEW_ for U85.  A code may be
 * in both.
 */
#define OLD_ALL(row) row
#define OLD_BOTH(row) row
#define OLD_WIDE(row) row
#define OLD_U65(row) row
#define OLD_CUSTOM(row) row
#define OLD_U85(row)
#define NEW_ALL(row) row
#define NEW_BOTH(row)
#define NEW_WIDE(row) row
#define NEW_U65(row)
#define NEW_CUSTOM(row)
#define NEW_U85(row) row

static enum npu_reg
find_register(uint32_t code)
{
	switch (code) {
#define NPU_REG0(op, name, bits, bits85, products)                           \
	OLD_##products(case op: return NPU_##name;)
#define NPU_REG1(op, name, kind, products)                                   \
	OLD_##products(case 0x4000 | (op): return NPU_##name;)
#include "ethosu.def"
	default:
		return NPU_REGS;
	}
}

static enum npu_reg
find_register85(uint32_t code)
{
	switch (code) {
#define NPU_REG0(op, name, bits, bits85, products)                           \
	NEW_##products(case op: return NPU_##name;)
#define NPU_REG1(op, name, kind, products)                                   \
	NEW_##products(case 0x4000 | (op): return NPU_##name;)
#include "ethosu.def"
	default:
		return NPU_REGS;
	}
}

static enum npu_reg (*const find[GENERATIONS])(uint32_t code) = {
	[GEN_U55] = find_register,
	[GEN_U65] = find_register,
	[GEN_U85] = find_register85,
};

bool
stream_next(const struct npu_stream *s, size_t *at, struct npu_command *out,
	    struct err *e)
{
	if (*at >= s->n_words)
		return false;
	uint32_t w = s->word[*at];
	*out = (struct npu_command){ .at = *at, .code = w & 0xffff,
				     .param = (uint16_t)(w >> 16),
				     .generation = s->accel->generation };
	size_t offset = 4 * *at;
	out->has_payload = out->code & 0x4000;
	if (out->code & 0xbc00)
		return err_set(e, "0x%06zx: word 0x%08x has reserved code bits "
				  "set (rule 1)", offset, w);
	out->info = npu_operation(out->code);
	if (out->info) {
		out->is_op = true;
	} else {
		out->reg = find[out->generation](out->code);
		if (out->reg < NPU_REGS)
			out->info = &npu_registers[out->reg];
	}
	/* bit number in the CONFIG word (ethosu-commands(7) 14.3) */
	enum { CUSTOM_DMA_BIT = 27 };
	bool exists = false;
	if (out->info)
		exists = out->info->products & NPU_CUSTOM
				 ? s->config >> CUSTOM_DMA_BIT & 1
				 : out->info->products >> s->accel->generation & 1;
	if (!exists)
		return err_set(e, "0x%06zx: command 0x%04x doesn't exist on %s "
				  "(rule 1)", offset, out->code,
			       s->accel->name);
	if (out->has_payload && *at + 1 >= s->n_words)
		return err_set(e, "0x%06zx: %s: the stream ends before its "
				  "payload (rule 1)", offset, out->info->name);
	if (out->has_payload)
		out->payload = s->word[*at + 1];
	*at += out->has_payload ? 2 : 1;
	return true;
}

void
npu_write(struct npu_registers *r, const struct npu_command *c)
{
	r->value[c->reg] = c->has_payload ? c->payload : c->param;
	r->high[c->reg] = c->has_payload ? c->param : 0;
	r->written[c->reg] = true;
}

int64_t
npu_address(const struct npu_registers *r, enum npu_reg reg)
{
	return (int64_t)(r->high[reg] & 0xff) << 32 | r->value[reg];
}

/*
 * Negative strides have their sign in the param, 0xffff or 0x00ff, on both products.  The
 * low 40 bits are the value (ethosu-commands(7) 1).
 */
int64_t
npu_stride(const struct npu_registers *r, enum npu_reg reg)
{
	int64_t v = npu_address(r, reg);
	return v >> 39 & 1 ? v - ((int64_t)1 << 40) : v;
}

void
walk_init(struct npu_walk *w, const struct npu_stream *s)
{
	*w = (struct npu_walk){ .stream = s };
}

bool
walk_next(struct npu_walk *w, struct npu_op *op, struct err *e)
{
	struct npu_command c;
	while (stream_next(w->stream, &w->at, &c, e)) {
		if (!c.is_op) {
			npu_write(&w->regs, &c);
			continue;
		}
		npu_op_decode(&w->regs, w->stream->accel, &c, op);
		if (npu_is_kernel(op) || op->kind == NPU_DMA)
			op->index = w->n_ops++;
		return true;
	}
	return false;
}
