/* SPDX-License-Identifier: Apache-2.0 */
/* Options about inputs, frames and outputs. */
#include "inference/inference.h"

#include "base/cli.h"

#include <string.h>

void
inference_take_file(void *files, const char *arg)
{
	struct files *f = files;
	if (f->n == MAX_FILES)
		cli_error("more than %d files", MAX_FILES);
	else
		f->path[f->n++] = arg;
}

void
inference_take_kinds(void *options, const char *arg)
{
	struct options *o = options;
	size_t n;
	for (const char *at = arg;; at += n + 1) {
		n = strcspn(at, ",");
		int k = 0;
		while (k < SIM_N_VALUES &&
		       (strlen(sim_values_name((enum sim_values)k)) != n ||
			strncmp(at, sim_values_name((enum sim_values)k), n) != 0))
			k++;
		if (k == SIM_N_VALUES)
			cli_error("--inputs needs random, min, max or alternating, not "
				  "'%.*s'", (int)n, at);
		else if (o->n_kinds == MAX_KINDS)
			cli_error("--inputs: at most %d kinds are supported", MAX_KINDS);
		else
			o->kind[o->n_kinds++] = (enum sim_values)k;
		if (!at[n])
			return;
	}
}

/* Rejects combinations of options, and sets values that follow from other options. */
void
inference_check(struct options *o)
{
	if (o->has_seed && o->input.n)
		cli_error("--seed excludes --input");
	if (o->n_kinds && o->input.n)
		cli_error("--inputs excludes --input");
	if (!o->frames)
		o->frames = o->n_kinds ? o->n_kinds : 1;
}
