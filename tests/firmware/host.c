/* SPDX-License-Identifier: Apache-2.0 */
/* The board's part of npu.h on the host: one frame. */
#include "npu.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t frames_done;

bool
frame_wait(uint32_t frame, int8_t *input, int n)
{
	(void)input;
	(void)n;
	return frame == frames_done && frame == 0;
}

void
frame_done(uint32_t frame)
{
	frames_done = frame + 1;
}

_Noreturn void
board_exit(const char *message, int status)
{
	(void)fputs(message, stdout);
	exit(status);
}
