/* SPDX-License-Identifier: Apache-2.0 */
/* Files of other tools that people pass in place of a quantized model. */
#ifndef BASE_FOREIGN_H
#define BASE_FOREIGN_H

#include "base/bytes.h"

/*
 * What a file is instead, and how to get from there to a quantized TFLite model or a
 * TOSA graph: "an ONNX model; convert it with ...", for the place behind "not a TFLite
 * model but ".  Recognises models of other programs, archives, pictures, sounds, arrays,
 * Git LFS pointers, web pages and C source text by their content; the name decides where
 * the content does not.  NULL: none of these.
 */
const char *foreign_file(struct bytes file, const char *name);

/* the same for a directory: a TensorFlow SavedModel, or what to name in its place; not NULL */
const char *foreign_directory(const char *path);

#endif
