/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network that is one NPU operator needs no interpreter: the command stream
 * and the constants lie in the model's bytes, and the driver takes them.
 */
#include "tfl2c.h"

#include <string.h>

static bool
is_planned(const struct job *j, int tensor)
{
	int64_t at = j->plan.offset[tensor];
	return at >= 0 && at + tfl_bytes(&j->m->subgraph[0].tensor[tensor]) <=
			      j->npu.scratch_bytes;
}

/* every input, output and variable has to lie in region 1, the scratch */
static bool
all_planned(const struct job *j)
{
	const struct tfl_subgraph *g = &j->m->subgraph[0];
	for (int i = 0; i < g->n_in + g->n_out; i++)
		if (!is_planned(j, i < g->n_in ? g->in[i] : g->out[i - g->n_in]))
			return false;
	for (int i = 0; i < g->n_tensors; i++)
		if (g->tensor[i].is_variable && !is_planned(j, i))
			return false;
	return true;
}

bool
can_invoke(const struct job *j)
{
	return j->npu.alone && all_planned(j);
}

static void
put_macros(struct text *t, const struct job *j)
{
	text_puts(t,
		"\n/*\n"
		" * The whole network is one NPU operator, so it runs without an\n"
		" * interpreter: write the inputs to scratch + INPUT_n_ARENA_OFFSET,\n"
		" * call the function below (include ethosu_driver.h first), read the\n"
		" * outputs.  scratch: SCRATCH_BYTES, aligned to 16; fast: CACHE_BYTES\n"
		" * where that is not 0.  Caches are the caller's affair.\n"
		" */\n");
	put_define(t, j, "NPU_STREAM_OFFSET", (int64_t)j->npu.stream_at);
	put_define(t, j, "NPU_STREAM_BYTES", (int64_t)j->npu.stream_bytes);
	put_define(t, j, "NPU_CONSTANT_OFFSET", (int64_t)j->npu.constant_at);
}

static void
put_function(struct text *t, const struct job *j, bool fast)
{
	const char *p = j->prefix, *n = j->o->name;
	text_printf(t,
		"#ifdef ETHOSU_DRIVER_H\n"
		"#ifdef __cplusplus\n"
		"#define %s_ADDRESS(p) reinterpret_cast<uintptr_t>(p)\n"
		"#else\n"
		"#define %s_ADDRESS(p) ((uintptr_t)(p))\n"
		"#endif\n", p, p);
	text_printf(t,
		"static inline int\n"
		"%s_invoke(struct ethosu_driver *driver, void *scratch%s)\n{\n"
		"\tuint64_t base[%d];\n\tsize_t size[%d];\n"
		"\tbase[0] = %s_ADDRESS(%s + %s_NPU_CONSTANT_OFFSET);\n"
		"\tsize[0] = %s_NPU_CONSTANT_BYTES;\n"
		"\tbase[1] = %s_ADDRESS(scratch);\n"
		"\tsize[1] = %s_NPU_SCRATCH_BYTES;\n",
		n, fast ? ", void *fast" : "", fast ? 3 : 2, fast ? 3 : 2, p, n,
		p, p, p, p);
	if (fast)
		text_printf(t, "\tbase[2] = %s_ADDRESS(fast);\n"
			       "\tsize[2] = %s_NPU_SCRATCH_FAST_BYTES;\n", p,
			    p);
	text_printf(t,
		"\treturn ethosu_invoke_v3(driver, %s + %s_NPU_STREAM_OFFSET,\n"
		"\t\t%s_NPU_STREAM_BYTES, base, size, %d, 0);\n}\n#endif\n",
		n, p, p, fast ? 3 : 2);
}

void
put_invoke(struct text *t, const struct job *j)
{
	if (!can_invoke(j)) {
		if (j->npu.n_ops)
			text_puts(t, "\n/*\n * Not one NPU operator: what runs it without "
				     "an interpreter is the C\n * function that tfl2c "
				     "--format=call writes.\n */\n");
		return;
	}
	put_macros(t, j);
	put_function(t, j, j->npu.regions >> 2 & 1);
}
