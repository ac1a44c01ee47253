/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the samples sequence by sequence.  As many sequences as there are workers run at
 * once; their results are joined in the order of the samples.
 */
#include "quantize.h"

#include "base/threads.h"

#include <unistd.h>

struct sample_reader {
	const struct sequence_job *job;
	struct sequence *sequence; /* one per worker */
	struct sample_stream *samples;
	size_t n_in, n; /* n: samples read */
	unsigned frames;
};

size_t
sequence_workers(const struct options *o)
{
	enum { MOST = 16 }; /* each worker has all feature maps */
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t jobs = o->jobs ? o->jobs : cores > 0 ? (size_t)cores : 1;
	return jobs < MOST ? jobs : MOST;
}

/* Reads the samples of one sequence. */
static bool
fill_sequence(struct sample_reader *r, struct sequence *s, bool *more, struct err *e)
{
	s->first = r->n;
	for (s->n = 0; s->n < r->frames; s->n++) {
		if (r->job->most && r->n == r->job->most) {
			*more = false;
			return true;
		}
		if (!samples_next(r->samples, s->input + s->n * r->n_in, more, e))
			return false;
		if (!*more)
			return true;
		s->label[s->n] = samples_label(r->samples);
		r->n++;
	}
	return true;
}

static void
run_one(void *ctx, size_t i)
{
	const struct sample_reader *r = ctx;
	r->job->run(r->job->ctx, i, &r->sequence[i]);
}

bool
run_sequences(const struct options *o, const struct tfl_subgraph *g,
	      const struct sequence_job *job, size_t *n, struct err *e)
{
	struct arena *a = arena_open();
	size_t n_workers = sequence_workers(o);
	struct sample_reader r = { .job = job, .n_in = (size_t)g->n_in, .frames = o->frames };
	bool ok = samples_open(a, o, g, &r.samples, e), more = true;
	r.sequence = anew(a, struct sequence, n_workers);
	for (size_t i = 0; i < n_workers && ok; i++) {
		struct sequence *s = &r.sequence[i];
		s->label = anew(a, double, r.frames);
		s->input = anew(a, float *, r.frames * r.n_in + 1);
		for (size_t k = 0; k < r.frames * r.n_in; k++)
			s->input[k] = anew(a, float,
					   (size_t)tfl_elements(&g->tensor[g->in[k % r.n_in]]));
	}
	while (ok && more) {
		size_t used = 0;
		for (; ok && more && used < n_workers; used++)
			ok = fill_sequence(&r, &r.sequence[used], &more, e);
		if (ok)
			threads_for(o->jobs, used, NULL, run_one, &r);
		for (size_t i = 0; ok && i < used; i++)
			ok = !r.sequence[i].n || job->join(job->ctx, i, &r.sequence[i], e);
	}
	if (r.samples)
		samples_close(r.samples);
	*n = r.n;
	if (ok && !r.n)
		ok = err_at(e, file_name(o->model), 0, "%s has no samples",
			    o->are_test ? "--test" : "--data");
	arena_close(a);
	return ok;
}
