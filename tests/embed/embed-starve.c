/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libnputools with too little memory (tests/libnputools.bats).
 * usage: embed-starve MODEL PART
 * Compiles MODEL with limits of the address space that rise from nothing.  Each call fails
 * with "out of memory" or gives the bytes of a call without a limit.  Prints the numbers of
 * both.
 */
#include "nputools.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MAX_MODEL = 1 << 20, STEPS = 100, FAR = 1 << 16 };

static unsigned char model[MAX_MODEL];

/* bytes of address space that this process has now */
static size_t
used(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	int n = f ? fscanf(f, "%lu", &pages) : 0;
	if (f)
		(void)fclose(f);
	return n == 1 ? pages * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

static int
compile(const struct nputools_options *o, size_t n, size_t more, struct nputools_output *out)
{
	struct rlimit all, less;
	(void)getrlimit(RLIMIT_AS, &all);
	less = all;
	less.rlim_cur = used() + more;
	(void)setrlimit(RLIMIT_AS, &less);
	int status = nputools_compile(o, model, n, out);
	(void)setrlimit(RLIMIT_AS, &all);
	return status;
}

int
main(int argc, char **argv)
{
	struct nputools_options o = { .size = sizeof(o), .part = argc > 2 ? argv[2] : NULL };
	struct nputools_output want, have;
	int failed = 0, done = 0;
	FILE *f = argc > 2 ? fopen(argv[1], "rb") : NULL;
	if (!f)
		return 2;
	size_t n = fread(model, 1, sizeof(model), f);
	(void)fclose(f);
	if (nputools_compile(&o, model, n, &want))
		return 2;
	for (int i = 0; i < STEPS; i++) {
		int status = compile(&o, n, (size_t)i * FAR, &have);
		if (status == NPUTOOLS_TROUBLE && strstr(have.messages, "error: out of memory\n"))
			failed++;
		else if (status == NPUTOOLS_YES && have.size == want.size &&
			 !memcmp(have.data, want.data, want.size))
			done++;
		nputools_free(&have);
	}
	nputools_free(&want);
	printf("%d failed, %d done\n", failed, done);
	return failed + done != STEPS || !failed || !done;
}
