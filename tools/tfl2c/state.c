/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables: state that a streaming network keeps between inferences, and the function
 * that resets it.
 */
#include "tfl2c.h"

/* the byte to which the runtime initialises a variable (ResetVariableTensors) */
int
variable_fill(const struct tfl_tensor *t)
{
	return t->type == TFL_INT8 && t->quant.n_zero ? (int)(t->quant.zero[0] & 0xff)
						      : 0;
}

void
put_state(struct text *t, const struct job *j)
{
	const struct tfl_subgraph *g = &j->m->subgraph[0];
	int n = count_variables(g);
	if (!n)
		return;
	text_printf(t,
		"\n/*\n"
		" * State that inferences hand on: %d variable%s.  TensorFlow Lite\n"
		" * Micro gives them their first value in AllocateTensors();\n"
		" * interpreter.Reset() makes them begin anew.  Every byte of one is FILL\n"
		" * then.\n"
		" */\n",
		n, n == 1 ? "" : "s");
	put_define(t, j, "STATES", n);
	for (int i = 0, k = 0; i < g->n_tensors; i++) {
		const struct tfl_tensor *x = &g->tensor[i];
		if (!x->is_variable)
			continue;
		text_puts(t, "\n/* ");
		put_comment_text(t, x->name);
		text_puts(t, " */\n");
		if (j->plan.offset[i] >= 0)
			text_printf(t, "#define %s_STATE_%d_ARENA_OFFSET %d\n", j->prefix, k,
				    (int)j->plan.offset[i]);
		text_printf(t, "#define %s_STATE_%d_BYTES %lld\n"
			       "#define %s_STATE_%d_FILL 0x%02x\n",
			    j->prefix, k, (long long)tfl_bytes(x), j->prefix, k,
			    (unsigned)variable_fill(x));
		k++;
	}
	if (!can_invoke(j))
		return;
	text_printf(t, "\n/* call before the first %s_invoke(), and to reset the variables */\n"
		       "static inline void\n%s_reset(uint8_t *scratch)\n{\n"
		       "\tuint32_t i;\n",
		    j->o->name, j->o->name);
	for (int k = 0; k < n; k++)
		text_printf(t, "\tfor (i = 0; i < %s_STATE_%d_BYTES; i++)\n"
			       "\t\tscratch[%s_STATE_%d_ARENA_OFFSET + i] = "
			       "%s_STATE_%d_FILL;\n",
			    j->prefix, k, j->prefix, k, j->prefix, k);
	text_puts(t, "}\n");
}
