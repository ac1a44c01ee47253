/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mkinput turns data files into a model's input.  The files in running order: load.c
 * (with table.c, picture.c and sound.c, one per format) reads numbers.  fit.c gives the
 * numbers the shape of the input, and quantize.c its type.  write.c and mlek.c print
 * the arrays.  expected.c runs the model.  With --list, list.c finds the files and
 * stack.c converts each of them.
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

/* one number for all channels of the last dimension, or one number per channel */
struct per_channel {
	int n; /* 0: option not used; 1: v[0] is for all channels */
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
	bool hex;	 /* print the arrays as uint8_t bytes in hexadecimal */
	bool fit_length; /* cut sounds and lists to the input's length, or pad them */
	bool has_random;
	uint64_t seed;
	struct per_channel scale, mean;
	struct per_channel range; /* v[0] is the value of black, v[1] that of white */
	bool has_format;
	const char *output, *name, *guard, *section;
	const char *expected, *expected_name, *expected_section;
	const char *output_buffer, *output_section;
	enum dialect dialect;
	const char *use_case; /* for DIALECT_MLEK_TESTS; NULL: no use case */
	/* list: many inputs become one array; labels: file for their labels */
	const char *list, *labels;
};

/*
 * Numbers that were read from a file.  If quantized, v has integers of the input
 * tensor's own type.  Otherwise v has real values; those of pictures are 0 to max.
 */
struct data {
	const char *name; /* of the file, for diagnostics */
	int rank;
	int64_t dim[TFL_MAX_RANK];
	size_t n;
	double *v;
	bool quantized, list; /* list: the file gives no shape (CSV, raw, sound) */
	/* the content was recognised as sound, samples in [-1, 1]; false with --from */
	bool sound;
	double max; /* largest sample value of a picture, above 0; 0: not a picture */
	unsigned rate; /* of a sound, in samples per second; 0: not a sound, or unknown */
};

enum { MAX_INPUT_BYTES = 1 << 28 };

/* ---- load.c: reads path by the format of o->from, or by its content ------- */

bool load_data(struct arena *a, const char *path, const struct options *o,
	       const struct tfl_tensor *t, struct data *out, struct err *e);

/* ---- table.c, picture.c, sound.c, sndfile.c: one format each ------------------------ */

bool load_csv(struct arena *a, struct bytes file, struct data *out,
	      struct err *e);
bool load_npy(struct arena *a, struct bytes file, const struct tfl_tensor *t,
	      struct data *out, struct err *e);
/*
 * Elements are little-endian.  They have the type of t if quantized, else they are
 * float32.
 */
bool load_raw(struct arena *a, struct bytes file, const struct tfl_tensor *t,
	      bool quantized, struct data *out, struct err *e);
/*
 * PGM, PPM and PBM; PNG if built with libpng.  The result has the shape [height, width,
 * channels].
 */
bool is_picture(struct bytes file);
bool load_picture(struct arena *a, struct bytes file, struct data *out,
		  struct err *e);
/*
 * WAV (PCM or float), or a format of libsndfile.  The channels are averaged; the shape
 * is [frames].
 */
bool is_sound(struct bytes file); /* WAV, FLAC, Ogg or AIFF, by the first bytes */
bool load_sound(struct arena *a, struct bytes file, struct data *out,
		struct err *e);
bool load_sndfile(struct arena *a, struct bytes file, struct data *out,
		  struct err *e);

/* ---- fit.c --------------------------------------------------------------- */

/*
 * Converts channels, size and shape of d to those of t.  Fails if they do not match;
 * the error names both shapes.
 */
bool fit_data(struct arena *a, const struct options *o,
	      const struct tfl_tensor *t, struct data *d, struct err *e);

/*
 * Returns height, width and channels of an input that takes pictures, false for another
 * input.
 */
bool picture_shape(const struct tfl_tensor *t, int64_t hwc[3]);

/* ---- quantize.c ----------------------------------------------------------- */

struct filled {
	uint8_t *bytes; /* tfl_bytes(t) bytes */
	size_t n_clipped, n;
	double lo, hi; /* smallest and largest value before clipping */
};

/*
 * Normalises the values by the options, then quantizes them with the scale and zero
 * point of t.
 */
bool fill_tensor(struct arena *a, const struct options *o,
		 const struct tfl_tensor *t, const struct data *d,
		 struct filled *out, struct err *e);

/* the smallest and the largest real value that the tensor can hold */
void tensor_range(const struct tfl_tensor *t, double *lo, double *hi);

/*
 * Prints a warning if 5% of the values or more are clipped.  The argument f
 * counts one file, or the sum over all files of a list.
 */
void warn_clipped(const char *name, const struct tfl_tensor *t, const struct filled *f);

/* ---- list.c ---------------------------------------------------------------- */

struct item {
	const char *path, *label; /* both as written in the list */
	unsigned line;		  /* in the list, from 1; 0: the list is a directory */
	int class;		  /* number of the class; unused if labels are numbers */
};
struct list {
	struct item *item;
	size_t n, capacity;
	bool named; /* true if any label is not a number: all labels are then class names */
};
/*
 * Reads a text file, or a directory with one subdirectory per class.  The list has at
 * least one item.
 */
bool read_list(struct arena *a, const char *path, struct list *l, struct err *e);
/*
 * Prints one line per item: the number, then a tab and the name if the label is a class
 * name.
 */
void print_labels(struct text *t, const struct list *l);

/* ---- stack.c --------------------------------------------------------------- */

/* t with its first dimension divided by batch: the shape of one input of the batch */
struct tfl_tensor one_of_batch(const struct tfl_tensor *t, int batch);
/*
 * Writes the files of o->list as one array of tensors t, and their labels to a second
 * file.  Each t takes batch files.  Fails if the number of files is not a multiple of
 * batch.
 */
bool make_stack(struct arena *a, const struct options *o, const struct tfl_tensor *t,
		int batch, struct err *e);

/* ---- write.c --------------------------------------------------------------- */

struct array {
	const struct tfl_tensor *t;
	const uint8_t *bytes;
};

struct sheet { /* the arrays of one output file */
	const char *guard, *name, *section; /* guard NULL: made from name */
	bool writable; /* the arrays are not const */
	bool hex;      /* print arrays as bytes in hexadecimal */
	const struct array *array;
	int n;
	/* name of an uninitialised array for the outputs; NULL: none */
	const char *buffer, *buffer_section;
	const struct array *outputs;
	int n_outputs;
};

/* the C type, such as "int8_t"; NULL if the TFLite type is not supported */
const char *element_type(int type);
/* Fails if an array has a type that is not supported. */
bool check_kinds(const struct array *x, int n, struct err *e);
/* prints the elements in decimal, per_line of them on a line */
void put_elements(struct text *t, const struct array *x, int per_line);

bool write_header(struct file_set *to, const char *path, const struct sheet *s,
		  struct err *e);
/*
 * Writes one file per array: NAME.npy for a single array, else NAME_0.npy, NAME_1.npy
 * and so on.
 */
bool write_binary(struct arena *a, struct file_set *to, const char *path,
		  const struct sheet *s,
		  enum output format, struct err *e);

/* Writes the n values of t in a spool as one array with a first dimension of n. */
bool write_stack(struct file_set *to, const char *path, const struct tfl_tensor *t,
		 size_t n, const struct spool *values, enum output format,
		 struct err *e);

/* ---- mlek.c ------------------------------------------------------------------- */

struct test_data {
	const char *use_case; /* "": no use case */
	const char *suffix;   /* "_kws" for the use case "kws"; set by write_mlek_tests() */
	const struct array *in, *out;
	int n_in, n_out;
};

/*
 * Writes DIR/TestData_USECASE.hpp and .cc with arrays ifm0_USECASE, ofm0_USECASE and so
 * on.
 */
bool write_mlek_tests(struct arena *a, struct file_set *to, const char *dir,
		      const struct test_data *contents, struct err *e);
/*
 * Writes o->output/sample_files.h and .c: the files before any preprocessing for the
 * model.  Pictures are in colour and have the size of input t.  Sounds have 16 bits.
 */
bool write_mlek_samples(struct arena *a, struct file_set *to, const struct options *o,
			const struct tfl_tensor *t, struct err *e);

/* ---- expected.c ------------------------------------------------------------- */

struct sim;
struct model { /* of a TFLite file, a TOSA graph, or a raw compiled network */
	const struct tfl_model *m;
	struct sim *sim; /* of a TOSA graph; NULL for other models, which run_model() opens */
};
/* Reads a TFLite model, a TOSA graph, or a raw compiled network. */
bool read_model(struct arena *a, const char *path, struct model *out, struct err *e);
/*
 * Runs the model on one filled input per model input. *out gets one array per output,
 * whose bytes are memory of the simulator.
 */
bool run_model(struct arena *a, const struct model *m, const struct filled *inputs,
	       struct array **out, struct err *e);

#endif
