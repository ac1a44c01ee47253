/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that read a graph: read.c (blocks), graph.c, flow.c and loop.c. */
#ifndef TOSA_LOAD_H
#define TOSA_LOAD_H

#include "tosa/tosa.h"

struct load_name {
	const char *s;
	int tensor;
};

struct load {
	struct arena *a;
	struct tosa_graph *g;
	struct fb_ref root, block;
	struct load_name *names; /* names in the block, sorted */
	int n_names;
	int *writer;	    /* 1 + number of the operator that writes each tensor; 0: none
			     * yet */
	int number;	    /* number of the next operator */
	int cap_tensors, cap_ops;
	bool inside;	    /* true: the block is a branch or part of a loop */
	int looped;	    /* number of tensors in loops */
	struct err *e;
};

#define BAD(l, ...) err_at((l)->e, (l)->g->name, 0, __VA_ARGS__)

/* ---- read.c ---------------------------------------------------------------------- */

/* Appends the tensors and names of l->block. */
bool load_tensors(struct load *l);
/* Appends the block's operators except constants, in the order of the file. */
bool load_ops(struct load *l);
/*
 * Looks up the tensors of a list of names.  what and role are for messages: "operator 3
 * (ADD)", "input".
 */
bool load_names(struct load *l, struct fb_ref t, int slot, const char *what,
		const char *role, const int **out, int *n_out);
struct load_name *load_find(struct load *l, const char *name); /* NULL: no such name */
const char *load_label(struct load *l, const struct tosa_op *op);
struct tosa_op *load_more_ops(struct load *l, int n); /* capacity for n more; returns the end */
bool load_more_tensors(struct load *l, int n);
bool load_tensors_fit(struct load *l, int n_tensors); /* limits the tensors of branches and
						    * loops */

/* ---- graph.c --------------------------------------------------------------------- */

/* Loads l->block into l->g, with all checks except check_border(). */
bool load_graph(struct load *l);

/* ---- flow.c ---------------------------------------------------------------------- */

/* Sets l->block to the graph's main block. */
bool load_find_main(struct load *l);
/*
 * Replaces COND_IF by both its branches and a SELECT for each result.  This is allowed
 * as operators have no effects but their results; the unused branch may be computed.
 */
bool load_branches(struct load *l);
/* Sets l->block to the block of the region that this attribute of op names. */
bool load_region(struct load *l, const struct tosa_op *op, int slot);
/*
 * Checks that a tensor of op's graph and one of a block that op runs have the same type
 * and shape.  role is for messages: "a branch's input".
 */
bool load_alike(struct load *l, const struct tosa_op *op, const char *role, int i,
		const struct tosa_tensor *got, const struct tosa_tensor *want);

/* ---- loop.c ---------------------------------------------------------------------- */

/* Loads the graphs of each WHILE_LOOP. */
bool load_loops(struct load *l);

#endif
