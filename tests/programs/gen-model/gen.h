/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes random quantized models from a seed: one operator with random shapes,
 * strides, scales and types, or a small graph of operators.  The model is always
 * valid; it may or may not run on the NPU.
 *
 * All properties follow from choices: small numbers of which 0 is the simplest.
 * Choice I of operator K depends only on the seed, K and I.  Therefore one choice can
 * be set ("K.I=0"), or an operator can be left out, without a change of the other
 * parts of the model.  Failing models are reduced in this manner.
 */
#ifndef GEN_GEN_H
#define GEN_GEN_H

#include "base/arena.h"
#include "tflite/write.h"

enum { GEN_TENSORS = 2048, GEN_OPS = 512, GEN_ELEMENTS = 20000 };

struct choice {
	int op, i;
	int64_t value;
};

struct gen {
	struct arena *a;
	uint64_t seed;
	const struct choice *given;
	int n_given;
	bool show;  /* print every choice */
	int op, n;  /* operator that is drawn, 0 for the model; number of its choices so far */
	bool loose; /* scales, zero points and biases of any kind */
	bool int4;  /* weights of INT8 become INT4 */
	bool graph; /* operators use results of earlier ones if possible */
	struct tflw_tensor tensor[GEN_TENSORS];
	bool is_const[GEN_TENSORS], is_used[GEN_TENSORS], is_made[GEN_TENSORS];
	struct bytes buffer[GEN_TENSORS];
	struct tflw_op op_at[GEN_OPS];
	struct tflw_opcode code[GEN_OPS];
	int n_tensors, n_buffers, n_ops;
};

/* ---- chance ---------------------------------------------------------------- */

int64_t gen_choose(struct gen *g, int64_t n); /* 0 to n - 1 */
/* the value set for the next choice; NULL if none was set */
const struct choice *gen_given(const struct gen *g);
int64_t gen_range(struct gen *g, int64_t lo, int64_t hi); /* both included */
bool gen_chance(struct gen *g, int percent); /* simplest: no */
double gen_real(struct gen *g, double lo, double hi); /* logarithmic */
int gen_type(struct gen *g); /* mostly i8, also u8 and i16 */

/* ---- models ------------------------------------------------------------------ */

struct shape {
	int rank;
	int32_t dim[TFL_MAX_RANK];
};
#define SHAPE(...) ((struct shape){ .rank = sizeof((int32_t[]){ __VA_ARGS__ }) / 4, \
				    .dim = { __VA_ARGS__ } })

struct shape gen_shape(struct gen *g, int rank, int32_t batch);
struct tfl_tensor *gen_t(struct gen *g, int i);
struct shape shape_of(struct gen *g, int i);
int64_t shape_elements(struct shape s);

/* a tensor without a producer yet: an input of the model unless an operator makes it */
int gen_tensor(struct gen *g, int type, struct shape s, float scale, int zero);
/* the same with a random quantization */
int gen_random(struct gen *g, int type, struct shape s);
/* a tensor like another one, with another shape */
int gen_like(struct gen *g, int i, struct shape s);
/* an input for an operator: a result of an earlier operator if suitable, or a new
 * tensor */
int gen_input(struct gen *g, int rank, int type);
/* an input of any type and 1 to 4 dimensions */
int gen_any_input(struct gen *g);
/* constants, from numbers in host order */
int gen_const(struct gen *g, int type, struct shape s, const void *data);
int gen_ints(struct gen *g, int n, const int32_t *v);
/* one number, as a scalar or a vector */
int gen_index(struct gen *g, int32_t v);
/* a quantization of one scale */
void gen_quant(struct gen *g, int tensor, float scale, int zero);
/* n numbers from lo to hi by one choice; 0: all of them are 0 */
void gen_many(struct gen *g, int n, int32_t lo, int32_t hi, int32_t *v);
int gen_noise(struct gen *g, int type, struct shape s, float scale, int zero);

/* an operator; options NULL: no options.  floats may be NULL */
void gen_op(struct gen *g, int code, int n_in, const int *in, int n_out,
	    const int *out, int tag, const struct fb_table *options,
	    const int64_t *ints, const double *floats);
/* the common case: one result; ints is {slot 0, slot 1, ...} */
int gen_op1(struct gen *g, int code, int n_in, const int *in, int out, int tag,
	    const struct fb_table *options, const int64_t *ints);
/* intermediate tensors of the last operator */
void gen_mid(struct gen *g, int n, const int *mid);

/* conv.c: weights for an IFM, with a scale for each element of an axis or with one
 * scale; the bias */
int gen_weights(struct gen *g, int ifm, struct shape s, int axis, bool per_channel);
int gen_bias(struct gen *g, int ifm, int w, int n);

/* element.c: one operator each, for a tensor of any shape, or of a type */
int gen_binary(struct gen *g, int code, int x); /* of x and a tensor of its shape, or less */
void gen_leaky(struct gen *g, int in, int odd); /* odd: % of slopes below 0, and from 1 on */
void gen_prelu(struct gen *g, int type, int slopes); /* types */
void gen_arg(struct gen *g, int code, int type);

/* main.c: draws an operator of the lists below; returns its result */
int gen_named(struct gen *g, const char *name);

/* pair.c: draws `first` once for each operator that may be joined to it, and behind it
 * this operator */
struct draw;
void gen_pairs(struct gen *g, const struct draw *first);

/* loose.c: changes the drawn model */
void gen_loosen(struct gen *g);

/* ---- families: each draws one operator ---------------------------------------- */

struct draw {
	const char *name;
	void (*run)(struct gen *g, int code);
	int code;
};
extern const struct draw move_draws[], conv_draws[], element_draws[],
    memory_draws[];
/* not for the seeds that tests cite: main.c */
extern const struct draw later_move_draws[], later_element_draws[], logic_draws[];
/* only by their names */
extern const struct draw indexed_draws[], shuffle_draws[], int4_draws[], wide_draws[],
    window_draws[], channel_draws[], edge_draws[];

#endif
