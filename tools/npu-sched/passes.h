/* SPDX-License-Identifier: Apache-2.0 */
/* The passes of main.c, in running order, and the reports. */
#ifndef NPU_SCHED_PASSES_H
#define NPU_SCHED_PASSES_H

#include "sched.h"

/* Each returns false for an error, which is in s->e. */

/* tables.c.  Result: table lookups only where the accelerator has them */
bool separate_tables(struct sched *s);
/* stages.c.  Result: no operation needs what the accelerator's output stage lacks */
bool complete_stages(struct sched *s);
/* sparse.c.  Result: op->sparse where weights have that format and U85 gains by it */
bool find_sparse(struct sched *s);
/* constants.c.  Result: copies in fast memory of operands that are read again and again */
bool fetch_constants(struct sched *s);
/* network/copies.c.  Result: s->copies: copies in the NPU's SRAM of inputs and outputs of nodes */
bool list_copies(struct sched *s);
/* formats.c.  Result: layout and area of every tensor */
bool choose_formats(struct sched *s);
/* costs/traversal.c.  Needs: s->info (study_ops).  Result: traversal of every convolution */
bool choose_traversals(struct sched *s);
/* costs/decoders.c.  Result: op->fast where U85's fast decoder saves cycles or bytes */
bool choose_decoders(struct sched *s);
/* search/search.c.  Needs: s->info.  Result: s->plan */
bool search_plan(struct sched *s);
/* plans/keep.c.  Needs: s->plan.  Result: s->plan_text */
void keep_plan(struct sched *s);
/* plans/apply.c.  Needs: s->plan.  Result: blocks, slices, steps, buffers, addresses */
bool apply_plan(struct sched *s);
/* plans/predict.c.  Needs: the above.  Result: cycles on the target record */
bool predict_cycles(struct sched *s);
/* plans/yield.c.  Needs: the above.  Result: with --yield-every, divided nodes, and the price on the
 * target record */
bool yield_streams(struct sched *s);
/* Prints notes on the price, and on pieces that exceed the limit. */
void note_yield(const struct sched *s);

struct json_out;

/* report.c: --front; cycles as npu-perf prints them; the members of JSON for --batch and a row */
void print_front(const struct sched *s, struct text *t);
double rounded(double cycles);
void put_batch(const struct sched *s, const struct json_out *j);
void put_costs(const struct json_out *j, const struct sched_row *r);
/* explain.c: --explain */
void print_explanation(struct sched *s, struct text *t);
/* plans/listing.c: the options --verbose-..., in the layout of the reference's log */
void print_config(const struct sched *s, struct text *t);
void print_graph(const struct sched *s, struct text *t);
void print_allocation(const struct sched *s, struct text *t);

#endif
