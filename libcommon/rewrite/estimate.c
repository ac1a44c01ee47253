/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates operations before the memory system and the blocks are known.  An operation takes
 * its fastest block and, for a convolution, its better traversal.  Weights are in fast memory:
 * npu-sched fetches them where that is faster.
 */
#include "rewrite/rules.h"

#include "base/fixed.h"
#include "emit/emit.h"
#include "perf/work.h"
#include "target/accel.h"
#include "target/blocks.h"

#include <math.h>

/* Memory systems of Arm's profiles, and the place of feature maps. */
static const struct {
	enum generation_id generation;
	const char *system, *mode;
	int place; /* enum g_place */
} systems[] = {
	{ GEN_U55, "Ethos_U55_High_End_Embedded", "Shared_Sram", PLACE_ARENA },
	{ GEN_U65, "Ethos_U65_High_End", "Dedicated_Sram", PLACE_ARENA },
	{ GEN_U65, "Ethos_U65_High_End", "Dedicated_Sram", PLACE_CACHE },
	{ GEN_U65, "Ethos_U65_Embedded", "Shared_Sram", PLACE_ARENA },
	{ GEN_U85, "Ethos_U85_SYS_DRAM_Mid", "Dedicated_Sram_384KB", PLACE_ARENA },
	{ GEN_U85, "Ethos_U85_SYS_DRAM_Mid", "Dedicated_Sram_384KB", PLACE_CACHE },
	{ GEN_U85, "Ethos_U85_SYS_Flash_High", "Shared_Sram", PLACE_ARENA },
};

struct estimate {
	const struct accel *accel;
	int n;
	struct machine {
		struct memory_system memory;
		struct perf_machine published, calibrated, robust;
		enum mem_area area; /* of feature maps */
	} v[ESTIMATES / 2];
};

struct estimate *
estimate_open(struct arena *a, const struct accel *accel)
{
	struct estimate *s = anew(a, struct estimate, 1);
	s->accel = accel;
	for (size_t i = 0; i < ARRAY_LEN(systems); i++) {
		struct machine *m = &s->v[s->n];
		struct err e = { 0 };
		if (systems[i].generation != accel->generation ||
		    !memory_load(a, NULL, systems[i].system, systems[i].mode, accel, &m->memory, &e))
			continue;
		m->published = perf_machine_of(accel, &m->memory);
		m->calibrated = perf_machine_calibrated(accel, &m->memory);
		m->robust = perf_machine_robust(accel, &m->memory, &m->published);
		m->area = systems[i].place == PLACE_CACHE ? m->memory.cache_area
							  : m->memory.arena_area;
		s->n++;
	}
	return s;
}

/* ---- the fastest block --------------------------------------------------------- */

/* An operation on one machine. */
struct trial {
	const struct machine *m;
	struct block_query q;
	struct perf_op work;
	double best[2]; /* least cycles: calibrated, robust; INFINITY: no block fits */
};

static void
try_block(struct trial *t, const struct accel *a, struct hwc block)
{
	struct shram_layout layout;
	const struct perf_machine *machine[2] = { &t->m->calibrated, &t->m->robust };
	if (!block_layout(a, &t->q, block, &layout, NULL))
		return;
	t->work.block = block;
	t->work.ifm_block = layout.ifm_block;
	t->work.ublock = layout.ublock;
	for (int k = 0; k < 2; k++) {
		struct perf_cost c;
		perf_cost(machine[k], &t->work, &c);
		t->best[k] = c.total < t->best[k] ? c.total : t->best[k];
	}
}

/* Tries the smallest block for each number of pieces of each axis, as npu-sched does. */
static void
try_operation(struct trial *t, const struct accel *a, const struct g_op *op)
{
	struct hwc o = op->ofm.shape;
	t->q = op_block_query(op, o.h);
	t->work = perf_work_of(&t->m->calibrated, op, 0, (struct g_range){ .hi = o.h },
			       (struct g_range){ .hi = o.c });
	/*
	 * All feature maps and constants are in the memories of the machine.  Feature maps that
	 * take at most half of the NPU's own SRAM are in this SRAM, except for inputs of the
	 * network.
	 */
	struct perf_fm *fm[] = { &t->work.ifm, &t->work.ifm2, &t->work.ofm };
	int64_t bytes = 0;
	for (int i = 0; i < 3; i++)
		bytes += hwc_elements(fm[i]->shape) * fm[i]->bits / 8;
	bool fits = 2 * bytes <= t->m->memory.cache_bytes;
	for (int i = 0; i < 3; i++)
		fm[i]->area = fits ? t->m->memory.cache_area : t->m->area;
	if (tensor_is_input(op->ifm.t))
		fm[0]->area = t->m->area;
	t->work.weight_area = t->work.scale_area = t->m->memory.cache_area;
	if (op->weights) {
		t->work.has_bias = true;
		t->work.weight_bytes = (int64_t)op->kernel.y * op->kernel.x * o.c *
				       (op->kind == OP_DEPTHWISE ? 1 : op->ifm.shape.c);
		t->work.scale_bytes = emit_scale_bytes(a, op, o.c);
	}
	t->q.ublock = block_ublock(a, &t->q);
	const struct hwc most = block_bounds(a, &t->q), u = block_step(a, &t->q);
	struct block_sizes h = block_sizes_of(t->q.ofm.h, most.h, u.h, 1);
	struct block_sizes w = block_sizes_of(t->q.ofm.w, most.w, u.w, 1);
	struct block_sizes c = block_sizes_of(t->q.ofm.c, most.c, u.c, BRICK);
	for (int k = 0; k < c.n; k++)
		for (int i = 0; i < h.n; i++)
			for (int j = 0; j < w.n; j++)
				try_block(t, a, (struct hwc){ .h = h.v[i], .w = w.v[j],
							      .c = c.v[k] });
}

bool
estimate_add(const struct estimate *s, const struct g_op *op, struct cycles *c)
{
	struct g_op both = *op;
	c->n = 2 * s->n;
	for (int i = 0; i < s->n; i++) {
		struct trial t = { .m = &s->v[i], .best = { INFINITY, INFINITY } };
		both.traversal = DEPTH_FIRST;
		try_operation(&t, s->accel, &both);
		both.traversal = PART_KERNEL;
		if (op->kind == OP_CONV)
			try_operation(&t, s->accel, &both);
		if (isinf(t.best[0]))
			return false;
		for (int k = 0; k < 2; k++)
			c->v[2 * i + k] += max_f64(t.best[k], t.m->calibrated.front_end_cycles);
	}
	return s->n > 0;
}

bool
cycles_are_fewer(const struct cycles *a, const struct cycles *b, double share)
{
	const double hardly = 1.01;
	double sum = 0, other = 0;
	for (int i = 0; i < a->n; i++) {
		if (a->v[i] > hardly * b->v[i])
			return false;
		sum += a->v[i];
		other += b->v[i];
	}
	return sum < share * other;
}

double
cycles_saved(const struct cycles *a, const struct cycles *b)
{
	return a->n ? b->v[0] - a->v[0] : 0;
}

bool
change_pays(const struct exact *x, const struct change *c, double share, double *saved)
{
	struct cycles before = { 0 }, after = { 0 };
	bool ok = true;
	for (int i = 0; ok && c->old[i]; i++)
		ok = estimate_add(x->estimate, c->old[i], &before);
	for (int i = 0; ok && c->now[i]; i++)
		ok = estimate_add(x->estimate, c->now[i], &after);
	*saved = ok ? cycles_saved(&after, &before) : 0;
	return ok && cycles_are_fewer(&after, &before, share);
}
