/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs and outputs with memory of their own (tfl-partition --separate-io-regions).
 * The functions that run the network take a pointer to each.
 */
#include "tfl2c.h"

enum { SCRATCH = 1, FAST, FIRST }; /* base addresses: ethosu-memory(7) 9.1 */

/* a separate input or output; k: index among the model's inputs or outputs */
struct own {
	bool in;
	int k, region;
	int64_t bytes;
};

/* the i-th of the model's inputs followed by its outputs; region 0: not separate */
static struct own
separate_border(const struct job *j, int i)
{
	const struct tfl_subgraph *g = &j->m->subgraph[0];
	bool in = i < g->n_in;
	int k = in ? i : i - g->n_in, tensor = in ? g->in[k] : g->out[k];
	return (struct own){ .in = in, .k = k,
			     .region = stream_separate_region(j->m, tensor),
			     .bytes = tfl_bytes(&g->tensor[tensor]) };
}

static int
count_borders(const struct job *j)
{
	return j->m->subgraph[0].n_in + j->m->subgraph[0].n_out;
}

bool
has_fast(const struct job *j)
{
	return j->npu.regions >> FAST & 1;
}

int
count_bases(const struct job *j)
{
	int n = has_fast(j) ? FIRST : FAST;
	for (int i = 0; i < count_borders(j); i++) {
		int region = separate_border(j, i).region;
		n = region >= n ? region + 1 : n;
	}
	return n;
}

bool
any_separate(const struct job *j)
{
	return count_bases(j) > FIRST;
}

void
put_separate_parameters(struct text *t, const struct job *j)
{
	for (int i = 0; i < count_borders(j); i++) {
		struct own x = separate_border(j, i);
		if (x.region)
			text_printf(t, x.in ? ",\n\tconst void *input_%d" : ",\n\tvoid *output_%d",
				    x.k);
	}
}

void
put_separate_arguments(struct text *t, const struct job *j)
{
	for (int i = 0; i < count_borders(j); i++) {
		struct own x = separate_border(j, i);
		if (x.region)
			text_printf(t, x.in ? ", input_%d" : ", output_%d", x.k);
	}
}

/*
 * Sets base addresses that the stream does not use to any valid address; the NPU never
 * accesses them.
 */
static void
put_unused(struct text *t, const struct job *j)
{
	unsigned used = 1u << SCRATCH | 1 | (unsigned)has_fast(j) << FAST;
	for (int i = 0; i < count_borders(j); i++)
		used |= 1u << separate_border(j, i).region;
	for (int k = FAST; k < count_bases(j); k++)
		if (!(used >> k & 1))
			text_printf(t, "\tbase[%d] = base[%d];\n\tsize[%d] = 0;\n", k, SCRATCH,
				    k);
}

void
put_separate_bases(struct text *t, const struct job *j, const char *cast)
{
	put_unused(t, j);
	for (int i = 0; i < count_borders(j); i++) {
		struct own x = separate_border(j, i);
		if (x.region)
			text_printf(t, "\tbase[%d] = %s(%s_%d);\n\tsize[%d] = %lld;\n", x.region,
				    cast, x.in ? "input" : "output", x.k, x.region,
				    (long long)x.bytes);
	}
}
