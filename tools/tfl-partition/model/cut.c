/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --subgraph: a body of IF or WHILE takes the place of the model.  --cut-inputs and
 * --cut-outputs: the network between named tensors does.  The operators outside are reported.
 */
#include "../part.h"

#include "base/cli.h"
#include "base/file.h"
#include "kernels/kernels.h"
#include "tflite/calls.h"

static const enum cut_side outside[] = { CUT_BEFORE, CUT_BEHIND, CUT_ASIDE };

static int
count_side(const struct cut *cut, enum cut_side side)
{
	int n = 0;
	for (int i = 0; i < cut->n_ops; i++)
		n += cut->side[i] == side;
	return n;
}

/* "operators 0 (QUANTIZE), 1 (MUL) and 3 more" of one side */
static const char *
operators_of(struct arena *a, const struct tfl_model *m, const struct cut *cut,
	     enum cut_side side)
{
	enum { SHOWN = 8 };
	struct text t = { 0 };
	int all = count_side(cut, side), n = 0;
	text_printf(&t, "operator%s ", all == 1 ? "" : "s");
	for (int i = 0; i < cut->n_ops && n < SHOWN; i++)
		if (cut->side[i] == side)
			text_printf(&t, "%s%d (%s)", n++ ? ", " : "", i,
				    tfl_op_label(&m->subgraph[0].op[i]));
	if (all > n)
		text_printf(&t, " and %d more", all - n);
	const char *s = arena_strdup(a, text_str(&t));
	text_free(&t);
	return s;
}

bool
take_cut(struct arena *a, const struct options *o, struct tfl_model **m,
	 const struct part_cut **out, struct err *e)
{
	*out = NULL;
	if (!o->cut_inputs && !o->cut_outputs)
		return true;
	struct part_cut *c = anew(a, struct part_cut, 1);
	c->of = *m;
	if (!tfl_cut(a, *m, o->cut_inputs, o->cut_outputs, &c->cut, e) ||
	    !tfl_read(a, c->cut.file, (*m)->name, m, e))
		return false;
	*out = c;
	if (o->report)
		return true;
	const struct cut *cut = &c->cut;
	for (size_t i = 0; i < ARRAY_LEN(outside); i++)
		if (count_side(cut, outside[i]))
			cli_note_to(e, "note", "%s: the cut leaves out %s, %s", c->of->name,
				    operators_of(a, c->of, cut, outside[i]),
				    cut_side_name(outside[i]));
	for (int i = cut->n_in - cut->n_kept_in; i < cut->n_in; i++)
		if (cut->n_in > cut->n_kept_in)
			cli_note_to(e, "note", "%s: the cut still reads the model's input %s",
				    c->of->name,
				    text_plain(a, c->of->subgraph[0].tensor[cut->in[i]].name));
	return true;
}

bool
take_subgraph(struct arena *a, const struct options *o, struct tfl_model **m, struct err *e)
{
	struct bytes file;
	const char *name = arena_printf(a, "%s (subgraph %d)", (*m)->name, o->subgraph);
	return !o->subgraph || (tfl_body(a, *m, o->subgraph, &file, e) &&
				tfl_read(a, file, name, m, e));
}

bool
write_cut(struct arena *a, const struct options *o, struct bytes file, struct err *e)
{
	struct tfl_model *m;
	const struct part_cut *c;
	return model_read(a, file, file_name(o->input), &m, e) && tfl_check_plain(m, e) &&
	       take_subgraph(a, o, &m, e) && take_cut(a, o, &m, &c, e) &&
	       (!o->integer_io || cut_float_borders(a, o, &m, e)) &&
	       file_write(o->output, m->file.p, m->file.n, true, e);
}

void
print_cut(const struct part *p, struct text *t)
{
	for (size_t i = 0; p->cut && i < ARRAY_LEN(outside); i++)
		if (count_side(&p->cut->cut, outside[i]))
			text_printf(t, "the cut leaves out %s, %s\n",
				    operators_of(p->a, p->cut->of, &p->cut->cut, outside[i]),
				    cut_side_name(outside[i]));
}
