/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libnputools: quantizes and compiles models for Arm Ethos-U NPUs, and verifies, runs and
 * prices what it compiled, inside of another program.  The functions do what the programs
 * tfl-quantize, npucc, npu-dis --verify, npu-sim and npu-perf do (nputools(7)); the same input
 * and options give the same bytes.
 *
 * The functions work from memory to memory.  They read no file, write to no stream, end no
 * process for a fault of their arguments, and set no signal handler and no locale.  Several
 * threads may call them at once: two calls share nothing but what the caller passes, which
 * the functions do not change.  The threads of the member jobs belong to one call, and have
 * ended when the call returns.  1 MiB of the thread's stack is enough for a call.
 *
 * If no memory is left, or if the caller cancels the call, all threads of the call end their
 * work, the call frees its memory, and fails with NPUTOOLS_TROUBLE.
 *
 * A model may come from anywhere: every function checks the whole model before it uses it.
 *
 * Every function that takes a struct nputools_output returns one of enum nputools_status,
 * and always sets the whole struct, which the caller then passes to nputools_free():
 *
 *	struct nputools_options o = { .size = sizeof(o), .accelerator = "ethos-u55-128",
 *				      .system_config = "Ethos_U55_High_End_Embedded",
 *				      .memory_mode = "Shared_Sram" };
 *	struct nputools_output out;
 *	if (nputools_compile(&o, model, n, &out) == NPUTOOLS_YES)
 *		use(out.data, out.size);
 *	else
 *		fputs(out.messages, stderr);
 *	nputools_free(&out);
 */
#ifndef NPUTOOLS_H
#define NPUTOOLS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define NPUTOOLS_API __attribute__((visibility("default")))
#else
#define NPUTOOLS_API
#endif

enum nputools_status {
	NPUTOOLS_YES = 0,     /* done, or the answer is yes */
	NPUTOOLS_NO = 1,      /* the answer is no: a rule is broken, a limit cannot be met */
	NPUTOOLS_TROUBLE = 2, /* a model or an argument is at fault */
};

/* What failed, for a program; messages says the same for people. */
enum nputools_code {
	NPUTOOLS_OK = 0,
	NPUTOOLS_ERROR_INPUT = 1,	/* a model, an option or an argument is at fault */
	NPUTOOLS_ERROR_UNSUPPORTED = 2, /* the model is valid, but needs what the library or
					 * the NPU does not have */
	NPUTOOLS_ERROR_DOES_NOT_FIT = 3, /* no plan stays within the limits of the options */
	NPUTOOLS_ERROR_MEMORY = 4,	/* the system, or the function allocate, has no memory */
	NPUTOOLS_ERROR_CANCELLED = 5,	/* the function progress ended the call */
	NPUTOOLS_ERROR_INTERNAL = 6,	/* a fault of the library: please report it */
};

/* The results of a call.  nputools_free() frees them. */
struct nputools_output {
	void *data;	/* the result; NULL if size is 0 */
	size_t size;	/* bytes of data */
	char *messages; /* notes, warnings, and last the error: a line each, with a newline; ""
			 * if there are none; NULL only after nputools_free() */
	int code;	/* of enum nputools_code; NPUTOOLS_OK with NPUTOOLS_YES */
};

/* How values become the ranges of feature maps. */
enum nputools_ranges {
	NPUTOOLS_RANGES_MINMAX = 0,	    /* least and greatest value */
	NPUTOOLS_RANGES_MOVING_AVERAGE = 1, /* mean of the samples' least and greatest values */
	NPUTOOLS_RANGES_PERCENTILE = 2,	    /* without the 0.005 % at each end */
	NPUTOOLS_RANGES_MSE = 3,	    /* with the least squared error */
	NPUTOOLS_RANGES_ENTROPY = 4,	    /* with the least change of the distribution */
};

enum nputools_goal {
	NPUTOOLS_PERFORMANCE = 0, /* the fewest cycles */
	NPUTOOLS_SIZE = 1,	  /* the least memory, then the fewest cycles */
	NPUTOOLS_BALANCED = 2,	  /* a compromise of both */
};

/*
 * Options of nputools_compile() and nputools_estimate().  Set size and then only the members
 * that you need: zero is the default of every other member.  Later versions add members at
 * the end; size tells the library which of them the caller knows.
 */
struct nputools_options {
	size_t size;		   /* sizeof(struct nputools_options) */
	const char *name;	   /* file name of the model, for messages and for the source
				    * map in the compiled model; NULL: "model.tflite" */
	const char *accelerator;   /* "ethos-u55-32" to "ethos-u85-2048"; NULL: that of part */
	const char *system_config; /* profile of clock and memory speeds; NULL: that of part */
	const char *memory_mode;   /* memories of constants, arena, cache; NULL: as above */
	const char *part;	   /* a chip of npu-sched --list-parts; NULL: none */
	int optimise;		   /* of enum nputools_goal */
	int effort;		   /* of the search, 1 to 9; 0: 3 */
	int level;		   /* compression of weights, 1 to 9; 0: 6 */
	unsigned jobs;		   /* threads for one call, up to 64; 0: only the caller's.  The
				    * result is the same for all numbers. */
	int64_t arena_cache_size;  /* limit of the SRAM for the arena in bytes; 0: that of the
				    * part or of the profile */
	int64_t max_cycles;	   /* least SRAM within so many cycles; 0: no limit */
	int fail_on_cpu;	   /* not 0: NPUTOOLS_NO if an operator must run on the CPU;
				    * a TOSA graph is refused in any case */
	int no_map;		   /* not 0: the compiled model has no source map */
	int allow_overflow;	   /* not 0: a model that the memories of part do not hold is
				    * accepted, for boards with external memory */
	double within;		   /* percent: a plan may take so many more cycles than the fastest
				    * one if it needs less memory; 0: that of npu-sched(1) for the
				    * goal and the limit; below 0: the fastest plan */
	/*
	 * Called by the thread of the caller, at least ten times a second, with the part of
	 * the work that is done, from 0 to 1.  Another result than 0 cancels the call.  The
	 * function must return, and call no function of the library.  NULL: none.
	 */
	int (*progress)(void *progress_context, double done);
	void *progress_context;
	/*
	 * Allocate and free the memory of the call and of its results, in place of malloc()
	 * and free().  Several threads of the call may call them at once.  A block is aligned
	 * as those of malloc(); NULL: no memory is left.  Both or none are NULL.  What the C
	 * library allocates for threads and locales is not included.
	 */
	void *(*allocate)(void *memory_context, size_t size);
	void (*release)(void *memory_context, void *block);
	void *memory_context;
	int64_t yield_every; /* cycles: divide the command stream into operators of at most so many
			      * cycles, where that is possible; 0: do not divide it */
	int allow_unequal_quantization; /* not 0: operators that copy or compare values may have
					 * unequal scales; they copy the integers without a change */
	int integer_io;		 /* not 0: leave out QUANTIZE and DEQUANTIZE at float inputs and outputs
				  * of a TFLite model */
	const char *cpu;	 /* "OP,OP": operators of a TFLite model that stay on the CPU, by name
				  * (CONV_2D) or index; NULL: none */
	const char *no_rewrite;	 /* "NAME,NAME": rules of nputools-rewrites(7) that are not applied, or
				  * "all"; NULL: all are applied */
	const char *cut_inputs;	 /* "TENSOR,TENSOR" of a TFLite model, by name or number: compile only the
				  * network behind them; NULL: from its inputs */
	const char *cut_outputs; /* the same: only the network before them; NULL: to its outputs */
	const char *allow;	 /* "RULE,RULE" of tfl-quantcheck(1): accept a TFLite model that breaks
				  * them, such as "float-operator"; NULL: all operators are integer */
};

/* One input or output of a model: its values in memory, little-endian. */
struct nputools_buffer {
	const void *data;
	size_t size; /* bytes */
};

/*
 * How nputools_quantize() makes integers, as the options of tfl-quantize(1).  Set size and then
 * only the members that you need: zero is the default of every other member.
 */
struct nputools_quantization {
	size_t size;		/* sizeof(struct nputools_quantization) */
	int ranges;		/* of enum nputools_ranges */
	int wide;		/* not 0: INT16 feature maps with INT8 weights; 0: INT8 */
	int float_interface;	/* not 0: inputs and outputs stay FLOAT32 */
	int no_fold;		/* not 0: keep all operators */
	int equalize;		/* not 0: equal ranges in the weights of consecutive layers */
	int bias_correction;	/* not 0: correct biases by the mean error of the weights */
	int per_channel_fc;	/* not 0: one scale per output channel of FULLY_CONNECTED */
	unsigned frames;	/* samples of one sequence, in which variables keep their
				 * values, up to 1048576; 0: 1 */
	const char *allow;	/* "NAME,NAME": operators with these names may stay float if they
				 * have no integer version; "all": all; NULL: none */
	const char *keep_wide;	/* "PATTERN,PATTERN": operators that compute in 16 bits, by their
				 * name or by that of their output; NULL: none */
	double accuracy;	/* compute the fewest operators in 16 bits that keep the loss of
				 * accuracy on the samples at so many percent, up to 100; below 0:
				 * no loss; 0: all in 8 bits; output 0 must be one vector of classes */
};

/*
 * The version of this header, and that of the library which the program runs with.  Versions
 * of one NPUTOOLS_VERSION_MAJOR are compatible: a program may run with a later library.
 */
#define NPUTOOLS_VERSION_MAJOR 1
#define NPUTOOLS_VERSION_MINOR 0
#define NPUTOOLS_VERSION_PATCH 0
#define NPUTOOLS_VERSION_NUMBER \
	(NPUTOOLS_VERSION_MAJOR * 10000 + NPUTOOLS_VERSION_MINOR * 100 + NPUTOOLS_VERSION_PATCH)
NPUTOOLS_API const char *nputools_version(void); /* "1.0.0" */
NPUTOOLS_API int nputools_version_number(void);	 /* 10000 */

/*
 * Returns 1 if the library has a feature, else 0: "tosa", "threads", "progress",
 * "allocator", or the name of a function without "nputools_", such as "compile".  A name
 * that the library does not know is a feature that it does not have.
 */
NPUTOOLS_API int nputools_has(const char *feature);

/* Returns the name of a code, such as "does not fit"; "unknown" for other numbers. */
NPUTOOLS_API const char *nputools_code_name(int code);

/*
 * Compiles a quantized TFLite model or a TOSA graph.  out->data is a TFLite model whose "ethos-u" operators
 * replace the operators that the NPU runs: the bytes that npucc writes for a model of the
 * same name and options.  The library verifies the model's streams before it returns.
 * Requires accelerator, system_config and memory_mode, or part.
 *
 * NPUTOOLS_NO: a limit of the options cannot be met, or the model is not all integer and allow does
 * not accept that.  An integer model of which nothing can run on the NPU is no error: see
 * out->messages, or set fail_on_cpu.
 */
NPUTOOLS_API int nputools_compile(const struct nputools_options *options, const void *model,
				  size_t size, struct nputools_output *out);

/*
 * Says which operators of a TFLite model run on the NPU, and why others do not.  out->data is
 * the report of tfl-partition --report --json.  accelerator may be NULL: for all.
 */
NPUTOOLS_API int nputools_partition(const struct nputools_options *options, const void *model,
				    size_t size, struct nputools_output *out);

/*
 * Lists what plans cost: for more and more SRAM, the fewest cycles.  out->data is the report
 * of npu-sched --front --json.  Requires the same options as nputools_compile().
 */
NPUTOOLS_API int nputools_front(const struct nputools_options *options, const void *model,
				size_t size, struct nputools_output *out);

/*
 * Runs one stage of nputools_compile().  The input of the first is a model, that of the
 * others the result of the stage before; a caller may read and change the text between two
 * stages (nputools-graph(5)).
 */
enum nputools_stage {
	NPUTOOLS_PARTITION = 0, /* tfl-partition or tosa-partition */
	NPUTOOLS_SCHEDULE = 1,	/* npu-sched */
	NPUTOOLS_ENCODE = 2,	/* npu-wenc */
	NPUTOOLS_EMIT = 3,	/* npu-cmdgen: the result is a compiled model */
};
NPUTOOLS_API int nputools_stage(const struct nputools_options *options, int stage,
				const void *input, size_t size, struct nputools_output *out);

/*
 * Checks the command streams of a compiled model, of a .npz or of a packed stream by the
 * rules of npu-dis(1).  out->data is the report of npu-dis --verify --json, a text without a
 * NUL at its end.  NPUTOOLS_NO: a rule is broken.
 */
NPUTOOLS_API int nputools_verify(const struct nputools_options *options, const void *model,
				 size_t size, struct nputools_output *out);

/*
 * Runs a model once: a plain or compiled TFLite model, or a TOSA graph.  The results are meant to
 * be those of the device, bit for bit.  Variables start with their initial values.
 *
 * inputs has the n_inputs inputs of the model, in order: the values of its tensor, or
 * a file of NumPy's format .npy, whose type and shape are checked as in npu-sim -i.
 * The function sets the n_outputs elements of outputs, which must be the number of the
 * model's outputs, to the values in out->data.
 */
NPUTOOLS_API int nputools_simulate(const struct nputools_options *options, const void *model,
				   size_t size, const struct nputools_buffer *inputs,
				   size_t n_inputs, struct nputools_buffer *outputs,
				   size_t n_outputs, struct nputools_output *out);

/*
 * Estimates how long a compiled model takes, and what limits it.  out->data is the report of
 * npu-perf --json, a text without a NUL at its end.  The memory system is the one that the
 * model was compiled for, unless the options name another.
 */
NPUTOOLS_API int nputools_estimate(const struct nputools_options *options, const void *model,
				   size_t size, struct nputools_output *out);

/*
 * Quantizes a float TFLite model as tfl-quantize does: out->data is an integer model, which
 * nputools_compile() takes.  how NULL: all defaults.  Of options, only name, jobs, and the
 * functions for progress and memory count.
 *
 * samples has n_samples buffers, real inputs by which the ranges of the feature maps are
 * measured: the inputs of the first sample in the order of the model, those of the second
 * sample, and so on.  A buffer has the FLOAT32 values of its input, or is a file in NumPy's
 * format .npy, of any type, with as many values.  100 samples are usually enough.
 *
 * NPUTOOLS_NO: no choice of operators in 16 bits keeps the accuracy.
 */
NPUTOOLS_API int nputools_quantize(const struct nputools_options *options,
				   const struct nputools_quantization *how, const void *model,
				   size_t size, const struct nputools_buffer *samples,
				   size_t n_samples, struct nputools_output *out);

/* Frees the results of a call.  NULL and a struct of zeros are allowed. */
NPUTOOLS_API void nputools_free(struct nputools_output *out);

#ifdef __cplusplus
}
#endif

#endif
