/* SPDX-License-Identifier: Apache-2.0 */
/* Prints macros about memory, and about the NPU of the stream. */
#include "tfl2c.h"

#include "target/accel.h"
#include "target/part.h"

#include <ctype.h>
#include <string.h>

void
put_define(struct text *t, const struct job *j, const char *what,
	   int64_t value)
{
	text_printf(t, "#define %s_%s %lld\n", j->prefix, what,
		    (long long)value);
}

void
put_comment_text(struct text *t, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		/* no end of comment, no line splice, no trigraph */
		bool plain = c >= ' ' && c < 0x7f && c != '*' && c != '\\' &&
			     c != '?';
		text_putc(t, plain ? (char)c : '#');
	}
}

static void
put_arena_size(struct text *t, const struct job *j)
{
	const struct tensor_plan *p = &j->plan;
	text_printf(t,
		"\n/*\n"
		" * Memory for TensorFlow Lite Micro, in bytes.\n"
		" *   PLAN     exact: the extent of the plan in the model, which\n"
		" *            includes all that the NPU reads and writes there\n"
		" *   TENSORS  the plan and the tensors and scratch buffers that\n"
		" *            the runtime places itself, by its greedy planner's rule\n"
		" *   STATE    variables that the plan does not place\n"
		" *   RUNTIME  the runtime's own records, of %d tensors, %d\n"
		" *            operators, %d inputs and outputs: the allocations of\n"
		" *            tflite-micro %s and its reference\n"
		" *            kernels on a 32-bit Arm, added up\n",
		p->n_tensors, p->n_ops,
		j->m->subgraph[0].n_in + j->m->subgraph[0].n_out, TFLM_REVISION);
	/* which part of the arena the summary of npucc counts */
	if (p->used_bytes == p->plan_bytes)
		text_puts(t, " * Of the arena, npucc's summary counts PLAN only.\n");
	else
		text_printf(t, " * Of the arena, npucc's summary counts only the %lld bytes that are used.\n"
			       " * PLAN is larger: the file's format reserves for an interpreter also\n"
			       " * %s.\n",
			    (long long)p->used_bytes,
			    !any_separate(j) ? "NPU_SCRATCH_FAST_BYTES, which the NPU has in its own "
					       "SRAM (CACHE)"
			    : has_fast(j)    ? "NPU_SCRATCH_FAST_BYTES, which the NPU has in its own "
					       "SRAM, and\n * inputs and outputs"
					     : "inputs and outputs");
	text_puts(t,
		" * The whole arena is TENSORS, STATE and RUNTIME together.\n"
		" * To see what is used: interpreter.arena_used_bytes() after\n"
		" * AllocateTensors().\n"
		" */\n");
	put_define(t, j, "PLAN_BYTES", p->plan_bytes);
	put_define(t, j, "TENSOR_BYTES", p->tensor_bytes);
	put_define(t, j, "STATE_BYTES", p->variable_bytes);
	text_printf(t, "#ifndef %s_RUNTIME_BYTES\n", j->prefix);
	put_define(t, j, "RUNTIME_BYTES", p->runtime_bytes);
	text_puts(t, "#endif\n");
	text_printf(t, "#define %s_TENSOR_ARENA_SIZE \\\n"
		       "\t(%s_TENSOR_BYTES + %s_STATE_BYTES + "
		       "%s_RUNTIME_BYTES)\n",
		    j->prefix, j->prefix, j->prefix, j->prefix);
	text_puts(t,
		"/* or two arenas, for MicroAllocator::Create(): networks that run at different\n"
		" * times can share the second one, except for variables of the plan */\n");
	put_define(t, j, "PERSISTENT_ARENA_SIZE", p->persistent_bytes);
	put_define(t, j, "NON_PERSISTENT_ARENA_SIZE", p->non_persistent_bytes);
	if (!p->n_resources)
		return;
	text_printf(t,
		"/* Variables of VAR_HANDLE, which the arena has, too.  Give the interpreter\n"
		" * tflite::MicroResourceVariables::Create(allocator, %s_RESOURCE_VARIABLES). */\n",
		j->prefix);
	put_define(t, j, "RESOURCE_VARIABLES", p->n_resources);
}

/* Defines the dialect's macro of the arena size, or checks that it is large enough. */
static void
put_dialect_size(struct text *t, const struct job *j, const char *macro)
{
	text_printf(t, "#ifdef %s_OWN_ARENA /* of several models */\n"
		       "#elif !defined(%s)\n"
		       "#define %s %s_TENSOR_ARENA_SIZE\n"
		       "#elif %s < %s_TENSOR_ARENA_SIZE\n"
		       "#error \"%s is too small for %s: make it larger, or "
		       "define %s_OWN_ARENA and give it an arena of its own, of "
		       "%s_TENSOR_ARENA_SIZE bytes\"\n"
		       "#endif\n",
		    j->prefix, macro, macro, j->prefix, macro, j->prefix,
		    macro, j->o->name, j->prefix, j->prefix);
}

/*
 * Several headers in one source: each header that needs more than those before it
 * increases the arena's size.  After all of them are included, ..._DEFINE defines the
 * arena.
 */
static void
put_shared_arena(struct text *t, const struct job *j)
{
	const char *name = j->o->shared_arena, *p = j->prefix;
	struct text upper = { 0 };
	for (const char *c = name; *c; c++)
		text_putc(&upper, (char)toupper((unsigned char)*c));
	const char *n = text_str(&upper);
	text_printf(t, "/* %s is for all models whose headers are included */\n"
		       "#ifndef %s_SIZE\n"
		       "#define %s_SIZE %s_TENSOR_ARENA_SIZE\n"
		       "#elif %s_SIZE < %s_TENSOR_ARENA_SIZE\n"
		       "#undef %s_SIZE\n"
		       "#define %s_SIZE %s_TENSOR_ARENA_SIZE\n"
		       "#endif\n", name, n, n, p, n, p, n, n, p);
	text_printf(t, "#ifndef %s_DEFINE\n"
		       "#define %s_DEFINE \\\n"
		       "\tuint8_t %s[%s_SIZE] __attribute__((aligned(16)))\n"
		       "#ifdef __cplusplus\n"
		       "extern \"C\" uint8_t %s[];\n"
		       "#else\n"
		       "extern uint8_t %s[];\n"
		       "#endif\n#endif\n", n, n, name, n, name, name);
	text_free(&upper);
}

void
put_label_macro(struct text *t)
{
	text_puts(t, "#ifndef ETHOS_LABEL\n"
		     "#ifdef __ICCARM__ /* has no labels, and need of none */\n"
		     "#define ETHOS_LABEL(name)\n"
		     "#else\n"
		     "#define ETHOS_LABEL(name) __asm__(name)\n"
		     "#endif\n#endif\n");
}

/*
 * ETHOS_ARENA_DEFINE, ETHOS_CACHE_DEFINE: buffers in the sections of the CMSIS
 * examples.  The buffers have the sections' names in C; therefore they get other names
 * in the assembler.
 */
static void
put_cmsis_buffer(struct text *t, const char *upper, const char *lower)
{
	put_label_macro(t);
	text_printf(t, "#ifndef ETHOS_%s_DEFINE\n"
		       "#define ETHOS_%s_DEFINE \\\n"
		       "\tuint8_t ethos_%s[ETHOS_%s_SIZE] \\\n"
		       "\t    __attribute__((section(\"ethos_%s\"), aligned(16)))\n"
		       "#ifdef __cplusplus\nextern \"C\"\n#else\nextern\n#endif\n"
		       "uint8_t ethos_%s[] ETHOS_LABEL(\"ethos_%s_bytes\");\n#endif\n",
		    upper, upper, lower, upper, lower, lower, lower);
}

void
put_memory_macros(struct text *t, const struct job *j)
{
	put_arena_size(t, j);
	if (j->o->shared_arena) {
		put_shared_arena(t, j);
		return;
	}
	switch (j->o->dialect) {
	case DIALECT_ALIF:
		put_dialect_size(t, j, "TENSOR_ARENA_SIZE");
		break;
	case DIALECT_MLEK:
		put_dialect_size(t, j, "ACTIVATION_BUF_SZ");
		break;
	case DIALECT_CMSIS:
		put_dialect_size(t, j, "ETHOS_ARENA_SIZE");
		put_cmsis_buffer(t, "ARENA", "arena");
		break;
	case DIALECT_XXD:
		break;
	}
}

/* ---- the NPU ------------------------------------------------------------ */

static void
put_npu_memory(struct text *t, const struct job *j)
{
	const struct npu_facts *f = &j->npu;
	bool cache = has_fast(j);
	text_puts(t, "\n/*\n * Bytes at the NPU's base addresses: 0 constants (in the "
		     "model),\n * 1 scratch (in the tensor arena), 2 fast scratch (the NPU's own SRAM).  "
		     "CACHE:\n * size of this SRAM for the driver; 0: the stream "
		     "does not use region 2.\n");
	/* what the application has to reserve, and why sizes may differ */
	bool calls = j->o->format == FORMAT_CALL;
	if (cache)
		text_printf(t, " * Reserve CACHE_BYTES of the NPU's own SRAM and, beside it, %s\n"
			       " * for the arena%s.\n",
			    calls ? "CALL_ARENA_BYTES" : "TENSOR_ARENA_SIZE",
			    !calls && can_invoke(j) ? " (without an interpreter: SCRATCH_BYTES)" : "");
	if (j->part) { /* the memories that the times of the stream are for */
		bool is_one = target_part_has_one_memory(j->part);
		text_printf(t, " * Put the tensor arena %sinto ", is_one ? "and the model " : "");
		put_comment_text(t, j->part->arena_memory);
		if (!is_one) {
			text_puts(t, ", the model into ");
			put_comment_text(t, j->part->constant_memory);
		}
		text_puts(t, " of ");
		put_comment_text(t, j->part->name);
		text_puts(t, ".\n");
		for (size_t i = 0; i < j->n_lacks; i++) {
			text_puts(t, " * ");
			put_comment_text(t, j->lack[i].memory);
			text_printf(t, " is too small, %lld of %lld bytes: use other memory of the "
				       "board.\n * Estimates of the time do not know that memory.\n",
				    (long long)j->lack[i].has, (long long)j->lack[i].needs);
		}
	}
	if (!cache && f->fast_bytes)
		text_puts(t, " * SCRATCH_FAST_BYTES are declared by the model alone: reserve nothing for "
			     "them.\n * But ethosu_init() must get no fast memory (NULL, 0), or at least "
			     "as many\n * bytes: the driver compares the sizes.\n");
	if (any_separate(j))
		text_puts(t, " * Inputs and outputs have the base addresses that their "
			     "REGION says.\n");
	text_puts(t, " */\n");
	put_define(t, j, "NPU_CONSTANT_BYTES", f->constant_bytes);
	put_define(t, j, "NPU_SCRATCH_BYTES", f->scratch_bytes);
	put_define(t, j, "NPU_SCRATCH_FAST_BYTES", f->fast_bytes);
	put_define(t, j, "NPU_CACHE_BYTES", cache ? f->fast_bytes : 0);
	put_io_regions(t, j);
	/* the evaluation kit's macro; the driver's rule: ethosu-commands(7) 14.4 */
	text_printf(t, "#if defined(ETHOS_U_NPU_CACHE_SIZE)\n"
		       "#if ETHOS_U_NPU_CACHE_SIZE > 0 && \\\n"
		       "    ETHOS_U_NPU_CACHE_SIZE < %s_NPU_SCRATCH_FAST_BYTES\n"
		       "#error \"ETHOS_U_NPU_CACHE_SIZE is too small for %s: the "
		       "driver would refuse to run it\"\n#endif\n#endif\n",
		    j->prefix, j->o->name);
	if (j->o->dialect == DIALECT_CMSIS)
		text_printf(t, "#ifndef ETHOS_CACHE_SIZE\n"
			       "#define ETHOS_CACHE_SIZE %s_NPU_CACHE_BYTES\n"
			       "#elif ETHOS_CACHE_SIZE < %s_NPU_CACHE_BYTES\n"
			       "#error \"ETHOS_CACHE_SIZE is too small for %s\"\n"
			       "#endif\n", j->prefix, j->prefix, j->o->name);
	if (j->o->dialect == DIALECT_CMSIS && cache)
		put_cmsis_buffer(t, "CACHE", "cache");
}

static void
put_region_check(struct text *t, const struct job *j, const char *macro,
		 int want)
{
	text_printf(t, "#define %s_%s %d\n", j->prefix, macro, want);
	text_printf(t, "#if defined(%s) && %s != %d\n"
		       "#error \"%s wants %s %d in memory mode %s\"\n#endif\n",
		    macro, macro, want, j->o->name, macro, want,
		    j->o->memory_mode);
}

static void
put_region_config(struct text *t, const struct job *j)
{
	text_puts(t, "\n/*\n * The driver's ethosu_config.h by memory mode:"
		     "\n *                  NPU_QCONFIG  NPU_REGIONCFG_0  _1  "
		     "_2\n");
	for (int i = 0; i < n_region_configs; i++) {
		const struct region_config *c = &region_configs[i];
		text_printf(t, " *   %-14s %11d %16d %3d %3d\n", c->mode,
			    c->qconfig, c->region[0], c->region[1],
			    c->region[2]);
	}
	text_puts(t, " */\n");
	const struct region_config *c =
	    j->o->memory_mode ? region_config(j->o->memory_mode) : NULL;
	if (!c)
		return;
	put_region_check(t, j, "NPU_QCONFIG", c->qconfig);
	put_region_check(t, j, "NPU_REGIONCFG_0", c->region[0]);
	put_region_check(t, j, "NPU_REGIONCFG_1", c->region[1]);
	put_region_check(t, j, "NPU_REGIONCFG_2", c->region[2]);
	/*
	 * Inputs and outputs outside the arena are costed as memory of the arena, so they must
	 * use its port.  The upper bit of the number is the port.
	 */
	for (int k = 3; k < count_bases(j); k++)
		text_printf(t, "#if defined(NPU_REGIONCFG_%d) && NPU_REGIONCFG_%d / 2 != %d\n"
			       "#error \"%s wants NPU_REGIONCFG_%d %d or %d, the port of the arena, "
			       "in memory mode %s\"\n#endif\n",
			    k, k, c->region[1] / 2, j->o->name, k, c->region[1] & ~1,
			    c->region[1] | 1, j->o->memory_mode);
}

void
put_npu_macros(struct text *t, const struct job *j)
{
	const struct npu_facts *f = &j->npu;
	text_putc(t, '\n');
	put_define(t, j, "NPU_OPERATORS", j->npu.n_ops);
	put_define(t, j, "CPU_OPERATORS",
		   (int64_t)j->plan.n_ops - j->npu.n_ops);
	if (!j->npu.n_ops)
		return;
	text_printf(t, "\n/*\n * The NPU that the command stream is for: %s.\n"
		       " * The driver refuses any other: compare with\n"
		       " * ethosu_get_hw_info().\n */\n",
		    f->accel->name);
	int macs = 1 << (f->config & 15);
	put_define(t, j, "NPU_PRODUCT", accel_generation(f->accel)->product);
	put_define(t, j, "NPU_MACS", macs);
	put_define(t, j, "NPU_LOG2_MACS", f->config & 15);
	put_define(t, j, "NPU_STREAM_VERSION", f->config >> 4 & 15);
	/* on U85 these bits are ports and decoders; its buffers have a fixed size */
	if (!accel_lacks(f->accel, LACK_SHRAM))
		put_define(t, j, "NPU_SHRAM_KIB", f->config >> 8 & 255);
	put_define(t, j, "NPU_ARCH_MAJOR", f->id >> 28 & 15);
	put_define(t, j, "NPU_ARCH_MINOR", f->id >> 20 & 255);
	put_define(t, j, "NPU_ARCH_PATCH", f->id >> 16 & 15);
	text_printf(t, "#define %s_NPU_CONFIG_WORD 0x%08xu\n", j->prefix,
		    f->config);
	text_printf(t, "#define %s_NPU_ID_WORD 0x%08xu\n", j->prefix, f->id);

	/* checks of ETHOSU_MACS, and of the macros of the core driver's build for other generations */
	static const char *const others[GENERATIONS][2] = {
		[GEN_U55] = { "65", "85" }, [GEN_U65] = { "55", "85" },
		[GEN_U85] = { "55", "65" },
	};
	const char *const *other = others[f->accel->generation];
	text_printf(t, "#if defined(ETHOSU_MACS) && ETHOSU_MACS != %d\n"
		       "#error \"%s is compiled for an NPU with %d MACs per "
		       "cycle (%s), not for ETHOSU_MACS\"\n#endif\n",
		    macs, j->o->name, macs, f->accel->name);
	text_printf(t, "#if defined(ETHOSU%s) || defined(ETHOSU%s)\n"
		       "#error \"%s is compiled for %s, the driver is built "
		       "for another NPU\"\n#endif\n",
		    other[0], other[1], j->o->name, f->accel->name);
	put_npu_memory(t, j);
	put_region_config(t, j);
}
