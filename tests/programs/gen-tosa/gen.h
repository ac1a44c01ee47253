/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gen-tosa: random TOSA graphs.  file.c writes the graphs that steps.c draws, and the
 * graphs that tfl-tosa makes of TFLite models.
 */
#ifndef GENTOSA_GEN_H
#define GENTOSA_GEN_H

#include "tflite/write.h"
#include "tosa/tosa.h"

enum { MAX_TENSORS = 4096, MAX_OPS = 4096 };

struct gen_tensor {
	int type, rank;
	int32_t dim[TOSA_MAX_RANK];
	struct bytes data; /* of a constant */
};

struct gen_op {
	int code, n_in, in[8], out;
	int n_more; /* results behind out, with tensors that follow out */
	fbw_off attribute;
};

struct gen {
	struct arena *a;
	struct fbw *w;
	uint64_t state;
	struct gen_tensor tensor[MAX_TENSORS];
	struct gen_op op[MAX_OPS];
	int n_tensors, n_ops, n_in, in[MAX_TENSORS];
	int n_out, out[MAX_OPS]; /* none: the results that no operator reads */
	int minor; /* version 1.minor */
	bool computed; /* weights and biases of convolutions are computed */
	struct gen *region[2]; /* regions that operators run, with their own tensors */
	int n_regions;
	const char *name; /* name of a region; NULL: main */
	const int64_t *zero; /* the zero point of layers' inputs; NULL: any */
	bool unpadded; /* layers and pools have no padding */
};

/* file.c */
int gen_new(struct gen *g, int type, int rank, const int32_t *dim);
int gen_input(struct gen *g, int type, int rank, const int32_t *dim);
int gen_const(struct gen *g, int type, int rank, const int32_t *dim, const int64_t *v);
int gen_number(struct gen *g, int type, int64_t v); /* of shape [1] */
int gen_shape(struct gen *g, int n, const int64_t *v);
/* attributes of up to three lists and up to five numbers of consecutive slots */
fbw_off gen_attribute(struct gen *g, const struct fb_table *t, int n_lists,
		      const int32_t *const *list, const int *length, int n,
		      const int64_t *v);
/* an operator; returns its result, of this type and shape */
int gen_op(struct gen *g, int code, fbw_off attribute, int n, const int *in, int type,
	   int rank, const int32_t *dim);
/* a region that operators of g run; the random numbers of g continue in it */
struct gen *gen_region(struct gen *g, const char *name);
/* the file, into the arena */
bool gen_file(struct gen *g, struct bytes *out, struct err *e);

/* steps.c: an input, followed by some operators or patterns */
void draw_graph(struct gen *g);
/* PADs, behind operators that may write between the borders, and before some that may pad */
void draw_pads(struct gen *g);
int draw_layer(struct gen *g, int x); /* of a map of 8 or 16 bits, with its RESCALE */
int draw_alike(struct gen *g, int x); /* a step that keeps the shape */
uint32_t draw(struct gen *g, uint32_t n);	    /* below n */
int32_t between(struct gen *g, int32_t lo, int32_t hi); /* both included */
/* a constant of values from -most to most */
int random_const(struct gen *g, int type, int rank, const int32_t *dim, int64_t most);

/* single.c: one operator of any type, shape and attributes that TOSA allows */
void draw_single(struct gen *g);
void draw_order(struct gen *g, int n, int32_t *perm); /* of 0 to n - 1 */
/* a convolution with computed weights or bias */
void draw_computed(struct gen *g);
/*
 * As draw_single or draw_graph, or a product of 32 bits; then a third of all
 * constants takes values of the type's whole range, so that TOSA may not allow the
 * graph, and a quarter of the RESCALEs multiplies by 0.
 */
void draw_full(struct gen *g);

/* loops.c: a WHILE_LOOP of up to three turns, whose number is an input */
void draw_loop(struct gen *g);
/* a COND_IF, whose condition is a comparison and whose branches are one operator each */
void draw_if(struct gen *g);

/* moves.c: operators that only move elements */
void draw_moves(struct gen *g);

/* indices.c: GATHER or SCATTER with computed indices */
void draw_indices(struct gen *g);
/*
 * An operator whose random inputs break a precondition: a shift by more than the bits, a
 * division by 0, an index outside of its table or twice.
 */
void draw_broken(struct gen *g);
/* TRANSPOSE, a pool, TRANSPOSE: channels first outside, last inside */
void draw_borders(struct gen *g);

#endif
