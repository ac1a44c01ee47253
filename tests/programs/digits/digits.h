/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The demo model is made here from scratch.  A seeded generator draws pictures of
 * digits.  A small convolutional network learns them, is quantized to int8 and is
 * written as TFLite.  There is one thread, no contraction of floats, and no libm
 * function whose last bit depends on the library: the bytes are the same on every
 * IEEE machine.
 */
#ifndef DIGITS_H
#define DIGITS_H

#include "base/arena.h"
#include "base/bytes.h"

#include <stdint.h>

enum {
	SIDE = 28,
	PIXELS = SIDE * SIDE,
	CLASSES = 10,

	/* pictures of one purpose are never used for another */
	SEED_TRAIN = 1,
	SEED_CALIBRATE = 2,
	SEED_TEST = 3,
	SEED_SAMPLES = 4,
	SEED_WEIGHTS = 5,
};

/* ---- draw.c ------------------------------------------------------------ */

struct rng {
	uint64_t state;
};

struct rng rng_seeded(uint64_t seed);
uint32_t rng_next(struct rng *r);
float rng_range(struct rng *r, float lo, float hi);
float rng_normal(struct rng *r); /* a sum of uniforms: mean 0, deviation 1 */

struct picture {
	uint8_t pixel[PIXELS]; /* 0 paper, 255 ink; rows from the top */
	int digit;
};

/* the digit's strokes, bent, moved, rotated, thickened, with noise */
void draw_digit(struct rng *r, int digit, struct picture *out);
void draw_any(struct rng *r, struct picture *out);

/* ---- net.c ------------------------------------------------------------- */

enum layer_kind { CONV, DEPTHWISE, ADD, POOL };

struct plan {
	const char *name;
	enum layer_kind kind;
	int from;      /* values back: 1 is the layer before */
	int also_from; /* ADD: the other operand */
	int kernel, stride, channels;
	bool relu;
	bool valid; /* padding VALID; else SAME */
};

enum { N_LAYERS = 11 };
extern const struct plan plan[N_LAYERS];

struct shape {
	int h, w, c;
};

/* conv: w[ky][kx][in][out]; depthwise: w[ky][kx][c] */
struct layer {
	struct shape in, out;
	int pad_top, pad_left;
	int a, b; /* indices of the values read; layer i writes value i + 1 */
	int n_w, n_b;
	float *w, *b_;	 /* weights, biases */
	float *gw, *gb;	 /* gradients of a batch */
};

/* value 0 is the picture (pixel / 255), the last holds the logits */
struct net {
	struct layer layer[N_LAYERS];
	float *value[N_LAYERS + 1];
	float *grad[N_LAYERS + 1];
	int n_value[N_LAYERS + 1];
};

struct net *net_new(struct arena *a, struct rng *r);
void net_forward(struct net *n, const struct picture *p);
/* adds the gradients of softmax cross entropy; after net_forward */
void net_backward(struct net *n, int digit);
int net_answer(const struct net *n);

/* ---- learn.c ----------------------------------------------------------- */

void learn(struct arena *a, struct net *n, int n_pictures);
double accuracy_float(struct net *n, int n_pictures);

/* ---- quantize.c -------------------------------------------------------- */

/* determines the ranges of all values over calibration pictures, then makes the int8
 * model; real: the float model */
bool quantize(struct arena *a, struct net *n, int n_calibrate, bool real,
	      struct bytes *model, struct err *e);
/* runs the int8 model with the reference kernels */
bool accuracy_int8(struct arena *a, struct bytes model, int n_pictures,
		   double *out, struct err *e);

#endif
