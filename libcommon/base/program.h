/* SPDX-License-Identifier: Apache-2.0 */
/* Other programs of this kit, for those that run them. */
#ifndef BASE_PROGRAM_H
#define BASE_PROGRAM_H

#include "base/arena.h"
#include "base/diag.h"

/* The path of a program: beside the running one (links to it lead there), else in PATH. */
bool program_find(struct arena *a, const char *name, const char **path, struct err *e);

#endif
