/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning and the end of every call: options, messages, results, memory. */
#include "lib.h"

#include "target/part.h"
#include "weights/weights.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_JOBS = 64, MAX_GRADE = 9, EFFORT_DEFAULT = 3 };

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

bool
call_begin(struct call *c, const struct nputools_options *o)
{
	static const struct nputools_options none = { .size = sizeof(none) };
	size_t n = o ? o->size : 0;
	*c = (struct call){ .a = arena_open() };
	c->e.notes = &c->notes;
	c->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!c->locale)
		return err_set(&c->e, "error: no locale C");
	c->before = uselocale(c->locale);
	if (o && (n < sizeof(none.size) || n > sizeof(none)))
		return err_set(&c->e, "error: options: size is %zu, not sizeof(struct "
				      "nputools_options), which is %zu in version %s",
			       n, sizeof(none), NPUTOOLS_VERSION);
	memcpy(&c->o, o ? o : &none, o ? n : sizeof(none));
	if (!c->o.name)
		c->o.name = "model.tflite";
	if (!check_options(c) || !take_part(c))
		return false;
	c->o.effort = c->o.effort ? c->o.effort : EFFORT_DEFAULT;
	c->o.level = c->o.level ? c->o.level : WEIGHTS_LEVEL_DEFAULT;
	c->o.jobs = c->o.jobs ? c->o.jobs : 1;
	return true;
}

/* memory that free() frees, unlike that of struct text; always with a NUL at its end */
static char *
copy_out(const struct text *t)
{
	char *p = malloc(t->n + 1);
	if (!p)
		out_of_memory();
	if (t->n)
		memcpy(p, t->p, t->n);
	p[t->n] = '\0';
	return p;
}

int
call_end(struct call *c, struct nputools_output *out)
{
	int status = c->e.status;
	if (status)
		text_printf(&c->notes, "%s\n", c->e.text);
	*out = (struct nputools_output){ .messages = copy_out(&c->notes) };
	if (c->out.n) {
		out->data = copy_out(&c->out);
		out->size = c->out.n;
	}
	text_free(&c->notes);
	text_free(&c->out);
	arena_close(c->a);
	arena_forget_spare();
	if (c->locale) {
		(void)uselocale(c->before);
		freelocale(c->locale);
	}
	return status;
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
	free(out->messages);
	*out = (struct nputools_output){ 0 };
}
