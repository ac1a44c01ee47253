/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model run on inputs, frame after frame, and what it gives compared: what npu-sim and
 * npu-run share, in running order.  The functions stand under the name of their file.
 */
#ifndef INFERENCE_INFERENCE_H
#define INFERENCE_INFERENCE_H

#include "base/cli.h"
#include "base/file.h"
#include "base/npy.h"
#include "sim/sim.h"
#include "stream/ends.h"
#include "stream/stream.h"

#include <argp.h>

enum { MAX_FILES = 256, MAX_KINDS = 64 };

struct options {
	const char *model;
	const char *input[MAX_FILES];
	const char *expect[MAX_FILES];
	int n_input, n_expect;
	const char *output_dir;
	const char *dump_dir;
	const char *compare;
	uint64_t seed;
	bool has_seed;
	enum sim_values kind[MAX_KINDS]; /* of --inputs, frame by frame */
	int n_kinds; /* 0: all are random */
	bool require_outputs;
	bool any_size;
	bool trace, json;
	int frames; /* inferences, one behind the other */
	bool reset; /* variables begin anew in each of them */
	unsigned jobs; /* threads that they are divided among then */
	struct sim_npu npu; /* what runs command streams */
	/* asked before the run, with npu.ctx, about a model that it will run; or NULL */
	bool (*accept)(void *ctx, const struct tfl_model *m, struct err *e);
};

/* options.c: those that the programs have in common */
enum {
	OPT_COMPARE = 256, OPT_SEED, OPT_FRAMES, OPT_RESET, OPT_INPUTS, OPT_REQUIRE,
	OPT_ANY_SIZE, OPT_JSON, OPT_OWN /* the program's own begin here */
};
#define INFERENCE_OPTIONS                                                                    \
	{ .name = "input", .key = 'i', .arg = "FILE",                                        \
	  .doc = "next input's values, .npy or raw (repeat in model order)" },               \
	{ .name = "expect", .key = 'e', .arg = "FILE",                                       \
	  .doc = "expected values of the next output; exit 1 if they differ" },              \
	{ .name = "seed", .key = OPT_SEED, .arg = "N",                                       \
	  .doc = "random inputs from this seed (default 0)" },                               \
	{ .name = "inputs", .key = OPT_INPUTS, .arg = "KIND[,KIND...]",                      \
	  .doc = "inputs of the frames in turn: random, min, max, alternating; "             \
		 "without --frames, one frame for each" },                                   \
	{ .name = "require-outputs", .key = OPT_REQUIRE,                                     \
	  .doc = "exit 1 if an output depends on an operator that can't be run" },           \
	{ .name = "any-size", .key = OPT_ANY_SIZE,                                           \
	  .doc = "run a model although it asks for much more memory or time than its "       \
		 "file lets expect" },                                                       \
	{ .name = "frames", .key = OPT_FRAMES, .arg = "N",                                   \
	  .doc = "run N times: inputs and outputs have a leading dimension N, "              \
		 "variables keep their values from frame to frame" },                        \
	{ .name = "reset", .key = OPT_RESET,                                                 \
	  .doc = "variables begin anew in each frame" },                                     \
	{ .name = "json", .key = OPT_JSON, .doc = "print the report as JSON" }
/* takes one of them into o, or returns ARGP_ERR_UNKNOWN; at the end checks them */
error_t inference_option(int key, char *arg, struct argp_state *state, struct options *o);

/* open.c: a model of any form, told by its first bytes */
struct tosa_graph;
struct model { /* one of them */
	struct tfl_model *tflite;
	struct tosa_graph *tosa;
	struct ends ends; /* of a TOSA graph: none */
};
/* "-" or NULL: standard input; any_size: what check_size refuses, too */
bool read_model(struct arena *a, const char *path, bool any_size, struct model *out,
		struct err *e);
/* compared: operators without a kernel are stood in for */
bool open_model(struct arena *a, const struct model *m, bool compared, struct sim **out,
		struct err *e);
/* a run of m takes a batch: how many runs of the other one that is */
int32_t inputs_each(const struct model *m, const struct model *other);

/* size.c: is what m asks for in proportion to its file? */
bool check_size(const struct model *m, size_t file_bytes, const char *name,
		struct err *e);

/* forms.c: one value as float32 and as a quantized tensor's integers */
bool are_forms(const struct tfl_tensor *a, const struct tfl_tensor *b);
/* equal types, or a byte that the other form calls a boolean: npz has no types */
bool same_type(const struct tfl_tensor *a, const struct tfl_tensor *b);
struct tfl_tensor float_form(const struct tfl_tensor *t);
/* by QUANTIZE or DEQUANTIZE; false where their kernel refuses */
bool convert_form(const struct tfl_tensor *from, const void *in,
		  const struct tfl_tensor *to, void *out, struct err *e);
/* what a QUANTIZE operator makes of a float input; NULL: none reads it */
const struct tfl_tensor *behind_quantize(const struct tfl_subgraph *g, int tensor);

/* data.c: values into and out of tensors */
struct values { /* of all frames, one behind the other */
	struct tfl_tensor form; /* what its elements are: the tensor's, or floats */
	size_t bytes;		/* of one frame */
	const uint8_t *p;	/* of any alignment; NULL: they are in a file, */
	int fd;			/* ... this one, */
	uint64_t at;		/* ... from this byte on */
	const char *path;
	const struct end *memory; /* they lie as in memory: a raw file's; NULL: values */
};

/*
 * A .npy or raw file that must suit so many frames of tensor t.  Floats in a
 * .npy file suit a quantized tensor, too.  A raw file is what lies in memory, of a
 * tensor with a layout x (NULL: it has none), too.  Of several frames a regular file stays
 * open, and nothing of it is in memory.
 */
bool read_values(struct arena *a, const char *path, const struct tfl_tensor *t,
		 const struct end *x, int frames, struct values *out, struct err *e);
/* those of one frame: v->bytes of them */
bool frame_values(const struct values *v, int frame, void *to, struct err *e);

struct inputs { /* where those of the next frame come from */
	struct values *file; /* of each input; NULL: random values */
	const int64_t *n_indices; /* ... of which each is one of so many; 0: of any */
	const struct options *o;
	uint64_t random;     /* the generator's state */
	int frame;	     /* the next */
};

/* with: the plain model, if m is compared with one that is no TOSA graph */
bool open_inputs(struct arena *a, struct inputs *in, const struct tfl_model *m,
		 const struct tfl_model *with, const struct ends *x,
		 const struct options *o, struct err *e);
/* the next frame's of g, in each tensor's own form, to to[k] of input k */
bool next_inputs(const struct tfl_subgraph *g, struct inputs *in, uint8_t *const *to,
		 struct err *e);
/* those of input i of n that one run takes */
bool copy_inputs(struct sim *from, struct sim *to, int i, int n, struct err *e);
/* its name in dir is that of save_npy; frames > 1: in front of the dimensions */
bool save_npy(struct file_set *to, const struct tfl_tensor *t, const void *data,
	      const char *dir, const char *stem, int index, struct err *e);
bool save_stack(struct file_set *to, const struct tfl_tensor *t,
		const struct spool *data, int frames, const char *dir,
		const char *stem, int index, struct err *e);

/* judge.c: equal or not, and where */
struct judged {
	int frame, frames;
	const char *wanted; /* "element is 3, <wanted> 4" */
};

/* the expected values of each output; NULL where none are given */
bool open_expectations(struct arena *a, struct values **out,
		       const struct tfl_model *m, const struct ends *x,
		       const struct options *o,
		       struct err *e);
bool check_expectations(struct sim *s, const struct values *want,
			const struct judged *j, struct err *e);
/* the outputs of b, against those of the n of a behind each other */
bool compare_models(struct sim *const *a, int n, struct sim *b, const struct judged *j,
		    struct err *e);
/* did operators that can be run compute all outputs?  If not, e says which not */
bool outputs_computed(struct sim *s, struct err *e);

/* match.c: what an NPU operation wrote, as a tensor of the plain model */
struct watch {
	struct file_set *files; /* of --dump */
	const struct options *options;
	struct sim *plain; /* has run on the same inputs; NULL: no --compare */
	int *order;	   /* its operators' outputs in execution order */
	int n_order;
	int64_t *seen; /* elements of each of its tensors found so far */
};

struct place {
	int tensor;
	bool all_rows, all_channels;
	int64_t y, h, c, n_c; /* those of it otherwise */
};

struct watch *watch_open(struct arena *a, const struct options *o,
			 struct sim *plain);
bool match_feature_map(struct watch *w, const struct sim_npu_event *ev,
		       struct place *at);
bool match_tensor(struct watch *w, struct sim *s, int index, struct place *at);

/* frames.c: inferences, one behind the other or side by side */
struct run { /* of one model, or of two that are compared, over all frames */
	struct arena *a;
	const struct options *o;
	struct model model, with; /* with: what it is compared with, if --compare */
	const struct tfl_model *m; /* the first one's tensors, from open_frames on */
	struct round *round; /* what runs them */
	struct sim *s, *other; /* those of the last frame, from run_frames on */
	struct inputs in;
	struct values *expect;
	struct file_set *files; /* that it leaves: all of them or none */
	struct spool *stacked; /* outputs of all frames; NULL: there is one frame */
	struct err verdict;    /* what is not as expected: the first */
};
bool open_frames(struct run *r, struct err *e);
bool run_frames(struct run *r, struct err *e);
void close_frames(struct run *r);

/*
 * run.c: all of it, from the model's file to the files of outputs; with an error of status
 * EXIT_NO if outputs are not as expected
 */
bool run_model(struct arena *a, const struct options *o, struct err *e);

/* report.c */
void print_operator(struct watch *w, struct sim *s, int op_index);
void print_npu_event(void *watch, const struct sim_npu_event *ev);
void print_unseen(const struct watch *w); /* plain tensors that never appeared */
bool print_outputs(struct text *x, const struct run *r, struct err *e);
bool print_json(struct text *x, const struct run *r, struct err *e);

#endif
