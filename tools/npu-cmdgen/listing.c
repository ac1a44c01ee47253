/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the streams of all nodes, and gives the names for all listings. */
#include "cmdgen.h"

#include "base/fixed.h"
#include "graph/build.h"
#include "graph/facts.h"
#include "graph/table.h"
#include "target/memory.h"
#include "tflite/tflite.h"

const char *
region_name(const struct cmdgen *c, size_t node)
{
	size_t n = 0;
	for (size_t i = 0; i <= node; i++)
		n += c->g->nodes[i]->kind == NODE_NPU && !node_continues(c->g->nodes[i]);
	const char *of = c->m->subgraph[0].name;
	return arena_printf(c->a, "%s_split_%zu",
			    of && *of ? text_plain(c->a, of) : "main", n);
}

const char *
op_label(const struct cmdgen *c, const struct g_op *op)
{
	return table_name(c->a, op->name, 'o', op->rec.id);
}

bool
print_listing(struct cmdgen *c, enum emit what, struct text *t)
{
	for (size_t i = 0; i < c->g->n_nodes; i++) {
		if (!c->stream[i].n_marks)
			continue;
		if (what == EMIT_LIST) {
			print_high_level(c, i, t);
			print_operations(c, i, t);
		}
		if (!print_words(c, i, t))
			return false;
	}
	return true;
}

/* bytes of a payload, rounded up to the buffer's alignment */
static int64_t
payload_bytes(const struct cmdgen *c, size_t node)
{
	struct bytes b = emit_payload(c->a, c->accel, &c->stream[node]);
	return round_up_i64((int64_t)b.n, 16);
}

/* Lists the streams and the NPU's constants as buffers of the finished model. */
void
print_allocation(const struct cmdgen *c, struct text *t)
{
	struct g_blob *flash = graph_find_blob(c->g, "flash");
	int64_t at = 0, total = flash ? flash->bytes : 0;
	int regions = 0, first = -1;
	for (size_t i = 0; i < c->g->n_nodes; i++) {
		if (!c->stream[i].n_marks)
			continue;
		regions++;
		first = first < 0 ? (int)i : first;
		total += payload_bytes(c, i);
	}
	table_head(t, memory_area_name(c->memory.const_area), "Permanent_CPU",
		   "LinearAlloc", "Cpu");
	struct table_row r = { .usage = total, .purpose = "FeatureMap",
			       .hi = 2 * regions + 1 };
	for (size_t i = 0; i < c->g->n_nodes; i++) {
		if (!c->stream[i].n_marks)
			continue;
		r.at = at;
		r.bytes = payload_bytes(c, i);
		r.name = arena_printf(c->a, "%s_command_stream", region_name(c, i));
		table_put(t, &r);
		at += r.bytes;
	}
	if (flash && first >= 0) {
		r.at = at;
		r.bytes = flash->bytes;
		r.name = arena_printf(c->a, "%s_flash", region_name(c, (size_t)first));
		table_put(t, &r);
	}
	table_end(t, total, total);
}
