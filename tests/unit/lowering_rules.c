/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the rules of tfl-partition for operators of the NPU one by one: an LSTM that
 * all rules accept, and one change of it for each rule (lstmrules.c); the possible
 * movements (moverules.c).  A rule that no case here breaks could be lost unnoticed.
 */
#include "../../tools/tfl-partition/products/lstm.h"
#include "../../tools/tfl-partition/moves/move.h"
#include "tflite/fields.h"

#include "rules.h"

enum { STEPS = 3, FEATURES = 4, CELLS = 2, OUT = LSTM_N_INPUTS };

struct model {
	struct bench b;
	struct tfl_subgraph g;
	struct part p;
	struct lower l;
	int operands[MAX_TENSORS];
	float clip;
	int activation;
};

static void
expect(const char *what, const char *got, const char *want)
{
	if (want ? got && strstr(got, want) : !got)
		return;
	n_failed++;
	printf("%s: %s, want %s\n", what, got ? got : "passes", want ? want : "to pass");
}

static void
expect_int(const char *what, int64_t got, int64_t want)
{
	if (got == want)
		return;
	n_failed++;
	printf("%s: %" PRId64 ", want %" PRId64 "\n", what, got, want);
}

/* ---- lstmrules.c ----------------------------------------------------------------- */

/* constants have data, as in a model that was read from a file */
static void
be_constant(struct bench *b, int i)
{
	b->t[i].data = (struct bytes){ .p = b->data[i].bytes,
				       .n = (size_t)tfl_bytes(&b->t[i]) };
}

static void
good_lstm(struct model *m, struct arena *a)
{
	const int32_t state[4] = { 1, CELLS };
	struct bench *b = &m->b;
	memset(m, 0, sizeof(*m));
	m->activation = TFL_ACT_TANH;
	bench_add(b, TFL_INT8, (int32_t[4]){ 1, STEPS, FEATURES }, 0x1p-6f, 3);
	for (int k = LSTM_WEIGHTS; k < LSTM_N_INPUTS; k++) {
		int n = k < LSTM_RECURRENT ? FEATURES : CELLS;
		bool gate = k < LSTM_RECURRENT + LSTM_N_GATES;
		bool bias = k >= LSTM_BIAS && k < LSTM_BIAS + LSTM_N_GATES;
		if (gate)
			drawn(b, TFL_INT8, (int32_t[4]){ CELLS, n }, 0x1p-7f, 0, -9, 9);
		else if (bias)
			drawn(b, TFL_INT32, (int32_t[4]){ CELLS }, 0, 0, -9, 9);
		else if (k == LSTM_HIDDEN)
			bench_add(b, TFL_INT8, state, 0x1p-7f, 0);
		else if (k == LSTM_CELL)
			bench_add(b, TFL_INT16, state, 0x1p-11f, 0);
		else
			bench_add_none(b);
		if (gate || bias)
			be_constant(b, k);
		b->t[k].is_variable = k == LSTM_HIDDEN || k == LSTM_CELL;
	}
	bench_add(b, TFL_INT8, (int32_t[4]){ 1, STEPS, CELLS }, 0x1p-7f, 0);
	for (int i = 0; i < b->n; i++) {
		b->t[i].has_shape = true;
		m->operands[i] = 1;
	}
	m->g = (struct tfl_subgraph){ .tensor = b->t, .n_tensors = b->n, .op = &b->op,
				      .n_ops = 1 };
	b->op.code = TFL_UNIDIRECTIONAL_SEQUENCE_LSTM;
	b->op.n_in = LSTM_N_INPUTS;
	b->op.n_out = 1;
	b->op.in = b->index;
	b->op.out = b->index + OUT;
	m->l.a = a;
	m->p = (struct part){ .a = a, .sg = &m->g, .operands = m->operands, .l = &m->l };
}

static const char *
read_model(struct model *m, struct lstm *l)
{
	struct bench_option o[] = {
		{ .slot = FB_UnidirectionalSequenceLSTMOptions_fused_activation_function,
		  .v = m->activation },
		{ .slot = FB_UnidirectionalSequenceLSTMOptions_cell_clip,
		  .v = (double)m->clip, .is_float = true },
	};
	bench_options(&m->b, &fb_UnidirectionalSequenceLSTMOptions, o, 2);
	struct lop lop = lop_of(&m->p, &m->b.op);
	const char *why = read_lstm(&m->p, &lop);
	if (lop.own)
		*l = *(const struct lstm *)lop.own;
	return why;
}

static void no_cell(struct model *m) { m->b.index[LSTM_CELL] = -1; }
static void peephole(struct model *m) { m->b.index[LSTM_PEEPHOLE] = LSTM_HIDDEN; }
static void projection(struct model *m) { m->b.index[LSTM_PROJECTION] = LSTM_WEIGHTS; }
static void relu(struct model *m) { m->activation = TFL_ACT_RELU; }
static void two_ranks(struct model *m) { m->b.t[LSTM_X].rank = m->b.t[OUT].rank = 2; }
static void other_type(struct model *m) { m->b.t[OUT].type = TFL_INT16; }
static void no_variable(struct model *m) { m->b.t[LSTM_HIDDEN].is_variable = false; }
static void shared_state(struct model *m) { m->operands[LSTM_HIDDEN] = 2; }
static void cell_of_bytes(struct model *m) { m->b.t[LSTM_CELL].type = TFL_INT8; }
static void no_scale(struct model *m) { m->b.t[LSTM_HIDDEN].quant.n_scale = 0; }
static void cell_zero(struct model *m) { m->b.zero[LSTM_CELL][0] = 1; }
static void long_cell(struct model *m) { m->b.t[LSTM_CELL].dim[1] = CELLS + 1; }
static void fewer_steps(struct model *m) { m->b.t[OUT].dim[1] = STEPS - 1; }
static void computed(struct model *m) { m->b.t[LSTM_WEIGHTS + 2].data = (struct bytes){ 0 }; }
static void weight_zero(struct model *m) { m->b.zero[LSTM_RECURRENT][0] = 1; }
static void wide_weights(struct model *m) { m->b.t[LSTM_RECURRENT + 1].dim[1] = 3; }
static void bias_of_64(struct model *m) { m->b.t[LSTM_BIAS].type = TFL_INT64; }
static void long_bias(struct model *m) { m->b.t[LSTM_BIAS + 3].dim[0] = CELLS + 1; }
static void large_bias(struct model *m) { m->b.data[LSTM_BIAS + 1].i32[0] = INT32_MAX; }
static void large_scale(struct model *m) { m->b.scale[LSTM_WEIGHTS][0] = 0x1p30f; }
static void many_steps(struct model *m)
{
	m->b.t[LSTM_X].dim[1] = m->b.t[OUT].dim[1] = 1025;
}

static void
lstm_rules(struct arena *a)
{
	static const struct {
		const char *what;
		void (*change)(struct model *m);
		const char *why;
	} v[] = {
		{ "without a cell state", no_cell, "LSTM without input 19" },
		{ "peephole", peephole, "LSTM with input 9" },
		{ "projection", projection, "LSTM with input 16" },
		{ "RELU", relu, "an activation other than TANH" },
		{ "rank 2", two_ranks, "must have 3 dimensions" },
		{ "int16 out of int8", other_type, "IFM and OFM differ in type" },
		{ "an input as state", no_variable, "the output state is not a variable" },
		{ "a state of two", shared_state, "the output state is used more than once" },
		{ "a cell of bytes", cell_of_bytes, "the cell state is not a variable of type INT16" },
		{ "a state without scale", no_scale, "the output state has no quantization" },
		{ "a cell's zero point", cell_zero, "the cell state has a zero point" },
		{ "too large a state", long_cell, "do not match" },
		{ "fewer steps out", fewer_steps, "do not match" },
		{ "computed weights", computed, "weights of gate 2 are not constant" },
		{ "weights' zero point", weight_zero, "weights of gate 0 are not constant" },
		{ "wide weights", wide_weights, "weights of gate 1 are not 2x2" },
		{ "bias of 64 bits", bias_of_64, "bias of gate 0 exceeds 32 bits" },
		{ "long bias", long_bias,
		  "bias of gate 3 is not 2 constants of int32 or int64" },
		{ "large bias", large_bias, "scaled sums exceed 32 bits" },
		{ "large scale", large_scale, "can't be expressed" },
		{ "many steps", many_steps, "more than 1024 steps" },
	};
	static struct model m;
	struct lstm l;
	good_lstm(&m, a);
	expect("a usual LSTM", read_model(&m, &l), NULL);
	expect_int("steps", l.steps, STEPS);
	expect_int("cells", l.cells, CELLS);
	expect_int("no clip", l.clip, 0);
	m.clip = 0.5f; /* in units of 2^-11 */
	expect("with a clip", read_model(&m, &l), NULL);
	expect_int("clip", l.clip, 1024);
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		good_lstm(&m, a);
		v[i].change(&m);
		expect(v[i].what, read_model(&m, &l), v[i].why);
	}
}

/* 2^-6 * 2^-7 / 2^-12 is 1/2, as multiplier and shift; 16 bits have 15 bits of it */
static void
gate_scales(struct arena *a)
{
	static struct model m;
	struct lstm l;
	struct npu_scale s = { 0 };
	good_lstm(&m, a);
	(void)read_model(&m, &l);
	expect_int("a scale", lstm_gate_scale(&l, &m.b.t[LSTM_WEIGHTS], false, &s), true);
	expect_int("is a half", (int64_t)s.mult * 2, INT64_C(1) << s.shift);
	expect_int("recurrent", lstm_gate_scale(&l, &m.b.t[LSTM_RECURRENT], true, &s), true);
	expect_int("is a quarter", (int64_t)s.mult * 4, INT64_C(1) << s.shift);
	m.b.t[LSTM_X].type = TFL_INT16;
	expect_int("16 bits", lstm_gate_scale(&l, &m.b.t[LSTM_WEIGHTS], false, &s), true);
	expect_int("of 15 bits", s.mult < 1 << 15, true);
	expect_int("is a half, too", (int64_t)s.mult * 2, INT64_C(1) << s.shift);
}

/* ---- moverules.c ----------------------------------------------------------------- */

static void
axes(void)
{
	for (int rank = 1; rank < 6; rank++)
		for (int axis = -7; axis < 7; axis++) {
			int want = axis >= -rank && axis < rank ? (axis + rank) % rank : -1;
			expect_int("axis", move_axis(axis, rank), want);
		}
}

static void
moved(struct arena *a)
{
	struct part p = { .a = a };
	struct tfl_tensor t = { .name = "t", .type = TFL_INT8, .has_shape = true, .rank = 2,
				.dim = { 3, 5 } };
	expect("bytes", check_moved(&p, &t, "IFM"), NULL);
	t.type = TFL_BOOL;
	expect("booleans", check_moved(&p, &t, "IFM"), NULL);
	t.type = TFL_FLOAT32;
	expect("floats", check_moved(&p, &t, "IFM"), "IFM is FLOAT32");
	t.type = TFL_INT64;
	expect("64 bits", check_moved(&p, &t, "OFM"), "OFM is INT64");
	t.type = TFL_INT16;
	t.is_variable = true;
	expect("a variable", check_moved(&p, &t, "IFM"), "IFM is a variable");
	t.is_variable = false;
	t.has_shape = false;
	expect("no shape", check_moved(&p, &t, "IFM"), "IFM has a dynamic shape");
	t.has_shape = t.is_sparse = true;
	expect("sparse", check_moved(&p, &t, "IFM"), "IFM is sparse");
	t.is_sparse = false;
	t.dim[0] = 0;
	expect("nothing", check_moved(&p, &t, "IFM"), "IFM has 0 elements");
	t.dim[0] = t.dim[1] = 1 << 16;
	expect("too much", check_moved(&p, &t, "IFM"), "IFM has 4294967296 elements");
}

/* elements of 64 bits are two words: each step is doubled, and a last axis is added */
static void
words(void)
{
	struct tfl_tensor t = { .type = TFL_INT64 };
	struct nd v = { .type = TFL_INT64, .rank = 2, .dim = { 3, 5 }, .stride = { -5, 1 },
			.offset = 10 };
	expect_int("words", move_words(&t, &v), true);
	expect_int("type", v.type, TFL_INT32);
	expect_int("rank", v.rank, 3);
	expect_int("two of them", v.dim[2], 2);
	expect_int("side by side", v.stride[2], 1);
	expect_int("rows", v.stride[0], -10);
	expect_int("columns", v.stride[1], 2);
	expect_int("first", v.offset, 20);
	v = (struct nd){ .type = TFL_INT64, .rank = ND_MAX };
	expect_int("no axis left", move_words(&t, &v), false);
	t.type = TFL_INT8;
	v = (struct nd){ .type = TFL_INT8, .rank = ND_MAX };
	expect_int("bytes stay", move_words(&t, &v) && v.type == TFL_INT8, true);
}

/* every second element of five axes, of which none can be joined with another */
static void
copies(struct arena *a)
{
	struct lower l = { .a = a };
	struct part p = { .a = a, .l = &l };
	struct nd from = { .type = TFL_INT8, .rank = 5, .dim = { 16, 16, 16, 4, 4 } };
	struct nd to = from;
	for (int64_t i = 4, step = 1; i >= 0; i--) {
		to.stride[i] = step;
		from.stride[i] = 2 * step * (4 - i + 1);
		step *= from.dim[i];
	}
	expect_int("copies of five axes", nd_copies(&l, &from, &to) > 1, true);
	expect("few", check_copies(&p, &from, &to), NULL);
	for (int i = 0; i < 5; i++) /* steps of 2 are not channels: one operation has only
				     * two axes */
		from.dim[i] = to.dim[i] = 64;
	expect("many", check_copies(&p, &from, &to), "the movement would take 262144 copies");
}

int
main(void)
{
	struct arena *a = arena_open();
	lstm_rules(a);
	gate_scales(a);
	axes();
	moved(a);
	words();
	copies(a);
	arena_close(a);
	if (n_failed)
		printf("%d failed\n", n_failed);
	return n_failed > 0;
}
