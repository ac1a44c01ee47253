/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --check: verifies the streams, and compares the results of the model before and after
 * compilation.
 */
#include "npucc.h"

#include "base/cli.h"
#include "kernels/kernels.h"
#include "stream/stream.h"
#include "tflite/tflite.h"

static bool
read_compiled(struct npucc *c, struct arena *a, const char *path,
	      struct tfl_model **m)
{
	struct err e = { 0 };
	return model_read_file(a, path, m, &e) ||
	       err_set(c->e, "can't read the output of npu-cmdgen: %s", e.text);
}

bool
uses_npu(struct npucc *c, const char *compiled, bool *uses)
{
	struct arena *a = arena_open();
	struct tfl_model *m;
	bool ok = read_compiled(c, a, compiled, &m);
	if (ok)
		*uses = false;
	for (int s = 0; ok && s < m->n_subgraphs; s++)
		for (int i = 0; i < m->subgraph[s].n_ops; i++)
			*uses |= npu_is_operator(&m->subgraph[s].op[i]);
	arena_close(a);
	return ok;
}

/* inputs of both models, one frame each: npu-sim(1), --inputs; and in a message */
#define INPUTS "random,min,max,alternating,random"
#define CALLED_INPUTS "5 inputs: 2 random, least, greatest, alternating"

/*
 * True if an output of the model is FLOAT32 and that of the compiled model is not, because
 * --integer-io left out the conversion.  Then npu-sim compares the tensor before it.
 */
static bool
has_integers_of_floats(struct npucc *c, struct arena *a, const struct tfl_model *compiled)
{
	struct err none = { 0 };
	struct tfl_model *m;
	if (!model_read_file(a, c->model, &m, &none)) /* a TOSA graph */
		return false;
	const struct tfl_subgraph *x = &m->subgraph[0], *y = &compiled->subgraph[0];
	for (int i = 0; i < x->n_out && x->n_out == y->n_out; i++)
		if (x->tensor[x->out[i]].type == TFL_FLOAT32 &&
		    y->tensor[y->out[i]].type != TFL_FLOAT32)
			return true;
	return false;
}

bool
check_compiled(struct npucc *c, const char *compiled, const char *called)
{
	bool on_npu;
	struct job verify = { .program = DIS, .option = { "--verify" },
			      .input = compiled, .mute = true };
	static const char inputs[] = "--inputs=" INPUTS;
	struct job compare = { .program = SIM,
			       .option = { "--quiet", "--require-outputs", inputs, "--compare",
					   c->model },
			       .input = compiled, .mute = true };
	if (!uses_npu(c, compiled, &on_npu) || (on_npu && !run_jobs(c, &verify, 1)) ||
	    !run_jobs(c, &compare, 1))
		return false;
	struct arena *a = arena_open();
	struct tfl_model *m;
	bool ok = read_compiled(c, a, compiled, &m);
	if (ok && !c->o->errors_only) {
		int n = m->subgraph[0].n_out;
		cli_note("checked", "%s: %s; %d output%s equal to the %s model's%s, byte "
				    "for byte, for " CALLED_INPUTS, called,
			 on_npu ? "command streams verified" : "nothing runs on the "
							       "NPU",
			 n, n == 1 ? "" : "s",
			 c->o->to[QUANTIZE].n ? "quantized" : "original",
			 has_integers_of_floats(c, a, m) ? " before DEQUANTIZE, as integers" : "");
	}
	arena_close(a);
	return ok;
}
