/* SPDX-License-Identifier: Apache-2.0 */
/* Padding of windows, and PADs that become part of it: nputools-lowering(7) 6.3. */
#ifndef LOWER_PADDING_H
#define LOWER_PADDING_H

#include "lower/conv.h"
#include "lower/pool.h"

/*
 * Returns true if an operation can add the padding: the registers hold it, and no window of
 * this extent has padding alone, because its operation would have an empty IFM.
 */
bool low_pad_fits(struct g_pad pad, struct yx reach);
/*
 * Makes rows and columns that a PAD adds in front of an operation part of the operation's own
 * padding.  Returns false, and changes nothing, if the result would be another.
 *
 * A convolution takes a border of its zero point, which contributes nothing.  A maximum pool
 * takes a border that is at most `least`, the least value of the PAD's input.
 */
bool low_conv_takes_pad(struct low_conv *c, const struct low_borders *b);
bool low_pool_takes_pad(struct low_pool *p, const struct low_borders *b, int64_t least);

#endif
