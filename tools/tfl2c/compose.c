/* SPDX-License-Identifier: Apache-2.0 */
/* Assembles an output file, by format and dialect. */
#include "base/hash.h"
#include "tfl2c.h"

#include <inttypes.h>
#include <string.h>

enum { XXD_WIDTH = 12, MLEK_WIDTH = 32 };

static void
put_banner(struct text *t, const struct job *j)
{
	text_printf(t, "/* %s: made by tfl2c; do not edit.  Model: %zu bytes, "
		       "xxh3 %016" PRIx64 " */\n",
		    j->o->name, j->m->file.n,
		    hash_xxh3(j->m->file.p, j->m->file.n));
}

static void
put_guard(struct text *t, const struct job *j, const char *suffix)
{
	const char *guard = j->o->guard;
	text_printf(t, "#ifndef %s%s%s\n", guard ? guard : j->prefix,
		    guard ? "" : "_H", suffix);
	text_printf(t, "#define %s%s%s\n\n", guard ? guard : j->prefix,
		    guard ? "" : "_H", suffix);
}

/* each name of "a::b" in turn; the options have been checked */
static void
put_namespaces(struct text *t, const struct job *j, bool open)
{
	const char *p = j->o->namespaces;
	while (p && *p) {
		size_t n = strcspn(p, ":");
		text_puts(t, open ? "namespace " : "} /* namespace ");
		text_put(t, p, n);
		text_puts(t, open ? " {\n" : " */\n");
		p += n + strspn(p + n, ":");
	}
}

/*
 * Prints "__attribute__((section("x"), aligned(16)))".  A section macro is used by its
 * name; an SDK's attribute macro is printed before the brackets.
 */
static void
put_attribute(struct text *t, const struct options *o)
{
	const char *macro = o->section_macro;
	bool whole = macro && strchr(macro, '(');
	if (whole)
		text_printf(t, "%s ", macro);
	text_puts(t, "__attribute__((");
	if (macro && !whole)
		text_printf(t, "section(%s), ", macro);
	if (o->section)
		text_printf(t, "section(\"%s\"), ", o->section);
	text_printf(t, "aligned(%d)))", o->align);
}

/* The CMSIS examples' linker scripts expect the model in this section. */
static const char *
section_of(const struct options *o)
{
	bool is_free = o->dialect == DIALECT_CMSIS && !o->section_macro;
	return !o->section && is_free ? "ethos_model" : o->section;
}

/* An assembler can't give a section and an object the same name. */
static bool
clashes(const struct options *o)
{
	const char *section = section_of(o);
	return section && !strcmp(section, o->name);
}

static void
put_array_head(struct text *t, const struct options *o, const char *linkage)
{
	struct options with = *o;
	with.section = section_of(o);
	if (clashes(o))
		put_label_macro(t);
	text_printf(t, "%sconst unsigned char %s[] ", linkage, o->name);
	if (clashes(o))
		text_printf(t, "ETHOS_LABEL(\"%s_bytes\") ", o->name);
	put_attribute(t, &with);
}

/*
 * linkage: "static" on a line of its own in a header, which several files may include; else "".
 * The line of the array is that of the guides of the SDKs.
 */
static void
put_array(struct text *t, const struct job *j, const char *linkage)
{
	put_array_head(t, j->o, linkage);
	text_puts(t, " = {\n");
	put_bytes(t, j->m->file, XXD_WIDTH, "  ");
	text_printf(t, "};\n%sconst unsigned int %s_len = %zu;\n", linkage, j->o->name,
		    j->m->file.n);
}

static void
put_declarations(struct text *t, const struct job *j)
{
	bool c = !j->o->namespaces;
	if (clashes(j->o))
		put_label_macro(t);
	if (c)
		text_puts(t, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
	text_printf(t, "extern const unsigned char %s[]", j->o->name);
	if (clashes(j->o))
		text_printf(t, " ETHOS_LABEL(\"%s_bytes\")", j->o->name);
	text_printf(t, ";\nextern const unsigned int %s_len;\n", j->o->name);
	if (c)
		text_puts(t, "#ifdef __cplusplus\n}\n#endif\n");
}

static void
put_macros(struct text *t, const struct job *j)
{
	text_putc(t, '\n');
	put_define(t, j, "BYTES", (int64_t)j->m->file.n);
	put_memory_macros(t, j);
	put_npu_macros(t, j);
	put_interface(t, j);
	put_state(t, j);
	put_invoke(t, j);
}

/* macros for a sequence of calls; without an interpreter there is no arena for one */
static void
put_call_macros(struct text *t, const struct job *j)
{
	text_putc(t, '\n');
	put_define(t, j, "BYTES", (int64_t)j->m->file.n);
	put_npu_macros(t, j);
	put_interface(t, j);
	put_call_declarations(t, j);
}

/* a header for the caller of the sequence */
static void
compose_call_header(struct text *t, const struct job *j)
{
	put_banner(t, j);
	put_guard(t, j, "");
	text_puts(t, "#include <stdint.h>\n");
	put_call_macros(t, j);
	text_puts(t, "\n#endif\n");
}

/* The file has the model's bytes, as it has offsets into them. */
static void
compose_call(struct text *t, const struct job *j)
{
	put_banner(t, j);
	text_puts(t, "#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n");
	if (j->call.has[STEP_NPU])
		text_puts(t, "#include \"ethosu_driver.h\"\n\n");
	put_array_head(t, j->o, "static ");
	text_puts(t, " = {\n");
	put_bytes(t, j->m->file, XXD_WIDTH, "  ");
	text_puts(t, "};\n");
	put_call_macros(t, j);
	put_call_function(t, j);
}

static void
compose_header(struct text *t, const struct job *j)
{
	put_banner(t, j);
	put_guard(t, j, "");
	text_puts(t, "#include <stdint.h>\n\n");
	if (j->labels.wanted)
		text_puts(t, "#include <string>\n#include <vector>\n\n");
	put_namespaces(t, j, true);
	if (j->labels.wanted)
		put_labels_declaration(t);
	if (j->o->declarations)
		put_declarations(t, j);
	else
		put_array(t, j, "static\n");
	put_macros(t, j);
	if (j->o->resolver && !j->o->resolver_file)
		put_resolver(t, j);
	put_namespaces(t, j, false);
	text_puts(t, "\n#endif\n");
}

/*
 * A C++ file like those of the evaluation kit, whose BufAttributes.hpp defines the attribute.
 * Macros come first, as they are valid in any namespace.
 */
static void
compose_mlek(struct text *t, const struct job *j)
{
	put_banner(t, j);
	text_puts(t, "#include <stddef.h>\n#include <stdint.h>\n");
	text_puts(t, j->labels.wanted ? "#include <string>\n#include <vector>\n\n" : "\n");
	text_puts(t, "#ifdef __has_include\n"
		     "#if __has_include(\"BufAttributes.hpp\")\n"
		     "#include \"BufAttributes.hpp\"\n"
		     "#endif\n#endif\n"
		     "#ifndef MODEL_TFLITE_ATTRIBUTE\n"
		     "#define MODEL_TFLITE_ATTRIBUTE ");
	struct options o = *j->o;
	if (!o.section && !o.section_macro)
		o.section = "nn_model";
	put_attribute(t, &o);
	text_puts(t, "\n#endif\n");
	if (j->labels.wanted)
		text_puts(t, "#ifndef LABELS_ATTRIBUTE\n"
			     "#define LABELS_ATTRIBUTE __attribute__((section(\"labels\"), "
			     "aligned(16)))\n#endif\n");
	text_putc(t, '\n');
	put_namespaces(t, j, true);
	/* declarations of the use case; each expression may end with ';' */
	for (int i = 0; i < o.n_expressions; i++) {
		const char *s = o.expression[i];
		size_t n = strlen(s);
		text_printf(t, "%s%s\n", s, n && s[n - 1] == ';' ? "" : ";");
	}
	text_puts(t, o.n_expressions ? "\n" : "");
	text_printf(t, "static const uint8_t %s[] MODEL_TFLITE_ATTRIBUTE = {\n", o.name);
	put_bytes(t, j->m->file, MLEK_WIDTH, "    ");
	text_printf(t, "};\n\n"
		       "extern const uint8_t *GetModelPointer();\n"
		       "extern size_t GetModelLen();\n\n"
		       "const uint8_t *GetModelPointer()\n{\n"
		       "    return %s;\n}\n\n"
		       "size_t GetModelLen()\n{\n"
		       "    return sizeof(%s);\n}\n",
		    o.name, o.name);
	if (j->labels.wanted)
		put_labels(t, j);
	put_macros(t, j);
	if (j->o->resolver && !j->o->resolver_file)
		put_resolver(t, j);
	put_namespaces(t, j, false);
}

static void
compose_source(struct text *t, const struct job *j)
{
	put_banner(t, j);
	put_namespaces(t, j, true);
	/* declared first, the array has external linkage in C++, too */
	put_declarations(t, j);
	text_putc(t, '\n');
	put_array(t, j, "");
	put_namespaces(t, j, false);
}

/* as xxd -i, byte for byte, with a chosen name */
static void
compose_xxd(struct text *t, const struct job *j)
{
	text_printf(t, "unsigned char %s[] = {\n", j->o->name);
	put_bytes(t, j->m->file, XXD_WIDTH, "  ");
	text_printf(t, "};\nunsigned int %s_len = %zu;\n", j->o->name,
		    j->m->file.n);
}

/* types have '%', because '@' starts a comment on Arm */
static void
compose_asm(struct text *t, const struct job *j)
{
	const char *n = j->o->name, *section = section_of(j->o);
	const char *symbol = clashes(j->o) ? "_bytes" : "";
	put_banner(t, j);
	text_printf(t, "\t.section %s,\"a\",%%progbits\n"
		       "\t.balign %d\n\t.global %s%s\n\t.type %s%s, %%object\n"
		       "%s%s:\n\t.incbin ",
		    section ? section : ".rodata", j->o->align, n, symbol, n, symbol,
		    n, symbol);
	text_c_string(t, j->o->incbin);
	text_printf(t, "\n.L%s_end:\n\t.size %s%s, .L%s_end - %s%s\n"
		       "\t.if .L%s_end - %s%s != %zu\n"
		       "\t.error \"the file is not the model of %zu bytes that "
		       "tfl2c saw\"\n\t.endif\n",
		    n, n, symbol, n, n, symbol, n, n, symbol, j->m->file.n,
		    j->m->file.n);
	text_printf(t, "\t.balign 4\n\t.global %s_len\n"
		       "\t.type %s_len, %%object\n\t.size %s_len, 4\n"
		       "%s_len:\n\t.4byte %zu\n"
		       "#if defined(__linux__)\n"
		       "\t.section .note.GNU-stack,\"\",%%progbits\n"
		       "#endif\n",
		    n, n, n, n, j->m->file.n);
}

void
compose_resolver(struct text *t, const struct job *j)
{
	put_banner(t, j);
	put_guard(t, j, "_OPERATORS");
	put_namespaces(t, j, true);
	put_resolver(t, j);
	put_namespaces(t, j, false);
	text_puts(t, "\n#endif\n");
}

void
compose(struct text *t, const struct job *j)
{
	if (j->o->format == FORMAT_ASM)
		compose_asm(t, j);
	else if (j->o->format == FORMAT_CALL && j->o->declarations)
		compose_call_header(t, j);
	else if (j->o->format == FORMAT_CALL)
		compose_call(t, j);
	else if (j->o->dialect == DIALECT_XXD)
		compose_xxd(t, j);
	else if (j->o->format == FORMAT_SOURCE)
		compose_source(t, j);
	else if (j->o->dialect == DIALECT_MLEK && !j->o->declarations)
		compose_mlek(t, j);
	else
		compose_header(t, j);
}
