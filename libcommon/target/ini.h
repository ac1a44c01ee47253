/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the memory system of an ini file. */
#ifndef TARGET_INI_H
#define TARGET_INI_H

#include "target/memory.h"

/*
 * Loads sections [System_Config.NAME] and [Memory_Mode.NAME] of an ini file.  Private
 * to this folder.
 */
bool memory_load_ini(struct arena *a, const char *path, const char *system,
		     const char *mode, struct memory_system *out,
		     struct err *e);

#endif
