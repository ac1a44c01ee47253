/* SPDX-License-Identifier: Apache-2.0 */
/* npu-sim's parts, in running order. */
#ifndef NPU_SIM_H
#define NPU_SIM_H

#include "base/file.h"
#include "base/npy.h"
#include "sim/sim.h"
#include "stream/stream.h"

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
/* unless it exists, or path is NULL; *made: it did not */
bool make_directory(const char *path, bool *made, struct err *e);
bool save_npy(struct file_set *to, const struct tfl_tensor *t, const void *data,
	      const char *dir, const char *stem, int index, struct err *e);

/* judge.c: equal or not, and where */
bool check_expectations(struct sim *s, const struct options *o, struct err *e);
bool compare_models(struct sim *a, struct sim *b, struct err *e);

/* match.c: what an NPU operation wrote, as a tensor of the plain model */
struct watch {
	struct file_set *files; /* of --dump */
	const struct options *options;
	struct sim *plain; /* has run on the same inputs; NULL: no --compare */
	int *order;	   /* its operators' outputs in execution order */
	int n_order;
	int64_t *seen; /* elements of each of its tensors found so far */
};

struct place {
	int tensor;
	bool all_rows, all_channels;
	int64_t y, h, c, n_c; /* those of it otherwise */
};

struct watch *watch_open(struct arena *a, const struct options *o,
			 struct sim *plain);
bool match_feature_map(struct watch *w, const struct sim_npu_event *ev,
		       struct place *at);
bool match_tensor(struct watch *w, struct sim *s, int index, struct place *at);

/* report.c */
void print_operator(struct watch *w, struct sim *s, int op_index);
void print_npu_event(void *watch, const struct sim_npu_event *ev);
void print_unseen(const struct watch *w); /* plain tensors that never appeared */
void print_outputs(struct sim *s);
void print_json(struct sim *s, const struct options *o,
		const struct err *verdict);

#endif
