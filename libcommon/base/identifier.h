/* SPDX-License-Identifier: Apache-2.0 */
/* Names in generated C and C++ code. */
#ifndef BASE_IDENTIFIER_H
#define BASE_IDENTIFIER_H

#include <stdbool.h>
#include <stddef.h>

/* Are the n bytes an identifier, and no reserved word of C or C++? */
bool identifier_is_valid(const char *s, size_t n);

#endif
