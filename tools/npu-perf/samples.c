/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A histogram of QREAD, the offset of the command that the NPU reads next: statistical
 * profilers sample this register.  An operation runs until the NPU reads the command of the
 * next one.
 */
#include "report.h"

#include "stream/op.h"

#include <string.h>

enum { WORD = 4 };

/* the first byte behind the command of a row */
static int64_t
begin_of(const struct operator *op, size_t row)
{
	return WORD * ((int64_t)op->run.row[row].npu->at + 1);
}

/* The samples between the command of a row that is listed, of the first stream, and the next one. */
static double
row_samples(const struct network *net, size_t row)
{
	const struct measured *m = &net->measured;
	const struct operator *op = &net->op[0];
	double sum = 0;
	size_t before = row, next = row + 1;
	while (before && !row_listed(&op->run.row[before - 1]))
		before--;
	while (next < op->run.n && !row_listed(&op->run.row[next]))
		next++;
	for (size_t i = 0; i < m->n_samples; i++) {
		int64_t at = m->sample[i].offset;
		/* samples before the first operation belong to it */
		if ((at >= begin_of(op, row) || !before) &&
		    (next == op->run.n || at < begin_of(op, next)))
			sum += m->sample[i].count;
	}
	return sum;
}

static double
row_cycles(const struct operator *op, size_t row)
{
	return op->run.row[row].step.end - op->run.row[row].step.start;
}

/* sum of the estimated cycles of all operations of the first stream */
static double
all_cycles(const struct network *net)
{
	double sum = 0;
	for (size_t i = 0; net->n && i < net->op[0].run.n; i++)
		sum += row_listed(&net->op[0].run.row[i]) ? row_cycles(&net->op[0], i) : 0;
	return sum;
}

void
report_samples(struct text *t, const struct network *net)
{
	const struct measured *m = &net->measured;
	double all = all_cycles(net);
	if (!(m->samples > 0) || !net->n)
		return;
	text_printf(t, "  %-38s %12s %9s %9s\n", "operation", "samples", "share", "estimated");
	for (size_t i = 0; i < net->op[0].run.n; i++) {
		struct text name = { 0 };
		if (!row_listed(&net->op[0].run.row[i]))
			continue;
		double n = row_samples(net, i);
		row_name(&name, &net->op[0], i);
		(void)text_str(&name);
		text_make_plain(name.p);
		text_printf(t, "  %-38s %12.0f %7.2f %% %7.2f %%\n", name.p, n,
			    100 * n / m->samples,
			    all > 0 ? 100 * row_cycles(&net->op[0], i) / all : 0);
		text_free(&name);
	}
}

void
json_samples(const struct json_out *j, const struct network *net)
{
	const struct measured *m = &net->measured;
	double all = all_cycles(net);
	bool any = false;
	if (!(m->samples > 0) || !net->n)
		return;
	json_put_f64(j, "samples", m->samples);
	json_open(j, "sampled", '[');
	for (size_t i = 0; i < net->op[0].run.n; i++) {
		const struct operator *op = &net->op[0];
		struct text name = { 0 };
		if (!row_listed(&op->run.row[i]))
			continue;
		double n = row_samples(net, i);
		row_name(&name, op, i);
		if (any)
			json_line(j, 0);
		any = true;
		json_open(j, NULL, '{');
		json_put_i64(j, "index", op->run.row[i].npu->index);
		json_put_string(j, "name", text_str(&name));
		json_put_f64(j, "samples", n);
		json_put_f64(j, "share", n / m->samples);
		json_put_f64(j, "estimated_share", all > 0 ? row_cycles(op, i) / all : 0);
		json_close(j, '}');
		text_free(&name);
	}
	json_close(j, ']');
}
