/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu-sweep: a plan of jobs, a store of their results, and tables of the results.  A job is
 * one compilation of one model for one accelerator and memory system.  The key of a job is a
 * hash of everything that determines its result.  A record is the result of a job, stored
 * under the key.  main.c calls plan.c or plan_file.c, run.c or emit.c, rows.c, and then one
 * of the printers.
 */
#ifndef NPU_SWEEP_SWEEP_H
#define NPU_SWEEP_SWEEP_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/child.h"
#include "base/hash.h"
#include "base/hash_table.h"
#include "base/json.h"
#include "base/json_out.h"
#include "base/text.h"

enum format { AS_TABLE, AS_JSON, AS_CSV, AS_HTML, AS_SENTENCES };
enum engine { HERE, DRY_RUN, NINJA, MAKE, SLURM, JSONL };

struct names {
	const char **v;
	size_t n, cap;
};

struct options {
	struct arena *a;
	struct names models, accels, systems, parts;
	const char *mode, *config, *effort;
	const char *like;    /* compiled model whose accelerator and memory system to use; or NULL */
	const char *results; /* directory of the store; NULL: results stay in memory */
	const char *plan;    /* file of --emit=jsonl; NULL: make the plan from the models */
	const char *run_jobs; /* "all" or for example "1-20,25"; NULL: all, and print a table */
	const char *against; /* an older table or store; NULL: compare nothing */
	const char *output;
	enum format format;
	enum engine engine;
	bool json, csv, html, pick; /* options that set the format */
	bool front, merge, retry, gc, any_accelerator;
	double max_ms; /* of the plans that --pick chooses from; 0: no limit */
	int64_t max_sram;
	int limits;
	unsigned jobs;
	int64_t jobs_per_task;
	double timeout;	  /* time limit of a job in seconds; 0: none */
	double tolerance; /* accepted increase of a value, in per cent */
};

/* ---- plan.c: jobs, their models and targets ----------------------------------------- */

/* Result of a job: the fastest plan, the smallest plan, or all plans between them. */
enum goal { PERFORMANCE, SIZE, FRONT, GOALS };
extern const char *const goal_names[GOALS];

struct model {
	const char *path, *name; /* name: as tables print it */
	struct hash128 hash;
	size_t index; /* position among the models of the plan, from 0 */
};

/* Options that all jobs of a sweep share; "": the option is not given. */
struct setup {
	const char *mode, *config, *effort;
	uint64_t config_hash; /* hash of the file's bytes; 0: no file */
};

/*
 * A model, system and accelerator: one to three jobs, and a group of rows.  A target of
 * --part has the part's name as its system, and a setup without a memory mode.
 */
struct target {
	const struct model *model;
	const struct setup *setup;
	const char *system, *accel;
	size_t job[GOALS]; /* position in the plan, plus 1; 0: no job has this goal */
};

struct job {
	size_t target; /* position in the plan */
	enum goal goal;
	struct hash128 key;
	const struct record *record; /* NULL: there is no result yet */
};

struct plan {
	struct arena *a;
	struct hash128 build; /* of the programs */
	struct target *target;
	struct job *job;
	size_t n_targets, n_jobs, cap_targets, cap_jobs;
	size_t n_models, n_systems;
	double max_ms, max_sram; /* of the plans to pick from; 0: no limit */
	struct hash_table interned; /* models, setups, names and targets, by their content */
};

/* True if the target is a part of --part. */
bool target_is_part(const struct target *t);
/* Makes the plan of the models and options of the command line. */
bool plan_options(const struct options *o, struct plan *p, struct err *e);
/* Returns the key of a job: a hash of the model, the options, the goal and the programs. */
struct hash128 plan_key(const struct plan *p, const struct target *t, enum goal goal);
/*
 * Adds a job, and its target unless the plan has the target.  Returns NULL if the plan has
 * the job already.
 */
struct job *plan_add_job(struct plan *p, const struct target *t, enum goal goal);
/*
 * Returns the model at path.  hash is the hash of its bytes; NULL: read the file, unless this
 * function has read it before.  NULL: the file cannot be read.
 */
const struct model *plan_model(struct plan *p, const char *path,
			       const struct hash128 *hash, struct err *e);
/* Returns the copy of s that all targets share. */
const struct setup *plan_setup(struct plan *p, struct setup s);
/* Returns the target of job j. */
const struct target *plan_target(const struct plan *p, const struct job *j);
/* Sets want[i] for each job that a list such as "1-20,25" names.  NULL or "all": all jobs. */
bool plan_select(const struct plan *p, const char *list, bool *want, struct err *e);

/* members.c: members of JSON objects, for records and plans */
void put_hash(const struct json_out *j, const char *key, struct hash128 h);
void put_job(const struct json_out *j, const struct target *t, enum goal goal);
void text_hash128(struct text *t, struct hash128 h); /* 32 hexadecimal digits */
/* False: o has no such member, or its value is not a hash or goal. */
bool get_hash(const struct json *o, const char *key, struct hash128 *h);
bool get_goal(const struct json *o, enum goal *goal);

/* plan_file.c: reads and prints a plan as lines of JSON */
void plan_print_job(struct text *t, const struct plan *p, size_t k);
bool plan_read(struct plan *p, struct bytes file, const char *name, struct err *e);
/* Fails if the model, an option or the programs of job j changed after the plan was made. */
bool plan_check_job(struct plan *p, const struct job *j, struct err *e);

/* ---- programs.c: the programs that compile, and the hash of their bytes ---------------- */

struct programs {
	const char *npucc, *perf; /* paths of npucc and npu-perf */
	struct hash128 build; /* hash of the bytes of all programs that compile */
};
bool programs_find_all(struct arena *a, struct programs *p, struct err *e);

/* ---- record.c: the result of a job, as a file ----------------------------------- */

enum status { OK, REFUSED, FAILED, CRASHED, TIMEOUT, STATUSES };
extern const char *const status_names[STATUSES];
enum { RECORD_MAX = 1 << 26 }; /* bytes of a file */

struct point {
	double sram, cycles;
	double flash, streams; /* constants and command streams in bytes; -1: not known */
};

struct record {
	enum status status;
	/* the plan, for the goals PERFORMANCE and SIZE */
#define FIGURE(member, key, source, factor) double member;
#include "figures.def"
	struct point *point; /* goal FRONT; more sram, fewer cycles */
	size_t n_points;
	const char *message; /* one line, with MODEL_MARK for the model's name; NULL: none */
};
/* Stands for the model's name in messages, so that a result does not depend on the name. */
#define MODEL_MARK "{model}"

void record_print(struct text *t, const struct plan *p, const struct job *j,
		  const struct record *r);
/* The job that a record belongs to, as its file describes the job. */
struct record_identity {
	struct hash128 key, build, model_hash;
	const char *model, *system, *accel, *mode, *config, *effort;
	enum goal goal;
};
/*
 * Reads a record.  Fails if the file is damaged, or if key is not NULL and the record has
 * another key.  Fills in *of unless of is NULL.
 */
bool record_read(struct arena *a, struct bytes file, const struct hash128 *key,
		 struct record *r, struct record_identity *of);

/* ---- store.c: records in a directory, by key ------------------------------------ */

struct store {
	struct arena *a;
	const char *dir;
	size_t damaged; /* number of damaged records that were read */
};

/* Returns the path of the record with this key. */
const char *store_path(const struct store *s, struct arena *a, struct hash128 key);
/* Makes the directory of the store. */
bool store_make(const struct store *s, struct err *e);
/* Reads the record of job j.  False: the store has no such record, or it is damaged. */
bool store_get(struct store *s, const struct job *j, struct record *r);
/* Writes the record of job j, whose text is `file`. */
bool store_put(const struct store *s, const struct job *j, struct bytes file, struct err *e);
/* Reads the records of all jobs with want[i]; sets their member record. */
void store_load(struct store *s, struct plan *p, const bool *want);
/* Deletes the records of failed jobs, so that the jobs are computed again. */
bool store_forget_failed(const struct store *s, struct plan *p, const bool *want,
			 struct err *e);

/*
 * collect.c: all files of a store.  store_collect() deletes unusable files and prints their
 * number.  store_read_all() makes a plan of all records.
 */
bool store_collect(const char *dir, struct hash128 build, struct text *t,
		   struct err *e);
bool store_read_all(struct plan *p, const char *dir, struct err *e);

/* ---- job.c: runs the programs of one job, and makes its record --------------------- */

enum { JOB_CHILDREN = 2 };
/* Starts the programs of a job; child[1] stays unused if one program is enough. */
bool job_start(struct arena *a, const struct programs *p, const struct target *t,
	       enum goal goal, struct child child[JOB_CHILDREN], struct err *e);
/*
 * Makes the record of a job whose programs have ended.  A failed job has a record, too.
 * Returns false if the system failed (no memory, a full disk): then there is no record.
 */
bool job_result(struct arena *a, const struct target *t, enum goal goal,
		const struct child child[JOB_CHILDREN], struct record *r, struct err *e);

/* run.c: runs all jobs with want[i] that have no record; s NULL: no store */
bool run_plan(const struct options *o, const struct programs *programs, struct plan *p,
	      struct store *s, const bool *want, struct err *e);

/* ---- emit.c: prints the plan for another engine --------------------------------- */

bool emit_plan(const struct options *o, struct plan *p, const struct store *s,
	       const bool *want, struct text *t, struct err *e);
/* emit_commands.c: prints a command for each job */
void emit_commands(const struct options *o, const struct plan *p, const bool *want,
		   struct text *t);

/* ---- rows.c: turns results into rows ----------------------------------------------------- */

struct row {
	const struct target *target;
	const char *arena_memory; /* name of the memory of the arena; NULL: not known */
	enum goal goal;
	int64_t limit; /* arena limit in bytes; -1: none */
	/* flash, low_ms and high_ms -1: not known */
#define FIGURE(member, key, source, factor) double member;
#include "figures.def"
	enum status status; /* STATUSES: the result is missing */
	const char *message; /* of a failure, else NULL */
	bool front; /* no other row of the target is better in sram and cycles */
};

struct rows {
	struct arena *a;
	struct row *v;
	size_t n, cap;
	size_t n_failed, n_missing; /* numbers of jobs */
	size_t n_refused;	    /* of the failed jobs: a model that does not fit, for example */
	const char *first_message;  /* of the first failed job, not refused if there is one */
	bool several; /* several models or systems, so that tables name both */
	bool outside; /* an arena is not in SRAM, so that tables name the memory of each */
};

/*
 * Makes the rows of all targets: the results of Size and Performance, and plans of the front.
 * These are all plans that fit the part if `all`; else the smallest, the fastest and the
 * knee, and the fastest one within each of `limits` arena limits.
 */
void rows_make(struct arena *a, const struct plan *p, int limits, bool all, struct rows *r);
/* False: the bytes of flash are those of a compiled file, or not known. */
bool row_flash_is_rough(const struct row *w);
const char *row_status(const struct row *w); /* "ok", "missing", ... */

/* table.c: prints rows as text, CSV or JSON */
void print_rows(struct text *t, const struct rows *r, const struct options *o);
/*
 * candidates.c: the plans of a target's front that fit its part.  None: there is no front, or
 * the part is too small even for the plan of Size.
 */
struct record front_candidates(const struct plan *p, const struct target *t);
/* the memory of a target's arena */
struct arena_memory {
	const char *name; /* as the part calls it; NULL: the file of part or system is gone */
	bool is_not_sram; /* it is outside of the SRAM whose bytes rows have */
	bool has_model; /* it is SRAM, and has the constants and command streams, too */
};
struct arena_memory target_arena(struct arena *a, const struct target *t);
/* Replaces MODEL_MARK in a message by the path of the target's model. */
const char *message_text(struct arena *a, const struct target *t, const char *message);
/* The message of a target without a result; NULL: it has none. */
const char *target_message(const struct plan *p, const struct target *t);
/*
 * why a model does not fit, of a message that names program and model before it, and behind it an
 * option that npu-sweep does not have
 */
const char *reason_text(struct arena *a, const char *message);
/* the result of a job; NULL: there is none */
const struct record *record_of(const struct plan *p, const struct target *t, enum goal goal);
/* the fastest plan, or the smallest one if the fastest does not fit; NULL: neither */
const struct record *record_of_end(const struct plan *p, const struct target *t);

/* pick.c: the knee of a front, and a sentence that compares it with both ends */
struct pick {
	struct point knee, smallest, fastest; /* knee: the plan to take */
	struct point least; /* of pick_sram(): `smallest`, unless SRAM has the model, too */
	/* the knee of the front; another plan than `knee` if little time buys half of its SRAM */
	struct point bend;
	struct point unlimited; /* the plan to take without limits */
	bool is_too_large, is_too_slow; /* `unlimited` is: then `knee` and `bend` are an end within */
	double clock; /* Hz; 0: not known */
	double cpu_ms; /* of an inference on the CPU, if the clock is known */
	bool has_model; /* SRAM has the constants and command streams, too */
	bool any; /* the target has a plan to take; otherwise knee and bend are not valid */
	bool beyond; /* the target has a front, but no plan within the limits; any is false */
};
struct pick pick_knee(const struct plan *p, const struct target *t);
/* milliseconds of an inference, NPU and CPU; needs the clock */
double pick_ms(const struct pick *k, const struct point *v);

/* curves.c: a front, and the targets that have it */
struct curve {
	const struct target *of; /* the first one */
	const char *names;	 /* of all targets, their systems */
	struct arena_memory arena;
	struct record front;	 /* only if pick.any: the plans that fit */
	struct pick pick;
	size_t first, n; /* rows */
	size_t number;	 /* among all curves of the plan, from 0 */
	int hue, label;	 /* label: the curve's number in the picture, from 1 */
};
/*
 * Finds the curves of the model of row i; v has an element for each row.  Advances *number,
 * and returns the first row of the next model.
 */
size_t find_curves(const struct plan *p, const struct rows *r, size_t i, struct curve *v,
		   size_t *n, size_t *number);
/* pick.c: the sentences of --pick */
void pick_sentence(struct text *t, const struct plan *p, const struct curve *k);
/*
 * Names the targets of the fastest plan and of the plan of least SRAM, and those within the limits.
 * Nothing is printed for a single front without limits.
 */
void pick_best(struct text *t, const struct plan *p, const struct curve *v, size_t n);
void print_picks(struct text *t, const struct plan *p, const struct rows *r);
/* html.c: prints an HTML page */
void print_page(struct text *t, const struct plan *p, const struct rows *r,
		const struct options *o);
/*
 * against.c: prints the changes since an older table; *worse: number beyond the tolerance,
 * *unknown: the first target without a result in the table; NULL: none
 */
bool print_changes(struct text *t, const struct rows *now, const struct options *o,
		   size_t *worse, const char **unknown, struct err *e);

/* like.c: takes accelerator and memory system from the compiled model of --like */
bool take_like(struct options *o, struct err *e);

/* options.c */
void options_parse(struct options *o, int argc, char **argv);

#endif
