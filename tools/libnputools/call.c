/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning and the end of every call: options, messages, results, memory. */
#include "lib.h"

#include "base/threads.h"
#include "target/part.h"
#include "weights/weights.h"

#include <inttypes.h>
#include <locale.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_JOBS = 64, MAX_GRADE = 9, EFFORT_DEFAULT = 3 };

/* messages of a call that could not even copy its messages; nputools_free() keeps it */
static char no_memory[] = "error: out of memory\n";

static bool
check_number(struct call *c, const char *name, int64_t v, int64_t max)
{
	return (v >= 0 && v <= max) ||
	       err_set(&c->e, "error: options: %s is %" PRId64 ", not from 0 to %" PRId64,
		       name, v, max);
}

static bool
check_options(struct call *c)
{
	const int64_t most_bytes = (int64_t)1 << 40, most_cycles = (int64_t)1 << 50;
	const struct nputools_options *o = &c->o;
	return check_number(c, "optimise", o->optimise, NPUTOOLS_BALANCED) &&
	       check_number(c, "effort", o->effort, MAX_GRADE) &&
	       check_number(c, "level", o->level, MAX_GRADE) &&
	       check_number(c, "jobs", o->jobs, MAX_JOBS) &&
	       check_number(c, "arena_cache_size", o->arena_cache_size, most_bytes) &&
	       check_number(c, "max_cycles", o->max_cycles, most_cycles);
}

/* Takes accelerator and memory system from the part where the options name none. */
static bool
take_part(struct call *c)
{
	struct nputools_options *o = &c->o;
	const struct target_part *p = o->part ? target_part_find(o->part, &c->e) : NULL;
	if (!p)
		return !o->part;
	if (!o->accelerator)
		o->accelerator = p->accel;
	if (!o->system_config)
		o->system_config = p->system;
	if (!o->memory_mode)
		o->memory_mode = p->mode;
	return true;
}

/* True if n ends with a member, as it does for each version that the caller may know. */
static bool
is_member_end(size_t n)
{
#define END(member) (offsetof(struct nputools_options, member) + \
		     sizeof(((struct nputools_options *)NULL)->member))
	static const size_t sizes[] = {
		END(size), END(name), END(accelerator), END(system_config), END(memory_mode),
		END(part), END(optimise), END(effort), END(level), END(jobs),
		END(arena_cache_size), END(max_cycles), END(fail_on_cpu), END(no_map),
		sizeof(struct nputools_options),
	};
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		if (n == sizes[i])
			return true;
	return false;
}

/* True for the options of a later version in which all members that are new are zero. */
static bool
is_newer(const struct nputools_options *o, size_t n)
{
	const size_t all = sizeof(*o), align = _Alignof(struct nputools_options), most = 4096;
	const unsigned char *p = (const void *)o;
	if (n <= all || n > most || n % align)
		return false;
	for (size_t i = all; i < n; i++)
		if (p[i])
			return false;
	return true;
}

/* Copies the options, and completes them with defaults. */
static bool
take_options(struct call *c)
{
	const struct nputools_options *o = c->options;
	const size_t n = o ? o->size : 0, all = sizeof(*o);
	if (o && !is_member_end(n) && !is_newer(o, n))
		return err_set(&c->e, "error: options: size is %zu, not sizeof(struct "
				      "nputools_options), which is %zu in version %s",
			       n, all, NPUTOOLS_VERSION);
	if (o)
		memcpy(&c->o, o, n < all ? n : all);
	if (!c->o.name)
		c->o.name = "model.tflite";
	if (!check_options(c) || !take_part(c))
		return false;
	c->o.effort = c->o.effort ? c->o.effort : EFFORT_DEFAULT;
	c->o.level = c->o.level ? c->o.level : WEIGHTS_LEVEL_DEFAULT;
	c->o.jobs = c->o.jobs ? c->o.jobs : 1;
	return true;
}

static bool
run_all(struct call *c, void *ctx)
{
	c->a = arena_open();
	return take_options(c) && c->run(c, ctx);
}

/* numbers in reports are those of the locale C, whatever the caller's locale is */
static bool
run_in_c(struct call *c, void *ctx)
{
	locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!locale)
		return err_set(&c->e, "error: out of memory");
	locale_t before = uselocale(locale);
	bool ok = call_run(c, run_all, ctx);
	(void)uselocale(before);
	freelocale(locale);
	return ok;
}

/* Copies data and messages to memory that free() frees; a NUL follows them. */
static bool
copy_out(struct call *c, void *ctx)
{
	struct nputools_output *out = ctx;
	if (c->e.status)
		text_printf(&c->notes, "%s\n", c->e.text);
	/* a report that was cut short, for example where memory was exhausted */
	if (c->e.status == NPUTOOLS_TROUBLE)
		c->out.n = 0;
	out->messages = strndup(text_str(&c->notes), c->notes.n);
	out->data = c->out.n ? malloc(c->out.n + 1) : NULL;
	if (!out->messages || (c->out.n && !out->data))
		out_of_memory();
	if (!c->out.n)
		return true;
	memcpy(out->data, text_str(&c->out), c->out.n + 1);
	out->size = c->out.n;
	return true;
}

int
call_whole(const struct nputools_options *o, bool (*run)(struct call *c, void *ctx),
	   void *ctx, struct nputools_output *out)
{
	struct call c = { .options = o, .run = run };
	c.e.notes = &c.notes;
	struct threads *threads = threads_open();
	*out = (struct nputools_output){ 0 };
	(void)run_in_c(&c, ctx);
	threads_close(threads);
	if (!call_run(&c, copy_out, out)) {
		nputools_free(out);
		out->messages = no_memory;
	}
	text_free(&c.notes);
	text_free(&c.out);
	arena_close(c.a);
	arena_forget_spare();
	return c.e.status;
}

const char *
call_file(struct call *c, const char *suffix)
{
	const char *name = c->o.name, *dot = strrchr(name, '.');
	size_t n = dot && !strchr(dot, '/') ? (size_t)(dot - name) : strlen(name);
	return arena_printf(c->a, "%.*s.%s", (int)n, name, suffix);
}

const char *
nputools_version(void)
{
	return NPUTOOLS_VERSION;
}

void
nputools_free(struct nputools_output *out)
{
	if (!out)
		return;
	free(out->data);
	if (out->messages != no_memory)
		free(out->messages);
	*out = (struct nputools_output){ 0 };
}
