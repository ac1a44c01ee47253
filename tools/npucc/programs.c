/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the programs of the stages. */
#include "npucc.h"

#include "base/program.h"

static const char *const names[N_PROGRAMS] = {
	[QUANTCHECK] = "tfl-quantcheck", [PARTITION] = "tfl-partition",
	[SCHED] = "npu-sched", [WENC] = "npu-wenc", [CMDGEN] = "npu-cmdgen",
	[TFL2C] = "tfl2c", [PERF] = "npu-perf", [REPORT] = "npu-report", [DIS] = "npu-dis",
	[SIM] = "npu-sim", [TOSA_PARTITION] = "tosa-partition",
	[QUANTIZE] = "tfl-quantize", [CUT] = "tfl-partition",
};

const char *
program_name(enum program p)
{
	return names[p];
}

enum program
first_stage(const struct npucc *c)
{
	return c->tosa ? PARTITION : QUANTCHECK;
}

enum program
program_of(const struct npucc *c, enum program p)
{
	return c->tosa && p == PARTITION ? TOSA_PARTITION : p;
}

#ifdef __wasi__ /* the host has all programs */

bool
programs_find(struct npucc *c)
{
	for (int p = 0; p < N_PROGRAMS; p++)
		c->path[p] = names[p];
	return true;
}

#else

static bool
is_needed(const struct npucc *c, enum program p)
{
	const struct options *o = c->o;
	if (p == QUANTIZE || p == CUT)
		return o->to[p].n > 0;
	if (p == TOSA_PARTITION)
		return c->tosa;
	if (c->tosa && p <= PARTITION)
		return false;
	if (p < N_STAGES)
		return o->keep || p <= o->last || part_is_checked(o);
	if (p == PERF || p == REPORT)
		return o->keep || o->page || o->summary;
	return o->check;
}

bool
programs_find(struct npucc *c)
{
	for (int p = 0; p < N_PROGRAMS; p++) {
		if (!is_needed(c, (enum program)p))
			continue;
		if (!program_find(c->a, names[p], &c->path[p], c->e))
			return false;
	}
	return true;
}

#endif
