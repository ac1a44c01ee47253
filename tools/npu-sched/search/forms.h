/* SPDX-License-Identifier: Apache-2.0 */
/* forms.c: a network in several forms, planned one by one. */
#ifndef NPU_SCHED_FORMS_H
#define NPU_SCHED_FORMS_H

#include "../sched.h"

/* the graph as text, of which its other forms are read */
struct bytes form_text(struct sched *s);
/* the same network again, to be planned for itself; false: e says why */
bool form_open(const struct sched *s, struct bytes text, struct sched *out, struct err *e);
/* is x's plan better, by what is asked for?  One that is as good in as many bytes is not */
bool form_is_better(const struct sched *x, const struct sched *y);

/* what changes where the next row of a joint front is of the other form */
struct form_changes {
	const char *to, *from; /* y's form */
};
/* rows of both fronts by rising memory, without those that another is no worse than */
struct sched_front form_fronts(struct arena *a, const struct sched_front *x,
			       const struct sched_front *y,
			       const struct form_changes *changes);

#endif
