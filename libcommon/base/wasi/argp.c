/* SPDX-License-Identifier: Apache-2.0 */
/* Options and operands of a command line, as glibc's argp takes them. */
#include "argp.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void (*argp_program_version_hook)(FILE *f, struct argp_state *state);
int argp_err_exit_status = 64;

enum { KEY_USAGE = -3, MAX_CHILDREN = ARGP_MAX_TABLES };

static const struct argp_option standard_options[] = {
	{ "help", '?', NULL, 0, "Give this help list", -1 },
	{ "usage", KEY_USAGE, NULL, 0, "Give a short usage message", 0 },
	{ "version", 'V', NULL, 0, "Print program version", -1 },
	{ 0 },
};

/* a table of options, whose parser gets them and the operands */
struct table {
	const struct argp *argp;
	void *input;
	void *child_inputs[MAX_CHILDREN];
	unsigned taken; /* operands */
};

struct parser {
	struct argp_state state;
	struct table table[ARGP_MAX_TABLES];
	int n;
	char **operand;
	int n_operands;
	bool only_operands; /* "--" was seen */
};

/* an option of a table, with what an alias has of the option before it */
struct found {
	int table; /* -1: none */
	int key;
	const char *name, *arg;
	int flags;
};

/* ---- messages -------------------------------------------------------------- */

static _Noreturn void
point_to_help(const char *name)
{
	(void)fprintf(stderr, "Try `%s --help' or `%s --usage' for more information.\n",
		      name, name);
	exit(argp_err_exit_status);
}

void
argp_error(const struct argp_state *state, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	(void)fprintf(stderr, "%s: ", state->name);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fputc('\n', stderr);
	point_to_help(state->name);
}

void
argp_failure(const struct argp_state *state, int status, int errnum, const char *fmt,
	     ...)
{
	va_list ap;
	va_start(ap, fmt);
	(void)fprintf(stderr, "%s: ", state->name);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	if (errnum)
		(void)fprintf(stderr, ": %s", strerror(errnum));
	(void)fputc('\n', stderr);
	if (status)
		exit(status);
}

/* of an option that is none, with the whole of argv[0] as getopt_long() has it */
static _Noreturn void
bad_option(const struct parser *p, const char *before, const char *option,
	   const char *behind)
{
	(void)fprintf(stderr, "%s: %s%s%s\n", p->state.argv[0], before, option, behind);
	point_to_help(p->state.name);
}

/* ---- tables ---------------------------------------------------------------- */

static bool
is_end(const struct argp_option *o)
{
	return !o->name && !o->key && !o->doc && !o->group;
}

/* row i of the table t as an option; key 0: it is a heading, or the end */
static struct found
row(const struct parser *p, int t, int i)
{
	const struct argp_option *first = p->table[t].argp->options, *o = &first[i];
	const struct argp_option *real = o;
	while (real > first && real->flags & OPTION_ALIAS)
		real--;
	return (struct found){ .table = t, .key = o->key ? o->key : real->key,
			       .name = o->name, .arg = real->arg,
			       .flags = real->flags };
}

static int
count_rows(const struct argp *a)
{
	int n = 0;
	while (a->options && !is_end(&a->options[n]))
		n++;
	return n;
}

static struct found
find_letter(const struct parser *p, char letter)
{
	for (int t = 0; t < p->n; t++)
		for (int i = 0, n = count_rows(p->table[t].argp); i < n; i++)
			if (p->table[t].argp->options[i].key == letter)
				return row(p, t, i);
	return (struct found){ .table = -1 };
}

static bool
begins(const struct found *f, const char *s, size_t n)
{
	return f->name && !strncmp(f->name, s, n);
}

static _Noreturn void
ambiguous(const struct parser *p, const char *s, size_t n)
{
	(void)fprintf(stderr, "%s: option '--%s' is ambiguous; possibilities:",
		      p->state.argv[0], s);
	for (int t = 0; t < p->n; t++)
		for (int i = 0, k = count_rows(p->table[t].argp); i < k; i++) {
			struct found f = row(p, t, i);
			if (begins(&f, s, n))
				(void)fprintf(stderr, " '--%s'", f.name);
		}
	(void)fputc('\n', stderr);
	point_to_help(p->state.name);
}

/* by the whole name, or by as much of it as one option alone begins with */
static struct found
find_name(const struct parser *p, const char *s, size_t n)
{
	struct found first = { .table = -1 };
	bool several = false;
	for (int t = 0; t < p->n; t++)
		for (int i = 0, k = count_rows(p->table[t].argp); i < k; i++) {
			struct found f = row(p, t, i);
			if (!begins(&f, s, n))
				continue;
			if (!f.name[n])
				return f;
			if (first.table < 0)
				first = f;
			else if (first.table != f.table || first.key != f.key)
				several = true;
		}
	if (several)
		ambiguous(p, s, n);
	return first;
}

/* ---- parsers --------------------------------------------------------------- */

static error_t
call(struct parser *p, int t, int key, char *arg)
{
	struct table *table = &p->table[t];
	if (!table->argp->parser)
		return ARGP_ERR_UNKNOWN;
	p->state.input = table->input;
	p->state.child_inputs = table->child_inputs;
	p->state.arg_num = table->taken;
	return table->argp->parser(key, arg, &p->state);
}

static error_t
parse_standard(int key, char *arg, struct argp_state *state)
{
	const struct parser *p = state->input;
	struct argp_tables t = { .n = p->n };
	(void)arg;
	for (int i = 0; i < p->n; i++)
		t.v[i] = p->table[i].argp;
	if (key == '?')
		argp_print_help(&t, state->name, stdout);
	else if (key == KEY_USAGE)
		argp_print_usage(&t, state->name, stdout);
	else if (key == 'V')
		argp_program_version_hook(stdout, state);
	else
		return ARGP_ERR_UNKNOWN;
	exit(0);
}

/* argp and its children, each with what its parent has for it */
static void
add_table(struct parser *p, const struct argp *argp, void *input)
{
	int t = p->n++;
	p->table[t] = (struct table){ .argp = argp, .input = input };
	(void)call(p, t, ARGP_KEY_INIT, NULL);
	for (int i = 0; argp->children && argp->children[i].argp; i++)
		add_table(p, argp->children[i].argp, p->table[t].child_inputs[i]);
}

static void
take(struct parser *p, const struct found *f, char *arg)
{
	error_t e = call(p, f->table, f->key, arg);
	if (e)
		exit(argp_err_exit_status);
}

static void
take_long(struct parser *p, int *i, char *s)
{
	char *equals = strchr(s, '='), *arg = equals ? equals + 1 : NULL;
	struct found f = find_name(p, s, equals ? (size_t)(equals - s) : strlen(s));
	if (f.table < 0) {
		if (equals)
			*equals = '\0';
		bad_option(p, "unrecognized option '--", s, "'");
	}
	if (arg && !f.arg)
		bad_option(p, "option '--", f.name, "' doesn't allow an argument");
	if (!arg && f.arg && !(f.flags & OPTION_ARG_OPTIONAL)) {
		if (*i + 1 >= p->state.argc)
			bad_option(p, "option '--", f.name, "' requires an argument");
		arg = p->state.argv[++*i];
	}
	take(p, &f, arg);
}

static void
take_letters(struct parser *p, int *i, char *s)
{
	for (; *s; s++) {
		char letter[2] = { *s, '\0' }, *arg = NULL;
		struct found f = find_letter(p, *s);
		if (f.table < 0)
			bad_option(p, "invalid option -- '", letter, "'");
		if (f.arg && (s[1] || f.flags & OPTION_ARG_OPTIONAL)) {
			take(p, &f, s[1] ? s + 1 : NULL);
			return;
		}
		if (f.arg && *i + 1 >= p->state.argc)
			bad_option(p, "option requires an argument -- '", letter, "'");
		if (f.arg)
			arg = p->state.argv[++*i];
		take(p, &f, arg);
	}
}

/* options first, wherever they stand */
static void
take_options(struct parser *p)
{
	for (int i = 1; i < p->state.argc; i++) {
		char *s = p->state.argv[i];
		if (p->only_operands || *s != '-' || !s[1])
			p->operand[p->n_operands++] = s;
		else if (!strcmp(s, "--"))
			p->only_operands = true;
		else if (s[1] == '-')
			take_long(p, &i, s + 2);
		else
			take_letters(p, &i, s + 1);
	}
}

static void
take_operand(struct parser *p, char *s)
{
	for (int t = 0; t < p->n; t++) {
		error_t e = call(p, t, ARGP_KEY_ARG, s);
		if (!e) {
			p->table[t].taken++;
			return;
		}
		if (e != ARGP_ERR_UNKNOWN)
			exit(argp_err_exit_status);
	}
	argp_error(&p->state, "Too many arguments");
}

error_t
argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags, int *index,
	   void *input)
{
	static const struct argp standard = { .options = standard_options,
					      .parser = parse_standard };
	struct parser p = { .state = { .root_argp = argp, .argc = argc, .argv = argv } };
	const char *slash = strrchr(argv[0], '/');
	(void)flags, (void)index;
	p.state.name = slash ? slash + 1 : argv[0];
	p.operand = calloc((size_t)argc + 1, sizeof(*p.operand));
	if (!p.operand)
		return ENOMEM;
	add_table(&p, argp, input);
	add_table(&p, &standard, &p);
	take_options(&p);
	for (int i = 0; i < p.n_operands; i++)
		take_operand(&p, p.operand[i]);
	for (int t = 0; t < p.n && !p.n_operands; t++)
		(void)call(&p, t, ARGP_KEY_NO_ARGS, NULL);
	for (int t = p.n; t-- > 0;)
		(void)call(&p, t, ARGP_KEY_END, NULL);
	for (int t = p.n; t-- > 0;)
		(void)call(&p, t, ARGP_KEY_SUCCESS, NULL);
	free(p.operand);
	return 0;
}
