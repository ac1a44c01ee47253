/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of commands, registers and their fields: schema/ethosu.def. */
#ifndef STREAM_COMMANDS_H
#define STREAM_COMMANDS_H

#include "target/generation.h"

/* Registers, such as NPU_IFM_BASE0.  Registers of cmd0 and cmd1 share one number space. */
enum npu_reg {
#define NPU_REG0(code, name, ...) NPU_##name,
#define NPU_REG1(code, name, ...) NPU_##name,
#include "ethosu.def"
	NPU_REGS
};

/* Operations.  The value is the opcode. */
enum npu_opcode {
#define NPU_OP(code, name, ...) NPU_OP_##name = code,
#include "ethosu.def"
};

enum npu_payload { /* content of a cmd1 register's payload; NPU_PARAM marks a cmd0 register */
	NPU_PARAM,
	NPU_ADDRESS,
	NPU_STRIDE,
	NPU_BYTES,   /* length of 32 bits */
	NPU_BYTES40, /* length of 40 bits */
	NPU_SCALE,   /* multiplier; the param has the shift */
	NPU_STEP,    /* of RESIZE */
	NPU_PLAIN,
};

enum npu_products { /* sets of generations; NPU_CUSTOM: only on a part with custom DMA */
	NPU_U55 = 1 << GEN_U55,
	NPU_U65 = 1 << GEN_U65,
	NPU_U85 = 1 << GEN_U85,
	NPU_CUSTOM = 1 << GENERATIONS,
	NPU_BOTH = NPU_U55 | NPU_U65,
	NPU_WIDE = NPU_U65 | NPU_U85,
	NPU_ALL = NPU_BOTH | NPU_U85,
};

struct npu_command_info {
	const char *name;  /* "IFM_BASE0", "CONV" */
	uint16_t code;	   /* low half of the code word; cmd1 has bit 0x4000 set */
	uint8_t bits, bits85; /* width of the param on U55/U65 and on U85; 0 for a cmd1
			       * register */
	uint8_t payload;   /* enum npu_payload */
	uint8_t products;  /* enum npu_products */
	bool is_op;
};

struct npu_field {
	const char *name;
	uint8_t lsb, width;
	const char *set; /* enumeration of the field's values, or "number" */
	uint8_t products;
};

enum { NPU_FIELDS_MAX = 10 }; /* most fields of one command on one product */

extern const struct npu_command_info npu_registers[NPU_REGS];
const struct npu_command_info *npu_operation(unsigned opcode); /* NULL: no such opcode */
/* Width in bits of a command's param on a generation; 0 for a cmd1 register. */
int npu_command_bits(const struct npu_command_info *c, enum generation_id generation);
/* Stores the fields that a command has on a generation in out.  Returns their number. */
int npu_command_fields(const struct npu_command_info *c,
		       enum generation_id generation,
		       const struct npu_field *out[NPU_FIELDS_MAX]);
/* Name of a value of the enumeration `set`; NULL if the value has none. */
const char *npu_enum_name(const char *set, unsigned value);

/* NPU_FIELD_ACTIVATION_clip_range, ...: a field on all products that have it. */
enum npu_field_id {
#define NPU_FIELD(command, field, ...) NPU_FIELD_##command##_##field,
#define NPU_FIELD_AGAIN(...)
#include "ethosu.def"
	NPU_FIELD_IDS
};
/* The field's value in a param; 0 if the generation does not have the field. */
unsigned npu_field_value(enum npu_field_id id, enum generation_id generation,
			 unsigned param);
/* False for a value that is not in the field's enumeration, on this generation. */
bool npu_field_allows(enum npu_field_id id, enum generation_id generation,
		      unsigned value);

/* The code word of a register write or of an operation. */
static inline uint32_t
npu_code_word(const struct npu_command_info *c, uint16_t param)
{
	return c->code | (uint32_t)param << 16;
}

#endif
