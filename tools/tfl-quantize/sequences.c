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
	size_t n_in, n; /* n: samples of the sequences that run */
	size_t n_read; /* sequences */
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

/* true if sequence i is one of those that are spread evenly over all of them */
static bool
is_chosen(const struct sample_reader *r, size_t i)
{
	const size_t most = r->job->most / r->frames ? r->job->most / r->frames : 1;
	const size_t all = (r->job->of + r->frames - 1) / r->frames;
	return !r->job->most || most >= all || i * most % all < most;
}

/* Reads the samples of the next sequence that runs; s->n 0: there is none. */
static bool
fill_sequence(struct sample_reader *r, struct sequence *s, bool *more, struct err *e)
{
	do {
		for (s->n = 0; s->n < r->frames; s->n++) {
			if (!samples_next(r->samples, s->input + s->n * r->n_in, more, e))
				return false;
			if (!*more)
				break;
			s->label[s->n] = samples_label(r->samples);
		}
		if (is_chosen(r, r->n_read++))
			break;
		s->n = 0;
	} while (*more);
	s->first = r->n;
	r->n += s->n;
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
