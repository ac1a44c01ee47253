/* SPDX-License-Identifier: Apache-2.0 */
/* Detects the format of a file, and whether its numbers are quantized or real. */
#include "base/npy.h"
#include "samples/samples.h"
#include "tflite/tflite.h"

#include <string.h>
#include <strings.h>

static bool
has_suffix(const char *path, const char *suffix)
{
	size_t n = path ? strlen(path) : 0, k = strlen(suffix);
	return n > k && !strcasecmp(path + n - k, suffix);
}

static enum source
guess(const char *path, struct bytes file)
{
	if (npy_is(file))
		return FROM_NPY;
	if (is_sound(file))
		return FROM_SOUND;
	if (has_suffix(path, ".csv") || has_suffix(path, ".txt"))
		return FROM_CSV;
	return is_picture(file) ? FROM_PICTURE : FROM_RAW;
}

/*
 * The format of a file whose bytes are no raw numbers, and which nobody here reads; NULL:
 * another one.  Folders of samples often have JPEG files.
 */
static const char *
foreign_format(struct bytes file)
{
	static const struct {
		const char *name;
		char magic[4];
		size_t at, n; /* place and length of magic in the file */
	} formats[] = {
		{ .name = "JPEG", .magic = "\xff\xd8\xff", .n = 3 },
		{ .name = "GIF", .magic = "GIF8", .n = 4 },
		{ .name = "WebP", .magic = "WEBP", .at = 8, .n = 4 },
		{ .name = "TIFF", .magic = "II*\0", .n = 4 },
		{ .name = "TIFF", .magic = "MM\0*", .n = 4 },
		{ .name = "ZIP or .npz", .magic = "PK\3\4", .n = 4 },
		{ .name = "gzip", .magic = "\x1f\x8b\x8", .n = 3 },
		{ .name = "HDF5", .magic = "\x89HDF", .n = 4 },
		{ .name = "MP3", .magic = "ID3", .n = 3 },
		{ .name = "OLE (Thumbs.db)", .magic = "\xd0\xcf\x11\xe0", .n = 4 },
	};
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (file.n >= formats[i].at + formats[i].n &&
		    !memcmp(file.p + formats[i].at, formats[i].magic, formats[i].n))
			return formats[i].name;
	return NULL;
}

static bool
load_as(struct arena *a, enum source from, struct bytes file,
	const struct sample_options *o, const struct tfl_tensor *t, struct data *d,
	struct err *e)
{
	switch (from) {
	case FROM_NPY: return load_npy(a, file, t, d, e);
	case FROM_PICTURE: return load_picture(a, file, d, e);
	case FROM_SOUND: return load_sound(a, file, d, e);
	case FROM_CSV: return load_csv(a, file, d, e);
	case FROM_RAW:
	case FROM_GUESS: break;
	}
	d->quantized = o->meaning != REAL && t->type != TFL_FLOAT32;
	return load_raw(a, file, t, d->quantized, d, e);
}

bool
load_data(struct arena *a, const char *path, const struct sample_options *o,
	  const struct tfl_tensor *t, struct data *d, struct err *e)
{
	struct bytes file;
	*d = (struct data){ .name = file_name(path) };
	if (!file_read(a, path, MAX_INPUT_BYTES, &file, e))
		return false;
	if (!file.n)
		return err_at(e, d->name, 0, "the file is empty");
	enum source from = o->from ? o->from : guess(path, file);
	const char *foreign = !o->from && from == FROM_RAW ? foreign_format(file) : NULL;
	if (foreign)
		return err_at(e, d->name, 0, "a file of the format %s is not read: convert it, "
			      "pictures to PNG and numbers to .npy (--from=raw takes its bytes)",
			      foreign);
	if (!load_as(a, from, file, o, t, d, e))
		return false;
	if (o->meaning == QUANTIZED)
		d->quantized = true;
	if (o->meaning == REAL)
		d->quantized = false;
	if (o->features && !make_features(a, o, t, d, e))
		return false;
	d->sound = from == FROM_SOUND && !o->from && !o->features;
	bool normalised = o->scale.n || o->mean.n || o->range.n;
	if (d->quantized && normalised)
		return err_at(e, d->name, 0, "the values are quantized already: use --real with "
			      "--scale, --mean or --range");
	return true;
}
