/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/table.h"

#include "base/arena.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *
table_name(struct arena *a, const char *name, char letter, int id)
{
	return name ? text_plain(a, name) : arena_printf(a, "%c%d", letter, id);
}

/* C's %#x prints 0 without its prefix */
static void
put_hex(struct text *t, int64_t v)
{
	char buf[24];
	(void)snprintf(buf, sizeof(buf), "0x%" PRIx64, (uint64_t)v);
	text_printf(t, "%10s", buf);
}

void
table_head(struct text *t, const char *area, const char *set,
	   const char *method, const char *subgraph)
{
	text_putc(t, '\n');
	for (int i = 0; i < 80; i++)
		text_putc(t, '#');
	text_printf(t, "\nTensor Allocation for mem_area %s, of mem_type_set (%s), "
		    "using allocator %s, in %s subgraph:\n", area, set, method,
		    subgraph);
	text_puts(t, "Start Time -   End Time: Start Addr -   End Addr: "
		     "Tensor Size: Memory Usage: Purpose     : Name\n");
}

void
table_put(struct text *t, const struct table_row *r)
{
	text_printf(t, "%10" PRId64 " - %10" PRId64 ": ", r->lo, r->hi);
	put_hex(t, r->at);
	text_puts(t, " - ");
	put_hex(t, r->at + r->bytes);
	text_printf(t, ": %11" PRId64 ": %12" PRId64 ": %-12s: %s\n", r->bytes,
		    r->usage, r->purpose, r->name);
}

static void
put_bytes(struct text *t, const char *what, int64_t n)
{
	text_printf(t, "%s%*" PRId64 " (", what, 39 - (int)strlen(what), n);
	put_hex(t, n);
	text_printf(t, ") Bytes %8.2f KiB\n", (double)n / 1024);
}

void
table_end(struct text *t, int64_t tensors, int64_t used)
{
	int64_t over = used - tensors;
	put_bytes(t, "Allocation Peak Tensor Size:", tensors);
	put_bytes(t, "Allocation Peak Memory Usage:", used);
	text_printf(t, "Allocation Overhead:%19" PRId64 " Bytes (%.2f %%)\n", over,
		    tensors ? 100.0 * (double)over / (double)tensors : 0.0);
}
