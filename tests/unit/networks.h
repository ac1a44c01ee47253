/* SPDX-License-Identifier: Apache-2.0 */
/* Small networks, drawn at random, and what npu-sched does with a graph before the search. */
#ifndef UNIT_NETWORKS_H
#define UNIT_NETWORKS_H

#include "base/text.h"
#include "drawn.h"
#include "graph/graph.h"
#include "target/accel.h"
#include "target/target.h"

#include "../../tools/npu-sched/costs/costs.h"
#include "../../tools/npu-sched/passes.h"

enum { MOST_CONVOLUTIONS = 6 };

static const struct target {
	const char *accel, *system;
} targets[] = {
	{ "ethos-u55-256", "Ethos_U55_High_End_Embedded" },
	{ "ethos-u85-256", "Ethos_U85_SYS_DRAM_Mid" },
};

/* A chain of convolutions with its own weights each, and the speed of their memory. */
struct network {
	int n_ops, side, depth[MOST_CONVOLUTIONS + 1], kernel[MOST_CONVOLUTIONS];
	bool product; /* a product with a scalar behind the convolutions */
	const struct target *target;
	double speed; /* factor to the memory of constants */
};

static inline struct network
draw_network(int number)
{
	static const double speed[] = { 0.25, 0.5, 1, 2 };
	struct network n = { .n_ops = roll(2, MOST_CONVOLUTIONS), .side = roll(3, 20), .product = draw(2),
			     .target = &targets[number % (int)ARRAY_LEN(targets)],
			     .speed = speed[draw(ARRAY_LEN(speed))] };
	for (int i = 0; i <= n.n_ops; i++)
		n.depth[i] = 8 * roll(1, 8);
	for (int i = 0; i < n.n_ops; i++)
		n.kernel[i] = 1 + 2 * (int)draw(2);
	return n;
}

static inline void
print_op(const struct network *n, int i, struct text *t)
{
	const int k = n->kernel[i], in = n->depth[i], out = n->depth[i + 1];
	text_printf(t, "weights w%d shape=i8[%d,%d,%d,%d] zero=0 from=blob.w offset=%d\n", i, out,
		    k, k, in, 64 * i);
	text_printf(t, "scales s%d bias=0*%d mult=1374389504*%d shift=37*%d\n", i, out, out, out);
	text_printf(t, "op o%d do=conv node=n0 ifm=t%d ofm=t%d ifm-zero=0 ofm-zero=0 kernel=%dx%d "
		    "stride=1x1 pad=%d,%d,%d,%d weights=w%d scales=s%d round=tfl clamp=-128:127\n",
		    i, i, i + 1, k, k, k / 2, k / 2, k / 2, k / 2, i, i);
}

static inline void
print_network(const struct network *n, struct text *t)
{
	text_puts(t, "nputools-graph 1 stage=part\n");
	const int last = n->n_ops + n->product;
	for (int i = 0; i <= last; i++)
		text_printf(t, "tensor t%d shape=i8[1,%d,%d,%d]%s\n", i, n->side, n->side,
			    n->depth[i - (i > n->n_ops)],
			    i == 0 ? " io=in" : i == last ? " io=out" : "");
	text_printf(t, "node n0 on=npu in=t0 out=t%d\n", last);
	for (int i = 0; i < n->n_ops; i++)
		print_op(n, i, t);
	if (n->product)
		text_printf(t, "op o%d do=mul node=n0 ifm=t%d scalar=5 ofm=t%d ifm-zero=0 ifm2-zero=0 "
			    "ofm-zero=0 scale=1:0 round=tfl clamp=-128:127\n", last, last - 1, last);
	text_puts(t, "eof\n");
}

static inline void
add_weights(struct graph *g)
{
	enum { BYTES = 64 * 64 * 9 + 64 * MOST_CONVOLUTIONS };
	uint8_t *data = anew(g->a, uint8_t, BYTES);
	for (int i = 0; i < BYTES; i++)
		data[i] = (uint8_t)draw(256);
	(void)graph_add_blob(g, "w", (struct bytes){ .p = data, .n = BYTES });
}

/* What npu-sched does with a graph before the search. */
static inline bool
prepare(struct sched *s)
{
	if (!separate_tables(s) || !complete_stages(s) || !find_sparse(s) ||
	    !fetch_constants(s) || !list_copies(s) || !choose_formats(s))
		return false;
	begin_costs(s);
	begin_sizes(s);
	begin_kept(s);
	study_ops(s);
	return choose_traversals(s) && choose_decoders(s) && measure_whole(s);
}

static inline bool
open_network(struct sched *s, const struct network *n)
{
	const struct target *t = n->target;
	struct text text = { 0 };
	s->accel = accel_named(t->accel, s->e);
	if (!s->accel || !memory_load(s->a, NULL, t->system, "Shared_Sram", s->accel, &s->memory,
				      s->e))
		return false;
	s->memory.mem[s->memory.const_area].clock_scale *= n->speed;
	print_network(n, &text);
	const bool ok = graph_read(s->a, (struct bytes){ .p = (const uint8_t *)text_str(&text),
							 .n = text.n },
				   "network", STAGE_PART, &s->g, s->e);
	text_free(&text);
	if (!ok)
		return false;
	add_weights(s->g);
	sched_machines(s);
	graph_set_target(s->g, s->accel, &s->memory);
	return prepare(s);
}

#endif
