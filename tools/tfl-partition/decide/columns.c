/* SPDX-License-Identifier: Apache-2.0 */
/* The columns joins, types and rank of schema/operators.def, which checks read. */
#include "../part.h"

/* the sets in the column `types` */
enum { none, I8 = TYPE_I8, U8 = TYPE_U8, I16 = TYPE_I16, I32 = TYPE_I32, I64 = TYPE_I64,
       BOOL = TYPE_BOOL, FM = TYPE_FM };

static const struct row {
	enum joins joins;
	int types, rank;
} rows[TFL_BUILTIN_LIMIT] = {
#define OPERATOR(name, kernel, real, adder, cpu, family, j, t, r, inputs, memory)   \
	[TFL_##name] = { .joins = JOINS_##j, .types = t, .rank = r },
#include "operators.def"
#undef OPERATOR
};

static const struct row *
row_of(int code)
{
	static const struct row absent;
	return code >= 0 && code < TFL_BUILTIN_LIMIT ? &rows[code] : &absent;
}

int
family_types(const struct tfl_op *op)
{
	return row_of(op->code)->types;
}

bool
family_rank(const struct tfl_op *op, const struct tfl_tensor *t)
{
	int rank = row_of(op->code)->rank;
	return !rank || t->rank == rank;
}

enum joins
family_joins(int code)
{
	return row_of(code)->joins;
}
