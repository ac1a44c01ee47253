/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads files as values of a model's input.  In running order: load.c (with table.c,
 * picture.c and sound.c, one per format) reads numbers.  features.c replaces a sound by
 * its features.  fit.c gives the numbers the shape of the input, and fill.c its type.
 * list.c finds the files of a list, and labels.c reads labels.  options.c has the options
 * that programs share.
 */
#ifndef SAMPLES_SAMPLES_H
#define SAMPLES_SAMPLES_H

#include "base/file.h"
#include "tflite/types.h"

struct sandbox;
struct tfl_tensor;

enum source { FROM_GUESS, FROM_NPY, FROM_PICTURE, FROM_SOUND, FROM_CSV,
	      FROM_RAW };
enum resize { RESIZE_NO, RESIZE_BILINEAR, RESIZE_AREA };
enum meaning { BY_FORMAT, QUANTIZED, REAL };
enum features { FEATURES_NONE, FEATURES_MFCC, FEATURES_MFCC_MLEK, FEATURES_MEL,
		FEATURES_LFBE, FEATURES_FRONTEND };

enum { MAX_CHANNELS = 64 };

/* one number for all channels of the last dimension, or one number per channel */
struct per_channel {
	int n; /* 0: option not used; 1: v[0] is for all channels */
	double v[MAX_CHANNELS];
};

/* how files become values */
struct sample_options {
	enum source from;
	enum resize resize;
	enum meaning meaning;
	enum features features; /* what a sound becomes */
	bool fit_length; /* cut sounds and lists to the input's length, or pad them */
	struct per_channel scale, mean;
	struct per_channel range; /* v[0] is the value of black, v[1] that of white */
};

/* ---- options.c: rows of options for a member of type struct sample_options ------- */

extern const char *const sample_sources[], *const sample_resizes[], *const sample_features[];
void sample_take_scale(void *per_channel, const char *arg);
void sample_take_mean(void *per_channel, const char *arg);
void sample_take_range(void *per_channel, const char *arg);
/* Judges the options together. */
void sample_check_options(const struct sample_options *o);

#define SAMPLE_FROM(member)                                                             \
	{ CLI_CHOICE("from", "NAME", member.from, sample_sources,                       \
		     "format of the input files: npy, picture, sound, csv or raw "      \
		     "(default: recognized by content, csv by its suffix)"), .group = 1 }
#define SAMPLE_VALUES(member)                                                           \
	{ CLI_TAKE_INTO("scale", "S[,S...]", member.scale, sample_take_scale,           \
			"normalize before quantizing: real value = (number - mean) * "  \
			"scale; a fraction such as 1/255 is allowed") },                \
	{ CLI_TAKE_INTO("mean", "M[,M...]", member.mean, sample_take_mean,              \
			"mean for --scale: one number, or one per channel") },          \
	{ CLI_TAKE_INTO("range", "LO,HI", member.range, sample_take_range,              \
			"normalize a picture so that black becomes LO and white "       \
			"becomes HI, for example 0,1") },                               \
	{ CLI_CHOICE("resize", "METHOD", member.resize, sample_resizes,                 \
		     "scale a picture to the size of the input: bilinear (default) or " \
		     "area"), .flags = OPTION_ARG_OPTIONAL, .min = RESIZE_BILINEAR },   \
	{ CLI_CHOICE("features", "NAME", member.features, sample_features,              \
		     "features of a sound of 16,000 samples per second in place of "    \
		     "its samples: mfcc, mel or lfbe (MLPerf Tiny), mfcc-mlek (Arm's "  \
		     "ML evaluation kit), micro-frontend (TensorFlow's micro_speech)") }, \
	{ CLI_FLAG("fit", member.fit_length,                                            \
		   "cut a sound or list of numbers to the length of the input, or pad " \
		   "it with zeros") }

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

bool load_data(struct arena *a, const char *path, const struct sample_options *o,
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

/* ---- features.c --------------------------------------------------------- */

/*
 * Replaces a sound by the features of o->features, frame by frame.  Integers of the micro
 * frontend are quantized already; others are real values.
 */
bool make_features(struct arena *a, const struct sample_options *o,
		   const struct tfl_tensor *t, struct data *d, struct err *e);

/* ---- fit.c --------------------------------------------------------------- */

/*
 * Converts channels, size and shape of d to those of t.  Fails if they do not match;
 * the error names both shapes.
 */
bool fit_data(struct arena *a, const struct sample_options *o,
	      const struct tfl_tensor *t, struct data *d, struct err *e);

/*
 * Returns height, width and channels of an input that takes pictures, false for another
 * input.
 */
bool picture_shape(const struct tfl_tensor *t, int64_t hwc[3]);

/* ---- fill.c ----------------------------------------------------------- */

struct filled {
	uint8_t *bytes; /* tfl_bytes(t) bytes */
	size_t n_clipped, n;
	double lo, hi; /* smallest and largest value before clipping */
};

/*
 * Normalises the values by the options, then quantizes them with the scale and zero
 * point of t.
 */
bool fill_tensor(struct arena *a, const struct sample_options *o,
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
/* The same, but a directory may have files of its own, which have the label "". */
bool read_files(struct arena *a, const char *path, struct list *l, struct err *e);
/*
 * Permits to read the list path and its files; all files if path is a pipe, which can be read
 * only once.
 */
void permit_list(const struct sandbox *s, const char *path);
/*
 * Numbers the classes of all items: names in their order, or the numbers that the labels
 * are.  Returns false if an item has no label, or a number that is no class.
 */
bool number_classes(struct arena *a, struct list *l);
/* true for standard input, a pipe or a device: their bytes are there once, or never end */
bool is_stream(const char *path);
/* true for a directory, and for a text whose first line has the form of a file and a label */
bool is_list(struct arena *a, const char *path);
/*
 * Prints one line per item: the number, then a tab and the name if the label is a class
 * name.
 */
void print_labels(struct text *t, const struct list *l);

/* ---- labels.c ----------------------------------------------------------------- */

enum { MAX_CLASSES = 100000, MAX_LABEL_BYTES = 1 << 30 };

struct labels {
	const char *file;
	size_t n;
	double *v;	   /* one label per item */
	const char **name; /* one name per class below n_names; NULL: no name */
	size_t n_names;
	bool whole; /* true if all labels are class numbers */
};

/* Reads a text of lines "NUMBER" or "NUMBER TAB NAME", or a .npy file of numbers. */
bool read_labels(struct arena *a, const char *path, struct labels *l, struct err *e);

#endif
