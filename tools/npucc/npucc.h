/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of npucc, in running order. */
#ifndef NPUCC_H
#define NPUCC_H

#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "target/target.h"

#include <sys/types.h>

/* the stages in their order, then the programs that use the stages' output */
enum program {
	QUANTCHECK, PARTITION, SCHED, WENC, CMDGEN, TFL2C,
	N_STAGES,
	PERF = N_STAGES, REPORT, DIS, SIM,
	TOSA_PARTITION, /* replaces the first two stages for TOSA */
	QUANTIZE, /* runs before the stages if an option is for it */
	CUT,	  /* tfl-partition --cut-only: the same */
	N_PROGRAMS,
};

struct json_out;

struct words {
	const char **v;
	size_t n, cap;
};

struct options {
	struct arena *a;
	const char *out, *in, *keep; /* in: NULL is standard input; keep: NULL: no --keep */
	bool check;
	bool allow_overflow; /* of the memories of part */
	bool archive; /* keep is the path of one archive, not a directory */
	const char *accel, *part; /* as written by the user; accel defaults to that of part */
	/* an argument that looks like a model, and its option with the argument's name; or NULL */
	const char *taken, *taken_by, *taken_as;
	const char *page; /* of --report; NULL: none */
	bool advice; /* other limits and accelerators in the summary and the page */
	struct target_names names; /* as the options spell them */
	/* options that only the first stages of the other kind of input have; NULL: none */
	const char *tflite_only, *tosa_only;
	bool chose_out; /* out is a name that npucc chose, because no output was named */
	bool summary; /* print a summary, because no output was named */
	bool errors_only; /* print errors alone */
	bool verbose; /* --verbose-all */
	bool for_linux; /* --target=linux */
	bool report; /* --front, --explain: write a report of npu-sched, not a model */
	bool database; /* out is the debug database, not a model */
	enum program last; /* the stage that makes out */
	struct words to[N_PROGRAMS]; /* options for each program */
	bool has_passed[N_PROGRAMS]; /* --pass gave the program options of its own */
};

/* a path in the programs' messages, and the name to show instead */
struct alias {
	const char *from, *to;
};

struct npucc {
	struct arena *a;
	struct err *e;
	const struct options *o;
	const char *path[N_PROGRAMS]; /* of each program that is needed */
	bool tosa; /* the input is a TOSA graph, by its file identifier */
	const char *model; /* path; NULL: piped */
	struct bytes piped; /* content of standard input or of a pipe */
	/* path of the compiled model, if the output is its header and a page needs it */
	const char *compiled;
	const char *quantization; /* option of npu-report for the report of tfl-quantize; NULL: none */
	const char *base;  /* name of kept files without suffix */
	const char *beside;  /* private directory beside the output; NULL: none */
	const char *spare;   /* its path, if it does not exist yet */
	struct words bodies; /* options of npu-cmdgen for the compiled bodies of the model */
	struct words kept_bodies; /* names of the files of their stages, for --keep */
	const char *in_keep; /* private directory in that of --keep; NULL: none */
	struct alias alias[5];
	int n_alias;
	struct file_set *files; /* files that get their names at the end */
	int status; /* of the program that failed, which has printed a message; or 0 */
	bool not_integer; /* the failed program is tfl-quantcheck, with the answer no */
	bool too_large;	  /* the failed program is tfl2c, with the answer no */
	const char *unshown; /* messages of the silent program that failed; NULL: none */
};

/* options.c */
void options_parse(struct options *o, int argc, char **argv);
/* true if the command line gives a program an option that begins so */
bool passes(const struct options *o, enum program p, const char *option);
/* the suffix of a stage's output, such as ".part"; that of tfl2c is ".h" */
const char *stage_suffix(enum program p);
/* the option of npucc that gives p the option --NAME, of n bytes without the dashes */
const char *option_for(struct arena *a, enum program p, const char *name, size_t n);

/* programs.c: finds the other programs beside this one, or in PATH */
/* the first stage, and the program that runs stage p */
enum program first_stage(const struct npucc *c);
enum program program_of(const struct npucc *c, enum program p);
const char *program_name(enum program p);
bool programs_find(struct npucc *c);

/* places.c: private directories, the guard that removes them, the commit */
/* Makes the private directories and starts the guard. */
bool places_open(struct npucc *c);
/*
 * Returns a path in a private directory.  Messages show the name called instead, unless
 * it is NULL.
 */
const char *place_private(struct npucc *c, const char *dir, const char *name,
			  const char *called);
/* Returns a private directory, and makes it if there is none; NULL: an error. */
const char *place_spare(struct npucc *c);
/* Gives all outputs their names, or none. */
bool places_commit(struct npucc *c);
/* Drops outputs that are not committed, and ends the guard. */
void places_close(struct npucc *c);

/*
 * guard.c: the guard is a child process and the leader of the process group of all
 * programs.  When npucc ends for any reason, the guard ends this group.  It removes the
 * trees with their content, and the directories in made that are empty.
 */
struct guarded {
	const char **trees, **made;
	size_t n_trees, n_made;
};
bool guard_start(const struct guarded *g, struct err *e);
/* the process group of the guard and of all programs */
pid_t guard_group(void);
void guard_hold_signals(bool hold); /* block signals while files get their names */
void guard_end(void); /* removes everything; signals stay blocked */

/* run.c: programs in a pipe */
struct job {
	enum program program;
	const char *option[5]; /* before the options of the command line */
	const char *decided; /* an option after those of the command line; NULL: none */
	const char *input;  /* operand; NULL: standard input */
	const char *from;   /* file for standard input; NULL: the pipe, or npucc's own */
	struct bytes fed;   /* bytes for standard input, only for the first job of a pipe */
	const char *called; /* name of standard input in messages; NULL: unchanged */
	bool unseen; /* the user does not get the file called: messages name the model */
	const char *output; /* argument of -o; NULL: standard output */
	const char *printed; /* file for standard output; the job runs alone; NULL: none */
	bool mute;	    /* standard output is discarded */
	bool aside; /* no job reads its output; if it fails, all jobs are ended */
	/* on success its messages are not shown, as an earlier job printed them */
	bool repeats;
	bool silent;	    /* its messages are never shown, and its failure is no error */
	const char *shown;  /* name of its work for the progress; NULL: its own */
};
/* Returns true if all jobs ended well.  Otherwise c->status or c->e is set. */
bool run_jobs(struct npucc *c, const struct job *job, size_t n);

/* compile.c: the job of one stage, between the stages before and after it */
struct job job_of(struct npucc *c, enum program p);
/*
 * Three methods to make the output. *made is the finished file, which still
 * needs its name.
 */
bool compile_plain(struct npucc *c, const char **made);
bool compile_to_model(struct npucc *c, const char **made);
/* True if the compiled model must be a file, also behind a header: to be checked or reported. */
bool needs_model(const struct options *o);
bool compile_kept(struct npucc *c, const char **made);
/* Checks the output of the last stage, made: first that it fits the memories of the part, by the
 * stages that follow; with --check, then what the compiled model computes, which takes longer. */
bool check_result(struct npucc *c, const char *made);
/*
 * Returns the options for plans beside that of the output: words for npu-sched but --plan and
 * --keep-plan, and one more; NULL: none.
 */
struct options other_plans(struct arena *a, const struct options *own, const struct words *words,
			   const char *more);
/*
 * For a model that tfl-quantcheck refused: prints a note on which operators could run
 * on the NPU.
 */
void tell_operators(struct npucc *c);
/* the name of a stage's file for --keep: base.part, base_npu.tflite */
const char *stage_file(const struct npucc *c, enum program p);

/* memories.c: true if the output must fit the memories of a part, and no stage has checked that */
bool part_is_checked(const struct options *o);
/* Does what was made fit them?  If not, says why. */
bool check_part(struct npucc *c, const char *made);
/*
 * For an output that does not fit a part, whose numbers tfl2c has printed: prints a note on
 * the option with which it fits.
 */
void tell_fitting_option(struct npucc *c);

/* bodies.c: compiles the bodies of IF and WHILE, for the options of npu-cmdgen */
bool compile_bodies(struct npucc *c);

/* check.c: checks a file compiled from c->model; called is its name in messages */
bool check_compiled(struct npucc *c, const char *compiled, const char *called);
/* Sets *uses to true if a compiled file has an NPU operator. */
bool uses_npu(struct npucc *c, const char *compiled, bool *uses);

/*
 * report.c: prints a summary of the compiled file made, and makes the page of --report,
 * if they are requested
 */
bool tell_made(struct npucc *c, const char *made, struct bytes *summary);
/* Notes that the compiled file `made` replaces a result of another part, by a name of npucc's. */
void tell_replaced(struct npucc *c, const char *made);
/*
 * Chooses a memory system for an accelerator if the user named none, and prints a note with
 * the other systems of the generation.
 */
bool example_memory(const struct options *o, const char **system, const char **mode);

/* manifest.c: prints the options and the files of a compilation as JSON */
bool manifest_print(struct npucc *c, const char *const *name, size_t n, bool on_npu,
		    struct text *t);

/* borders.c: prints the manifest's members batch, inputs and outputs */
bool manifest_borders(struct npucc *c, const char *compiled, const struct json_out *j);

/* tar.c: adds a file to an archive; tar_end() completes it */
void tar_add(struct arena *a, struct text *t, const char *name, struct bytes b);
void tar_end(struct text *t);
/* gzip.c: equal input gives equal bytes */
void gzip(struct arena *a, struct text *t, struct bytes in);

/* sha256.c: FIPS 180-4, in hexadecimal */
void sha256_hex(struct bytes b, char out[65]);

#endif
