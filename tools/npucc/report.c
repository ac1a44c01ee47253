/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports a compilation in about a dozen lines and on a page.  The report has
 * npu-perf's numbers and, with --advice, the curves of npu-sched for the accelerator and
 * for the others of its generation.  A curve takes five to ten times the time of a plan.
 */
#include "npucc.h"

#include "base/cli.h"
#include "map/profile.h"
#include "target/accel.h"
#include "target/part.h"
#include "target/target.h"
#include "tflite/tflite.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The other files are private files beside the compiled one. */
struct reporter {
	struct npucc c; /* with its own options o */
	struct options o;
	const char *graph, *numbers;
	size_t cap; /* of the options for npu-report */
};

static const char *
beside(struct npucc *c, const char *name)
{
	return place_private(c, c->beside, name, NULL);
}

static void
tell_report(struct reporter *r, const char *word)
{
	struct words *w = &r->o.to[REPORT];
	agrow(r->c.a, w->v, w->n, &r->cap);
	w->v[w->n++] = word;
}

static bool
has_prefix(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* appends the options of from, but for those that name the NPU */
static void
add_but_target(struct words *w, const struct words *from)
{
	for (size_t i = 0; i < from->n; i++)
		if (!has_prefix(from->v[i], "--part=") &&
		    !has_prefix(from->v[i], "--accelerator-config="))
			w->v[w->n++] = from->v[i];
}

/*
 * Options of npu-sched for another accelerator: those of the user, with a part's
 * profile but without its NPU.
 */
static struct words
words_for(struct reporter *r, const char *accel)
{
	struct arena *a = r->c.a;
	const struct words *from = &r->c.o->to[SCHED];
	struct words w = { .v = anew(a, const char *, from->n + 7) };
	struct err none = { 0 };
	const struct target_part *p = target_part_take(a, r->o.part, &none);
	if (p) {
		int64_t limit = target_part_sram(p, r->o.for_linux);
		w.v[w.n++] = arena_printf(a, "--system-config=%s", p->system);
		w.v[w.n++] = arena_printf(a, "--memory-mode=%s", p->mode);
		if (p->config)
			w.v[w.n++] = arena_printf(a, "--config=%s", p->config);
		w.v[w.n++] = arena_printf(a, "--arena-cache-size=%lld", (long long)limit);
	}
	add_but_target(&w, from);
	w.v[w.n++] = "--any-accelerator";
	w.v[w.n++] = arena_printf(a, "--accelerator-config=%s", accel);
	return w;
}

/* Options of a stage for another part. */
static struct words
words_for_part(struct reporter *r, const struct words *from, const struct target_part *p)
{
	struct words w = { .v = anew(r->c.a, const char *, from->n + 1) };
	add_but_target(&w, from);
	w.v[w.n++] = arena_printf(r->c.a, "--part=%s", p->name);
	return w;
}

/* A failure only omits the front from the report, as the user did not ask for it. */
static const char *
ask_front(struct reporter *r, const char *graph, const struct words *words, const char *name,
	  const char *shown)
{
	struct options o = other_plans(r->c.a, &r->o, words, NULL);
	struct npucc c = r->c;
	struct err none = { 0 };
	struct job job = { .program = SCHED, .option = { "--front", "--json" },
			   .input = graph, .silent = true, .shown = shown };
	job.output = beside(&r->c, name);
	c.o = &o;
	c.e = &none;
	return run_jobs(&c, &job, 1) ? job.output : NULL;
}

/* Lowers the model into the file graph; part: for this part, NULL: for that of the user. */
static bool
lower_again(struct reporter *r, const struct target_part *part, const char *graph)
{
	struct options o = r->o;
	struct npucc c = r->c;
	struct err none = { 0 };
	enum program p = program_of(&c, PARTITION);
	struct job job = { .program = p, .input = c.model, .output = graph, .silent = true };
	if (part)
		o.to[p] = words_for_part(r, &r->o.to[p], part);
	c.o = &o;
	c.e = &none;
	return run_jobs(&c, &job, 1);
}

/* another NPU whose curve is asked for */
struct other_npu {
	const struct accel *accel;
	const struct target_part *part; /* with this NPU on the user's chip; NULL: none */
};

static void
ask_other(struct reporter *r, const struct other_npu *x, const char *shown)
{
	struct arena *a = r->c.a;
	const char *name = x->part ? x->part->name : x->accel->name, *graph = r->graph;
	struct words w = x->part ? words_for_part(r, &r->c.o->to[SCHED], x->part)
				 : words_for(r, x->accel->name);
	if (x->part) { /* the lowering is that of its generation */
		graph = beside(&r->c, arena_printf(a, "%s.part", name));
		if (!lower_again(r, x->part, graph))
			return;
	}
	const char *front = ask_front(r, graph, &w, arena_printf(a, "%s.json", name),
				      arena_printf(a, "%s, for %s", shown, name));
	if (front)
		tell_report(r, arena_printf(a, "--other=%s=%s", name, front));
}

static bool
is_on_a_part(const struct accel *x)
{
	const struct target_part *p;
	size_t n = 0;
	while ((p = target_part_at(n)) && strcmp(p->accel, x->name) != 0)
		n++;
	return p != NULL;
}

/* made: the compiled model */
static void
ask_fronts(struct reporter *r, const char *made)
{
	struct arena *a = r->c.a;
	struct other_npu others[ACCEL_COUNT];
	struct err none = { 0 };
	if (!lower_again(r, NULL, r->graph))
		return;
	const char *front = ask_front(r, r->graph, &r->o.to[SCHED], "front.json",
				      "curve of SRAM and time");
	if (front)
		tell_report(r, arena_printf(a, "--front=%s", front));
	/*
	 * The other accelerators of the generation, of a part only those that another part has, and all
	 * that are on the chip of the user's part.  A part on the chip has a clock and memories of its own.
	 */
	const struct accel *own = r->o.accel ? accel_find(r->o.accel) : NULL;
	const struct target_part *p = target_part_take(a, r->o.part, &none);
	int n = 0;
	for (int i = 0; own && i < ACCEL_COUNT; i++) {
		const struct accel *x = &accels[i];
		const struct target_part *beside_it = target_part_beside(p, x->name);
		if (x != own && (beside_it || (x->generation == own->generation &&
					       (!p || is_on_a_part(x)))))
			others[n++] = (struct other_npu){ .accel = x, .part = beside_it };
	}
	for (int i = 0; i < n; i++)
		ask_other(r, &others[i], arena_printf(a, "curve %d of %d", i + 2, n + 1));
	/* constants in the memory of the arena, if the compiled model fits it */
	struct stat st;
	if (!p || p->cache_bytes || strcmp(p->mode, "Shared_Sram") != 0 ||
	    target_part_has_one_memory(p) || passes(r->c.o, SCHED, "--memory-mode") ||
	    stat(made, &st) || st.st_size > p->arena_bytes)
		return;
	const struct words *from = &r->c.o->to[SCHED];
	struct words w = { .v = anew(a, const char *, from->n + 1) };
	for (size_t i = 0; i < from->n; i++)
		w.v[w.n++] = from->v[i];
	w.v[w.n++] = "--memory-mode=Sram_Only";
	front = ask_front(r, r->graph, &w, "sram-only.json", "curve of Sram_Only");
	if (front)
		tell_report(r, arena_printf(a, "--other=Sram_Only=%s", front));
}

static bool
run_report(struct reporter *r, const char *kind, const char *called, const char *name,
	   struct bytes *out)
{
	struct npucc *c = &r->c;
	/* npu-report reads TFLite models only */
	const char *source = c->tosa || strcmp(kind, "--html") != 0
				 ? NULL : arena_printf(c->a, "--source=%s", c->model);
	struct job job = { .program = REPORT, .option = { kind, called, source, c->quantization },
			   .input = r->numbers };
	job.output = beside(c, name);
	return run_jobs(c, &job, 1) && file_read(c->a, job.output, SIZE_MAX / 4, out, c->e);
}

bool
tell_made(struct npucc *c, const char *made, struct bytes *summary)
{
	bool on_npu;
	struct bytes page;
	struct reporter r = { .c = *c, .o = *c->o };
	r.c.o = &r.o;
	r.graph = beside(c, "graph.part");
	r.numbers = beside(c, "numbers.json");
	if (!uses_npu(c, made, &on_npu))
		return false;
	if (!on_npu && c->o->page)
		return err_at(c->e, file_name(c->o->in), 0, "nothing runs on the NPU, so there "
			      "is no page to draw; tfl-partition --report tells why");
	if (!on_npu) {
		const char *s = arena_printf(c->a, "%s: nothing runs on the NPU; tfl-partition "
						   "--report tells why\n", c->o->out);
		*summary = (struct bytes){ .p = (const uint8_t *)s, .n = strlen(s) };
		return true;
	}
	struct job job = { .program = PERF, .input = made,
			   .option = { "--json", arena_printf(c->a, "--called=%s", c->base) } };
	job.output = r.numbers;
	bool ok = run_jobs(&r.c, &job, 1);
	if (ok && c->o->advice)
		ask_fronts(&r, made);
	const char *called = arena_printf(c->a, "--called=%s", file_base(c->o->out));
	ok = ok && (!c->o->summary ||
		    run_report(&r, "--summary", called, "summary.txt", summary));
	if (ok && c->o->summary && !c->o->advice && !c->o->page) {
		/* the summary ends with options of npucc, and the one that would show more */
		const char *s = arena_printf(c->a, "%.*s           npucc --report=FILE.html: pictures\n",
					     (int)summary->n, (const char *)summary->p);
		*summary = (struct bytes){ .p = (const uint8_t *)s, .n = strlen(s) };
	}
	if (ok && c->o->page)
		ok = run_report(&r, "--html", called, "page.html", &page) &&
		     file_set_add(c->files, c->o->page, page.p, page.n, false, c->e);
	c->status = r.c.status;
	return ok;
}

/*
 * The part, or else the accelerator, that a file was compiled for; NULL: no such file.  file_read()
 * would note the file as an input, which no output may replace.
 */
static const char *
compiled_for(struct arena *a, const char *path)
{
	struct stat st;
	struct tfl_model *m;
	struct profile p = { 0 };
	struct err ignored = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= INT32_MAX) {
		size_t n = (size_t)st.st_size;
		uint8_t *b = arena_alloc(a, n, 1);
		if (pread(fd, b, n, 0) == st.st_size &&
		    tfl_read(a, (struct bytes){ .p = b, .n = n }, path, &m, &ignored) &&
		    !profile_read(a, m, &p, &ignored))
			p.accel = NULL;
	}
	if (fd >= 0)
		(void)close(fd);
	return !p.accel ? NULL : p.memory.part ? p.memory.part : p.accel->name;
}

void
tell_replaced(struct npucc *c, const char *made)
{
	const char *old = compiled_for(c->a, c->o->out), *now = compiled_for(c->a, made);
	if (old && now && strcmp(old, now) != 0)
		cli_note("note", "this result for %s replaces %s for %s; -o FILE keeps both", now,
			 c->o->out, text_plain(c->a, old));
}

/* ---- default memory system ------------------------------------------------------ */

/* Arm's example of each generation, which Arm uses most to measure its own compiler */
static const struct example {
	const char *accel, *system, *mode;
} examples[] = {
	{ "ethos-u55", "Ethos_U55_High_End_Embedded", "Shared_Sram" },
	{ "ethos-u65", "Ethos_U65_High_End", "Dedicated_Sram" },
	{ "ethos-u85", "Ethos_U85_SYS_DRAM_Mid", "Dedicated_Sram" },
};

/* Names chips with this accelerator: for each system configuration the first one of the list. */
static void
put_chips(struct text *t, const char *accel)
{
	enum { MOST = 4 };
	const struct target_part *chosen[MOST], *p;
	size_t n = 0, k;
	for (size_t i = 0; n < MOST && (p = target_part_at(i)); i++) {
		for (k = 0; k < n && strcmp(chosen[k]->system, p->system) != 0; k++)
			;
		if (k < n || strcmp(p->accel, accel) != 0)
			continue;
		text_printf(t, "%s%s", n ? ", " : "for example ", p->name);
		chosen[n++] = p;
	}
	if (!n)
		text_puts(t, "none with this accelerator is known");
}

bool
example_memory(const struct options *o, const char **system, const char **mode)
{
	for (size_t i = 0; i < ARRAY_LEN(examples); i++) {
		const struct example *x = &examples[i];
		if (!accel_find(o->accel) || !has_prefix(o->accel, x->accel))
			continue;
		struct text chips = { 0 };
		put_chips(&chips, o->accel);
		if (!o->errors_only)
			cli_note("note", "no memory system was named: using Arm's example, %s and %s; "
					 "name your chip with --part (%s; --list-parts lists all), or "
					 "a memory system with --system-config and --memory-mode "
					 "(--list-profiles lists them)", x->system, x->mode,
				 text_str(&chips));
		text_free(&chips);
		*system = x->system;
		*mode = x->mode;
		return true;
	}
	return false;
}
