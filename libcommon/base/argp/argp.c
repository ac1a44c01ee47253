/* SPDX-License-Identifier: Apache-2.0 */
/* Options and operands of a well-formed command line, as glibc's argp takes
 * them. */
#include "argp.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int argp_err_exit_status = 64;

enum { MAX_CHILDREN = ARGP_MAX_TABLES };

/* a table of options; its parser gets these options and the operands */
struct table {
	const struct argp *argp;
	void *input;
	void *child_inputs[MAX_CHILDREN];
	unsigned taken; /* number of operands */
};

struct parser {
	struct argp_state state;
	struct table table[ARGP_MAX_TABLES];
	int n;
	char **operand;
	int n_operands;
	bool only_operands; /* "--" was seen */
};

/* an option of a table; an alias has the argument and flags of the option before it */
struct found {
	int table; /* -1: none */
	int key;
	const char *name, *arg;
	int flags;
};

/* ---- tables ---------------------------------------------------------------- */

static bool
is_end(const struct argp_option *o)
{
	return !o->name && !o->key && !o->doc && !o->group;
}

/* Returns row i of table t as an option; key 0: a heading, or the final row. */
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

/*
 * finds an option by its name, or else the first option whose name begins with these n
 * bytes
 */
static struct found
find_name(const struct parser *p, const char *s, size_t n)
{
	struct found first = { .table = -1 };
	for (int t = 0; t < p->n; t++)
		for (int i = 0, k = count_rows(p->table[t].argp); i < k; i++) {
			struct found f = row(p, t, i);
			if (!(f.name && !strncmp(f.name, s, n)))
				continue;
			if (!f.name[n])
				return f;
			if (first.table < 0)
				first = f;
		}
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

static void
list_tables(struct argp_tables *t, const struct argp *argp)
{
	t->v[t->n++] = argp;
	for (int i = 0; argp->children && argp->children[i].argp; i++)
		list_tables(t, argp->children[i].argp);
}

void
argp_state_help(const struct argp_state *state, FILE *f, unsigned flags)
{
	struct argp_tables t = {0};
	list_tables(&t, state->root_argp);
	if (flags & ARGP_HELP_LONG)
		argp_print_help(&t, state->name, f);
	else
		argp_print_usage(&t, state->name, f);
	if (flags & ARGP_HELP_EXIT_OK)
		exit(0);
}

/* Adds argp's table and, recursively, those of its children with their inputs. */
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
take_option(struct parser *p, const struct found *f, char *arg)
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
	if (f.table < 0)
		exit(argp_err_exit_status);
	if (!arg && f.arg && !(f.flags & OPTION_ARG_OPTIONAL))
		arg = p->state.argv[++*i];
	take_option(p, &f, arg);
}

static void
take_letters(struct parser *p, int *i, char *s)
{
	for (; *s; s++) {
		char *arg = NULL;
		struct found f = find_letter(p, *s);
		if (f.table < 0)
			exit(argp_err_exit_status);
		if (f.arg && (s[1] || f.flags & OPTION_ARG_OPTIONAL)) {
			take_option(p, &f, s[1] ? s + 1 : NULL);
			return;
		}
		if (f.arg)
			arg = p->state.argv[++*i];
		take_option(p, &f, arg);
	}
}

/* Parses all options first, also those behind operands. */
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
	(void)fprintf(stderr, "%s: Too many arguments\n", p->state.name);
	exit(argp_err_exit_status);
}

error_t
argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags, int *index,
	   void *input)
{
	struct parser p = { .state = { .root_argp = argp, .argc = argc, .argv = argv } };
	const char *slash = strrchr(argv[0], '/');
	(void)flags, (void)index;
	p.state.name = slash ? slash + 1 : argv[0];
	p.operand = calloc((size_t)argc + 1, sizeof(*p.operand));
	if (!p.operand)
		return ENOMEM;
	add_table(&p, argp, input);
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
