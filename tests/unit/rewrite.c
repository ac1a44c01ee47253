/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rewritings of a graph compute the same values (libcommon/rewrite).  graph_run.h computes the
 * graph and its rewritings, operation by operation; the reference kernels compute the model.
 *
 * usage: rewrite [MODEL GRAPH]: of this model; else of graphs in this file
 */
#include "base/file.h"
#include "base/text.h"
#include "graph_run.h"
#include "kernels/kernels.h"
#include "rewrite/rewrite.h"
#include "sim/sim.h"

#include <stdlib.h>

static int failed;

static void
expect(bool ok, const char *what, const char *how)
{
	if (!ok && failed++ < 20)
		printf("%s: %s\n", what, how);
}

/* ---- values ---------------------------------------------------------------------- */

/* A value of a tensor's element, for the input with this number. */
static int64_t
value_of(const struct g_tensor *t, int64_t input, int64_t k)
{
	uint64_t z = (uint64_t)(input * 1000003 + t->rec.id * 8191 + k) *
		     UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
	return t->shape.type == TFL_INT16 ? (int16_t)(z >> 40) : (int8_t)(z >> 40);
}

static bool
is_border(const struct g_tensor *t)
{
	return t->variable || t->io != IO_NONE;
}

static int64_t
count(const struct g_tensor *t)
{
	return hwc_elements(run_hwc(t));
}

/* Runs a graph for n inputs from number `first` on. */
static struct graph_run
run(struct arena *a, struct graph *g, int64_t first, int64_t n)
{
	struct graph_run r;
	if (!run_open(&r, a, g))
		exit(2);
	for (size_t i = 0; i < g->n_tensors; i++) {
		const struct g_tensor *t = g->tensors[i];
		int64_t one = count(t) / n;
		for (int64_t k = 0; is_border(t) && k < n * one; k++)
			r.v[i][k] = value_of(t, first + k / one, k % one);
	}
	if (!run_graph(&r))
		exit(2);
	return r;
}

static const struct g_tensor *
tensor_by_id(const struct graph *g, int id)
{
	size_t i = 0;
	while (i < g->n_tensors && g->tensors[i]->rec.id != id)
		i++;
	return i < g->n_tensors ? g->tensors[i] : NULL;
}

/* Has input `at` of q's run the values of p's run? */
static bool
is_equal(const struct graph_run *p, const struct graph_run *q, int64_t at)
{
	for (size_t i = 0; i < p->g->n_tensors; i++) {
		const struct g_tensor *t = p->g->tensors[i];
		const struct g_tensor *u = tensor_by_id(q->g, t->rec.id);
		if (is_border(t) && (!u || memcmp(p->v[i], q->v[u->rec.index] + at * count(t),
						  (size_t)count(t) * sizeof(**p->v)) != 0))
			return false;
	}
	return true;
}

static void
compare(struct arena *a, struct graph *plain, struct graph *g, int64_t n, const char *how)
{
	struct err e = { 0 };
	if (!graph_check(g, &e)) {
		expect(false, e.text, how);
		return;
	}
	struct graph_run q = run(a, g, 5, n);
	for (int64_t i = 0; i < n; i++) {
		struct graph_run p = run(a, plain, 5 + i, 1);
		expect(is_equal(&p, &q, i), how, "other values than the original");
	}
}

/* ---- copies ------------------------------------------------------------------------ */

static bool
prints(const struct graph *g, const struct text *want)
{
	struct text t = { 0 };
	graph_print(g, &t);
	bool ok = t.n == want->n && !memcmp(t.p, want->p, t.n);
	text_free(&t);
	return ok;
}

/* A changed copy leaves the original as it was, and so in the other direction. */
static void
copies(struct arena *a, struct graph *g)
{
	struct text want = { 0 };
	graph_print(g, &want);
	struct graph *c = graph_copy(a, g), *untouched = graph_copy(a, g);
	expect(prints(c, &want), "copy", "other text than the original");
	for (size_t i = 0; i < c->n_ops; i++) {
		expect(c->ops[i]->ifm.t == c->tensors[c->ops[i]->ifm.t->rec.index], "copy",
		       "an operation has a tensor of the original");
		c->ops[i]->ifm.t->rec.id += 1000;
		c->ops[i]->node->rec.id += 1000;
		if (c->ops[i]->weights)
			c->ops[i]->weights->rec.id += 1000;
	}
	for (size_t i = 0; i < c->n_nodes && c->nodes[i]->in.n; i++)
		c->nodes[i]->in.v[0] = NULL;
	expect(prints(g, &want), "copy", "its change changes the original");
	bool *none = anew(a, bool, c->n_tensors + c->n_steps + 1);
	graph_keep_g_step(g, none);
	graph_set_ops(g, g->ops, g->n_ops / 2);
	expect(!prints(g, &want), "copy", "the original did not change");
	expect(prints(untouched, &want), "copy", "a change of the original changes it");
	text_free(&want);
}

/* ---- rewritings ---------------------------------------------------------------------- */

static void
batches(struct arena *a, struct graph *g)
{
	enum { PATTERNS = 6 };
	const int32_t n[] = { 2, 3, 8 }, columns[] = { 1, 2, 4 };
	bool *together = anew(a, bool, g->n_ops + 1);
	for (size_t k = 0; k < ARRAY_LEN(n) * PATTERNS; k++) {
		/* none, all, and drawn */
		for (size_t i = 0; i < g->n_ops; i++)
			together[i] = k % PATTERNS > 1
					  ? (((i + 3) * (k + 7) * 2654435761U) >> 13) & 1
					  : k % PATTERNS;
		const struct batch_choice how = { .n = n[k / PATTERNS],
						  .columns = columns[k % 3],
						  .together = together };
		compare(a, g, rewrite_batch(a, g, &how), how.n,
			arena_printf(a, "batch of %d, pattern %zu", how.n, k % PATTERNS));
	}
}

/* Operations on vectors take all inputs at once, as a grid or as rows. */
static void
joined(struct arena *a, struct graph *g)
{
	bool *together = anew(a, bool, g->n_ops);
	memset(together, true, g->n_ops);
	const struct batch_choice how = { .n = 6, .columns = 2, .together = together };
	const struct graph *x = rewrite_batch(a, g, &how);
	expect(x->n_ops == g->n_ops, "a batch of vectors", "more operations than one input");
	struct hwc s = x->ops[0]->ofm.shape;
	expect(s.h == 3 && s.w == 2 && x->ops[0]->kind == OP_CONV, "a batch of vectors",
	       "the product is no convolution of a grid");
}

static void
splits(struct arena *a, struct graph *g)
{
	const struct split how[] = { { .ahead = 0 }, { .ahead = 2 }, { .ahead = 1000 },
				     { .columns = true }, { .columns = true, .ahead = 3 } };
	size_t n = sums_find(a, g).n;
	printf("%zu sums\n", n);
	for (size_t i = 0; i < ARRAY_LEN(how); i++) {
		const char *name = arena_printf(a, "split %zu", i);
		struct graph *x = rewrite_sums(a, g, how[i]);
		expect(n ? x->n_ops > g->n_ops : x->n_ops == g->n_ops, name,
		       "a wrong number of operations");
		compare(a, g, x, 1, name);
	}
}

static void
rewritings(struct arena *a, struct graph *g)
{
	struct text before = { 0 };
	graph_print(g, &before);
	batches(a, g);
	splits(a, g);
	expect(prints(g, &before), "rewriting", "it changes its input");
	text_free(&before);
	copies(a, g);
}

/* ---- the model ------------------------------------------------------------------------ */

/* Copies a border tensor to the model's memory, or compares both. */
static bool
move(struct sim *s, const struct g_tensor *t, const int64_t *v, bool write)
{
	uint8_t *p = sim_tensor(s, t->tfl.v[0].index);
	bool wide = t->shape.type == TFL_INT16, ok = true;
	for (int64_t k = 0; k < count(t); k++) {
		if (write && wide)
			store_le16(p + 2 * k, (uint16_t)value_of(t, 5, k));
		else if (write)
			p[k] = (uint8_t)value_of(t, 5, k);
		else
			ok &= v[k] == (wide ? (int16_t)load_le16(p + 2 * k) : (int8_t)p[k]);
	}
	return ok;
}

/* The graph computes what the reference kernels compute. */
static void
plain_model(struct arena *a, const char *path, struct graph *g)
{
	struct tfl_model *m;
	struct sim *s;
	struct err e = { 0 };
	struct graph_run r = run(a, g, 5, 1);
	bool ok = model_read_file(a, path, &m, &e) && sim_open(a, m, &s, &e);
	for (size_t i = 0; ok && i < g->n_tensors; i++)
		if (is_border(g->tensors[i]))
			(void)move(s, g->tensors[i], NULL, true);
	ok = ok && sim_invoke(s, NULL, &e);
	for (size_t i = 0; ok && i < g->n_tensors; i++)
		if (is_border(g->tensors[i]))
			expect(move(s, g->tensors[i], r.v[i], false), path,
			       "the graph computes other values than the model");
	expect(ok, path, e.text);
}

/* ---- graphs of this file ------------------------------------------------------------------- */

#define SCALARS "ifm-zero=0 ifm2-zero=0 ofm-zero=0 round=tfl clamp=-32768:32767"
#define PLUS " opa=1:0 opb=1 scale=1:0 " SCALARS "\n"
#define FC(n, w, to) "op o" n " do=fc node=n0 ifm=t0 ofm=" to " ifm-zero=3 ofm-zero=0 " \
	"weights=" w " scales=s0 round=tfl clamp=-32768:32767\n"
#define TIMES(n, from, to) "op o" n " do=mul node=n0 ifm=" from " scalar=5 ofm=" to \
	" scale=3:0 " SCALARS "\n"

/* Two sums share product t1, and are cut at different channels.  The input changes before the
 * sums are used. */
static const char cuts[] =
    "nputools-graph 1 stage=part\n"
    "tensor t0 shape=i8[1,1,1,6] variable=1\n"
    "tensor t1 shape=i16[1,1,1,12]\n" "tensor t2 shape=i16[1,1,1,12]\n"
    "tensor t3 shape=i16[1,1,1,12]\n" "tensor t4 shape=i16[1,1,1,12]\n"
    "tensor t5 shape=i16[1,1,1,12]\n" "tensor t6 shape=i16[1,1,1,24] io=out\n"
    "weights w0 shape=i8[12,1,1,6] zero=0 from=blob.w\n"
    "weights w1 shape=i8[12,1,1,6] zero=0 from=blob.w offset=30\n"
    "weights w2 shape=i8[12,1,1,6] zero=0 from=blob.w offset=60\n"
    "scales s0 bias=9,8,7,6,5,4,3,2,1,0,-1,-2 mult=1073741824*12 shift=31*12\n"
    "node n0 on=npu in=t0 out=t6\n"
    FC("0", "w0", "t1") FC("1", "w1", "t2") FC("2", "w2", "t3")
    "op o3 do=add node=n0 ifm=t1 ifm2=t2 ofm=t4" PLUS
    "op o4 do=add node=n0 ifm=t1 ifm2=t3 ofm=t5" PLUS
    "op o9 do=mul node=n0 ifm=t0 scalar=5 ofm=t0 ifm-zero=0 ifm2-zero=0 ofm-zero=0 "
    "scale=1:0 round=tfl clamp=-128:127\n"
    TIMES("5", "t4[1,1,4]@0,0,0", "t6[1,1,4]@0,0,0")
    TIMES("6", "t4[1,1,8]@0,0,4", "t6[1,1,8]@0,0,4")
    TIMES("7", "t5[1,1,6]@0,0,0", "t6[1,1,6]@0,0,12")
    TIMES("8", "t5[1,1,6]@0,0,6", "t6[1,1,6]@0,0,18")
    "eof\n";

/* Views of every kind, a broadcast row and a constant. */
static const char views[] =
    "nputools-graph 1 stage=part\n"
    "tensor t0 shape=i16[1,4,3,5] io=in\n" "tensor t1 shape=i16[1,4,3,5]\n"
    "tensor t2 shape=i16[1,1,1,60] io=out\n" "tensor t3 shape=i32[1,1,1,5] from=blob.c\n"
    "tensor t4 shape=i32[1,4,3,5]\n" "tensor t5 shape=i32[1,4,3,5] io=out\n"
    "node n0 on=npu in=t0 out=t2,t5\n"
    TIMES("0", "t0", "t1")
    TIMES("1", "t0[2,3,5]@1,0,0", "t1[2,3,5]@0,0,0")
    "op o2 do=add node=n0 ifm=t1 ifm2=t1[1,3,5]@3,0,0 ofm=t1" PLUS
    TIMES("3", "t1[1,1,60]", "t2")
    TIMES("4", "t2[1,1,20]@0,0,40", "t2[1,1,20]@0,0,0")
    TIMES("5", "t1[3,4,5]+0:20,5,1", "t2[3,4,5]+0:20,5,1")
    "op o6 do=mul node=n0 ifm=t1 scalar=1 ofm=t4 scale=1:0 " SCALARS "\n"
    "op o7 do=add node=n0 ifm=t4 ifm2=t3 ofm=t5" PLUS
    "op o8 do=sub node=n0 ifm=t3 ifm2=t4[1,1,5]@2,1,0 ofm=t5[1,1,5]@2,1,0" PLUS
    TIMES("9", "t1[1,1,30]+10:30,30,1", "t2[1,1,30]@0,0,20")
    "eof\n";

static struct graph *
read_graph(struct arena *a, const char *name, struct bytes text)
{
	struct graph *g;
	struct err e = { 0 };
	if (!graph_read(a, text, name, STAGE_PART, &g, &e)) {
		printf("%s\n", e.text);
		exit(2);
	}
	return g;
}

static struct graph *
own_graph(struct arena *a, const char *name, const char *text, const char *blob, size_t n)
{
	struct graph *g = read_graph(a, name, (struct bytes){ .p = (const uint8_t *)text,
							      .n = strlen(text) });
	uint8_t *data = anew(a, uint8_t, n);
	for (size_t i = 0; i < n; i++)
		data[i] = (uint8_t)(i * 73 + i / 7);
	(void)graph_add_blob(g, blob, (struct bytes){ .p = data, .n = n });
	return g;
}

int
main(int argc, char **argv)
{
	struct arena *a = arena_open();
	struct bytes text;
	struct err e = { 0 };
	if (argc == 3 && file_read(a, argv[2], SIZE_MAX / 4, &text, &e)) {
		struct graph *g = read_graph(a, argv[2], text);
		plain_model(a, argv[1], g);
		rewritings(a, g);
	} else if (argc == 1) {
		joined(a, own_graph(a, "cuts", cuts, "w", 132));
		rewritings(a, own_graph(a, "cuts", cuts, "w", 132));
		rewritings(a, own_graph(a, "views", views, "c", 20));
	} else {
		expect(false, "rewrite", argc == 3 ? e.text : "needs MODEL GRAPH or nothing");
	}
	arena_close(a);
	return failed != 0;
}
