/* SPDX-License-Identifier: Apache-2.0 */
/* Prints all numbers of the other reports as JSON. */
#include "report.h"

#include "graph/facts.h"
#include "graph/records.h"
#include "stream/op.h"
#include "target/accel.h"
#include "target/part.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void
json_cycles(const struct json_out *j, const char *name, double v)
{
	json_put_rounded(j, name, v, PARTS_OF_CYCLE);
}

/* a size or count; null if unknown */
static void
count(const struct json_out *j, const char *name, int64_t v)
{
	if (v < 0)
		json_put_null(j, name);
	else
		json_put_i64(j, name, v);
}

static void
shape(const struct json_out *j, const char *name, struct hwc s)
{
	json_put_i32s(j, name, (const int32_t[]){ s.h, s.w, s.c }, 3);
}

static void
memories(const struct json_out *j, const char *name, const double v[MEM_AREAS])
{
	json_open(j, name, '{');
	for (int a = 0; a < MEM_AREAS; a++)
		json_put_f64(j, memory_area_csv((enum mem_area)a), v[a]);
	json_close(j, '}');
}

/* cycles and bytes by the chosen estimator */
static void
estimate(const struct json_out *j, const struct network *net)
{
	static const char *const purpose[PERF_PURPOSES] = {
		[PERF_FEATURE_MAPS] = "feature_map", [PERF_WEIGHTS] = "weight",
		[PERF_SCALES] = "scale", [PERF_TABLES] = "table",
	};
	const struct perf_estimate *e = &net->total;
	json_line(j, 0);
	json_open(j, "estimate", '{');
	json_put_string(j, "model", perf_model_name(net->model));
	json_put_f64(j, "npu_cycles", e->npu);
	memories(j, "access_cycles", e->memory);
	json_put_f64(j, "total_cycles", e->total);
	json_put_f64(j, "macs", e->macs);
	for (int p = 0; p < PERF_PURPOSES; p++)
		for (int d = 0; d < PERF_DIRECTIONS; d++) {
			double v[MEM_AREAS];
			char name[48];
			for (int a = 0; a < MEM_AREAS; a++)
				v[a] = e->bytes[a][p][d];
			(void)snprintf(name, sizeof(name), "%s_%s_bytes",
				       purpose[p], d ? "write" : "read");
			memories(j, name, v);
		}
	json_close(j, '}');
}

/* the numbers of a device's log, with the timeline's estimates */
static void
measured(const struct json_out *j, const struct network *net)
{
	const struct measured *m = &net->measured;
	json_line(j, 0);
	json_open(j, "measured", '{');
	json_put_i64(j, "inferences", m->inferences);
	if (m->inferences) {
		json_put_f64(j, "least_cycles", m->least);
		json_put_f64(j, "most_cycles", m->most);
	}
	for (int c = 0; c < COUNTERS; c++) {
		double estimate = counter_estimate(net, (enum counter)c);
		if (m->value[c] < 0)
			continue;
		json_open(j, counter_name((enum counter)c), '{');
		json_put_f64(j, "measured", m->value[c]);
		json_put_f64(j, "estimated", estimate);
		json_put_f64(j, "ratio", estimate > 0 ? m->value[c] / estimate : (double)NAN);
		json_close(j, '}');
	}
	json_open(j, "operators", '[');
	for (size_t i = 0; i < m->n_ops; i++) {
		json_open(j, NULL, '{');
		json_put_string(j, "name", m->op[i].name);
		struct text layers = { 0 };
		measured_layers(&layers, net, i);
		if (layers.n)
			json_put_string(j, "layer_names", text_str(&layers));
		text_free(&layers);
		json_put_f64(j, "ticks", m->op[i].ticks);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_open(j, "operators_estimated", '[');
	for (size_t i = 0; i < m->n_ops; i++)
		json_cycles(j, NULL, measured_estimate(net, i));
	json_close(j, ']');
	json_samples(j, net);
	json_close(j, '}');
}

/* ---- the figures of the whole network ---------------------------------------------- */

#define put_TEXT json_put_string
#define put_BOOL json_put_bool
#define put_COUNT count
#define put_CYCLES(j, key, v) count(j, key, llrint(v))
#define put_NUMBER json_put_f64
#define put_FRACTION json_cycles
#define put_MS(j, key, v) json_put_rounded(j, key, v, PARTS_OF_MS)
#define put_SECONDS(j, key, v) json_put_rounded(j, key, v, PARTS_OF_SECOND)
#define put_MEMORIES memories

static void
put_figures(const struct json_out *j, const struct network *net)
{
	const struct memory_system *m = &net->memory;
	const struct target_part *names = target_part_with(m->chip, m->system, m->mode);
	const struct graph *g = net->graph;
	const struct g_target *target = g && g->n_targets ? g->targets[0] : NULL;
	struct inference x = network_inference(net);
	double ms = network_cycles(net) / m->clock * 1e3 / net->batch;
	double faster[MEM_AREAS], longest = 0;
	/* the price of npu-sched --yield-every; NULL: the streams are whole */
	const struct g_target *yield = target && G_HAS(target, G_TARGET_yield_every) ? target : NULL;
	const struct g_target *planned = target && G_HAS(target, G_TARGET_objective) ? target : NULL;
	for (int a = 0; a < MEM_AREAS; a++)
		faster[a] = net->faster[a] > 0 ? (double)llrint(net->faster[a]) : (double)NAN;
	for (size_t k = 0; k < net->n; k++)
		longest = fmax(longest, net->op[k].run.cycles);
#define FIGURE(key, kind, value, text) put_##kind(j, #key, value);
#define FIGURE_IF(condition, key, kind, value, text) if (condition) FIGURE(key, kind, value, text)
#define FIGURE_LINE() json_line(j, 0);
#include "figures.def"
}

/* the part, if a file describes it: no reader of the report knows it by its name */
static void
own_part(const struct json_out *j, const struct target_part *p)
{
	if (!p || !target_part_is_own(p))
		return;
	json_line(j, 0);
	json_open(j, "own_part", '{');
	json_put_string(j, "system_config", p->system);
	json_put_string(j, "memory_mode", p->mode);
	json_put_string(j, "arena_memory", p->arena_memory);
	json_put_i64(j, "arena_bytes", p->arena_bytes);
	json_put_string(j, "constant_memory", p->constant_memory);
	json_put_i64(j, "constant_bytes", p->constant_bytes);
	json_put_i64(j, "npu_sram_bytes", p->cache_bytes);
	json_put_string(j, "cpu", p->cpu);
	json_put_f64(j, "cpu_clock", p->cpu_clock);
	json_close(j, '}');
}

/* region and address of a feature map; null if it is not in memory */
static void
place(const struct json_out *j, const char *name, const struct npu_fm *m)
{
	if (!npu_fm_stored(m)) {
		json_put_null(j, name);
		return;
	}
	json_open(j, name, '[');
	json_put_i64(j, NULL, m->region);
	json_put_i64(j, NULL, m->base[0]);
	json_close(j, ']');
}

static void
row(const struct json_out *j, const struct network *net, size_t k, size_t i)
{
	const struct operator *op = &net->op[k];
	const struct perf_row *r = &op->run.row[i];
	const struct perf_estimate *e = &op->row[i];
	struct text name = { 0 };
	row_name(&name, op, i);
	json_open(j, NULL, '{');
	json_put_i64(j, "operator", (int64_t)k);
	count(j, "index", r->npu->index);
	json_put_string(j, "kind", npu_op_name(r->npu));
	json_put_string(j, "name", text_str(&name));
	count(j, "word", (int64_t)r->npu->at);
	json_cycles(j, "start_cycle", op->start + r->step.start);
	json_cycles(j, "end_cycle", op->start + r->step.end);
	json_cycles(j, "timeline_cycles", op->timeline.row[i].step.cycles);
	json_cycles(j, "total_cycles", e->total);
	json_put_f64(j, "npu_cycles", e->npu);
	memories(j, "access_cycles", e->memory);
	double read[MEM_AREAS], write[MEM_AREAS];
	row_traffic(net, r, read, write);
	memories(j, "read_bytes", read);
	memories(j, "write_bytes", write);
	json_put_string(j, "limited_by", row_limit(r));
	if (op->command && r->npu->index < op->n_labels)
		json_layer(j, op->command[r->npu->index].layer);
	if (r->step.kind == PERF_DMA) {
		count(j, "bytes", r->dma_bytes);
		json_put_string(j, "from", memory_area_csv(r->dma_from));
		json_put_string(j, "to", r->to_shram ? "shram"
					    : memory_area_csv(r->dma_to));
	} else {
		shape(j, "ifm", r->op.ifm.shape);
		if (r->op.ifm2.bits)
			shape(j, "ifm2", r->op.ifm2.shape);
		shape(j, "ofm", r->op.ofm.shape);
		place(j, "ifm_at", &r->npu->ifm);
		place(j, "ofm_at", &r->npu->ofm);
		shape(j, "block", r->op.block);
		count(j, "blocks", r->cost.blocks);
		json_put_f64(j, "macs", e->macs);
		json_put_f64(j, "utilisation_percent",
		       row_utilisation(net, e->macs, e->total));
		count(j, "weight_bytes", r->op.weight_bytes);
		/* offset of the first weights in the constants; -1: none, or not constant */
		struct npu_range w = perf_weight_source(&op->run, r, 0);
		count(j, "weights_at", w.n && w.region == 0 ? w.at : -1);
		const struct perf_stall stall = perf_stall(&op->run, i);
		json_cycles(j, "stall_cycles", stall.transfers + stall.start);
		json_cycles(j, "start_cycles", stall.start);
	}
	json_close(j, '}');
	text_free(&name);
}

/* The row of a memory that is still busy has the members of all rows, without accesses of its own. */
static void
busy_row(const struct json_out *j, const struct network *net, size_t k)
{
	static const double none[MEM_AREAS] = { 0 };
	const struct operator *op = &net->op[k];
	const struct perf_estimate e = busy_estimate(net, op);
	json_line(j, 0);
	json_open(j, NULL, '{');
	json_put_i64(j, "operator", (int64_t)k);
	json_put_null(j, "index");
	json_put_string(j, "kind", busy_kind);
	json_put_string(j, "name", op->busy.name);
	json_put_null(j, "word");
	json_cycles(j, "start_cycle", op->start + op->busy.start);
	json_cycles(j, "end_cycle", op->start + op->busy.end);
	json_cycles(j, "timeline_cycles", 0);
	json_cycles(j, "total_cycles", e.total);
	json_put_f64(j, "npu_cycles", 0);
	memories(j, "access_cycles", none);
	memories(j, "read_bytes", none);
	memories(j, "write_bytes", none);
	json_put_string(j, "limited_by", memory_area_report(op->busy.area));
	json_close(j, '}');
}

void
report_json(struct text *t, const struct network *net)
{
	const struct json_out out = { .t = t, .style = JSON_PADDED }, *j = &out;
	json_root(j, '{');
	put_figures(j, net);
	own_part(j, net->memory.chip);
	if (net->measured.inferences || net->measured.n_ops || net->measured.samples > 0)
		measured(j, net);
	json_open(j, "cpu_operator_names", '[');
	for (int i = 0; i < net->n_cpu; i++)
		json_put_string(j, NULL, net->cpu[i].label);
	json_close(j, ']');
	json_cpu(j, net);
	estimate(j, net);
	json_line(j, 0);
	json_open(j, "operations", '[');
	for (size_t k = 0; k < net->n; k++) {
		for (size_t i = 0; i < net->op[k].run.n; i++) {
			if (!row_listed(&net->op[k].run.row[i]))
				continue;
			json_line(j, 0);
			row(j, net, k, i);
		}
		if (net->op[k].busy.end > net->op[k].busy.start)
			busy_row(j, net, k);
	}
	json_close_line(j, 0, ']');
	json_map(j, net);
	text_puts(t, " }\n");
}
