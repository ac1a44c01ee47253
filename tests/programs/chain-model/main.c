/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain KIND N [SIDE DEPTH] >model.tflite
 *
 * Writes a chain of N operators on feature maps of SIDE x SIDE x DEPTH, to measure how the cost of
 * compiling grows.  KIND is
 *   conv   3x3 convolutions, each with its own weights
 *   add    sums of the last two results
 *   block  two convolutions and an addition around them
 *   fan    two convolutions on each of four branches, and their sum; all first
 *          convolutions come before the second ones
 *   crowd  the sum of N + 1 inputs of the model
 *   fc     one FULLY_CONNECTED of the feature map's elements to N results
 */
#include "base/cli.h"
#include "base/file.h"
#include "tflite/fields.h"
#include "tflite/tflite.h"
#include "tflite/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPS = 100000, MAX_SIDE = 256, CONV_TAG = 1, FC_TAG = 8, ADD_TAG = 11 };

struct chain {
	struct arena *a;
	struct tflw_tensor *tensor;
	struct tflw_op *op;
	struct bytes *buffer;
	int n_tensors, n_ops, n_buffers;
	int *in, n_in; /* inputs of the model */
	int side, depth;
	uint32_t random;
};

enum code { CODE_CONV, CODE_ADD, CODE_FC, CODES };

static uint8_t
next_random(struct chain *c)
{
	c->random = c->random * 1664525 + 1013904223;
	return (uint8_t)(c->random >> 24);
}

static struct tfl_tensor *
add_tensor(struct chain *c, int type, int rank, const int32_t *dim, float scale)
{
	struct tfl_tensor *t = &c->tensor[c->n_tensors].t;
	float *f = anew(c->a, float, 1);
	*f = scale;
	*t = (struct tfl_tensor){
		.type = type, .rank = rank, .has_shape = true, .producer = -1,
		.name = arena_printf(c->a, "t%d", c->n_tensors),
		.quant = { .scale = f, .zero = anew(c->a, int64_t, 1),
			   .n_scale = 1, .n_zero = 1 },
	};
	memcpy(t->dim, dim, (size_t)rank * sizeof(*dim));
	c->n_tensors++;
	return t;
}

static int
add_map(struct chain *c)
{
	add_tensor(c, TFL_INT8, 4, (int32_t[]){ 1, c->side, c->side, c->depth }, 0.05f);
	return c->n_tensors - 1;
}

/* a constant of n bytes: noise, or zeros */
static int
add_const(struct chain *c, int type, int rank, const int32_t *dim, float scale,
	  size_t n, bool noise)
{
	uint8_t *p = anew(c->a, uint8_t, n);
	for (size_t i = 0; noise && i < n; i++)
		p[i] = next_random(c);
	add_tensor(c, type, rank, dim, scale);
	c->buffer[++c->n_buffers] = (struct bytes){ .p = p, .n = n };
	c->tensor[c->n_tensors - 1].buffer = (uint32_t)c->n_buffers;
	return c->n_tensors - 1;
}

static struct tflw_op *
add_op(struct chain *c, enum code code, int n_in, const int *in)
{
	int *ports = anew(c->a, int, (size_t)n_in + 1);
	memcpy(ports, in, (size_t)n_in * sizeof(*in));
	ports[n_in] = add_map(c);
	struct tflw_op *op = &c->op[c->n_ops++];
	*op = (struct tflw_op){ .opcode = code, .in = ports, .n_in = n_in,
				.out = ports + n_in, .n_out = 1 };
	return op;
}

static int
conv(struct chain *c, int from)
{
	static const int64_t option[] = { TFL_SAME, 1, 1, 0, 1, 1, 0 };
	int w = add_const(c, TFL_INT8, 4, (int32_t[]){ c->depth, 3, 3, c->depth },
			  0.01f, (size_t)(9 * c->depth * c->depth), true);
	int b = add_const(c, TFL_INT32, 1, (int32_t[]){ c->depth }, 0.0005f,
			  (size_t)(4 * c->depth), false);
	struct tflw_op *op = add_op(c, CODE_CONV, 3, (int[]){ from, w, b });
	op->options = &fb_Conv2DOptions;
	op->options_tag = CONV_TAG;
	op->option = option;
	return op->out[0];
}

static int
add(struct chain *c, int a, int b)
{
	static const int64_t option[] = { 0, 0 };
	struct tflw_op *op = add_op(c, CODE_ADD, 2, (int[]){ a, b });
	op->options = &fb_AddOptions;
	op->options_tag = ADD_TAG;
	op->option = option;
	return op->out[0];
}

/* the branches of a fan in the order that needs the most memory */
static int
fan(struct chain *c, int at)
{
	enum { WAYS = 4 };
	int way[WAYS];
	for (int i = 0; i < WAYS; i++)
		way[i] = conv(c, at);
	for (int i = 0; i < WAYS; i++)
		way[i] = conv(c, way[i]);
	/* in this order with any compiler */
	int last = add(c, way[2], way[3]), first = add(c, way[0], way[1]);
	return add(c, first, last);
}

static int
crowd(struct chain *c, int n, int at)
{
	for (int i = 0; i < n; i++) {
		c->in[c->n_in++] = add_map(c);
		at = add(c, at, c->in[c->n_in - 1]);
	}
	return at;
}

static int
fc(struct chain *c, int n, int at)
{
	static const int64_t option[] = { 0, 0, 0, 0, 0 };
	int32_t cols = c->side * c->side * c->depth;
	int w = add_const(c, TFL_INT8, 2, (int32_t[]){ n, cols }, 0.001f,
			  (size_t)n * (size_t)cols, true);
	struct tflw_op *op = add_op(c, CODE_FC, 2, (int[]){ at, w });
	struct tfl_tensor *out = &c->tensor[op->out[0]].t;
	out->rank = 2;
	out->dim[1] = n;
	op->options = &fb_FullyConnectedOptions;
	op->options_tag = FC_TAG;
	op->option = option;
	return op->out[0];
}

/* n operators from map `at` on; returns the last result, or -1 for an unknown kind */
static int
build(struct chain *c, const char *kind, int n, int at)
{
	enum { FAN_OPS = 11 };
	int before = at;
	if (!strcmp(kind, "fan")) {
		for (int i = 0; i < n; i += FAN_OPS)
			at = fan(c, at);
		return at;
	}
	if (!strcmp(kind, "crowd"))
		return crowd(c, n, at);
	if (!strcmp(kind, "fc"))
		return fc(c, n, at);
	if (strcmp(kind, "conv") && strcmp(kind, "add") && strcmp(kind, "block"))
		return -1;
	for (int i = 0; i < n; i++) {
		bool adds = kind[0] == 'a' || (kind[0] == 'b' && i % 3 == 2);
		int result = adds ? add(c, at, before) : conv(c, at);
		if (kind[0] == 'a' || adds)
			before = kind[0] == 'a' ? at : result;
		at = result;
	}
	return at;
}

static bool
write_chain(struct chain *c, const char *kind, int n, struct err *e)
{
	size_t ops = (size_t)n + 10, room = 3 * ops + 2; /* fans are complete */
	c->tensor = anew(c->a, struct tflw_tensor, room);
	c->buffer = anew(c->a, struct bytes, room);
	c->op = anew(c->a, struct tflw_op, ops);
	c->in = anew(c->a, int, ops);
	c->in[c->n_in++] = add_map(c);
	int out = build(c, kind, n, c->in[0]);
	if (out < 0)
		return err_set(e, "there is no kind %s; there are conv, add, block, fan, "
				  "crowd, fc", kind);
	struct tflw_opcode code[CODES] = {
		[CODE_CONV] = { .code = TFL_CONV_2D, .version = 1 },
		[CODE_ADD] = { .code = TFL_ADD, .version = 1 },
		[CODE_FC] = { .code = TFL_FULLY_CONNECTED, .version = 1 },
	};
	struct tflw_subgraph sg = { .tensor = c->tensor, .n_tensors = c->n_tensors,
				    .op = c->op, .n_ops = c->n_ops, .in = c->in,
				    .n_in = c->n_in, .out = &out, .n_out = 1 };
	struct tflw_model m = { .description = "chain", .opcode = code,
				.n_opcodes = CODES, .buffer = c->buffer,
				.n_buffers = c->n_buffers + 1, .subgraph = &sg,
				.n_subgraphs = 1 };
	struct bytes b;
	return tfl_write(c->a, &m, &b, e) && file_write(NULL, b.p, b.n, false, e);
}

/* argument i, or a default; 0 if it is out of bounds */
static int
take(int argc, char **argv, int i, int otherwise, int most)
{
	int n = i < argc ? atoi(argv[i]) : otherwise;
	return n >= 1 && n <= most ? n : 0;
}

int
main(int argc, char **argv)
{
	int n = take(argc, argv, 2, 0, MAX_OPS);
	struct err e = { 0 };
	struct chain c = { .random = 1,
			   .side = take(argc, argv, 3, 24, MAX_SIDE),
			   .depth = take(argc, argv, 4, 16, MAX_SIDE) };
	if (!n || !c.side || !c.depth || argc > 5) {
		fprintf(stderr, "usage: chain conv|add|block|fan|crowd|fc N [SIDE DEPTH] "
				">model.tflite\n");
		return EXIT_TROUBLE;
	}
	c.a = arena_open();
	if (!write_chain(&c, argv[1], n, &e))
		cli_print(&e);
	arena_close(c.a);
	return e.status;
}
