/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a model as C for the firmware.  In running order: npu.c, plan.c, tflm.c and
 * call_plan.c compute the facts.  array.c writes the bytes, header.c and interface.c
 * the macros, resolver.c the operator list.  call_declare.c and call_steps.c write a
 * network as a C function.  compose.c assembles a file.
 */
#ifndef TFL2C_H
#define TFL2C_H

#include "base/text.h"
#include "borders/borders.h"
#include "stream/stream.h"
#include "target/part.h"
#include "tflite/tflite.h"

struct target_part;

enum dialect { DIALECT_ALIF, DIALECT_MLEK, DIALECT_CMSIS, DIALECT_XXD };
enum format { FORMAT_HEADER, FORMAT_SOURCE, FORMAT_ASM, FORMAT_CALL };

enum { MAX_EXPRESSIONS = 64 };

struct options {
	const char *file, *output, *resolver_file, *incbin;
	const char *name;      /* of the array */
	const char *name_of;   /* file to name the array after; NULL: use name */
	const char *guard;     /* NULL: made from the name */
	const char *section;   /* NULL: none */
	const char *section_macro; /* macro of the firmware for the section; NULL: none */
	/* name of the arena for several headers; NULL: the dialect's macro */
	const char *shared_arena;
	const char *namespaces; /* "a::b" or NULL */
	const char *memory_mode; /* NULL: option not used */
	const char *part;	 /* NULL: option not used */
	const struct target_part *chip; /* without it: of the compiled model; NULL: none */
	const char *expression[MAX_EXPRESSIONS]; /* C++ declarations before the array */
	const char *labels_file; /* labels of the evaluation kit; NULL: none */
	int n_expressions;
	int align;
	int64_t arena_limit, model_limit; /* bytes; 0: none */
	enum dialect dialect;
	enum format format;
	bool declarations; /* write a header without the bytes */
	bool resolver;
	bool profile; /* FORMAT_CALL: time each operator */
	bool allow_overflow; /* of the part's memories */
};

/* ---- npu.c: facts about the ethos-u operators ------------------------- */

struct npu_facts {
	int n_ops; /* number of ethos-u operators; if 0, all other members are 0 */
	const struct accel *accel;
	uint32_t config, id; /* words of the payload: ethosu-commands(7) 14.3 */
	int64_t constant_bytes, scratch_bytes, fast_bytes;
	unsigned regions;    /* bit k: a stream uses region k */
	/*
	 * alone: one operator is the whole model, and its data is aligned in the file;
	 * then the offsets of its data in the file
	 */
	bool alone;
	size_t stream_at, stream_bytes, constant_at;
};

/* Fails if the streams are for different NPUs. */
bool npu_facts(struct arena *a, const struct tfl_model *m,
	       struct npu_facts *out, struct err *e);

/* the driver's QCONFIG and REGIONCFG_0, _1, _2 for a memory mode */
struct region_config {
	const char *mode;
	int qconfig, region[3];
};
extern const struct region_config region_configs[];
extern const int n_region_configs;
const struct region_config *region_config(const char *mode); /* NULL: unknown mode */

/* ---- plan.c: the size of the tensor arena -------------------------------- */

struct tensor_plan {
	const int32_t *offset; /* of subgraph 0's tensors in bytes; -1: not planned */
	int64_t plan_bytes;    /* extent of OfflineMemoryAllocation */
	int64_t used_bytes;    /* of plan_bytes: without what only an interpreter reserves */
	/*
	 * plan_bytes plus the tensors and kernels' scratch buffers that TFLM places
	 * itself
	 */
	int64_t tensor_bytes;
	int64_t variable_bytes;
	/* TFLM's records; or the memory for its planning, if this is more */
	int64_t runtime_bytes;
	int64_t arena_bytes;   /* the sum of the three above, a multiple of 16 */
	/* two arenas instead of one, multiples of 16: records and variables; tensors */
	int64_t persistent_bytes, non_persistent_bytes;
	int n_tensors, n_ops;
	/* variables that the CPU's operators keep by name, VAR_HANDLE; variable_bytes has their values */
	int n_resources;
};

/* Computes the arena of all subgraphs.  Fails if OfflineMemoryAllocation is malformed. */
bool plan_arena(struct arena *a, const struct tfl_model *m,
		struct tensor_plan *out, struct err *e);

/*
 * True for each tensor that is nothing but the fast scratch memory of NPU operators.  The model's
 * plan has it at 0 of the arena, where an interpreter reserves it.  The NPU uses its own SRAM
 * instead, or no such memory.
 */
bool *plan_fast(struct arena *a, const struct tfl_subgraph *g);

/*
 * Assigns an address to every tensor of a subgraph that has values while the network
 * runs, by the rule of plan_arena(). at[i] is in bytes from the arena's start.  It is
 * -1 for constants, tensors without bytes, and tensors with offset[i] == ELSEWHERE.
 * Variables keep their memory during the whole run.  Returns the bytes of all.
 */
enum { ELSEWHERE = -2 };
int64_t plan_tensors(struct arena *a, const struct tfl_subgraph *g,
		     const int32_t *offset, int64_t *at);

/* ---- tflm.c: memory for TensorFlow Lite Micro itself -------------------- */

#define TFLM_REVISION "90b983c2b (2026-08-20)" /* the sizes are of this revision */
enum { TFLM_MAX_SCRATCH = 4 };

/*
 * Sets the bytes of the scratch buffers that the reference kernel of op requests, and
 * returns their number.
 */
int tflm_scratch(const struct tfl_subgraph *g, const struct tfl_op *op,
		 int64_t *bytes);
/*
 * Bytes of an arena, aligned to 16, in addition to tensors and variables, such that
 * AllocateTensors() does not fail.  Needs tensor_bytes, variable_bytes and n_resources.
 */
int64_t tflm_runtime_bytes(const struct tfl_model *m, const struct tensor_plan *plan);
/*
 * Sets the sizes of the two arenas of a MicroAllocator, such that AllocateTensors() does not
 * fail.  Needs the same.
 */
void tflm_two_arenas(const struct tfl_model *m, struct tensor_plan *plan);

/* ---- call_plan.c: a network as a sequence of calls ------------------------- */

/* how the function runs an operator */
enum step {
	STEP_NONE,	 /* a guard, for interpreters */
	STEP_NPU,	 /* call the driver */
	STEP_COPY,	 /* copy rows of bytes */
	STEP_QUANTIZE,	 /* from float to 8 or 16 bits */
	STEP_QUANTIZE_32, /* from float to INT32 */
	STEP_REQUANTIZE, /* from integers */
	STEP_DEQUANTIZE,
	STEP_FUNCTION, /* call a function of the firmware */
	STEPS
};

struct call_plan {
	const enum step *step; /* for each operator of subgraph 0 */
	bool has[STEPS]; /* an operator has this step */
	const int64_t *at; /* for each tensor of subgraph 0: its offset, as from plan_tensors() */
	int64_t arena_bytes; /* size of the memory for all tensors */
};

/*
 * Fails with the operator's name in these cases: a tensor has no bytes to pass on; the
 * plan overlays an operator's input with its output; data in the file is not aligned as
 * the driver or its type requires.
 */
bool plan_call(struct arena *a, const struct tfl_model *m,
	       const struct tensor_plan *t, struct call_plan *out, struct err *e);

/*
 * one part of a copying operator: rows to copy from or to its input or output number
 * part
 */
struct rows {
	int in, out; /* tensors */
	int64_t n, bytes, in_step, out_step, in_at, out_at;
};
/* number of parts; only for STEP_COPY */
int copy_parts(const struct tfl_op *op);
/* at: bytes of a row that the parts before this one occupy */
struct rows copy_rows(const struct tfl_subgraph *g, const struct tfl_op *op,
		      int part, int64_t at);

/* ---- array.c ------------------------------------------------------------ */

/* prints "0x1c, 0x00, ..."; each line has indent and per_line bytes */
void put_bytes(struct text *t, struct bytes b, int per_line,
	       const char *indent);

/* ---- resolver.c: operators by kind ---------------------------------------- */

enum { MAX_KINDS = 256 };
struct op_kinds {
	int n;
	const struct tfl_op *op[MAX_KINDS]; /* the first operator of each kind */
};

/* Collects the different operators of all subgraphs.  Fails for more than MAX_KINDS. */
bool resolver_kinds(const struct tfl_model *m, struct op_kinds *k,
		    struct err *e);

/* ---- labels.c: names of classes for the evaluation kit ---------------------- */

struct labels {
	bool wanted;
	const char **name;
	int n;
};
/* Reads one name per line; there are no comments. */
bool read_class_names(struct arena *a, const char *path, struct labels *out,
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
	struct border_tensors borders; /* batch size and layouts of inputs and outputs */
	struct op_kinds kinds;
	struct call_plan call; /* only for FORMAT_CALL */
	struct labels labels;
	const char *prefix; /* of macros: the array's name in upper case */
	/* whose names of memories the header has; NULL: none, or the memory mode is another one */
	const struct target_part *part;
	struct part_lack lack[PART_MEMORIES]; /* memories that are too small, by --allow-overflow */
	size_t n_lacks;
};

void compose(struct text *t, const struct job *j);
void compose_resolver(struct text *t, const struct job *j);

/* ---- header.c, invoke.c, interface.c, resolver.c, state.c --------------------------- */

void put_memory_macros(struct text *t, const struct job *j);
void put_npu_macros(struct text *t, const struct job *j);
void put_invoke(struct text *t, const struct job *j);
void put_interface(struct text *t, const struct job *j);
void put_state(struct text *t, const struct job *j);
/*
 * true if the network is one call of the driver, and all data that the call uses is in
 * its scratch memory
 */
bool can_invoke(const struct job *j);
void put_resolver(struct text *t, const struct job *j);

/* ---- separate.c: inputs and outputs outside the arena -------------------------- */

bool any_separate(const struct job *j);
bool has_fast(const struct job *j); /* true if a stream uses region 2 */
int count_bases(const struct job *j); /* number of base addresses for the driver */
/*
 * ", const void *input_0, void *output_0"; ", input_0, output_0"; or inputs and outputs, if
 * one region has all inputs and another all outputs
 */
void put_separate_parameters(struct text *t, const struct job *j);
void put_separate_arguments(struct text *t, const struct job *j);
/*
 * prints statements that fill base[] and size[] from the parameters; cast(p) converts a
 * pointer to a number
 */
void put_separate_bases(struct text *t, const struct job *j, const char *cast);
/* prints the sizes of regions that contain several inputs or outputs */
void put_io_regions(struct text *t, const struct job *j);

/* layout.c: io is INPUT_0 or the like; prints nothing for a tensor without a layout */
void put_layout(struct text *t, const struct job *j, const char *io, const struct border_tensor *x);

/* ---- call_declare.c, call_steps.c: FORMAT_CALL ----------------------------- */

/* the functions that the firmware calls, and those that it provides */
void put_call_declarations(struct text *t, const struct job *j);
/* such as NAME_op3_softmax */
void put_call_name(struct text *t, const struct job *j, int op);
/* return type, name and parameters of the call, and of its reset function */
void put_call_head(struct text *t, const struct job *j, const char *separator);
void put_reset_head(struct text *t, const struct job *j, const char *separator);
/* prints helpers, then the function */
void put_call_function(struct text *t, const struct job *j);
int count_variables(const struct tfl_subgraph *g);

/* state.c: the byte to which the runtime initialises a variable */
int variable_fill(const struct tfl_tensor *t);

/* ---- interface.c --- */

/* the C type; NULL: none */
const char *c_type(int type);
/* prints a comment, and TYPE, RANK, SHAPE, ELEMENTS, BYTES with the prefix PREFIX_io */
void put_tensor_macros(struct text *t, const struct job *j, const char *io,
		       const struct tfl_tensor *x);
bool is_quantized(const struct tfl_tensor *x);
/* prints SCALE and ZERO_POINT with the prefix PREFIX_io; x is quantized */
void put_scale(struct text *t, const struct job *j, const char *io,
	       const struct tfl_tensor *x);
/* prints a float constant that reads back exactly: "1.0f", "1e-05f" */
void put_float(struct text *t, float v);
/*
 * prints statements that make a float q one whose integer part is roundf(q), between the expressions
 * least and most, without libm.  They add the number before 0.5, as 0.5 would round the number before
 * 0.5 up; all other sums have the same integer part.  NaN becomes 0, as in the conversion of an Arm core.
 */
void put_rounding(struct text *t, const char *least, const char *most);

/* ---- header.c --- */

/*
 * ETHOS_LABEL(name): the assembler's name of an object whose C name is that of its
 * section.  IAR's compiler writes objects without such a name.
 */
void put_label_macro(struct text *t);

/* #define PREFIX_WHAT value */
void put_define(struct text *t, const struct job *j, const char *what,
		int64_t value);
/* prints text from a model such that it is safe inside a comment */
void put_comment_text(struct text *t, const char *s);

/* resolver.c: lists operators for which TensorFlow Lite Micro has no Add...() */
void resolver_missing(struct text *t, const struct op_kinds *k);
/* Warns of each operator that has an Add...(), but no kernel for its type. */
void resolver_refused(const struct tfl_model *m);

#endif
