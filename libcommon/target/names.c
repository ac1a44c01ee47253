/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the names that a command line gives for its target. */
#include "target/memory.h"
#include "target/part.h"
#include "target/target.h"

#include "base/diag.h"
#include "target/accel.h"

static void
say_error(const struct err *e, void (*say)(const struct err *e))
{
	if (e->status)
		say(e);
}

static void
check_accelerator(const struct target_names *n, void (*say)(const struct err *e))
{
	struct err e = { 0 };
	if (n->accel)
		(void)accel_named(n->accel, &e);
	else if (n->required && !n->part)
		(void)err_set(&e, "--part or --accelerator-config is required: one of %s",
			      accel_names());
	say_error(&e, say);
}

static void
check_memory(const struct target_names *n, void (*say)(const struct err *e))
{
	struct err system = { 0 }, mode = { 0 };
	bool required = n->required && !n->part;
	if (n->system || required)
		(void)memory_check_system(n->system, n->accel ? accel_find(n->accel) : NULL,
					  &system);
	if (n->mode || required)
		(void)memory_check_mode(n->mode, &mode);
	for (int i = 0; i < 2; i++) {
		const struct err *of = i ? &mode : &system;
		struct err e = { 0 };
		bool named = i ? n->mode : n->system;
		if (of->status)
			(void)err_set(&e, "%s%s", of->text,
				      named ? "; --config=FILE reads others" : "");
		say_error(&e, say);
	}
}

void
target_check_names(const struct target_names *n, void (*say)(const struct err *e))
{
	struct err e = { 0 };
	struct arena *scratch = arena_open();
	check_accelerator(n, say);
	(void)target_part_take(scratch, n->part, &e);
	say_error(&e, say);
	arena_close(scratch);
	if (!n->has_config)
		check_memory(n, say);
}
