/* SPDX-License-Identifier: Apache-2.0 */
/* From an operator's code to its kernel. */
#include "kernels/call.h"

static const struct {
	int code;
	bool (*run)(struct call *c);
} kernels[] = {
#define KERNEL(name, function) { .code = TFL_##name, .run = function },
#include "kernels/list.def"
#undef KERNEL
};

static bool (*find(int code))(struct call *)
{
	for (size_t i = 0; i < ARRAY_LEN(kernels); i++)
		if (kernels[i].code == code)
			return kernels[i].run;
	return NULL;
}

bool
kernel_known(int code)
{
	return find(code) != NULL;
}

bool
kernel_eval(const struct tfl_subgraph *g, const struct tfl_op *op,
	    const struct kernel_io *io, struct err *e)
{
	struct arena *a = arena_open();
	struct call c = { .g = g, .op = op, .io = io, .a = a, .e = e };
	bool (*run)(struct call *) = find(op->code);
	bool ok = run ? run(&c) : call_err(&c, "no kernel for this operator");
	arena_close(a);
	return ok;
}
