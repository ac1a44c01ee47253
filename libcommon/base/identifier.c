/* SPDX-License-Identifier: Apache-2.0 */
#include "base/identifier.h"

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

/* reserved words that would compile into something else */
static bool
is_keyword(const char *s, size_t n)
{
	static const char *const words[] = {
		"auto", "bool", "break", "case", "char", "class", "const",
		"continue", "default", "delete", "do", "double", "else", "enum",
		"extern", "float", "for", "goto", "if", "inline", "int", "long",
		"namespace", "new", "operator", "private", "public", "register",
		"return", "short", "signed", "sizeof", "static", "struct",
		"switch", "template", "this", "typedef", "union", "unsigned",
		"using", "virtual", "void", "volatile", "while",
	};
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strlen(words[i]) == n && !strncmp(words[i], s, n))
			return true;
	return false;
}

bool
identifier_is_valid(const char *s, size_t n)
{
	if (!n || isdigit((unsigned char)s[0]) || is_keyword(s, n))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!(isalnum((unsigned char)s[i]) || s[i] == '_') ||
		    (s[i] & 0x80))
			return false;
	return true;
}

const char *
identifier_of_file(struct arena *a, const char *path)
{
	char *name = arena_strdup(a, text_cut(a, file_base(path), ".tflite"));
	for (char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) || *p & 0x80)
			*p = '_';
	return identifier_is_valid(name, strlen(name)) ? name : arena_printf(a, "model_%s", name);
}
