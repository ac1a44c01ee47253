/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model as C for the firmware.  In running order: npu.c, plan.c, tflm.c and
 * call_plan.c find the facts, array.c writes the bytes, header.c and interface.c
 * the macros, resolver.c the operator list, call_declare.c and call_steps.c a
 * network as a C function, compose.c puts a file together.
 */
#ifndef TFL2C_H
#define TFL2C_H

#include "stream/ends.h"
#include "stream/stream.h"
#include "tflite/tflite.h"

enum dialect { DIALECT_ALIF, DIALECT_MLEK, DIALECT_CMSIS, DIALECT_XXD };
enum format { FORMAT_HEADER, FORMAT_SOURCE, FORMAT_ASM, FORMAT_CALL };

enum { MAX_EXPRESSIONS = 64 };

struct options {
	const char *file, *output, *resolver_file, *incbin;
	const char *name;      /* of the array */
	const char *name_of;   /* file that gives it its name; NULL: name does */
	const char *guard;     /* NULL: from the name */
	const char *section;   /* NULL: none */
	const char *section_macro; /* or what the firmware calls it; NULL: none */
	const char *shared_arena;  /* of several headers; NULL: the dialect's macro */
	const char *namespaces; /* "a::b" or NULL */
	const char *memory_mode; /* NULL: not said */
	const char *part;	 /* NULL: not said */
	const char *expression[MAX_EXPRESSIONS]; /* C++ before the array */
	const char *labels_file; /* of the evaluation kit; NULL: none */
	int n_expressions;
	int align;
	int64_t arena_limit, model_limit; /* bytes; 0: none */
	enum dialect dialect;
	enum format format;
	bool declarations; /* a header without the bytes */
	bool resolver;
};

/* ---- npu.c: what the ethos-u operators say ---------------------------- */

struct npu_facts {
	int n_ops; /* ethos-u operators; the rest is 0 if there are none */
	const struct accel *accel;
	uint32_t config, id; /* words of the payload: ethosu-commands(7) 14.3 */
	int64_t constant_bytes, scratch_bytes, fast_bytes;
	unsigned regions;    /* bit k: a stream names region k */
	/* where one operator is the whole model: place in the file, aligned */
	bool alone;
	size_t stream_at, stream_bytes, constant_at;
};

/* fails where streams are for different NPUs */
bool npu_facts(struct arena *a, const struct tfl_model *m,
	       struct npu_facts *out, struct err *e);

/* the driver's QCONFIG, REGIONCFG_0, _1, _2 in a memory mode */
struct region_config {
	const char *mode;
	int qconfig, region[3];
};
extern const struct region_config region_configs[];
extern const int n_region_configs;
const struct region_config *region_config(const char *mode); /* or NULL */

/* ---- plan.c: how large the tensor arena has to be ---------------------- */

struct tensor_plan {
	const int32_t *offset; /* of subgraph 0's tensors; -1: not planned */
	int64_t plan_bytes;    /* extent of OfflineMemoryAllocation */
	int64_t tensor_bytes;  /* the above and what TFLM will place itself, its
				  kernels' scratch buffers among it */
	int64_t variable_bytes;
	int64_t runtime_bytes; /* TFLM's records, or its planning where that is more */
	int64_t arena_bytes;   /* the sum, a multiple of 16 */
	int n_tensors, n_ops;
};

bool plan_arena(struct arena *a, const struct tfl_model *m,
		struct tensor_plan *out, struct err *e);

/*
 * A place for every tensor of a subgraph that holds values while the network runs,
 * by the same rule, in bytes from the arena's start: at[i], -1 for constants, what has
 * no bytes and what offset[i] says is ELSEWHERE.  Variables have a place of their own.
 * Returns the bytes of all.
 */
enum { ELSEWHERE = -2 };
int64_t plan_tensors(struct arena *a, const struct tfl_subgraph *g,
		     const int32_t *offset, int64_t *at);

/* ---- tflm.c: what TensorFlow Lite Micro takes for itself ------------------ */

#define TFLM_REVISION "90b983c2b (2026-08-20)" /* that the sizes are of */
enum { TFLM_MAX_SCRATCH = 4 };

/* buffers that the reference kernel of op asks for: how many, and their bytes */
int tflm_scratch(const struct tfl_subgraph *g, const struct tfl_op *op,
		 int64_t *bytes);
/*
 * Bytes of an arena, aligned to 16, that hold neither tensors (head_bytes of
 * them) nor variables: so many that AllocateTensors() does not fail.
 */
int64_t tflm_runtime_bytes(const struct tfl_model *m, int64_t head_bytes,
			   int64_t variable_bytes);

/* ---- call_plan.c: a network as a sequence of calls ------------------------- */

/* how an operator of the sequence is done */
enum step {
	STEP_NPU,	 /* a call of the driver */
	STEP_COPY,	 /* rows of bytes */
	STEP_QUANTIZE,	 /* from float */
	STEP_REQUANTIZE, /* from integers */
	STEP_DEQUANTIZE,
	STEP_FUNCTION, /* of the firmware */
	STEPS
};

struct call_plan {
	const enum step *step; /* of subgraph 0's operators */
	bool has[STEPS];
	const int64_t *at; /* of its tensors: plan_tensors */
	int64_t arena_bytes;
};

/*
 * Fails, naming the operator, on what has no bytes to hand on, on a plan that
 * overlays what an operator reads and writes, and on data that are not aligned in
 * the file as the driver or their type wants it.
 */
bool plan_call(struct arena *a, const struct tfl_model *m,
	       const struct tensor_plan *t, struct call_plan *out, struct err *e);

/* rows of an operator that copies: its input or output number part */
struct rows {
	int in, out; /* tensors */
	int64_t n, bytes, in_step, out_step, in_at, out_at;
};
/* how many parts: STEP_COPY only */
int copy_parts(const struct tfl_op *op);
/* at: bytes of a row that the parts before it take */
struct rows copy_rows(const struct tfl_subgraph *g, const struct tfl_op *op,
		      int part, int64_t at);

/* ---- array.c ------------------------------------------------------------ */

/* "0x1c, 0x00, ..." with indent in front of each line of per_line bytes */
void put_bytes(struct text *t, struct bytes b, int per_line,
	       const char *indent);

/* ---- resolver.c: operators by kind ---------------------------------------- */

enum { MAX_KINDS = 256 };
struct op_kinds {
	int n;
	const struct tfl_op *op[MAX_KINDS]; /* the first of each kind */
};

bool resolver_kinds(const struct tfl_model *m, struct op_kinds *k,
		    struct err *e);

/* ---- labels.c: names of classes, the evaluation kit's way ------------------- */

struct labels {
	bool wanted;
	const char **name;
	int n;
};
/* a name a line; '#' has no meaning */
bool read_labels(struct arena *a, const char *path, struct labels *out,
		 struct err *e);
struct job;
void put_labels(struct text *t, const struct job *j);
void put_labels_declaration(struct text *t);

/* ---- compose.c ------------------------------------------------------------ */

struct job {
	const struct options *o;
	const struct tfl_model *m;
	struct npu_facts npu;
	struct tensor_plan plan;
	struct ends ends; /* batch and layouts of inputs and outputs */
	struct op_kinds kinds;
	struct call_plan call; /* of FORMAT_CALL */
	struct labels labels;
	const char *prefix; /* of macros: the name in upper case */
};

void compose(struct text *t, const struct job *j);
void compose_resolver(struct text *t, const struct job *j);

/* ---- header.c, invoke.c, interface.c, resolver.c, state.c --------------------------- */

void put_memory_macros(struct text *t, const struct job *j);
void put_npu_macros(struct text *t, const struct job *j);
void put_invoke(struct text *t, const struct job *j);
void put_interface(struct text *t, const struct job *j);
void put_state(struct text *t, const struct job *j);
/* is the network one call of the driver, with all that it touches in its scratch? */
bool can_invoke(const struct job *j);
void put_resolver(struct text *t, const struct job *j);

/* ---- separate.c: inputs and outputs outside of the arena --------------------- */

bool any_separate(const struct job *j);
bool has_fast(const struct job *j); /* does the stream use region 2? */
int count_bases(const struct job *j); /* base addresses that the driver gets */
/* ", const void *input_0, void *output_0"; ", input_0, output_0" */
void put_separate_parameters(struct text *t, const struct job *j);
void put_separate_arguments(struct text *t, const struct job *j);
/* into base[] and size[], from the parameters; cast(p) makes a number of a pointer */
void put_separate_bases(struct text *t, const struct job *j, const char *cast);

/* layout.c: io is INPUT_0 and the like; nothing for a tensor that has no layout */
void put_layout(struct text *t, const struct job *j, const char *io, const struct end *x);

/* ---- call_declare.c, call_steps.c: FORMAT_CALL ----------------------------- */

/* what the firmware calls, and what it provides */
void put_call_declarations(struct text *t, const struct job *j);
/* NAME_op3_softmax */
void put_call_name(struct text *t, const struct job *j, int op);
/* the return type, name and parameters of the call, and of its reset */
void put_call_head(struct text *t, const struct job *j, const char *separator);
void put_reset_head(struct text *t, const struct job *j, const char *separator);
/* helpers, then the function */
void put_call_function(struct text *t, const struct job *j);
int count_variables(const struct tfl_subgraph *g);

/* state.c: the byte to which the runtime sets a variable */
int variable_fill(const struct tfl_tensor *t);

/* ---- interface.c --- */

/* of C; NULL: none */
const char *c_type(int type);
/* a comment, and TYPE, RANK, SHAPE, ELEMENTS, BYTES behind PREFIX_io */
void put_tensor_macros(struct text *t, const struct job *j, const char *io,
		       const struct tfl_tensor *x);
bool is_quantized(const struct tfl_tensor *x);
/* SCALE and ZERO_POINT behind PREFIX_io, of one that is */
void put_scale(struct text *t, const struct job *j, const char *io,
	       const struct tfl_tensor *x);
/* a float constant that reads back exactly: "1.0f", "1e-05f" */
void put_float(struct text *t, float v);

/* ---- header.c --- */

/*
 * ETHOS_LABEL(name): an assembler's name for what is called as its section.  IAR's
 * compiler writes objects without one.
 */
void put_label_macro(struct text *t);

/* #define PREFIX_WHAT value */
void put_define(struct text *t, const struct job *j, const char *what,
		int64_t value);
/* text from a model, safe inside a comment */
void put_comment_text(struct text *t, const char *s);

/* resolver.c: those that TensorFlow Lite Micro has no Add...() for */
void resolver_missing(struct text *t, const struct op_kinds *k);

#endif
