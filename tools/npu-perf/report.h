/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu-perf: reads a compiled network, costs its command streams, prints.
 * main.c calls, in this order: input.c (and graph.c), evaluate.c, one of the reports.
 */
#ifndef NPU_PERF_REPORT_H
#define NPU_PERF_REPORT_H

#include "base/bytes.h"
#include "perf/cpu.h"
#include "models/estimate.h"
#include "stream/map.h"

enum report { REPORT_SUMMARY, REPORT_CSV, REPORT_SUMMARY_CSV, REPORT_JSON,
	      REPORT_YAML, REPORT_TRACE };
enum units { UNITS_3, UNITS_4 }; /* 5.1: what Vela calls MB and GB */

struct options {
	const char *file, *output;
	const char *config, *system, *mode;
	const char *part; /* that named them; NULL: none */
	const char *measured;
	const char *fit;	 /* name of the profile; NULL: no fit */
	const char **operand;	 /* the model, or of a fit: "MODEL=LOG" ... */
	size_t n_operands;
	enum perf_model model;
	enum report report;
	enum units units;
	bool layers, cpu_names, list_profiles;
};

/* one NPU operator: what every report works from */
struct operator {
	struct npu_stream stream;
	const char *name;
	/* its kernels and transfers, by npu_op.index; NULL: there is no map */
	const struct map_command *command;
	const char *const *label;
	int n_labels;
	struct perf_known known; /* left by take_tensors; empty of a graph */
	/* left by evaluate */
	struct perf_run timeline;
	struct perf_run run; /* calibrated if the model is, else the timeline */
	struct perf_estimate *row; /* by the chosen model, one a row of run */
	double start;		   /* in the network: after the one before */
};

/* sizes of the network's tensors; -1: its input doesn't tell */
struct sizes {
	int64_t arena, fast, constants, streams;
	int64_t separate; /* inputs and outputs outside of the arena, its memory's */
};

/* what a device counts; the numbers of several inferences are medians */
enum counter { COUNT_CYCLES, COUNT_ACTIVE, COUNT_IDLE, COUNT_AXI0_READ,
	       COUNT_AXI0_WRITE, COUNT_AXI1_READ, COUNTERS };

struct measured {
	int inferences; /* 0: there is no log */
	double value[COUNTERS]; /* cycles and beats; -1: the log has none */
	double least, most;	/* cycles */
	struct measured_op { /* operators of the interpreter's profile, in order */
		const char *name;
		double ticks;
	} *op;
	size_t n_ops;
};

struct network {
	const char *file, *name; /* name: file's, without path and suffix */
	const struct accel *accel;
	struct memory_system memory;
	const struct npu_map *map; /* NULL: none */
	const struct graph *graph; /* for the JSON; NULL: the file has none */
	struct operator *op;
	size_t n;
	const char **cpu; /* labels of the CPU's operators, in order */
	int n_cpu, n_uncosted; /* of them, those that cpu_cycles doesn't know */
	double cpu_cycles;     /* sum over the others; rough */
	int n_layers; /* operators that went to the NPU; -1: unknown */
	int desired_batch, batch; /* inputs of one run; desired 0: nobody asked */
	struct sizes bytes;
	struct measured measured;
	/* left by evaluate */
	struct perf_machine machine;
	enum perf_model model;
	struct perf_estimate total; /* by the chosen model */
	double beats[COUNTERS];     /* AXI's, as the timeline has them; else 0 */
	struct perf_weight_sum weights;
	double cycles;	       /* by the timeline */
	double contention;     /* by it with shared bandwidth */
	double calibrated;     /* by the calibrated estimate */
	struct perf_interval interval; /* in which it is for 8 of 10 networks */
	double faster[MEM_AREAS]; /* left by evaluate_memories: cycles with that memory
				   * twice as fast, by the chosen model; 0: not used */
	bool extrapolated;     /* no device was measured with this NPU and memory */
	double kernel_cycles;  /* sum of the kernels' NPU cycles */
	double constant_cycles; /* constants, each byte once */
	double bound;	       /* the larger of these: ethosu-timing(7) 8 */
	double sram_bound;     /* with SRAM cycles: larger or equal */
};

/* streams of a map are those of net's operators that have any commands */
void take_map(struct arena *a, struct network *net, const struct npu_map *map);

bool read_network(struct arena *a, const struct options *o, struct network *out,
		  struct err *e);
/* file's name without path and suffix */
const char *network_name(struct arena *a, const char *file);

/* an operator that stays on the CPU, NULL: not to be had; cpu holds the label */
void add_cpu(struct network *net, const char *label,
	     const struct tfl_subgraph *g, const struct tfl_op *op);

/* tensors.c: what each operator of net reads and writes */
void take_tensors(struct arena *a, const struct tfl_model *m, struct network *net);

/* graph.c: the same of an NPU graph that npu-wenc wrote */
bool is_graph(struct bytes file);
bool read_graph(struct arena *a, const struct options *o, struct bytes file,
		struct network *net, struct err *e);

/* measured.c: a device's log, and how the network's estimates compare */
bool read_measured(struct arena *a, const char *path, struct measured *out,
		   struct err *e);
/* the cycles of an inference */
double measured_cycles(const struct measured *m);
const char *counter_name(enum counter c);
double counter_estimate(const struct network *net, enum counter c);
void report_measured(struct text *t, const struct network *net);

/* fit.c: a profile in vela.ini's syntax, of networks and their logs */
bool fit_profile(struct arena *a, const struct options *o, struct text *t,
		 struct err *e);

/* evaluate.c */
bool evaluate(struct arena *a, const struct options *o, struct network *net,
	      struct err *e);
/* what faster memories would give the plan as it is, behind evaluate; of the JSON */
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
/* json_map.c: the members that the map gives */
void json_map(struct text *t, const struct network *net);
void json_layer(struct text *t, int64_t layer);
/* json_graph.c: the operators of the source */
void json_layers(struct text *t, struct arena *a, const struct network *net);
/* trace.c */
void report_trace(struct text *t, const struct network *net);

/* ---- memory.c: of networks with a map ------------------------------------------ */

struct span_time {
	double start, end; /* cycles of the network */
};
/* of every span of the map */
struct span_time *span_times(struct arena *a, const struct network *net);

/* what is in use of a place at each moment: bytes, and the highest address + 1 */
struct memory_use {
	int64_t bytes, top;
};
struct memory_use *memory_use(struct arena *a, const struct network *net, int place);
/* the moment with the most bytes */
size_t memory_peak(const struct network *net, const struct memory_use *use);

/* ---- shared by the reports ------------------------------------------------ */

/* bytes that live in SRAM: arena and cache, where they are; -1: unknown */
int64_t network_sram(const struct network *net);
/* bytes used of an area, by everything placed there; -1: unknown */
/* of the calibrated estimate if that is the model, else of the timeline */
double network_cycles(const struct network *net);
int64_t network_used(const struct network *net, enum mem_area area);

/* "main_split_1/conv_3", or the label */
void row_name(struct text *t, const struct operator *op, size_t row);
bool row_listed(const struct perf_row *r); /* a kernel or transfer */
/* the memory or engine that sets a row's cycles: "NPU", "SRAM", "DMA", ... */
const char *row_limit(const struct perf_row *r);
/* cycles for which no kernel ran before the one in this row */
double row_stall(const struct operator *op, size_t row);
/* bytes that a row moves, by memory: read and written */
void row_traffic(const struct network *net, const struct perf_row *r,
		 double read[MEM_AREAS], double write[MEM_AREAS]);
/* MACs of the cycles' capacity, in percent */
double row_utilisation(const struct network *net, double macs, double cycles);

/* a whole number without exponent, any other so that it reads back */
void number_text(struct text *t, double v);

/* for reports, which a clock of 1 GHz tells nothing more: to so many parts of one */
enum { PARTS_OF_CYCLE = 1000, PARTS_OF_MS = 1000000 };
double rounded(double v, double parts);

/* what the numbers of the chosen model are, in a sentence */
const char *model_note(const struct network *net);

double share(double part, double whole); /* percent; 0 of nothing is 100 */

#endif
