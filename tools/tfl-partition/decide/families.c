/* SPDX-License-Identifier: Apache-2.0 */
/* The column `family` of schema/operators.def. */
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
