/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: digits MODEL.tflite SAMPLE-DIRECTORY [PICTURES]: writes the int8 model, and the
 *        float model MODEL-float.tflite.  PICTURES: learns from that many
 *        pictures only, and does not measure the accuracy
 *        digits --drawings DIRECTORY: writes the pictures on which accuracy is measured
 */
#include "digits.h"

#include "base/cli.h"
#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { N_TRAIN = 24000, N_CALIBRATE = 500, N_TEST = 5000 };

static bool
write_picture(const char *path, const struct picture *p, struct err *e)
{
	struct text t = { 0 };
	text_printf(&t, "P5\n%d %d\n255\n", SIDE, SIDE);
	text_put(&t, p->pixel, PIXELS);
	bool ok = file_write(path, t.p, t.n, true, e);
	text_free(&t);
	return ok;
}

/* writes digit-D.pgm for every digit */
static bool
write_samples(struct arena *a, const char *dir, struct err *e)
{
	struct rng r = rng_seeded(SEED_SAMPLES);
	for (int d = 0; d < CLASSES; d++) {
		struct picture p;
		draw_digit(&r, d, &p);
		if (!write_picture(arena_printf(a, "%s/digit-%d.pgm", dir, d), &p, e))
			return false;
	}
	return true;
}

/* writes D/NNNN.pgm of digit D for every drawing that was not used for learning */
static bool
write_drawings(struct arena *a, const char *dir, struct err *e)
{
	struct rng r = rng_seeded(SEED_TEST);
	for (int d = 0; d < CLASSES; d++) {
		const char *class = arena_printf(a, "%s/%d", dir, d);
		if (mkdir(class, 0777) && errno != EEXIST)
			return err_set(e, "%s: %s", class, strerror(errno));
	}
	for (int i = 0; i < N_TEST; i++) {
		struct picture p;
		draw_any(&r, &p);
		if (!write_picture(arena_printf(a, "%s/%d/%04d.pgm", dir, p.digit, i),
				   &p, e))
			return false;
	}
	return true;
}

static bool
judge(struct arena *a, struct net *n, struct bytes model, struct err *e)
{
	double int8;
	printf("%d pictures learnt; of %d others, recognised by\n", N_TRAIN,
	       N_TEST);
	printf("  float  %.2f %%\n", 100 * accuracy_float(n, N_TEST));
	if (!accuracy_int8(a, model, N_TEST, &int8, e))
		return false;
	printf("  int8   %.2f %%\n", 100 * int8);
	return true;
}

/* MODEL-float.tflite beside MODEL.tflite */
static const char *
float_path(struct arena *a, const char *path)
{
	static const char suffix[] = ".tflite";
	size_t n = strlen(path), k = strlen(suffix);
	bool has = n > k && !strcmp(path + n - k, suffix);
	return arena_printf(a, "%.*s-float%s", (int)(has ? n - k : n), path, suffix);
}

/* pictures: the number to learn from; 0: all of them */
static bool
make(struct arena *a, const char *path, const char *dir, int pictures, struct err *e)
{
	struct rng r = rng_seeded(SEED_WEIGHTS);
	struct net *n = net_new(a, &r);
	struct bytes model, real;
	learn(a, n, pictures ? pictures : N_TRAIN);
	return quantize(a, n, N_CALIBRATE, false, &model, e) &&
	       quantize(a, n, 0, true, &real, e) &&
	       (pictures || judge(a, n, model, e)) &&
	       file_write(path, model.p, model.n, true, e) &&
	       file_write(float_path(a, path), real.p, real.n, true, e) &&
	       write_samples(a, dir, e);
}

int
main(int argc, char **argv)
{
	int pictures = argc == 4 ? (int)strtol(argv[3], NULL, 10) : 0;
	if (argc != 3 && (argc != 4 || pictures < 1 || pictures > N_TRAIN)) {
		fprintf(stderr, "usage: digits MODEL.tflite DIRECTORY [PICTURES]\n"
				"       digits --drawings DIRECTORY\n");
		return EXIT_TROUBLE;
	}
	struct arena *a = arena_open();
	struct err e = { 0 };
	if (!(strcmp(argv[1], "--drawings") ? make(a, argv[1], argv[2], pictures, &e)
					    : write_drawings(a, argv[2], &e)))
		cli_print(&e);
	arena_close(a);
	return e.status;
}
