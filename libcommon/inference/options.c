/* SPDX-License-Identifier: Apache-2.0 */
/* Options about inputs, frames and outputs. */
#include "inference/inference.h"

#include <string.h>

enum { MAX_FRAMES = 1000000 };

static void
add_file(const char **list, int *n, const char *arg)
{
	if (*n == MAX_FILES)
		cli_error("more than %d files", MAX_FILES);
	else
		list[(*n)++] = arg;
}

static void
add_kinds(struct options *o, const char *arg)
{
	for (const char *at = arg; at; at = strchr(at, ',')) {
		at += *at == ',' && at != arg;
		size_t n = strcspn(at, ",");
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
	}
}

/* Rejects combinations of options, and sets values that follow from other options. */
static void
finish_options(struct options *o)
{
	if (o->has_seed && o->n_input)
		cli_error("--seed excludes --input");
	if (o->n_kinds && o->n_input)
		cli_error("--inputs excludes --input");
	if (!o->frames)
		o->frames = o->n_kinds ? o->n_kinds : 1;
}

error_t
inference_option(int key, char *arg, struct options *o)
{
	switch (key) {
	case 'i':
		add_file(o->input, &o->n_input, arg);
		break;
	case 'e':
		add_file(o->expect, &o->n_expect, arg);
		break;
	case OPT_SEED:
		o->seed = (uint64_t)cli_number("--seed", arg, 0,
					       INT64_MAX);
		o->has_seed = true;
		break;
	case OPT_FRAMES:
		o->frames = (int)cli_number("--frames", arg, 1, MAX_FRAMES);
		break;
	case OPT_RESET:
		o->reset = true;
		break;
	case OPT_INPUTS:
		add_kinds(o, arg);
		break;
	case OPT_REQUIRE:
		o->require_outputs = true;
		break;
	case OPT_ANY_SIZE:
		o->any_size = true;
		break;
	case OPT_JSON:
		o->json = true;
		break;
	case ARGP_KEY_END:
		finish_options(o);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}
