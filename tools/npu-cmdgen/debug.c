/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --emit=debug-xml: the debug database of Vela, which profilers read.  A table is lines of
 * comma-separated values: the source's operators, the operations, and the offset of each
 * operation's command in its stream.
 */
#include "cmdgen.h"

#include "graph/table.h"
#include "tflite/tflite.h"

#include <inttypes.h>
#include <string.h>

static void
begin_table(struct text *t, const char *name, const char *columns)
{
	text_printf(t, "<table name=\"%s\">\n<![CDATA[\n%s\n", name, columns);
}

static void
end_table(struct text *t)
{
	text_puts(t, "]]>\n</table>\n");
}

/* A quoted value: without quotes, and without the end of the section of characters. */
static void
put_value(struct text *t, const char *s)
{
	text_putc(t, '"');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		text_putc(t, c < ' ' || c >= 0x7f || strchr("\"]<>&", c) ? '_' : *s);
	}
	text_putc(t, '"');
}

/* the last operator of the source that an operation computes; -1: none */
static int
source_of(const struct g_op *op)
{
	const struct g_tfl *x = op->tfl.n ? &op->tfl.v[op->tfl.n - 1] : NULL;
	return x && !x->subgraph ? x->index : -1;
}

void
print_debug_xml(const struct cmdgen *c, struct text *t)
{
	const struct graph *g = c->g;
	const struct tfl_subgraph *sg = &c->m->subgraph[0];
	text_puts(t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<debug source=");
	put_value(t, c->m->name);
	text_puts(t, " optimised=");
	put_value(t, g->file);
	text_puts(t, ">\n");

	begin_table(t, "source", "\"id\",\"operator\",\"kernel_w\",\"kernel_h\",\"ofm_w\",\"ofm_h\","
				 "\"ofm_d\",\"ext_key\"");
	for (int i = 0; i < sg->n_ops; i++) {
		const struct tfl_tensor *x = sg->op[i].n_out ? &sg->tensor[sg->op[i].out[0]] : NULL;
		int rank = x ? x->rank : 0;
		text_printf(t, "%d,", i);
		put_value(t, tfl_op_label(&sg->op[i]));
		text_printf(t, ",1,1,%d,%d,%d,\"%d\"\n", rank > 1 ? x->dim[rank - 2] : 1,
			    rank > 2 ? x->dim[rank - 3] : 1, rank ? x->dim[rank - 1] : 1, i);
	}
	end_table(t);

	begin_table(t, "optimised", "\"id\",\"source_id\",\"operator\",\"kernel_w\",\"kernel_h\","
				    "\"ofm_w\",\"ofm_h\",\"ofm_d\"");
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		text_printf(t, "%zu,%d,", i, source_of(op));
		put_value(t, op_names[op->kind]);
		text_printf(t, ",%d,%d,%d,%d,%d\n", op->kernel.x, op->kernel.y, op->ofm.shape.w,
			    op->ofm.shape.h, op->ofm.shape.c);
	}
	end_table(t);
	begin_table(t, "group", "\"id\",\"group_id\"");
	for (size_t i = 0; i < g->n_ops; i++)
		text_printf(t, "%zu,%zu\n", i, i);
	end_table(t);
	begin_table(t, "perf", "\"id\",\"source_id\",\"operator\",\"name\"");
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		text_printf(t, "%zu,%d,", i, source_of(op));
		put_value(t, op_names[op->kind]);
		text_putc(t, ',');
		put_value(t, op->name ? op->name : "");
		text_putc(t, '\n');
	}
	end_table(t);

	int n = 0;
	begin_table(t, "queue", "\"offset\",\"cmdstream_id\",\"optimised_id\",\"scheduled_id\"");
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct emit_words *w = &c->stream[i];
		for (size_t k = 0; k < w->n_marks; k++) {
			const struct g_op *op = w->mark[k].step ? w->mark[k].step->op : NULL;
			if (op)
				text_printf(t, "%zu,%d,%d,%d\n", 4 * w->mark[k].at, n,
					    (int)op->rec.index, (int)op->rec.index);
		}
		n += w->n_marks > 0;
	}
	end_table(t);
	begin_table(t, "cmdstream", "\"id\",\"file_offset\"");
	for (int i = 0; i < n; i++)
		text_printf(t, "%d,0\n", i);
	end_table(t);
	text_puts(t, "</debug>\n");
}
