/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the Pareto fronts of npu-sched: that of the report's NPU, and those of others. */
#include "report.h"

#include <math.h>
#include <string.h>

/* the points of a front of npu-sched that fit the part, in their order */
struct front {
	const struct json *root;
	const struct target_part *part; /* of the front, or else of the report; NULL: none */
	const char *mode; /* memory mode; NULL: unknown */
	struct point *v;
	size_t n;
};

/* Cycles become those of the report's clock, so that they compare as times. */
static bool
read_points(const struct report *r, struct bytes json, const char *file, struct front *f,
	    struct err *e)
{
	struct json *root = anew(r->a, struct json, 1);
	size_t all;
	if (!json_parse(r->a, json, file, root, e) || !check_kinds(root, file, e))
		return false;
	const struct json *v = json_items(root, "front", &all);
	if (!v)
		return err_at(e, file, 0, "the file has no \"front\": write it with "
					  "npu-sched --front --json");
	double clock = json_number(root, "core_clock", r->clock);
	if (!(clock > 0))
		return err_at(e, file, 0, "\"core_clock\" is not above 0");
	const struct target_part *own = target_part_find(json_string(root, "part", NULL),
							 &(struct err){ 0 });
	*f = (struct front){ .root = root, .part = own ? own : r->part,
			     .mode = json_string(root, "memory_mode", NULL),
			     .v = anew(r->a, struct point, all) };
	double least = INFINITY;
	for (size_t i = 0; i < all; i++) {
		double sram = json_number(&v[i], "sram", -1);
		double cycles = json_number(&v[i], "cycles", -1);
		if (sram < 0 || cycles < 0)
			return err_at(e, file, 0, "point %zu of \"front\" has no "
				      "\"sram\" or \"cycles\"", i);
		double flash = json_number(&v[i], "flash", -1);
		double streams = json_number(&v[i], "streams", -1);
		double constants = flash < 0 || streams < 0 ? -1 : flash + streams;
		/* a part leaves out the points that its memories are too small for, unless they are too
		 * small for this plan, too */
		bool is_promise = f->part && !(f->part == r->part && overflows(r));
		if (is_promise && !target_part_fits_plan(f->part, sram, constants, f->mode))
			continue;
		f->v[f->n++] = (struct point){ .sram = sram, .stored = constants,
					       .cycles = cycles * (r->clock / clock),
					       .objective = json_number(&v[i], "objective", 0),
					       .is_beaten = cycles >= least,
					       .change = json_string(&v[i], "change", "") };
		least = fmin(least, cycles);
	}
	return true;
}

bool
read_front(struct report *r, struct bytes json, const char *file, struct err *e)
{
	struct front f;
	if (!read_points(r, json, file, &f, e))
		return false;
	r->point = f.v;
	r->n_points = f.n;
	return true;
}

bool
read_other(struct report *r, struct bytes json, const char *file, const char *name,
	   struct err *e)
{
	struct front f;
	size_t cap = r->n_others;
	if (!read_points(r, json, file, &f, e))
		return false;
	const char *part = json_string(f.root, "part", NULL);
	/* the CPU's time on another part, relative to that of the report's; 1 if nothing tells */
	double clock = json_number(r->root, "cpu_clock", 0), times = 1;
	if (f.part && f.part->cpu_clock > 0 && clock > 0 && !strcmp(f.part->cpu, r->cpu_name))
		times = clock / f.part->cpu_clock;
	/* a front that names no part is of another chip, whose memories have no names (gains.c) */
	const char *memory = !part		  ? "SRAM"
			     : f.part == r->part ? fast_text(r)
						  : target_part_fast_memory(f.part);
	struct other x = { .name = name, .cpu_time = r->cpu_time * times,
			   .same_chip = f.part != r->part &&
					target_part_same_chip(r->part, f.part),
			   .part = part, .memory = memory,
			   .clock = json_number(f.root, "core_clock", r->clock) };
	for (size_t i = 0; i < f.n; i++) {
		const struct point *p = &f.v[i];
		if (!(x.any.cycles > 0) || p->cycles < x.any.cycles)
			x.any = *p;
		if (p->sram <= r->sram && (!(x.here.cycles > 0) || p->cycles < x.here.cycles))
			x.here = *p;
	}
	/* this NPU with the constants in the memory of its arena */
	const char *own = json_string(r->root, "memory_mode", "");
	if (f.part && f.part == r->part && target_mode_has_constants_in_arena(f.mode) &&
	    strcmp(own, f.mode) != 0)
		x.mode = f.mode;
	agrow(r->a, r->other, r->n_others, &cap);
	r->other[r->n_others++] = x;
	return true;
}
