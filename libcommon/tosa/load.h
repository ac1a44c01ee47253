/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a file: what read.c, block by block, and flow.c have in common. */
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
	struct load_name *names; /* of the block, in order */
	int n_names;
	int *writer;	    /* of each tensor: 1 + its operator's number */
	int number;	    /* of the next operator */
	int cap_tensors, cap_ops;
	bool inside;	    /* the block is an operator's */
	int looped;	    /* tensors of loops */
	struct err *e;
};

#define BAD(l, ...) err_at((l)->e, (l)->g->name, 0, __VA_ARGS__)

/* ---- read.c ---------------------------------------------------------------------- */

/* tensors and names of l->block, behind those that are there */
bool load_tensors(struct load *l);
/* its operators but constants, in the order of the file */
bool load_ops(struct load *l);
/* the tensors that a list of names means; what: "operator 3 (ADD)" */
bool load_names(struct load *l, struct fb_ref t, int slot, const char *what,
		const char *role, const int **out, int *n_out);
struct load_name *load_find(struct load *l, const char *name); /* NULL: no such one */
const char *load_label(struct load *l, const struct tosa_op *op);
struct tosa_op *load_more_ops(struct load *l, int n); /* room for them, at the end */
bool load_more_tensors(struct load *l, int n);
bool load_has_room(struct load *l, int n_tensors); /* of branches and loops */

/* ---- graph.c --------------------------------------------------------------------- */

/* l->block into l->g, with all checks but those of a border */
bool load_graph(struct load *l);

/* ---- flow.c ---------------------------------------------------------------------- */

/* the graph's own block */
bool load_find_main(struct load *l);
/*
 * COND_IF becomes both its branches and a SELECT of each result: no operator has any
 * effect but its result, so that what is not chosen may be computed
 */
bool load_branches(struct load *l);
/* l->block becomes the one of the region that this attribute of op names */
bool load_region(struct load *l, const struct tosa_op *op, int slot);
/* two tensors of op's graph and of a block that it runs; role: "a branch's input" */
bool load_alike(struct load *l, const struct tosa_op *op, const char *role, int i,
		const struct tosa_tensor *got, const struct tosa_tensor *want);

/* ---- loop.c ---------------------------------------------------------------------- */

/* the graphs of each WHILE_LOOP */
bool load_loops(struct load *l);

#endif
