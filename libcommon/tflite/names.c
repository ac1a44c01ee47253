/* SPDX-License-Identifier: Apache-2.0 */
/* Names and sizes of types and operators, and access to elements. */
#include "tflite/tflite.h"

#include "base/little_endian.h"
#include "tflite/fields.h"

static const struct type_info {
	const char *name;
	int bytes;
} types[] = {
	[0] = { "FLOAT32", 4 }, [1] = { "FLOAT16", 2 }, [2] = { "INT32", 4 },
	[3] = { "UINT8", 1 }, [4] = { "INT64", 8 }, [5] = { "STRING", 0 },
	[6] = { "BOOL", 1 }, [7] = { "INT16", 2 }, [8] = { "COMPLEX64", 8 },
	[9] = { "INT8", 1 }, [10] = { "FLOAT64", 8 },
	[11] = { "COMPLEX128", 16 }, [12] = { "UINT64", 8 },
	[13] = { "RESOURCE", 0 }, [14] = { "VARIANT", 0 },
	[15] = { "UINT32", 4 }, [16] = { "UINT16", 2 }, [17] = { "INT4", 1 },
	[18] = { "BFLOAT16", 2 }, [19] = { "INT2", 0 }, [20] = { "UINT4", 0 },
	[21] = { "FLOAT8_E4M3FN", 1 }, [22] = { "FLOAT8_E5M2", 1 },
};

static const char *const ops[TFL_BUILTIN_LIMIT] = {
#define TFL_OP(code, name, options) [code] = #name,
#include "tflite_ops.def"
};

const char *
tfl_type_name(int type)
{
	bool in_table = type >= 0 && type < (int)ARRAY_LEN(types);
	return in_table ? types[type].name : "UNKNOWN";
}

int
tfl_type_bytes(int type)
{
	bool in_table = type >= 0 && type < (int)ARRAY_LEN(types);
	return in_table ? types[type].bytes : 0;
}

const char *
tfl_op_name(int code)
{
	bool in_table = code >= 0 && code < TFL_BUILTIN_LIMIT && ops[code];
	return in_table ? ops[code] : "UNKNOWN";
}

const char *
tfl_op_label(const struct tfl_op *op)
{
	return op->label ? op->label : tfl_op_name(op->code);
}

bool
tfl_refuse(const struct tfl_model *m, const struct tfl_op *op, int index, const char *why,
	   struct err *e)
{
	return err_at(e, m->name, 0, "operator %d (%s): %s", index, tfl_op_label(op), why);
}

int64_t
tfl_elements(const struct tfl_tensor *t)
{
	int64_t n = 1;
	for (int i = 0; i < t->rank; i++)
		n *= t->dim[i];
	return n;
}

int64_t
tfl_bytes(const struct tfl_tensor *t)
{
	return tfl_elements(t) * tfl_type_bytes(t->type);
}

int64_t
tfl_integer(int type, const uint8_t *p, int64_t i)
{
	p += i * tfl_type_bytes(type);
	switch (type) {
	case TFL_INT4:
	case TFL_INT8:
		return (int8_t)*p;
	case TFL_INT16:
		return (int16_t)load_le16(p);
	case TFL_INT32:
		return (int32_t)load_le32(p);
	case TFL_INT64:
		return (int64_t)load_le64(p);
	default:
		return *p;
	}
}

struct fb_ref
tfl_options(const struct tfl_op *op, const struct fb_table *t)
{
	if (op->options.buf && op->options.table == t)
		return op->options;
	return (struct fb_ref){ .table = t };
}

int
tfl_binary_activation(const struct tfl_op *op)
{
	switch (op->code) {
	case TFL_ADD: return (int)TFL_OPT(op, AddOptions, fused_activation_function);
	case TFL_SUB: return (int)TFL_OPT(op, SubOptions, fused_activation_function);
	case TFL_MUL: return (int)TFL_OPT(op, MulOptions, fused_activation_function);
	case TFL_DIV: return (int)TFL_OPT(op, DivOptions, fused_activation_function);
	default: return TFL_ACT_NONE;
	}
}
