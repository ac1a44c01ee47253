/* SPDX-License-Identifier: Apache-2.0 */
/* Prints all numbers of the other reports as JSON. */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void
key(struct text *t, const char *name)
{
	text_printf(t, ", \"%s\": ", name);
}

static void
number(struct text *t, const char *name, double v)
{
	key(t, name);
	if (isfinite(v))
		number_text(t, v);
	else
		text_puts(t, "null");
}

static void
cycles(struct text *t, const char *name, double v)
{
	number(t, name, rounded(v, PARTS_OF_CYCLE));
}

/* a size or count; null if unknown */
static void
count(struct text *t, const char *name, int64_t v)
{
	key(t, name);
	if (v < 0)
		text_puts(t, "null");
	else
		text_i64(t, v);
}

static void
string(struct text *t, const char *name, const char *v)
{
	key(t, name);
	if (v)
		text_quoted(t, v, strlen(v));
	else
		text_puts(t, "null");
}

static void
shape(struct text *t, const char *name, struct hwc s)
{
	key(t, name);
	text_printf(t, "[%d, %d, %d]", s.h, s.w, s.c);
}

static void
memories(struct text *t, const char *name, const double v[MEM_AREAS])
{
	key(t, name);
	for (int a = 0; a < MEM_AREAS; a++) {
		text_printf(t, "%s\"%s\": ", a ? ", " : "{ ",
			    memory_area_csv((enum mem_area)a));
		if (isfinite(v[a]))
			number_text(t, v[a]);
		else
			text_puts(t, "null");
	}
	text_puts(t, " }");
}

/* cycles and bytes by the chosen estimator */
static void
estimate(struct text *t, const struct network *net)
{
	static const char *const purpose[PERF_PURPOSES] = {
		[PERF_FEATURE_MAPS] = "feature_map", [PERF_WEIGHTS] = "weight",
		[PERF_SCALES] = "scale", [PERF_TABLES] = "table",
	};
	const struct perf_estimate *e = &net->total;
	text_printf(t, ",\n\"estimate\": { \"model\": \"%s\"",
		    perf_model_name(net->model));
	number(t, "npu_cycles", e->npu);
	memories(t, "access_cycles", e->memory);
	number(t, "total_cycles", e->total);
	number(t, "macs", e->macs);
	for (int p = 0; p < PERF_PURPOSES; p++)
		for (int d = 0; d < PERF_DIRECTIONS; d++) {
			double v[MEM_AREAS];
			char name[48];
			for (int a = 0; a < MEM_AREAS; a++)
				v[a] = e->bytes[a][p][d];
			(void)snprintf(name, sizeof(name), "%s_%s_bytes",
				       purpose[p], d ? "write" : "read");
			memories(t, name, v);
		}
	text_puts(t, " }");
}

/* the numbers of a device's log, with the timeline's estimates */
static void
measured(struct text *t, const struct network *net)
{
	const struct measured *m = &net->measured;
	if (m->inferences)
		number(t, "measured_cycles", measured_cycles(m));
	text_printf(t, ",\n\"measured\": { \"inferences\": %d", m->inferences);
	if (m->inferences) {
		number(t, "least_cycles", m->least);
		number(t, "most_cycles", m->most);
	}
	for (int c = 0; c < COUNTERS; c++) {
		double estimate = counter_estimate(net, (enum counter)c);
		if (m->value[c] < 0)
			continue;
		key(t, counter_name((enum counter)c));
		text_puts(t, "{ \"measured\": ");
		number_text(t, m->value[c]);
		number(t, "estimated", estimate);
		number(t, "ratio", estimate > 0 ? m->value[c] / estimate : (double)NAN);
		text_puts(t, " }");
	}
	key(t, "operators");
	text_putc(t, '[');
	for (size_t i = 0; i < m->n_ops; i++) {
		text_puts(t, i ? ", { \"name\": " : "{ \"name\": ");
		text_quoted(t, m->op[i].name, strlen(m->op[i].name));
		number(t, "ticks", m->op[i].ticks);
		text_puts(t, " }");
	}
	text_puts(t, "], \"operators_estimated\": [");
	for (size_t i = 0; i < m->n_ops; i++) {
		text_puts(t, i ? ", " : "");
		number_text(t, rounded(measured_estimate(net, i), PARTS_OF_CYCLE));
	}
	text_putc(t, ']');
	json_samples(t, net);
	text_puts(t, " }");
}

/* the network's cycles if one memory were twice as fast */
static void
faster(struct text *t, const struct network *net)
{
	double v[MEM_AREAS];
	for (int a = 0; a < MEM_AREAS; a++)
		v[a] = net->faster[a] > 0 ? (double)llrint(net->faster[a]) : (double)NAN;
	memories(t, "twice_as_fast_cycles", v);
}

/* NPU and CPU together */
static void
inference(struct text *t, const struct network *net)
{
	struct inference x = network_inference(net);
	string(t, "cpu", x.core.name);
	number(t, "cpu_clock", x.core.clock);
	number(t, "cpu_error", x.core.spread);
	number(t, "inference_npu_cycles", (double)llrint(x.npu_cycles));
	number(t, "inference_cpu_cycles", (double)llrint(x.cpu_cycles));
	number(t, "inference_seconds", rounded(x.seconds, PARTS_OF_SECOND));
	number(t, "inference_seconds_low", rounded(x.low, PARTS_OF_SECOND));
	number(t, "inference_seconds_high", rounded(x.high, PARTS_OF_SECOND));
}

static void
head(struct text *t, const struct network *net)
{
	const struct memory_system *m = &net->memory;
	double ms = network_cycles(net) / m->clock * 1e3 / net->batch;
	text_printf(t, "{ \"note\": \"%s\"", model_note(net));
	string(t, "network", net->name);
	string(t, "accelerator", net->accel->name);
	string(t, "system_config", m->system);
	string(t, "memory_mode", m->mode);
	string(t, "part", m->part);
	number(t, "core_clock", m->clock);
	memories(t, "bytes_per_cycle", net->machine.bytes_per_cycle);
	count(t, "macs_per_cycle", net->accel->macs * net->accel->cores);
	text_printf(t, ",\n\"constants_in\": \"%s\", \"arena_in\": \"%s\"",
		    memory_area_csv(m->const_area), memory_area_csv(m->arena_area));
	text_puts(t, ",\n\"timeline_cycles\": ");
	text_i64(t, llrint(net->cycles));
	count(t, "contention_cycles", llrint(net->contention));
	count(t, "bound_cycles", llrint(net->bound));
	count(t, "sram_bound_cycles", llrint(net->sram_bound));
	count(t, "npu_cycles", llrint(net->kernel_cycles));
	count(t, "constant_cycles", llrint(net->constant_cycles));
	count(t, "blocks", net->blocks);
	count(t, "dram_blocks", net->dram_blocks);
	count(t, "batch_size", net->batch);
	if (net->desired_batch) {
		count(t, "desired_batch_size", net->desired_batch);
		count(t, "actual_batch_size", net->batch);
	}
	number(t, "cycles_per_inference", (double)llrint(network_cycles(net)) / net->batch);
	number(t, "inference_ms", rounded(ms, PARTS_OF_MS));
	count(t, "calibrated_cycles", llrint(net->calibrated));
	count(t, "calibrated_low", llrint(net->interval.low));
	count(t, "calibrated_high", llrint(net->interval.high));
	number(t, "calibrated_ms",
	       rounded(net->calibrated / m->clock * 1e3, PARTS_OF_MS));
	key(t, "calibrated_extrapolated");
	text_puts(t, net->extrapolated ? "true" : "false");
	number(t, "inferences_per_second", 1e3 / ms);
	faster(t, net);
	text_puts(t, ",\n\"sram_bytes\": ");
	int64_t sram = network_sram(net);
	if (sram < 0)
		text_puts(t, "null");
	else
		text_i64(t, sram);
	count(t, "flash_bytes", net->bytes.constants);
	count(t, "stream_bytes", net->bytes.streams);
	count(t, "arena_bytes", net->bytes.arena);
	count(t, "dram_bytes", network_used(net, MEM_DRAM));
	if (net->bytes.separate)
		count(t, "separate_io_bytes", net->bytes.separate);
	count(t, "encoded_weight_bytes", net->weights.encoded_bytes);
	count(t, "original_weight_bytes", net->weights.original);
	count(t, "npu_operators", (int64_t)net->n);
	count(t, "npu_layers", net->n_layers);
	count(t, "cpu_operators", net->n_cpu);
	count(t, "cpu_cycles", llrint(net->cpu_cycles));
	count(t, "cpu_operators_without_cycles", net->n_uncosted);
	inference(t, net);
	if (net->measured.inferences || net->measured.n_ops || net->measured.samples > 0)
		measured(t, net);
	key(t, "cpu_operator_names");
	text_putc(t, '[');
	for (int i = 0; i < net->n_cpu; i++) {
		text_puts(t, i ? ", " : "");
		text_quoted(t, net->cpu[i].label, strlen(net->cpu[i].label));
	}
	text_putc(t, ']');
	json_cpu(t, net);
}

/* region and address of a feature map; null if it is not in memory */
static void
place(struct text *t, const char *name, const struct npu_fm *m)
{
	key(t, name);
	if (npu_fm_stored(m))
		text_printf(t, "[%d, %lld]", m->region, (long long)m->base[0]);
	else
		text_puts(t, "null");
}

/* offset of a kernel's first weights in the constants; -1: none, or not constant */
static int64_t
weights_at(const struct perf_run *run, const struct perf_row *r)
{
	struct npu_range w = perf_weight_source(run, r, 0);
	return w.n && w.region == 0 ? w.at : -1;
}

static void
row(struct text *t, const struct network *net, size_t k, size_t i)
{
	const struct operator *op = &net->op[k];
	const struct perf_row *r = &op->run.row[i];
	const struct perf_estimate *e = &op->row[i];
	struct text name = { 0 };
	row_name(&name, op, i);
	text_printf(t, "{ \"operator\": %zu", k);
	count(t, "index", r->npu.index);
	string(t, "kind", npu_op_name(&r->npu));
	string(t, "name", text_str(&name));
	count(t, "word", (int64_t)r->npu.at);
	cycles(t, "start_cycle", op->start + r->step.start);
	cycles(t, "end_cycle", op->start + r->step.end);
	cycles(t, "timeline_cycles", op->timeline.row[i].step.cycles);
	cycles(t, "total_cycles", e->total);
	number(t, "npu_cycles", e->npu);
	memories(t, "access_cycles", e->memory);
	double read[MEM_AREAS], write[MEM_AREAS];
	row_traffic(net, r, read, write);
	memories(t, "read_bytes", read);
	memories(t, "write_bytes", write);
	string(t, "limited_by", row_limit(r));
	if (op->command && r->npu.index < op->n_labels)
		json_layer(t, op->command[r->npu.index].layer);
	if (r->step.kind == PERF_DMA) {
		count(t, "bytes", r->dma_bytes);
		string(t, "from", memory_area_csv(r->dma_from));
		string(t, "to", r->to_shram ? "shram"
					    : memory_area_csv(r->dma_to));
	} else {
		shape(t, "ifm", r->op.ifm.shape);
		if (r->op.ifm2.bits)
			shape(t, "ifm2", r->op.ifm2.shape);
		shape(t, "ofm", r->op.ofm.shape);
		place(t, "ifm_at", &r->npu.ifm);
		place(t, "ofm_at", &r->npu.ofm);
		shape(t, "block", r->op.block);
		count(t, "blocks", r->cost.blocks);
		number(t, "macs", e->macs);
		number(t, "utilisation_percent",
		       row_utilisation(net, e->macs, e->total));
		count(t, "weight_bytes", r->op.weight_bytes);
		count(t, "weights_at", weights_at(&op->run, r));
		cycles(t, "stall_cycles", row_stall(op, i));
	}
	text_puts(t, " }");
	text_free(&name);
}

void
report_json(struct text *t, const struct network *net)
{
	bool any = false;
	head(t, net);
	estimate(t, net);
	text_puts(t, ",\n\"operations\": [");
	for (size_t k = 0; k < net->n; k++)
		for (size_t i = 0; i < net->op[k].run.n; i++) {
			if (!row_listed(&net->op[k].run.row[i]))
				continue;
			text_puts(t, any ? ",\n" : "\n");
			any = true;
			row(t, net, k, i);
		}
	text_puts(t, "\n]");
	json_map(t, net);
	text_puts(t, " }\n");
}
