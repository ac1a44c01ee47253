/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a command stream as the Linux driver ethosu does, command by command:
 * nputools-linux(7), RULES.  The driver computes a too large extent of an IFM that is
 * upscaled or has a dilated kernel.  A buffer must have the extent that the driver
 * computes.  The memory of a region must have the extent that the NPU reads.
 */
#include "linux/walk.h"

#include "stream/op.h"
#include "target/accel.h"
#include "tflite/tflite.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const rule_name[LINUX_RULES] = {
    [LINUX_DEVICE] = "device",	     [LINUX_COMMAND] = "command",
    [LINUX_STOP] = "stop",	     [LINUX_REGISTER_SET] = "register-set",
    [LINUX_FORMAT] = "format",	     [LINUX_STORAGE] = "storage",
    [LINUX_TRANSPOSE] = "transpose", [LINUX_PADDING] = "padding",
    [LINUX_EXTENT] = "extent",	     [LINUX_DMA_LENGTH] = "dma-length",
    [LINUX_DMA_MODE] = "dma-mode",   [LINUX_DMA_INDEX] = "dma-index",
};

const char *
linux_rule_name(enum linux_rule rule)
{
	return rule_name[rule];
}

const char *
linux_remedy(enum linux_rule rule)
{
	/* no option makes the driver one of Ethos-U55 */
	return rule == LINUX_DEVICE
		   ? ""
		   : "; npucc --target=linux makes streams that it accepts";
}

bool
linux_refuse(struct linux_walk *k, enum linux_rule rule, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(k->f->text, sizeof(k->f->text), fmt, ap);
	va_end(ap);
	k->f->rule = rule;
	if (k->c) {
		k->f->at_bytes = 4 * k->c->at;
		k->f->command = k->c->info->name;
	}
	return false;
}

bool
linux_add_reason(struct linux_walk *k, const char *fmt, ...)
{
	size_t n = strlen(k->f->text);
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(k->f->text + n, sizeof(k->f->text) - n, fmt, ap);
	va_end(ap);
	return false;
}

uint32_t
linux_value(const struct linux_walk *k, enum npu_reg r)
{
	return k->regs.value[r];
}

bool
linux_is_set(struct linux_walk *k, enum npu_reg r)
{
	return k->regs.written[r] ||
	       linux_refuse(k, LINUX_REGISTER_SET,
			    "the stream has not set %s before this operation",
			    npu_registers[r].name);
}

bool
linux_are_set(struct linux_walk *k, const enum npu_reg *r)
{
	for (; *r < NPU_REGS; r++)
		if (!linux_is_set(k, *r))
			return false;
	return true;
}

/* Returns the largest end of an access to a region, in bytes. */
static uint64_t
limit_of(const struct linux_walk *k, uint32_t region)
{
	enum { PAGE = 4096 }; /* the driver rounds a buffer up to pages */
	if (!k->memory)
		return UINT64_C(1) << 40; /* an address has 40 bits */
	return (k->memory[region] + PAGE - 1) / PAGE * PAGE;
}

bool
linux_use_bytes(struct linux_walk *k, uint32_t region, uint64_t end)
{
	uint64_t *bytes = &k->use->bytes[region];
	uint64_t *touched = &k->use->touched[region];
	if (k->reckoning != TOUCHED_ONLY && *bytes < end)
		*bytes = end;
	if (k->reckoning != DRIVER_ONLY && *touched < end)
		*touched = end;
	if (*touched > limit_of(k, region))
		return linux_refuse(k, LINUX_EXTENT,
				    "region %" PRIu32
				    " is used up to 0x%" PRIx64
				    ", but its memory ends at 0x%" PRIx64,
				    region, *touched, limit_of(k, region));
	return true;
}

/* ---- weights and scales -------------------------------------------------- */

/* Uses one part of the weights or scales.  optional: the part of a second core or decoder. */
static bool
use_part(struct linux_walk *k, enum npu_reg region, enum npu_reg base,
	 enum npu_reg length, bool optional)
{
	if (optional && !k->regs.written[base] && !k->regs.written[length])
		return true;
	if (!linux_is_set(k, region) || !linux_is_set(k, base) ||
	    !linux_is_set(k, length))
		return false;
	return linux_use_bytes(k, linux_value(k, region) & 7,
			       (uint64_t)npu_address(&k->regs, base) +
				   linux_value(k, length));
}

static bool
use_weights(struct linux_walk *k)
{
	const enum npu_reg r = NPU_WEIGHT_REGION;
	return use_part(k, r, NPU_WEIGHT_BASE, NPU_WEIGHT_LENGTH, false) &&
	       use_part(k, r, NPU_WEIGHT1_BASE, NPU_WEIGHT1_LENGTH, true) &&
	       use_part(k, r, NPU_WEIGHT3_BASE, NPU_WEIGHT3_LENGTH, true) &&
	       use_part(k, r, NPU_WEIGHT2_BASE, NPU_WEIGHT2_LENGTH, true);
}

/* Uses the scale records, unless OFM_PRECISION selects one scale for all channels. */
static bool
use_scales(struct linux_walk *k)
{
	const enum npu_reg r = NPU_SCALE_REGION;
	return linux_value(k, NPU_OFM_PRECISION) >> 8 & 1 ||
	       (use_part(k, r, NPU_SCALE_BASE, NPU_SCALE_LENGTH, false) &&
		use_part(k, r, NPU_SCALE1_BASE, NPU_SCALE1_LENGTH, true));
}

static bool
check_conv(struct linux_walk *k)
{
	bool ok, matmul = k->c->param & 1;
	if (k->u65 ? k->c->param : k->c->param & ~1U)
		return linux_refuse(k, LINUX_COMMAND,
				    "the driver does not accept parameter %u",
				    k->c->param);
	if (!linux_is_set(k, NPU_OFM_PRECISION) || !linux_use_window(k))
		return false;
	if (matmul) { /* the driver exchanges the columns and channels of IFM2 */
		uint32_t depth = linux_value(k, NPU_IFM_DEPTH_M1);
		uint32_t results = linux_value(k, NPU_OFM_DEPTH_M1);
		k->reckoning = DRIVER_ONLY;
		ok = linux_use_fm(k, &linux_ifm2, depth, 0, results);
		k->reckoning = TOUCHED_ONLY;
		ok = ok && linux_use_fm(k, &linux_ifm2, results, 0, depth);
		k->reckoning = EXACT;
	} else {
		ok = use_weights(k);
	}
	return ok && use_scales(k) && linux_use_ofm(k);
}

static bool
check_depthwise(struct linux_walk *k)
{
	return linux_is_set(k, NPU_OFM_PRECISION) && linux_use_window(k) &&
	       use_weights(k) && use_scales(k) && linux_use_ofm(k);
}

static bool
check_pool(struct linux_walk *k)
{
	return linux_is_set(k, NPU_OFM_PRECISION) &&
	       (k->c->param == NPU_POOL_NONE || linux_use_window(k)) &&
	       use_scales(k) && linux_use_ofm(k);
}

/* ---- elementwise --------------------------------------------------------- */

static bool
use_operand(struct linux_walk *k, const struct linux_fm *m, uint32_t broadcast)
{
	return linux_use_fm(
	    k, m, broadcast & 2 ? 0 : linux_value(k, NPU_OFM_WIDTH_M1),
	    broadcast & 1 ? 0 : linux_value(k, NPU_OFM_HEIGHT_M1),
	    broadcast & 4 ? 0 : linux_value(k, NPU_OFM_DEPTH_M1));
}

static bool
check_elementwise(struct linux_walk *k)
{
	enum { SCALAR = 8, SCALAR_U65 = 0x80 };
	unsigned mode = k->c->param;
	bool binary = mode != NPU_ELT_LRELU && mode != NPU_ELT_ABS &&
		      mode != NPU_ELT_CLZ && mode != NPU_ELT85_NOT;
	if ((!k->u65 && !linux_is_set(k, NPU_IFM_BROADCAST)) ||
	    (binary && !linux_is_set(k, NPU_IFM2_BROADCAST)))
		return false;
	uint32_t b1 = linux_value(k, NPU_IFM_BROADCAST),
		 b2 = linux_value(k, NPU_IFM2_BROADCAST);
	bool scalar = k->u65 ? b2 & SCALAR_U65 : b2 == SCALAR;
	return (b1 == SCALAR || use_operand(k, &linux_ifm, b1)) &&
	       (!binary || scalar || use_operand(k, &linux_ifm2, b2)) &&
	       linux_use_ofm(k);
}

/* ---- commands ------------------------------------------------------------ */

/* Checks a value that the driver checks when the stream writes the register. */
static bool
check_value(struct linux_walk *k)
{
	uint32_t v = k->c->param;
	switch (k->c->reg) {
	case NPU_OFM_PRECISION:
		if (!k->u65 && v >> 11 & 7)
			return linux_refuse(k, LINUX_TRANSPOSE,
					    "the OFM is transposed, which the driver does not "
					    "support");
		/* fall through */
	case NPU_IFM_PRECISION:
	case NPU_IFM2_PRECISION:
		return (v >> 6 & 3) <= 1 ||
		       linux_refuse(k, LINUX_FORMAT,
				    "format %u is neither NHWC nor NHCWB16",
				    v >> 6 & 3);
	case NPU_DMA0_SRC_REGION:
	case NPU_DMA0_DST_REGION:
		if (v >> 11 & 1)
			return linux_refuse(k, LINUX_DMA_INDEX,
					    "the transfer selects rows by an index, which the "
					    "driver does not support");
		return (v >> 9 & 3) <= 2 ||
		       linux_refuse(k, LINUX_DMA_MODE,
				    "stride mode 3 does not exist");
	default:
		return true;
	}
}

static bool
check_operation(struct linux_walk *k)
{
	switch (k->c->code) {
	case NPU_OP_CONV:
		return check_conv(k);
	case NPU_OP_DEPTHWISE:
		return check_depthwise(k);
	case NPU_OP_POOL:
		return check_pool(k);
	case NPU_OP_ELEMENTWISE:
		return check_elementwise(k);
	case NPU_OP_DMA_START:
		return linux_check_dma(k);
	case NPU_OP_RESIZE:
	case NPU_OP_BRANCH:
	case NPU_OP_IRQ:
		return linux_refuse(k, LINUX_COMMAND,
				    "the driver does not accept this command");
	default:
		return true;
	}
}

void
linux_memory(const struct tfl_model *m, const struct npu_stream *s,
	     uint64_t memory[LINUX_REGIONS])
{
	const struct tfl_subgraph *g = &m->subgraph[s->subgraph];
	const struct tfl_op *op = &g->op[s->op];
	int n = 0;
	for (int i = 0; i < LINUX_REGIONS; i++)
		memory[i] = 0;
	for (int i = 1; i < op->n_in && n < LINUX_REGIONS; i++, n++)
		if (op->in[i] >= 0)
			memory[n] = (uint64_t)tfl_bytes(&g->tensor[op->in[i]]);
	for (int i = 0; i < op->n_out && n < LINUX_REGIONS; i++, n++)
		memory[n] = (uint64_t)tfl_bytes(&g->tensor[op->out[i]]);
}

bool
linux_check(const struct npu_stream *s, const uint64_t *memory,
	    struct linux_use *out, struct linux_finding *f)
{
	struct linux_walk k = {.s = s,
			       .memory = memory,
			       .use = out,
			       .f = f,
			       .u65 = accel_is_u65(s->accel)};
	struct npu_command c = {0};
	struct err bad = {0};
	size_t at = 0;
	*out = (struct linux_use){0};
	*f = (struct linux_finding){0};
	if (s->accel->generation == GEN_U55)
		return linux_refuse(&k, LINUX_DEVICE,
				    "the driver supports Ethos-U65 and Ethos-U85, "
				    "not %s",
				    s->accel->name);
	while (stream_next(s, &at, &c, &bad)) {
		k.c = &c;
		if (!c.is_op)
			npu_write(&k.regs, &c);
		if (c.is_op ? !check_operation(&k) : !check_value(&k))
			return false;
		if (c.is_op && c.code == NPU_OP_STOP)
			return at == s->n_words ||
			       linux_refuse(&k, LINUX_STOP, "%zu words follow STOP",
					    s->n_words - at);
	}
	k.c = NULL;
	return bad.status ? linux_refuse(&k, LINUX_COMMAND, "%s", bad.text)
			  : linux_refuse(&k, LINUX_STOP,
					 "the stream does not end with STOP");
}
