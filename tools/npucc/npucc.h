/* SPDX-License-Identifier: Apache-2.0 */
/* npucc's parts, in running order. */
#ifndef NPUCC_H
#define NPUCC_H

#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "target/target.h"

#include <sys/types.h>

/* the stages in their order, then the programs that look at what they made */
enum program {
	QUANTCHECK, PARTITION, SCHED, WENC, CMDGEN, TFL2C,
	N_STAGES,
	PERF = N_STAGES, REPORT, DIS, SIM,
	TOSA_PARTITION, /* in place of the first two */
	N_PROGRAMS,
};

struct words {
	const char **v;
	size_t n, cap;
};

struct options {
	struct arena *a;
	const char *out, *in, *keep; /* in: NULL is standard input */
	bool check;
	bool archive; /* keep is a file: all of it in one */
	const char *accel, *part; /* as they were named; accel: or the part's */
	const char *page; /* of --report; NULL: none */
	struct target_names names; /* as the options spell them */
	bool summary; /* the short way: no output was named */
	bool report; /* of npu-sched instead of a model: --front, --explain */
	enum program last; /* the stage that makes out */
	struct words to[N_PROGRAMS]; /* what was said for each */
};

/* what stands for a name in what the programs say */
struct alias {
	const char *from, *to;
};

struct npucc {
	struct arena *a;
	struct err *e;
	const struct options *o;
	const char *path[N_PROGRAMS]; /* of each program that is needed */
	bool tosa; /* the input is a TOSA graph, by its identifier */
	const char *model; /* the file; NULL: standard input, read once */
	struct bytes piped; /* of standard input, read to tell the front end */
	const char *base;  /* of kept files' names */
	const char *beside;  /* private directory beside the output; NULL: none */
	const char *in_keep; /* and in that of --keep */
	struct alias alias[4];
	int n_alias;
	struct file_set *files; /* what gets its name in the end */
	int status; /* of the program that failed, which has been shown; or 0 */
	bool not_integer; /* it was tfl-quantcheck, whose answer is no */
};

/* options.c */
void options_parse(struct options *o, int argc, char **argv);
/* the suffix of what a stage makes: ".part"; of tfl2c ".h" */
const char *stage_suffix(enum program p);

/* programs.c: where the others are: beside this one, or in PATH */
/* the first stage, and the program that is the stage p */
enum program first_stage(const struct npucc *c);
enum program program_of(const struct npucc *c, enum program p);
const char *program_name(enum program p);
bool programs_find(struct npucc *c);

/* places.c: private directories, the guard who removes them, the end */
bool places_open(struct npucc *c);
/* path in a private directory, of which messages say `called` */
const char *place_private(struct npucc *c, const char *dir, const char *name,
			  const char *called);
/* all outputs get their names, or none */
bool places_commit(struct npucc *c);
void places_close(struct npucc *c);

/*
 * guard.c: a process of its own, first of the group that the programs are in.
 * When this one ends, however it does, the guard ends that group and removes
 * trees, with what is in them, and the directories made, where they are empty.
 */
struct guarded {
	const char **trees, **made;
	size_t n_trees, n_made;
};
bool guard_start(const struct guarded *g, struct err *e);
pid_t guard_group(void);
void guard_hold_signals(bool hold); /* while names change */
void guard_end(void); /* all is removed then; signals are held */

/* run.c: programs, one behind the other in a pipe */
struct job {
	enum program program;
	const char *option[4]; /* before those of the command line */
	const char *decided; /* behind them; NULL: nothing */
	const char *input;  /* operand; NULL: standard input */
	const char *from;   /* file for standard input; NULL: the pipe, or ours */
	struct bytes fed;   /* these bytes for it, of the first of a pipe */
	const char *called; /* what messages call standard input; NULL: as they do */
	const char *output; /* of -o; NULL: standard output */
	bool mute;	    /* standard output goes nowhere */
	bool aside; /* nobody reads what it writes; if it fails, all are ended */
	bool repeats;	    /* what it says where it ends well has been said */
	bool silent;	    /* nothing that it says is shown, and its failure is none */
};
/* true: all ended well.  Otherwise c->status is set, or c->e */
bool run_jobs(struct npucc *c, const struct job *job, size_t n);

/* compile.c: the three ways to an output; the file that is to have its name */
bool compile_plain(struct npucc *c, const char **made);
bool compile_checked(struct npucc *c, const char **made);
bool compile_kept(struct npucc *c, const char **made);
/* of a model that tfl-quantcheck refused: a note on where its operators would run */
void tell_operators(struct npucc *c);
/* base.part, base_npu.tflite: as --keep calls what a stage makes */
const char *stage_file(const struct npucc *c, enum program p);

/* check.c: the file that was made of c->model, and what messages call it */
bool check_compiled(struct npucc *c, const char *compiled, const char *called);
/* is anything for the NPU in a compiled file? */
bool uses_npu(struct npucc *c, const char *compiled, bool *uses);

/*
 * report.c: a page of what was made of c->model on its way to its name, and a summary,
 * where they are asked for
 */
bool tell_made(struct npucc *c, const char *made, struct bytes *summary);
/* the memory system for an accelerator of which nobody named one, with a note */
bool example_memory(const char *accel, const char **system, const char **mode);

/* manifest.c: what was made of what, with which options, as JSON */
bool manifest_print(struct npucc *c, const char *const *name, size_t n,
		    struct text *t);

/* ends.c: the members batch, inputs and outputs of the manifest */
bool manifest_ends(struct npucc *c, const char *compiled, struct text *t);

/* tar.c: an archive, file by file */
void tar_add(struct arena *a, struct text *t, const char *name, struct bytes b);
void tar_end(struct text *t);
/* gzip.c: the same bytes for the same input */
void gzip(struct arena *a, struct text *t, struct bytes in);

/* sha256.c: FIPS 180-4, in hexadecimal */
void sha256_hex(struct bytes b, char out[65]);

#endif
