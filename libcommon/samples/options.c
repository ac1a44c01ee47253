/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of the options that say how files become values. */
#include "samples/samples.h"

#include "base/cli.h"

#include <math.h>
#include <stdlib.h>

const char *const sample_sources[] = { "guess", "npy", "picture", "sound", "csv", "raw",
				       NULL };
const char *const sample_resizes[] = { "no", "bilinear", "area", NULL };

/*
 * Parses a finite number or a quotient of two numbers.  Returns the end of the text,
 * NULL on an error.
 */
static const char *
parse_fraction(const char *p, double *out)
{
	char *end, *under;
	*out = strtod(p, &end);
	if (end == p)
		return NULL;
	if (*end == '/') {
		*out /= strtod(end + 1, &under);
		if (under == end + 1)
			return NULL;
		end = under;
	}
	return isfinite(*out) ? end : NULL;
}

static void
parse_list(const char *option, const char *arg, struct per_channel *out)
{
	const char *p = arg;
	for (out->n = 0; p && out->n < MAX_CHANNELS;) {
		p = parse_fraction(p, &out->v[out->n++]);
		if (p && !*p)
			return;
		if (p && *p++ != ',')
			p = NULL;
	}
	cli_error("%s takes up to %d numbers, not '%s'", option, MAX_CHANNELS,
		  arg);
}

void
sample_take_scale(void *per_channel, const char *arg)
{
	parse_list("--scale", arg, per_channel);
}

void
sample_take_mean(void *per_channel, const char *arg)
{
	parse_list("--mean", arg, per_channel);
}

void
sample_take_range(void *per_channel, const char *arg)
{
	parse_list("--range", arg, per_channel);
}

void
sample_check_options(const struct sample_options *o)
{
	if (o->range.n && o->range.n != 2)
		cli_error("--range needs two numbers, for example --range=0,1");
	if (o->range.n && (o->scale.n || o->mean.n))
		cli_error("--range excludes --scale and --mean");
}
