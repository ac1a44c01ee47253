/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --integer-io: leaves out QUANTIZE of a float input and DEQUANTIZE to a float
 * output.  The tensor that the operator makes or reads becomes the model's input or
 * output.
 */
#include "../part.h"

#include "base/cli.h"

static const char left_out[] = "left out by --integer-io";

static bool
is_float_border(const struct part *p, int tensor)
{
	return p->sg->tensor[tensor].type == TFL_FLOAT32;
}

/* readers of a float input */
struct readers {
	int first;   /* the first QUANTIZE to integers; -1: none */
	/* there is a reader other than QUANTIZE to the same type and quantization */
	bool others;
};

static bool
is_integer_fm(const struct tfl_tensor *t)
{
	return has_type(t, TYPE_FM) && t->quant.n_scale == 1 && !t->data.p && !t->is_variable;
}

static struct readers *
find_readers(const struct part *p, const struct options *o)
{
	const struct tfl_subgraph *sg = p->sg;
	struct readers *of = anew(p->a, struct readers, (size_t)sg->n_tensors);
	for (int i = 0; i < sg->n_tensors; i++)
		of[i].first = -1;
	for (int i = 0; i < sg->n_out; i++)
		of[sg->out[i]].others = true;
	for (int i = 0; i < sg->n_ops; i++) {
		const struct tfl_op *op = &sg->op[i];
		const struct tfl_tensor *y = part_out(p, op, 0);
		bool quantizes = op->code == TFL_QUANTIZE && y && is_integer_fm(y) &&
				 !kept_on_cpu(o, op, i);
		for (int k = 0; k < op->n_in; k++) {
			struct readers *r = op->in[k] >= 0 ? &of[op->in[k]] : NULL;
			if (r && !quantizes) {
				r->others = true;
			} else if (r && r->first < 0) {
				r->first = i;
			} else if (r) {
				const struct tfl_tensor *y0 = part_out(p, &sg->op[r->first], 0);
				r->others |= y->type != y0->type || !quant_equal(y, y0);
			}
		}
	}
	return of;
}

/* the tensor that takes the place of an input: the result of its QUANTIZE, or itself */
static int
integer_input(const struct part *p, const struct readers *r, int tensor)
{
	const int q = r[tensor].first;
	return is_float_border(p, tensor) && q >= 0 && !r[tensor].others ? p->sg->op[q].out[0]
									  : tensor;
}

static int
take_output(const struct part *p, const struct options *o, int tensor)
{
	int from = p->sg->tensor[tensor].producer;
	const struct tfl_op *op = from < 0 ? NULL : &p->sg->op[from];
	if (!is_float_border(p, tensor) || !op || op->code != TFL_DEQUANTIZE ||
	    op->n_in != 1 || op->in[0] < 0 || kept_on_cpu(o, op, from) ||
	    !is_integer_fm(&p->sg->tensor[op->in[0]]))
		return tensor;
	return op->in[0];
}

void
find_border(struct part *p)
{
	const struct tfl_subgraph *sg = p->sg;
	bool *float_border = anew(p->a, bool, (size_t)sg->n_tensors);
	for (int i = 0; i < sg->n_in; i++)
		float_border[sg->in[i]] = is_float_border(p, sg->in[i]);
	for (int i = 0; i < sg->n_out; i++)
		float_border[sg->out[i]] |= is_float_border(p, sg->out[i]);
	for (int i = 0; i < sg->n_ops; i++) {
		const struct tfl_op *op = &sg->op[i];
		p->op[i].border =
		    (op->code == TFL_QUANTIZE && part_in(p, op, 0) && float_border[op->in[0]]) ||
		    (op->code == TFL_DEQUANTIZE && part_out(p, op, 0) && float_border[op->out[0]]);
	}
}

static struct g_tfls
tensor_list(const struct part *p, const int *v, int n)
{
	struct g_tfls l = { .n = n, .v = anew(p->a, struct g_tfl, (size_t)n + 1) };
	for (int i = 0; i < n; i++)
		l.v[i].index = v[i];
	return l;
}

/* warns of the first border tensor that --integer-io could not convert */
static void
warn_of_floats(const struct part *p, const char *side, const int *v, int n)
{
	for (int i = 0; i < n; i++)
		if (is_float_border(p, v[i])) {
			cli_note_to(p->e, "warning", "%s: %s %d (%s) stays FLOAT32, because it "
					    "is not connected to one %s only",
					    p->m->name, side, i,
				 text_plain(p->a, p->sg->tensor[v[i]].name),
				 *side == 'i' ? "QUANTIZE" : "DEQUANTIZE");
			return;
		}
}

void
leave_out_float_borders(struct part *p, const struct options *o)
{
	struct tfl_subgraph *sg = &p->m->subgraph[0];
	int *in = anew(p->a, int, (size_t)sg->n_in);
	int *out = anew(p->a, int, (size_t)sg->n_out);
	for (int i = 0; i < sg->n_out; i++)
		out[i] = take_output(p, o, sg->out[i]);

	/*
	 * Replaces a float input by the result of its QUANTIZE, which the application then
	 * supplies.  Other QUANTIZE operators of the same input copy that result.
	 */
	struct readers *r = find_readers(p, o);
	/* of each tensor: 1 + its replacement; 0: none */
	int *taken = anew(p->a, int, (size_t)sg->n_tensors);
	for (int i = 0; i < sg->n_in; i++) {
		int from = sg->in[i], q = r[from].first;
		in[i] = integer_input(p, r, from);
		if (in[i] == from)
			continue;
		taken[from] = 1 + in[i];
		sg->tensor[in[i]].producer = -1;
		part_leave_out(p, q, left_out);
	}
	for (int i = 0; i < sg->n_ops; i++)
		if (sg->op[i].n_in && sg->op[i].in[0] >= 0 &&
		    taken[sg->op[i].in[0]]) {
			part_set_input(p, i, 0, taken[sg->op[i].in[0]] - 1);
			p->op[i].border = false;
		}
	sg->in = in;
	sg->out = out;

	/* then nobody reads the results of DEQUANTIZE at the outputs */
	bool *read = anew(p->a, bool, (size_t)sg->n_tensors);
	for (int i = 0; i < sg->n_ops; i++)
		for (int k = 0; k < sg->op[i].n_in; k++)
			if (sg->op[i].in[k] >= 0)
				read[sg->op[i].in[k]] = true;
	for (int i = 0; i < sg->n_out; i++)
		read[sg->out[i]] = true;
	for (int i = 0; i < sg->n_ops; i++)
		if (sg->op[i].code == TFL_DEQUANTIZE && sg->op[i].n_out == 1 &&
		    !read[sg->op[i].out[0]])
			part_leave_out(p, i, left_out);

	warn_of_floats(p, "input", in, sg->n_in);
	warn_of_floats(p, "output", out, sg->n_out);
	struct g_model *m = p->g->models[0];
	G_PUT(m, MODEL, inputs, tensor_list(p, in, sg->n_in));
	G_PUT(m, MODEL, outputs, tensor_list(p, out, sg->n_out));
}

bool
cut_float_borders(struct arena *a, const struct options *o, struct tfl_model **m, struct err *e)
{
	struct tfl_subgraph *sg = &(*m)->subgraph[0];
	struct part p = { .a = a, .e = e, .m = *m, .sg = sg };
	const struct readers *r = find_readers(&p, o);
	int *in = anew(a, int, (size_t)sg->n_in + 1), *out = anew(a, int, (size_t)sg->n_out + 1);
	for (int i = 0; i < sg->n_in; i++)
		in[i] = integer_input(&p, r, sg->in[i]);
	for (int i = 0; i < sg->n_out; i++)
		out[i] = take_output(&p, o, sg->out[i]);
	warn_of_floats(&p, "input", in, sg->n_in);
	warn_of_floats(&p, "output", out, sg->n_out);
	struct cut cut;
	return tfl_cut_at(a, *m, in, sg->n_in, out, sg->n_out, &cut, e) &&
	       tfl_read(a, cut.file, (*m)->name, m, e);
}
