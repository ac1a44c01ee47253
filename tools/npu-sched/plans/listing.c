/* SPDX-License-Identifier: Apache-2.0 */
/* Prints configuration, graph and addresses in the layout of the reference's log. */
#include "../costs/costs.h"
#include "../passes.h"
#include "graph/facts.h"

#include "graph/table.h"
#include "target/accel.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- configuration ---------------------------------------------------------- */

void
print_config(const struct sched *s, struct text *t)
{
	const struct memory_system *m = &s->memory;
	const char *ini = s->o->config;
	text_printf(t, "Configuration files:\n   original = %s\n   used = ['%s']\n",
		    ini ? ini : "None", ini ? ini : m->source);
	text_printf(t, "System Configuration (%s):\n   core_clock = ", m->system);
	text_repr(t, m->clock);
	text_printf(t, "\n   axi0_port = %s\n   axi1_port = %s\n",
		    memory_area_name(m->axi[0]), memory_area_name(m->axi[1]));
	for (int i = 0; i < MEM_AREAS; i++) {
		const char *name = memory_area_name((enum mem_area)i);
		const struct mem_props *p = &m->mem[i];
		text_printf(t, "   %s_clock_scales = ", name);
		text_repr(t, p->clock_scale);
		text_printf(t, "\n   %s_burst_length = %d\n", name, p->burst_bytes);
		text_printf(t, "   %s_read_latency = %d\n", name, p->read_latency);
		text_printf(t, "   %s_write_latency = %d\n", name, p->write_latency);
	}
	text_printf(t, "Memory Mode (%s):\n   const_mem_area = Axi%d\n"
		    "   arena_mem_area = Axi%d\n   cache_mem_area = Axi%d\n", m->mode,
		    m->axi[0] != m->const_area, m->axi[0] != m->arena_area,
		    m->axi[0] != m->cache_area);
	/* no limit: all bytes that can be addressed */
	int64_t all = (int64_t)1 << s->accel->address_bits;
	text_printf(t, "   arena_cache_size = %" PRId64 " from %s\n",
		    m->cache_bytes ? m->cache_bytes : all,
		    s->limit_bytes ? "CLI option"
		    : m->cache_bytes  ? "Configuration file"
				      : "Default");
	text_printf(t, "Architecture Settings:\n"
		    "   permanent_storage_mem_area = %s\n"
		    "   feature_map_storage_mem_area = %s\n"
		    "   fast_storage_mem_area = %s\n",
		    memory_area_name(m->const_area),
		    memory_area_name(m->arena_area),
		    memory_area_name(m->cache_area));
}

/* ---- graph -------------------------------------------------------------------- */

/* A listing.  Constants and inputs are printed before their first use. */
struct listing {
	const struct sched *s;
	struct text *t;
	bool *seen; /* of each tensor: already printed */
	int n;
};

static const char *
tensor_name(const struct sched *s, const struct g_tensor *t)
{
	return table_name(s->a, t->name, 't', t->rec.id);
}

static void
put_type(struct text *t, int type)
{
	const char *s = graph_type_text(type);
	text_printf(t, "%s%s", *s == 'u' ? "uint" : *s == 'i' ? "int" : s,
		    *s == 'u' || *s == 'i' ? s + 1 : "");
}

/* Prints role and number, purpose, memory and set of a tensor; its shape follows. */
static void
put_role(struct listing *l, const char *role, int k, const char *purpose,
	 enum mem_area area, const char *set, const char *name)
{
	text_printf(l->t, "    %-6s %02d %20s %20s %20s <nng.Tensor '%s' shape=[",
		    role, k, purpose, memory_area_name(area), set, name);
}

static void
put_tensor(struct listing *l, const char *role, int k, const struct g_tensor *t)
{
	bool fast = l->s->memory.spilling && t->area == PLACE_CACHE;
	put_role(l, role, k, "FeatureMap", sched_area(l->s, t),
		 tensor_is_const(t) ? "Permanent_NPU"
		 : fast		    ? "Scratch_fast"
				    : "Scratch",
		 tensor_name(l->s, t));
	for (int i = 0; i < t->shape.rank; i++)
		text_printf(l->t, "%s%d", i ? ", " : "", t->shape.dim[i]);
	text_puts(l->t, "] dtype=");
	put_type(l->t, t->shape.type);
	text_puts(l->t, ">\n");
}

/* The reference stores matrices as I,O and kernels as H,W,I,O. */
static void
put_weights(struct listing *l, const char *role, int k, const struct g_op *op)
{
	const struct g_weights *w = op->weights;
	const int32_t *d = w->shape.dim;
	put_role(l, role, k, "Weights", l->s->memory.const_area, "Permanent_NPU",
		 table_name(l->s->a, w->name, 'w', w->rec.id));
	if (op->kind != OP_FC)
		text_printf(l->t, "%d, %d, ", d[1], d[2]);
	text_printf(l->t, "%d, %d] dtype=", d[3], d[0]);
	put_type(l->t, w->shape.type);
	text_puts(l->t, ">\n");
}

static void
put_bias(struct listing *l, const char *role, int k, const struct g_op *op)
{
	put_role(l, role, k, "FeatureMap", l->s->memory.const_area,
		 "Permanent_NPU",
		 arena_printf(l->s->a, "%s_bias_0",
			      table_name(l->s->a, op->name, 'o', op->rec.id)));
	text_printf(l->t, "%zu] dtype=int32>\n", op->scales->bias.n);
}

static void
head(struct listing *l, const char *kind, const char *name)
{
	text_printf(l->t, "%d %s %s\n", l->n++, kind, name);
}

/* Prints an operand that no NPU operation makes. */
static void
put_origin(struct listing *l, const struct g_tensor *t)
{
	if (!t || (!tensor_is_const(t) && !tensor_is_input(t)))
		return;
	if (l->seen[t->rec.index])
		return;
	l->seen[t->rec.index] = true;
	head(l, tensor_is_const(t) ? "Const" : "Placeholder",
	     tensor_name(l->s, t));
	put_tensor(l, "Output", 0, t);
	text_putc(l->t, '\n');
}

/* the reference's names of operations */
static const char *const kinds[OP_KINDS] = {
	[OP_CONV] = "Conv2D", [OP_FC] = "FullyConnected",
	[OP_DEPTHWISE] = "DepthwiseConv2D", [OP_MAXPOOL] = "MaxPool",
	[OP_AVGPOOL] = "AvgPool", [OP_REDUCE_SUM] = "ReduceSum",
	[OP_COPY] = "Memcpy", [OP_GATHER] = "Gather",
	[OP_SCATTER] = "Scatter", [OP_MATMUL] = "MatMul",
	[OP_REORDER] = "Transpose", [OP_RESIZE] = "Resize",
	[OP_ARGMAX] = "ArgMax",
	[OP_MUL] = "Mul", [OP_ADD] = "Add", [OP_SUB] = "Sub",
	[OP_MIN] = "Minimum", [OP_MAX] = "Maximum",
	[OP_LRELU] = "LeakyRelu", [OP_ABS] = "Abs", [OP_CLZ] = "CLZ",
	[OP_SHR] = "SHR", [OP_SHL] = "SHL", [OP_DIV] = "Div",
	[OP_EQUAL] = "Equal", [OP_UNEQUAL] = "NotEqual",
	[OP_GREATER] = "Greater", [OP_NOT_LESS] = "GreaterEqual", [OP_AND] = "And",
	[OP_OR] = "Or", [OP_AND_NOT] = "AndNot", [OP_XOR] = "Xor",
	[OP_LSR] = "LSR",
};

static void
put_op(struct listing *l, const struct g_op *op)
{
	const char *name = table_name(l->s->a, op->name, 'o', op->rec.id);
	int k = 0;
	put_origin(l, op->ifm.t);
	put_origin(l, op->ifm2.t);
	if (op->weights) {
		head(l, "Const", table_name(l->s->a, op->weights->name, 'w',
					    op->weights->rec.id));
		put_weights(l, "Output", 0, op);
		text_putc(l->t, '\n');
		head(l, "Const", arena_printf(l->s->a, "%s_bias", name));
		put_bias(l, "Output", 0, op);
		text_putc(l->t, '\n');
	}
	head(l, kinds[op->kind], name);
	put_tensor(l, "Input", k++, op->ifm.t);
	if (op->ifm2.t)
		put_tensor(l, "Input", k++, op->ifm2.t);
	if (op->weights) {
		put_weights(l, "Input", k++, op);
		put_bias(l, "Input", k++, op);
	}
	put_tensor(l, "Output", 0, op->ofm.t);
	text_putc(l->t, '\n');
}

void
print_graph(const struct sched *s, struct text *t)
{
	struct listing l = { .s = s, .t = t };
	l.seen = anew(s->a, bool, s->g->n_tensors + 1);
	text_puts(t, "print_graph_with_tensors() main\n");
	for (size_t k = 0; k < s->g->n_nodes; k++) {
		const struct g_node *n = s->g->nodes[k];
		for (int i = 0; n->kind != NODE_CPU && i < s->n_ops; i++)
			if (s->info[i].node == (int)k)
				put_op(&l, s->info[i].op);
		if (n->kind != NODE_CPU)
			continue;
		for (size_t i = 0; i < n->in.n; i++)
			put_origin(&l, n->in.v[i]);
		head(&l, n->what ? n->what : "?", n->out.n ? tensor_name(s, n->out.v[0]) : "");
		for (size_t i = 0; i < n->in.n; i++)
			put_tensor(&l, "Input", (int)i, n->in.v[i]);
		for (size_t i = 0; i < n->out.n; i++)
			put_tensor(&l, "Output", (int)i, n->out.v[i]);
		text_putc(t, '\n');
	}
}

/* ---- addresses ------------------------------------------------------------------ */

/*
 * The lifetime of a rectangle in the times of the table of --verbose-allocation.  An
 * operation takes two times, inputs are live from 0, and outputs until two times after
 * the last operation.
 */
static struct g_range
table_lifetime(const struct rect *r)
{
	bool in = r->t && tensor_is_input(r->t), out = r->t && tensor_is_output(r->t);
	return (struct g_range){ .lo = in ? 0 : r->lo + 1,
				 .hi = r->hi + (out ? 4 : 2) };
}

static bool
is_listed(const struct rect *r, int place)
{
	return r->place == place && r->bytes > 0;
}

/* Bytes live at a time.  A tensor that is written over an operand shares its bytes. */
static int64_t
bytes_at(const struct plan *p, int place, int64_t now)
{
	int64_t sum = 0;
	for (size_t i = 0; i < p->n_rects; i++) {
		int64_t lo = INT64_MAX, hi = 0;
		bool first = p->rect[i].group == (int)i;
		for (int k = first ? (int)i : -1; k >= 0; k = p->rect[k].next) {
			const struct rect *r = &p->rect[k];
			struct g_range life = table_lifetime(r);
			if (!is_listed(r, place) || life.lo > now || life.hi < now)
				continue;
			lo = r->offset < lo ? r->offset : lo;
			hi = r->offset + r->bytes > hi ? r->offset + r->bytes : hi;
		}
		sum += hi > lo ? hi - lo : 0;
	}
	return sum;
}

static void
put_row(const struct sched *s, struct text *t, const struct rect *r)
{
	const struct plan *p = s->plan;
	const struct g_range life = table_lifetime(r);
	const struct weight_slice *u = r->slice < 0 ? NULL : &p->slice[r->slice];
	struct table_row row = { .lo = life.lo, .hi = life.hi, .at = r->at,
				 .bytes = r->bytes, .usage = bytes_at(p, r->place, life.lo),
				 .purpose = u ? "Weights" : "FeatureMap" };
	/* the most bytes live at any time of the rectangle; sums grow only where another one begins */
	for (size_t k = 0; k < p->n_rects; k++) {
		const int64_t now = table_lifetime(&p->rect[k]).lo;
		if (!is_listed(&p->rect[k], r->place) || now < life.lo || now > life.hi)
			continue;
		const int64_t sum = bytes_at(p, r->place, now);
		row.usage = sum > row.usage ? sum : row.usage;
	}
	if (u)
		row.name = arena_printf(s->a, "%s_buffer_%d",
					table_name(s->a, u->w->name, 'w', u->w->rec.id),
					u->index);
	else
		row.name = tensor_name(s, r->t);
	table_put(t, &row);
}

static void
put_place(const struct sched *s, struct text *t, int place)
{
	const struct plan *p = s->plan;
	const struct rect **v = anew(s->a, const struct rect *, p->n_rects + 1);
	size_t n = 0;
	for (size_t i = 0; i < p->n_rects; i++) {
		const struct rect *r = &p->rect[i];
		if (!is_listed(r, place))
			continue;
		/* by start time, then address, then as in the plan */
		const int64_t begin = table_lifetime(r).lo;
		size_t at = n++;
		for (; at > 0; at--) {
			const int64_t other = table_lifetime(v[at - 1]).lo;
			if (other < begin || (other == begin && v[at - 1]->at <= r->at))
				break;
			v[at] = v[at - 1];
		}
		v[at] = r;
	}
	bool cache = place == PLACE_CACHE;
	table_head(t, memory_area_name(cache ? s->memory.cache_area
					     : s->memory.arena_area),
		   cache		? "Scratch_fast"
		   : s->memory.spilling ? "Scratch"
					: "Scratch, Scratch_fast",
		   "HillClimb", "Cpu and Npu");
	for (size_t i = 0; i < n; i++)
		put_row(s, t, v[i]);
	table_end(t, p->bound[place], p->peak[place]);
}

void
print_allocation(const struct sched *s, struct text *t)
{
	put_place(s, t, PLACE_ARENA);
	if (s->memory.spilling)
		put_place(s, t, PLACE_CACHE);
}
