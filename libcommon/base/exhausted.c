/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a program that has no memory left; libnputools has another end. */
#include "base/diag.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void
out_of_memory(void)
{
#ifdef __unix__
	const char *program = program_invocation_short_name;
#else
	const char *program = "nputools"; /* firmware has no arguments and so no program name */
#endif
	(void)fprintf(stderr, "%s: error: out of memory\n", program);
	exit(EXIT_TROUBLE);
}
