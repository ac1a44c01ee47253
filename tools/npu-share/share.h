/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu-share: several networks in the memories of one product.  In running order: request.c
 * reads the command line; children.c runs the other programs of the kit; solve.c takes
 * fronts, chooses rows (choose.c, place.c) and compiles them (facts.c), until all chosen rows
 * are compiled; refuse.c says which budget is too small; constants.c stores equal constants once; prove.c runs the networks;
 * header.c, draw.c and report.c write the result.
 */
#ifndef NPU_SHARE_SHARE_H
#define NPU_SHARE_SHARE_H

#include "base/arena.h"
#include "base/text.h"
#include "choice.h"
#include "tflite/tflite.h"

enum { MAX_WORDS = 24 };

/* text of the command line about networks, kept until all names are known */
struct words {
	const char *v[64];
	int n;
};

struct options {
	/* passed on to npucc; NULL: not given */
	const char *accel, *part, *system, *mode, *config, *effort;
	bool any_accelerator;
	int64_t sram, flash, dram; /* budgets in bytes; 0: the part's memories, or none */
	struct words models, rates, deadlines, limits, together, chains;
	const char *name;   /* prefix of the header's names */
	const char *output; /* directory; NULL: only the report */
	unsigned jobs;
	int64_t runs; /* of the proof */
	double within; /* per cent of the least weighted time; -1: the default */
	bool integer_io;
	bool json;
	bool tflm; /* the networks run under TensorFlow Lite Micro */
};

/* a compiled row */
struct compiled {
	struct bytes file;
	struct tfl_model *m;
	/* one NPU operator is the whole network, and the firmware calls the driver itself */
	bool alone;
	int64_t persistent; /* with --tflm: bytes of the interpreter's own arena */
	int resources; /* with --tflm: variables of VAR_HANDLE */
	/* of a network that is alone: the driver's payload and the constants */
	struct bytes payload, flash;
	const struct span *range; /* parts of flash that the stream reads, merged, by address */
	int n_ranges;
	double low, high; /* seconds: the range of the estimate */
};

struct network {
	const char *name, *path; /* the name is an identifier */
	struct bytes integer;	 /* with --integer-io: the model without float ends; p NULL: the file */
	uint64_t hash;		 /* of the model's file */
	int64_t limit; /* the bytes that choose its row alone; 0: any row */
	struct tfl_model *original;
	struct compiled *compiled; /* of each row; file.p is NULL until it is compiled */
	struct row *front; /* as the front has them, but for the last one, which is compiled */
	double clock, cpu_seconds; /* of the first compiled row */
	int64_t wrapper; /* with --tflm: bytes of the file beside constants and streams */
};

/* what a longer time saves */
struct saving {
	double percent; /* above the least time */
	struct choice choice;
};

/* what budgets are of; MEMORY_BOTH: arenas and constants in one memory */
enum memory { MEMORY_ARENAS, MEMORY_CONSTANTS, MEMORY_BOTH, MEMORY_COUNT };

/* the choice with 1,024 bytes less than are used of a memory */
struct less {
	enum memory memory;
	int64_t bytes; /* the smaller budget; negative: less than 1,024 are used */
	bool fits;
	struct choice choice;
};

enum { MAX_SAVINGS = 3 };

struct share {
	struct arena *a;
	const struct options *o;
	struct err *e;
	struct network net[MAX_NETS];
	struct problem p;     /* rows that any question has compiled have the figures of the files */
	struct problem base;  /* the same budgets; compiled rows are those that led to `fastest` */
	struct choice choice;
	struct choice fastest; /* that of the least time in the budgets */
	struct saving saving[MAX_SAVINGS]; /* of --within, beyond that of the choice */
	int n_savings;
	struct less less[2]; /* of arenas and of constants, or of their one memory */
	int n_less;
	bool spilling;	 /* arenas are in DRAM, and fast memory is the SRAM */
	const char *arenas_in, *constants_in; /* names of memories in texts */
	const char *npucc, *perf, *tfl2c; /* paths */
	/* the constants of all networks that are alone, and each of these networks' patched
	 * payload */
	struct bytes constants;
	struct bytes payload[MAX_NETS];
	int64_t base_at[MAX_NETS]; /* of each network: what its base address 0 adds to the array */
	int64_t separate_flash; /* bytes of the same rows if each had its own constants */
	int runs; /* that the proof has made */
};

/* ---- request.c ---- */

/* Reads the models and what the options say about them. */
bool read_request(struct share *s);
/* the bytes of "NAME=BYTES"; a usage error ends the program while options are read */
int64_t limit_bytes(const char *word);
/* True if an input or output of a model is FLOAT32. */
bool has_float_border(const struct tfl_model *m);

/* ---- children.c ---- */

/* a program, its words, and the bytes of its standard input (NULL: none) */
struct job {
	const char *path, *word[MAX_WORDS];
	int n;
	struct bytes in, out; /* out: its standard output */
	int net, row;
};
/* Runs all jobs, several at a time.  The error is the last line of a program that fails. */
bool run_jobs(struct share *s, struct job *job, int n);
void add_word(struct job *j, const char *word);
/* the model of a network: its path, or standard input */
void add_input_model(const struct share *s, struct job *j, int net);
/* the options of the target, for npucc (any) or npu-perf */
void add_target(const struct share *s, struct job *j, bool compiles);

/* ---- facts.c: what a compiled row takes ---- */
bool read_facts(struct share *s, int net, int row, struct bytes file, struct bytes perf);
/* with --tflm: takes the sizes of both arenas of an interpreter from the header of tfl2c */
bool read_arenas(struct share *s, int net, int row, struct bytes header);

/* ---- solve.c ---- */
bool take_fronts(struct share *s);
/* --within in per cent, or its default */
double share_within(const struct share *s);
/* Chooses rows until all are compiled.  False with status EXIT_NO: the budgets are too small. */
bool solve(struct share *s);
/*
 * The choice of the least time for a problem with other budgets, rates or deadlines, from the
 * fronts on; *p knows its rows.  *found: false if nothing fits; c->is_exact: that is proven.
 */
bool settle(struct share *s, struct problem *p, struct choice *c, bool *found);
int64_t *budget_of(struct problem *p, enum memory m);
/* bytes of a choice that a budget counts */
int64_t used_of(const struct choice *c, enum memory m);
/* the memory of which --within saves bytes */
enum memory saved_memory(const struct problem *p);
/* Fills saving and less: what more time would save, and what less memory would cost. */
bool ask_other_budgets(struct share *s);

/* ---- refuse.c: the error, if no choice fits; always false ---- */
bool refuse(struct share *s);

/* ---- constants.c: the constants of the chosen rows in one array ---- */
bool join_constants(struct share *s);

/* ---- prove.c: runs the networks in random order on one memory ---- */
bool prove(struct share *s);

/* ---- header.c, draw.c, report.c ---- */
void print_header(const struct share *s, struct text *t);
void draw_memory(const struct share *s, struct text *t);
void print_table(const struct share *s, struct text *t);
void print_json(const struct share *s, struct text *t);

static inline const struct row *
chosen(const struct share *s, int net)
{
	return &s->p.net[net].row[s->choice.row[net]];
}

/* Are there faster plans, which take more memory? */
static inline bool
is_smaller(const struct share *s)
{
	enum memory m = saved_memory(&s->p);
	return used_of(&s->choice, m) < used_of(&s->fastest, m);
}

static inline struct compiled *
chosen_file(const struct share *s, int net)
{
	return &s->net[net].compiled[s->choice.row[net]];
}

#endif
