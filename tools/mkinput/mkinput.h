/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mkinput turns data files into a model's input.  libcommon/samples reads the files.
 * write.c and mlek.c print the arrays.  expected.c runs the model.  With --list, stack.c
 * converts each file of a list.
 */
#ifndef MKINPUT_H
#define MKINPUT_H

#include "base/file.h"
#include "base/spool.h"
#include "samples/samples.h"
#include "tflite/tflite.h"

enum output { AS_HEADER, AS_NPY, AS_RAW };
enum dialect { DIALECT_PLAIN, DIALECT_MLEK_SAMPLES, DIALECT_MLEK_TESTS };

enum { MAX_FILES = 64 };

struct options {
	const char *model;
	const char *file[MAX_FILES];
	int n_files;
	enum output format;
	struct sample_options in;
	bool hex;	 /* print the arrays as uint8_t bytes in hexadecimal */
	bool has_random;
	uint64_t seed;
	bool has_format;
	const char *output, *name, *guard, *section;
	const char *name_of; /* file to name the arrays after; NULL: use input_data and the like */
	const char *expected, *expected_name, *expected_section;
	const char *output_buffer, *output_section;
	enum dialect dialect;
	const char *use_case; /* for DIALECT_MLEK_TESTS; NULL: no use case */
	/* list: many inputs become one array; labels: file for their labels */
	const char *list, *labels;
	struct spool spool; /* for the values of the list, if has_spool */
	bool has_spool;
};

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
