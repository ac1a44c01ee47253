/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has one correct stream and one broken stream for every rule: the verifier must
 * report nothing for the first and the broken rule for the others.
 */
#include "stream/op.h"
#include "verify/verify.h"

#include "target/accel.h"

#include <stdio.h>
#include <string.h>

/* ---- streams made by hand ----------------------------------------------- */

struct words {
	uint32_t w[600];
	size_t n;
	const struct change *change; /* may be NULL */
	int op;			     /* operations written so far */
	struct {
		bool known;
		uint32_t value;
	} last[NPU_REGS];
};

enum how {
	WRITE,	/* this register before operation op */
	OMIT,	/* all writes of the register */
	PARAM,	/* of operation op */
	DROP,	/* operation op */
	INSERT, /* a word before operation op */
};

struct change {
	int rule;
	bool error;
	enum how how;
	int op; /* index in the list in build() */
	enum npu_reg reg;
	uint32_t value;
	uint16_t param;
	bool and; /* with WRITE: also reg2 */
	enum npu_reg reg2;
	uint32_t value2;
};

static void
word(struct words *s, uint32_t w)
{
	s->w[s->n++] = w;
}

static void
set_raw(struct words *s, enum npu_reg reg, uint32_t value, uint16_t param)
{
	const struct npu_command_info *r = &npu_registers[reg];
	if (r->payload == NPU_PARAM) {
		word(s, npu_code_word(r, (uint16_t)value));
	} else {
		word(s, npu_code_word(r, param));
		word(s, value);
	}
}

/* as a generator writes it: only if the register has another value */
static void
set(struct words *s, enum npu_reg reg, uint32_t value)
{
	const struct change *c = s->change;
	bool omit = c && c->how == OMIT && c->reg == reg;
	if (!omit && !(s->last[reg].known && s->last[reg].value == value))
		set_raw(s, reg, value, 0);
	s->last[reg].known = true;
	s->last[reg].value = value;
}

static void
op(struct words *s, enum npu_opcode code, uint16_t param)
{
	const struct change *c = s->change;
	bool here = c && c->op == s->op++;
	if (here && c->how == WRITE)
		set_raw(s, c->reg, c->value, c->param);
	if (here && c->and)
		set_raw(s, c->reg2, c->value2, 0);
	if (here && c->how == INSERT)
		word(s, c->value);
	if (here && c->how == PARAM)
		param = c->param;
	if (!here || c->how != DROP)
		word(s, npu_code_word(npu_operation(code), param));
}

static void
feature_map(struct words *s, enum npu_reg region, enum npu_reg base,
	    enum npu_reg stride_x, enum npu_reg height0, enum npu_reg width0,
	    uint32_t at, uint32_t size)
{
	set(s, region, 1);
	for (unsigned t = 0; t < 4; t++)
		set(s, base + t, t ? 0 : at);
	set(s, stride_x, 16);
	set(s, stride_x + 1, 16 * size); /* STRIDE_Y, STRIDE_C follow */
	set(s, stride_x + 2, 1);
	set(s, width0, size - 1);
	set(s, height0, size - 1);
	set(s, height0 + 1, size - 1); /* HEIGHT1 follows HEIGHT0 */
}

enum { SIZE = 8, IFM_AT = 0, OFM_AT = 1024, NEXT_AT = 2048, WEIGHTS_AT = 4096 };

/* an average pool over 8x8x16, with all registers that a kernel needs */
static void
pool(struct words *s)
{
	feature_map(s, NPU_IFM_REGION, NPU_IFM_BASE0, NPU_IFM_STRIDE_X,
		    NPU_IFM_HEIGHT0_M1, NPU_IFM_WIDTH0_M1, IFM_AT, SIZE);
	feature_map(s, NPU_OFM_REGION, NPU_OFM_BASE0, NPU_OFM_STRIDE_X,
		    NPU_OFM_HEIGHT0_M1, NPU_OFM_WIDTH0_M1, OFM_AT, SIZE);
	static const struct {
		enum npu_reg reg;
		uint32_t value;
	} rest[] = {
		{ NPU_IFM_DEPTH_M1, 15 }, { NPU_IFM_ZERO_POINT, 0xff80 },
		{ NPU_IFM_PRECISION, 0x0001 }, { NPU_IFM_UPSCALE, 0 },
		{ NPU_IFM_PAD_TOP, 0 }, { NPU_IFM_PAD_LEFT, 0 },
		{ NPU_IFM_PAD_BOTTOM, 0 }, { NPU_IFM_PAD_RIGHT, 0 },
		{ NPU_OFM_HEIGHT_M1, 7 }, { NPU_OFM_WIDTH_M1, 7 },
		{ NPU_OFM_DEPTH_M1, 15 }, { NPU_OFM_ZERO_POINT, 3 },
		{ NPU_OFM_PRECISION, 0x0101 },
		{ NPU_KERNEL_HEIGHT_M1, 0 }, { NPU_KERNEL_WIDTH_M1, 0 },
		{ NPU_KERNEL_STRIDE, 0 }, { NPU_ACTIVATION, 0 },
		{ NPU_ACTIVATION_MIN, 0xff80 }, { NPU_ACTIVATION_MAX, 127 },
		{ NPU_OFM_BLK_HEIGHT_M1, 7 }, { NPU_OFM_BLK_WIDTH_M1, 7 },
		{ NPU_OFM_BLK_DEPTH_M1, 15 }, { NPU_IFM_IB_END, 6 },
		{ NPU_AB_START, 14 }, { NPU_ACC_FORMAT, 0 },
		{ NPU_BLOCKDEP, 0 },
	};
	for (size_t i = 0; i < ARRAY_LEN(rest); i++)
		set(s, rest[i].reg, rest[i].value);
	set_raw(s, NPU_OFM_SCALE, 1, 0);
	op(s, NPU_OP_POOL, NPU_POOL_AVERAGE);
}

static void
copy(struct words *s, uint32_t from, uint32_t to_region, uint32_t to,
     uint32_t n)
{
	set(s, NPU_DMA0_SRC_REGION, 0);
	set(s, NPU_DMA0_SRC, from);
	set(s, NPU_DMA0_DST_REGION, to_region);
	set(s, NPU_DMA0_DST, to);
	set(s, NPU_DMA0_LEN, n);
	op(s, NPU_OP_DMA_START, 0);
}

/* 0 pool, 1 DMA of weights, 2 wait, 3 conv, 4 DMA of a table, 5 wait,
 * 6 elementwise through the table, 7 DMA of a table to other slots, 8 stop */
static void
build(struct words *s)
{
	pool(s);
	copy(s, 512, 1, WEIGHTS_AT, 1024);
	op(s, NPU_OP_DMA_WAIT, 0);
	set(s, NPU_IFM_BASE0, OFM_AT);
	set(s, NPU_IFM_ZERO_POINT, 3);
	set(s, NPU_OFM_BASE0, NEXT_AT);
	set(s, NPU_OFM_PRECISION, 0x0001);
	set(s, NPU_WEIGHT_REGION, 1);
	set(s, NPU_WEIGHT_BASE, WEIGHTS_AT + 160);
	set(s, NPU_WEIGHT_LENGTH, 864);
	set(s, NPU_SCALE_REGION, 1);
	set(s, NPU_SCALE_BASE, WEIGHTS_AT);
	set(s, NPU_SCALE_LENGTH, 160);
	op(s, NPU_OP_CONV, 0);
	copy(s, 2048, 0x103, 0x5800, 256);
	op(s, NPU_OP_DMA_WAIT, 0);
	feature_map(s, NPU_IFM2_REGION, NPU_IFM2_BASE0, NPU_IFM2_STRIDE_X,
		    NPU_IFM2_HEIGHT0_M1, NPU_IFM2_WIDTH0_M1, OFM_AT, SIZE);
	set(s, NPU_IFM2_ZERO_POINT, 3);
	set(s, NPU_IFM2_PRECISION, 0x0001);
	set(s, NPU_IFM2_BROADCAST, 0);
	set(s, NPU_IFM2_IB_START, 6);
	set(s, NPU_IFM_BASE0, NEXT_AT);
	set(s, NPU_OFM_BASE0, IFM_AT);
	set(s, NPU_OFM_PRECISION, 0x0101);
	set(s, NPU_OPA_SCALE, 1);
	set(s, NPU_OPB_SCALE, 1);
	set(s, NPU_ACTIVATION, 16);
	set(s, NPU_IFM_IB_END, 22);
	set(s, NPU_AB_START, 22);
	op(s, NPU_OP_ELEMENTWISE, NPU_ELT_ADD);
	copy(s, 2048, 0x103, 0x5900, 256);
	op(s, NPU_OP_STOP, 0xffff);
}

enum { POOL, COPY, WAIT, CONV, LUT, LUT_WAIT, ADD, LUT2, STOP };

#define E true
#define W false
#define CHANGE(r, e, h, o) .rule = (r), .error = (e), .how = (h), .op = (o)
#define SET(r, e, o, g, v) CHANGE(r, e, WRITE, o), .reg = NPU_##g, .value = (v)
#define AND(g, v) .and = true, .reg2 = NPU_##g, .value2 = (v)
static const struct change changes[] = {
	{ CHANGE(1, E, INSERT, CONV), .value = 0x0000014f },
	{ CHANGE(1, E, INSERT, CONV), .value = 0x00008100 },
	{ CHANGE(1, E, INSERT, CONV), .value = 0x00000123 }, /* PARALLEL_MODE: U65 */
	{ CHANGE(2, E, DROP, STOP) },
	{ CHANGE(2, E, INSERT, CONV), .value = 0xffff0000 },
	{ SET(3, E, POOL, IFM_PAD_TOP, 0x80) },
	{ SET(3, E, POOL, OFM_PRECISION, 0x0121) },
	{ SET(3, E, ADD, OPB_SCALE, 0x10000) },
	{ CHANGE(3, W, PARAM, STOP), .param = 1 },
	{ SET(4, E, POOL, IFM_BASE0, IFM_AT), .param = 1 },
	{ SET(4, E, COPY, DMA0_SRC_REGION, 0x0200) },
	{ SET(6, W, CONV, IFM_BASE0, OFM_AT) },
	{ CHANGE(7, E, OMIT, 0), .reg = NPU_ACC_FORMAT },
	{ CHANGE(7, E, OMIT, 0), .reg = NPU_WEIGHT_LENGTH },
	{ CHANGE(7, E, OMIT, 0), .reg = NPU_IFM2_BASE0 },
	{ CHANGE(8, E, PARAM, POOL), .param = 3 },
	{ CHANGE(8, E, PARAM, ADD), .param = 10 },
	{ SET(8, E, POOL, IFM_PRECISION, 0xc001) },
	{ SET(8, E, POOL, IFM_PRECISION, 0x0081) },
	{ SET(8, E, POOL, ACTIVATION, 1) },
	{ SET(8, E, POOL, IFM_UPSCALE, 3) },
	{ SET(9, E, POOL, ACTIVATION, 0x3000) },
	{ SET(10, E, POOL, ACTIVATION_MAX, 0xff00) },
	{ SET(11, E, ADD, IFM_PRECISION, 0x0009) },
	{ SET(12, E, POOL, OFM_ZERO_POINT, 128) },
	{ SET(13, E, CONV, IFM_PRECISION, 0x0009) },
	{ SET(13, E, ADD, IFM2_PRECISION, 0x0000) },
	{ SET(14, E, ADD, IFM2_BROADCAST, 0x80), AND(IFM2_SCALAR, 200) },
	{ SET(15, E, ADD, IFM_PRECISION, 0x0109) },
	{ SET(16, E, ADD, IFM_PRECISION, 0x0009), AND(OPA_SCALE, 2) },
	{ SET(17, W, CONV, OFM_PRECISION, 0x0101) },
	{ SET(18, E, POOL, OFM_PRECISION, 0x0001) },
	{ SET(19, W, POOL, ACTIVATION, 3) },
	{ CHANGE(20, E, PARAM, POOL), .param = NPU_POOL_REDUCE_SUM },
	{ SET(21, E, POOL, IFM_DEPTH_M1, 14) },
	{ SET(22, E, CONV, KERNEL_STRIDE, 0x10),
	  AND(KERNEL_HEIGHT_M1, 3) },
	{ SET(22, W, POOL, KERNEL_STRIDE, 0x41) },
	{ SET(23, E, POOL, IFM_PAD_RIGHT, 129) },
	{ SET(23, W, POOL, IFM_PAD_RIGHT, 1) },
	{ SET(24, E, POOL, IFM_PAD_BOTTOM, 8) },
	{ SET(25, W, POOL, IFM_WIDTH0_M1, 6) },
	{ SET(26, E, CONV, KERNEL_HEIGHT_M1, 64) },
	{ SET(26, W, POOL, KERNEL_HEIGHT_M1, 256) },
	{ SET(27, E, ADD, IFM_UPSCALE, 1) },
	{ SET(28, W, ADD, IFM2_WIDTH0_M1, 6) },
	{ SET(31, E, CONV, WEIGHT_BASE, WEIGHTS_AT + 168) },
	{ SET(31, E, POOL, IFM_PRECISION, 0x0041) },
	{ SET(32, E, CONV, SCALE_LENGTH, 144) },
	{ SET(32, E, CONV, WEIGHT_LENGTH, 0) },
	{ SET(33, E, POOL, OFM_REGION, 0) },
	{ SET(33, E, COPY, DMA0_DST_REGION, 0) },
	{ SET(34, W, POOL, OFM_STRIDE_Y, 64) },
	{ SET(35, W, POOL, OFM_BASE0, 16) },
	{ SET(36, E, COPY, DMA0_LEN, 1000) },
	{ SET(36, E, COPY, DMA0_SRC, 516) },
	{ SET(37, E, LUT, DMA0_DST, 0x5400) },
	{ SET(37, E, LUT, DMA0_DST_REGION, 0x0100) },
	{ SET(35, W, ADD, OFM_BASE0, OFM_AT + 512) }, /* in one block */
	{ SET(35, E, ADD, OFM_BASE0, OFM_AT + 512), AND(OFM_BLK_HEIGHT_M1, 3) },
	{ SET(38, E, ADD, ACTIVATION, 17) },
	{ SET(39, E, POOL, OFM_BLK_WIDTH_M1, 6) },
	{ SET(39, E, POOL, OFM_BLK_DEPTH_M1, 7) },
	{ SET(40, E, POOL, IFM_IB_END, 5) },
	{ SET(40, E, POOL, AB_START, 4) },
	{ SET(40, E, ADD, IFM2_IB_START, 22) },
	{ SET(40, E, ADD, IFM2_IB_START, 9) },
	{ SET(40, E, ADD, IFM2_IB_START, 9), AND(IFM_IB_END, 18) },
	{ SET(41, E, POOL, IFM_IB_END, 4) },
	{ SET(41, E, POOL, AB_START, 16) },
	{ SET(41, E, ADD, IFM2_IB_START, 4) },
	{ SET(42, W, POOL, IFM_IB_END, 8) },
	{ CHANGE(44, E, DROP, WAIT) },
	{ CHANGE(44, E, DROP, LUT_WAIT) },
	{ SET(44, E, COPY, DMA0_DST, OFM_AT) }, /* the pool's OFM */
	{ SET(44, E, LUT2, DMA0_DST, 0x5800) }, /* the table that is being read */
	{ CHANGE(45, W, INSERT, COPY), .value = 0x00000012 },
	{ CHANGE(46, W, PARAM, WAIT), .param = 1 },
	{ SET(47, E, CONV, BLOCKDEP, 1) },
	{ SET(47, W, POOL, BLOCKDEP, 1) },
	{ SET(59, E, CONV, IFM_STRIDE_Y, 64) }, /* rows overlap, too */
	{ SET(59, E, CONV, IFM_STRIDE_X, 8), AND(OFM_BASE0, OFM_AT + 512) },
};

/* streams of shipped files: warnings at most */
static const struct change unusual[] = {
	{ SET(40, E, ADD, IFM2_IB_START, 9), AND(IFM_IB_END, 16) },
	{ SET(59, E, CONV, IFM_STRIDE_X, 8) }, /* windows of a row */
	{ SET(59, E, CONV, IFM_STRIDE_X, 0) }, /* a repeated pixel */
};

struct seen {
	unsigned errors, warnings;
	bool rule;
	const struct change *c;
	char text[500]; /* of the first finding */
};

static void
look(void *ctx, const struct npu_finding *f)
{
	struct seen *x = ctx;
	if (!x->errors && !x->warnings)
		(void)snprintf(x->text, sizeof(x->text), "%s rule %d: %s",
			       f->error ? "error" : "warning", f->rule, f->text);
	*(f->error ? &x->errors : &x->warnings) += 1;
	if (x->c && f->rule == x->c->rule && f->error == x->c->error)
		x->rule = true;
}

static struct seen
verify(const struct change *c)
{
	struct words s = { .change = c };
	struct seen x = { .c = c };
	struct npu_verify v = { .report = look, .ctx = &x };
	build(&s);
	struct npu_stream stream = { .accel = accel_find("ethos-u55-128"),
				     .word = s.w, .n_words = s.n,
				     .subgraph = -1, .op = -1, .name = "test" };
	stream_verify(NULL, &stream, 1, &v);
	return x;
}

static int
count_refused(void)
{
	int refused = 0;
	for (size_t i = 0; i < ARRAY_LEN(unusual); i++) {
		struct seen x = verify(&unusual[i]);
		if (!x.errors)
			continue;
		refused++;
		printf("unusual stream %zu: %u errors, %s\n", i, x.errors,
		       x.text);
	}
	return refused;
}

int
main(void)
{
	int failed = count_refused();
	struct seen good = verify(NULL);
	if (good.errors || good.warnings) {
		printf("the correct stream: %u errors, %u warnings: %s\n",
		       good.errors, good.warnings, good.text);
		failed++;
	}
	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		const struct change *c = &changes[i];
		struct seen x = verify(c);
		if (x.rule)
			continue;
		failed++;
		printf("change %zu: rule %d (%s) not found; %u errors, %u "
		       "warnings, first %s\n", i, c->rule,
		       c->error ? "error" : "warning", x.errors, x.warnings,
		       x.text);
	}
	printf("%zu broken streams, %d failed\n", ARRAY_LEN(changes), failed);
	return failed != 0;
}
