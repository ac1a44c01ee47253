/* SPDX-License-Identifier: Apache-2.0 */
/* The command tables, from schema/ethosu.def. */
#include "stream/stream.h"

#include <assert.h>
#include <string.h>

/* Rows of the list, in order: a field belongs to the command above it. */
enum row {
#define NPU_OP(code, name, ...) ROW_##name,
#define NPU_REG0(code, name, ...) ROW_##name,
#define NPU_REG1(code, name, ...) ROW_##name,
#include "ethosu.def"
	ROWS
};

static const struct npu_field fields[] = {
#define NPU_FIELD(command, field, bit, n, enumeration, which)                \
	{ .name = #field, .lsb = bit, .width = n, .set = #enumeration,       \
	  .products = NPU_##which },
#include "ethosu.def"
};

static const uint8_t field_row[] = {
#define NPU_FIELD(command, ...) ROW_##command,
#include "ethosu.def"
};
static_assert(ARRAY_LEN(field_row) == ARRAY_LEN(fields),
	      "every field has its command");
static_assert(ROWS < 256, "rows fit field_row");

/* Positions in fields[]. */
enum field_at {
#define NPU_FIELD(command, field, ...) AT_##command##_##field,
#define NPU_FIELD_AGAIN(command, field, ...) AT_##command##_##field##_again,
#include "ethosu.def"
};

/* Of each field the first row, and the row of NPU_FIELD_AGAIN; 0: there is none. */
static const uint8_t field_first[NPU_FIELD_IDS] = {
#define NPU_FIELD(command, field, ...)                                       \
	[NPU_FIELD_##command##_##field] = AT_##command##_##field,
#define NPU_FIELD_AGAIN(...)
#include "ethosu.def"
};
static const uint8_t field_again[NPU_FIELD_IDS] = {
#define NPU_FIELD_AGAIN(command, field, ...)                                 \
	[NPU_FIELD_##command##_##field] = AT_##command##_##field##_again,
#include "ethosu.def"
};

const struct npu_command_info npu_registers[NPU_REGS] = {
#define NPU_REG0(op, text, n, n85, which)                                    \
	[NPU_##text] = { .name = #text, .code = op, .bits = n, .bits85 = n85, \
			 .products = NPU_##which },
#define NPU_REG1(op, text, holds, which)                                     \
	[NPU_##text] = { .name = #text, .code = 0x4000 | (op),               \
			 .payload = NPU_##holds, .products = NPU_##which },
#include "ethosu.def"
};

static const struct npu_command_info operations[] = {
#define NPU_OP(op, text, n, n85, which)                                      \
	{ .name = #text, .code = op, .bits = n, .bits85 = n85,               \
	  .products = NPU_##which, .is_op = true },
#include "ethosu.def"
};

static const uint8_t register_row[NPU_REGS] = {
#define NPU_REG0(code, name, ...) [NPU_##name] = ROW_##name,
#define NPU_REG1(code, name, ...) [NPU_##name] = ROW_##name,
#include "ethosu.def"
};

static const uint8_t operation_row[] = {
#define NPU_OP(code, name, ...) ROW_##name,
#include "ethosu.def"
};

static const struct {
	const char *set;
	unsigned value;
	const char *name;
	uint8_t products;
} enums[] = {
#define NPU_ENUM(enumeration, value, name) { #enumeration, value, #name, NPU_ALL },
#define NPU_ENUM_ON(enumeration, value, name, which)                         \
	{ #enumeration, value, #name, NPU_##which },
#include "ethosu.def"
};

const struct npu_command_info *
npu_operation(unsigned opcode)
{
	for (size_t i = 0; i < ARRAY_LEN(operations); i++)
		if (operations[i].code == opcode)
			return &operations[i];
	return NULL;
}

int
npu_command_bits(const struct npu_command_info *c, enum generation_id generation)
{
	return generation == GEN_U85 ? c->bits85 : c->bits;
}

int
npu_command_fields(const struct npu_command_info *c,
		   enum generation_id generation,
		   const struct npu_field *out[NPU_FIELDS_MAX])
{
	unsigned row = c->is_op ? operation_row[c - operations]
				: register_row[c - npu_registers];
	int n = 0;
	for (size_t i = 0; i < ARRAY_LEN(field_row); i++)
		if (field_row[i] == row && fields[i].products >> generation & 1)
			out[n++] = &fields[i];
	assert(n <= NPU_FIELDS_MAX);
	return n;
}

const char *
npu_enum_name(const char *set, unsigned value)
{
	for (size_t i = 0; i < ARRAY_LEN(enums); i++)
		if (enums[i].value == value && !strcmp(enums[i].set, set))
			return enums[i].name;
	return NULL;
}

/* The row of a field on a generation; NULL if the generation does not have the field. */
static const struct npu_field *
npu_field_on(enum npu_field_id id, enum generation_id generation)
{
	const struct npu_field *f = &fields[field_first[id]];
	if (!(f->products >> generation & 1) && field_again[id])
		f = &fields[field_again[id]];
	return f->products >> generation & 1 ? f : NULL;
}

unsigned
npu_field_value(enum npu_field_id id, enum generation_id generation, unsigned param)
{
	const struct npu_field *f = npu_field_on(id, generation);
	return f ? param >> f->lsb & ((1u << f->width) - 1) : 0;
}

bool
npu_field_allows(enum npu_field_id id, enum generation_id generation, unsigned value)
{
	const struct npu_field *f = npu_field_on(id, generation);
	bool listed = false;
	for (size_t i = 0; f && i < ARRAY_LEN(enums); i++) {
		if (strcmp(enums[i].set, f->set) != 0)
			continue;
		if (enums[i].value == value && enums[i].products >> generation & 1)
			return true;
		listed = true;
	}
	return !listed; /* a number has no list */
}
