/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three methods to compile a model. compile_plain() runs all stages as one pipe.
 * compile_to_model() runs a pipe to the compiled model, which --check and reports read, and then
 * the last stage. compile_kept() runs one stage after the other, with a file each.
 */
#include "npucc.h"

#include "base/cli.h"

#include <string.h>
#include <sys/stat.h>

enum { MAX_BASE = 240 }; /* with "_npu.tflite", names have at most 255 bytes */

const char *
stage_file(const struct npucc *c, enum program p)
{
	return arena_printf(c->a, "%s%s%s", c->base, p == CMDGEN ? "_npu" : "",
			    stage_suffix(p == QUANTCHECK ? CMDGEN : p));
}

/*
 * Makes another model of the model, which all later programs read instead: an integer model
 * of the float model, or the network between two cuts.
 */
static bool
replace_model(struct npucc *c, enum program p, const char *name, const char *option)
{
	const char *to = place_private(c, c->beside ? c->beside : c->in_keep, name,
				       file_name(c->o->in));
	const char *printed = NULL;
	if (p == QUANTIZE && (c->o->page || c->o->keep)) {
		option = "--json";
		printed = place_private(c, c->o->keep ? c->in_keep : c->beside,
					"quantization.json", NULL);
		c->quantization = arena_printf(c->a, "--quantization=%s", printed);
	}
	const struct job job = { .program = p, .input = c->model, .output = to,
				 .option = { option },
				 .printed = printed,
				 .fed = c->model ? (struct bytes){ 0 } : c->piped };
	c->model = to;
	return run_jobs(c, &job, 1);
}

/*
 * Sets the model's path and name.  Standard input is copied to a file if a later
 * program reads the model again.
 */
static bool
take_model(struct npucc *c)
{
	c->model = c->piped.p ? NULL : c->o->in;
	/* the model's name without its suffix: at most MAX_BASE bytes, in whole characters */
	const char *suffix = c->tosa ? ".tosa" : stage_suffix(CMDGEN);
	const char *name = file_base(c->o->in ? c->o->in : arena_printf(c->a, "model%s", suffix));
	size_t n = strlen(name), k = strlen(suffix);
	if (n >= k && !strcmp(name + n - k, suffix))
		n -= k;
	if (n > MAX_BASE)
		for (n = MAX_BASE; n && ((unsigned char)name[n] & 0xc0) == 0x80;)
			n--;
	c->base = arena_strndup(c->a, name, n);
	bool replaced = c->o->to[QUANTIZE].n || c->o->to[CUT].n;
	if ((c->o->to[QUANTIZE].n && !replace_model(c, QUANTIZE, "quantized.tflite", NULL)) ||
	    (c->o->to[CUT].n && !replace_model(c, CUT, "cut.tflite", "--cut-only")))
		return false;
	/* --front and --explain without -o: NULL, and one pipe reads the model */
	const char *dir = c->beside ? c->beside : c->in_keep;
	if (replaced || c->model || !dir ||
	    (!c->o->keep && !c->o->check && !c->o->page && !c->o->part))
		return compile_bodies(c);
	/* not the name of a kept file, which begins with base */
	c->model = place_private(c, dir, c->tosa ? "input.tosa" : "input.tflite",
				 "standard input");
	return file_write(c->model, c->piped.p, c->piped.n, true, c->e) && compile_bodies(c);
}

/*
 * True if the model is a regular file and no link: /dev/stdin is a different file for
 * each stage.
 */
static bool
model_is_file(const struct npucc *c)
{
	struct stat st;
	return c->model && !lstat(c->model, &st) && S_ISREG(st.st_mode);
}

/*
 * Lets the graph between the stages name the model's file.  Otherwise each stage would
 * read and write the model as text, six bytes of text for four bytes of the model.
 */
static const char *
name_of_model(struct npucc *c)
{
	bool graph_is_output = c->o->last < CMDGEN && !c->o->report;
	if (c->o->keep || graph_is_output || !model_is_file(c))
		return NULL;
	return arena_printf(c->a, "--by-name=%s", c->model);
}

/*
 * Lets npu-wenc write the constants to a private file, if there is a private directory:
 * only npu-cmdgen reads the constants.
 */
static const char *
place_of_constants(struct npucc *c)
{
	if (!c->beside || c->o->keep || c->o->last < CMDGEN)
		return NULL;
	bool is_file = c->o->out && strcmp(c->o->out, "-") != 0;
	const char *called = arena_printf(c->a, "%s (its constants)",
					  is_file ? c->o->out : "standard output");
	return arena_printf(c->a, "--blob=%s",
			    place_private(c, c->beside, "flash.bin", called));
}

struct job
job_of(struct npucc *c, enum program p)
{
	bool first = p == first_stage(c);
	struct job j = {
		.program = program_of(c, p),
		.input = first ? c->model : NULL,
		.fed = first && !c->model ? c->piped : (struct bytes){ 0 },
	};
	/* the option that npucc adds for the stage; NULL: none */
	const char *own = p == QUANTCHECK		? "--pass"
			  : p == PARTITION && !c->tosa ? name_of_model(c)
			  : p == WENC			? place_of_constants(c)
							: NULL;
	const struct words *w = &c->o->to[TFL2C];
	bool is_named = false; /* by an option; a dialect has a name of its own */
	for (size_t i = 0; i < w->n; i++)
		is_named |= !strncmp(w->v[i], "-n", 2) || !strncmp(w->v[i], "--name", 6) ||
			    !strncmp(w->v[i], "--dialect", 9);
	/* named after the file, so that two headers in one firmware never collide */
	if (p == TFL2C && !is_named)
		own = arena_printf(c->a, "--name-of=%s", c->base);
	/* options to read the files that its graph names */
	size_t n = 0;
	if (own)
		j.option[n++] = own;
	if (p >= SCHED && p <= CMDGEN && name_of_model(c))
		j.option[n++] = arena_printf(c->a, "--permit=%s", c->model);
	/* npu-wenc writes the constants there while npu-cmdgen runs already */
	if (p == CMDGEN && c->beside)
		j.option[n++] = arena_printf(c->a, "--permit=%s", c->beside);
	/* the name of the input in messages; NULL: the model */
	j.called = first ? NULL : stage_file(c, (enum program)(p - 1));
	j.unseen = !c->o->keep;
	return j;
}

/* runs the stages up to last as one pipe; to: a file, or NULL for standard output */
static bool
run_pipe(struct npucc *c, enum program last, const char *to)
{
	struct job job[N_STAGES];
	size_t n = 0;
	for (int p = (int)first_stage(c); p <= (int)last; p++)
		job[n++] = job_of(c, (enum program)p);
	job[n - 1].output = to;
	/*
	 * For a model in a regular file, tfl-quantcheck runs in parallel with the stages
	 * that rely on its answer, because they can read the file themselves.  Not if the
	 * output goes to standard output: the answer may be no, and written output can't
	 * be taken back.
	 */
	if (n >= 2 && to && job[0].program == QUANTCHECK && model_is_file(c)) {
		job[0].aside = job[0].mute = true;
		job[1].from = c->model;
	}
	return run_jobs(c, job, n);
}

static bool
to_standard_output(const struct options *o)
{
	return o->out && !strcmp(o->out, "-");
}

bool
compile_plain(struct npucc *c, const char **made)
{
	*made = to_standard_output(c->o) && !part_is_checked(c->o)
		    ? NULL
		    : place_private(c, c->beside, "out", c->o->out);
	return take_model(c) && run_pipe(c, c->o->last, *made);
}

bool
needs_model(const struct options *o)
{
	return o->check || (o->page && o->last == TFL2C);
}

/* the compiled model in messages */
static const char *
called(const struct options *o)
{
	return o->last == CMDGEN && !to_standard_output(o) ? o->out : "the compiled model";
}

/* At most one stage follows the compiled model. */
bool
compile_to_model(struct npucc *c, const char **made)
{
	bool is_model = c->o->last == CMDGEN;
	const char *model = place_private(c, c->beside, "compiled.tflite", called(c->o));
	*made = model;
	c->compiled = model;
	if (!take_model(c) || !run_pipe(c, CMDGEN, model))
		return false;
	if (is_model)
		return true;
	struct job job = job_of(c, TFL2C);
	*made = place_private(c, c->beside, "out", c->o->out);
	job.from = model;
	job.output = *made;
	return run_jobs(c, &job, 1);
}

/* ---- --keep ----------------------------------------------------------------------- */

static const char *
kept(struct npucc *c, const char *name)
{
	return arena_printf(c->a, "%s/%s", c->in_keep, name);
}

struct options
other_plans(struct arena *a, const struct options *own, const struct words *words,
	    const char *more)
{
	struct options o = *own;
	struct words w = { .v = anew(a, const char *, words->n + 2) };
	for (size_t i = 0; i < words->n; i++)
		if (strncmp(words->v[i], "--plan=", strlen("--plan=")) != 0 &&
		    strncmp(words->v[i], "--keep-plan=", strlen("--keep-plan=")) != 0)
			w.v[w.n++] = words->v[i];
	if (more)
		w.v[w.n++] = more;
	o.to[SCHED] = w;
	return o;
}

/* The encoded graph has all names, even if the compiled model has no source map. */
static const struct kept_report {
	enum program program;
	const char *option[2], *decided;
	enum program of; /* stage whose file is the input; REPORT: report.json is the input */
	const char *name;
} reports[] = {
	{ PERF, { NULL }, NULL, WENC, "report.txt" },
	{ PERF, { "--json" }, NULL, WENC, "report.json" },
	{ PERF, { "--csv" }, NULL, WENC, "report.csv" },
	{ PERF, { "--summary-csv" }, NULL, WENC, "summary.csv" },
	{ PERF, { "--yaml" }, NULL, WENC, "report.yaml" },
	{ PERF, { "--trace" }, NULL, WENC, "trace.json" },
	{ SCHED, { "--front", "--json" }, NULL, PARTITION, "front.json" },
	{ REPORT, { "--html" }, NULL, REPORT, "report.html" },
};

static bool
run_report(struct npucc *c, const struct kept_report *r)
{
	/* the compiled model has the bodies, too */
	enum program from = r->of == WENC && c->bodies.n ? CMDGEN : r->of;
	const char *of = r->of == REPORT ? "report.json" : stage_file(c, from);
	const char *front = kept(c, "front.json");
	struct job job = {
		.program = r->program,
		.option = { r->option[0], r->of == REPORT ? c->quantization : r->option[1] },
		.decided = r->decided,
		.repeats = r->program == SCHED,
	};
	job.input = kept(c, of);
	job.output = kept(c, r->name);
	if (r->of == REPORT)
		job.decided = arena_printf(c->a, "--front=%s", front);
	const struct options *own = c->o;
	struct options o = other_plans(c->a, own, &own->to[SCHED], NULL);
	c->o = r->program == SCHED ? &o : own;
	bool ok = run_jobs(c, &job, 1);
	c->o = own;
	return ok;
}

/* writes all kept files as one archive, in a directory with the model's name */
static bool
adopt_archive(struct npucc *c, const char *const *name, size_t n)
{
	/*
	 * The directory in the archive.  The names "", "." and ".." would be places outside of the
	 * directory where the archive is unpacked.
	 */
	const char *dir = c->base[strspn(c->base, ".")] ? c->base : "model";
	struct text tar = { 0 }, gz = { 0 };
	struct arena *a = arena_open();
	bool ok = true;
	for (size_t i = 0; ok && i < n; i++) {
		struct bytes b;
		ok = file_read(a, kept(c, name[i]), SIZE_MAX / 4, &b, c->e);
		if (ok)
			tar_add(a, &tar, arena_printf(a, "%s/%s", dir, name[i]), b);
	}
	tar_end(&tar);
	gzip(a, &gz, (struct bytes){ .p = (const uint8_t *)tar.p, .n = tar.n });
	const char *whole = kept(c, ".archive"); /* no stage's file has this name */
	ok = ok && file_write(whole, gz.p, gz.n, true, c->e) &&
	     file_set_adopt(c->files, c->o->keep, whole, c->e);
	text_free(&tar);
	text_free(&gz);
	arena_close(a);
	return ok;
}

/* lets all kept files get their names in the directory */
static bool
adopt_all(struct npucc *c, const char *const *name, size_t n)
{
	if (c->o->archive)
		return adopt_archive(c, name, n);
	struct err same = { 0 };
	for (size_t i = 0; i < n; i++) {
		const char *to = arena_printf(c->a, "%s/%s", c->o->keep, name[i]);
		/* the output of -o may be a kept file, and has the same bytes */
		if (c->o->out && !strcmp(to, c->o->out) &&
		    !strcmp(name[i], stage_file(c, c->o->last)))
			continue;
		/* the model may be in this directory; then it is not replaced by its copy */
		if (file_check_output(to, c->o->in, &same) &&
		    !file_set_adopt(c->files, to, kept(c, name[i]), c->e))
			return false;
	}
	return true;
}

bool
compile_kept(struct npucc *c, const char **made)
{
	size_t n = 0;
	bool on_npu;
	/* messages show the final name of a kept file */
	(void)place_private(c, c->in_keep, "", "");
	if (!take_model(c))
		return false;
	const char **name = anew(c->a, const char *,
				 N_STAGES + ARRAY_LEN(reports) + c->kept_bodies.n + 4);
	struct bytes b;
	if (c->tosa) {
		/* tfl-quantcheck copies a model */
		name[n++] = arena_printf(c->a, "%s.tosa", c->base);
		if (!file_read(c->a, c->model, INT32_MAX, &b, c->e) ||
		    !file_write(kept(c, name[0]), b.p, b.n, true, c->e))
			return false;
	}
	int first = (int)first_stage(c);
	for (int p = first; p < N_STAGES; p++) {
		struct job job = job_of(c, (enum program)p);
		const char *from = p > first ? kept(c, job.called) : NULL;
		name[n++] = stage_file(c, (enum program)p);
		job.output = kept(c, name[n - 1]);
		if (p == TFL2C)
			/*
			 * from standard input, as in the pipe: tfl2c may use a file's
			 * name
			 */
			job.from = from;
		else if (p > first)
			job.input = from;
		if (!run_jobs(c, &job, 1))
			return false;
	}
	const char *npu = stage_file(c, CMDGEN);
	struct job placed = { .program = program_of(c, PARTITION), .option = { "--report" } };
	placed.input = c->tosa ? c->model : kept(c, stage_file(c, QUANTCHECK));
	placed.output = kept(c, "partition.txt");
	if (!uses_npu(c, kept(c, npu), &on_npu) || !run_jobs(c, &placed, 1))
		return false;
	for (size_t i = 0; i < (on_npu ? ARRAY_LEN(reports) : 0); i++)
		if (!run_report(c, &reports[i]))
			return false;
	for (size_t i = 0; i < c->kept_bodies.n; i++)
		name[n++] = c->kept_bodies.v[i];
	name[n++] = "partition.txt";
	if (c->quantization)
		name[n++] = "quantization.json";
	for (size_t i = 0; i < (on_npu ? ARRAY_LEN(reports) : 0); i++)
		name[n++] = reports[i].name;
	struct text t = { 0 };
	bool ok = manifest_print(c, name, n, on_npu, &t) &&
		  file_write(kept(c, "manifest.json"), t.p, t.n, false, c->e);
	text_free(&t);
	if (!ok || (c->o->check && !check_compiled(c, kept(c, npu), npu)))
		return false;
	name[n++] = "manifest.json";
	if (!adopt_all(c, name, n))
		return false;
	/* the output is a copy of a kept file */
	const char *from = kept(c, stage_file(c, c->o->last));
	*made = from;
	if (c->o->last == TFL2C)
		c->compiled = kept(c, npu);
	if (!c->o->out || to_standard_output(c->o))
		return true;
	*made = place_private(c, c->beside, "out", c->o->out);
	return file_read(c->a, from, SIZE_MAX / 4, &b, c->e) &&
	       file_write(*made, b.p, b.n, true, c->e);
}

bool
check_result(struct npucc *c, const char *made)
{
	return check_part(c, made) &&
	       (!c->o->check || c->o->keep || check_compiled(c, c->compiled, called(c->o)));
}

/* ---- a model that is not all integer --------------------------------------------- */

/* the last line of text, without its line feed */
static const char *
last_line(struct arena *a, struct bytes text)
{
	const char *s = arena_strndup(a, (const char *)text.p, text.n);
	size_t n = strlen(s);
	while (n && s[n - 1] == '\n')
		n--;
	s = arena_strndup(a, s, n);
	const char *feed = strrchr(s, '\n');
	return feed ? feed + 1 : s;
}

/*
 * Needs a model in a file and a private directory for tfl-partition's report.  A
 * failure is ignored.
 */
void
tell_operators(struct npucc *c)
{
	const char *dir = c->beside ? c->beside : c->in_keep;
	struct npucc aside = *c;
	struct err none = { 0 };
	struct bytes report;
	if (!c->not_integer || !c->model || !dir)
		return;
	struct job job = { .program = PARTITION, .option = { "--report" },
			   .input = c->model, .silent = true };
	job.output = place_private(c, dir, "operators.txt", NULL);
	aside.e = &none;
	/* without the report, it also refuses what no kernel of the CPU computes */
	struct job same = { .program = PARTITION, .option = { "--allow=unequal-quantization" },
			    .input = c->model, .mute = true, .silent = true };
	if (!run_jobs(&aside, &same, 1) || !run_jobs(&aside, &job, 1) ||
	    !file_read(c->a, job.output, INT32_MAX, &report, &none))
		return;
	const char *sum = last_line(c->a, report);
	if (strstr(sum, " operators on the NPU") && strncmp(sum, "0 of ", 5) != 0)
		cli_note("note", "%s: with --allow, %s", file_name(c->o->in),
			 sum);
}
