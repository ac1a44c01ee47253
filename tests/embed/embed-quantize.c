/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nputools_quantize() (tests/libnputools.bats).
 * usage: embed-quantize MODEL [MEMBER=VALUE]... SAMPLE...
 * Writes the quantized model to standard output, and the messages to standard error; exits with
 * the status.  A sample is a file for one buffer.  MEMBER is one of struct nputools_quantization,
 * or jobs.  Without arguments, passes NULL in place of each argument and prints the results.
 */
#include "nputools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 100 };

static struct nputools_buffer
read_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	const size_t most = 1 << 24;
	void *p = malloc(most);
	if (!f || !p)
		exit(99);
	struct nputools_buffer b = { .data = p, .size = fread(p, 1, most, f) };
	(void)fclose(f);
	return b;
}

static void
set(struct nputools_options *o, struct nputools_quantization *how, char *arg)
{
	char *value = strchr(arg, '=');
	*value++ = '\0';
	const struct {
		const char *name;
		int *at;
	} numbers[] = {
		{ "ranges", &how->ranges }, { "wide", &how->wide }, { "no_fold", &how->no_fold },
		{ "float_interface", &how->float_interface }, { "equalize", &how->equalize },
		{ "bias_correction", &how->bias_correction },
		{ "per_channel_fc", &how->per_channel_fc },
	};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcmp(arg, numbers[i].name))
			*numbers[i].at = atoi(value);
	if (!strcmp(arg, "size"))
		how->size = (size_t)atoi(value);
	if (!strcmp(arg, "frames"))
		how->frames = (unsigned)atoi(value);
	if (!strcmp(arg, "allow"))
		how->allow = value;
	if (!strcmp(arg, "keep_wide"))
		how->keep_wide = value;
	if (!strcmp(arg, "accuracy"))
		how->accuracy = atof(value);
	if (!strcmp(arg, "jobs"))
		o->jobs = (unsigned)atoi(value);
}

static void
pass_null(void)
{
	const struct nputools_buffer none = { 0 };
	const struct nputools_quantization how = { .size = sizeof(how) };
	static const char eight[8];
	const struct {
		const struct nputools_quantization *how;
		const void *model;
		const struct nputools_buffer *samples;
		size_t n;
	} calls[] = {
		{ NULL, NULL, NULL, 0 }, { &how, NULL, &none, 1 }, { NULL, eight, NULL, 1 },
		{ NULL, eight, &none, 1 }, { &how, eight, &none, 0 },
	};
	struct nputools_output out;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const int status = nputools_quantize(NULL, calls[i].how, calls[i].model, 8,
						     calls[i].samples, calls[i].n, &out);
		printf("%d %s, %s: %s", status, nputools_code_name(out.code),
		       out.data ? "data" : "nothing", out.messages);
		nputools_free(&out);
	}
	printf("%d\n", nputools_quantize(NULL, NULL, eight, 8, &none, 1, NULL));
}

int
main(int argc, char **argv)
{
	struct nputools_buffer samples[MOST], model;
	struct nputools_quantization how = { .size = sizeof(how) };
	struct nputools_options o = { .size = sizeof(o) };
	struct nputools_output out;
	size_t n = 0;
	if (argc == 1)
		pass_null();
	if (argc < 2 || argc > MOST)
		return argc == 1 ? 0 : 99;
	o.name = argv[1];
	model = read_file(argv[1]);
	for (int i = 2; i < argc; i++)
		if (strchr(argv[i], '='))
			set(&o, &how, argv[i]);
		else
			samples[n++] = read_file(argv[i]);
	const int status = nputools_quantize(&o, &how, model.data, model.size, samples, n, &out);
	(void)fputs(out.messages, stderr);
	if (status)
		(void)fprintf(stderr, "%s\n", nputools_code_name(out.code));
	if (out.size)
		(void)fwrite(out.data, 1, out.size, stdout);
	nputools_free(&out);
	free((void *)model.data);
	while (n)
		free((void *)samples[--n].data);
	return status;
}
