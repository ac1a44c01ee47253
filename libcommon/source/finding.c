/* SPDX-License-Identifier: Apache-2.0 */
/* Reports the differences between a stream and its graph. */
#include "source/parts.h"

#include <stdarg.h>
#include <stdio.h>

void
source_error(struct source *x, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	struct npu_finding f = { .rule = VERIFY_RULE_SOURCE, .error = true,
				 .stream = x->s, .at_bytes = 4 * x->at,
				 .command = x->command, .text = text };
	x->out->errors++;
	x->differs = true;
	if (x->out->report)
		x->out->report(x->out->ctx, &f);
}
