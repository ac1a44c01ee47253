/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The published estimators by name, for a single operation and for whole command
 * streams: ethosu-timing(7) 2 (vela-3.12), 3 (vela-2.1, see models/vela21.h), 4
 * (regor), and 8 (timeline).
 */
#ifndef PERF_ESTIMATE_H
#define PERF_ESTIMATE_H

#include "operand_info.h"
#include "perf/perf.h"
#include "vela21.h"

enum perf_model { PERF_TIMELINE, PERF_CALIBRATED, PERF_VELA_2_1, PERF_VELA_3_12,
		  PERF_REGOR, PERF_MODELS };

const char *perf_model_name(enum perf_model model); /* such as "vela-3.12" */
bool perf_model_find(const char *name, enum perf_model *out);
const char *perf_model_names(void); /* a list for usage texts */

/* purposes of the bytes of ethosu-timing(7) 2.8; Vela does not list tables and scales */
enum perf_purpose { PERF_FEATURE_MAPS, PERF_WEIGHTS, PERF_SCALES, PERF_TABLES,
		    PERF_PURPOSES };
enum perf_direction { PERF_READ, PERF_WRITE, PERF_DIRECTIONS };

struct perf_estimate {
	double npu, memory[MEM_AREAS], total; /* cycles */
	double macs;
	/* as the estimator's report lists them */
	double bytes[MEM_AREAS][PERF_PURPOSES][PERF_DIRECTIONS];
};

void perf_estimate_add(struct perf_estimate *sum, const struct perf_estimate *e);

/* ---- one operation ------------------------------------------------------- */

enum perf_buffering { PERF_IN_PLACE, PERF_SINGLE_BUFFER, PERF_DOUBLE_BUFFER };

/* The schedule around an operation, as ethosu-timing(7) 2.8 and 4.5 use it. */
struct perf_schedule {
	int64_t original_weights; /* weight elements before encoding; 0: no weights */
	enum perf_buffering buffering;
	enum mem_area source; /* if buffered: memory that the weights come from */
	/* cycles to transfer all weights, and the first slice */
	double full_cycles, first_cycles;
	int64_t moved_bytes, first_bytes; /* bytes of these transfers, with scale records */
	double slack;	   /* cycles of the previous operation that can hide transfers */
	/* cycles of this operation that can hide transfers of the next one */
	double own_slack;
	double lut_cycles; /* cycles of table and copy transfers */
	int64_t lut_bytes;
	enum mem_area lut_source;
};

/*
 * If the weights are buffered, op->weight_area is the memory of the buffer;
 * ethosu-timing(7) 2.8.
 */
void perf_vela312(const struct perf_machine *m, const struct perf_op *op,
		  const struct perf_schedule *s, struct perf_estimate *out);

/* NPU cycles of the operation alone, not cut into slices: ethosu-timing(7) 4.3, 4.4 */
double perf_regor_op(const struct perf_machine *m, const struct perf_op *op);
void perf_regor(const struct perf_machine *m, const struct perf_op *op,
		const struct perf_schedule *s, struct perf_estimate *out);

/* regor.c: NPU cycles of an operation of op cycles together with its transfers */
double perf_regor_npu(double op, const struct perf_schedule *s);
/* regor85.c */
double perf_regor85_op(const struct perf_machine *m, const struct perf_op *op);
double perf_regor85_copy(const struct perf_machine *m, int64_t bytes,
			 enum mem_area from, enum mem_area to);
/* Cycles that can hide the next operation's transfers.  If sliced, op is the last slice. */
double perf_regor85_slack(const struct perf_machine *m, const struct perf_op *op,
			  bool sliced);
/* cycles of a table's transfer if op only applies this table; else 0 */
double perf_regor85_table(const struct perf_machine *m, const struct perf_op *op);
void perf_regor85(const struct perf_machine *m, const struct perf_op *op,
		  const struct perf_schedule *s, struct perf_estimate *out);

/* ---- copies (ethosu-timing(7) 2.6, 4.4) ---------------------------------- */

double perf_vela312_copy(const struct perf_machine *m, int64_t bytes,
			 enum mem_area from, enum mem_area to);
double perf_regor_copy(const struct perf_machine *m, int64_t bytes,
		       enum mem_area from, enum mem_area to);

/* ---- a stream -------------------------------------------------------------- */

/*
 * Estimates every row of run by model.  The compilers' estimators work on whole
 * operations.  Therefore the depth slices of an operation are joined, and their
 * estimate is in the row of the first slice. out has one element per row; those of
 * waits and later slices are zero.  Returns the sum of out.  The total of the timeline
 * is not a sum but the run's cycles.  For PERF_CALIBRATED, m and run are of a
 * calibrated machine; everything else is as for the timeline.
 */
struct perf_estimate perf_estimate_run(const struct perf_machine *m,
				       enum perf_model model,
				       const struct perf_operand_info *operand_info,
				       const struct perf_run *run,
				       struct perf_estimate *out);

#endif
