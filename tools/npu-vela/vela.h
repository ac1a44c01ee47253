/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu-vela: runs npucc and npu-perf with Vela's options, and writes Vela's files.  main.c
 * calls memory.c, compile.c, estimate.c, and then writes.
 */
#ifndef NPU_VELA_VELA_H
#define NPU_VELA_VELA_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/diag.h"
#include "base/text.h"

#define SEARCHED "npu-sched searches for the best plan"

enum vela_option {
	OPT_FIRST = 255,
#define KEEP(id, name, value, help) OPT_##id,
#define NOOP(id, name, value, reason) OPT_##id,
#define ONLY(id, name, value, reason) OPT_##id,
#define FAIL(id, name, value, reason) OPT_##id,
#include "vela.def"
#undef KEEP
#undef NOOP
#undef ONLY
#undef FAIL
};

struct words {
	const char **v;
	size_t n, cap;
};

struct options {
	struct arena *a;
	const char *network, *accel, *dir;
	const char *part, *system, *mode, *optimise, *arena; /* NULL: not named */
	const char *list; /* the file of --list-configs; NULL: compile */
	struct words config; /* files */
	struct words cpu; /* types of operators that run on the CPU */
	struct words verbose; /* names of listings: "graph" for --verbose-graph */
	bool any, raw, separate, cpu_names;
	bool refused; /* an option without a counterpart, some of which need no network */
};

struct vela {
	struct arena *a;
	const struct options *o;
	struct err *e;
	const char *name; /* of the network's file, without directories and suffix */
	const char *named; /* the system configuration in the summary's name */
	bool tosa;
	struct words memory; /* options of the memory system, for npucc and npu-perf */
	const char *temporary; /* several configuration files as one; NULL: none */
	struct words listings; /* options of npucc that print listings */
	bool layers; /* --verbose-performance */
	bool cpu_names; /* --show-cpu-operations */
	struct bytes compiled;
	struct text log; /* what Vela prints: listings, then the summary */
	const char *summary, *table; /* CSV; NULL: none */
	int status; /* of npucc, which has printed a message; 0: done */
};

/* options.c */
void options_parse(struct options *o, int argc, char **argv);
void words_add(struct arena *a, struct words *w, const char *word);

/* memory.c: the memory system, by name or as Vela chooses it */
bool memory_choose(struct vela *v);
/* prints the profiles of --list-configs */
bool memory_list(struct vela *v);

/* run.c: runs a program to its end */
struct run {
	struct words words; /* the program's name, options and operands */
	struct bytes in; /* its standard input; p is NULL: empty */
	struct bytes out; /* its standard output */
	struct bytes said; /* its standard error */
	int status;
};
bool run_program(struct vela *v, struct run *r);

/* compile.c: runs npucc */
bool compile(struct vela *v);

/* estimate.c: runs npu-perf, for the summary and the table of layers */
bool estimate(struct vela *v);

#endif
