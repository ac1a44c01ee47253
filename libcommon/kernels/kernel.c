/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the kernel of an operator and runs it, or only its checks. */
#include "kernels/call.h"
#include "kernels/native.h"

#define kernel_none NULL
#define kernel_sim  NULL

static const struct row {
	bool (*run)(struct call *c);
	struct kernel_inputs inputs;
} rows[TFL_BUILTIN_LIMIT] = {
#define MANY INT32_MAX
#define TAKES(least, most) { least, most, 1 }
#define CUTS(n) { n, n, MANY }
#define UNCHECKED { 0, MANY, MANY }
#define OPERATOR(name, kernel, real, adder, cpu, family, joins, types, rank, inputs, ...) \
	[TFL_##name] = { kernel_##kernel, inputs },
#include "operators.def"
#undef OPERATOR
};

static const struct row *
find(int code)
{
	static const struct row absent = { .inputs = UNCHECKED };
	return code >= 0 && code < TFL_BUILTIN_LIMIT ? &rows[code] : &absent;
}

bool
kernel_exists(int code)
{
	return find(code)->run != NULL;
}

const struct kernel_inputs *
kernel_inputs(int code)
{
	return &find(code)->inputs;
}

/* A wrong number of inputs contradicts the schema; an extra output may be an optional one. */
static bool
check_inputs(struct call *c)
{
	const struct kernel_inputs *i = kernel_inputs(c->op->code);
	int n_in = c->op->n_in, n_out = c->op->n_out;
	c->mismatch = true;
	if (n_in < i->least || n_in > i->most)
		return call_err(c, "has %d input%s, takes %d to %d", n_in,
				n_in == 1 ? "" : "s", i->least, i->most);
	for (int k = 0; k < i->least; k++)
		if (!call_in(c, k))
			return call_err(c, "input %d is absent", k);
	c->mismatch = false;
	return n_out == i->outputs || i->outputs == MANY ||
	       call_err(c, "has %d output%s, makes %d", n_out, n_out == 1 ? "" : "s",
			i->outputs);
}

/*
 * Bounds the product of the dimensions without zeros.  An empty tensor may have other
 * dimensions whose product overflows; with this check, kernels need not consider that.
 */
static bool
check_volume(struct call *c, const struct tfl_tensor *t)
{
	int64_t n = 1;
	for (int d = 0; t && d < t->rank; d++)
		if (__builtin_mul_overflow(n, t->dim[d] ? t->dim[d] : 1, &n) ||
		    n > (int64_t)1 << 40)
			return call_err(c, "dimensions of %s are too large",
					t->name);
	return true;
}

static bool
call_kernel(struct call *c)
{
	bool (*run)(struct call *) = call_is_float(c) ? kernel_float
						      : find(c->op->code)->run;
	if (!run)
		return call_err(c, "no kernel for this operator");
	for (int k = 0; k < c->op->n_in; k++)
		if (!check_volume(c, call_in(c, k)))
			return false;
	for (int k = 0; k < c->op->n_out; k++)
		if (!check_volume(c, call_out(c, k)))
			return false;
	if (run != kernel_float && !check_inputs(c))
		return false;
	const struct kernel_io *io = c->io, own = native_open(c->a, c->g, c->op, io);
	c->io = &own;
	bool ok = run(c) && call_quantization(c);
	if (ok)
		native_finish(c->g, c->op, &own, io);
	c->io = io;
	return ok;
}

/* results of a kernel's checks, besides success or failure */
struct found {
	bool mismatch; /* shapes or types contradict each other */
	int64_t work;  /* steps */
};

static bool
check(const struct tfl_subgraph *g, const struct tfl_op *op,
      struct found *found, struct err *e)
{
	struct arena *a = arena_open();
	void **in = anew(a, void *, (size_t)op->n_in + 1);
	void **out = anew(a, void *, (size_t)op->n_out + 1);
	for (int k = 0; k < op->n_in; k++) /* constants are only read */
		if (op->in[k] >= 0)
			in[k] = (void *)(uintptr_t)g->tensor[op->in[k]].data.p;
	const struct kernel_io io = { .in = in, .out = out };
	struct call c = { .g = g, .op = op, .io = &io, .a = a, .e = e,
			  .check = true };
	bool ok = call_kernel(&c);
	*found = (struct found){ .mismatch = c.mismatch, .work = c.work };
	arena_close(a);
	return ok;
}

bool
kernel_check(const struct tfl_subgraph *g, const struct tfl_op *op,
	     struct err *e)
{
	struct found found;
	return check(g, op, &found, e);
}

int64_t
kernel_work(const struct tfl_subgraph *g, const struct tfl_op *op)
{
	struct found found;
	struct err e = { 0 };
	return kernel_exists(op->code) && check(g, op, &found, &e) ? found.work
								  : 0;
}

bool
kernel_file_shapes_agree(const struct tfl_subgraph *g, const struct tfl_op *op,
			 struct err *e)
{
	struct found found;
	struct err bare = { 0 };
	if (!kernel_exists(op->code) || check(g, op, &found, &bare) || !found.mismatch)
		return true;
	return err_set(e, "%s", bare.text);
}

bool
kernel_shapes_agree(const struct tfl_subgraph *g, const struct tfl_op *op,
		    struct err *e)
{
	struct err bare = { 0 };
	/* an input or output may have another shape than the file says */
	for (int k = 0; k < op->n_in + op->n_out; k++) {
		int i = k < op->n_in ? op->in[k] : op->out[k - op->n_in];
		const struct tfl_tensor *t = i < 0 ? NULL : &g->tensor[i];
		if (t && (!t->has_shape || t->is_dynamic || t->is_sparse))
			return true;
	}
	if (kernel_file_shapes_agree(g, op, &bare))
		return true;
	/* the file has 1 for an open batch of an output, whatever it is */
	bool is_open = false;
	for (int k = 0; k < op->n_out; k++)
		is_open |= op->out[k] >= 0 && g->tensor[op->out[k]].open_batch;
	return err_set(e, "%s%s", bare.text,
		       is_open ? "; the batch is open, for which the file has 1: "
				 "convert the model with a fixed batch" : "");
}

bool
kernel_eval(const struct tfl_subgraph *g, const struct tfl_op *op,
	    const struct kernel_io *io, struct err *e)
{
	struct arena *a = arena_open();
	struct call c = { .g = g, .op = op, .io = io, .a = a, .e = e };
	bool ok = call_kernel(&c);
	arena_close(a);
	return ok;
}
