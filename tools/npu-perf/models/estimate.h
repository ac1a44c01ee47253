/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The published estimators by name, for operations of any origin and for
 * whole command streams: ethosu-timing(7) 2 (vela-3.12), 3
 * (vela-2.1, see perf/vela21.h), 4 (regor), and 8 (timeline).
 */
#ifndef PERF_ESTIMATE_H
#define PERF_ESTIMATE_H

#include "known.h"
#include "perf/perf.h"
#include "vela21.h"

enum perf_model { PERF_TIMELINE, PERF_CALIBRATED, PERF_VELA_2_1, PERF_VELA_3_12,
		  PERF_REGOR, PERF_MODELS };

const char *perf_model_name(enum perf_model model); /* "vela-3.12" */
bool perf_model_find(const char *name, enum perf_model *out);
const char *perf_model_names(void); /* for usage texts */

/* where the bytes of 2.8 go; tables and scales aren't listed by Vela */
enum perf_purpose { PERF_FEATURE_MAPS, PERF_WEIGHTS, PERF_SCALES, PERF_TABLES,
		    PERF_PURPOSES };
enum perf_direction { PERF_READ, PERF_WRITE, PERF_DIRECTIONS };

struct perf_estimate {
	double npu, memory[MEM_AREAS], total; /* cycles */
	double macs;
	double bytes[MEM_AREAS][PERF_PURPOSES][PERF_DIRECTIONS]; /* reported */
};

void perf_estimate_add(struct perf_estimate *sum, const struct perf_estimate *e);

/* ---- one operation ------------------------------------------------------- */

enum perf_buffering { PERF_IN_PLACE, PERF_SINGLE_BUFFER, PERF_DOUBLE_BUFFER };

/* what 2.8 and 4.5 know of the schedule around an operation */
struct perf_schedule {
	int64_t original_weights; /* elements before encoding; 0: no weights */
	enum perf_buffering buffering;
	enum mem_area source; /* buffered: where the weights come from */
	double full_cycles, first_cycles; /* transfer of all, of the first slice */
	int64_t moved_bytes, first_bytes; /* of these: scale records too */
	double slack;	   /* cycles of the previous operation that hide DMA */
	double own_slack;  /* this operation's, for the next */
	double lut_cycles; /* table and copy transfers */
	int64_t lut_bytes;
	enum mem_area lut_source;
};

/* op->weight_area is the buffer's when buffered; ethosu-timing(7) 2.8 */
void perf_vela312(const struct perf_machine *m, const struct perf_op *op,
		  const struct perf_schedule *s, struct perf_estimate *out);

/* NPU cycles of the operation alone: sections 4.3, 4.4; as a whole, not sliced */
double perf_regor_op(const struct perf_machine *m, const struct perf_op *op);
void perf_regor(const struct perf_machine *m, const struct perf_op *op,
		const struct perf_schedule *s, struct perf_estimate *out);

/* regor.c: an operation of so many cycles beside its transfers */
double perf_regor_npu(double op, const struct perf_schedule *s);
/* regor85.c */
double perf_regor85_op(const struct perf_machine *m, const struct perf_op *op);
double perf_regor85_copy(const struct perf_machine *m, int64_t bytes,
			 enum mem_area from, enum mem_area to);
/* cycles in which the next operation's transfers may hide; op: the last slice, if sliced */
double perf_regor85_slack(const struct perf_machine *m, const struct perf_op *op,
			  bool sliced);
/* cycles of the table's transfer, if op is nothing but that table; or 0 */
double perf_regor85_table(const struct perf_machine *m, const struct perf_op *op);
void perf_regor85(const struct perf_machine *m, const struct perf_op *op,
		  const struct perf_schedule *s, struct perf_estimate *out);

/* ---- copies: 2.6, 4.4 ------------------------------------------------------ */

double perf_vela312_copy(const struct perf_machine *m, int64_t bytes,
			 enum mem_area from, enum mem_area to);
double perf_regor_copy(const struct perf_machine *m, int64_t bytes,
		       enum mem_area from, enum mem_area to);

/* ---- a stream -------------------------------------------------------------- */

/*
 * Estimates every row of run by model.  The estimators of compilers work on
 * whole operations: depth slices of one are put together, in the first one's
 * row.  out: one for every row (waits and later slices: zero).  Returns their
 * sum; the timeline's total is not a sum but the run's cycles.  calibrated: run and
 * m are of a calibrated machine, and the rest is as with the timeline.
 */
struct perf_estimate perf_estimate_run(const struct perf_machine *m,
				       enum perf_model model,
				       const struct perf_known *known,
				       const struct perf_run *run,
				       struct perf_estimate *out);

#endif
