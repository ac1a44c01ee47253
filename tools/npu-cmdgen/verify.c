/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the finished file again and verifies its streams before the file is written, as
 * an edited graph may ask for streams that break a rule.  Then writes the digest of the
 * file into the source map.
 */
#include "base/little_endian.h"
#include "cmdgen.h"
#include "graph/facts.h"
#include "linux/linux.h"
#include "source/source.h"
#include "stream/stream.h"
#include "tflite/tflite.h"

struct judge {
	struct cmdgen *c;
	const struct npu_stream *first;
	bool failed;
};

/* the NPU node of the k-th stream */
static size_t
node_of(const struct cmdgen *c, ptrdiff_t k)
{
	size_t n = 0;
	while (n < c->g->n_nodes && (c->g->nodes[n]->kind != NODE_NPU ||
				     node_continues(c->g->nodes[n]) || k-- > 0))
		n++;
	return n;
}

/* the step whose command is at a word; NULL: none of the graph's steps */
static const struct g_step *
step_at(const struct emit_words *w, size_t at)
{
	for (size_t i = 0; i < w->n_marks; i++)
		if (w->mark[i].at >= at)
			return w->mark[i].step;
	return NULL;
}

/* only the first error is printed */
static void
keep_first_error(void *ctx, const struct npu_finding *f)
{
	struct judge *j = ctx;
	struct cmdgen *c = j->c;
	size_t n = node_of(c, f->stream - j->first);
	if (!f->error || j->failed || n == c->g->n_nodes)
		return;
	const struct g_node *node = c->g->nodes[n];
	const struct g_step *s = step_at(&c->stream[n], f->at_bytes / 4);
	const char *command = f->command ? f->command : "stream";
	j->failed = true;
	if (s && s->op)
		(void)graph_err(c->g, s->op, c->e, "o%d breaks rule %d: %s: %s",
				s->op->rec.id, f->rule, command, f->text);
	else if (s)
		(void)graph_err(c->g, s, c->e, "p%d breaks rule %d: %s: %s",
				s->rec.id, f->rule, command, f->text);
	else
		(void)graph_err(c->g, node, c->e, "n%d breaks rule %d: %s: %s",
				node->rec.id, f->rule, command, f->text);
}

bool
verify_model(struct cmdgen *c, struct bytes file, unsigned jobs)
{
	struct tfl_model *m;
	struct npu_stream *s;
	int n;
	if (!tfl_read(c->a, file, c->g->file, &m, c->e) ||
	    !stream_find(c->a, m, &s, &n, c->e))
		return false;
	struct judge j = { .c = c, .first = s };
	struct npu_verify v = { .report = keep_first_error, .ctx = &j, .jobs = jobs };
	stream_verify(m, s, n, &v);
	if (!j.failed && !stream_verify_source(m, s, n, c->g, &v, c->e))
		return false;
	/*
	 * The rules of the Linux driver.  The message names the operation, which the user can keep
	 * on the CPU.
	 */
	for (int i = 0; !j.failed && i < n && graph_is_for_linux(c->g); i++) {
		uint64_t memory[LINUX_REGIONS];
		struct linux_use use;
		struct linux_finding f;
		linux_memory(m, &s[i], memory);
		if (linux_check(&s[i], memory, &use, &f))
			continue;
		const struct g_node *node = c->g->nodes[node_of(c, i)];
		const struct g_step *step =
		    step_at(&c->stream[node->rec.index], f.at_bytes / 4);
		const bool op = step && step->op;
		return graph_err(c->g, node, c->e, "%s%d breaks rule %s of the Linux driver: %s: %s",
				 op ? "o" : "n", op ? step->op->rec.id : node->rec.id,
				 linux_rule_name(f.rule), f.command ? f.command : "stream", f.text);
	}
	/*
	 * The digest is the last bytes of the source map.  The digest does not cover the source
	 * map itself.
	 */
	struct bytes map = tfl_metadata(m, MAP_METADATA);
	uint8_t *to = (uint8_t *)(uintptr_t)file.p;
	if (map.p)
		store_le64(to + (map.p - m->file.p) + map.n - MAP_DIGEST_BYTES, source_digest(m));
	return !j.failed;
}
