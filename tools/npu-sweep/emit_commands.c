/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a plan as commands for a shell: one line for each job. */
#include "sweep.h"

#include <string.h>

static bool
has_control(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return true;
	return false;
}

/* Prints control characters as escapes of bash, so that the command stays on one line. */
static void
put_escaped(struct text *t, const char *word)
{
	text_puts(t, "$'");
	for (; *word; word++)
		if ((unsigned char)*word < ' ' || *word == 0x7f)
			text_printf(t, "\\%03o", (unsigned)(unsigned char)*word);
		else
			text_printf(t, strchr("'\\", *word) ? "\\%c" : "%c", *word);
	text_putc(t, '\'');
}

void
text_shell(struct text *t, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./:,@";
	if (*word && !word[strspn(word, plain)]) {
		text_puts(t, word);
		return;
	}
	if (has_control(word)) {
		put_escaped(t, word);
		return;
	}
	text_putc(t, '\'');
	for (; *word; word++)
		text_puts(t, *word == '\'' ? "'\\''" : (char[]){ *word, '\0' });
	text_putc(t, '\'');
}

static void
put_option(struct text *t, const char *option, const char *value)
{
	if (!*value)
		return;
	text_printf(t, " --%s=", option);
	text_shell(t, value);
}

static void
put_command(const struct options *o, const struct target *of, enum goal goal,
	    struct text *t)
{
	text_puts(t, "npu-sweep -j1");
	put_option(t, "results", o->results);
	text_printf(t, " --run-jobs=%d", (int)goal + 1);
	if (o->timeout > 0)
		text_printf(t, " --timeout=%g", o->timeout);
	if (target_is_part(of)) {
		put_option(t, "part", of->system);
	} else {
		put_option(t, "accelerator-config", of->accel);
		put_option(t, "system-config", of->system);
		put_option(t, "memory-mode", of->setup->mode);
		put_option(t, "config", of->setup->config);
		text_puts(t, o->any_accelerator ? " --any-accelerator" : "");
	}
	put_option(t, "effort", of->setup->effort);
	text_puts(t, " -- ");
	text_shell(t, of->model->path);
	text_putc(t, '\n');
}

void
emit_commands(const struct options *o, const struct plan *p, const bool *want,
	      struct text *t)
{
	for (size_t i = 0; i < p->n_jobs; i++)
		if (want[i] && !p->job[i].record)
			put_command(o, plan_target(p, &p->job[i]), p->job[i].goal, t);
}
