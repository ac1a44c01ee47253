/* SPDX-License-Identifier: Apache-2.0 */
/* Comma-separated reports: Vela's 52 columns, and one row per layer. */
#include "report.h"

#include "stream/op.h"
#include "target/accel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* one function prints both header and row, so that their columns always match */
struct columns {
	struct text *t;
	bool header, any;
};

static bool
column(struct columns *c, const char *prefix, const char *name)
{
	if (c->any)
		text_putc(c->t, ',');
	c->any = true;
	if (c->header)
		text_printf(c->t, "%s%s", prefix, name);
	return !c->header;
}

static void
col_text(struct columns *c, const char *name, const char *v)
{
	if (column(c, "", name))
		text_csv(c->t, v ? v : "n/a");
}

static void
col_num(struct columns *c, const char *prefix, const char *name, double v)
{
	if (!column(c, prefix, name))
		return;
	if (isnan(v))
		text_puts(c->t, "n/a");
	else
		text_number(c->t, v);
}

static void
summary_columns(struct columns *c, const struct options *o,
		const struct network *net)
{
	const struct perf_estimate *e = &net->total;
	double time = e->total / net->memory.clock;
	double unit = o->units == 4 ? 1024.0 * 1024 * 1024 : 1e9;
	col_text(c, "experiment", "default");
	col_text(c, "network", net->name);
	col_text(c, "accelerator_configuration", net->accel->report_name);
	col_text(c, "system_config", net->memory.system);
	col_text(c, "memory_mode", net->memory.mode);
	col_num(c, "", "core_clock", net->memory.clock);
	col_num(c, "", "arena_cache_size", (double)net->memory.cache_bytes / 1024);
	for (int a = 0; a < MEM_AREAS; a++)
		col_num(c, memory_area_csv((enum mem_area)a), "_bandwidth",
			net->machine.bytes_per_cycle[a] * net->memory.clock /
			    unit);
	col_text(c, "weights_storage_area",
		 memory_area_report(net->memory.const_area));
	col_text(c, "feature_map_storage_area",
		 memory_area_report(net->memory.arena_area));
	col_num(c, "", "inferences_per_second",
		time > 0 ? net->batch / time : (double)NAN);
	col_num(c, "", "batch_size", net->batch);
	col_num(c, "", "inference_time", time);
	col_text(c, "passes_before_fusing", NULL);
	col_text(c, "passes_after_fusing", NULL);
	for (int a = 0; a < MEM_AREAS; a++) {
		int64_t n = network_used(net, (enum mem_area)a);
		col_num(c, memory_area_csv((enum mem_area)a), "_memory_used",
			n < 0 ? (double)NAN : (double)n / 1024);
	}
	col_num(c, "", "total_original_weights", (double)net->weights.original);
	col_num(c, "", "total_npu_encoded_weights",
		(double)net->weights.encoded_bytes);
	for (int a = 0; a < MEM_AREAS; a++) {
		const char *name = memory_area_csv((enum mem_area)a);
		const double (*b)[PERF_DIRECTIONS] = e->bytes[a];
		double all = 0;
		for (int p = 0; p < PERF_PURPOSES; p++)
			all += b[p][PERF_READ] + b[p][PERF_WRITE];
		col_num(c, name, "_feature_map_read_bytes",
			b[PERF_FEATURE_MAPS][PERF_READ]);
		col_num(c, name, "_feature_map_write_bytes",
			b[PERF_FEATURE_MAPS][PERF_WRITE]);
		col_num(c, name, "_weight_read_bytes",
			b[PERF_WEIGHTS][PERF_READ]);
		col_num(c, name, "_weight_write_bytes",
			b[PERF_WEIGHTS][PERF_WRITE]);
		col_num(c, name, "_total_bytes", all);
	}
	col_num(c, "", "nn_macs", e->macs);
	col_num(c, "", "nn_tops",
		time > 0 ? e->macs * 2 / time / 1e12 : (double)NAN);
	col_num(c, "", "cycles_npu", e->npu);
	for (int a = 0; a < MEM_AREAS; a++) {
		char name[64];
		(void)snprintf(name, sizeof(name), "cycles_%s_access",
			       memory_area_csv((enum mem_area)a));
		col_num(c, "", name, e->memory[a]);
	}
	col_num(c, "", "cycles_total", e->total);
	text_putc(c->t, '\n');
}

void
report_summary_csv(struct text *t, const struct options *o,
		   const struct network *net)
{
	summary_columns(&(struct columns){ .t = t, .header = true }, o, net);
	summary_columns(&(struct columns){ .t = t }, o, net);
}

/* ---- per layer ---------------------------------------------------------------- */

static void
layer_columns(struct columns *c, const struct network *net, const char *kind, const char *name,
	      const struct perf_estimate *e, double start, double end)
{
	col_text(c, "TFLite_operator", NULL);
	col_text(c, "NNG Operator", kind);
	col_text(c, "SRAM Usage", NULL);
	col_text(c, "Peak%", NULL);
	col_num(c, "", "Op Cycles", e->total);
	col_num(c, "", "Network%", share(e->total, net->total.total));
	col_num(c, "", "NPU", e->npu);
	col_num(c, "", "SRAM AC", e->memory[MEM_SRAM]);
	col_num(c, "", "DRAM AC", e->memory[MEM_DRAM]);
	col_num(c, "", "OnFlash AC", e->memory[MEM_ON_CHIP_FLASH]);
	col_num(c, "", "OffFlash AC", e->memory[MEM_OFF_CHIP_FLASH]);
	col_num(c, "", "MAC Count", e->macs);
	col_num(c, "", "Network%", share(e->macs, net->total.macs));
	col_num(c, "", "Util%", row_utilisation(net, e->macs, e->total));
	col_text(c, "Name", name);
	col_num(c, "", "start_cycle", start);
	col_num(c, "", "end_cycle", end);
	text_putc(c->t, '\n');
}

void
report_csv(struct text *t, const struct network *net)
{
	layer_columns(&(struct columns){ .t = t, .header = true }, net, "", "",
		      &(struct perf_estimate){ 0 }, 0, 0);
	for (size_t k = 0; k < net->n; k++) {
		const struct operator *op = &net->op[k];
		for (size_t i = 0; i < op->run.n; i++) {
			const struct perf_row *r = &op->run.row[i];
			struct text name = { 0 };
			if (!row_listed(r))
				continue;
			row_name(&name, op, i);
			(void)text_str(&name);
			text_make_plain(name.p);
			layer_columns(&(struct columns){ .t = t }, net, npu_op_name(r->npu),
				      text_str(&name), &op->row[i], op->start + r->step.start,
				      op->start + r->step.end);
			text_free(&name);
		}
		const struct perf_estimate busy = busy_estimate(net, op);
		if (op->busy.end > op->busy.start)
			layer_columns(&(struct columns){ .t = t }, net, busy_kind, op->busy.name,
				      &busy, op->start + op->busy.start, op->start + op->busy.end);
	}
}
