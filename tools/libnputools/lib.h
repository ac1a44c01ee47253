/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How libnputools calls the stages.  The makefile joins the objects of each program with its
 * file in stages/, in which only the function below is global: two programs may give one
 * name to different things, such as struct options.
 */
#ifndef NPUTOOLS_LIB_H
#define NPUTOOLS_LIB_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/diag.h"
#include "base/text.h"
#include "nputools.h"

/* The state of one call of a public function. */
struct call {
	struct arena *a;
	struct err e; /* e.notes is &notes */
	struct text notes, out;
	const struct nputools_options *options; /* of the caller; NULL: none */
	bool (*run)(struct call *c, void *ctx);
	struct nputools_options o; /* complete: absent members have their defaults */
};

/* call.c */
/*
 * A whole public function: completes the options (NULL: all defaults), calls run, moves the
 * results to *out, and returns the status.
 */
int call_whole(const struct nputools_options *o, bool (*run)(struct call *c, void *ctx),
	       void *ctx, struct nputools_output *out);
/*
 * exhausted.c: calls run, and returns its result.  If the system has no memory left, returns
 * false with an error.
 */
bool call_run(struct call *c, bool (*run)(struct call *c, void *ctx), void *ctx);
/* call.c: the name of a file between two stages, for messages: "NAME.suffix". */
const char *call_file(struct call *c, const char *suffix);

/*
 * One stage each.  Input is a model's file, or the text of the stage before, which the stage may
 * change.  The result is in *out.
 */
/* tfl-partition.c and tosa-partition.c */
bool lib_tfl_partition(struct call *c, struct bytes model, struct text *out);
bool lib_tosa_partition(struct call *c, struct bytes model, struct text *out);
/* npu-sched.c, npu-wenc.c and npu-cmdgen.c */
bool lib_npu_sched(struct call *c, struct text *in, struct text *out);
bool lib_npu_wenc(struct call *c, struct text *in, struct text *out);
bool lib_npu_cmdgen(struct call *c, struct text *in, struct text *out);
/* npu-dis.c and npu-perf.c */
bool lib_npu_dis(struct call *c, struct bytes model, struct text *out);
bool lib_npu_perf(struct call *c, struct bytes model, struct text *out);

#endif
