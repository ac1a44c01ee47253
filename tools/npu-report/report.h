/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu-report shows the numbers of npu-perf --json.  main.c calls measure.c, which runs
 * npu-perf on a compiled model, and then read.c.  The output comes from page.c (HTML),
 * the draw_*.c (SVG), plain.c and summary.c (text), or compare.c.  Each picture has one
 * table of numbers in tables.c, the same for all outputs.  page_data.c passes the
 * numbers to the script of page/, which draws the pictures of the page.
 */
#ifndef NPU_REPORT_REPORT_H
#define NPU_REPORT_REPORT_H

#include "base/arena.h"
#include "base/human.h"
#include "base/json.h"
#include "base/json_out.h"
#include "base/text.h"
#include "target/part.h"

enum picture { PIC_MEMORY, PIC_TIMELINE, PIC_LAYERS, PIC_ROOFLINE, PIC_CURVE,
	       PICTURES };
extern const char *const picture_names[PICTURES]; /* "memory", ... */
extern const char *const picture_titles[PICTURES];

/* what determines the time of a kernel */
enum limit {
#define LIMIT(key, words, text) LIMIT_##key,
#include "limits.def"
	LIMITS
};

struct extent { double h, w, c; };
struct place { double region, at; }; /* region -1: not in memory, or not in the report */

struct operation {
	const char *name, *label, *kind; /* label: of a kernel, that of its layer */
	bool is_transfer;
	bool is_memory; /* the time after all kernels and transfers in which a memory is still busy */
	/*
	 * index in struct report of the layer that a kernel belongs to, or whose weights a
	 * transfer moves; -1: none; a memory that is still busy is a layer by itself
	 */
	int layer;
	enum limit limit;
	double start, end, cycles, npu, macs;
	double stall, starting; /* before it, when no kernel ran; the part that read its commands */
	double read_bytes, written_bytes; /* in all memories; a table is written to none */
	/* of a kernel */
	struct extent ifm, ofm;
	struct place ifm_at, ofm_at;
	double weights_at; /* offset in the constants; -1: none */
	double weight_bytes;
};

/* the kernels of one operator of the source; without a source map, those of group.c */
struct layer {
	/* title: as a user calls the layer; label: the same, short enough for a picture */
	const char *name, *title, *label;
	const char *kind;
	/* kind of the first kernel that has weights; if none has, of the first kernel */
	const char *kernel;
	bool has_weights;
	bool is_memory;	 /* no operator of the source: struct operation */
	bool is_uniform; /* all kernels have this kind, and ifm_c and ofm_c channels */
	double ifm_c, ofm_c; /* channels of the kernel whose kind `kernel` is */
	double results; /* elements that the kernels with weights, or else all, compute */
	size_t n_kernels, first_op; /* first_op: index of the first kernel in struct report */
	double start;	       /* of the first kernel */
	double cycles[LIMITS]; /* by limit; LIMIT_STALL, LIMIT_START: before its kernels */
	double total;	       /* sum of cycles[] */
	double macs, bytes;
	double constant_bytes; /* constants that it reads, with scales */
	double weight_bytes, original_bytes; /* encoded, and before encoding */
	struct extent block; /* of the first kernel */
};

/* an operator of the source that runs on NPU or CPU: a node of the network's graph */
struct node {
	const char *name, *title, *label, *kind; /* as in struct layer */
	size_t index;	    /* the source's number of the operator */
	const char *reason; /* why it is on the CPU; NULL: unknown */
	int layer; /* index in struct report; -1: on the CPU */
	int within; /* the node whose kernels compute this one, and whose layer it has; -1: none */
	size_t *reads, n_reads; /* indices of the nodes that it reads from */
	double cpu_cycles; /* on the CPU, a rough estimate; 0: unknown */
	double cpu_time;   /* the same time in cycles of the NPU's clock */
};

/* an operator on the CPU */
struct cpu_operator {
	const char *name, *kind; /* name: of its first output, "" if unknown */
	double cycles; /* of a Cortex-M55, a rough estimate; 0: unknown */
	double at;	   /* cycle of the NPU, which waits for it */
	double start, end; /* in cycles of the NPU's clock, as all times of the report */
	int node;	   /* -1: none */
	double layer; /* index of the operator in the source model; -1: unknown */
};

struct span {
	const char *name, *label, *shape, *kind, *place;
	/* operator that writes the tensor, or reads the weights in the buffer */
	const char *owner;
	const char *stem; /* owner without id_of() */
	double at, bytes, start, end;
	int node; /* node with the name of owner; -1: none */
};

struct peak {
	const char *place;
	double bytes, start, end; /* bytes in use in this time, in cycles */
	double top; /* the end of all tensors of the place at any time: its reserved size */
	double axis; /* address at the end of the axis; 0: top */
	const struct json *names;
	size_t n_names;
};

/* a point of the curve: SRAM bytes, cycles, the plan's change to get there */
struct point {
	double sram, cycles;
	double objective; /* cycles by which npu-sched chose the plan; 0: unknown */
	double stored; /* bytes of constants and command streams; negative: unknown */
	bool is_beaten; /* by the cycles: a point of less SRAM has no more.  Drawn beside the line */
	const char *change;
};

/*
 * another NPU: the fastest plans of its front, in cycles of the report's clock; cycles 0: none
 */
struct other {
	const char *name; /* of the accelerator, or of the part that has it */
	struct point any, here; /* with any SRAM; with at most this plan's SRAM */
	double cpu_time; /* as in struct report, of the CPU beside that NPU */
	bool same_chip;	 /* it is another NPU of the report's chip */
	const char *part; /* name of the part that has it; NULL: none is known */
	const char *mode; /* it is the report's NPU, with this memory mode; else NULL */
	const char *memory; /* as in struct gain */
	double clock;	 /* of that NPU */
};

struct report {
	struct arena *a;
	const char *file;
	const struct json *root; /* the JSON itself, for members that are printed unchanged */
	const char *network; /* the network's name for a heading */
	double cycles, clock, sram; /* cycles: of the NPU */
	double cpu_time; /* of the CPU in one run, in cycles of the NPU's clock; a rough estimate */
	double whole;	 /* cycles + cpu_time: NPU and CPU run one after the other */
	const char *cpu_name;
	double cpu_error; /* factor by which cpu_time may be wrong in either direction */
	double macs_per_cycle;
	double width, axis; /* of pictures: pixels, 0: SVG_WIDTH; cycles at the end, 0: whole */
	double sram_rate, constant_rate; /* bytes per cycle */
	struct operation *op;
	struct layer *layer;
	struct node *node;
	struct span *span;
	struct peak *peak;
	struct point *point;
	struct other *other;
	struct cpu_operator *cpu;
	bool has_map;
	bool is_calibrated; /* cycles are the calibrated estimate, which has a range */
	const struct target_part *part; /* whose memories plans must fit; NULL: none */
	bool for_linux; /* the plan is for the Linux driver, whose device tree has the SRAM */
	const struct source *source; /* of source.c; NULL: not read */
	const struct json *quantized; /* of quantized.c; NULL: not read */
	size_t n_cpu, n_ops, n_layers, n_nodes, n_spans, n_peaks, n_points, n_others;
};

/* read.c: reads the JSON of npu-perf; file is for messages */
bool read_report(struct arena *a, struct bytes json, const char *file,
		 struct report *out, struct err *e);
/* front.c: read the JSON of npu-sched --front for the same NPU (the curve) or for another one */
bool read_front(struct report *r, struct bytes json, const char *file, struct err *e);
bool read_other(struct report *r, struct bytes json, const char *file, const char *name,
		struct err *e);
enum { REPORT_MAX = 1 << 28 }; /* bytes of a file */

enum { LABEL = 36 }; /* characters of a label, at most */
/*
 * labels.c: makes the labels of nodes and layers short (map_short_labels), and adds their numbers
 * to labels that are the same
 */
void make_labels(struct report *r);
const char *cpu_label(const struct report *r, const struct cpu_operator *c);
/* a record of "rewrites": the label of its operator, and its text with this label for the name */
const char *rewrite_label(const struct report *r, const struct json *rewrite);
const char *rewrite_text(const struct report *r, const struct json *rewrite);

/*
 * span_labels.c: makes the labels of spans: that of their node, or else the label that they have,
 * with the kind or number that the name ends with.  Different names have different labels.
 */
void name_spans(struct report *r);
/*
 * The label of a span in at most n characters, if no label of another span looks the same then; NULL
 * if each way of shortening it does.
 */
const char *label_in(const struct report *r, const char *label, size_t n);
/* the " (t46)" at the end of a tensor that has the name of its operator and a number; else "" */
const char *id_of(const char *name);
/* index of the first node of this name; -1: there is none */
int node_called(const struct report *r, const char *name);

/* kinds.c: the members of v, and of all that is in it, have the kinds that read.c expects */
bool check_kinds(const struct json *v, const char *file, struct err *e);

/*
 * group.c: the layer of kernel i of a file without a source map, if an earlier kernel
 * belongs to the same operator; -1: none.  *same_weights: an earlier kernel reads the
 * same weights.
 */
int find_group(const struct report *r, size_t i, bool *same_weights);

/* ---- measure.c: processes ------------------------------------------------------ */

struct meter {
	const char *file;
	const char *const *option; /* of npu-perf; ends with NULL */
	bool is_read;
	struct bytes content; /* of file, valid if is_read: a pipe gives it only once */
	int pid; /* of the process that waits to become npu-perf for file; 0, -1: there is none */
	int ask, json; /* pipes to it and from it; valid if pid > 0 */
};

/* Starts the processes of n meters with file and option; the sandbox comes after this. */
void meters_open(struct arena *a, struct meter *m, int n);
/* Ends the processes that still wait. */
void meters_close(struct meter *m, int n);
/*
 * Returns the JSON in the file of m.  If the file is a compiled model, runs npu-perf on it, with
 * this system configuration and memory mode (both "": those of the file and of option).  If
 * npu-perf fails, returns false and its status; npu-perf has printed the reason.  Only one
 * call for each meter.
 */
bool measure(struct arena *a, struct meter *m, const char *system, const char *mode,
	     struct bytes *json, int *status, struct err *e);
/* True for a compiled model that does not record the memory system it was made for. */
bool lacks_memory_system(struct arena *a, struct meter *m);

/* ---- floats.c: what float inputs and outputs take ------------------------------------------ */

/* True for the reason of an operator on the CPU that this option leaves out. */
bool is_left_out_by_integer_io(const char *reason);
/* True for a float input or output of the model. */
bool is_float_end(const struct span *s);
/* True if the span is in use at the time of the peak. */
bool is_in_peak(const struct span *s, const struct peak *p);
/*
 * such as "float inputs and outputs hold 240 KiB of SRAM when most of it is in use"; NULL: they hold
 * less than a tenth of what is in use then
 */
const char *floats_text(const struct report *r);

/* ---- facts.c: the time, the names of memories, and the limits of the network --------------- */

/* parts of the time by limit, 0 to 1; their sum is about 1 */
struct shares {
	double of[LIMITS];
	enum limit most;
	double cpu; /* part of the time in which the CPU runs operators; not in of[] */
};
struct shares limit_shares(const struct report *r);
/* the part of the time that some cycles are; at most 1, as the estimate is a whole number */
double share_of_time(const struct report *r, double cycles);
/*
 * such as "MRAM 97 % of the time, the NPU's units 74 %, side by side", if shares by kernel hide a memory
 * that works nearly all the time; else NULL
 */
const char *busy_text(const struct report *r);
/* what works longest of these, and its share of the NPU's time, 0 to 1; NULL: none */
const char *busiest_text(const struct report *r, double *share);
/* what the estimate leaves out and its range counts: the reading of commands, if that can take 2 % more
 * time; else NULL */
const char *commands_text(const struct report *r);
/* such as "reading constants from MRAM" */
const char *limit_text(const struct report *r, enum limit l);
extern const char cpu_limit[]; /* the same of the CPU's time */
/* such as "computing 74 %, waiting for transfers 26 %"; NULL: no kernel runs */
const char *limits_text(const struct report *r);
/*
 * what a faster memory saves, such as "MRAM of twice the speed saves 5 % (then limited by
 * computing)"; NULL: unknown
 */
const char *faster_text(const struct report *r);
/* of a part whose drivers give the NPU different SRAM: which one the plan is for; else NULL */
const char *driver_text(const struct report *r);
/* name of the memory of the constants, such as "MRAM" */
const char *constants_text(const struct report *r);
/*
 * the member of the report with the bytes in that memory: of the constants, or in DRAM of all that
 * is in it, if the arena is there, too
 */
const char *constants_key(const struct report *r);
/* name of the memory that sram_bytes are in, such as "SRAM0"; "SRAM": the NPU's own, or no part */
const char *fast_text(const struct report *r);
/* the same for two reports: "SRAM" if their names differ */
const char *common_fast_text(const struct report *old, const struct report *new);
/* name of the memory of a place, "arena" or "cache" */
const char *place_text(const struct report *r, const char *place);
/* true if a memory of the part is too small (--allow-overflow of npucc) */
bool overflows(const struct report *r);
/*
 * such as "renesas-ra8p1 lacks 4367 of the 6031 KiB of SRAM; the time assumes other memory of the same
 * speed"; NULL: the network fits
 */
const char *overflow_text(const struct report *r);
/* true if this memory holds the arena and the constants */
bool has_one_memory(const struct report *r);
double batch_of(const struct report *r); /* inputs of one run, 1 or more */
double cycles_ms(const struct report *r, double cycles); /* milliseconds of one inference */
/* one inference, NPU and CPU: the estimate, and its interval */
struct time_ms { double ms, low, high; };
struct time_ms inference_ms(const struct report *r);
/* such as "151 us to 181 us with a probability of 80 % on ..."; NULL: unknown */
const char *range_text(const struct report *r);
/* the time by the published formulas, if it is outside of this interval; else NULL */
const char *formulas_text(const struct report *r);
/* cycles of the CPU in one inference; a rough estimate */
double cpu_cycles_of(const struct report *r);
/* true if the arena is in SRAM, so that less SRAM for the NPU leaves more for the application */
bool arena_is_in_sram(const struct report *r);
/* true if LIMIT_CONSTANTS is also that of feature maps, because both are in one memory, DRAM */
bool has_data_beside_constants(const struct report *r);
enum limit layer_limit(const struct layer *l); /* what limits the most of its time */
/*
 * Lists up to n layers, first the layer whose member at byte at_key, a double, is largest.
 * Returns how many.
 */
size_t largest_layers(const struct report *r, size_t at_key, size_t n,
		      const struct layer **out);

/* ---- gains.c: what would help -------------------------------------------------------------- */

/* a change and its estimated result */
struct gain {
	const char *what, *how; /* how: options such as "--arena-cache-size=...", or "" */
	bool is_other, same_chip; /* of another accelerator; of the same chip */
	double cycles, sram;	/* of a run on NPU and CPU; sram in bytes */
	const char *memory;	/* name of the memory of sram */
	const char *needs;	/* what the change needs beside them; NULL: nothing */
	/* the difference by which npu-sched chose, if it is not that of cycles; else NULL */
	const char *objective;
	/* of another accelerator: the difference for the NPU alone, if the CPU takes time, too; else NULL */
	const char *npu;
};
extern const char mean_text[]; /* what the mean in an objective is */
/* such as "3 % more", of the cycles of a run on NPU and CPU against another */
const char *more_text(struct arena *a, double cycles, double than);
/* lists all gains that are worth a line: those of the curve, and other accelerators */
size_t list_gains(const struct report *r, struct gain **out);

/* longest.c: an operator on NPU or CPU, and the time of it in cycles of the NPU's clock */
struct longest {
	const char *name, *label, *kind; /* as in struct layer */
	const struct node *node; /* its number and type in the source; NULL: unknown */
	const char *limit; /* what limits it, or that it is on the CPU */
	double time;	   /* above 0 */
};
/* lists up to n of them, the longest first; returns how many */
size_t list_longest(const struct report *r, size_t n, struct longest *out);

/* ---- tables.c: the numbers --------------------------------------------------- */

struct cell {
	const char *text; /* NULL: the cell shows number */
	/* of a name: the whole one, which a page has as a title, and that of a terminal; or NULL */
	const char *name, *label;
	double number;
	bool percent;
};

struct table {
	struct arena *a;
	const char *title;
	const char *const *column; /* NULL-terminated */
	struct cell *cell;	   /* row by row */
	size_t n_columns, n, cap;
};

struct table table_summary(const struct report *r);
struct table table_warnings(const struct report *r);
struct table table_rewrites(const struct report *r);
struct table table_weights(const struct report *r);
struct table table_picture(const struct report *r, enum picture p);
void table_html(struct text *t, const struct table *b);
void table_text(struct text *t, const struct table *b);
/* an empty table */
struct table table_of(struct arena *a, const char *title, const char *const *column);
void table_add(struct table *b, struct cell c);

static inline struct cell
cell_text(const char *s)
{
	return (struct cell){ .text = s };
}

static inline struct cell
cell_name(const char *name, const char *label)
{
	return (struct cell){ .text = label, .name = name, .label = label };
}

/* a page has space for the title */
static inline struct cell
cell_layer(const struct layer *l)
{
	return (struct cell){ .text = l->title, .name = l->name, .label = l->label };
}

static inline struct cell
cell_number(double v)
{
	return (struct cell){ .number = v };
}

static inline struct cell
cell_percent(double part, double whole)
{
	return (struct cell){ .number = whole > 0 ? 100 * part / whole : 0,
			      .percent = true };
}

/* ---- svg.c: shapes ------------------------------------------------------------- */

enum { SVG_WIDTH = 960 /* of a file of its own */, LETTER = 6, LINE = 16 }; /* of labels in 10 px monospace */

void svg_open(struct text *t, const char *title, double width, double height, bool alone);
void svg_close(struct text *t);
/* class: see svg_style; title: shown for the pointer; NULL: none */
void svg_rect(struct text *t, const char *class, double x, double y, double w,
	      double h, const char *title);
void svg_line(struct text *t, const char *class, double x1, double y1, double x2,
	      double y2);
enum anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END };
void svg_text(struct text *t, enum anchor where, double x, double y, const char *s);
void svg_dot(struct text *t, const char *class, double x, double y, const char *title);
/*
 * Draws swatches with their names in a row from x, y. class is NULL-terminated. shown
 * says which of them are drawn; NULL: all.
 */
void svg_legend(struct text *t, double x, double y, const char *const *class,
		const char *const *name, const bool *shown);
/* colours of all classes, light and dark, as CSS */
void svg_style(struct text *t);

/*
 * distance of the marks of an axis up to most: 1, 2 or 5 times a power of ten, for up
 * to five marks
 */
double axis_step(double most);
/* "1.25 M", "640 k", "12": the mark v of an axis, in the unit of its largest mark */
const char *axis_label(struct arena *a, double v, double most);

/* ---- draw_*.c ---------------------------------------------------------------------- */

/*
 * alone: true for a file of its own, false for a part of a page, which prints the legend of
 * timeline and memory
 */
void draw(struct text *t, const struct report *r, enum picture p, bool alone);
void draw_memory(struct text *t, const struct report *r, bool alone);
void draw_timeline(struct text *t, const struct report *r, bool alone);
void draw_layers(struct text *t, const struct report *r, bool alone);
void draw_roofline(struct text *t, const struct report *r, bool alone);
void draw_curve(struct text *t, const struct report *r, bool alone);
/* draw_timeline.c: marks of time below a picture, and lines from top to bottom */
void draw_time_axis(struct text *t, const struct report *r, double left, double right, double top,
		    double bottom);
/* page_frame.c */
void page_open(struct text *t, const char *title);
void page_close(struct text *t);
void print_page(struct text *t, const struct report *r);
/* the file page.css and the files of page/; the Makefile makes strings of them */
extern const char page_css[], page_js[];
/* page_data.c: the data of the script; a JSON string without markup */
void page_data(struct text *t, const struct report *r);
/* source.c: reads the model that was compiled; its member of the data, if it was read */
bool read_source(struct report *r, struct bytes file, const char *name, struct err *e);
void source_data(const struct json_out *j, const struct report *r);
/* explorer.c: node data of one kind for Model Explorer */
enum explorer { EXPLORE_CYCLES, EXPLORE_BYTES, EXPLORE_BOUND, EXPLORE_PROCESSOR };
extern const char *const explorer_names[]; /* NULL-terminated */
void print_explorer(struct text *t, const struct report *r, enum explorer what);
/* summary.c: a report of about a dozen lines */
void print_summary(struct text *t, const struct report *r);
/* plain.c: the report as text, and the numbers of the whole network for a script */
void print_plain(struct text *t, const struct report *r);
void print_numbers(struct text *t, const struct report *r);
/*
 * match.c: the operators of two reports side by side.  A row has an operator of each
 * report, or of one report alone; a stage has all operators between two rows of pairs,
 * because none of them has a certain partner.
 */
struct row {
	const struct layer *old, *new; /* the first of n_old or n_new; NULL: none */
	size_t n_old, n_new;
	bool named_by_new; /* the row has the names of the new report */
	double old_cycles, new_cycles, old_bytes, new_bytes; /* bytes: see weights_only */
	bool is_stage;
};

struct rows {
	struct row *v;
	size_t n;
	bool by_shape;	   /* false: operators with the same name are pairs */
	bool weights_only; /* bytes are weights; else all constants */
	size_t n_pairs, n_old, n_new; /* pairs, and operators of each report */
	double paired;	   /* part of the new report's time, 0 to 1 */
};
struct rows match_layers(const struct report *old, const struct report *new);
/* says in two sentences, with `between` between them, how operators were paired by shape */
const char *match_text(const struct report *old, const struct report *new,
		       const struct rows *l, const char *between);
/* the name or label of a row's operators */
const char *row_name(struct arena *a, const struct row *x, bool label);

/* compare.c: compares new with each of the old reports; html: prints a page */
void print_comparison(struct text *t, const struct report *old, size_t n_old,
		      const struct report *new, bool html);
const struct layer *layer_called(const struct report *r, const char *name);
/* such as "ethos-u55-128 of alif-e7-he at 160 MHz, Ethos_U55_..., Shared_Sram" */
const char *machine_text(const struct report *r);
/* differences of the machines, such as "clock"; NULL: none */
const char *machine_differences(const struct report *old, const struct report *new);
/* compare_page.c: one comparison with the tables of all its numbers */
void print_comparison_page(struct text *t, const struct report *old,
			   const struct report *new, const struct rows *rows,
			   const struct table *tables, size_t n);

/*
 * measured.c: what a device measured beside the estimate, as text with bars and as a table.
 * The counters of an inference, its operators, and samples of QREAD are compared in a group each.
 */
enum measured_group { MEASURED_COUNTERS, MEASURED_OPERATORS, MEASURED_SAMPLES, MEASURED_GROUPS };
struct measured_pair {
	const char *name;
	double measured, estimated; /* estimated 0: unknown */
};
/* most: the largest number of the group */
const struct measured_pair *measured_pairs(const struct report *r, enum measured_group group,
					   size_t *n, double *most);
void print_measured(struct text *t, const struct report *r);
struct table table_measured(const struct report *r);

/*
 * quantized.c: reads what the integers cost from a report of tfl-quantize; the table of all
 * operators, without rows if nothing was read; and, if it was read, the lines of the whole
 * network, of its outputs and of the worst operators
 */
bool read_quantized(struct report *r, struct bytes json, const char *file, struct err *e);
struct table table_quantized(const struct report *r);
const char **list_quantized(const struct report *r, size_t *n_lines);

#endif
