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

static bool
add_input(const struct options *o, const struct tfl_tensor *t, const struct item *it,
	  struct filled *all, struct spool *to, struct err *e)
{
	struct arena *a = arena_open();
	struct data d;
	struct filled f;
	bool ok = load_data(a, it->path, &o->in, t, &d, e) && fit_data(a, &o->in, t, &d, e) &&
		  fill_tensor(a, &o->in, t, &d, &f, e) &&
		  spool_put(to, f.bytes, (size_t)tfl_bytes(t), e);
	if (ok) {
		all->n += f.n;
		all->n_clipped += f.n_clipped;
		all->lo = fmin(all->lo, f.lo);
		all->hi = fmax(all->hi, f.hi);
	}
	arena_close(a);
	return ok;
}

/* the path of --labels; the default is x.labels beside x.npy */
static const char *
labels_path(struct arena *a, const struct options *o)
{
	const char *slash = strrchr(o->output, '/'), *dot = strrchr(o->output, '.');
	if (o->labels)
		return o->labels;
	if (!dot || (slash && dot < slash))
		dot = o->output + strlen(o->output);
	return arena_printf(a, "%.*s.labels", (int)(dot - o->output), o->output);
}

static bool
save_stack_and_labels(struct arena *a, const struct options *o, const struct tfl_tensor *t,
     const struct list *l, size_t n, const struct spool *values, struct err *e)
{
	struct file_set *s = file_set_open(a);
	struct text labels = { 0 };
	print_labels(&labels, l);
	bool ok = write_stack(s, o->output, t, n, values, o->format, e) &&
		  file_set_add(s, labels_path(a, o), labels.p, labels.n, false, e);
	text_free(&labels);
	return file_set_end(s, ok, e);
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
	for (size_t i = 0; ok && i < l.n; i++)
		ok = add_input(o, &one, &l.item[i], &all, &values, e);
	ok = ok && save_stack_and_labels(a, o, t, &l, l.n / (size_t)batch, &values, e);
	spool_close(&values);
	if (ok)
		warn_clipped(file_name(o->list), t, &all);
	return ok;
}
