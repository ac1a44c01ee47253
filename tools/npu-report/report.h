/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu-report: what npu-perf --json says, to look at.  main.c calls measure.c, which
 * runs npu-perf on a compiled model, read.c, and then one of page.c (HTML), the
 * draw_*.c (SVG), plain.c and summary.c (text) or compare.c.  A picture's numbers are a
 * table of tables.c, in all of them the same; page_data.c hands them to page.js, which
 * draws those of the page.
 */
#ifndef NPU_REPORT_REPORT_H
#define NPU_REPORT_REPORT_H

#include "base/arena.h"
#include "base/json.h"
#include "base/text.h"

enum picture { PIC_MEMORY, PIC_TIMELINE, PIC_LAYERS, PIC_ROOFLINE, PIC_CURVE,
	       PICTURES };
extern const char *const picture_names[PICTURES]; /* "memory", ... */
extern const char *const picture_titles[PICTURES];

/* what sets the time of a kernel */
enum limit { LIMIT_COMPUTE, LIMIT_SRAM, LIMIT_CONSTANTS, LIMIT_STALL, LIMITS };
extern const char *const limit_names[LIMITS]; /* "compute", ... */

struct operation {
	const char *name, *kind;
	bool is_transfer;
	int layer; /* in struct report; of a transfer: whose weights; -1: none */
	enum limit limit;
	double start, end, cycles, npu, macs, stall;
	double bytes; /* moved, in all memories */
};

/* kernels of one operator of the source, or, without a map, of one name */
struct layer {
	const char *name, *label; /* label: short enough for a picture */
	const char *kind;
	double start;	       /* of the first kernel */
	double cycles[LIMITS]; /* by what sets them; stall: before its kernels */
	double total;	       /* sum of these */
	double macs, bytes;
	double constant_bytes; /* all that it reads of them, scales too */
	double weight_bytes, original_bytes; /* encoded, and before */
	struct { double h, w, c; } block; /* of the first kernel */
};

/* an operator of the source that is computed somewhere: the network's graph */
struct node {
	const char *name, *label, *kind;
	size_t index;	    /* of the source's operator */
	const char *reason; /* of one on the CPU; NULL: nobody said */
	int layer; /* in struct report; -1: on the CPU */
	size_t *reads, n_reads; /* nodes */
};

struct span {
	const char *name, *label, *shape, *kind, *place;
	const char *owner; /* the operator that makes it, or reads the weights in it */
	double at, bytes, start, end;
	int node; /* of its name; -1: none */
};

struct peak {
	const char *place;
	double bytes, top, start, end;
	const struct json *names;
	size_t n_names;
};

/* a point of the curve: SRAM bytes, cycles, what the plan changes to get there */
struct point {
	double sram, cycles;
	const char *change;
};

/* what another accelerator would take: the fastest plans of a front; cycles 0: none */
struct other {
	const char *name;
	struct point any, here; /* with any SRAM; with no more than this plan's */
};

struct report {
	struct arena *a;
	const char *file;
	const struct json *root; /* for what is printed as it is */
	const char *network; /* for a heading */
	double cycles, clock, sram;
	double macs_per_cycle;
	double sram_rate, constant_rate; /* bytes a cycle */
	struct operation *op;
	struct layer *layer;
	struct node *node;
	struct span *span;
	struct peak *peak;
	struct point *point;
	struct other *other;
	size_t n_ops, n_layers, n_nodes, n_spans, n_peaks, n_points, n_others;
};

/*
 * read.c: from the bytes of npu-perf --json, then of npu-sched --front --json, of the
 * same accelerator (the curve) or of another one.  file: for messages.
 */
bool read_report(struct arena *a, struct bytes json, const char *file,
		 struct report *out, struct err *e);
bool read_front(struct report *r, struct bytes json, const char *file, struct err *e);
bool read_other(struct report *r, struct bytes json, const char *file, const char *name,
		struct err *e);
enum { REPORT_MAX = 1 << 28 }; /* bytes of a file */
/* s, or its first n characters with dots behind them */
const char *shortened(struct arena *a, const char *s, size_t n);

/* ---- measure.c: processes ------------------------------------------------------ */

/*
 * The JSON in file, or of npu-perf for the compiled model that file is; option: for
 * npu-perf, NULL-terminated.  False with *status: npu-perf failed, and has said why.
 */
bool measure(struct arena *a, const char *file, const char *const *option,
	     struct bytes *json, int *status, struct err *e);

/* ---- human.c: numbers as people say them --------------------------------------- */

const char *human_bytes(struct arena *a, double v); /* "169 KiB" */
const char *human_ms(struct arena *a, double ms);   /* "1.09 ms", "840 \xc2\xb5s" (micro) */
const char *human_clock(struct arena *a, double hz);
const char *human_count(struct arena *a, double v); /* "1,234,567" */
double cycles_ms(const struct report *r, double cycles); /* of one inference */

/* ---- facts.c: what a reader wants first ------------------------------------------ */

/* shares of the time by what sets it; they sum up to about 1 */
struct shares {
	double of[LIMITS];
	enum limit most;
};
struct shares limit_shares(const struct report *r);
const char *limit_text(const struct report *r, enum limit l); /* "reading flash" */
/* layers by falling time, n at most; returns how many */
size_t longest_layers(const struct report *r, size_t n, const struct layer **out);

/* a change and what it would give */
struct gain {
	const char *what, *how; /* "a larger memory", "--arena-cache-size=..." or "" */
	double cycles, sram;	/* of the whole; sram 0: as it is */
};
/* all that the report knows: of the curve, other accelerators, faster memories */
size_t list_gains(const struct report *r, struct gain **out);

/* ---- tables.c: the numbers --------------------------------------------------- */

struct cell {
	const char *text; /* NULL: the number */
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
struct table table_weights(const struct report *r);
struct table table_picture(const struct report *r, enum picture p);
void table_html(struct text *t, const struct table *b);
void table_text(struct text *t, const struct table *b);
void table_add(struct table *b, struct cell c);

static inline struct cell
cell_text(const char *s)
{
	return (struct cell){ .text = s };
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

enum { SVG_WIDTH = 960, LETTER = 6, LINE = 16 }; /* of labels: 10 px monospace */

void escape(struct text *t, const char *s); /* for XML and HTML */
/* bytes of the character at s; 0: that is none, or none that XML has */
size_t utf8_length(const char *s);
void svg_open(struct text *t, const char *title, double height, bool alone);
void svg_close(struct text *t);
/* class: see svg_style; title: shown when pointed at; NULL: none */
void svg_rect(struct text *t, const char *class, double x, double y, double w,
	      double h, const char *title);
void svg_line(struct text *t, const char *class, double x1, double y1, double x2,
	      double y2);
enum anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END };
void svg_text(struct text *t, enum anchor where, double x, double y, const char *s);
void svg_dot(struct text *t, const char *class, double x, double y, const char *title);
/* swatches with their names, in a row from x, y, of those that are shown (NULL: all);
 * classes NULL-terminated */
void svg_legend(struct text *t, double x, double y, const char *const *class,
		const char *const *name, const bool *shown);
/* colours of all classes, light and dark, as CSS */
void svg_style(struct text *t);

/* a scale with round marks: 1, 2 or 5 times a power of ten, at least about 4 */
double axis_step(double most);
/* "1.25 M", "640 k", "12" */
const char *axis_label(struct arena *a, double v);

/* ---- draw_*.c ---------------------------------------------------------------------- */

/* alone: a file of its own, not a part of a page */
void draw(struct text *t, const struct report *r, enum picture p, bool alone);
void draw_memory(struct text *t, const struct report *r, bool alone);
void draw_timeline(struct text *t, const struct report *r, bool alone);
void draw_layers(struct text *t, const struct report *r, bool alone);
void draw_roofline(struct text *t, const struct report *r, bool alone);
void draw_curve(struct text *t, const struct report *r, bool alone);
/* page.c */
void page_open(struct text *t, const char *title);
void page_close(struct text *t);
void print_page(struct text *t, const struct report *r);
/* the files page.css and page.js, which the Makefile makes strings of */
extern const char page_css[], page_js[];
/* page_data.c: for page.js */
void page_data(struct text *t, const struct report *r);
/* explorer.c: node data for Model Explorer, of one kind */
enum explorer { EXPLORE_CYCLES, EXPLORE_BYTES, EXPLORE_BOUND, EXPLORE_PLACE };
extern const char *const explorer_names[]; /* NULL-terminated */
void print_explorer(struct text *t, const struct report *r, enum explorer what);
/* summary.c: a dozen lines */
void print_summary(struct text *t, const struct report *r);
/* plain.c */
void print_plain(struct text *t, const struct report *r);
void print_numbers(struct text *t, const struct report *r);
/* compare.c: new beside each of the old; html: as a page */
void print_comparison(struct text *t, const struct report *old, size_t n_old,
		      const struct report *new, bool html);
const struct layer *layer_called(const struct report *r, const char *name);
/* compare_page.c: one of them, with the tables of all numbers */
void print_comparison_page(struct text *t, const struct report *old,
			   const struct report *new, const struct table *tables, size_t n);

#endif
