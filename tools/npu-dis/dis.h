/* SPDX-License-Identifier: Apache-2.0 */
/* npu-dis: what it was asked for, and the files that do it. */
#ifndef DIS_H
#define DIS_H

#include "base/text.h"
#include "stream/source.h"

enum view { VIEW_LISTING, VIEW_OPERATIONS, VIEW_JSON };

struct options {
	const char *input, *output, *source;
	const struct accel *accel;
	int only; /* operator to show, -1: all */
	bool raw, fields, verify, warnings;
	enum view view;
};

struct input {
	const char *name;
	struct tfl_model *model; /* NULL: raw words */
	struct npu_stream *stream;
	int n;
	struct graph *source; /* of --source, or NULL */
};

/* input.c: reads a compiled model, a driver payload, binary or hex words */
bool read_input(struct arena *a, const struct options *o, struct input *in,
		struct err *e);

/* json.c: one object for a stream */
bool print_json(struct text *t, const struct npu_stream *s, struct err *e);

/*
 * verify.c: prints findings, and a summary into t; an error of status EXIT_NO
 * if a rule is broken
 */
bool verify(struct arena *a, struct text *t, const struct input *in,
	    const struct options *o, struct err *e);

#endif
