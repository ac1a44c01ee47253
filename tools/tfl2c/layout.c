/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs and outputs that are not dense in memory: nputools-ends(5). */
#include "tfl2c.h"

#include <ctype.h>

static void
put_value(struct text *t, const struct job *j, const char *io, const char *what, int64_t v)
{
	text_printf(t, "#define %s_%s_%s %lld\n", j->prefix, io, what, (long long)v);
}

void
put_layout(struct text *t, const struct job *j, const char *io, const struct border_tensor *x)
{
	if (!x->has_record)
		return;
	text_printf(t, "/* the layout in memory is %s; the shape that the network "
		       "uses: */\n",
		    border_layout_names[x->layout]);
	text_printf(t, "#define %s_%s_LAYOUT_", j->prefix, io);
	const char *s = border_layout_names[x->layout];
	for (; *s; s++)
		text_putc(t, (char)toupper((unsigned char)*s));
	text_printf(t, " 1\n#define %s_%s_NETWORK_SHAPE { ", j->prefix, io);
	for (int i = 0; i < x->rank; i++)
		text_printf(t, "%s%d", i ? ", " : "", x->dim[i]);
	text_puts(t, " }\n");
	if (x->row_stride)
		put_value(t, j, io, "ROW_STRIDE", x->row_stride);
	if (x->pixel_stride)
		put_value(t, j, io, "PIXEL_STRIDE", x->pixel_stride);
	text_puts(t, "/* byte offset of element y, x, c */\nstatic inline uint32_t\n");
	text_printf(t, "%s_", j->o->name);
	for (const char *p = io; *p; p++)
		text_putc(t, (char)tolower((unsigned char)*p));
	struct border_shape shape = border_shape(x);
	long long element = tfl_type_bytes(x->type);
	long long row = shape.h > 1 ? border_offset(x, 0, 1, 0, 0) : 0;
	long long pixel = shape.w > 1 ? border_offset(x, 0, 0, 1, 0) : 0;
	text_puts(t, "_offset(uint32_t y, uint32_t x, uint32_t c)\n{\n\treturn ");
	text_printf(t, "y * %lldu + x * %lldu + ", row, pixel);
	if (x->layout == BORDER_NHWC)
		text_printf(t, "c * %lldu", element);
	else if (x->layout == BORDER_NCHW)
		text_printf(t, "c * %lldu", element * shape.h * shape.w);
	else
		text_printf(t, "c / 16u * %lldu + c %% 16u * %lldu", 16 * element * shape.w, element);
	text_puts(t, ";\n}\n");
}
