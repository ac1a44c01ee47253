/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of schema/operators.def that tfl-partition reads. */
#include "../part.h"

/* the cells of the columns `types` and `zeros` */
enum { none, I8 = TYPE_I8, U8 = TYPE_U8, I16 = TYPE_I16, I32 = TYPE_I32, I64 = TYPE_I64,
       BOOL = TYPE_BOOL, FM = TYPE_FM, no = false, yes = true };
/* of operators that only the CPU runs */
#define read_none NULL
#define lower_none NULL

static const struct family families[TFL_BUILTIN_LIMIT] = {
#define OPERATOR(name, kernel, real, adder, cpu, f, j, t, r, inputs, memory, z, where)       \
	[TFL_##name] = { .read = read_##f, .lower = lower_##f, .joins = JOINS_##j,           \
			 .types = t, .rank = r, .subtracts_zeros = z, .place = PLACE_##where },
#include "operators.def"
#undef OPERATOR
};

struct lop
lop_of(const struct part *p, const struct tfl_op *op)
{
	return (struct lop){ .op = op, .ifm = part_in(p, op, 0), .ifm2 = part_in(p, op, 1),
			     .ofm = part_out(p, op, 0) };
}

const struct family *
family_of(int code)
{
	static const struct family absent;
	return code >= 0 && code < TFL_BUILTIN_LIMIT ? &families[code] : &absent;
}

int
family_types(const struct tfl_op *op)
{
	return family_of(op->code)->types;
}

bool
family_rank(const struct tfl_op *op, const struct tfl_tensor *t)
{
	int rank = family_of(op->code)->rank;
	return !rank || t->rank == rank;
}
