/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu-sweep: a plan of jobs, a store of their results, and tables of these.  A job is one
 * compilation of one model for one accelerator and memory system.  Its key is a hash of
 * all that determines its result; a record under that key is the result.  main.c calls
 * plan.c or plan_file.c, run.c or emit.c, rows.c and then one of the printers.
 */
#ifndef NPU_SWEEP_SWEEP_H
#define NPU_SWEEP_SWEEP_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/child.h"
#include "base/hash.h"
#include "base/hash_table.h"
#include "base/json.h"
#include "base/text.h"

enum format { AS_TABLE, AS_JSON, AS_CSV, AS_HTML, AS_SENTENCES };
enum engine { HERE, DRY_RUN, NINJA, MAKE, SLURM, JSONL };

struct names {
	const char **v;
	size_t n, cap;
};

struct options {
	struct arena *a;
	struct names models, accels, systems;
	const char *mode, *config, *effort;
	const char *like;    /* a compiled file: its accelerator and memory system */
	const char *results; /* the store; NULL: results are kept in memory */
	const char *plan;    /* a file of --emit=jsonl; NULL: plan the operands */
	const char *run_jobs; /* "1-20,25"; "all"; NULL: print a table in the end */
	const char *against; /* an older table or store */
	const char *output;
	enum format format;
	enum engine engine;
	bool front, merge, retry, gc;
	int limits;
	unsigned jobs;
	int64_t jobs_per_task;
	double timeout;	  /* seconds a job; 0: none */
	double tolerance; /* per cent */
};

/* ---- plan.c: jobs and what they are of ----------------------------------------- */

/* what a job computes: the fastest plan, the smallest, what all limits between give */
enum goal { PERFORMANCE, SIZE, FRONT, GOALS };
extern const char *const goal_names[GOALS];

struct model {
	const char *path, *name; /* name: as tables have it */
	struct hash128 hash;
	size_t index; /* order of the plan */
};

/* options that all jobs of a sweep share; "" where nothing was named */
struct setup {
	const char *mode, *config, *effort;
	uint64_t config_hash; /* of the file's bytes; 0: there is none */
};

/* a model, system and accelerator: up to three jobs, a group of rows */
struct target {
	const struct model *model;
	const struct setup *setup;
	const char *system, *accel;
	size_t job[GOALS]; /* 1 and more: position in the plan; 0: no such job */
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
	struct hash_table interned; /* models, setups and targets that jobs have named */
};

bool plan_options(const struct options *o, struct plan *p, struct err *e);
/* where job k of the plan would be, were it computed from these bytes by these programs */
struct hash128 plan_key(const struct plan *p, const struct target *t, enum goal goal);
/* one more job of a target; the target is added unless the plan has it */
struct job *plan_add_job(struct plan *p, const struct target *t, enum goal goal);
/* the model of a path, read and hashed once; hash: as a file says it, or NULL: read it */
const struct model *plan_model(struct plan *p, const char *path,
			       const struct hash128 *hash, struct err *e);
const struct setup *plan_setup(struct plan *p, struct setup s);
const struct target *plan_target(const struct plan *p, const struct job *j);
/* positions that a list such as "1-20,25" names: want[i], or an error */
bool plan_select(const struct plan *p, const char *list, bool *want, struct err *e);

/* members.c: of the objects that records and plans are; each is put behind a comma */
void put_string(struct text *t, const char *key, const char *s);
void put_hash(struct text *t, const char *key, struct hash128 h);
void text_hash128(struct text *t, struct hash128 h); /* 32 hexadecimal digits */
/* false: o has no such member, or one that is none */
bool get_hash(const struct json *o, const char *key, struct hash128 *h);
bool get_goal(const struct json *o, enum goal *goal);

/* plan_file.c: a plan as lines of JSON */
void plan_print_job(struct text *t, const struct plan *p, size_t k);
bool plan_read(struct plan *p, struct bytes file, const char *name, struct err *e);
/* false: the job's model or the programs are others than when the plan was made */
bool plan_check_job(struct plan *p, const struct job *j, struct err *e);

/* ---- programs.c: what compiles, and its identity -------------------------------- */

struct programs {
	const char *npucc, *perf; /* paths */
	struct hash128 build;
};
bool programs_find_all(struct arena *a, struct programs *p, struct err *e);

/* ---- record.c: the result of a job, as a file ----------------------------------- */

enum status { OK, REFUSED, FAILED, CRASHED, TIMEOUT, STATUSES };
extern const char *const status_names[STATUSES];
enum { RECORD_MAX = 1 << 26 }; /* bytes of a file */

struct point {
	double sram, cycles;
};

struct record {
	enum status status;
	double sram, flash, cycles, ms; /* of PERFORMANCE and SIZE */
	double clock; /* Hz; 0: not known */
	const struct point *point; /* of FRONT */
	size_t n_points;
	const char *message; /* one line; NULL: OK.  MODEL_MARK stands for the model */
};
/* in messages: a job's result does not depend on what the model is called */
#define MODEL_MARK "{model}"

void record_print(struct text *t, const struct plan *p, const struct job *j,
		  const struct record *r);
/* what a record says that it is the result of, for those who have only the file */
struct record_identity {
	struct hash128 key, build, model_hash;
	const char *model, *system, *accel, *mode, *config, *effort;
	enum goal goal;
};
/* False: the file is damaged.  key: the job that it has to be of; of: or NULL */
bool record_read(struct arena *a, struct bytes file, const struct hash128 *key,
		 struct record *r, struct record_identity *of);

/* ---- store.c: records in a directory, by key ------------------------------------ */

struct store {
	struct arena *a;
	const char *dir;
	size_t damaged; /* records that were read and are not whole */
};

const char *store_path(const struct store *s, struct arena *a, struct hash128 key);
bool store_make(const struct store *s, struct err *e);
/* true: the record is there and whole */
bool store_get(struct store *s, const struct job *j, struct record *r);
bool store_put(const struct store *s, const struct job *j, struct bytes file, struct err *e);
/* what is there of the jobs that want[] has */
void store_load(struct store *s, struct plan *p, const bool *want);
/* removes the results of failed jobs, so that they are computed again */
bool store_forget_failed(const struct store *s, struct plan *p, const bool *want,
			 struct err *e);

/* collect.c: what is in a store: removed, or read as a plan */
bool store_collect(const char *dir, struct hash128 build, struct text *t,
		   struct err *e);
bool store_read_all(struct plan *p, const char *dir, struct err *e);

/* ---- job.c: one job's programs, and the record that they make --------------------- */

enum { JOB_CHILDREN = 2 };
bool job_start(struct arena *a, const struct programs *p, const struct target *t,
	       enum goal goal, struct child child[JOB_CHILDREN], struct err *e);
/*
 * Of programs that have ended.  False: it is the system that failed (memory, a full
 * disk), which is no result.
 */
bool job_result(struct arena *a, const struct target *t, enum goal goal,
		const struct child child[JOB_CHILDREN], struct record *r, struct err *e);

/* run.c: all jobs that want[] has and that have no record */
bool run_plan(const struct options *o, const struct programs *programs, struct plan *p,
	      struct store *s, const bool *want, struct err *e);

/* ---- emit.c: the plan for somebody else's engine --------------------------------- */

bool emit_plan(const struct options *o, struct plan *p, const struct store *s,
	       const bool *want, struct text *t, struct err *e);
/* emit_commands.c */
void emit_commands(const struct options *o, const struct plan *p, const bool *want,
		   struct text *t);
void text_shell(struct text *t, const char *word);

/* ---- rows.c: results as rows ----------------------------------------------------- */

struct row {
	const struct target *target;
	enum goal goal;
	int64_t limit; /* bytes; -1: none */
	double sram, flash, cycles, ms; /* flash: -1: not known */
	enum status status;
	const char *message; /* of a failure, else NULL */
	bool front;
};

struct rows {
	struct arena *a;
	struct row *v;
	size_t n, cap;
	size_t n_failed, n_missing; /* jobs */
	const char *first_message;  /* of a job that failed */
	bool several; /* models or systems: tables name them */
};

void rows_make(struct arena *a, const struct plan *p, int limits, struct rows *r);
const char *row_status(const struct row *w); /* "ok", "missing", ... */

/* table.c: rows as text */
void print_rows(struct text *t, const struct rows *r, const struct options *o);
/* pick.c: the knee of a front, and a sentence on what it is worth */
struct pick {
	struct point knee, smallest, fastest;
	double clock;
	bool any;
};
struct pick pick_knee(const struct plan *p, const struct target *t);
void pick_sentence(struct text *t, const struct target *target, const struct pick *k);
void print_picks(struct text *t, const struct plan *p);
/* html.c */
void print_page(struct text *t, const struct plan *p, const struct rows *r,
		const struct options *o);
/* against.c: what changed since another table; *worse: beyond the tolerance */
bool print_changes(struct text *t, const struct rows *now, const struct options *o,
		   size_t *worse, struct err *e);

/* like.c: options out of a compiled file */
bool take_like(struct options *o, struct err *e);

/* options.c */
void options_parse(struct options *o, int argc, char **argv);

#endif
