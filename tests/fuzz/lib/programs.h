/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole programs inside a fuzz target: their main functions are called one after the
 * other, their files are in a directory in memory, and their messages are kept.  The
 * makefile links each program's objects into one object, whose main is main_PROGRAM.
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
	X(tosa_partition) X(npu_report) X(tfl_quantize)
#define X(name) int main_##name(int argc, char **argv);
FUZZ_PROGRAMS(X)
#undef X

struct bench {
	const char *dir; /* contains only the files of this input */
	struct text said; /* standard error of the program that ran last */
	const char *ran; /* its name */
	int status;
	bool loud; /* FUZZ_LOUD: every run is reported on standard error */
};

/* the only bench of this process; its directory is emptied */
struct bench *bench_clear(void);

/* DIR/name; valid until the next four calls */
const char *bench_path(struct bench *b, const char *name);
void bench_put(struct bench *b, const char *name, struct bytes content);
/* the content of a file with a NUL behind it */
bool bench_get(struct bench *b, struct arena *a, const char *name, struct bytes *out);
int bench_count(struct bench *b); /* files in the directory */

/* runs main with arguments up to NULL, of which the first is the program's name; returns its
 * exit status */
int bench_call(struct bench *b, int (*main)(int, char **), char **v);
/* the same; in the name, _ stands for - */
int bench_run(struct bench *b, int (*main)(int, char **), const char *name, ...);
#define RUN(b, program, ...) \
	bench_run(b, main_##program, #program, __VA_ARGS__, (char *)NULL)

/* calls run with one input; choice selects a variant of the target.  Returns 0 */
int bench_try(struct bytes input, unsigned choice,
	      void (*run)(struct bench *b, struct arena *a, struct bytes input,
			  unsigned choice));

/*
 * Reports a finding and aborts: its kind, the program that ran, its messages, and the
 * fault.  With FUZZ_ONLY=KIND, a finding of another kind ends the input silently, so
 * that an input is minimised only while the same fault occurs.
 */
_Noreturn void finding(const struct bench *b, const char *fmt, ...) PRINTF(2, 3);

/*
 * Expects a refusal: besides notes and warnings, one line on standard error that
 * names the file and a place in it, and n files in the directory.  Otherwise reports
 * a finding.
 */
enum place {
	IN_DATA,  /* a picture, sound, list of numbers: decoders name no place */
	IN_MODEL, /* subgraph, operator or byte, except for errors of the whole model */
	IN_TOSA,  /* operator, tensor, constant or byte, or the whole graph */
	IN_GRAPH, /* a line, except for errors of the model in it, or of missing records */
};
void expect_refusal(struct bench *b, const char *file, enum place place, int n);

#endif
