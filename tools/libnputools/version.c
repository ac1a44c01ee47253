/* SPDX-License-Identifier: Apache-2.0 */
/* What the library is: its version, its features, the names of its codes. */
#include "lib.h"

#include <string.h>

const char *
nputools_version(void)
{
	return NPUTOOLS_VERSION;
}

int
nputools_version_number(void)
{
	return NPUTOOLS_VERSION_NUMBER;
}

int
nputools_has(const char *feature)
{
	static const char *const features[] = {
		"tosa", "threads", "progress", "allocator", "compile", "verify", "simulate",
		"estimate", "partition", "front", "stage", "quantize",
	};
	for (size_t i = 0; feature && i < ARRAY_LEN(features); i++)
		if (!strcmp(feature, features[i]))
			return 1;
	return 0;
}

const char *
nputools_code_name(int code)
{
	static const char *const names[] = {
		[NPUTOOLS_OK] = "ok",
		[NPUTOOLS_ERROR_INPUT] = "input",
		[NPUTOOLS_ERROR_UNSUPPORTED] = "unsupported",
		[NPUTOOLS_ERROR_DOES_NOT_FIT] = "does not fit",
		[NPUTOOLS_ERROR_MEMORY] = "memory",
		[NPUTOOLS_ERROR_CANCELLED] = "cancelled",
		[NPUTOOLS_ERROR_INTERNAL] = "internal",
	};
	return code >= 0 && (size_t)code < ARRAY_LEN(names) ? names[code] : "unknown";
}
