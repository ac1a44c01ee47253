/* SPDX-License-Identifier: Apache-2.0 */
#include "base/diag.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void
err_fill(struct err *e, int status, const char *file, unsigned line,
	 const char *fmt, va_list ap)
{
	if (e->status)
		return;
	e->status = status;
	if (file && line)
		(void)snprintf(e->place, sizeof(e->place), "%.400s:%u", file, line);
	else if (file)
		(void)snprintf(e->place, sizeof(e->place), "%.400s", file);
	(void)vsnprintf(e->text, sizeof(e->text), fmt, ap);
	/* names from a model may hold any byte; a message must be one line */
	text_make_plain(e->place);
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
err_at(struct err *e, const char *file, unsigned line, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	err_fill(e, EXIT_TROUBLE, file, line, fmt, ap);
	va_end(ap);
	return false;
}

bool
err_no(struct err *e, const char *file, unsigned line, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	err_fill(e, EXIT_NO, file, line, fmt, ap);
	va_end(ap);
	return false;
}

bool
err_quote(struct err *e, int status, const char *line)
{
	static const char label[] = ": error: ";
	const char *found = strstr(line, label);
	if (e->status)
		return false;
	e->status = status;
	(void)snprintf(e->place, sizeof(e->place), "%.*s", found ? (int)(found - line) : 0, line);
	(void)snprintf(e->text, sizeof(e->text), "%s", found ? found + strlen(label) : line);
	text_make_plain(e->place);
	text_make_plain(e->text);
	return false;
}
