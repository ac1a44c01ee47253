/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that embeds libnputools (tests/libnputools.bats).
 * usage: embed MODEL PART...
 * Compiles MODEL for all PARTs at once, one thread each, of which thread K uses up to K + 1
 * threads itself, and writes its results: K.tflite, K.verify and K.json.  Prints for each
 * part "equal" if the compiled model has the outputs of MODEL for one input, and then the
 * number of threads that remain.  The locale is that of the environment.  The model has one input and
 * one output.
 */
#include "nputools.h"

#include <dirent.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARTS = 16, MAX_MODEL = 1 << 24, INPUT_BYTES = 490 };

struct work {
	const char *part;
	int k;
	const char *error; /* NULL: none */
	int equal;
};

static const char *name;
static unsigned char model[MAX_MODEL];
static size_t model_n;

static int
save(int k, const char *suffix, const struct nputools_output *out)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "%d.%s", k, suffix);
	FILE *f = fopen(path, "wb");
	if (!f)
		return 0;
	size_t n = fwrite(out->data, 1, out->size, f);
	return !fclose(f) && n == out->size;
}

/* Runs a model on an input of bytes that follow from k; returns its status. */
static int
run(const void *p, size_t n, int k, struct nputools_output *out,
    struct nputools_buffer *result)
{
	unsigned char input[INPUT_BYTES];
	struct nputools_buffer in = { input, sizeof(input) };
	for (size_t i = 0; i < sizeof(input); i++)
		input[i] = (unsigned char)(i * i + 7 * (size_t)k);
	return nputools_simulate(NULL, p, n, &in, 1, result, 1, out);
}

static int
same_outputs(const struct nputools_output *compiled, int k)
{
	struct nputools_output a, b;
	struct nputools_buffer x, y;
	int plain = run(model, model_n, k, &a, &x);
	int npu = run(compiled->data, compiled->size, k, &b, &y);
	int same = plain == NPUTOOLS_YES && npu == NPUTOOLS_YES && x.size > 1 &&
		   x.size == y.size && !memcmp(x.data, y.data, x.size);
	nputools_free(&a);
	nputools_free(&b);
	return same;
}

static void *
work(void *arg)
{
	struct work *w = arg;
	struct nputools_options o = { .size = sizeof(o), .name = name, .part = w->part,
				     .jobs = (unsigned)w->k + 1 };
	struct nputools_output compiled, verified, estimated;
	if (nputools_compile(&o, model, model_n, &compiled) || !save(w->k, "tflite", &compiled))
		w->error = "compile";
	if (nputools_verify(&o, compiled.data, compiled.size, &verified) ||
	    !save(w->k, "verify", &verified))
		w->error = "verify";
	if (nputools_estimate(&o, compiled.data, compiled.size, &estimated) ||
	    !save(w->k, "json", &estimated))
		w->error = "estimate";
	w->equal = !w->error && same_outputs(&compiled, w->k);
	nputools_free(&compiled);
	nputools_free(&verified);
	nputools_free(&estimated);
	return NULL;
}

/* of this process */
static int
count_threads(void)
{
	int n = -2; /* "." and ".." */
	DIR *d = opendir("/proc/self/task");
	while (d && readdir(d))
		n++;
	if (d)
		(void)closedir(d);
	return n;
}

static void *
nothing(void *arg)
{
	return arg;
}

int
main(int argc, char **argv)
{
	struct work w[MAX_PARTS];
	pthread_t thread[MAX_PARTS];
	FILE *f = argc > 2 && argc - 2 <= MAX_PARTS ? fopen(argv[1], "rb") : NULL;
	int status = 0;
	if (!f || pthread_create(&thread[0], NULL, nothing, NULL))
		return 2;
	(void)pthread_join(thread[0], NULL);
	/* ThreadSanitizer has a thread of its own, which begins with the first other thread */
	const int before = count_threads();
	(void)setlocale(LC_ALL, "");
	name = argv[1];
	model_n = fread(model, 1, sizeof(model), f);
	(void)fclose(f);
	for (int k = 0; k < argc - 2; k++) {
		w[k] = (struct work){ .part = argv[k + 2], .k = k };
		if (pthread_create(&thread[k], NULL, work, &w[k]))
			return 2;
	}
	for (int k = 0; k < argc - 2; k++) {
		(void)pthread_join(thread[k], NULL);
		printf("%s: %s\n", w[k].part,
		       w[k].error ? w[k].error : w[k].equal ? "equal" : "differs");
		status |= w[k].error || !w[k].equal;
	}
	printf("threads: %d\n", count_threads() - before);
	return status;
}
