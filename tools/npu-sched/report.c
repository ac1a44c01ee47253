/* SPDX-License-Identifier: Apache-2.0 */
/* --front: the plans that more SRAM buys, for people and for programs. */
#include "passes.h"

#include "base/json_out.h"
#include "graph/facts.h"
#include "target/accel.h"
#include "target/part.h"

#include <inttypes.h>
#include <math.h>

const char *
limited_memory(const struct sched *s)
{
	return target_part_fast_memory(target_part_with(s->part, s->memory.system,
							s->memory.mode));
}

double
rounded(double cycles)
{
	return round(cycles * 1000) / 1000;
}

void
put_batch(const struct sched *s, const struct json_out *j)
{
	const struct g_model *m = s->g->n_models ? s->g->models[0] : NULL;
	if (!m || !G_HAS(m, G_MODEL_desired_batch))
		return;
	json_put_i64(j, "desired_batch_size", m->desired_batch);
	json_put_i64(j, "actual_batch_size", m->actual_batch);
}

void
put_costs(const struct json_out *j, const struct sched_row *r)
{
	json_put_i64(j, "sram", r->sram);
	json_put_f64(j, "cycles", rounded(r->cycles));
	json_put_f64(j, "objective", rounded(r->objective));
}

/* false: a memory of the part is too small for the plan */
static bool
fits_part(const struct sched *s, const struct sched_row *r)
{
	return target_part_fits_plan(s->part, (double)r->sram, (double)(r->flash + r->streams),
				     s->memory.mode);
}

void
print_front(const struct sched *s, struct text *t)
{
	if (s->o->json) {
		const struct json_out j = { .t = t, .style = JSON_SPACED };
		json_root(&j, '{');
		/* a reader compares fronts of several targets, whose clocks may differ */
		json_put_string(&j, "accelerator", s->accel->name);
		if (s->memory.part)
			json_put_string(&j, "part", s->memory.part);
		if (s->memory.mode)
			json_put_string(&j, "memory_mode", s->memory.mode);
		json_put_f64(&j, "core_clock", s->memory.clock);
		if (graph_is_for_linux(s->g))
			json_put_string(&j, "driver", driver_names[DRIVER_LINUX]);
		put_batch(s, &j);
		json_open(&j, "front", '[');
		for (size_t i = 0; i < s->front.n; i++) {
			const struct sched_row *r = &s->front.v[i];
			json_open(&j, NULL, '{');
			put_costs(&j, r);
			json_put_i64(&j, "flash", r->flash);
			json_put_i64(&j, "streams", r->streams);
			json_put_i64(&j, "dram", r->dram);
			if (s->part)
				json_put_bool(&j, "fits", fits_part(s, r));
			json_put_string(&j, "change", r->change);
			json_close(&j, '}');
		}
		text_puts(t, "]}\n");
		return;
	}
	text_puts(t, "sram\tcycles\tobjective\tchange\tflash\tstreams\tdram\n");
	for (size_t i = 0; i < s->front.n; i++) {
		const struct sched_row *r = &s->front.v[i];
		text_printf(t, "%" PRId64 "\t", r->sram);
		text_double(t, rounded(r->cycles));
		text_putc(t, '\t');
		text_double(t, rounded(r->objective));
		text_printf(t, "\t%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\n", r->change, r->flash,
			    r->streams, r->dram);
	}
}
