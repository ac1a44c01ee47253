/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu-report: what npu-perf --json says, to look at.  main.c calls read.c, then
 * one of page.c (HTML), the draw_*.c (SVG), plain.c (text) or compare.c.  A
 * picture's numbers are a table of tables.c, in all of them the same.
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
	int layer; /* in struct report; -1: none */
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
};

struct span {
	const char *name, *label, *shape, *kind, *place;
	double at, bytes, start, end;
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

struct report {
	struct arena *a;
	const char *file;
	const struct json *root; /* for what is printed as it is */
	const char *network;
	double cycles, clock, sram;
	double macs_per_cycle;
	double sram_rate, constant_rate; /* bytes a cycle */
	struct operation *op;
	struct layer *layer;
	struct span *span;
	struct peak *peak;
	struct point *point;
	size_t n_ops, n_layers, n_spans, n_peaks, n_points;
};

/* read.c: both files; front: NULL, or of npu-sched --front --json */
bool read_report(struct arena *a, const char *path, const char *front,
		 struct report *out, struct err *e);
/* s, or its first n characters with dots behind them */
const char *shortened(struct arena *a, const char *s, size_t n);

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
/* of the page alone */
void draw_weights(struct text *t, const struct report *r, bool alone);

/* page.c */
void page_open(struct text *t, const char *title);
void page_close(struct text *t);
void print_page(struct text *t, const struct report *r);
/* plain.c */
void print_plain(struct text *t, const struct report *r);
void print_numbers(struct text *t, const struct report *r);
/* compare.c: old beside new; html: as a page */
void print_comparison(struct text *t, const struct report *old,
		      const struct report *new, bool html);

#endif
