/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs, whole, inside a fuzz target: their mains are called one after the
 * other, their files are in a directory in memory, and what they say is kept.  The
 * makefile links each program's objects into one, whose main is main_PROGRAM.
 */
#ifndef FUZZ_PROGRAMS_H
#define FUZZ_PROGRAMS_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/text.h"

/* main_NAME, with - as _ */
#define FUZZ_PROGRAMS(X)                                                     \
	X(tfl_quantcheck) X(tfl_partition) X(npu_sched) X(npu_wenc)          \
	X(npu_cmdgen) X(npu_dis) X(npu_sim) X(npu_perf) X(tfl2c) X(mkinput)  \
	X(tosa_partition)
#define X(name) int main_##name(int argc, char **argv);
FUZZ_PROGRAMS(X)
#undef X

struct bench {
	const char *dir; /* nothing but the files of this input is in it */
	struct text said; /* by the program that ran last, on standard error */
	const char *ran; /* its name */
	int status;
	bool loud; /* FUZZ_LOUD: every run is told on standard error */
};

/* the one bench of this process; its directory is emptied */
struct bench *bench_clear(void);

/* DIR/name; valid until the next four calls */
const char *bench_path(struct bench *b, const char *name);
void bench_put(struct bench *b, const char *name, struct bytes content);
/* the content of a file with a NUL behind it */
bool bench_get(struct bench *b, struct arena *a, const char *name, struct bytes *out);
int bench_count(struct bench *b); /* files in the directory */

/* runs main as NAME with arguments up to NULL: its exit status */
int bench_run(struct bench *b, int (*main)(int, char **), const char *name, ...);
#define RUN(b, program, ...) \
	bench_run(b, main_##program, #program, __VA_ARGS__, (char *)NULL)

/* run, of one input; choice: one of the ways of a target.  Returns 0 */
int bench_try(struct bytes input, unsigned choice,
	      void (*run)(struct bench *b, struct arena *a, struct bytes input,
			  unsigned choice));

/*
 * A finding: says its kind, what ran, what it said and what is wrong with that;
 * aborts.  With FUZZ_ONLY=KIND, one of another kind ends the input without a word: an
 * input is made smaller as long as the same thing goes wrong.
 */
_Noreturn void finding(const struct bench *b, const char *fmt, ...) PRINTF(2, 3);

/*
 * A refusal: one line on standard error besides notes and warnings, that names
 * the file and a place in it, and n files left in the directory; finding otherwise.
 */
enum place {
	IN_DATA,  /* a picture, sound, list of numbers: decoders name no place */
	IN_MODEL, /* subgraph, operator or byte, but for what is of the whole model */
	IN_TOSA,  /* operator, tensor, constant or byte, or the whole graph */
	IN_GRAPH, /* a line, but for what is of the model in it, or missing */
};
void expect_refusal(struct bench *b, const char *file, enum place place, int n);

#endif
