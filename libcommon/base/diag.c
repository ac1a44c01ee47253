/* SPDX-License-Identifier: Apache-2.0 */
#include "base/diag.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

static void
err_fill(struct err *e, int status, const char *file, unsigned line,
	 const char *fmt, va_list ap)
{
	if (e->status)
		return;
	e->status = status;
	size_t n = 0;
	if (file && line)
		n = (size_t)snprintf(e->text, sizeof(e->text) / 2,
				     "%.400s:%u: error: ", file, line);
	else if (file)
		n = (size_t)snprintf(e->text, sizeof(e->text) / 2,
				     "%.400s: error: ", file);
	(void)vsnprintf(e->text + n, sizeof(e->text) - n, fmt, ap);
	/* names from a model may hold any byte; a message must be one line */
	text_make_plain(e->text);
}

bool
err_set(struct err *e, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	err_fill(e, EXIT_TROUBLE, NULL, 0, fmt, ap);
	va_end(ap);
	return false;
}

bool
err_no(struct err *e, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	err_fill(e, EXIT_NO, NULL, 0, fmt, ap);
	va_end(ap);
	return false;
}

bool
err_at(struct err *e, const char *file, unsigned line, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	err_fill(e, EXIT_TROUBLE, file, line, fmt, ap);
	va_end(ap);
	return false;
}
