/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: embed-options MODEL PART WITHIN ALLOW_OVERFLOW [YIELD_EVERY [ALLOW_UNEQUAL
 *	[MEMBER=VALUE ...]]]
 * Compiles a model with options that embed.c leaves at 0.  Writes the compiled model, or an error
 * to standard error; exits with the status.
 */
#include "nputools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets a member by "MEMBER=VALUE"; false: there is none of this name. */
static int
set(struct nputools_options *o, const char *arg)
{
	const struct {
		const char *name, **text;
	} texts[] = { { "cpu=", &o->cpu }, { "no_rewrite=", &o->no_rewrite },
		      { "cut_inputs=", &o->cut_inputs }, { "cut_outputs=", &o->cut_outputs },
		      { "allow=", &o->allow } };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!strncmp(arg, texts[i].name, strlen(texts[i].name))) {
			*texts[i].text = arg + strlen(texts[i].name);
			return 1;
		}
	o->integer_io = !strcmp(arg, "integer_io=1");
	return o->integer_io;
}

int
main(int argc, char **argv)
{
	static char model[16 << 20];
	FILE *f = argc >= 5 && argc <= 16 ? fopen(argv[1], "rb") : NULL;
	if (!f)
		return NPUTOOLS_TROUBLE;
	const size_t n = fread(model, 1, sizeof(model), f);
	(void)fclose(f);
	struct nputools_options o = {
		.size = sizeof(o), .name = argv[1], .part = argv[2], .within = atof(argv[3]),
		.allow_overflow = atoi(argv[4]), .yield_every = argc > 5 ? atoll(argv[5]) : 0,
		.allow_unequal_quantization = argc > 6 ? atoi(argv[6]) : 0,
	};
	for (int i = 7; i < argc; i++)
		if (!set(&o, argv[i]))
			return NPUTOOLS_TROUBLE;
	struct nputools_output out;
	const int status = nputools_compile(&o, model, n, &out);
	(void)fputs(out.messages, stderr);
	if (out.size)
		(void)fwrite(out.data, 1, out.size, stdout);
	nputools_free(&out);
	return status;
}
