/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu-perf reads a compiled network, costs its command streams, and prints a report.
 * main.c calls, in this order: input.c (and graph.c), evaluate.c, one of the reports.
 */
#ifndef NPU_PERF_REPORT_H
#define NPU_PERF_REPORT_H

#include "base/bytes.h"
#include "base/json_out.h"
#include "map/map.h"
#include "models/estimate.h"
#include "perf/cpu.h"
#include "stream/stream.h"

enum report { REPORT_SUMMARY, REPORT_CSV, REPORT_SUMMARY_CSV, REPORT_JSON,
	      REPORT_YAML, REPORT_TRACE, REPORTS };

struct options {
	const char *file, *output;
	const char *config, *system, *mode;
	bool any_accelerator; /* the system may be made for another one than the network */
	struct arena *a; /* of chip */
	const struct target_part *chip; /* whose system and mode are used; NULL: none */
	const char *called; /* name of the network; NULL: the name in the file */
	const char *measured;
	const char *fit;	 /* name of the profile to fit; NULL: no fit */
	const char **operand;	 /* the model; for a fit: "MODEL=LOG" ... */
	size_t n_operands;
	enum perf_model model;
	enum report report;
	bool asked[REPORTS]; /* reports that the options name */
	int units; /* of MB and GB.  4: those of Vela 4; 0 or 3: those of Vela 3 */
	bool layers, cpu_names;
};

/* One NPU operator: the data of every report. */
struct operator {
	struct npu_stream stream;
	const char *name;
	/* kernels and transfers, indexed by npu_op.index; NULL: no source map */
	const struct map_command *command;
	const char *const *label;
	int n_labels;
	struct perf_operand_info operand_info; /* set by take_tensors; empty for a graph */
	/* set by evaluate */
	struct perf_run timeline;
	/* of the calibrated machine if the model is calibrated, else the timeline */
	struct perf_run run;
	struct perf_estimate *row; /* estimate by the chosen model, one per row of run */
	double start;		   /* cycle of the network at which the operator starts */
	/*
	 * the time, in cycles of run, in which all kernels and transfers have ended and a memory still
	 * moves their bytes (perf_clocks_end), as a row of the reports; end == start: there is none
	 */
	struct busy_memory {
		enum mem_area area;
		double start, end;
		const char *name; /* of the row, such as "MRAM is still busy" */
	} busy;
};

/* an operator that stays on the CPU */
struct cpu_operator {
	const char *label; /* operator type, "SOFTMAX" */
	const char *name;  /* of its first output; "": unknown */
	struct cpu_cost cost; /* of the part's CPU, a rough estimate */
	size_t before;	   /* number of NPU operators that run before it */
	const struct tfl_subgraph *g; /* has op */
	const struct tfl_op *op; /* NULL: the model is not available */
};

/* bytes of the network's memories; -1: unknown */
struct sizes {
	int64_t arena, fast, constants, streams;
	int64_t separate; /* inputs and outputs with memory of their own, outside the arena */
};

/* Counters of a device.  If the log has several inferences, values are medians. */
enum counter { COUNT_CYCLES, COUNT_ACTIVE, COUNT_IDLE, COUNT_AXI0_READ,
	       COUNT_AXI0_WRITE, COUNT_AXI1_READ,
	       /* of U85 */
	       COUNT_MAC, COUNT_EXT_READ, COUNT_EXT_WRITE, COUNT_SRAM_READ, COUNT_SRAM_WRITE,
	       COUNT_EXT_READS, COUNT_EXT_WRITES, COUNT_SRAM_READS, COUNT_SRAM_WRITES,
	       COUNT_EXT_STALL, COUNT_LATENCY, COUNTERS };

struct measured {
	int inferences; /* 0: no log, or samples only */
	double value[COUNTERS]; /* cycles and beats; -1: not in the log */
	double least, most;	/* least and most cycles of an inference */
	struct measured_op { /* operators of the interpreter's profile, in order */
		const char *name;
		double ticks;
	} *op;
	size_t n_ops;
	/* a histogram of QREAD: bytes from the begin of the stream, and how often seen there */
	struct sample {
		int64_t offset;
		double count;
	} *sample;
	size_t n_samples;
	double samples; /* sum of the counts; 0: no histogram */
};

struct network {
	const char *file, *name; /* name: that of file, without path and suffix */
	const struct accel *accel;
	struct memory_system memory;
	const struct npu_map *map; /* NULL: no source map */
	const struct graph *graph; /* NULL: not in the file */
	struct operator *op;
	size_t n;
	int n_bodies; /* how many of them are in bodies of IF and WHILE */
	struct cpu_operator *cpu; /* in the order of the model */
	int n_cpu, n_uncosted; /* n_uncosted: those whose cycles cpu_cost() can't estimate */
	double cpu_cycles;     /* sum over the costed operators */
	double cpu_most;       /* sum of the most that each may take */
	int n_layers; /* operators of the source that run on the NPU; -1: unknown */
	int desired_batch, batch; /* inputs per run; desired 0: none was requested */
	struct sizes bytes;
	struct measured measured;
	/* set by evaluate */
	struct perf_machine machine;
	enum perf_model model;
	struct perf_estimate total; /* estimate by the chosen model */
	double beats[COUNTERS];     /* AXI beats of the timeline; 0 for other counters */
	struct perf_weight_sum weights;
	double cycles;	       /* timeline estimate */
	double contention;     /* timeline estimate with shared bandwidth */
	double calibrated;     /* calibrated estimate */
	double commands; /* cycles that reading the commands can add to it, at most */
	/* range of the calibrated estimate that holds for 8 of 10 networks; its end counts `commands` */
	struct perf_interval interval;
	/*
	 * set by evaluate_memories: cycles if this memory were twice as fast, by the
	 * chosen model; 0: not used
	 */
	double faster[MEM_AREAS];
	bool extrapolated;     /* true if no device with this NPU and memory was measured */
	double kernel_cycles;  /* sum of the kernels' NPU cycles */
	double constant_cycles; /* cycles to read every constant byte once */
	/* lower bound, the larger of the two above: ethosu-timing(7) 8 */
	double bound;
	int64_t blocks, dram_blocks; /* OFM blocks; those with a feature map in DRAM */
	double sram_bound;     /* sum over kernels of the larger of NPU and SRAM cycles */
};

/*
 * Sets the source map and the labels of net's operators.  The k-th stream of the source
 * map is the k-th operator that has commands.
 */
void take_map(struct arena *a, struct network *net, const struct npu_map *map);

/* Reads a compiled model or a graph, and the log of --measured. */
bool read_network(struct arena *a, const struct options *o, struct network *out,
		  struct err *e);
/* The same for the bytes of a file, which messages call o->file. */
bool take_network(struct arena *a, const struct options *o, struct bytes file,
		  struct network *out, struct err *e);
/* file name without path and suffix */
const char *network_name(struct arena *a, const char *file);

/*
 * Adds an operator that stays on the CPU. op is NULL if the model is not available.
 * net->cpu has space for the label.
 */
void add_cpu(struct network *net, const char *label,
	     const struct tfl_subgraph *g, const struct tfl_op *op);

/* tensors.c: sets the tensors that each operator of net reads and writes */
void take_tensors(struct arena *a, const struct tfl_model *m, struct network *net);

/* graph.c: reads the network from an NPU graph that npu-wenc wrote */
bool is_graph(struct bytes file);
bool read_graph(struct arena *a, const struct options *o, struct bytes file,
		struct network *net, struct err *e);

/* measured.c: reads a device's log, and compares it with the network's estimates */
bool read_measured(struct arena *a, const char *path, const char *model,
		   struct measured *out, struct err *e);
/* the cycles of one inference */
double measured_cycles(const struct measured *m);
const char *counter_name(enum counter c);
/* the estimate for operator i of the log, in cycles of the CPU's clock as its ticks; 0: unknown */
double measured_estimate(const struct network *net, size_t i);
/* appends the names of its first and last layer; nothing if they are unknown */
void measured_layers(struct text *t, const struct network *net, size_t i);
double counter_estimate(const struct network *net, enum counter c);
void report_measured(struct text *t, const struct network *net);

/* fit.c: permits to read the two files of an operand MODEL=LOG */
struct sandbox;
void fit_allow(const struct sandbox *s, const char *pair);
/* prints a profile in vela.ini's syntax, fitted to networks and their logs */
bool fit_profile(struct arena *a, const struct options *o, struct text *t,
		 struct err *e);

/* evaluate.c */
/* Runs the estimators on all operators, and sets the totals of net. */
bool evaluate(struct arena *a, const struct options *o, struct network *net,
	      struct err *e);
/*
 * The cycles of the same plan with faster memories, for the report of --json; needs
 * evaluate().
 */
bool evaluate_memories(struct network *net, struct err *e);

/* summary.c */
void report_summary(struct text *t, const struct options *o,
		    const struct network *net);
/* table.c */
void report_layers(struct text *t, const struct network *net);
void report_yaml(struct text *t, const struct network *net);
/* csv.c */
void report_csv(struct text *t, const struct network *net);
void report_summary_csv(struct text *t, const struct options *o,
			const struct network *net);
/* json.c */
void report_json(struct text *t, const struct network *net);
/* a number of cycles, rounded, or null */
void json_cycles(const struct json_out *j, const char *name, double v);
/* json_map.c: members of the report of --json that come from the source map */
void json_map(const struct json_out *j, const struct network *net);
/* layer number of a command or constant; null if 0 (no layer) */
void json_layer(const struct json_out *j, int64_t layer);
/*
 * json_graph.c: for the report of --json, the operators of the source model, and those
 * on the CPU
 */
void json_layers(const struct json_out *j, struct arena *a, const struct network *net);
void json_cpu(const struct json_out *j, const struct network *net);
/* trace.c */
void report_trace(struct text *t, const struct network *net);

/* ---- memory.c: for networks with a source map ---------------------------- */

struct span_time {
	double start, end; /* cycles of the network */
};
/* one for every span of the source map */
struct span_time *span_times(struct arena *a, const struct network *net);

/* bytes in use of a memory area at a moment, and the highest used address + 1 */
struct memory_use {
	int64_t bytes, top;
};
struct memory_use *memory_use(struct arena *a, const struct network *net, int place);
/* the moment with the most bytes in use */
size_t memory_peak(const struct network *net, const struct memory_use *use);

/* ---- shared by the reports ------------------------------------------------ */

/* bytes of arena and cache if they are in SRAM; -1: unknown */
int64_t network_sram(const struct network *net);
/* the calibrated estimate if that is the chosen model, else the timeline */
double network_cycles(const struct network *net);

/*
 * One inference, NPU and CPU one after the other.  The NPU's cycles are the calibrated
 * estimate, whatever estimator the options choose, because only this estimate has an
 * interval.  The interval holds the least and the largest of both.
 */
struct inference {
	struct cpu_core core;
	double npu_cycles, cpu_cycles;
	double cpu_error; /* the CPU's cycles may be wrong by this factor */
	double seconds, low, high;
};
struct inference network_inference(const struct network *net);
/* seconds of one run of an operator on the CPU; a run has all inputs of a batch */
double cpu_seconds(const struct network *net, const struct cpu_operator *op);
/* bytes used of a memory by all data stored in it; -1: unknown */
int64_t network_used(const struct network *net, enum mem_area area);

/* "main_split_1/conv_3", or the label of the source map */
void row_name(struct text *t, const struct operator *op, size_t row);
bool row_listed(const struct perf_row *r); /* true for a kernel or a transfer */
/* of the row of a memory that is still busy: its kind, and its estimate by the chosen model */
extern const char busy_kind[];
struct perf_estimate busy_estimate(const struct network *net, const struct operator *op);
/* the memory or engine that determines a row's cycles: "NPU", "SRAM", "DMA", ... */
const char *row_limit(const struct perf_row *r);
/* bytes that a row reads and writes, by memory */
void row_traffic(const struct network *net, const struct perf_row *r,
		 double read[MEM_AREAS], double write[MEM_AREAS]);
/* MACs in percent of those that the array could compute in the cycles */
double row_utilisation(const struct network *net, double macs, double cycles);

/* Reports round to 1/parts: smaller fractions mean nothing at a clock of 1 GHz. */
enum { PARTS_OF_CYCLE = 1000, PARTS_OF_MS = 1000000,
       PARTS_OF_SECOND = 1000000000 };

/* describes the numbers of the chosen model in a sentence */
const char *model_note(const struct network *net);

double share(double part, double whole); /* in percent; 100 if whole is 0 */

/* samples.c: the samples of a histogram, by the rows of the first stream */
void report_samples(struct text *t, const struct network *net);
void json_samples(const struct json_out *j, const struct network *net);

#endif
