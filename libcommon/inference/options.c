/* SPDX-License-Identifier: Apache-2.0 */
/* Options about inputs, frames and outputs. */
#include "inference/inference.h"

#include <string.h>

enum { MAX_FRAMES = 1000000 };

static void
add_file(struct argp_state *state, const char **list, int *n, const char *arg)
{
	if (*n == MAX_FILES)
		argp_error(state, "more than %d files", MAX_FILES);
	list[(*n)++] = arg;
}

static void
add_kinds(struct argp_state *state, struct options *o, const char *arg)
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
			argp_error(state, "--inputs takes random, min, max and "
				   "alternating, not '%.*s'", (int)n, at);
		if (o->n_kinds == MAX_KINDS)
			argp_error(state, "--inputs takes at most %d", MAX_KINDS);
		o->kind[o->n_kinds++] = (enum sim_values)k;
	}
}

/* what does not go together, and what follows from other options */
static void
finish_options(struct argp_state *state, struct options *o)
{
	if (o->has_seed && o->n_input)
		argp_error(state, "--seed excludes --input");
	if (o->n_kinds && o->n_input)
		argp_error(state, "--inputs excludes --input");
	if (!o->frames)
		o->frames = o->n_kinds ? o->n_kinds : 1;
}

error_t
inference_option(int key, char *arg, struct argp_state *state, struct options *o)
{
	switch (key) {
	case 'i':
		add_file(state, o->input, &o->n_input, arg);
		break;
	case 'e':
		add_file(state, o->expect, &o->n_expect, arg);
		break;
	case OPT_SEED:
		o->seed = (uint64_t)cli_number(state, "--seed", arg, 0,
					       INT64_MAX);
		o->has_seed = true;
		break;
	case OPT_FRAMES:
		o->frames = (int)cli_number(state, "--frames", arg, 1, MAX_FRAMES);
		break;
	case OPT_RESET:
		o->reset = true;
		break;
	case OPT_INPUTS:
		add_kinds(state, o, arg);
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
		finish_options(state, o);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}
