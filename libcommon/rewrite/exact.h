/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of schema/rewrites.def, as the programs apply them: nputools-rewrites(7). */
#ifndef REWRITE_EXACT_H
#define REWRITE_EXACT_H

#include <stdbool.h>
#include <stdint.h>

struct accel;
struct arena;
struct err;
struct graph;
struct lower;
struct text;

/* Which rules of schema/rewrites.def a program applies; all zero: all its rules. */
struct rewrite_options {
	uint64_t off;	 /* bit i: rule i is not applied */
	bool no_overlap; /* no operand reads a byte twice, no tensor is shifted in place */
};

/* rows of struct cli_option that set the member `rewrites` of struct options */
#define REWRITE_OPTIONS                                                                    \
	{ SHARED_TAKE_INTO(NO_REWRITE, rewrites.off, rewrite_take_off) },                  \
	{ SHARED_FLAG(NO_OVERLAP, rewrites.no_overlap) },                                  \
	{ SHARED_LIST(LIST_REWRITES, rewrite_list) }

/* Sets bits of the mask *off for names separated by commas (NULL: none), or for all. */
bool rewrite_off(const char *list, uint64_t *off, struct err *e);
/* The same for a command line: cli_refuse() of each unknown name. */
void rewrite_take_off(void *off, const char *arg);
void rewrite_list(struct text *t);
/*
 * Applies the rules to the graph of a front end, in place, and adds a record for each change.
 * Drops constants that no operation uses any more.  Needs: all operations, and the layouts of
 * inputs and outputs.  Returns false if constants cannot be read.
 */
bool rewrite_exact(struct lower *l, const struct rewrite_options *o, struct err *e);
/*
 * The same for the rules that depend on the memory system or need the accelerator, before npu-sched
 * plans.  spilling: the arena of the runtime is not in SRAM.
 */
bool rewrite_planned(struct arena *a, struct graph *g, const struct accel *accel, bool spilling,
		     const struct rewrite_options *o, struct err *e);
/*
 * The same for the rules that npu-sched plans a network with and without: those up to the rule
 * `last`.  The records `rewrite` of g say whether one was applied.
 */
bool rewrite_chosen(struct arena *a, struct graph *g, const struct accel *accel,
		    const struct rewrite_options *o, const char *last, struct err *e);
const char *rewrite_chosen_name(int i); /* NULL: there are no more than i */
/* Appends a line for each change, or for several equal ones, for reports of the front ends. */
void rewrite_print(const struct graph *g, struct text *t);

#endif
