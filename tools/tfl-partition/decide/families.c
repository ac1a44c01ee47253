/* SPDX-License-Identifier: Apache-2.0 */
/* The columns family, joins, types and rank of schema/operators.def. */
#include "../part.h"

/* of operators that only the CPU runs */
const struct family family_none = { 0 };

static const struct family *const families[TFL_BUILTIN_LIMIT] = {
#define OPERATOR(name, kernel, real, adder, cpu, f, ...) [TFL_##name] = &family_##f,
#include "operators.def"
#undef OPERATOR
};

struct lop
lop_of(const struct part *p, const struct tfl_op *op)
{
	return (struct lop){ .op = op, .ifm = part_in(p, op, 0), .ofm = part_out(p, op, 0) };
}

const struct family *
family_find(int code)
{
	const struct family *f =
	    code >= 0 && code < TFL_BUILTIN_LIMIT ? families[code] : NULL;
	return f && f->read ? f : NULL;
}

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
