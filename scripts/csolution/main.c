/* SPDX-License-Identifier: Apache-2.0 */
/* Links the compiled model; a call of the NPU is in ../examples/bare.c. */
#include <stddef.h>
#include <stdint.h>

#include "keyword.h"

const volatile void *model;

int
main(void)
{
	model = keyword;
	for (;;)
		;
}
