/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of a stream.  A write that repeats the register's value is left out
 * (ethosu-commands(7) 12); no values are assumed at the start.
 */
#include "emit/regs.h"

#include "base/little_endian.h"
#include "target/accel.h"

#include <assert.h>

static void
put_word(struct emitter *m, uint32_t w)
{
	struct emit_words *out = m->out;
	out->word = arena_grow(m->a, out->word, out->n, &m->cap_words,
			       sizeof(*out->word));
	out->word[out->n++] = w;
}

static bool
is_new(struct emitter *m, enum npu_reg reg, uint64_t value)
{
	if (m->written[reg] && m->last[reg] == value)
		return false;
	m->written[reg] = true;
	m->last[reg] = value;
	return true;
}

void
emit_reg(struct emitter *m, enum npu_reg reg, int64_t param)
{
	/* signed and unsigned 16-bit fields; a wider value is a bug of ours */
	assert(param >= INT16_MIN && param <= UINT16_MAX);
	uint16_t p = (uint16_t)param;
	if (is_new(m, reg, p))
		put_word(m, npu_code_word(&npu_registers[reg], p));
}

void
emit_reg1(struct emitter *m, enum npu_reg reg, int64_t payload)
{
	/* the sign of a stride, or address bits 39:32 (ethosu-commands(7) 1) */
	uint16_t high = payload < 0 ? 0xffff
				    : (uint16_t)((uint64_t)payload >> 32 & 0xff);
	uint32_t low = (uint32_t)(uint64_t)payload;
	if (!is_new(m, reg, (uint64_t)high << 32 | low))
		return;
	put_word(m, npu_code_word(&npu_registers[reg], high));
	put_word(m, low);
}

void
emit_scale_word(struct emitter *m, enum npu_reg reg, uint16_t param,
		uint32_t mult)
{
	if (!is_new(m, reg, (uint64_t)param << 32 | mult))
		return;
	put_word(m, npu_code_word(&npu_registers[reg], param));
	put_word(m, mult);
}

void
emit_op(struct emitter *m, struct npu_op *r, const struct g_step *step)
{
	static const enum npu_opcode code[] = {
		[NPU_CONV] = NPU_OP_CONV, [NPU_DEPTHWISE] = NPU_OP_DEPTHWISE,
		[NPU_POOL] = NPU_OP_POOL, [NPU_ELEMENTWISE] = NPU_OP_ELEMENTWISE,
		[NPU_RESIZE] = NPU_OP_RESIZE, [NPU_DMA] = NPU_OP_DMA_START,
		[NPU_DMA_WAIT] = NPU_OP_DMA_WAIT, [NPU_KERNEL_WAIT] = NPU_OP_KERNEL_WAIT,
		[NPU_BRANCH] = NPU_OP_BRANCH, [NPU_STOP] = NPU_OP_STOP,
	};
	struct emit_words *out = m->out;
	r->at = out->n;
	r->index = -1;
	if (npu_is_kernel(r) || r->kind == NPU_DMA) {
		r->index = (int)out->n_marks;
		out->mark = arena_grow(m->a, out->mark, out->n_marks,
				       &m->cap_marks, sizeof(*out->mark));
		out->mark[out->n_marks++] =
		    (struct emit_mark){ .at = out->n, .step = step };
	}
	out->op = arena_grow(m->a, out->op, out->n_ops, &m->cap_ops, sizeof(*out->op));
	out->op[out->n_ops++] = *r;
	put_word(m, (uint32_t)code[r->kind] | (uint32_t)r->param << 16);
}

void
emit_wait(struct emitter *m, enum npu_op_kind kind, int n)
{
	struct npu_op r = { .kind = kind, .param = n };
	emit_op(m, &r, NULL);
}

size_t
emit_branch(struct emitter *m, bool if_true, size_t to)
{
	struct npu_op r = { .kind = NPU_BRANCH, .param = if_true, .target = 4 * (int64_t)to };
	emit_op(m, &r, NULL);
	put_word(m, (uint32_t)r.target);
	return m->out->n_ops - 1;
}

struct bytes
emit_payload(struct arena *a, const struct accel *accel,
	     const struct emit_words *w)
{
	/*
	 * ethosu-commands(7) 14: FourCC, configuration (two words), NOPs up to the
	 * alignment
	 */
	enum { HEADER = 8, FOURCC = 0x31504F43, CONFIGURE = 0x00100001, NOP = 5,
	       STREAM = 2 };
	static const uint32_t ids[GENERATIONS] = {
		[GEN_U55] = 0x10104201, [GEN_U65] = 0x10066001,
		[GEN_U85] = 0x20007000,
	};
	uint32_t id = ids[accel->generation];
	uint32_t len = (uint32_t)w->n;
	const uint32_t head[HEADER] = {
		FOURCC, CONFIGURE, accel->config_word, id, NOP, NOP, NOP,
		STREAM | (len >> 16 & 0xff) << 8 | (len & 0xffff) << 16,
	};
	size_t n = 4 * (HEADER + w->n);
	uint8_t *p = arena_alloc(a, n, 1);
	for (size_t i = 0; i < HEADER; i++)
		store_le32(p + 4 * i, head[i]);
	for (size_t i = 0; i < w->n; i++)
		store_le32(p + 4 * (HEADER + i), w->word[i]);
	return (struct bytes){ .p = p, .n = n };
}
