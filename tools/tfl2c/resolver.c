/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the operators for a MicroMutableOpResolver. */
#include "tfl2c.h"

#include "base/cli.h"
#include "kernels/kernels.h"

#include <string.h>

static const char *
adder_of(const struct tfl_op *op)
{
	if (op->code == TFL_CUSTOM && !strcmp(op->custom, "ethos-u"))
		return "EthosU";
	if (op->code == TFL_CUSTOM &&
	    !strcmp(op->custom, "TFLite_Detection_PostProcess"))
		return "DetectionPostprocess";
	return kernel_adder(op->code);
}

static bool
note_kind(const struct tfl_op *op, struct op_kinds *k)
{
	for (int i = 0; i < k->n; i++) {
		const struct tfl_op *o = k->op[i];
		if (o->opcode == op->opcode || (o->code == op->code &&
						(!o->custom || !strcmp(o->custom, op->custom))))
			return true;
	}
	if (k->n == MAX_KINDS)
		return false;
	k->op[k->n++] = op;
	return true;
}

bool
resolver_kinds(const struct tfl_model *m, struct op_kinds *k, struct err *e)
{
	k->n = 0;
	for (int g = 0; g < m->n_subgraphs; g++)
		for (int i = 0; i < m->subgraph[g].n_ops; i++)
			if (!note_kind(&m->subgraph[g].op[i], k))
				return err_at(e, m->name, 0, "more than %d kinds of operators",
					      MAX_KINDS);
	return true;
}

void
resolver_missing(struct text *t, const struct op_kinds *k)
{
	for (int i = 0; i < k->n; i++) {
		if (adder_of(k->op[i]))
			continue;
		text_puts(t, t->n ? ", " : "");
		put_comment_text(t, tfl_op_label(k->op[i]));
	}
}

void
resolver_refused(const struct tfl_model *m)
{
	for (int s = 0; s < m->n_subgraphs; s++)
		for (int i = 0; i < m->subgraph[s].n_ops; i++) {
			const struct tfl_op *op = &m->subgraph[s].op[i];
			struct err why = { 0 };
			if (adder_of(op) && !kernel_is_in_micro(&m->subgraph[s], op, &why))
				cli_note("warning", "%s: operator %d (%s): %s, so the interpreter "
					 "fails", m->name, i, tfl_op_label(op), why.text);
		}
}

void
put_resolver(struct text *t, const struct job *j)
{
	struct text calls = { 0 }, missing = { 0 };
	int n = 0;
	for (int i = 0; i < j->kinds.n; i++) {
		const char *name = adder_of(j->kinds.op[i]);
		if (name)
			text_printf(&calls, "%sresolver.Add%s() == 0", n++ ? " &&\n\t       " : "", name);
	}
	resolver_missing(&missing, &j->kinds);
	text_printf(t, "\n/*\n * The operators of the model:\n"
		       " *   tflite::MicroMutableOpResolver<%s_RESOLVER_OPS> "
		       "resolver;\n"
		       " *   if (!%s_add_operators(resolver)) ...\n",
		    j->prefix, j->o->name);
	if (missing.n)
		text_printf(t, " * TensorFlow Lite Micro has none for these; add "
			       "your own:\n *   %s\n", text_str(&missing));
	text_puts(t, " */\n");
	put_define(t, j, "RESOLVER_OPS", n);
	text_puts(t, "#ifdef __cplusplus\n");
	text_printf(t, "template <typename Resolver> static inline bool\n"
		       "%s_add_operators(Resolver &resolver)\n{\n"
		       "\treturn %s;\n}\n#endif\n",
		    j->o->name, n ? text_str(&calls) : "(void)resolver, true");
	text_free(&calls);
	text_free(&missing);
}
