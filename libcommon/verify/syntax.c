/* SPDX-License-Identifier: Apache-2.0 */
/* Checks each word alone: rules 1 to 6. */
#include "verify/rules.h"

#include "target/accel.h"

#include <inttypes.h>

/* Returns a mask of the bits of the param that belong to a field. */
static uint32_t
defined_bits(const struct checker *c, const struct npu_command_info *info)
{
	const struct npu_field *f[NPU_FIELDS_MAX];
	enum generation_id gen = c->accel->generation;
	int n = npu_command_fields(info, gen, f);
	uint32_t mask = 0;
	if (!n)
		return (1u << npu_command_bits(info, gen)) - 1;
	for (int i = 0; i < n; i++)
		mask |= ((1u << f[i]->width) - 1) << f[i]->lsb;
	if (n > 1 && f[n - 1]->lsb == 15 && !(c->s->config >> 27 & 1))
		mask &= 0x7fff; /* this field exists with custom DMA only */
	return mask;
}

void
check_word(struct checker *c, const struct npu_command *cmd)
{
	const struct npu_command_info *info = cmd->info;
	switch ((enum npu_payload)info->payload) {
	case NPU_PARAM: {
		uint32_t mask = defined_bits(c, info);
		ERROR_IF(cmd->param & ~mask, c, 3,
			 "param 0x%04x has bits outside 0x%04" PRIx32,
			 cmd->param, mask);
		break;
	}
	case NPU_ADDRESS:
	case NPU_STRIDE:
	case NPU_BYTES40: {
		/* bits 39:32 of an address or length: on U65 and U85, must be 0 on U55 */
		uint32_t limit = accel_is_wide(c->accel) ? 0xff : 0;
		bool negative = info->payload == NPU_STRIDE &&
				(cmd->param == 0xffff || cmd->param == 0xff) &&
				cmd->payload >> 31;
		ERROR_IF(cmd->param > limit && !negative, c, 4,
			 "param 0x%04x has address bits that do not exist on %s", cmd->param,
			 c->accel->name);
		break;
	}
	case NPU_SCALE: {
		uint32_t mask = defined_bits(c, info);
		ERROR_IF(cmd->param & ~mask, c, 3,
				"shift %u has bits that are not defined", cmd->param);
		break;
	}
	case NPU_STEP:
		ERROR_IF(cmd->param & ~defined_bits(c, info) ||
			 cmd->payload & ~UINT32_C(0x07ff07ff), c, 3,
			 "step 0x%04x, 0x%08" PRIx32 " has bits that are not defined",
			 cmd->param, cmd->payload);
		break;
	case NPU_BYTES:
	case NPU_PLAIN:
		ERROR_IF(cmd->param, c, 3, "param 0x%04x must be 0", cmd->param);
		break;
	}

	bool parallel = !cmd->is_op && cmd->reg == NPU_PARALLEL_MODE;
	if (cmd->at == 0)
		WARN_IF(accel_is_u65(c->accel) && !parallel, c, 5,
			"the stream does not begin with PARALLEL_MODE");
	WARN_IF(parallel && cmd->param != c->accel->cores - 1, c, 5,
		"PARALLEL_MODE %u on %d cores, the number of cores minus 1 is usual",
		cmd->param, c->accel->cores);
	if (cmd->is_op) {
		WARN_IF(cmd->code == NPU_OP_STOP && cmd->param != 0xffff, c, 3,
			"STOP has the mask 0x%04x, 0xffff is usual", cmd->param);
		return;
	}
	if (cmd->reg == NPU_DMA0_SRC_REGION || cmd->reg == NPU_DMA0_DST_REGION)
		ERROR_IF(!accel_is_wide(c->accel) && cmd->param >> 9 & 3, c, 4,
			 "stride mode %u does not exist on %s", cmd->param >> 9 & 3,
			 c->accel->name);
	uint32_t v = cmd->has_payload ? cmd->payload : cmd->param;
	WARN_IF(c->rules->reports_redundant && c->regs.written[cmd->reg] && c->regs.value[cmd->reg] == v &&
		c->regs.high[cmd->reg] == (cmd->has_payload ? cmd->param : 0),
		c, 6, "writes the value that the register already has");
}

void
check_end(struct checker *c, size_t at, bool stopped)
{
	c->command = NULL;
	c->at = at;
	ERROR_IF(!stopped, c, 2, "the stream ends without STOP");
	ERROR_IF(stopped && at < c->s->n_words, c, 2,
		 "%zu words follow STOP", c->s->n_words - at);
	ERROR_IF(4 * c->s->n_words >= 1u << 24, c, 2,
		 "the stream has %zu bytes, but must have fewer than 2^24", 4 * c->s->n_words);
}
