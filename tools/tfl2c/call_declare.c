/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares the functions that the firmware calls to run a network, and those that it
 * provides for CPU operators.  Each of the latter has macros with the operator's
 * options, shapes and quantization.
 */
#include "tfl2c.h"

#include <ctype.h>
#include <stdio.h>

enum { MAX_IO_NAME = 40, PER_LINE = 8 };

int
count_variables(const struct tfl_subgraph *g)
{
	int n = 0;
	for (int i = 0; i < g->n_tensors; i++)
		n += g->tensor[i].is_variable;
	return n;
}

/* replaces each character that is no letter or digit with an underscore */
static void
put_word(struct text *t, const char *s, int (*to_case)(int))
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		text_putc(t, c < 0x80 && isalnum(c) ? (char)to_case(c) : '_');
	}
}

void
put_call_name(struct text *t, const struct job *j, int op)
{
	text_printf(t, "%s_op%d_", j->o->name, op);
	put_word(t, tfl_op_label(&j->m->subgraph[0].op[op]), tolower);
}

void
put_call_head(struct text *t, const struct job *j, const char *separator)
{
	text_printf(t, "int%s%s_call(%svoid *arena_memory%s", separator, j->o->name,
		    j->call.has[STEP_NPU] ? "struct ethosu_driver *driver, " : "",
		    has_fast(j) ? ", void *fast" : "");
	put_separate_parameters(t, j);
	text_putc(t, ')');
}

void
put_reset_head(struct text *t, const struct job *j, const char *separator)
{
	text_printf(t, "void%s%s_reset(void *arena_memory)", separator, j->o->name);
}

/* ---- macros of an operator ------------------------------------------------------ */

static void
put_operand(struct text *t, const struct job *j, int op, const char *what, int k,
	    int tensor)
{
	char io[MAX_IO_NAME];
	if (tensor < 0)
		return;
	const struct tfl_tensor *x = &j->m->subgraph[0].tensor[tensor];
	(void)snprintf(io, sizeof(io), "OP%d_%s_%d", op, what, k);
	put_tensor_macros(t, j, io, x);
	const struct tfl_quant *q = &x->quant;
	if (is_quantized(x))
		put_scale(t, j, io, x);
	if (q->n_scale <= 1)
		return;
	/* lists of scales and zero points, and their dimension */
	text_printf(t, "#define %s_%s_SCALES {", j->prefix, io);
	for (int i = 0; i < q->n_scale; i++) {
		text_printf(t, "%s%s", i ? "," : "", i % PER_LINE ? " " : " \\\n\t");
		put_float(t, q->scale[i]);
	}
	text_printf(t, " }\n#define %s_%s_ZERO_POINTS {", j->prefix, io);
	for (int i = 0; i < q->n_zero; i++)
		text_printf(t, "%s%s%lld", i ? "," : "", i % PER_LINE ? " " : " \\\n\t",
			    (long long)q->zero[i]);
	text_printf(t, " }\n#define %s_%s_AXIS %d\n", j->prefix, io, q->axis);
}

/*
 * "const int8_t *input_0"; not const if the operator writes the tensor or keeps state
 * in it
 */
static void
put_parameter(struct text *t, const struct job *j, const char *what, int k,
	      int tensor, bool is_read)
{
	const struct tfl_tensor *x =
	    tensor < 0 ? NULL : &j->m->subgraph[0].tensor[tensor];
	const char *type = x ? c_type(x->type) : NULL;
	bool constant = is_read && !(x && x->is_variable);
	text_printf(t, "%s%s *%s_%d", constant ? "const " : "", type ? type : "void",
		    what, k);
}

static void
put_function(struct text *t, const struct job *j, int index)
{
	const struct tfl_op *op = &j->m->subgraph[0].op[index];
	text_printf(t, "\n/* ---- operator %d: ", index);
	put_comment_text(t, tfl_op_label(op));
	text_puts(t, " */\n");
	/* the builtin options that are numbers, with the schema's names */
	for (int i = 0; op->options.buf && i < op->options.table->n_slots; i++) {
		const struct fb_field *f = &op->options.table->slot[i];
		if (f->kind < FB_BOOL || f->kind > FB_F64)
			continue;
		text_printf(t, "#define %s_OP%d_", j->prefix, index);
		put_word(t, f->name, toupper);
		text_putc(t, ' ');
		if (f->kind == FB_F32 || f->kind == FB_F64)
			put_float(t, (float)fb_float(op->options, i));
		else
			text_printf(t, "%lld", (long long)fb_int(op->options, i));
		text_putc(t, '\n');
	}
	if (op->custom_options.n)
		text_printf(t, "#define %s_OP%d_CUSTOM_OPTIONS {", j->prefix, index);
	for (size_t i = 0; i < op->custom_options.n; i++)
		text_printf(t, "%s%s%d", i ? "," : "", i % PER_LINE ? " " : " \\\n\t",
			    op->custom_options.p[i]);
	text_puts(t, op->custom_options.n ? " }\n" : "");
	for (int k = 0; k < op->n_in; k++)
		put_operand(t, j, index, "INPUT", k, op->in[k]);
	for (int k = 0; k < op->n_out; k++)
		put_operand(t, j, index, "OUTPUT", k, op->out[k]);
	text_puts(t, "\nint ");
	put_call_name(t, j, index);
	text_puts(t, op->n_in + op->n_out ? "(" : "(void");
	for (int k = 0; k < op->n_in; k++) {
		text_puts(t, k ? ",\n\t" : "");
		put_parameter(t, j, "input", k, op->in[k], true);
	}
	for (int k = 0; k < op->n_out; k++) {
		text_puts(t, k + op->n_in ? ",\n\t" : "");
		put_parameter(t, j, "output", k, op->out[k], false);
	}
	text_puts(t, ");\n");
}

void
put_call_declarations(struct text *t, const struct job *j)
{
	const struct tfl_subgraph *g = &j->m->subgraph[0];
	text_puts(t,
		"\n/*\n"
		" * One inference, operator by operator: ");
	text_puts(t, any_separate(j)
		? "call with the inputs and with\n"
		  " * room for the outputs, each aligned to 16.\n"
		: "write the inputs to\n"
		  " * arena_memory + INPUT_n_ARENA_OFFSET, call, read the outputs.\n");
	/* all tensors may be outside: C has no array of 0 bytes */
	text_puts(t, j->call.arena_bytes ? " * arena_memory: CALL_ARENA_BYTES, aligned to 16"
					 : " * arena_memory: NULL, because CALL_ARENA_BYTES is 0");
	if (has_fast(j))
		text_puts(t, "; fast: NPU_CACHE_BYTES");
	if (j->call.has[STEP_NPU])
		text_printf(t, ".\n * %s_CACHES() cleans and invalidates the data cache around each run of "
			       "the\n * NPU, unless the driver does.  ", j->prefix);
	else
		text_puts(t, ".\n * ");
	text_puts(t,
		"Returns 0, or the first\n"
		" * other value that the driver or a function below returns.\n"
		" */\n");
	put_define(t, j, "CALL_ARENA_BYTES", j->call.arena_bytes);
	if (count_variables(g))
		put_define(t, j, "STATES", count_variables(g));
	text_puts(t, j->call.has[STEP_NPU] ? "struct ethosu_driver;\n" : "");
	text_puts(t, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
	put_call_head(t, j, " ");
	text_puts(t, ";\n");
	if (count_variables(g)) {
		text_puts(t, "/* call before the first inference, and to reset the "
			     "variables */\n");
		put_reset_head(t, j, " ");
		text_puts(t, ";\n");
	}
	if (j->call.has[STEP_FUNCTION])
		text_puts(t, "\n/*\n * Operators that the firmware must provide; they "
			     "return 0 on success.  A pointer\n * is NULL if an "
			     "optional input is absent.\n */\n");
	for (int i = 0; i < g->n_ops; i++)
		if (j->call.step[i] == STEP_FUNCTION)
			put_function(t, j, i);
	text_puts(t, "#ifdef __cplusplus\n}\n#endif\n");
}
