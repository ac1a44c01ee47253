/* SPDX-License-Identifier: Apache-2.0 */
/* The stage without its files: what main.c does between reading and writing. */
#ifndef NPU_SCHED_STAGE_H
#define NPU_SCHED_STAGE_H

#include "sched.h"

/* Sets accelerator and memories of s by o, which takes absent names from o->part. */
bool schedule_target(struct sched *s, struct options *o);
/*
 * Schedules the graph of a text, which s takes over and which messages call s->o->input.
 * Result: s->g, and s->plan, which the caller closes.
 */
bool schedule_text(struct sched *s, uint8_t *text, size_t n);

#endif
