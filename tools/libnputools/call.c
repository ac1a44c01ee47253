/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning and the end of every call: options, messages, results, memory. */
#include "lib.h"

#include "base/attempt.h"
#include "base/threads.h"
#include "target/part.h"
#include "weights/weights.h"

#include <inttypes.h>
#include <locale.h>
#include <stddef.h>
#include <string.h>

enum { EFFORT_DEFAULT = 3 };

/* the members of a row of options.def */
#define ROW(id, letter, long_name, value, programs, text) programs
#define OWN
#define TO(program)
#define AS(program, pattern)

/* messages that are not allocated: nputools_free() keeps them */
static char no_memory[] = "error: out of memory\n"; /* nor for the messages */
static char nested[] = "error: the function progress called the library\n";

bool
call_check_number(struct call *c, const char *name, int64_t v, int64_t max)
{
	return (v >= 0 && v <= max) ||
	       err_set(&c->e, "%s is %" PRId64 ", not from 0 to %" PRId64, name, v, max);
}

/* bytes of the options up to a member and with it */
#define END(member) (offsetof(struct nputools_options, member) + \
		     sizeof(((struct nputools_options *)NULL)->member))

/* True for a struct of a later version in which all members that are new are zero. */
static bool
is_newer(const unsigned char *p, size_t n, size_t all)
{
	const size_t align = _Alignof(struct nputools_options), most = 4096;
	if (n <= all || n > most || n % align)
		return false;
	for (size_t i = all; i < n; i++)
		if (p[i])
			return false;
	return true;
}

bool
call_copy(struct call *c, const char *name, const size_t *sizes, size_t n_sizes, void *to,
	  size_t all, const void *from)
{
	size_t n;
	memcpy(&n, from, sizeof(n));
	bool valid = is_newer(from, n, all);
	for (size_t i = 0; i < n_sizes; i++)
		valid |= n == sizes[i];
	if (!valid)
		return err_set(&c->e, "%s: size is %zu, not sizeof(struct nputools_%s), which "
			       "is %zu in version %s", name, n, name, all, NPUTOOLS_VERSION);
	memcpy(to, from, n < all ? n : all);
	return true;
}

/* Copies the options of the caller. */
static void
copy_options(struct call *c, const struct nputools_options *o)
{
	static const size_t sizes[] = {
		END(size), END(name),
#define OPTION ROW
#define MEMBER(name) END(name),
#define NUMBER(name, most) END(name),
#include "options.def"
		END(progress), END(progress_context), END(allocate), END(release),
		END(memory_context), sizeof(struct nputools_options),
	};
	if (o && call_copy(c, "options", sizes, ARRAY_LEN(sizes), &c->o, sizeof(c->o), o) &&
	    !c->o.allocate != !c->o.release) {
		c->o = (struct nputools_options){ 0 };
		(void)err_set(&c->e, "options: one of allocate and release is NULL");
	}
}

/* Completes the options with defaults. */
static bool
complete_options(struct call *c)
{
	struct nputools_options *o = &c->o;
	if (!o->name)
		o->name = "model.tflite";
	const struct {
		const char *name;
		int64_t value, most;
	} number[] = {
#define OPTION ROW
#define MEMBER(name)
#define NUMBER(name, most) { "options: " #name, o->name, most },
#include "options.def"
	};
	for (size_t i = 0; i < ARRAY_LEN(number); i++)
		if (!call_check_number(c, number[i].name, number[i].value, number[i].most))
			return false;
	const double most_within = 1e6;
	if (!(o->within <= most_within))
		return err_set(&c->e, "options: within is %g, not up to %g", o->within, most_within);
	if (o->within > 0 && o->max_cycles)
		return err_set(&c->e, "options: within and max_cycles exclude each other");

	/* accelerator and memory system are those of the part where the options name none */
	const struct target_part *p = target_part_find(o->part, &c->e);
	if (o->part && (!p || !target_part_has(p, o->accelerator, NULL, &c->e)))
		return false;
	if (p && !o->accelerator)
		o->accelerator = p->accel;
	if (p && !o->system_config)
		o->system_config = p->system;
	if (p && !o->memory_mode)
		o->memory_mode = p->mode;
	o->effort = o->effort ? o->effort : EFFORT_DEFAULT;
	o->level = o->level ? o->level : WEIGHTS_LEVEL_DEFAULT;
	o->jobs = o->jobs ? o->jobs : 1;
	return true;
}

/* the functions that a call runs between its begin and its end */
struct task {
	struct call *c;
	void *ctx;
	struct nputools_output *out;
};

static void
run_all(void *ctx, size_t i)
{
	const struct task *t = ctx;
	(void)i;
	t->c->a = arena_open();
	if (!t->c->e.status && complete_options(t->c))
		(void)t->c->run(t->c, t->ctx);
}

/* Copies n bytes to a result; a NUL follows them. */
static void *
copy_result(struct call *c, struct text *t)
{
	const char *from = text_str(t); /* which allocates the NUL of an empty text */
	char *p = memory_result(&c->o, t->n + 1);
	if (!p)
		out_of_memory();
	return memcpy(p, from, t->n + 1);
}

static void
copy_out(void *ctx, size_t i)
{
	const struct task *t = ctx;
	struct call *c = t->c;
	(void)i;
	if (c->e.status)
		text_printf(&c->notes, "%s%serror: %s\n", c->e.place, *c->e.place ? ": " : "",
			    c->e.text);
	t->out->messages = copy_result(c, &c->notes);
	/* a report that was cut short */
	if (c->e.status == NPUTOOLS_TROUBLE || !c->out.n)
		return;
	t->out->data = copy_result(c, &c->out);
	t->out->size = c->out.n;
}

/* The error of a call that ended early replaces the one that it may have had. */
static void
take_end(struct call *c)
{
	c->trouble = (enum nputools_code)atomic_load(&c->end);
	c->trouble = c->trouble ? c->trouble : NPUTOOLS_ERROR_MEMORY;
	c->e.status = 0;
	(void)err_set(&c->e, c->trouble == NPUTOOLS_ERROR_CANCELLED ? "cancelled"
								    : "out of memory");
	atomic_store(&c->end, NPUTOOLS_OK);
}

static void
run_call(struct call *c, void *ctx, struct nputools_output *out)
{
	struct task t = { .c = c, .ctx = ctx, .out = out };
	c->e.notes = &c->notes;
	struct threads *threads = threads_open();
	/* numbers in reports are those of the locale C, whatever the caller's locale is */
	locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	bool ok = false;
	if (locale) {
		locale_t before = uselocale(locale);
		ok = attempt(run_all, &t, 0);
		(void)uselocale(before);
		freelocale(locale);
	}
	if (!ok)
		take_end(c);
	threads_close(threads);
	c->o.progress = NULL; /* the work is done */
	if (!attempt(copy_out, &t, 0)) {
		nputools_free(out);
		take_end(c);
		out->messages = no_memory;
	}
	if (c->e.status)
		out->code = (int)(c->e.status == NPUTOOLS_NO ? c->no : c->trouble);
}

int
call_whole(const struct nputools_options *o, bool (*run)(struct call *c, void *ctx),
	   void *ctx, struct nputools_output *out)
{
	struct call c = { .run = run, .thread = pthread_self(),
			  .no = NPUTOOLS_ERROR_INPUT, .trouble = NPUTOOLS_ERROR_INPUT };
	if (!out)
		return NPUTOOLS_TROUBLE;
	*out = (struct nputools_output){ 0 };
	if (attempt_call()) {
		*out = (struct nputools_output){ .code = NPUTOOLS_ERROR_INPUT, .messages = nested };
		return NPUTOOLS_TROUBLE;
	}
	copy_options(&c, o);
	memory_open(&c.memory);
	attempt_join(&c);
	run_call(&c, ctx, out);
	arena_forget_spare();
	memory_close(&c.memory);
	attempt_join(NULL);
	return c.e.status;
}

bool
call_check_model(struct call *c, struct bytes model)
{
	return model.p || !model.n || err_set(&c->e, "model is NULL, but size is %zu", model.n);
}

const char *
call_file(struct call *c, const char *suffix)
{
	const char *name = c->o.name, *dot = strrchr(name, '.');
	if (c->has_model)
		return name;
	size_t n = dot && !strchr(dot, '/') ? (size_t)(dot - name) : strlen(name);
	return arena_printf(c->a, "%.*s.%s", (int)n, name, suffix);
}

void
nputools_free(struct nputools_output *out)
{
	if (!out)
		return;
	memory_free(out->data);
	if (out->messages != no_memory && out->messages != nested)
		memory_free(out->messages);
	*out = (struct nputools_output){ 0 };
}
