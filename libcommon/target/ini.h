/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the memory system and the part of an ini file. */
#ifndef TARGET_INI_H
#define TARGET_INI_H

#include "target/memory.h"
#include "target/part.h"

/*
 * Loads sections [System_Config.NAME] and [Memory_Mode.NAME] of an ini file.  Private
 * to this folder.
 */
bool memory_load_ini(struct arena *a, const char *path, const char *system,
		     const char *mode, struct memory_system *out,
		     struct err *e);

/* Loads the only section [Part.NAME] of an ini file.  Private to this folder. */
bool part_load_ini(struct arena *a, const char *path, struct target_part *out, struct err *e);

#endif
