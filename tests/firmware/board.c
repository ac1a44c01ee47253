/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arm MPS3 with a Cortex-M55 (AN547, similar to Corstone-300), as qemu emulates it:
 * vector table, start, and semihosting for messages and exit.
 */
#include "npu.h"

#include <stddef.h>

extern uint32_t bss_begin[], bss_end[], stack_top[];

int main(void);
_Noreturn void reset(void);
_Noreturn void fault(void);

/* semihosting operations: Arm's specification, 2.0 */
enum { SYS_WRITE0 = 0x04, SYS_EXIT_EXTENDED = 0x20 };
enum { APPLICATION_EXIT = 0x20026 };

static void
semihost(uintptr_t operation, const void *argument)
{
	register uintptr_t r0 __asm__("r0") = operation;
	register const void *r1 __asm__("r1") = argument;
	__asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

_Noreturn void
board_exit(const char *message, int status)
{
	uintptr_t block[2] = { APPLICATION_EXIT, (uintptr_t)status };
	semihost(SYS_WRITE0, message);
	semihost(SYS_EXIT_EXTENDED, block);
	for (;;)
		;
}

_Noreturn void
fault(void)
{
	board_exit("fault\n", 3);
}

/* stands for a producer of frames: counts them, and provides the first frame again */
static volatile uint32_t frames_done;

enum { N_FRAMES = 3 };

bool
frame_wait(uint32_t frame, int8_t *input, int n)
{
	if (frame != frames_done || frame == N_FRAMES)
		return false;
	for (int i = 0; frame && i < n; i++)
		input[i] = (int8_t)(input[i] + 1);
	return true;
}

void
frame_done(uint32_t frame)
{
	frames_done = frame + 1;
}

_Noreturn void
reset(void)
{
	for (uint32_t *p = bss_begin; p < bss_end; p++)
		*p = 0;
	(void)main();
	board_exit("main returned\n", 3);
}

typedef void (*handler)(void);

static const struct vectors {
	uint32_t *stack;
	handler handler[15]; /* reset, then the core's exceptions */
} vectors __attribute__((section(".vectors"), used)) = {
	.stack = stack_top,
	.handler = { reset, fault, fault, fault, fault, fault, fault },
};
