/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With --part: whether the output fits the memories of the part and, if it does not, which option
 * would make it fit.  Only tfl2c, the last stage, computes all sizes.  So the stages behind the one
 * that the user asked for run to their end, and their header is thrown away.
 */
#include "npucc.h"

#include "base/cli.h"
#include "target/part.h"

#include <string.h>

bool
part_is_checked(const struct options *o)
{
	return o->part && !o->allow_overflow && !o->report && !o->keep && !o->database &&
	       (o->last == SCHED || o->last == WENC || o->last == CMDGEN);
}

/* The stages from `first` to tfl2c, whose header nobody reads; from: its input, or NULL. */
static bool
run_to_end(struct npucc *c, enum program first, const char *from, bool silent)
{
	struct job job[N_STAGES];
	size_t n = 0;
	for (int p = (int)first; p < N_STAGES; p++) {
		job[n] = job_of(c, (enum program)p);
		job[n++].silent = silent;
	}
	if (from) {
		job[0].from = from;
		job[0].input = NULL;
	}
	job[n - 1].mute = true;
	return run_jobs(c, job, n);
}

/* True if the network fits with one more option of npu-sched; else *why has the messages, or is NULL. */
static bool
fits_with(const struct npucc *c, const char *option, const char **why)
{
	struct options o = other_plans(c->a, c->o, &c->o->to[SCHED], option);
	struct npucc aside = *c;
	struct err none = { 0 };
	aside.o = &o;
	aside.e = &none;
	const bool fits = run_to_end(&aside, first_stage(&aside), NULL, true);
	*why = fits ? NULL : aside.unshown;
	return fits;
}

/* " (9696 bytes are missing)", of a message of tfl2c; "" if it is another one */
static const char *
missing_text(struct arena *a, const char *message)
{
	const char *end = message ? strstr(message, " are missing") : NULL;
	const char *begin = end;
	while (begin > message && begin[-1] >= '0' && begin[-1] <= '9')
		begin--;
	return begin < end ? arena_printf(a, " (%.*s bytes are missing)", (int)(end - begin), begin) : "";
}

/*
 * Names the option that changes least.  The plan of Size takes the least memory: if it does
 * not fit, no plan does.
 */
void
tell_fitting_option(struct npucc *c)
{
	static const double parts_of_sram[] = { 1, 0.98, 0.95, 0.9, 0.75 };
	struct err none = { 0 };
	const char *why;
	const struct target_part *p = target_part_take(c->a, c->o->part, &none);
	if (!p || !c->too_large || c->o->allow_overflow)
		return;
	if (!fits_with(c, "--optimise=Size", &why)) {
		cli_note("note", "%s does not fit %s with --optimise=Size either%s: take another "
				 "part or memory mode", c->o->in ? c->o->in : "the model", p->name,
			 missing_text(c->a, why));
		return;
	}
	double sram = (double)target_part_sram(p, c->o->for_linux);
	for (size_t i = 0; i < ARRAY_LEN(parts_of_sram); i++) {
		int64_t bytes = (int64_t)(sram * parts_of_sram[i]) / 16 * 16;
		const char *option = arena_printf(c->a, "--arena-cache-size=%lld",
						  (long long)bytes);
		if (fits_with(c, option, &why)) {
			cli_note("note", "with %s the network fits %s", option, p->name);
			return;
		}
	}
	cli_note("note", "with --optimise=Size the network fits %s", p->name);
}

bool
check_part(struct npucc *c, const char *made)
{
	struct npucc aside = *c;
	struct err none = { 0 };
	enum program next = (enum program)(c->o->last + 1);
	if (!part_is_checked(c->o))
		return true;
	aside.e = &none;
	/* an answer other than no is about the header, which is not the output */
	if (run_to_end(&aside, next, made, true) || aside.status != EXIT_NO)
		return true;
	return run_to_end(c, next, made, false);
}
