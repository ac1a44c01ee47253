/* SPDX-License-Identifier: Apache-2.0 */
/* --list: writes all inputs into one array, and their labels into a second file. */
#include "mkinput.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

struct tfl_tensor
one_of_batch(const struct tfl_tensor *t, int batch)
{
	struct tfl_tensor one = *t;
	if (one.rank)
		one.dim[0] /= batch;
	return one;
}

bool
make_stack(struct arena *a, const struct options *o, const struct tfl_tensor *t,
	   int batch, struct err *e)
{
	struct list l;
	struct spool values = o->spool;
	struct tfl_tensor one = one_of_batch(t, batch);
	struct filled all = { .lo = INFINITY, .hi = -INFINITY };
	if (!read_list(a, o->list, &l, e))
		return false;
	if (l.n % (size_t)batch)
		return err_at(e, file_name(o->list), 0, "the list has %zu files, which "
							"is not a multiple of the "
							"model's batch of %d",
			      l.n, batch);
	if (!o->has_spool && !spool_open(&values, e))
		return false;
	bool ok = true;
	for (size_t i = 0; ok && i < l.n; i++) {
		struct arena *scratch = arena_open();
		struct data d;
		struct filled f;
		ok = load_data(scratch, l.item[i].path, &o->in, &one, &d, e) &&
		     fit_data(scratch, &o->in, &one, &d, e) &&
		     fill_tensor(scratch, &o->in, &one, &d, &f, e) &&
		     spool_put(&values, f.bytes, (size_t)tfl_bytes(&one), e);
		if (ok) {
			all.n += f.n;
			all.n_clipped += f.n_clipped;
			all.lo = fmin(all.lo, f.lo);
			all.hi = fmax(all.hi, f.hi);
		}
		arena_close(scratch);
	}
	if (ok) {
		const char *labels_path = o->labels;
		if (!labels_path) { /* x.labels beside x.npy */
			const char *slash = strrchr(o->output, '/'), *dot = strrchr(o->output, '.');
			if (!dot || (slash && dot < slash))
				dot = o->output + strlen(o->output);
			labels_path = arena_printf(a, "%.*s.labels", (int)(dot - o->output), o->output);
		}
		struct file_set *s = file_set_open(a);
		struct text labels = { 0 };
		print_labels(&labels, &l);
		ok = write_stack(s, o->output, t, l.n / (size_t)batch, &values, o->format, e) &&
		     file_set_add(s, labels_path, labels.p, labels.n, false, e);
		text_free(&labels);
		ok = file_set_end(s, ok, e);
	}
	spool_close(&values);
	if (ok)
		warn_clipped(file_name(o->list), t, &all);
	return ok;
}
