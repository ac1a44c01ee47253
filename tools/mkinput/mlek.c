/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes files in the formats that Arm's ML evaluation kit generates for its use cases:
 * samples for the static camera and microphone, and data for tests.
 */
#include "mkinput.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

enum { PER_LINE = 20, RGB = 3 };

static const char attribute[] =
    "#ifdef __has_include\n"
    "#if __has_include(\"BufAttributes.hpp\")\n"
    "#include \"BufAttributes.hpp\"\n"
    "#endif\n#endif\n"
    "#ifndef IFM_BUF_ATTRIBUTE\n"
    "#define IFM_BUF_ATTRIBUTE __attribute__((section(\"ifm\"), aligned(16)))\n"
    "#endif\n";

/*
 * Adds two files in a directory, which the commit creates if it does not exist.  Frees
 * both texts.
 */
static bool
add_pair(struct file_set *to, const char *dir, const char *const path[2],
	 struct text t[2], struct err *e)
{
	file_set_directory(to, dir);
	bool ok = file_set_add(to, path[0], t[0].p, t[0].n, false, e) &&
		  file_set_add(to, path[1], t[1].p, t[1].n, false, e);
	text_free(&t[0]);
	text_free(&t[1]);
	return ok;
}

/* ---- tests ------------------------------------------------------------------------ */

/* prints macros and declarations of "ifm" or "ofm" arrays */
static void
put_test_side(struct text *t, const char *upper, const char *lower, const char *use,
	      const struct array *x, int n)
{
	for (int i = 0; i < n; i++) {
		text_printf(t, "#define %s_%d_DATA_SIZE (%lldU)\n", upper, i,
			    (long long)tfl_bytes(x[i].t));
		text_printf(t, "#define %s_%d_DATA_TYPE %s\n", upper, i,
			    element_type(x[i].t->type));
		text_printf(t, "extern const %s_%d_DATA_TYPE %s%d%s[%s_%d_DATA_SIZE];\n\n",
			    upper, i, lower, i, use, upper, i);
	}
}

static void
put_open(struct text *t, const char *use_case)
{
	text_puts(t, "namespace arm {\nnamespace app {\n");
	if (*use_case)
		text_printf(t, "namespace %s {\n", use_case);
}

static void
put_close(struct text *t, const char *use_case)
{
	if (*use_case)
		text_printf(t, "} /* namespace %s */\n", use_case);
	text_puts(t, "} /* namespace app */\n} /* namespace arm */\n");
}

static void
put_test_arrays(struct text *t, const char *upper, const char *lower,
		const char *use, const struct array *x, int n)
{
	for (int i = 0; i < n; i++) {
		text_printf(t, "\nconst %s_%d_DATA_TYPE %s%d%s[%s_%d_DATA_SIZE] "
			       "IFM_BUF_ATTRIBUTE = {\n",
			    upper, i, lower, i, use, upper, i);
		put_elements(t, &x[i], PER_LINE);
		text_puts(t, "};\n");
	}
	text_printf(t, "\nstatic const void *const %sArrays[] = {\n", lower);
	for (int i = 0; i < n; i++)
		text_printf(t, "    %s%d%s,\n", lower, i, use);
	text_puts(t, "};\n");
}

static void
put_getter(struct text *t, const char *name, const char *upper, const char *lower)
{
	text_printf(t, "\nconst void *%s(const uint32_t idx)\n{\n"
		       "    return idx < NUMBER_OF_%s_FILES ? %sArrays[idx] : nullptr;\n"
		       "}\n", name, upper, lower);
}

bool
write_mlek_tests(struct arena *a, struct file_set *to, const char *dir,
		 const struct test_data *contents, struct err *e)
{
	struct text t[2] = { 0 };
	struct test_data d = *contents;
	if (!check_kinds(d.in, d.n_in, e) || !check_kinds(d.out, d.n_out, e))
		return false;
	d.suffix = *d.use_case ? arena_printf(a, "_%s", d.use_case) : "";
	const char *const path[] = {
		arena_printf(a, "%s/TestData%s.hpp", dir, d.suffix),
		arena_printf(a, "%s/TestData%s.cc", dir, d.suffix),
	};
	struct text *header = &t[0], *source = &t[1];
	text_puts(header, "#ifndef GENERATED_TEST_DATA_HPP\n#define GENERATED_TEST_DATA_HPP\n\n"
			  "#include <cstdint>\n\n");
	put_open(header, d.use_case);
	text_printf(header, "\n#define NUMBER_OF_IFM_FILES (%dU)\n"
			    "#define NUMBER_OF_OFM_FILES (%dU)\n\n", d.n_in, d.n_out);
	put_test_side(header, "IFM", "ifm", d.suffix, d.in, d.n_in);
	put_test_side(header, "OFM", "ofm", d.suffix, d.out, d.n_out);
	text_puts(header, "/* array idx, or a null pointer: there are not so many */\n"
			  "const void *GetIfmDataArray(const uint32_t idx);\n"
			  "const void *GetOfmDataArray(const uint32_t idx);\n\n");
	put_close(header, d.use_case);
	text_puts(header, "\n#endif\n");

	text_printf(source, "#include \"TestData%s.hpp\"\n\n%s\n", d.suffix, attribute);
	put_open(source, d.use_case);
	put_test_arrays(source, "IFM", "ifm", d.suffix, d.in, d.n_in);
	put_test_arrays(source, "OFM", "ofm", d.suffix, d.out, d.n_out);
	put_getter(source, "GetIfmDataArray", "IFM", "ifm");
	put_getter(source, "GetOfmDataArray", "OFM", "ofm");
	text_putc(source, '\n');
	put_close(source, d.use_case);
	return add_pair(to, dir, path, t, e);
}

/* ---- samples ------------------------------------------------------------------------ */

struct sample {
	const char *file; /* file name without directories */
	struct data d;
};

static int
rounded(double v, int lo, int hi)
{
	return (int)fmin(fmax(floor(v + 0.5), lo), hi);
}

static void
put_sample(struct text *t, const struct sample *s, int index)
{
	bool sound = s->d.rate;
	text_printf(t, sound ? "\nconst int16_t audio%d[%zu] IFM_BUF_ATTRIBUTE = {\n"
			     : "\nconst uint8_t im%d[%zu] IFM_BUF_ATTRIBUTE = {\n",
		    index, s->d.n);
	for (size_t i = 0; i < s->d.n; i++) {
		bool last = i + 1 == s->d.n || (i + 1) % PER_LINE == 0;
		text_puts(t, i % PER_LINE ? " " : "  ");
		if (sound)
			text_i64(t, rounded(s->d.v[i] * 32768, INT16_MIN, INT16_MAX));
		else
			text_printf(t, "0x%02x", (unsigned)rounded(s->d.v[i] / s->d.max * UINT8_MAX,
								   0, UINT8_MAX));
		text_puts(t, i + 1 < s->d.n ? "," : "");
		text_puts(t, last ? "\n" : "");
	}
	text_puts(t, "};\n");
}

static void
put_samples_header(struct text *t, const struct sample *s, int n)
{
	bool sound = s[0].d.rate;
	const char *type = sound ? "int16_t" : "uint8_t";
	text_printf(t, "#ifndef GENERATED_SAMPLE_FILES_H\n#define GENERATED_SAMPLE_FILES_H\n\n"
		       "#include <stddef.h>\n#include <stdint.h>\n\n"
		       "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
		       "#define NUMBER_OF_FILES (%dU)\n", n);
	if (sound)
		text_printf(t, "#define AUDIO_NUM_CHANNELS (1U)\n"
			       "#define AUDIO_SAMPLING_RATE (%uU)\n\n", s[0].d.rate);
	else
		text_printf(t, "#define IMAGE_DATA_SIZE (%zuU)\n"
			       "#define IMAGE_DATA_W (%lld)\n#define IMAGE_DATA_H (%lld)\n\n",
			    s[0].d.n, (long long)s[0].d.dim[1],
			    (long long)s[0].d.dim[0]);
	for (int i = 0; i < n; i++)
		text_printf(t, "extern const %s %s%d[%zu];\n", type,
			    sound ? "audio" : "im", i, s[i].d.n);
	text_printf(t, "\nconst char *get_sample_data_filename(const uint32_t idx);\n"
		       "const %s *get_sample_data_ptr(const uint32_t idx);\n"
		       "uint32_t get_sample_n_elements(void);\n", type);
	text_puts(t, sound ? "/* samples of a sound */\n"
			     "uint32_t get_sample_data_size(const uint32_t idx);\n"
			     "uint32_t get_sample_sampling_frequency(void);\n"
			     "uint32_t get_sample_audio_num_channels(void);\n"
			   : "uint32_t get_sample_img_total_bytes(void);\n"
			     "uint32_t get_sample_img_width(void);\n"
			     "uint32_t get_sample_img_height(void);\n");
	text_puts(t, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

static void
put_constant_getter(struct text *t, const char *name, const char *value)
{
	text_printf(t, "\nuint32_t %s(void)\n{\n    return %s;\n}\n", name, value);
}

/*
 * prints a function that returns an element of a table, or the text none if the index
 * is too large
 */
static void
put_table_getter(struct text *t, const char *type, const char *name,
		 const char *table, const char *none)
{
	text_printf(t, "\n%s%s(const uint32_t idx)\n{\n"
		       "    return idx < NUMBER_OF_FILES ? %s[idx] : %s;\n}\n",
		    type, name, table, none);
}

static void
put_samples_source(struct text *t, const struct sample *s, int n)
{
	bool sound = s[0].d.rate;
	text_printf(t, "#include \"sample_files.h\"\n\n%s", attribute);
	for (int i = 0; i < n; i++)
		put_sample(t, &s[i], i);
	text_puts(t, "\nstatic const char *const filenames[] = {\n");
	for (int i = 0; i < n; i++) {
		text_puts(t, "    ");
		text_c_string(t, s[i].file);
		text_puts(t, ",\n");
	}
	text_printf(t, "};\n\nstatic const %s *const arrays[] = {\n",
		    sound ? "int16_t" : "uint8_t");
	for (int i = 0; i < n; i++)
		text_printf(t, "    %s%d,\n", sound ? "audio" : "im", i);
	text_puts(t, "};\n");
	if (sound) {
		text_puts(t, "\nstatic const uint32_t sizes[] = {\n");
		for (int i = 0; i < n; i++)
			text_printf(t, "    %zuU,\n", s[i].d.n);
		text_puts(t, "};\n");
	}
	put_table_getter(t, "const char *", "get_sample_data_filename", "filenames",
			 "NULL");
	put_table_getter(t, sound ? "const int16_t *" : "const uint8_t *",
			 "get_sample_data_ptr", "arrays", "NULL");
	put_constant_getter(t, "get_sample_n_elements", "NUMBER_OF_FILES");
	if (sound) {
		put_table_getter(t, "uint32_t ", "get_sample_data_size", "sizes", "0");
		put_constant_getter(t, "get_sample_sampling_frequency",
				    "AUDIO_SAMPLING_RATE");
		put_constant_getter(t, "get_sample_audio_num_channels",
				    "AUDIO_NUM_CHANNELS");
		return;
	}
	put_constant_getter(t, "get_sample_img_total_bytes", "IMAGE_DATA_SIZE");
	put_constant_getter(t, "get_sample_img_width", "IMAGE_DATA_W");
	put_constant_getter(t, "get_sample_img_height", "IMAGE_DATA_H");
}

bool
write_mlek_samples(struct arena *a, struct file_set *to, const struct options *o,
		   const struct tfl_tensor *t, struct err *e)
{
	struct text both[2] = { 0 };
	const char *const path[] = { arena_printf(a, "%s/sample_files.h", o->output),
				     arena_printf(a, "%s/sample_files.c", o->output) };
	struct sample *s = anew(a, struct sample, (size_t)o->n_files);
	for (int i = 0; i < o->n_files; i++) {
		struct data *d = &s[i].d;
		s[i].file = file_base(o->file[i]);
		if (!load_data(a, o->file[i], &o->in, t, d, e))
			return false;
		if (!(d->max > 0) && !d->rate)
			return err_at(e, d->name, 0, "neither a picture nor a sound");
		if (!(d->max > 0) && !d->n)
			return err_at(e, d->name, 0, "the sound has no samples");
		if (!(d->max > 0))
			continue;
		/*
		 * Resize the picture to the input's height and width.  Samples are always in
		 * colour, even for a grey input.
		 */
		int64_t hwc[3];
		if (!picture_shape(t, hwc))
			return err_at(e, d->name, 0, "this is a picture, but the model's input is not");
		struct tfl_tensor colour = { .type = TFL_UINT8, .rank = 4,
					     .dim = { 1, (int32_t)hwc[0], (int32_t)hwc[1], RGB } };
		if (!fit_data(a, &o->in, &colour, d, e))
			return false;
	}
	for (int i = 1; i < o->n_files; i++)
		if (s[i].d.rate != s[0].d.rate)
			return err_at(e, s[i].d.name, 0, "this is %s, which does not match %s",
				      s[i].d.rate ? "a sound of another sample rate" : "a picture",
				      s[0].d.name);
	put_samples_header(&both[0], s, o->n_files);
	put_samples_source(&both[1], s, o->n_files);
	return add_pair(to, o->output, path, both, e);
}
