/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the function that runs a network: helpers, then one statement per operator. */
#include "base/fixed.h"
#include "tfl2c.h"

#include <inttypes.h>
#include <string.h>

/* ---- helpers, each only if it is used ---------------------------------------- */

static void
put_npu_helper(struct text *t, const struct job *j)
{
	bool fast = has_fast(j);
	/* operators of the CPU may write what the NPU reads, and read what it writes */
	text_printf(t,
		"\n/* If the driver does not clean and invalidate the data cache, define a function\n"
		" * that does, and the header that declares it. */\n"
		"#ifdef %s_HEADER\n#include %s_HEADER\n#endif\n"
		"#ifndef %s_CACHES\n#define %s_CACHES() (void)0\n#endif\n",
		j->prefix, j->prefix, j->prefix, j->prefix);
	text_printf(t,
		"\nstatic int\n"
		"%s_npu(struct ethosu_driver *driver, uint8_t *scratch, "
		"size_t scratch_bytes,\n%s"
		"\tconst unsigned char *stream, int stream_bytes,\n"
		"\tconst unsigned char *constants, size_t constant_bytes", j->o->name,
		fast ? "\tvoid *fast,\n" : "");
	put_separate_parameters(t, j);
	text_printf(t,
		")\n{\n"
		"\tuint64_t base[%d];\n\tsize_t size[%d];\n\tint status;\n"
		"\tbase[0] = (uintptr_t)constants;\n"
		"\tsize[0] = constant_bytes;\n"
		"\tbase[1] = (uintptr_t)scratch;\n"
		"\tsize[1] = scratch_bytes;\n",
		count_bases(j), count_bases(j));
	if (fast)
		text_printf(t, "\tbase[2] = (uintptr_t)fast;\n"
			       "\tsize[2] = %lld;\n",
			    (long long)j->npu.fast_bytes);
	if (any_separate(j))
		put_separate_bases(t, j, "(uintptr_t)");
	text_printf(t, "\t%s_CACHES();\n"
		       "\tstatus = ethosu_invoke_v3(driver, stream, stream_bytes, base, "
		       "size, %d, 0);\n"
		       "\t%s_CACHES();\n\treturn status;\n}\n",
		    j->prefix, count_bases(j), j->prefix);
}

static void
put_quantize_helper(struct text *t, const char *name)
{
	text_printf(t, "\nstatic float\n%s_rounded(float q, float least, float most)\n{\n", name);
	put_rounding(t, "least", "most");
	text_puts(t, "\treturn q;\n}\n");
}

/* MultiplyByQuantizedMultiplier with double rounding: base/fixed.h */
static void
put_requantize_helper(struct text *t, const char *name)
{
	text_printf(t,
		"\nstatic int32_t\n%s_requantized(int32_t value, int32_t zero_in, "
		"int32_t multiplier,\n\tint left, int right)\n{\n"
		"\tint32_t x = (int32_t)(((uint32_t)value - (uint32_t)zero_in) << "
		"left);\n"
		"\tint64_t p = (int64_t)x * multiplier + (1 << 30);\n"
		"\tint32_t mask = (int32_t)((1u << right) - 1);\n"
		"\tint32_t high = (int32_t)((uint64_t)p >> 31), rest;\n"
		"\trest = high & mask;\n"
		"\treturn (high >> right) + (rest > (mask >> 1) + (high < 0));\n}\n",
		name);
}

/* ---- tensors in expressions ---------------------------------------------------- */

/* the address of a tensor's byte from: "arena + 64", "net + 1024" */
static void
put_place(struct text *t, const struct job *j, int tensor, int64_t from)
{
	const struct tfl_tensor *x = &j->m->subgraph[0].tensor[tensor];
	if (x->data.p)
		text_printf(t, "%s + %lld", j->o->name,
			    (long long)(x->data.p - j->m->file.p + from));
	else
		text_printf(t, "arena + %lld", (long long)(j->call.at[tensor] + from));
}

/* a pointer to a tensor's elements, as an argument */
static void
put_pointer(struct text *t, const struct job *j, int tensor)
{
	const struct tfl_tensor *x =
	    tensor < 0 ? NULL : &j->m->subgraph[0].tensor[tensor];
	if (!x || (!x->data.p && j->call.at[tensor] < 0)) {
		text_puts(t, "NULL");
		return;
	}
	text_puts(t, x->data.p ? "(const void *)(" : "(void *)(");
	put_place(t, j, tensor, 0);
	text_puts(t, ")");
}

static void
put_element_pointer(struct text *t, const struct job *j, const char *name,
		    int tensor, bool is_const)
{
	const struct tfl_tensor *x = &j->m->subgraph[0].tensor[tensor];
	text_printf(t, "\t\t%s%s *%s = ", is_const ? "const " : "", c_type(x->type),
		    name);
	put_pointer(t, j, tensor);
	text_puts(t, ";\n");
}

/* ---- operators ------------------------------------------------------------------- */

/* the range of a type that QUANTIZE writes */
static struct range {
	const char *text; /* both ends as C */
	int least, most;
}
range_of(int type)
{
	switch (type) {
	case TFL_INT8: return (struct range){ "-128, 127", INT8_MIN, INT8_MAX };
	case TFL_UINT8: return (struct range){ "0, 255", 0, UINT8_MAX };
	case TFL_INT16: return (struct range){ "-32768, 32767", INT16_MIN, INT16_MAX };
	default: return (struct range){ "INT32_MIN, INT32_MAX", INT32_MIN, INT32_MAX };
	}
}

static long long
zero_of(const struct tfl_tensor *x)
{
	return x->quant.n_zero ? (long long)x->quant.zero[0] : 0;
}

static void
put_elements(struct text *t, const struct job *j, const struct tfl_op *op,
	     enum step step)
{
	const struct tfl_subgraph *g = &j->m->subgraph[0];
	const struct tfl_tensor *in = &g->tensor[op->in[0]];
	const struct tfl_tensor *out = &g->tensor[op->out[0]];
	if (!tfl_elements(out))
		return;
	text_puts(t, "\t{\n");
	put_element_pointer(t, j, "x", op->in[0], true);
	put_element_pointer(t, j, "y", op->out[0], false);
	text_printf(t, "\t\tint32_t i;\n\t\tfor (i = 0; i < %lld; i++)\n"
		       "\t\t\ty[i] = ", (long long)tfl_elements(out));
	const char *name = j->o->name, *type = c_type(out->type);
	const struct range range = range_of(out->type);
	const long long zero = zero_of(out);
	struct fixed_mult m;
	switch (step) {
	case STEP_DEQUANTIZE: /* the product of 8 or 16 bits is exact in double, so float rounds it alike */
		text_puts(t, in->type == TFL_INT32 ? "(float)((double)" : "");
		put_float(t, in->quant.scale[0]);
		text_printf(t, in->type == TFL_INT32 ? " * ((double)x[i] - %lld))" : " * (float)(x[i] - %lld)",
			    zero_of(in));
		break;
	case STEP_QUANTIZE:
		text_printf(t, "(%s)((int32_t)%s_rounded(x[i] / ", type, name);
		put_float(t, out->quant.scale[0]);
		text_printf(t, ", %lld.0f, %lld.0f) + %lld)", range.least - zero, range.most - zero, zero);
		break;
	case STEP_QUANTIZE_32:
		text_printf(t, "%s_clamp((int64_t)%s_rounded(x[i] / ", name, name);
		put_float(t, out->quant.scale[0]);
		text_printf(t, ", -9e18f, 9e18f) + %lld, %s)", zero, range.text);
		break;
	default:
		m = fixed_quantize((double)in->quant.scale[0] / (double)out->quant.scale[0]);
		text_printf(t, "(%s)%s_clamp((int64_t)%s_requantized(x[i], %lld, %" PRId32
			       ", %d, %d) +\n\t\t\t\t%lld, %s)",
			    type, name, name, zero_of(in), m.mult, m.exp > 0 ? m.exp : 0,
			    m.exp > 0 ? 0 : -m.exp, zero, range.text);
		break;
	}
	text_puts(t, ";\n\t}\n");
}

/* for each part one memcpy(), or a loop over the rows */
static void
put_copies(struct text *t, const struct job *j, const struct tfl_op *op)
{
	int64_t at = 0;
	for (int k = 0; k < copy_parts(op); k++) {
		struct rows r = copy_rows(&j->m->subgraph[0], op, k, at);
		bool one = r.n == 1;
		at += r.bytes;
		if (!r.bytes || !r.n)
			continue;
		if (one && j->call.at[r.in] >= 0 && r.in_at == r.out_at &&
		    j->call.at[r.in] == j->call.at[r.out]) {
			text_puts(t, "\t/* is in its place */\n");
			continue;
		}
		if (!one)
			text_printf(t, "\t{\n\t\tint32_t i;\n\t\tfor (i = 0; i < %lld; i++)\n"
				       "\t\t", (long long)r.n);
		text_puts(t, "\tmemcpy(");
		put_place(t, j, r.out, r.out_at);
		if (!one)
			text_printf(t, " + %lld * i", (long long)r.out_step);
		text_puts(t, ", ");
		put_place(t, j, r.in, r.in_at);
		if (!one)
			text_printf(t, " + %lld * i", (long long)r.in_step);
		text_printf(t, ", %lld);\n%s", (long long)r.bytes, one ? "" : "\t}\n");
	}
}

static void
put_npu(struct text *t, const struct job *j, const struct tfl_op *op)
{
	const struct tfl_tensor *x = j->m->subgraph[0].tensor;
	int constants = op->in[1];
	int64_t scratch = j->call.at[op->in[2]];
	text_printf(t, "\tstatus = %s_npu(driver, arena", j->o->name);
	if (j->call.arena_bytes) /* otherwise the arena may be NULL */
		text_printf(t, " + %lld", (long long)(scratch < 0 ? 0 : scratch));
	text_printf(t, ", %lld,", (long long)tfl_bytes(&x[op->in[2]]));
	text_puts(t, has_fast(j) ? " fast,\n\t\t" : "\n\t\t");
	put_place(t, j, op->in[0], 0);
	text_printf(t, ", %lld, ", (long long)tfl_bytes(&x[op->in[0]]));
	if (x[constants].data.p)
		put_place(t, j, constants, 0);
	else
		text_puts(t, j->o->name);
	text_printf(t, ", %lld", (long long)tfl_bytes(&x[constants]));
	put_separate_arguments(t, j);
	text_puts(t, ");\n\tif (status)\n\t\treturn status;\n");
}

static void
put_call(struct text *t, const struct job *j, int index)
{
	const struct tfl_op *op = &j->m->subgraph[0].op[index];
	text_puts(t, "\tstatus = ");
	put_call_name(t, j, index);
	text_puts(t, "(");
	for (int k = 0; k < op->n_in + op->n_out; k++) {
		text_puts(t, k ? ",\n\t\t" : "");
		put_pointer(t, j, k < op->n_in ? op->in[k] : op->out[k - op->n_in]);
	}
	text_puts(t, ");\n\tif (status)\n\t\treturn status;\n");
}

static void
put_step(struct text *t, const struct job *j, int index)
{
	const struct tfl_op *op = &j->m->subgraph[0].op[index];
	if (j->call.step[index] == STEP_NONE)
		return;
	text_printf(t, "\n\t/* %d: ", index);
	put_comment_text(t, tfl_op_label(op));
	text_puts(t, " */\n");
	if (j->o->profile)
		text_printf(t, "\tticks = %s_TICKS();\n", j->prefix);
	switch (j->call.step[index]) {
	case STEP_NPU:
		put_npu(t, j, op);
		break;
	case STEP_COPY:
		put_copies(t, j, op);
		break;
	case STEP_FUNCTION:
		put_call(t, j, index);
		break;
	default:
		put_elements(t, j, op, j->call.step[index]);
		break;
	}
	if (j->o->profile) { /* the name in one word, as npu-perf reads it */
		struct text name = { 0 };
		for (const char *p = tfl_op_label(op); *p; p++)
			text_putc(&name, strchr(" \t|]", *p) ? '_' : *p);
		text_printf(t, "\t%s_PROFILE(", j->prefix);
		text_c_string(t, text_str(&name));
		text_printf(t, ", (uint32_t)(%s_TICKS() - ticks));\n", j->prefix);
		text_free(&name);
	}
}

void
put_call_function(struct text *t, const struct job *j)
{
	const struct tfl_subgraph *g = &j->m->subgraph[0];
	const bool *has = j->call.has;
	const char *p = j->prefix, *name = j->o->name;
	/*
	 * The counter of cycles and the print of --profile.  The firmware may define both macros:
	 * the default counter is the one of a Cortex-M, which the firmware must have started.
	 */
	if (j->o->profile)
		text_printf(t, "\n#ifndef %s_TICKS /* DWT_CYCCNT */\n"
			       "#define %s_TICKS() (*(const volatile uint32_t *)0xe0001004u)\n#endif\n"
			       "#ifndef %s_PROFILE\n#include <stdio.h>\n"
			       "#define %s_PROFILE(name, ticks) \\\n"
			       "\t(void)printf(\"%%s took %%lu ticks\\n\", name, (unsigned long)(ticks))\n"
			       "#endif\n", p, p, p, p);
	if (has[STEP_NPU])
		put_npu_helper(t, j);
	if (has[STEP_QUANTIZE_32] || has[STEP_REQUANTIZE])
		text_printf(t,
			"\nstatic int32_t\n%s_clamp(int64_t value, int32_t least, "
			"int32_t most)\n{\n"
			"\treturn value < least ? least : value > most ? most : "
			"(int32_t)value;\n}\n", name);
	if (has[STEP_QUANTIZE] || has[STEP_QUANTIZE_32])
		put_quantize_helper(t, name);
	if (has[STEP_REQUANTIZE])
		put_requantize_helper(t, name);
	if (count_variables(g)) {
		text_putc(t, '\n');
		put_reset_head(t, j, "\n");
		text_puts(t, "\n{\n\tuint8_t *arena = arena_memory;\n");
		for (int i = 0; i < g->n_tensors; i++)
			if (g->tensor[i].is_variable && j->call.at[i] >= 0)
				text_printf(t, "\tmemset(arena + %lld, 0x%02x, %lld);\n",
					    (long long)j->call.at[i],
					    (unsigned)variable_fill(&g->tensor[i]),
					    (long long)tfl_bytes(&g->tensor[i]));
		text_puts(t, "}\n");
	}
	text_putc(t, '\n');
	put_call_head(t, j, "\n");
	text_puts(t, "\n{\n\tuint8_t *arena = arena_memory;\n");
	if (has[STEP_NPU] || has[STEP_FUNCTION])
		text_puts(t, "\tint status;\n");
	if (j->o->profile)
		text_puts(t, "\tuint32_t ticks;\n");
	text_puts(t, "\t(void)arena;\n");
	for (int i = 0; i < g->n_ops; i++)
		put_step(t, j, i);
	text_puts(t, "\treturn 0;\n}\n");
}
