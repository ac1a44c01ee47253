/* SPDX-License-Identifier: Apache-2.0 */
/* npu-dis: what it was asked for, and the files that do it. */
#ifndef DIS_H
#define DIS_H

#include "base/text.h"
#include "map/map.h"
#include "source/source.h"

enum view { VIEW_LISTING, VIEW_OPERATIONS, VIEW_JSON, VIEW_MAP };

struct options {
	const char *input, *output, *source;
	const struct accel *accel;
	int only; /* operator to show, -1: all */
	bool raw, fields, verify, warnings;
	bool by_linux; /* verify: by the rules of Linux's driver */
	enum view view;
};

struct input {
	const char *name;
	struct tfl_model *model; /* NULL: raw words */
	struct npu_stream *stream;
	int n;
	const struct npu_map *map; /* of the model, or NULL */
	struct graph *source; /* of --source, else of the file's map; or NULL */
	const struct npu_map *carrier; /* of the digest: the file's map, or NULL */
};

/* input.c: reads a compiled model, a driver payload, binary or hex words */
bool read_input(struct arena *a, const struct options *o, struct input *in,
		struct err *e);
/* The same for the bytes of a file, which messages call o->input. */
bool take_input(struct arena *a, const struct options *o, struct bytes file,
		struct input *in, struct err *e);

/*
 * What the source calls the kernel or transfer that a word of stream k is of;
 * NULL: nobody knows
 */
const char *source_name(struct arena *a, const struct input *in, int k, size_t word);

/* json.c: one object for stream k */
bool print_json(struct arena *a, struct text *t, const struct input *in, int k,
		struct err *e);

/*
 * verify.c: prints findings, and a summary into t; an error of status EXIT_NO
 * if a rule is broken
 */
bool verify(struct arena *a, struct text *t, const struct input *in,
	    const struct options *o, struct err *e);

/* linux.c: the same by the rules of Linux's ethosu driver */
bool verify_linux(struct arena *a, struct text *t, const struct input *in,
		  const struct options *o, struct err *e);

#endif
