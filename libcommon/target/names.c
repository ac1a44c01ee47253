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

void
target_check_names(const struct target_names *n, void (*say)(const struct err *e))
{
	struct err accel = { 0 }, part = { 0 }, profile[2] = { 0 };
	struct arena *scratch = arena_open();
	bool required = n->required && !n->part;
	if (n->accel)
		(void)accel_named(n->accel, &accel);
	else if (required)
		(void)err_set(&accel, "--part or --accelerator-config is required: one of %s",
			      accel_names());
	say_error(&accel, say);
	(void)target_part_take(scratch, n->part, &part);
	say_error(&part, say);
	arena_close(scratch);
	if (n->has_config)
		return;
	if (n->system || required)
		(void)memory_check_system(n->system, n->accel ? accel_find(n->accel) : NULL,
					  &profile[0]);
	if (n->mode || required)
		(void)memory_check_mode(n->mode, &profile[1]);
	for (int i = 0; i < 2; i++) {
		struct err e = { 0 };
		bool named = i ? n->mode : n->system;
		if (profile[i].status)
			(void)err_set(&e, "%s%s", profile[i].text,
				      named ? "; --config=FILE reads others" : "");
		say_error(&e, say);
	}
}
