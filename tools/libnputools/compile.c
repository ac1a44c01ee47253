/* SPDX-License-Identifier: Apache-2.0 */
/* The stages of npucc, all or one, with texts in memory between them. */
#include "lib.h"

#include "tflite/calls.h"
#include "tflite/tflite.h"
#include "tosa/tosa.h"

#include <string.h>

static bool
check_target(struct call *c)
{
	const struct nputools_options *o = &c->o;
	const char *missing = !o->accelerator	  ? "accelerator"
			      : !o->system_config ? "system_config"
			      : !o->memory_mode	  ? "memory_mode"
						  : NULL;
	return !missing || err_set(&c->e, "options: %s is required, unless part names a chip",
				   missing);
}

static bool
partition(struct call *c, struct bytes model, struct text *out)
{
	const struct nputools_options *o = &c->o;
	const char *other = o->integer_io    ? "integer_io"
			    : o->allow	     ? "allow"
			    : o->cpu	     ? "cpu"
			    : o->cut_inputs  ? "cut_inputs"
			    : o->cut_outputs ? "cut_outputs"
					     : NULL;
	if (tosa_is(model) && other)
		return err_at(&c->e, o->name, 0, "%s is for TFLite models only, and this is a TOSA "
			      "graph; leave it out", other);
	return (tosa_is(model) ? lib_tosa_partition : lib_tfl_partition)(c, model, out);
}

typedef bool stage_run(struct call *c, struct text *in, struct text *out);

/* Runs a stage, which begins where the one before it ended; its text takes the place of *t. */
static bool
run_stage(struct call *c, stage_run *run, struct text *t)
{
	struct text next = { 0 };
	bool ok = run(c, t, &next);
	text_free(t);
	*t = next;
	t->n = ok ? t->n : 0;
	return ok;
}

/* The part of the work that is done after each stage, as measured for a network of 2 MB.  The
 * search tells more (progress.c). */
static const double checked = 0.01, partitioned = 0.05, scheduled = 0.7, encoded = 0.95;

/* A part is a promise: its memories hold the compiled model and the arena. */
static bool
check_part(struct call *c, size_t model_bytes)
{
	const struct nputools_options *o = &c->o;
	const struct target_part *p = target_part_find(o->part, &c->e);
	struct part_lack lack[PART_MEMORIES];
	c->needs.constants = (int64_t)model_bytes;
	c->needs.constants_in_arena = target_mode_has_constants_in_arena(o->memory_mode);
	c->needs.arena += c->bodies_arena;
	if (!p || o->allow_overflow || !target_part_lacks(p, &c->needs, lack))
		return true;
	c->no = NPUTOOLS_ERROR_DOES_NOT_FIT;
	c->out.n = 0;
	return err_no(&c->e, NULL, 0, "the compiled model needs %lld bytes, %s of %s has %lld: "
		      "%lld bytes are missing; allow_overflow accepts it, for boards with "
		      "external memory", (long long)lack->needs, lack->memory, p->name,
		      (long long)lack->has, (long long)(lack->needs - lack->has));
}

/* All stages, for a model or for its body c->subgraph. */
static bool
compile_one(struct call *c, struct bytes model, struct text *t)
{
	call_stage(c, partitioned, NPUTOOLS_ERROR_UNSUPPORTED, NPUTOOLS_ERROR_INPUT);
	if (!partition(c, model, t))
		return false;
	/* the target, which npu-sched reads first, is the caller's; the graph is ours */
	call_stage(c, scheduled, NPUTOOLS_ERROR_DOES_NOT_FIT, NPUTOOLS_ERROR_INPUT);
	if (!run_stage(c, lib_npu_sched, t))
		return false;
	call_stage(c, encoded, NPUTOOLS_ERROR_INTERNAL, NPUTOOLS_ERROR_INTERNAL);
	if (!run_stage(c, lib_npu_wenc, t))
		return false;
	call_stage(c, 1, NPUTOOLS_ERROR_INTERNAL, NPUTOOLS_ERROR_INTERNAL);
	return run_stage(c, lib_npu_cmdgen, t);
}

/* The network between the cuts takes the place of the model: its bodies are compiled. */
static bool
cut(struct call *c, struct bytes *model)
{
	if (tosa_is(*model) || (!c->o.cut_inputs && !c->o.cut_outputs))
		return true;
	bool ok = lib_tfl_partition_cut(c, model);
	c->o.cut_inputs = c->o.cut_outputs = NULL;
	return ok;
}

/* A TFLite model is all integer, except for the rules of allow. */
static bool
check_integer(struct call *c, struct bytes model)
{
	return tosa_is(model) || lib_tfl_quantcheck(c, model);
}

/* Compiles the bodies of IF and WHILE.  The stages report a model that can't be read. */
static bool
compile_bodies(struct call *c, struct bytes model)
{
	struct tfl_model *m;
	if (tosa_is(model) || !tfl_read(c->a, model, c->o.name, &m, &(struct err){ 0 }))
		return true;
	const bool *is_body = tfl_bodies(c->a, m);
	struct bytes *body = anew(c->a, struct bytes, (size_t)m->n_subgraphs);
	int64_t arena = 0;
	bool ok = true;
	for (int i = 1; ok && i < m->n_subgraphs; i++) {
		struct text t = { 0 };
		c->subgraph = i;
		ok = !is_body[i] || compile_one(c, model, &t);
		if (ok && t.n) {
			uint8_t *p = arena_alloc(c->a, t.n, 1);
			memcpy(p, t.p, t.n);
			body[i] = (struct bytes){ .p = p, .n = t.n };
			arena += c->needs.arena;
		}
		text_free(&t);
	}
	c->subgraph = 0;
	c->bodies_arena = arena;
	c->body = body;
	c->n_bodies = m->n_subgraphs;
	return ok;
}

static bool
compile(struct call *c, void *model)
{
	struct bytes b = *(struct bytes *)model;
	c->has_model = true;
	call_stage(c, checked, NPUTOOLS_ERROR_UNSUPPORTED, NPUTOOLS_ERROR_INPUT);
	return call_check_model(c, b) && check_target(c) && cut(c, &b) && check_integer(c, b) &&
	       compile_bodies(c, b) && compile_one(c, b, &c->out) && check_part(c, c->out.n);
}

static bool
front(struct call *c, void *model)
{
	struct bytes b = *(struct bytes *)model;
	c->has_model = true;
	call_stage(c, checked, NPUTOOLS_ERROR_UNSUPPORTED, NPUTOOLS_ERROR_INPUT);
	if (!call_check_model(c, b) || !check_target(c) || !cut(c, &b) || !check_integer(c, b))
		return false;
	call_stage(c, partitioned, NPUTOOLS_ERROR_UNSUPPORTED, NPUTOOLS_ERROR_INPUT);
	if (!partition(c, b, &c->out))
		return false;
	call_stage(c, 1, NPUTOOLS_ERROR_DOES_NOT_FIT, NPUTOOLS_ERROR_INPUT);
	return run_stage(c, lib_npu_sched_front, &c->out);
}

static bool
report(struct call *c, void *model)
{
	struct bytes b = *(struct bytes *)model;
	call_stage(c, 1, NPUTOOLS_ERROR_UNSUPPORTED, NPUTOOLS_ERROR_INPUT);
	if (!call_check_model(c, b))
		return false;
	if (tosa_is(b))
		return err_no(&c->e, c->o.name, 0, "a TOSA graph has no report in JSON: all "
			      "operators run on the NPU, or nputools_compile() refuses the graph; "
			      "tosa-partition --report lists them as text");
	return lib_tfl_partition_report(c, b, &c->out);
}

/* the input of nputools_stage() */
struct step {
	struct bytes in;
	int stage;
};

static bool
run_one(struct call *c, void *ctx)
{
	static stage_run *const run[] = {
		[NPUTOOLS_SCHEDULE] = lib_npu_sched,
		[NPUTOOLS_ENCODE] = lib_npu_wenc,
		[NPUTOOLS_EMIT] = lib_npu_cmdgen,
	};
	const struct step *s = ctx;
	call_stage(c, 1, s->stage == NPUTOOLS_PARTITION ? NPUTOOLS_ERROR_UNSUPPORTED
							: NPUTOOLS_ERROR_DOES_NOT_FIT,
		   NPUTOOLS_ERROR_INPUT);
	if (s->stage < NPUTOOLS_PARTITION || s->stage > NPUTOOLS_EMIT)
		return err_set(&c->e, "stage is %d, not of enum nputools_stage", s->stage);
	if (!call_check_model(c, s->in))
		return false;
	if (s->stage == NPUTOOLS_PARTITION)
		return partition(c, s->in, &c->out);
	text_put(&c->out, s->in.p, s->in.n); /* the stage changes its input */
	return run_stage(c, run[s->stage], &c->out);
}

int
nputools_compile(const struct nputools_options *options, const void *model, size_t size,
		 struct nputools_output *out)
{
	struct bytes b = { .p = model, .n = size };
	return call_whole(options, compile, &b, out);
}

int
nputools_partition(const struct nputools_options *options, const void *model, size_t size,
		   struct nputools_output *out)
{
	struct bytes b = { .p = model, .n = size };
	return call_whole(options, report, &b, out);
}

int
nputools_front(const struct nputools_options *options, const void *model, size_t size,
	       struct nputools_output *out)
{
	struct bytes b = { .p = model, .n = size };
	return call_whole(options, front, &b, out);
}

int
nputools_stage(const struct nputools_options *options, int stage, const void *input, size_t size,
	       struct nputools_output *out)
{
	struct step s = { .in = { .p = input, .n = size }, .stage = stage };
	return call_whole(options, run_one, &s, out);
}
