/* SPDX-License-Identifier: Apache-2.0 */
/* npu-sim's parts, in running order. */
#ifndef NPU_SIM_H
#define NPU_SIM_H

#include "base/npy.h"
#include "sim/sim.h"

enum { MAX_FILES = 256 };

struct options {
	const char *model;
	const char *input[MAX_FILES];
	const char *expect[MAX_FILES];
	int n_input, n_expect;
	const char *output_dir;
	const char *dump_dir;
	const char *compare;
	uint64_t seed;
	bool has_seed;
	bool trace, json;
};

/* data.c: values into and out of tensors */
bool load_inputs(struct sim *s, const struct options *o, struct err *e);
bool copy_inputs(struct sim *from, struct sim *to, struct err *e);
/* a .npy or raw file that must suit tensor t: its elements */
bool read_values(struct arena *a, const char *path, const struct tfl_tensor *t,
		 struct bytes *out, struct err *e);
bool save_npy(const struct tfl_tensor *t, const void *data, const char *dir,
	      const char *stem, int index, struct err *e);

/* judge.c: equal or not, and where */
bool check_expectations(struct sim *s, const struct options *o, struct err *e);
bool compare_models(struct sim *a, struct sim *b, struct err *e);

/* report.c */
void print_operator(struct sim *s, int op_index);
void print_npu_event(void *ctx, const struct sim_npu_event *ev);
void print_outputs(struct sim *s);
void print_json(struct sim *s, const struct options *o,
		const struct err *verdict);

#endif
