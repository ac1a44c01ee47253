/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NPU_SCHED_TABLES_H
#define NPU_SCHED_TABLES_H

#include "sched.h"

/* tables.c.  Leaves: tables only where the accelerator can use them */
bool separate_tables(struct sched *s);

#endif
