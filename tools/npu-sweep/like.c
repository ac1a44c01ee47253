/* SPDX-License-Identifier: Apache-2.0 */
/* --like: reads accelerator and memory system from a compiled model. */
#include "sweep.h"

#include "base/file.h"
#include "map/profile.h"
#include "target/accel.h"
#include "target/target.h"
#include "tflite/tflite.h"

static void
take_name(struct options *o, struct names *l, const char *name)
{
	if (l->n || !name)
		return;
	agrow(o->a, l->v, l->n, &l->cap);
	l->v[l->n++] = name;
}

bool
take_like(struct options *o, struct err *e)
{
	struct tfl_model *m;
	struct profile p = { 0 };
	if (!o->like)
		return true;
	if (!tfl_read_file(o->a, o->like, &m, e) || !profile_read(o->a, m, &p, e))
		return false;
	if (!p.accel)
		return err_at(e, o->like, 0, "the file contains no memory system: npucc has "
			      "not compiled it; use --system-config and --memory-mode");
	take_name(o, &o->accels, p.accel->name);
	take_name(o, &o->systems, p.memory.system);
	if (!o->mode)
		o->mode = p.memory.mode;
	return true;
}
