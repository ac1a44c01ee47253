/* SPDX-License-Identifier: Apache-2.0 */
/* nputools_simulate(): one run of a model with the caller's inputs. */
#include "lib.h"

#include "base/npy.h"
#include "inference/inference.h"
#include "kernels/kernels.h"
#include "raw/raw.h"
#include "tosa/tosa.h"

#include <inttypes.h>
#include <string.h>

/* the arguments of the caller */
struct buffers {
	struct bytes file;
	const struct nputools_buffer *in;
	struct nputools_buffer *out;
	size_t n_in, n_out;
};

static bool
open_simulator(struct call *c, struct bytes file, struct sim **s)
{
	struct model m = { .borders.actual = 1 };
	const char *name = c->o.name;
	if (tosa_is(file))
		return tosa_read(c->a, file, name, &m.tosa, &c->e) &&
		       check_size(&m, file.n, name, &c->e) &&
		       sim_open_tosa(c->a, m.tosa, s, &c->e);
	return raw_model(c->a, file, name, &file, &c->e) &&
	       model_read(c->a, file, name, &m.tflite, &c->e) &&
	       check_size(&m, file.n, name, &c->e) && sim_open(c->a, m.tflite, s, &c->e);
}

static bool
check_count(struct call *c, const char *what, size_t have, int want)
{
	return have == (size_t)want ||
	       err_at(&c->e, c->o.name, 0, "%s: %zu were passed, the model has %d", what, have,
		      want);
}

/* n: number of buffers */
static bool
check_buffers(struct call *c, const char *what, const void *p, size_t n)
{
	return p || !n || err_at(&c->e, c->o.name, 0, "%s is NULL, but n_%s is %zu", what, what, n);
}

/* Writes input k, whose buffer has plain values or a .npy file, to the tensor's memory. */
static bool
put_input(struct call *c, int k, const struct nputools_buffer *from, const struct tfl_tensor *t,
	  void *to)
{
	const uint64_t n = (uint64_t)tfl_bytes(t);
	const struct bytes file = { .p = from->data, .n = from->size };
	struct values v;
	if (file.p && npy_is(file))
		return take_values(file, arena_printf(c->a, "%s: input %d", c->o.name, k), t, &v,
				   &c->e) && put_values(&v, 0, t, to, &c->e);
	if (file.n != n)
		return err_at(&c->e, c->o.name, 0, "input %d (%s) takes %" PRIu64 " bytes, its buffer "
			      "has %zu", k, t->name, n, file.n);
	if (n && !file.p)
		return err_at(&c->e, c->o.name, 0, "input %d (%s): data is NULL", k, t->name);
	if (n)
		memcpy(to, file.p, file.n);
	return true;
}

static bool
simulate(struct call *c, void *ctx)
{
	const struct buffers *b = ctx;
	struct sim *s;
	if (!call_check_model(c, b->file) || !check_buffers(c, "inputs", b->in, b->n_in) ||
	    !check_buffers(c, "outputs", b->out, b->n_out) || !open_simulator(c, b->file, &s))
		return false;
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	if (!check_count(c, "inputs", b->n_in, g->n_in) ||
	    !check_count(c, "outputs", b->n_out, g->n_out))
		return false;
	for (int k = 0; k < g->n_in; k++)
		if (!put_input(c, k, &b->in[k], &g->tensor[g->in[k]], sim_tensor(s, g->in[k])))
			return false;
	if (!sim_invoke(s, NULL, &c->e))
		return false;
	/* call_whole() moves c->out; nputools_simulate() then sets the addresses */
	for (int k = 0; k < g->n_out; k++) {
		b->out[k].size = (size_t)tfl_bytes(&g->tensor[g->out[k]]);
		text_put(&c->out, sim_tensor(s, g->out[k]), b->out[k].size);
	}
	return true;
}

int
nputools_simulate(const struct nputools_options *options, const void *model, size_t size,
		  const struct nputools_buffer *inputs, size_t n_inputs,
		  struct nputools_buffer *outputs, size_t n_outputs,
		  struct nputools_output *out)
{
	struct buffers b = {
		.file = { .p = model, .n = size }, .in = inputs, .out = outputs,
		.n_in = n_inputs, .n_out = n_outputs,
	};
	for (size_t k = 0; outputs && k < n_outputs; k++)
		outputs[k] = (struct nputools_buffer){ 0 };
	int status = call_whole(options, simulate, &b, out);
	/* without data, no output has a byte */
	const uint8_t *p = status == NPUTOOLS_YES ? out->data : NULL;
	for (size_t k = 0; p && k < n_outputs; k++) {
		outputs[k].data = p;
		p += outputs[k].size;
	}
	return status;
}
