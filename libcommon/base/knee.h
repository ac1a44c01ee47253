/* SPDX-License-Identifier: Apache-2.0 */
/* The plan to take of a Pareto front of SRAM and time, for programs that propose one. */
#ifndef BASE_KNEE_H
#define BASE_KNEE_H

#include <stddef.h>

struct knee_point {
	double sram; /* bytes */
	double time; /* of an inference, in any unit */
};

struct knee {
	size_t bend; /* the knee: the point farthest below the line between both ends */
	size_t take; /* the plan to take: the knee, or one of half its SRAM and hardly more time */
};

/*
 * Finds the knee of the points v[0 ... n-1], n > 0, whose SRAM ascends and whose time descends, with
 * both axes scaled to 0 ... 1.  Left of the knee, a byte of SRAM saves more time than on the
 * average of the front; right of the knee, less.  If no point is below the line, the knee is the end
 * with the smaller product of SRAM and time.  The plan to take is the smallest one of at most half of
 * the knee's SRAM that takes at most 2 % more time, or else the knee.
 */
struct knee knee_find(const struct knee_point *v, size_t n);

#endif
