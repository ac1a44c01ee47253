/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of schema/operators.def are complete: a filled column needs others, so that an
 * operator is not forgotten in one program.
 */
#include "base/diag.h"

#include <stdio.h>
#include <string.h>

enum column { KERNEL, REAL, ADDER, CPU, FAMILY, JOINS, TYPES, INPUTS, ZEROS, PLACE, COLUMNS };

static const char *const titles[COLUMNS] = { "kernel", "real",	"adder", "cpu",
					     "family", "joins", "types", "inputs",
					     "zeros", "place" };

static const struct row {
	const char *name;
	const char *cell[COLUMNS];
} rows[] = {
#define OPERATOR(name, kernel, real, adder, cpu, family, joins, types, rank, inputs, memory, \
		 zeros, place)                                                                \
	{ #name, { #kernel, #real, #adder, #cpu, #family, #joins, #types, #inputs, #zeros,    \
		   #place } },
#include "operators.def"
#undef OPERATOR
};

static const struct need {
	enum column filled, needs;
	const char *why;
} needs[] = {
	{ KERNEL, REAL, "npu-eval would take the operator for exact" },
	{ KERNEL, CPU, "the operator would cost nothing on the CPU" },
	{ KERNEL, ADDER, "the firmware would not register the operator" },
	{ KERNEL, JOINS, "tfl-partition would not join chains of the operator" },
	{ KERNEL, INPUTS, "the kernel would read inputs that are absent" },
	{ FAMILY, KERNEL, "nothing could prove the lowering" },
	{ FAMILY, TYPES, "the check would refuse every tensor" },
	{ TYPES, FAMILY, "no check would read the types" },
	{ FAMILY, ZEROS, "zero points of 16 bits would reach accelerators that ignore them" },
	{ FAMILY, PLACE, "results would be copied to their place" },
	{ REAL, KERNEL, "npu-eval runs both" },
};

static bool
is_filled(const struct row *r, enum column c)
{
	/* npu-sim checks the inputs of the operators that it runs itself */
	const char *absent = c == INPUTS && strcmp(r->cell[KERNEL], "sim") != 0 ? "UNCHECKED"
										: "none";
	return strcmp(r->cell[c], absent) != 0;
}

static int
report(const struct row *r, enum column c, const char *why)
{
	fprintf(stderr, "schema/operators.def: %s has %s `%s`: %s\n", r->name, titles[c],
		r->cell[c], why);
	return 1;
}

static int
check_row(const struct row *r)
{
	int wrong = 0, filled = 0;
	for (int c = 0; c < COLUMNS; c++)
		filled += is_filled(r, (enum column)c);
	for (size_t i = 0; i < ARRAY_LEN(needs); i++)
		if (is_filled(r, needs[i].filled) && !is_filled(r, needs[i].needs))
			wrong += report(r, needs[i].needs, needs[i].why);
	if (!strcmp(r->cell[JOINS], "table") && !is_filled(r, FAMILY))
		wrong += report(r, JOINS, "there is no family that makes the table");
	return filled ? wrong : report(r, KERNEL, "no column of the row is filled");
}

/* a second row would replace the first one in every program */
static int
check_name(size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(rows[k].name, rows[i].name))
			return report(&rows[i], KERNEL, "there are two rows");
	return 0;
}

int
main(void)
{
	int wrong = 0;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		wrong += check_row(&rows[i]) + check_name(i);
	return wrong > 0;
}
