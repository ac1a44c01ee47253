/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the operators with their options, one per line, in the layout of the
 * reference's "Operators of Subgraph".  Names and types of the options come from
 * the schema.
 */
#include "part.h"

#include "base/little_endian.h"

#include <ctype.h>
#include <string.h>

enum { MAX_SLOTS = 64 };

/* FULLY_CONNECTED becomes FullyConnected, CONV_2D Conv2D; custom names are unchanged */
static const char *
camel_label(const struct part *p, const struct tfl_op *op)
{
	const char *s = tfl_op_label(op);
	if (op->code == TFL_CUSTOM)
		return s;
	char *out = arena_alloc(p->a, strlen(s) + 1, 1), *o = out;
	bool upper = true;
	for (; *s; s++) {
		if (*s == '_') {
			upper = true;
			continue;
		}
		*o++ = upper ? *s : (char)tolower((unsigned char)*s);
		upper = isdigit((unsigned char)*s) != 0;
	}
	return out;
}

static void
put_option(struct text *t, struct fb_ref r, int slot)
{
	static const char *const activations[] = { "None", "'Relu'", "'ReluN1To1'",
						   "'Relu6'", "'Tanh'", "'SignBit'" };
	static const char *const paddings[] = { "'SAME'", "'VALID'" };
	const struct fb_field *f = &r.table->slot[slot];
	text_printf(t, ", '%s': ", f->name);
	if (f->kind == FB_F32 || f->kind == FB_F64)
		text_repr(t, fb_float(r, slot));
	else if (f->kind > FB_NONE && f->kind < FB_F32) {
		int64_t v = fb_int(r, slot);
		if (f->kind == FB_BOOL)
			text_puts(t, v ? "True" : "False");
		else if (!strcmp(f->name, "fused_activation_function") && v >= 0 &&
			 v < (int64_t)ARRAY_LEN(activations))
			text_puts(t, activations[v]);
		else if (!strcmp(f->name, "padding") && v >= 0 &&
			 v < (int64_t)ARRAY_LEN(paddings))
			text_puts(t, paddings[v]);
		else
			text_i64(t, v);
	} else if (f->kind != FB_VEC + FB_I32)
		text_puts(t, "...");
	else {
		struct fb_vec v = fb_vector(r, slot);
		text_putc(t, '[');
		for (uint32_t i = 0; i < v.n; i++) {
			text_puts(t, i ? ", " : "");
			text_i64(t, (int32_t)load_le32(v.p + 4 * (size_t)i));
		}
		text_putc(t, ']');
	}
}

/* alphabetical, except that quantized_bias_type, the newest option, is last */
static bool
stands_before(const struct fb_field *a, const struct fb_field *b)
{
	bool last_a = !strcmp(a->name, "quantized_bias_type");
	bool last_b = !strcmp(b->name, "quantized_bias_type");
	return last_a != last_b ? last_b : strcmp(a->name, b->name) < 0;
}

void
print_operators(const struct part *p, struct text *t)
{
	int width = 0;
	for (int i = 0; i < p->sg->n_ops; i++) {
		int n = (int)strlen(camel_label(p, &p->sg->op[i]));
		width = n > width ? n : width;
	}
	text_printf(t, "Operators of Subgraph %s\n",
		    p->sg->name ? text_plain(p->a, p->sg->name) : "");
	for (int i = 0; i < p->sg->n_ops; i++) {
		const struct tfl_op *op = &p->sg->op[i];
		const struct fb_table *table = op->options.buf ? op->options.table : NULL;
		int order[MAX_SLOTS], n = 0;
		text_printf(t, "%3d: %-*s - ", i, width, camel_label(p, op));
		text_puts(t, "{'attribute_read_error': []");
		for (int k = 0; table && k < table->n_slots && k < MAX_SLOTS; k++) {
			const struct fb_field *slot = table->slot;
			if (slot[k].kind == FB_NONE || !slot[k].name)
				continue;
			int at = n++;
			for (; at > 0 && stands_before(&slot[k], &slot[order[at - 1]]); at--)
				order[at] = order[at - 1];
			order[at] = k;
		}
		for (int k = 0; k < n; k++)
			put_option(t, op->options, order[k]);
		text_printf(t, "} - %s\n", part_name(p, op));
	}
}
