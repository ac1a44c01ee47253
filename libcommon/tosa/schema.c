/* SPDX-License-Identifier: Apache-2.0 */
/* The reflection tables of TOSA, and the names of operators and types. */
#include "tosa/tosa.h"

#define FB_SCHEMA "tosa.def"
#define FB_UNIONS "tosa_unions.def"
#include "tflite/reflect.def"

static const struct tosa_op_info info[TOSA_OP_LIMIT] = {
#define TOSA_OP(code, op_name, attributes, least, most, mask, lowering)        \
	[code] = { .name = #op_name, .min_in = least, .max_in = most,          \
		   .constants = mask },
#define TOSA_NOT(code, op_name, reason)                                        \
	[code] = { .name = #op_name, .why_not = reason },
#include "tosa_ops.def"
};

const struct tosa_op_info *
tosa_op_info(int64_t code)
{
	return code > 0 && code < TOSA_OP_LIMIT && info[code].name ? &info[code]
								   : NULL;
}

static const struct {
	const char *name;
	int bits;
} types[] = {
	[TOSA_BOOL] = { "bool", 8 }, [TOSA_INT4] = { "i4", 4 },
	[TOSA_INT8] = { "i8", 8 }, [TOSA_INT16] = { "i16", 16 },
	[TOSA_INT32] = { "i32", 32 }, [TOSA_INT48] = { "i48", 48 },
	[TOSA_FP32] = { "fp32", 32 }, [TOSA_FP16] = { "fp16", 16 },
	[TOSA_BF16] = { "bf16", 16 }, [TOSA_SHAPE] = { "shape", 64 },
};

const char *
tosa_type_name(int64_t type)
{
	bool in_table = type >= 0 && type < (int)ARRAY_LEN(types) && types[type].name;
	return in_table ? types[type].name : "unknown";
}

int
tosa_type_bits(int type)
{
	return type >= 0 && type < (int)ARRAY_LEN(types) ? types[type].bits : 0;
}
