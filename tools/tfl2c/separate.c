/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs and outputs with memory of their own (tfl-partition --separate-io-regions).
 * The functions that run the network take a pointer to each, or to the memory of all
 * inputs and to that of all outputs if the NPU has too few base addresses.
 */
#include "tfl2c.h"

#include <stdio.h>

enum { SCRATCH = 1, FAST, FIRST }; /* base addresses: ethosu-memory(7) 9.1 */

/* memory outside of the arena: one input or output, or all inputs, or all outputs */
struct own {
	bool in;
	char name[24]; /* of the parameter, such as input_0 or inputs */
	int region;    /* 0: the input or output is in the arena */
	int64_t bytes;
};

/* region 3 has all inputs, region 4 all outputs */
static struct own
packed_borders(const struct job *j, int k)
{
	const struct tfl_tensor *t = j->m->subgraph[0].tensor;
	struct own x = { .in = k == 0, .region = FIRST + k,
			 .bytes = tfl_bytes(&t[stream_io_region(j->m, k)]) };
	(void)snprintf(x.name, sizeof(x.name), "%s", x.in ? "inputs" : "outputs");
	return x;
}

static int
count_own(const struct job *j)
{
	int regions = stream_io_regions(j->m);
	return regions ? regions : j->m->subgraph[0].n_in + j->m->subgraph[0].n_out;
}

/* i: without packed_borders(), of the model's inputs followed by its outputs */
static struct own
own_memory(const struct job *j, int i)
{
	if (stream_io_regions(j->m))
		return packed_borders(j, i);
	const struct tfl_subgraph *g = &j->m->subgraph[0];
	bool in = i < g->n_in;
	int k = in ? i : i - g->n_in, tensor = in ? g->in[k] : g->out[k];
	struct own x = { .in = in, .region = stream_separate_place(j->m, tensor).region,
			 .bytes = tfl_bytes(&g->tensor[tensor]) };
	(void)snprintf(x.name, sizeof(x.name), in ? "input_%d" : "output_%d", k);
	return x;
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
	for (int i = 0; i < count_own(j); i++) {
		int region = own_memory(j, i).region;
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
	for (int i = 0; i < count_own(j); i++) {
		struct own x = own_memory(j, i);
		if (x.region)
			text_printf(t, ",\n\t%svoid *%s", x.in ? "const " : "", x.name);
	}
}

void
put_separate_arguments(struct text *t, const struct job *j)
{
	for (int i = 0; i < count_own(j); i++) {
		struct own x = own_memory(j, i);
		if (x.region)
			text_printf(t, ", %s", x.name);
	}
}

void
put_separate_bases(struct text *t, const struct job *j, const char *cast)
{
	/* base addresses that the stream does not use are any valid address: the NPU never reads them */
	unsigned used = 1u << SCRATCH | 1 | (unsigned)has_fast(j) << FAST;
	for (int i = 0; i < count_own(j); i++)
		used |= 1u << own_memory(j, i).region;
	for (int k = FAST; k < count_bases(j); k++)
		if (!(used >> k & 1))
			text_printf(t, "\tbase[%d] = base[%d];\n\tsize[%d] = 0;\n", k, SCRATCH,
				    k);
	for (int i = 0; i < count_own(j); i++) {
		struct own x = own_memory(j, i);
		if (x.region)
			text_printf(t, "\tbase[%d] = %s(%s);\n\tsize[%d] = %lld;\n", x.region,
				    cast, x.name, x.region, (long long)x.bytes);
	}
}

void
put_io_regions(struct text *t, const struct job *j)
{
	char what[32];
	if (stream_io_regions(j->m))
		text_puts(t, "/* memory of all inputs and of all outputs; the offset of each "
			     "is its\n * REGION_OFFSET */\n");
	for (int k = 0; k < stream_io_regions(j->m); k++) {
		struct own x = packed_borders(j, k);
		(void)snprintf(what, sizeof(what), "NPU_%s_BYTES", x.in ? "INPUTS" : "OUTPUTS");
		put_define(t, j, what, x.bytes);
	}
}
