/* SPDX-License-Identifier: Apache-2.0 */
/* nputools_compile(): the stages of npucc, with texts in memory between them. */
#include "lib.h"

#include "tosa/tosa.h"

static bool
check_target(struct call *c)
{
	const struct nputools_options *o = &c->o;
	const char *missing = !o->accelerator	  ? "accelerator"
			      : !o->system_config ? "system_config"
			      : !o->memory_mode	  ? "memory_mode"
						  : NULL;
	return !missing || err_set(&c->e, "error: options: %s is required, unless part "
					  "names a chip", missing);
}

static bool
partition(struct call *c, struct bytes model, struct text *out)
{
	return (tosa_is(model) ? lib_tosa_partition : lib_tfl_partition)(c, model, out);
}

static bool
compile(struct call *c, void *model)
{
	static bool (*const stages[])(struct call *, struct text *, struct text *) = {
		lib_npu_sched, lib_npu_wenc, lib_npu_cmdgen,
	};
	/* the part of the work that is done after each stage, as measured for a network of
	 * 2 MB; the search tells more (progress.c) */
	static const double done[ARRAY_LEN(stages)] = { 0.7, 0.95, 1 };
	const double partitioned = 0.05;
	struct text in = { 0 };
	call_stage(c, partitioned, NPUTOOLS_ERROR_UNSUPPORTED, NPUTOOLS_ERROR_INPUT);
	bool ok = call_check_model(c, *(struct bytes *)model) && check_target(c) &&
		  partition(c, *(struct bytes *)model, &in);
	for (size_t i = 0; ok && i < ARRAY_LEN(stages); i++) {
		struct text next = { 0 };
		/* the graph is ours now; of the options, npu-sched reads the target first */
		call_stage(c, done[i], NPUTOOLS_ERROR_DOES_NOT_FIT,
			   i ? NPUTOOLS_ERROR_INTERNAL : NPUTOOLS_ERROR_INPUT);
		ok = stages[i](c, &in, &next);
		text_free(&in);
		in = next;
	}
	if (ok)
		c->out = in;
	else
		text_free(&in);
	return ok;
}

int
nputools_compile(const struct nputools_options *options, const void *model, size_t size,
		 struct nputools_output *out)
{
	struct bytes b = { .p = model, .n = size };
	return call_whole(options, compile, &b, out);
}
