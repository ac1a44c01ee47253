/* SPDX-License-Identifier: Apache-2.0 */
/* The types of TFLite's tensors, which the graph has, too. */
#ifndef TFLITE_TYPES_H
#define TFLITE_TYPES_H

enum tfl_type {
	TFL_FLOAT32 = 0, TFL_FLOAT16 = 1, TFL_INT32 = 2, TFL_UINT8 = 3,
	TFL_INT64 = 4, TFL_STRING = 5, TFL_BOOL = 6, TFL_INT16 = 7,
	TFL_INT8 = 9, TFL_FLOAT64 = 10, TFL_RESOURCE = 13, TFL_UINT32 = 15, TFL_UINT16 = 16,
	TFL_INT4 = 17,
};

enum { TFL_MAX_RANK = 8 };

const char *tfl_type_name(int type);   /* example: "INT8" */
/* bytes of an element in memory, where an INT4 has a byte; 0: packed or variable */
int tfl_type_bytes(int type);

#endif
