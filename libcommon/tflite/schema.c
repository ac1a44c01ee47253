/* SPDX-License-Identifier: Apache-2.0 */
/* The reflection tables of TFLite, from schema/tflite.def and tflite_unions.def. */
#include "tflite/tflite.h"

#include "tflite/fields.h"

#define FB_SCHEMA "tflite.def"
#define FB_UNIONS "tflite_unions.def"
#include "tflite/reflect.def"
