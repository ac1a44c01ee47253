/* SPDX-License-Identifier: Apache-2.0 */
/* What a page of one report and a page of a comparison begin and end with. */
#include "report.h"

void
page_open(struct text *t, const char *title)
{
	text_puts(t, "<!DOCTYPE html>\n<html lang=\"en\" "
		     "xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
		     "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
		     "content=\"width=device-width, initial-scale=1\"/>\n"
		     "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
		     "<meta http-equiv=\"Content-Security-Policy\" "
		     "content=\"default-src 'none'; style-src 'unsafe-inline'; "
		     "script-src 'unsafe-inline'\"/>\n<title>");
	text_html(t, title);
	text_puts(t, "</title>\n<style>\n");
	svg_style(t);
	text_puts(t, page_css);
	text_puts(t, "</style>\n</head>\n<body>\n<h1>");
	struct text name = { 0 };
	text_html(&name, title);
	for (const char *s = text_str(&name); *s; s++) {
		text_putc(t, *s);
		if (*s == '_') /* a long name may break here */
			text_puts(t, "<wbr/>");
	}
	text_free(&name);
	text_puts(t, "</h1>\n");
}

void
page_close(struct text *t)
{
	text_puts(t, "</body>\n</html>\n");
}
