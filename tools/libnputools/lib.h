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
#include "target/part.h"

#include <pthread.h>
#include <stdatomic.h>

/* All blocks of a call. */
struct memory {
	pthread_mutex_t lock;
	struct header *first;
};

/* The state of one call of a public function. */
struct call {
	struct arena *a;
	struct err e; /* e.notes is &notes */
	struct text notes, out;
	const struct nputools_options *options; /* of the caller; NULL: none */
	bool (*run)(struct call *c, void *ctx);
	struct nputools_options o; /* complete: absent members have their defaults */
	struct part_needs needs; /* of the plan, without constants */
	bool has_model; /* the input is a model, and no text between two stages */
	int subgraph;	    /* the body that tfl-partition takes; 0: the model */
	struct bytes *body; /* by subgraph: compiled bodies; n 0: none */
	int n_bodies;	    /* subgraphs of the model with bodies; 0: none */
	int64_t bodies_arena; /* at most, in bytes */
	struct memory memory;
	pthread_t thread; /* of the caller, which runs its function progress */
	int64_t told;	  /* when progress was called last, in ms */
	/* part of the work that is done: now, and at the begin and the end of the stage */
	double done, begin, end_of_stage;
	atomic_int end; /* why the call ends early: of enum nputools_code; 0: it goes on */
	/* codes of the errors of this stage: EXIT_NO and EXIT_TROUBLE */
	enum nputools_code no, trouble;
};

/* call.c */
/*
 * A whole public function: completes the options (NULL: all defaults), calls run, moves the
 * results to *out, and returns the status.
 */
int call_whole(const struct nputools_options *o, bool (*run)(struct call *c, void *ctx),
	       void *ctx, struct nputools_output *out);
/*
 * Copies a struct of the caller, whose first member is its size.  to has all bytes, which are 0;
 * sizes are those of the versions that a caller may know.
 */
bool call_copy(struct call *c, const char *name, const size_t *sizes, size_t n_sizes, void *to,
	       size_t all, const void *from);
/* False, with an error, if v is less than 0 or more than max. */
bool call_check_number(struct call *c, const char *name, int64_t v, int64_t max);
/* False, with an error, if the bytes of the caller's model are missing. */
bool call_check_model(struct call *c, struct bytes model);
/*
 * progress.c: begins a stage, after which the part `end` of the call is done; no and trouble
 * are the codes of its errors.
 */
void call_stage(struct call *c, double end, enum nputools_code no, enum nputools_code trouble);
/* call.c: for messages, the name of a file between two stages, "NAME.suffix", or that of the model, if
 * the caller sees no such file. */
const char *call_file(struct call *c, const char *suffix);

/* memory.c: begin and end of a call's memory; memory_close() frees all blocks. */
void memory_open(struct memory *m);
void memory_close(struct memory *m);
/* Allocates a result of n zero bytes, which memory_free() frees; NULL: memory is exhausted. */
void *memory_result(const struct nputools_options *o, size_t n);
void memory_free(void *p);

/*
 * One stage each.  Input is a model's file, or the text of the stage before, which the stage may
 * change.  The result is in *out.
 */
/* tfl-quantcheck.c: false, with an error, if a TFLite model breaks a rule that allow does not name */
bool lib_tfl_quantcheck(struct call *c, struct bytes model);
/* tfl-partition.c and tosa-partition.c */
bool lib_tfl_partition(struct call *c, struct bytes model, struct text *out);
bool lib_tosa_partition(struct call *c, struct bytes model, struct text *out);
/* Replaces *model by the network between cut_inputs and cut_outputs of the options. */
bool lib_tfl_partition_cut(struct call *c, struct bytes *model);
/* the report of tfl-partition --report --json */
bool lib_tfl_partition_report(struct call *c, struct bytes model, struct text *out);
/* npu-sched.c, npu-wenc.c and npu-cmdgen.c */
bool lib_npu_sched(struct call *c, struct text *in, struct text *out);
/* the rows of npu-sched --front --json */
bool lib_npu_sched_front(struct call *c, struct text *in, struct text *out);
bool lib_npu_wenc(struct call *c, struct text *in, struct text *out);
bool lib_npu_cmdgen(struct call *c, struct text *in, struct text *out);
/* tfl-quantize.c: samples and how are the caller's; how is complete */
struct samples {
	const struct nputools_buffer *buffer;
	size_t n;
};
bool lib_tfl_quantize(struct call *c, struct bytes model, const struct samples *samples,
		      const struct nputools_quantization *how, struct text *out);
/* npu-dis.c and npu-perf.c */
bool lib_npu_dis(struct call *c, struct bytes model, struct text *out);
bool lib_npu_perf(struct call *c, struct bytes model, struct text *out);

#endif
