/* SPDX-License-Identifier: Apache-2.0 */
/* Features of sounds: what features.c and frontend.c share. */
#ifndef SAMPLES_FEATURES_H
#define SAMPLES_FEATURES_H

#include "samples/samples.h"

/* ---- frontend.c --------------------------------------------------------------------- */

enum { FRONTEND_WINDOW = 480, FRONTEND_CHANNELS = 40 };

/*
 * The fixed-point features of TensorFlow's micro frontend, bit by bit, with the parameters
 * of micro_speech: 16,000 samples per second, frames of 30 ms.  The noise estimate lasts
 * from frame to frame.
 */
struct frontend *frontend_open(struct arena *a);
void frontend_frame(struct frontend *f, const int16_t sample[FRONTEND_WINDOW],
		    uint16_t out[FRONTEND_CHANNELS]);

#endif
