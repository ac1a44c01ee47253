/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs an ethos-u operator as a job of the device: copies the regions into buffers,
 * submits the stream, and copies the written regions back.  Buffers and streams are kept
 * for the next inference.
 */
#include "npu-run.h"

#include "base/cli.h"
#include "target/accel.h"

#include <inttypes.h>
#include <string.h>

/* limit of a buffer: the limit of npu-sim for all memory of a model */
#define BUFFER_MAX ((uint64_t)SIM_MAX_BYTES)

struct prepared { /* an operator's job, with its stream and its buffers */
	struct prepared *next;
	int op_index;
	const uint8_t *payload; /* tells operators of bodies of IF and WHILE apart */
	struct ethosu_job job;
	struct linux_use use;
	struct buffer buffer[LINUX_REGIONS];
	int waits_for; /* a region that the job writes; -1: none */
};

/* ---- checks before the first job ------------------------------------------ */

static bool
check_stream(const struct runner *r, const char *name, const struct npu_stream *s,
	     const uint64_t *memory, struct linux_use *use, struct err *e)
{
	const struct device *d = r->device;
	struct linux_finding f;
	if (s->accel != d->accel)
		return err_at(e, name, 0, "the model is compiled for %s, but %s is %s: "
			      "compile it with -a %s", s->accel->name, d->path, d->accel->name,
			      d->accel->name);
	if (linux_check(s, memory, use, &f))
		return true;
	(void)err_at(e, name, 0, "0x%06zx %s: rule %s of the Linux driver: %s%s", f.at_bytes,
		     f.command ? f.command : "stream", linux_rule_name(f.rule), f.text,
		     linux_remedy(f.rule));
	e->status = EXIT_NO;
	return false;
}

bool
accept_model(void *runner, const struct tfl_model *m, struct err *e)
{
	struct runner *r = runner;
	struct npu_stream *s;
	uint64_t memory[LINUX_REGIONS];
	struct linux_use use;
	if (!stream_find(r->a, m, &s, &r->n_npu, e))
		return false;
	if (!stream_some(r->n_npu, m->name, r->device->accel, e))
		return false;
	for (int i = 0; i < r->n_npu; i++) {
		if (r->measure && s[i].subgraph)
			return err_at(e, m->name, 0, "--measure counts the operators of one run, "
				      "but how often the bodies of IF and WHILE run depends on data");
		linux_memory(m, &s[i], memory);
		if (!check_stream(r, m->name, &s[i], memory, &use, e))
			return false;
	}
	const struct tfl_subgraph *g = &m->subgraph[0];
	struct text t = { 0 };
	int n = 0; /* operators on the CPU */
	for (int i = 0; i < g->n_ops; i++)
		if (!npu_is_operator(&g->op[i]))
			text_printf(&t, "%s%s", n++ ? ", " : "", tfl_op_label(&g->op[i]));
	if (n)
		cli_note("note", "%d operator%s on the CPU, with the reference kernels: %s",
			 n, n == 1 ? " runs" : "s run", text_str(&t));
	text_free(&t);
	return true;
}

/* ---- a job's buffers ------------------------------------------------------ */

/* Refuses regions that share memory: each region gets a buffer of its own. */
static bool
check_apart(const struct prepared *p, const struct sim_npu_job *job, struct err *e)
{
	for (int i = 0; i < LINUX_REGIONS; i++)
		for (int k = 0; k < i; k++) {
			const struct sim_region *x = &job->region[i], *y = &job->region[k];
			if (p->use.bytes[i] && p->use.bytes[k] &&
			    bytes_overlap(x->rd, x->bytes, y->rd, y->bytes) &&
			    (p->use.written[i] || p->use.written[k]))
				return err_at(e, job->name, 0, "operator %d: regions %d and %d "
					      "share memory, but the Linux driver makes "
					      "a buffer for each region",
					      job->op_index, k, i);
		}
	return true;
}

/*
 * The larger of the bytes that the driver computes and those that the NPU accesses:
 * either number can be the larger one.
 */
static uint64_t
buffer_bytes(const struct prepared *p, int i)
{
	uint64_t a = p->use.bytes[i], b = p->use.touched[i];
	return a > b ? a : b;
}

/* the bytes of a region that both the model and the buffer have */
static size_t
shared_bytes(const struct prepared *p, const struct sim_npu_job *job, int i)
{
	uint64_t n = buffer_bytes(p, i);
	return n < job->region[i].bytes ? (size_t)n : job->region[i].bytes;
}

static void
upload(const struct prepared *p, const struct sim_npu_job *job, bool constants)
{
	for (int i = 0; i < LINUX_REGIONS; i++)
		if (p->buffer[i].p && !job->region[i].wr == constants)
			memcpy(p->buffer[i].p, job->region[i].rd, shared_bytes(p, job, i));
}

static bool
make_buffers(const struct runner *r, struct prepared *p, const struct sim_npu_job *job,
	     struct err *e)
{
	const struct device *d = r->device;
	p->waits_for = -1;
	for (int i = 0; i < LINUX_REGIONS; i++) {
		uint64_t bytes = buffer_bytes(p, i);
		if (!p->use.bytes[i])
			continue;
		/* region 2 is the device's SRAM, except in a model whose region 2 is the arena */
		if (i == LINUX_SRAM_REGION && job->region[i].rd != job->region[1].rd) {
			if (bytes > d->info.sram_bytes)
				return err_at(e, job->name, 0, "operator %d needs %" PRIu64 " bytes "
					      "of SRAM, but %s has %" PRIu32 ": compile the model "
					      "with --arena-cache-size=%" PRIu32,
					      job->op_index, bytes, d->path, d->info.sram_bytes,
					      d->info.sram_bytes);
			p->job.sram_bytes = (uint32_t)bytes;
			continue;
		}
		if (bytes > BUFFER_MAX)
			return err_at(e, job->name, 0, "operator %d: the driver requires %" PRIu64
				      " bytes for region %d, at most %" PRIu64 " are supported",
				      job->op_index, bytes, i, BUFFER_MAX);
		if (p->use.written[i] && !job->region[i].wr)
			return err_at(e, job->name, 0, "operator %d writes to the region of the "
				      "constants", job->op_index);
		if (!device_buffer(d, (size_t)bytes, &p->buffer[i], e))
			return false;
		p->job.region[i] = p->buffer[i].handle;
		if (p->use.written[i])
			p->waits_for = i;
	}
	return p->waits_for >= 0 ||
	       err_at(e, job->name, 0, "operator %d writes to no buffer", job->op_index);
}

static bool
prepare(struct runner *r, const struct sim_npu_job *job, struct prepared *p, struct err *e)
{
	struct npu_stream s = { .subgraph = -1 };
	uint64_t memory[LINUX_REGIONS];
	p->op_index = job->op_index;
	p->payload = job->payload.p;
	p->next = r->jobs;
	r->jobs = p;
	for (int i = 0; i < LINUX_REGIONS; i++)
		memory[i] = job->region[i].bytes;
	if (!stream_payload(r->a, job->payload, &s, e) ||
	    !check_stream(r, job->name, &s, memory, &p->use, e) || !check_apart(p, job, e))
		return false;
	if (!make_buffers(r, p, job, e) ||
	    !device_stream(r->device, s.word, s.n_words, &p->job.stream, e))
		return false;
	upload(p, job, true);
	return true;
}

/* ---- running -------------------------------------------------------------- */

static void
find_difference(struct runner *r, const struct prepared *p, const struct sim_npu_job *job,
		const struct sim_npu_job *sim)
{
	for (int i = 0; i < LINUX_REGIONS; i++) {
		if (!p->buffer[i].p || !p->use.written[i])
			continue;
		const uint8_t *a = job->region[i].rd, *b = sim->region[i].rd;
		size_t at = 0, n = shared_bytes(p, job, i);
		while (at < n && a[at] == b[at])
			at++;
		if (at == n)
			continue;
		r->first = (struct difference){ .found = true, .op = job->op_index,
						.region = i, .at = at, .device = a[at],
						.sim = b[at] };
		return;
	}
}

static bool
run_on_device(struct runner *r, const struct prepared *p, const struct sim_npu_job *job,
	      struct err *e)
{
	upload(p, job, false);
	if (!device_submit(r->device, &p->job, r->counts ? counts_id(r->counts) : 0, e) ||
	    !device_wait(r->device, p->buffer[p->waits_for].handle, e))
		return false;
	for (int i = 0; i < LINUX_REGIONS; i++)
		if (p->buffer[i].p && p->use.written[i] && job->region[i].wr)
			memcpy(job->region[i].wr, p->buffer[i].p, shared_bytes(p, job, i));
	return true;
}

/* A copy of the job for the simulator, whose memory holds the same values. */
static struct sim_npu_job
copy_job(struct arena *a, const struct sim_npu_job *job)
{
	struct sim_npu_job copy = *job;
	for (int i = 0; i < LINUX_REGIONS; i++) {
		struct sim_region *g = &copy.region[i];
		if (!g->wr)
			continue;
		g->wr = arena_alloc(a, g->bytes, 8);
		memcpy(g->wr, job->region[i].rd, g->bytes);
		for (int k = 0; k < i; k++) /* two regions with the same memory */
			if (job->region[k].rd == job->region[i].rd)
				g->wr = copy.region[k].wr;
		g->rd = g->wr;
	}
	copy.hooks = NULL;
	return copy;
}

static bool
run_compared(struct runner *r, const struct prepared *p, const struct sim_npu_job *job,
	     struct err *e)
{
	struct arena *a = arena_open();
	struct sim_npu_job sim = copy_job(a, job);
	bool ok = run_on_device(r, p, job, e) && sim_npu_run(&sim, e);
	if (ok)
		find_difference(r, p, job, &sim);
	arena_close(a);
	return ok;
}

bool
run_job(void *runner, const struct sim_npu_job *job, struct err *e)
{
	struct runner *r = runner;
	struct prepared *p = r->jobs;
	int n = 0; /* operators that are prepared */
	while (p && (p->op_index != job->op_index || p->payload != job->payload.p))
		p = p->next;
	if (!p) {
		p = anew(r->a, struct prepared, 1);
		if (!prepare(r, job, p, e))
			return false;
	}
	if (!(r->compare && !r->first.found ? run_compared(r, p, job, e)
					    : run_on_device(r, p, job, e)))
		return false;
	/* the list begins with the operator that was prepared last, which runs last */
	for (const struct prepared *k = r->jobs; k; k = k->next)
		n++;
	return !r->counts || counts_add(r->counts, n == r->n_npu && p == r->jobs, e);
}

void
close_jobs(struct runner *r)
{
	for (struct prepared *p = r->jobs; p; p = p->next)
		for (int i = 0; i < LINUX_REGIONS; i++)
			device_unmap(&p->buffer[i]);
}
