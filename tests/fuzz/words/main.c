/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: fuzz-words TARGET
 * Prints libFuzzer's dictionary of a target, made from the tables of schema/: one word a
 * line, and none for a target whose format has no table.
 */
#include "graph/graph.h"

#include <stdio.h>
#include <string.h>

static void
word(const char *text, const char *end)
{
	printf("\"%s%s\"\n", text, end);
}

/* 32 bits in the byte order of files */
static void
number(uint32_t v)
{
	printf("\"\\x%02x\\x%02x\\x%02x\\x%02x\"\n", v & 255, v >> 8 & 255,
	       v >> 16 & 255, v >> 24);
}

static void
enumeration(const char *const *names)
{
	for (; names && *names; names++)
		word(*names, "");
}

static void
graph_words(void)
{
#define RECORD(n, keyword, prefix, type, array) word(keyword, " ");
#define KEY(n, field, text, kind, names)                                     \
	word(text, "=");                                                     \
	enumeration((const char *const *)(names));
#include "graph.def"
	word("eof", "\\x0a");
}

/* operators and the tags of their options; types of tensors are small numbers */
static void
model_words(void)
{
	word("TFL3", "");
#define TFL_OP(code, name, tag) number(code); number(tag);
#include "tflite_ops.def"
}

/* operators of TOSA as numbers, and the file's mark */
static void
tosa_words(void)
{
	word("TOSA", "");
#define TOSA_OP(code, ...) number(code);
#include "tosa_ops.def"
}

static void
flow_words(void)
{
	model_words();
	tosa_words();
}

/* commands without a param */
static void
stream_words(void)
{
#define NPU_OP(code, ...) number(code);
#define NPU_REG0(code, ...) number(code);
#define NPU_REG1(code, ...) number(0x4000 | (code));
#include "ethosu.def"
}

static const struct dictionary {
	const char *target;
	void (*print)(void);
} dictionaries[] = {
	{ "graph", graph_words },   { "stages", graph_words },
	{ "model", model_words },   { "flow", flow_words },   { "tosa", tosa_words },
	{ "stream", stream_words }, { "npu", stream_words },
};

int
main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < ARRAY_LEN(dictionaries); i++)
		if (!strcmp(argv[1], dictionaries[i].target))
			dictionaries[i].print();
	return argc == 2 && !fflush(stdout) ? EXIT_YES : EXIT_TROUBLE;
}
