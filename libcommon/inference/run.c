/* SPDX-License-Identifier: Apache-2.0 */
/* One run: models, inputs, frames, outputs, the report, as one whole. */
#include "inference/inference.h"

#include "base/cli.h"

static bool
save_outputs(const struct run *r, struct err *e)
{
	const char *dir = r->o->output_dir;
	const struct tfl_subgraph *g = &sim_model(r->s)->subgraph[0];
	for (int k = 0; dir && k < g->n_out; k++) {
		const struct tfl_tensor *t = &g->tensor[g->out[k]];
		if (!(r->stacked ? save_stack(r->files, t, &r->stacked[k], r->o->frames,
					      dir, "output", k, e)
				 : save_npy(r->files, t, sim_tensor(r->s, g->out[k]),
					    dir, "output", k, e)))
			return false;
	}
	return true;
}

/* where the specification of a TOSA graph leaves the result open */
static void
note_warnings(const struct sim *s)
{
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	for (int i = 0; i < g->n_ops; i++)
		if (sim_warning(s, i))
			cli_note("warning", "%s", sim_warning(s, i));
}

/* on standard output, which is one of the run's outputs */
static bool
report(struct run *r, struct err *e)
{
	struct text t = { 0 };
	for (int i = 0; !r->o->require_outputs && i < sim_model(r->s)->subgraph[0].n_ops; i++)
		if (sim_stand_in(r->s, i))
			cli_note("only inputs are compared", "%s", sim_stand_in(r->s, i));
	if (r->o->require_outputs && !r->verdict.status)
		(void)outputs_computed(r->s, &r->verdict);
	bool ok = r->o->json	? print_json(&t, r, e)
		  : r->o->trace || print_outputs(&t, r, e);
	ok = ok && file_set_add(r->files, NULL, t.p, t.n, false, e);
	text_free(&t);
	return ok;
}

static bool
has_stand_in(struct sim *s)
{
	for (int i = 0; i < sim_model(s)->subgraph[0].n_ops; i++)
		if (sim_stand_in(s, i))
			return true;
	return false;
}

/* of a comparison of all outputs, for a reader of standard error */
static void
note_compared(const struct run *r)
{
	const struct tfl_subgraph *g = &sim_model(r->s)->subgraph[0];
	const struct options *o = r->o;
	/* a note says that only inputs are compared, or an error why nothing is */
	if (has_stand_in(r->s) || has_stand_in(r->other))
		return;
	if (r->verdict.status && !o->trace && !o->json)
		cli_note("note", "with npu-sim --trace, the lines \"not seen\" are the results of %s that %s "
			 "does not compute, the first operator first", text_plain(r->a, o->compare),
			 text_plain(r->a, file_name(o->model)));
	if (r->verdict.status)
		return;
	cli_note("equal", "%d output%s of both models, byte for byte, for %d frame%s%s", g->n_out,
		 g->n_out == 1 ? "" : "s", o->frames, o->frames == 1 ? "" : "s",
		 o->input.n ? "" : " of generated inputs");
}

bool
run_model(struct arena *a, const struct options *o, struct err *e)
{
	struct run r = { .a = a, .o = o, .files = file_set_open(a) };
	if (!read_model(a, o->model, o->any_size, &r.model, e) ||
	    (o->compare && !read_model(a, o->compare, o->any_size, &r.with, e)))
		return false;
	/* a TOSA graph has nothing that an NPU runs */
	if (o->accept && !r.model.tflite)
		return err_at(e, file_name(o->model), 0,
			      "a TOSA graph is not compiled: see npucc(1)");
	if (o->accept && !o->accept(o->npu.ctx, r.model.tflite, e))
		return false;
	bool ok = open_frames(&r, e) &&
		  open_inputs(a, &r.in, r.m, r.with.tflite, &r.model.borders, o, e) &&
		  open_expectations(a, &r.expect, r.m, &r.model.borders, o, e);
	if (ok) {
		/* the run itself, with its files and directories, or none of them */
		if (o->output_dir)
			file_set_directory(r.files, o->output_dir);
		if (o->dump_dir)
			file_set_directory(r.files, o->dump_dir);
		ok = run_frames(&r, e);
		/* also of a failed run: the failure of a compiled graph may be the graph's */
		note_warnings(r.s);
		if (r.other)
			note_warnings(r.other);
		ok = ok && save_outputs(&r, e) && report(&r, e);
		ok = file_set_end(r.files, ok, e);
	}
	if (ok && o->compare && !o->quiet)
		note_compared(&r);
	close_frames(&r);
	if (ok)
		*e = r.verdict;
	return ok && !e->status;
}
