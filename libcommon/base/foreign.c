/* SPDX-License-Identifier: Apache-2.0 */
#include "base/foreign.h"

#include "base/diag.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TO_TFLITE \
	"convert it with tf.lite.TFLiteConverter, with a representative dataset for "  \
	"full integer quantization"

static const char saved_model[] = "a TensorFlow SavedModel; " TO_TFLITE,
	numpy[] = "NumPy arrays; npu-sim -i reads a .npy file as an input of a model",
	picture[] = "a picture; mkinput converts it to an input of a model",
	pytorch[] = "a PyTorch model; export it as a TOSA graph with ExecuTorch "
		  "(nputools-executorch(7)), or as a quantized TFLite model with litert-torch",
	source[] = "C source text for firmware; name the file from which it was made "
		   "(mkinput -o FILE.npy makes an input for npu-sim)",
	sound[] = "a sound; mkinput converts it to an input of a model",
	web_page[] = "a web page; download the file that the page links to";

static const struct format {
	const char *suffix; /* of the name, where several formats begin alike; NULL: any */
	size_t at;	    /* offset of bytes in the file */
	const char *bytes;  /* NULL: the name alone decides */
	const char *is;
} formats[] = {
	{ NULL, 4, "ET1", "an ExecuTorch program; compile the TOSA graph from which its "
			  "Ethos-U backend made it: see nputools-executorch(7)" },
	{ NULL, 0, "\x89HDF\r\n\x1a\n", "a Keras model in an HDF5 file; " TO_TFLITE },
	{ ".keras", 0, "PK\3\4", "a Keras model; " TO_TFLITE },
	{ ".pt", 0, "PK\3\4", pytorch },
	/* older: a pickle of the number 0x1950a86a20f9469cfc6c */
	{ NULL, 0, "\x80\2\x8a\nl\xfc\x9c" "F", pytorch },
	{ NULL, 0, "GGUF", "a GGUF language model, which does not fit a microcontroller's "
			   "NPU; start from a quantized TFLite model" },
	{ NULL, 0, "version https://git-lfs", "a Git LFS pointer; fetch the file itself "
					      "with git lfs pull" },
	{ NULL, 0, "<!DOCTYPE", web_page },
	{ NULL, 0, "<!doctype", web_page },
	{ NULL, 0, "<html", web_page },
	{ ".npz", 0, "PK\3\4", numpy },
	{ NULL, 0, "\x93NUMPY", numpy },
	{ NULL, 0, "PK\3\4", "a ZIP archive; unpack it first" },
	{ NULL, 0, "\x1f\x8b", "a gzip archive; unpack it first" },
	{ NULL, 0, "\x89PNG", picture },
	{ NULL, 0, "\xff\xd8\xff", picture },
	{ NULL, 8, "WAVE", sound },
	{ ".h", 0, NULL, source },
	{ ".hpp", 0, NULL, source },
	{ ".c", 0, NULL, source },
	{ ".cc", 0, NULL, source },
	{ ".safetensors", 0, NULL, "weights without a network; export the network to TFLite "
				   "with full integer quantization" },
	{ ".onnx", 0, NULL, "an ONNX model; convert it with onnx2tf -oiqt, which writes a "
			    "fully quantized TFLite model" },
	{ ".pb", 0, NULL, saved_model },
};

static bool
has_bytes(struct bytes file, size_t at, const char *bytes)
{
	size_t n = strlen(bytes);
	/* an empty file may have no bytes at all */
	return file.n >= at + n && (!n || !memcmp(file.p + at, bytes, n));
}

/* the suffixes that one format goes by */
static const char *
usual_suffix(const char *name)
{
	static const char *const torch[] = { ".pt", ".pth", ".pt2", ".ptl" };
	for (size_t i = 0; i < ARRAY_LEN(torch); i++)
		if (text_has_suffix(name, torch[i]))
			return torch[0];
	return name;
}

const char *
foreign_file(struct bytes file, const char *name)
{
	name = usual_suffix(name);
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		const struct format *f = &formats[i];
		if ((!f->suffix || text_has_suffix(name, f->suffix)) &&
		    (!f->bytes || has_bytes(file, f->at, f->bytes)))
			return f->is;
	}
	return NULL;
}

const char *
foreign_directory(const char *path)
{
	char inside[4096];
	int n = snprintf(inside, sizeof(inside), "%s/saved_model.pb", path);
	return n > 0 && (size_t)n < sizeof(inside) && !access(inside, F_OK) ? saved_model
									    : "a directory; name a file";
}
