/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NPU graph, which the stages pass on, in memory: reading, printing, checking.  Its text
 * format is described in nputools-graph(5).  Headers that need less include records.h,
 * facts.h or build.h, so that a change of the others does not compile their users again.
 */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include "graph/build.h"

struct accel;
struct text;

/*
 * Parses the text of a graph; errors name FILE:LINE.  The graph must have been written
 * by the stage `need` or a later one; otherwise the error names the stage that is
 * missing.  The last steps are graph_check() and graph_check_sources().
 */
bool graph_read(struct arena *a, struct bytes text, const char *file,
		enum g_stage need, struct graph **out, struct err *e);

/*
 * Declares that p, the text that g was read from, is not needed any more.  Blobs are
 * then decoded in place, which saves memory of their size.
 */
void graph_release_text(struct graph *g, uint8_t *p);

/* Prints the canonical text.  Blobs that were not decoded are copied from the input. */
void graph_print(const struct graph *g, struct text *t);
/*
 * Prints only what a stream is compared with, and what reports show: records without comments
 * and without strings except the reasons of CPU nodes and the texts of rewrites.  The values of scales and tables are printed
 * as zeros.  Of the blob flash only size and hash are printed.
 */
void graph_print_bare(const struct graph *g, struct text *t);

/* Writes the canonical text like file_write(); large blobs are not copied. */
bool graph_write(const struct graph *g, const char *path, struct err *e);
/* Adds the canonical text to a set of files that appear together (base/file.h). */
struct file_set;
bool graph_add_to(struct file_set *s, const struct graph *g, const char *path,
		  struct err *e);

/*
 * Checks everything that a stage may rely on: references are in range, views are inside
 * their tensors, the NPU has the types, addresses are aligned, tensors that are live at
 * the same time do not overlap, and blocks fit.
 */
bool graph_check(const struct graph *g, struct err *e);

/*
 * Checks a finished graph: everything that is read was written before, in the order of
 * nodes and operations.  In a finished graph no operation is a placeholder for others.
 */
bool graph_check_sources(const struct graph *g, struct err *e);

struct memory_system;
/* Returns the accelerator and memory system of the graph; needs STAGE_SCHED or later. */
bool graph_target(const struct graph *g, const struct accel **a,
		  struct memory_system *m, struct err *e);
void graph_set_target(struct graph *g, const struct accel *a,
		      const struct memory_system *m);

#endif
