/* SPDX-License-Identifier: Apache-2.0 */
/* The options of npu-dis, and its functions by file. */
#ifndef DIS_H
#define DIS_H

#include "base/json_out.h"
#include "map/map.h"
#include "source/source.h"

enum view { VIEW_LISTING, VIEW_OPERATIONS, VIEW_JSON, VIEW_MAP };

struct options {
	const char *input, *output, *source;
	const struct accel *accel;
	int only; /* index of the ethos-u operator to use; -1: all */
	bool raw, fields, verify, warnings;
	bool by_linux; /* verify by the rules of the Linux driver; valid if verify */
	enum view view;
	bool operations, json, map; /* views that were named */
};

struct input {
	const char *name;
	struct tfl_model *model; /* NULL: raw words */
	struct npu_stream *stream;
	int n; /* number of streams */
	const struct npu_map *map; /* source map; NULL: none, or of other streams */
	struct graph *source; /* graph of --source or of the file's map; NULL: none */
	const struct npu_map *carrier; /* the file's map, whose digest is checked; or NULL */
};

/* input.c: reads a compiled model, a driver payload, binary or hex words */
bool read_input(struct arena *a, const struct options *o, struct input *in,
		struct err *e);
/* The same for the bytes of a file, which messages call o->input. */
bool take_input(struct arena *a, const struct options *o, struct bytes file,
		struct input *in, struct err *e);

/*
 * Returns the source map's name of the kernel or transfer at a word of stream k.  NULL:
 * the source map has no name, or there is no source map.
 */
const char *source_name(struct arena *a, const struct input *in, int k, size_t word);

/* json.c: the members that name a stream */
void put_stream_head(const struct json_out *j, const struct npu_stream *s);
/* json.c: prints stream k as a JSON object */
bool print_json(struct arena *a, struct text *t, const struct input *in, int k,
		struct err *e);

/*
 * verify.c: prints the findings to standard error, and a summary into t.  Fails with status
 * EXIT_NO if a stream breaks a rule.
 */
bool verify(struct arena *a, struct text *t, const struct input *in,
	    const struct options *o, struct err *e);

/* linux.c: the same for the rules of the Linux driver ethosu */
bool verify_linux(struct arena *a, struct text *t, const struct input *in,
		  const struct options *o, struct err *e);

#endif
