/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network that is a single NPU operator needs no interpreter: the command stream and
 * the constants are in the model's bytes, and the driver uses them there.
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

bool
can_invoke(const struct job *j)
{
	const struct tfl_subgraph *g = &j->m->subgraph[0];
	if (!j->npu.alone)
		return false;
	/* inputs and outputs are in region 1, the scratch memory, or in regions of their own */
	for (int i = 0; i < g->n_in + g->n_out; i++) {
		int tensor = i < g->n_in ? g->in[i] : g->out[i - g->n_in];
		if (!is_planned(j, tensor) && !stream_separate_place(j->m, tensor).region)
			return false;
	}
	for (int i = 0; i < g->n_tensors; i++)
		if (g->tensor[i].is_variable && !is_planned(j, i))
			return false;
	return true;
}

/* prints statements that fill base[] and size[] */
static void
put_bases(struct text *t, const struct job *j)
{
	const char *p = j->prefix, *n = j->o->name;
	text_printf(t,
		"\tbase[0] = %s_ADDRESS(%s + %s_NPU_CONSTANT_OFFSET);\n"
		"\tsize[0] = %s_NPU_CONSTANT_BYTES;\n"
		"\tbase[1] = %s_ADDRESS(scratch);\n"
		"\tsize[1] = %s_NPU_SCRATCH_BYTES;\n", p, n, p, p, p, p);
	if (has_fast(j))
		text_printf(t, "\tbase[2] = %s_ADDRESS(fast);\n"
			       "\tsize[2] = %s_NPU_SCRATCH_FAST_BYTES;\n", p, p);
	if (any_separate(j)) {
		struct text cast = { 0 };
		text_printf(&cast, "%s_ADDRESS", p);
		put_separate_bases(t, j, text_str(&cast));
		text_free(&cast);
	}
}

void
put_invoke(struct text *t, const struct job *j)
{
	const char *p = j->prefix, *n = j->o->name;
	bool fast = has_fast(j), apart = any_separate(j);
	if (!can_invoke(j)) {
		if (j->npu.n_ops)
			text_puts(t, "\n/*\n * The network is more than one NPU "
				     "operator.  To run it without an\n * interpreter, "
				     "use the C function of tfl2c --format=call.\n "
				     "*/\n");
		return;
	}
	text_puts(t,
		"\n/*\n"
		" * The whole network is one NPU operator, so it runs without an\n");
	text_puts(t, apart
		? " * interpreter: call the function below (include ethosu_driver.h first)\n"
		  " * with the inputs and with room for the outputs, each aligned to 16.\n *"
		: " * interpreter: write the inputs to scratch + INPUT_n_ARENA_OFFSET,\n"
		  " * call the function below (include ethosu_driver.h first), read the\n"
		  " * outputs. ");
	/* all tensors may be outside: C has no array of 0 bytes */
	text_puts(t, j->npu.scratch_bytes ? " scratch: SCRATCH_BYTES, aligned to 16"
					  : " scratch: NULL, because SCRATCH_BYTES is 0");
	text_puts(t, "; fast: CACHE_BYTES\n"
		     " * where that is not 0.  The caller must flush and invalidate "
		     "caches.\n */\n");
	put_define(t, j, "NPU_STREAM_OFFSET", (int64_t)j->npu.stream_at);
	put_define(t, j, "NPU_STREAM_BYTES", (int64_t)j->npu.stream_bytes);
	put_define(t, j, "NPU_CONSTANT_OFFSET", (int64_t)j->npu.constant_at);
	text_printf(t,
		"#ifdef ETHOSU_DRIVER_H\n"
		"#ifdef __cplusplus\n"
		"#define %s_ADDRESS(p) reinterpret_cast<uintptr_t>(p)\n"
		"#else\n"
		"#define %s_ADDRESS(p) ((uintptr_t)(p))\n"
		"#endif\n", p, p);
	if (apart) {
		/*
		 * a function for firmware that starts the NPU and waits for it later, such as
		 * with two buffers in turn
		 */
		text_printf(t, "#define %s_NPU_BASES %d\n"
			       "/* for ethosu_invoke_async(), too: base and size have to last until it\n"
			       " * is done */\n"
			       "static inline void\n"
			       "%s_bases(uint64_t *base, size_t *size, void *scratch%s",
			    p, count_bases(j), n, fast ? ", void *fast" : "");
		put_separate_parameters(t, j);
		text_puts(t, ")\n{\n");
		put_bases(t, j);
		text_puts(t, "}\n");
	}
	text_printf(t, "static inline int\n"
		       "%s_invoke(struct ethosu_driver *driver, void *scratch%s",
		    n, fast ? ", void *fast" : "");
	put_separate_parameters(t, j);
	text_printf(t, ")\n{\n\tuint64_t base[%d];\n\tsize_t size[%d];\n", count_bases(j),
		    count_bases(j));
	if (apart) {
		text_printf(t, "\t%s_bases(base, size, scratch%s", n, fast ? ", fast" : "");
		put_separate_arguments(t, j);
		text_puts(t, ");\n");
	} else {
		put_bases(t, j);
	}
	text_printf(t,
		"\treturn ethosu_invoke_v3(driver, %s + %s_NPU_STREAM_OFFSET,\n"
		"\t\t%s_NPU_STREAM_BYTES, base, size, %d, 0);\n}\n#endif\n",
		n, p, p, count_bases(j));
}
