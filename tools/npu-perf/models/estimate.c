/* SPDX-License-Identifier: Apache-2.0 */
/* Applies the estimators to the operations of a stream. */
#include "layer.h"

#include "stream/op.h"
#include "target/accel.h"

#include <string.h>

static const char *const model_names[PERF_MODELS] = {
	[PERF_TIMELINE] = "timeline", [PERF_CALIBRATED] = "calibrated",
	[PERF_VELA_2_1] = "vela-2.1",
	[PERF_VELA_3_12] = "vela-3.12", [PERF_REGOR] = "regor",
};

const char *
perf_model_name(enum perf_model model)
{
	return model_names[model];
}

const char *
perf_model_names(void)
{
	return "timeline, calibrated, vela-2.1, vela-3.12, regor";
}

bool
perf_model_find(const char *name, enum perf_model *out)
{
	for (int i = 0; i < PERF_MODELS; i++)
		if (!strcmp(model_names[i], name)) {
			*out = (enum perf_model)i;
			return true;
		}
	return false;
}

void
perf_estimate_add(struct perf_estimate *sum, const struct perf_estimate *e)
{
	sum->npu += e->npu;
	sum->total += e->total;
	sum->macs += e->macs;
	for (int i = 0; i < MEM_AREAS; i++) {
		sum->memory[i] += e->memory[i];
		for (int p = 0; p < PERF_PURPOSES; p++)
			for (int d = 0; d < PERF_DIRECTIONS; d++)
				sum->bytes[i][p][d] += e->bytes[i][p][d];
	}
}

/* ---- vela-3.12 and regor --------------------------------------------------------- */

/* transfers since the last kernel, and the last kernel's cycles that can hide them */
struct history {
	bool any;	 /* a kernel ran before */
	double slack;	 /* NPU cycles of the last kernel */
	double bytes[MEM_AREAS]; /* of all transfers, by source */
	double copy_cycles;	 /* cycles of table and copy transfers */
	int64_t lut_bytes;
	enum mem_area lut_source;
};

static double
copy(const struct perf_machine *m, enum perf_model model, int64_t bytes,
     enum mem_area from, enum mem_area to)
{
	return model == PERF_REGOR ? perf_regor_copy(m, bytes, from, to)
				   : perf_vela312_copy(m, bytes, from, to);
}

/*
 * True for Regor's estimate of U85.  Regor had facts about these operations that their
 * streams lack.
 */
static bool
regor85(const struct perf_machine *m, enum perf_model model)
{
	return model == PERF_REGOR && m->accel->generation == GEN_U85;
}

static void
note_dma(const struct perf_machine *m, enum perf_model model,
	 const struct perf_row *r, struct history *h, struct perf_estimate *e)
{
	h->bytes[r->dma_from] += (double)r->dma_bytes;
	if (r->is_weights)
		return; /* belong to the kernel that uses the weights */
	/* U85: the cost of a table is part of its operation (perf_regor85_table) */
	bool later = r->to_shram && regor85(m, model);
	enum mem_area to = r->to_shram ? r->dma_from : r->dma_to;
	h->copy_cycles += later ? 0 : copy(m, model, r->dma_bytes, r->dma_from, to);
	if (r->to_shram) {
		h->lut_bytes += r->dma_bytes;
		h->lut_source = r->dma_from;
		return;
	}
	double n = (double)r->dma_bytes;
	e->bytes[r->dma_from][PERF_FEATURE_MAPS][PERF_READ] += n;
	e->bytes[r->dma_to][PERF_FEATURE_MAPS][PERF_WRITE] += n;
}

static struct perf_schedule
schedule_of(const struct perf_machine *m, enum perf_model model,
	    const struct perf_layer *l, const struct history *h)
{
	struct perf_schedule s = {
		.original_weights = perf_original_weights(&l->op),
		.slack = h->slack, .own_slack = l->last_npu,
		.lut_cycles = h->copy_cycles, .lut_bytes = h->lut_bytes,
		.lut_source = h->lut_source, .moved_bytes = l->moved_bytes,
		.first_bytes = l->first_bytes,
	};
	if (!l->buffered)
		return s;
	s.buffering = l->slices > 1 ? PERF_DOUBLE_BUFFER : PERF_SINGLE_BUFFER;
	s.source = l->source;
	if (!l->moved_bytes && model != PERF_REGOR)
		return s; /* fetched for another operation */
	if (!l->moved_bytes) { /* Regor counts the transfer for every operation */
		s.moved_bytes = l->staged_bytes;
		s.first_bytes = l->first_staged;
	}
	s.full_cycles = copy(m, model, s.moved_bytes, l->source,
			     l->op.weight_area);
	s.first_cycles = copy(m, model, s.first_bytes, l->source,
			      l->op.weight_area);
	return s;
}

/* the surroundings of a layer: facts that its own rows lack */
struct surroundings {
	const struct perf_operand_info *operand_info;
	const struct perf_run *run;
	struct perf_phases phases; /* transposed convolution of the rows before phases.end */
};

static void
estimate_layer(const struct perf_machine *m, enum perf_model model,
	       const struct surroundings *around, struct perf_layer *l,
	       struct history *h, struct perf_estimate *e)
{
	/*
	 * Regor sees a fused ReLU even if the stream has no clamp for it.  Such a ReLU is
	 * assumed if the zero point is the type's least value, because the ReLU's bounds then
	 * are those of the type.
	 */
	const struct npu_fm *f = &l->first->npu->ofm;
	int32_t least = f->is_signed ? INT8_MIN : 0;
	if (model == PERF_REGOR && l->op.activation == ACT_NONE && f->bits == 8 &&
	    f->zero == least && l->first->npu->kind != NPU_POOL)
		l->op.activation = ACT_RELU;
	struct perf_schedule s = schedule_of(m, model, l, h);
	if (regor85(m, model)) {
		const struct perf_operand_info *info = around->operand_info;
		perf_regor85_see(m, info, around->run, &around->phases, l->first, &l->op);
		struct perf_op last = l->last->op;
		/* the last slice differs from the first one only in depth */
		perf_regor85_see(m, info, around->run, &around->phases, l->first, &last);
		l->last_npu = s.own_slack =
			perf_regor85_slack(m, &last, l->slices > 1);
		s.lut_cycles += perf_regor85_table(m, &l->op);
		if (!h->any)
			/* no kernel runs before, which could hide the transfer */
			s.first_bytes = 0;
	}
	if (model == PERF_VELA_2_1)
		perf_vela21_layer(m, l, h->bytes, !h->any, e);
	else if (model == PERF_VELA_3_12)
		perf_vela312(m, &l->op, &s, e);
	else
		perf_regor(m, &l->op, &s, e);
	*h = (struct history){ .any = true, .slack = l->last_npu };
}

static struct perf_estimate
timeline_run(const struct perf_machine *m, const struct perf_run *run,
	     struct perf_estimate *out)
{
	struct perf_estimate sum = { 0 };
	for (size_t i = 0; i < run->n; i++) {
		const struct perf_row *r = &run->row[i];
		const struct perf_op *op = &r->op;
		const struct perf_cost *c = &r->cost;
		struct perf_estimate *e = &out[i];
		double n = (double)r->dma_bytes;
		*e = (struct perf_estimate){ 0 };
		if (r->step.kind == PERF_KERNEL) {
			e->npu = (double)c->npu;
			e->total = c->total;
			e->macs = (double)c->macs;
			for (int k = 0; k < MEM_AREAS; k++)
				e->memory[k] = c->memory[k];
			e->bytes[op->ifm.area][PERF_FEATURE_MAPS][PERF_READ] +=
			    (double)(c->ifm_read * op->ifm.bits / 8);
			e->bytes[op->ifm2.area][PERF_FEATURE_MAPS][PERF_READ] +=
			    (double)(c->ifm2_read * op->ifm2.bits / 8);
			e->bytes[op->ofm.area][PERF_FEATURE_MAPS][PERF_WRITE] +=
			    (double)(c->ofm_write * op->ofm.bits / 8);
			e->bytes[op->weight_area][PERF_WEIGHTS][PERF_READ] +=
			    (double)(op->weight_bytes * c->weight_passes);
			e->bytes[op->scale_area][PERF_SCALES][PERF_READ] +=
			    (double)op->scale_bytes;
		} else if (r->step.kind == PERF_DMA) {
			enum perf_purpose p = r->is_weights ? PERF_WEIGHTS
					      : r->to_shram ? PERF_TABLES
							    : PERF_FEATURE_MAPS;
			e->total = r->step.cycles;
			e->bytes[r->dma_from][p][PERF_READ] += n;
			e->memory[r->dma_from] += n / m->bytes_per_cycle[r->dma_from];
			if (!r->to_shram) {
				e->bytes[r->dma_to][p][PERF_WRITE] += n;
				e->memory[r->dma_to] += n / m->bytes_per_cycle[r->dma_to];
			}
		}
		perf_estimate_add(&sum, e);
	}
	sum.total = run->cycles;
	return sum;
}

struct perf_estimate
perf_estimate_run(const struct perf_machine *m, enum perf_model model,
		  const struct perf_operand_info *operand_info, const struct perf_run *run,
		  struct perf_estimate *out)
{
	struct perf_estimate sum = { 0 };
	struct history h = { 0 };
	struct surroundings around = { .operand_info = operand_info, .run = run };
	size_t covered = 0; /* rows before this one are slices of a layer */
	if (model == PERF_TIMELINE || model == PERF_CALIBRATED)
		return timeline_run(m, run, out);
	for (size_t i = 0; i < run->n; i++) {
		const struct perf_row *r = &run->row[i];
		out[i] = (struct perf_estimate){ 0 };
		if (r->step.kind == PERF_DMA) {
			note_dma(m, model, r, &h, &out[i]);
			if (regor85(m, model) &&
			    (r->npu->src_indexed || r->npu->dst_indexed))
				perf_regor85_rows(m, operand_info, run, r, &out[i]);
		} else if (r->step.kind == PERF_KERNEL && i >= covered) {
			if (regor85(m, model) && i >= around.phases.end)
				around.phases = perf_phases_at(operand_info, run, i);
			struct perf_layer l = perf_layer_at(operand_info, run, i);
			estimate_layer(m, model, &around, &l, &h, &out[i]);
			covered = l.next;
		}
		perf_estimate_add(&sum, &out[i]);
	}
	return sum;
}
