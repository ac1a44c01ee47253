/* SPDX-License-Identifier: Apache-2.0 */
/* Names in generated C and C++ code. */
#ifndef BASE_IDENTIFIER_H
#define BASE_IDENTIFIER_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

/* Are the n bytes an identifier, and no reserved word of C or C++? */
bool identifier_is_valid(const char *s, size_t n);
/*
 * An identifier of a model's file: its name without directories and ".tflite".  '_' replaces what is
 * no letter or digit; "model_" precedes a digit or a reserved word.
 */
const char *identifier_of_file(struct arena *a, const char *path);

#endif
