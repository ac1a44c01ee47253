/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a model on inputs, frame after frame, and compares the outputs: the parts that
 * npu-sim and npu-run share, in running order.  Each group of functions stands under the
 * name of its file.
 */
#ifndef INFERENCE_INFERENCE_H
#define INFERENCE_INFERENCE_H

#include "base/file.h"
#include "base/npy.h"
#include "borders/borders.h"
#include "sim/sim.h"
#include "stream/stream.h"
#include "tflite/tflite.h"

#include <argp.h>

enum { MAX_FILES = 256, MAX_KINDS = 64, MAX_FRAMES = 1000000 };

struct files {
	const char *path[MAX_FILES];
	int n;
};

struct options {
	const char *model;
	struct files input, expect;
	const char *output_dir;
	const char *dump_dir;
	const char *compare;
	bool quiet; /* with `compare`: print nothing where all outputs are equal */
	uint64_t seed;
	bool has_seed;
	enum sim_values kind[MAX_KINDS]; /* of --inputs, one per frame in turn */
	int n_kinds; /* 0: all are random */
	bool require_outputs;
	bool any_size;
	bool trace, json;
	int frames; /* number of inferences in sequence */
	bool reset; /* variables are reset before each inference */
	unsigned jobs; /* threads for the inferences if reset is set */
	const struct spool *spool; /* for outputs of several frames; NULL: is opened by the run */
	struct sim_npu npu; /* executes the command streams */
	/*
	 * Called with npu.ctx before the run, for each model that will run; false: refuse
	 * the model.  NULL: accept all models.
	 */
	bool (*accept)(void *ctx, const struct tfl_model *m, struct err *e);
};

/*
 * options.c: rows of struct cli_option that the programs share; P is "", or names the member
 * of CLI_OPTIONS that is a struct options, as in o.
 */
#define INFERENCE_OPTIONS(P)								\
	{ CLI_TAKE_INTO("input", "FILE", P input, inference_take_file,			\
			"values of the next input, .npy or raw; repeat the option for "	\
			"each input of the model"), .key = 'i' },			\
	{ CLI_TAKE_INTO("expect", "FILE", P expect, inference_take_file,		\
			"expected values of the next output; fail (status 1) if the "	\
			"output differs"), .key = 'e' },				\
	{ CLI_NUMBER("seed", "N", P seed, 0, INT64_MAX,					\
		     "seed of the random inputs (default 0)"), .seen = CLI_SEEN(P has_seed) }, \
	{ CLI_TAKE("inputs", "KIND[,KIND...]", inference_take_kinds,			\
		   "values of generated inputs, one KIND per frame in turn: random, min, " \
		   "max or alternating; without --frames, run one frame per KIND") },	\
	{ CLI_FLAG("require-outputs", P require_outputs,				\
		   "fail (status 1) if an output depends on an operator that npu-sim "	\
		   "can't run") },							\
	{ CLI_FLAG("any-size", P any_size,						\
		   "run the model even if it needs far more memory or time than usual "	\
		   "for its file size") },						\
	{ CLI_NUMBER("frames", "N", P frames, 1, MAX_FRAMES,				\
		     "run N times: input and output files have a leading dimension N, and " \
		     "variables keep their values from frame to frame") },		\
	{ CLI_FLAG("reset", P reset,							\
		   "reset variables to their first values before each frame") },	\
	{ CLI_FLAG("json", P json, "print the report as JSON") }
void inference_take_file(void *files, const char *arg);
void inference_take_kinds(void *options, const char *arg); /* struct options comes first */
/* Rejects combinations of options, and sets values that follow from other options. */
void inference_check(struct options *o);

/* open.c: a model of any format, recognised by its first bytes */
struct tosa_graph;
struct model { /* one of the two pointers is set */
	struct tfl_model *tflite;
	struct tosa_graph *tosa;
	struct border_tensors borders; /* of a TOSA graph: none */
};
/* Reads the model at path ("-" or NULL: standard input). any_size: skip check_size. */
bool read_model(struct arena *a, const char *path, bool any_size, struct model *out,
		struct err *e);
/* compared: outputs of operators without a kernel are replaced by stand-ins */
bool open_model(struct arena *a, const struct model *m, bool compared, struct sim **out,
		struct err *e);
/* the number of runs of other that take the inputs of one run of m, a batch */
int32_t inputs_each(const struct model *m, const struct model *other);

/* size.c: fails if m needs too much memory or time for the size of its file */
bool check_size(const struct model *m, size_t file_bytes, const char *name,
		struct err *e);

/*
 * convert.c: true if one tensor is float32 and the other is quantized, with equally many
 * elements
 */
bool float_and_quantized(const struct tfl_tensor *a, const struct tfl_tensor *b);
/* equal types, or int8 and boolean, because npz has no types */
bool same_type(const struct tfl_tensor *a, const struct tfl_tensor *b);
/* t as float32 without quantization */
struct tfl_tensor as_float32(const struct tfl_tensor *t);
/* Converts with the kernels of QUANTIZE or DEQUANTIZE.  Fails if the kernel refuses. */
bool convert_type(const struct tfl_tensor *from, const void *in,
		  const struct tfl_tensor *to, void *out, struct err *e);
/* the quantized output of the QUANTIZE operator that reads a float input; NULL: none */
const struct tfl_tensor *behind_quantize(const struct tfl_subgraph *g, int tensor);

/* data.c: values from files into tensors, and from tensors into files */
struct values { /* the values of all frames, in consecutive memory */
	struct tfl_tensor value_tensor; /* type of the elements: that of the tensor, or float32 */
	size_t bytes;		/* of one frame */
	const uint8_t *p;	/* of any alignment; NULL: the values are in fd */
	int fd;			/* file with the values; -1: none */
	uint64_t at;		/* byte of fd at which they begin */
	const char *path;
	/* layout in memory of a raw file's values; NULL: plain values */
	const struct border_tensor *memory;
};

/*
 * Opens a .npy or raw file that must match the given number of frames of tensor t.
 * Floats in a .npy file match a quantized tensor, too.  A raw file has the layout x of
 * the tensor in memory; x NULL: no layout.  With several frames, a regular file stays
 * open, and its values are read when they are needed.
 */
bool read_values(struct arena *a, const char *path, const struct tfl_tensor *t,
		 const struct border_tensor *x, int frames, struct values *out, struct err *e);
/* The same of one frame of a file in memory, whose name is for messages; a raw file is plain. */
bool take_values(struct bytes file, const char *name, const struct tfl_tensor *t,
		 struct values *out, struct err *e);
/* converts the values of one frame to the own type of t, and writes them to `to` */
bool put_values(const struct values *v, int frame, const struct tfl_tensor *t, void *to,
		struct err *e);
/* reads the v->bytes bytes of one frame */
bool frame_values(const struct values *v, int frame, void *to, struct err *e);

struct inputs { /* the source of the next frame's inputs */
	struct values *file; /* one per input; NULL: made values */
	const int64_t *n_indices; /* per input, made values are below this; 0: any value */
	const struct options *o;
	uint64_t random;     /* state of the generator */
	int frame;	     /* number of the next frame */
};

/* with: the plain model that m is compared with; NULL: none, or a TOSA graph */
bool open_inputs(struct arena *a, struct inputs *in, const struct tfl_model *m,
		 const struct tfl_model *with, const struct border_tensors *x,
		 const struct options *o, struct err *e);
/*
 * Writes the next frame's inputs of g, each in the tensor's own type; to[k] is for
 * input k.
 */
bool next_inputs(const struct tfl_subgraph *g, struct inputs *in, uint8_t *const *to,
		 struct err *e);
/* copies the inputs of run i of the n runs that process one batch of from */
bool copy_inputs(struct sim *from, struct sim *to, int i, int n, struct err *e);
/*
 * Write DIR/STEM_INDEX.npy. save_stack() puts a dimension for more than one frame in
 * front.
 */
bool save_npy(struct file_set *to, const struct tfl_tensor *t, const void *data,
	      const char *dir, const char *stem, int index, struct err *e);
bool save_stack(struct file_set *to, const struct tfl_tensor *t,
		const struct spool *data, int frames, const char *dir,
		const char *stem, int index, struct err *e);

/* judge.c: compares outputs, and describes the first difference */
struct judged {
	int frame, frames;
	const char *wanted; /* text of the message "element is 3, <wanted> 4" */
};

/* *out gets the expected values of each output, NULL if there are none. */
bool open_expectations(struct arena *a, struct values **out,
		       const struct tfl_model *m, const struct border_tensors *x,
		       const struct options *o,
		       struct err *e);
/*
 * Compares the outputs of s with frame j->frame of the expected values.  If they
 * differ, e has status 1. want NULL: no comparison.
 */
bool check_expectations(struct sim *s, const struct values *want,
			const struct judged *j, struct err *e);
/* compares the outputs of b with the joined outputs of the n runs a */
bool compare_models(struct sim *const *a, int n, struct sim *b, const struct judged *j,
		    struct err *e);
/* Fails if an output depends on an operator that can't run; e names the operator. */
bool outputs_computed(struct sim *s, struct err *e);

/* match.c: finds the tensor of the plain model that an NPU operation has written */
struct watch {
	struct file_set *files; /* for --dump */
	const struct options *options;
	struct sim *plain; /* has run on the same inputs; NULL: no --compare */
	int *order;	   /* outputs of the operators of `plain`, in execution order */
	int n_order;
	int64_t *seen; /* per tensor: number of elements found so far */
};

struct place {
	int tensor;
	bool all_rows, all_channels;
	int64_t y, h, c, n_c; /* first row, first channel; their numbers; unused if all */
};

struct watch *watch_open(struct arena *a, const struct options *o,
			 struct sim *plain);
/*
 * Find the tensor of the plain model, or its part, that has the values of an NPU
 * operation's OFM, or of tensor index of s.  Return false if there is none.
 */
bool match_feature_map(struct watch *w, const struct sim_npu_event *ev,
		       struct place *at);
bool match_tensor(struct watch *w, struct sim *s, int index, struct place *at);

/* frames.c: inferences, in sequence or in parallel */
struct run { /* a run of one model, or of two that are compared, over all frames */
	struct arena *a;
	const struct options *o;
	struct model model, with; /* with: the model for --compare */
	const struct tfl_model *m; /* tensors of model; set by open_frames */
	struct round *round; /* the workers and their frames */
	struct sim *s, *other; /* simulators of the last frame; set by run_frames */
	struct inputs in;
	struct values *expect;
	struct file_set *files; /* output files: all are written, or none */
	/* outputs of all frames, one spool per output in one file; NULL: a single frame */
	struct spool *stacked;
	struct spool file; /* of stacked, if the run has opened the file; fd 0: no file */
	struct err verdict;    /* the first difference from the expected outputs */
};
/*
 * Opens the models of all workers. run_frames() runs all frames; close_frames() is
 * called even after a failure.
 */
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
void print_unseen(const struct watch *w); /* prints plain tensors that no NPU operation wrote */
bool print_outputs(struct text *x, const struct run *r, struct err *e);
bool print_json(struct text *x, const struct run *r, struct err *e);

#endif
