/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a plan as commands for a shell: one line for each job. */
#include "sweep.h"

#include <string.h>

static void
put_option(struct text *t, const char *option, const char *value)
{
	if (!*value)
		return;
	text_printf(t, " --%s=", option);
	text_shell(t, value);
}

void
emit_commands(const struct options *o, const struct plan *p, const bool *want,
	      struct text *t)
{
	for (size_t i = 0; i < p->n_jobs; i++) {
		const struct target *of = plan_target(p, &p->job[i]);
		if (!want[i] || p->job[i].record)
			continue;
		text_puts(t, "npu-sweep -j1");
		put_option(t, "results", o->results);
		text_printf(t, " --run-jobs=%d", (int)p->job[i].goal + 1);
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
}
