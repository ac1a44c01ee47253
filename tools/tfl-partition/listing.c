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
put_integer(struct text *t, const char *name, int kind, int64_t v)
{
	static const char *const activations[] = { "None", "'Relu'", "'ReluN1To1'",
						   "'Relu6'", "'Tanh'", "'SignBit'" };
	static const char *const paddings[] = { "'SAME'", "'VALID'" };
	if (kind == FB_BOOL)
		text_puts(t, v ? "True" : "False");
	else if (!strcmp(name, "fused_activation_function") && v >= 0 &&
		 v < (int64_t)ARRAY_LEN(activations))
		text_puts(t, activations[v]);
	else if (!strcmp(name, "padding") && v >= 0 &&
		 v < (int64_t)ARRAY_LEN(paddings))
		text_puts(t, paddings[v]);
	else
		text_i64(t, v);
}

static void
put_option(struct text *t, struct fb_ref r, int slot)
{
	const struct fb_field *f = &r.table->slot[slot];
	text_printf(t, ", '%s': ", f->name);
	if (f->kind == FB_F32 || f->kind == FB_F64)
		text_repr(t, fb_float(r, slot));
	else if (f->kind > FB_NONE && f->kind < FB_F32)
		put_integer(t, f->name, f->kind, fb_int(r, slot));
	else if (f->kind != FB_VEC + FB_I32)
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

static void
put_options(struct text *t, const struct tfl_op *op)
{
	int order[MAX_SLOTS], n = 0;
	text_puts(t, "{'attribute_read_error': []");
	for (int i = 0; op->options.buf && op->options.table &&
			i < op->options.table->n_slots && i < MAX_SLOTS; i++) {
		const struct fb_field *slot = op->options.table->slot;
		if (slot[i].kind == FB_NONE || !slot[i].name)
			continue;
		int at = n++;
		for (; at > 0 && stands_before(&slot[i], &slot[order[at - 1]]); at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	for (int i = 0; i < n; i++)
		put_option(t, op->options, order[i]);
	text_putc(t, '}');
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
		text_printf(t, "%3d: %-*s - ", i, width, camel_label(p, op));
		put_options(t, op);
		text_printf(t, " - %s\n", part_name(p, op));
	}
}
