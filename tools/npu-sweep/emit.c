/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints a plan for ninja, make or Slurm.  The plan is a file in the store.  A task names
 * the plan and some of its jobs; the outputs of the task are the records of these jobs.
 * Jobs that have a record belong to no task.
 */
#include "sweep.h"

#include "base/file.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct task {
	size_t first, n; /* positions in struct tasks */
};

struct tasks {
	struct arena *a;
	struct plan *p;
	const struct store *s;
	const char *plan; /* path of the plan's file */
	size_t *job, n_jobs; /* positions in the plan, of jobs without a result */
	size_t per_task, n;
};

static struct task
task_at(const struct tasks *k, size_t i)
{
	size_t first = i * k->per_task, left = k->n_jobs - first;
	return (struct task){ .first = first, .n = left < k->per_task ? left : k->per_task };
}

/* Prints a task's jobs in the syntax of --run-jobs, for example "1-20,25". */
static void
put_list(struct text *t, const struct tasks *k, struct task task)
{
	const size_t *job = k->job + task.first;
	for (size_t i = 0; i < task.n;) {
		size_t last = i;
		while (last + 1 < task.n && job[last + 1] == job[last] + 1)
			last++;
		text_printf(t, "%s%zu", i ? "," : "", job[i] + 1);
		if (last > i)
			text_printf(t, "-%zu", job[last] + 1);
		i = last + 1;
	}
}

static void
put_command(struct text *t, const struct options *o, const struct tasks *k)
{
	text_puts(t, "npu-sweep --plan=");
	text_shell(t, k->plan);
	text_puts(t, " --results=");
	text_shell(t, k->s->dir);
	if (o->timeout > 0)
		text_printf(t, " --timeout=%g", o->timeout);
}

static void
put_records(struct text *t, const struct tasks *k, struct task task)
{
	struct arena *scratch = arena_open();
	for (size_t i = 0; i < task.n; i++)
		text_printf(t, " %s", store_path(k->s, scratch,
						 k->p->job[k->job[task.first + i]].key));
	arena_close(scratch);
}

/* Prints a path for ninja, with a $ before each $, space, colon and bar. */
static void
put_ninja_path(struct text *t, const char *path)
{
	text_putc(t, ' ');
	for (; *path; path++) {
		if (strchr("$ :|", *path))
			text_putc(t, '$');
		text_putc(t, *path);
	}
}

/* ---- engines ------------------------------------------------------------------------------ */

static void
emit_ninja(const struct options *o, const struct tasks *k, struct text *t)
{
	text_puts(t, "# npu-sweep --emit=ninja\nrule sweep\n  command = ");
	put_command(t, o, k);
	text_puts(t, " -j1 --run-jobs=$jobs\n  description = npu-sweep $jobs\n"
		     "  restat = 1\n");
	for (size_t i = 0; i < k->n; i++) {
		struct task task = task_at(k, i);
		text_puts(t, "build");
		put_records(t, k, task);
		text_puts(t, ": sweep |");
		/* the plan and the models: an engine copies these inputs to other machines */
		const struct model *last = NULL;
		put_ninja_path(t, k->plan);
		for (size_t n = 0; n < task.n; n++) {
			const struct job *j = &k->p->job[k->job[task.first + n]];
			const struct model *m = plan_target(k->p, j)->model;
			if (m != last && !strchr(m->path, '\n'))
				put_ninja_path(t, m->path);
			last = m;
		}
		text_puts(t, "\n  jobs = ");
		put_list(t, k, task);
		text_putc(t, '\n');
	}
	text_puts(t, "build sweep: phony");
	for (size_t i = 0; i < k->n; i++)
		put_records(t, k, (struct task){ .first = task_at(k, i).first, .n = 1 });
	text_puts(t, "\ndefault sweep\n");
}

static void
emit_make(const struct options *o, const struct tasks *k, struct text *t)
{
	text_puts(t, "# npu-sweep --emit=make; groups of targets (&:) need GNU make 4.3\n"
		     ".PHONY: sweep\nsweep:\n");
	for (size_t i = 0; i < k->n; i++) {
		struct task task = task_at(k, i);
		text_puts(t, "sweep:");
		put_records(t, k, task);
		text_putc(t, '\n');
		put_records(t, k, task);
		text_puts(t, " &:\n\t");
		put_command(t, o, k);
		text_puts(t, " -j1 --run-jobs=");
		put_list(t, k, task);
		text_putc(t, '\n');
	}
}

static void
emit_slurm(const struct options *o, const struct tasks *k, struct text *t)
{
	text_puts(t, "#!/bin/bash\n#SBATCH --job-name=npu-sweep\n#SBATCH --ntasks=1\n");
	if (k->n)
		text_printf(t, "#SBATCH --array=0-%zu\n", k->n - 1);
	text_puts(t, "# npu-sweep --emit=slurm; an element of jobs is a task of the array\n"
		     "jobs=(\n");
	for (size_t i = 0; i < k->n; i++) {
		put_list(t, k, task_at(k, i));
		text_putc(t, '\n');
	}
	text_puts(t, ")\n[ ${#jobs[@]} -gt 0 ] || exit 0\nexec ");
	put_command(t, o, k);
	text_puts(t, " -j \"${SLURM_CPUS_PER_TASK:-1}\" \\\n"
		     "\t--run-jobs=\"${jobs[${SLURM_ARRAY_TASK_ID?is of an array of Slurm}]}\""
		     "\n");
}

/* ---- the plan in the store ---------------------------------------------------- */

/*
 * Writes the plan to the store.  The file's name is a hash of its content, so that a plan
 * that an engine still uses is never overwritten.
 */
static bool
keep_plan(struct tasks *k, struct err *e)
{
	struct text t = { 0 };
	for (size_t i = 0; i < k->p->n_jobs; i++)
		plan_print_job(&t, k->p, i);
	const char *dir = arena_printf(k->a, "%s/plans", k->s->dir);
	k->plan = arena_printf(k->a, "%s/%016" PRIx64 ".jsonl", dir, hash_xxh3(t.p, t.n));
	struct bytes b = { .p = (const uint8_t *)t.p, .n = t.n };
	struct file_set *f = file_set_open(k->a);
	file_set_directory(f, dir);
	/* the plan of --plan may be this file, which is then complete */
	bool ok = !access(k->plan, F_OK) || file_set_lend(f, k->plan, b, false, e);
	ok = file_set_end(f, ok, e);
	text_free(&t);
	return ok;
}

bool
emit_plan(const struct options *o, struct plan *p, const struct store *s, const bool *want,
	  struct text *t, struct err *e)
{
	enum { SLURM_TASKS = 1000 }; /* Slurm's default of MaxArraySize, minus 1 */
	/* characters without a meaning for ninja, make or the shell */
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+./,@";
	struct tasks k = { .a = p->a, .p = p, .s = s, .per_task = (size_t)o->jobs_per_task };
	struct hash_table keys = { .a = k.a };
	/* the jobs without a result, in tasks of at most per_task jobs */
	k.job = anew(k.a, size_t, p->n_jobs);
	for (size_t i = 0; i < p->n_jobs; i++) {
		struct job *j = &p->job[i];
		if (!want[i] || j->record)
			continue;
		/* models of the same bytes have one record, which one task makes */
		void **seen = o->engine == JSONL ? NULL : hash_table_at(&keys, j->key.low);
		if (!seen || !*seen)
			k.job[k.n_jobs++] = i;
		if (seen)
			*seen = j;
	}
	if (o->engine == SLURM && k.n_jobs > SLURM_TASKS * k.per_task)
		k.per_task = (k.n_jobs + SLURM_TASKS - 1) / SLURM_TASKS;
	k.n = (k.n_jobs + k.per_task - 1) / k.per_task;
	if (o->engine == JSONL) {
		for (size_t i = 0; i < k.n_jobs; i++)
			plan_print_job(t, p, k.job[i]);
		return true;
	}
	if (s->dir[strspn(s->dir, plain)] || *s->dir == '-')
		return err_at(e, s->dir, 0, "--emit needs a --results directory of letters, digits "
			      "and _-+./,@ only; other characters have a meaning for ninja, make or "
			      "the shell");
	if (!keep_plan(&k, e))
		return false;
	if (o->engine == NINJA)
		emit_ninja(o, &k, t);
	else if (o->engine == MAKE)
		emit_make(o, &k, t);
	else
		emit_slurm(o, &k, t);
	return true;
}
