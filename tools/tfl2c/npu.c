/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what a compiled model requires of the NPU: ethosu-commands(7) 13, 14. */
#include "tfl2c.h"

#include "base/fixed.h"
#include "target/accel.h"

#include <string.h>

/* from the core driver's ethosu_config.h, by memory mode */
const struct region_config region_configs[] = {
	{ .mode = "Shared_Sram", .qconfig = 2, .region = { 3, 0, 1 } },
	{ .mode = "Dedicated_Sram", .qconfig = 2, .region = { 3, 2, 1 } },
	{ .mode = "Sram_Only", .qconfig = 0, .region = { 1, 0, 1 } },
};
const int n_region_configs = ARRAY_LEN(region_configs);

const struct region_config *
region_config(const char *mode)
{
	for (int i = 0; i < n_region_configs; i++) {
		size_t n = strlen(region_configs[i].mode);
		/* Dedicated_Sram_384KB is a Dedicated_Sram */
		if (!strncmp(region_configs[i].mode, mode, n) &&
		    (!mode[n] || mode[n] == '_'))
			return &region_configs[i];
	}
	return NULL;
}

static bool
is_region_register(enum npu_reg reg)
{
	switch (reg) {
	case NPU_IFM_REGION:
	case NPU_IFM2_REGION:
	case NPU_OFM_REGION:
	case NPU_WEIGHT_REGION:
	case NPU_SCALE_REGION:
	case NPU_DMA0_SRC_REGION:
	case NPU_DMA0_DST_REGION:
		return true;
	default:
		return false;
	}
}

enum { DMA_INTERNAL = 1 << 8 }; /* the region is SHRAM: 10 */

/*
 * Finds data in the file.  The driver requires 16-byte alignment
 * (ethosu-commands(7) 14.4), which the array has.
 */
static bool
find_in_file(const struct tfl_model *m, const struct tfl_tensor *t, size_t *at)
{
	if (!t->data.p)
		return true; /* no constants: any address is fine */
	*at = (size_t)(t->data.p - m->file.p);
	return *at % 16 == 0;
}

/* a single ethos-u operator, with its stream and constants aligned in the file */
static void
note_alone(const struct tfl_model *m, const struct npu_stream *s,
	   struct npu_facts *f)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	if (m->n_subgraphs != 1 || g->n_ops != 1 || f->n_ops != 1)
		return;
	const int *in = g->op[s->op].in;
	f->stream_bytes = g->tensor[in[0]].data.n;
	f->alone = find_in_file(m, &g->tensor[in[0]], &f->stream_at) &&
		   in[1] >= 0 &&
		   find_in_file(m, &g->tensor[in[1]], &f->constant_at);
}

bool
npu_facts(struct arena *a, const struct tfl_model *m, struct npu_facts *out,
	  struct err *e)
{
	struct npu_stream *s;
	*out = (struct npu_facts){ 0 };
	if (!stream_find(a, m, &s, &out->n_ops, e))
		return false;
	for (int i = 0; i < out->n_ops; i++) {
		if (i && (s[i].config != s[0].config || s[i].id != s[0].id))
			return err_at(e, m->name, 0, "operators %d and %d are compiled for "
				      "different NPUs, %s and %s", s[0].op, s[i].op,
				      s[0].accel->name, s[i].accel->name);
		/* inputs 1 to 3: constants, scratch, fast scratch; their shapes count bytes */
		const struct tfl_subgraph *g = &m->subgraph[s[i].subgraph];
		const struct tfl_op *op = &g->op[s[i].op];
		int64_t *size[] = { &out->constant_bytes, &out->scratch_bytes, &out->fast_bytes };
		for (int k = 0; k < 3; k++)
			if (k + 1 < op->n_in && op->in[k + 1] >= 0)
				*size[k] = max_i64(*size[k], tfl_bytes(&g->tensor[op->in[k + 1]]));

		struct npu_command c;
		struct err bad = { 0 };
		size_t at = 0;
		while (stream_next(&s[i], &at, &c, &bad))
			if (!c.is_op && is_region_register(c.reg) && !(c.param & DMA_INTERNAL))
				out->regions |= 1u << (c.param & 7);
		if (bad.status)
			return err_at(e, m->name, 0, "operator %d (%s): %s", s[i].op, s[i].name,
				      bad.text);
	}
	if (out->n_ops && !accel_does(s[0].accel, DO_COMPILE, e))
		return false;
	if (out->n_ops) {
		out->accel = s[0].accel;
		out->config = s[0].config;
		out->id = s[0].id;
		note_alone(m, &s[0], out);
	}
	return true;
}
