/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From data to a model's input.  In running order: load.c (and table.c,
 * picture.c, sound.c by format) reads numbers, fit.c gives them the input's
 * shape, quantize.c its type, write.c and mlek.c print; expected.c runs the model.
 * With --list, list.c says which files there are, and stack.c does that with each.
 */
#ifndef MKINPUT_H
#define MKINPUT_H

#include "base/file.h"
#include "tflite/tflite.h"

enum source { FROM_GUESS, FROM_NPY, FROM_PICTURE, FROM_SOUND, FROM_CSV,
	      FROM_RAW };
enum output { AS_HEADER, AS_NPY, AS_RAW };
enum resize { RESIZE_NO, RESIZE_BILINEAR, RESIZE_AREA };
enum dialect { DIALECT_PLAIN, DIALECT_MLEK_SAMPLES, DIALECT_MLEK_TESTS };
enum meaning { BY_FORMAT, QUANTIZED, REAL };

enum { MAX_CHANNELS = 64, MAX_FILES = 64 };

/* one number for all channels of the last dimension, or one for each */
struct per_channel {
	int n; /* 0: not given */
	double v[MAX_CHANNELS];
};

struct options {
	const char *model;
	const char *file[MAX_FILES];
	int n_files;
	enum source from;
	enum output format;
	enum resize resize;
	enum meaning meaning;
	bool hex;	 /* bytes in the header */
	bool fit_length; /* cut or pad sounds and lists */
	bool has_random;
	uint64_t seed;
	struct per_channel scale, mean;
	struct per_channel range; /* two numbers */
	bool has_format;
	const char *output, *name, *guard, *section;
	const char *expected, *expected_name, *expected_section;
	const char *output_buffer, *output_section;
	enum dialect dialect;
	const char *use_case; /* of DIALECT_MLEK_TESTS; NULL: none */
	const char *list, *labels; /* many inputs in one array, with labels */
};

/*
 * Numbers as read.  quantized: integers of the model's own type already, in
 * v as they are; else real values, pictures 0 to max.
 */
struct data {
	const char *name; /* of the file, for diagnostics */
	int rank;
	int64_t dim[TFL_MAX_RANK];
	size_t n;
	double *v;
	bool quantized, list; /* list: no shape of its own */
	bool sound;	      /* samples in time, -1 to 1, by the file's content */
	double max; /* of a picture's samples; 0: no picture */
	unsigned rate; /* of a sound, in samples a second; 0: no sound, or unknown */
};

enum { MAX_INPUT_BYTES = 1 << 28 };

/* ---- load.c ------------------------------------------------------------- */

bool load_data(struct arena *a, const char *path, const struct options *o,
	       const struct tfl_tensor *t, struct data *out, struct err *e);

/* ---- table.c, picture.c, sound.c, sndfile.c: one format each ------------------------ */

bool load_csv(struct arena *a, struct bytes file, struct data *out,
	      struct err *e);
bool load_npy(struct arena *a, struct bytes file, const struct tfl_tensor *t,
	      struct data *out, struct err *e);
/* elements of the input's own type, little-endian; as float32 if not quantized */
bool load_raw(struct arena *a, struct bytes file, const struct tfl_tensor *t,
	      bool quantized, struct data *out, struct err *e);
/* PGM, PPM, PBM; PNG where built with libpng: [height, width, channels] */
bool is_picture(struct bytes file);
bool load_picture(struct arena *a, struct bytes file, struct data *out,
		  struct err *e);
/* PCM or float WAV, else what libsndfile knows; channels averaged: [frames] */
bool is_sound(struct bytes file); /* WAV, or another that begins with a name */
bool load_sound(struct arena *a, struct bytes file, struct data *out,
		struct err *e);
bool load_sndfile(struct arena *a, struct bytes file, struct data *out,
		  struct err *e);

/* ---- fit.c --------------------------------------------------------------- */

/* channels, size and shape of the input, or an error that names both shapes */
bool fit_data(struct arena *a, const struct options *o,
	      const struct tfl_tensor *t, struct data *d, struct err *e);

/* height, width, channels of an input that takes pictures; false: it does not */
bool picture_shape(const struct tfl_tensor *t, int64_t hwc[3]);

/* ---- quantize.c ----------------------------------------------------------- */

struct filled {
	uint8_t *bytes; /* tfl_bytes(t) of them */
	size_t n_clipped, n;
	double lo, hi; /* of the values before clipping */
};

/* normalised, quantized with the tensor's parameters: DESIGN of the header */
bool fill_tensor(struct arena *a, const struct options *o,
		 const struct tfl_tensor *t, const struct data *d,
		 struct filled *out, struct err *e);

/* the real numbers that the tensor can hold */
void tensor_range(const struct tfl_tensor *t, double *lo, double *hi);

/* main.c: says so where many values are clipped: d's, or those of all files of a list */
void warn_clipped(const char *name, const struct tfl_tensor *t, const struct filled *f);

/* ---- list.c ---------------------------------------------------------------- */

struct item {
	const char *path, *label; /* both as listed */
	unsigned line;		  /* of the list; 0: it is a directory */
	int class;		  /* where labels are names */
};
struct list {
	struct item *item;
	size_t n, room;
	bool named; /* some labels are no numbers: all are names of classes */
};
/* a text, or a directory of directories, the classes; never empty */
bool read_list(struct arena *a, const char *path, struct list *l, struct err *e);
/* a line each: the number, and behind a tab its name where it has one */
void print_labels(struct text *t, const struct list *l);

/* ---- stack.c --------------------------------------------------------------- */

/* one of the inputs that t has one behind the other, along its first dimension */
struct tfl_tensor one_of_batch(const struct tfl_tensor *t, int batch);
/*
 * The files of o->list as one array of t's, and their labels; of a batch each t is of
 * so many files, and it is an error if the last is not full.
 */
bool make_stack(struct arena *a, const struct options *o, const struct tfl_tensor *t,
		int batch, struct err *e);

/* ---- write.c --------------------------------------------------------------- */

struct array {
	const struct tfl_tensor *t;
	const uint8_t *bytes;
};

struct sheet { /* a file of arrays */
	const char *guard, *name, *section; /* guard NULL: of the name */
	bool writable; /* the arrays are not const */
	bool hex;      /* they are bytes, in hexadecimal */
	const struct array *array;
	int n;
	const char *buffer, *buffer_section; /* an empty array for outputs */
	const struct array *outputs;
	int n_outputs;
};

/* "int8_t"; NULL: of a type that is not supported */
const char *element_type(int type);
/* are all arrays of types that are? */
bool check_kinds(const struct array *x, int n, struct err *e);
/* in decimal, so many a line */
void put_elements(struct text *t, const struct array *x, int per_line);

bool write_header(struct file_set *to, const char *path, const struct sheet *s,
		  struct err *e);
/* one file an array: NAME.npy, or NAME_0.npy, NAME_1.npy ... */
bool write_binary(struct arena *a, struct file_set *to, const char *path,
		  const struct sheet *s,
		  enum output format, struct err *e);

/* n values of t that wait in a spool, as one array with a dimension n in front */
bool write_stack(struct file_set *to, const char *path, const struct tfl_tensor *t,
		 size_t n, const struct spool *values, enum output format,
		 struct err *e);

/* ---- mlek.c ------------------------------------------------------------------- */

struct test_data {
	const char *use_case; /* "" : none */
	const char *suffix;   /* "_kws": made of the former */
	const struct array *in, *out;
	int n_in, n_out;
};

/* DIR/TestData_USECASE.hpp and .cc: ifm0_USECASE ..., ofm0_USECASE ... */
bool write_mlek_tests(struct arena *a, struct file_set *to, const char *dir,
		      const struct test_data *given, struct err *e);
/*
 * o->output/sample_files.h and .c: o's files as they are before a model's
 * preprocessing, pictures in colour and of the size of input t, sounds of 16 bits.
 */
bool write_mlek_samples(struct arena *a, struct file_set *to, const struct options *o,
			const struct tfl_tensor *t, struct err *e);

/* ---- expected.c ------------------------------------------------------------- */

struct sim;
struct model { /* TFLite, TOSA, or a compiled network in another file */
	const struct tfl_model *m;
	struct sim *sim; /* of TOSA; else NULL: not opened yet */
};
bool read_model(struct arena *a, const char *path, struct model *out, struct err *e);
/* runs the model on these inputs; the outputs' bytes into *out */
bool run_model(struct arena *a, const struct model *m, const struct filled *inputs,
	       struct array **out, struct err *e);

#endif
