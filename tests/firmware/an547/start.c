/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MPS3 AN547 (a Cortex-M55, near to Corstone-300), as qemu emulates it: vectors,
 * start, and the C library's system calls by semihosting.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reent.h>
#include <sys/stat.h>

extern uint32_t bss_begin[], bss_end[], stack_top[];
extern char heap_begin[], heap_end[];
extern void (*init_begin[])(void), (*init_end[])(void);

int main(void);
_Noreturn void reset(void);
_Noreturn void fault(void);
void SysTick_Handler(void);
void NPU_Handler(void);

/* semihosting operations: Arm's specification, 2.0 */
enum { SYS_OPEN = 0x01, SYS_WRITE = 0x05, SYS_EXIT_EXTENDED = 0x20 };
enum { APPLICATION_EXIT = 0x20026, MODE_W = 4 };

#define CPACR ((volatile uint32_t *)0xe000ed88)

static uintptr_t
semihost(uintptr_t operation, const void *argument)
{
	register uintptr_t r0 __asm__("r0") = operation;
	register const void *r1 __asm__("r1") = argument;
	__asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
	return r0;
}

/* ---- system calls ------------------------------------------------------- */

void _exit(int status);
int _write(int file, const char *p, int n);
void *_sbrk(ptrdiff_t more);
int _read(int file, char *p, int n);
int _close(int file);
int _fstat(int file, struct stat *s);
int _isatty(int file);
off_t _lseek(int file, off_t at, int from);
int _kill(int process, int signal);
int _getpid(void);

void
_exit(int status)
{
	uintptr_t block[2] = { APPLICATION_EXIT, (uintptr_t)status };
	for (;;)
		(void)semihost(SYS_EXIT_EXTENDED, block);
}

/* both streams are the emulator's standard output */
int
_write(int file, const char *p, int n)
{
	static uintptr_t console;
	(void)file;
	if (!console) {
		static const char name[] = ":tt";
		uintptr_t open[3] = { (uintptr_t)name, MODE_W, sizeof(name) - 1 };
		console = semihost(SYS_OPEN, open);
	}
	uintptr_t block[3] = { console, (uintptr_t)p, (uintptr_t)n };
	return n - (int)semihost(SYS_WRITE, block);
}

void *
_sbrk(ptrdiff_t more)
{
	static char *end = heap_begin;
	char *p = end;
	if (more > heap_end - end) {
		errno = ENOMEM;
		return (void *)-1;
	}
	end += more;
	return p;
}

int
_read(int file, char *p, int n)
{
	(void)file;
	(void)p;
	(void)n;
	return 0;
}

int
_close(int file)
{
	(void)file;
	return -1;
}

int
_fstat(int file, struct stat *s)
{
	(void)file;
	s->st_mode = S_IFCHR;
	return 0;
}

int
_isatty(int file)
{
	(void)file;
	return 1;
}

off_t
_lseek(int file, off_t at, int from)
{
	(void)file;
	(void)at;
	(void)from;
	return 0;
}

int
_kill(int process, int signal)
{
	(void)process;
	_exit(128 + signal);
	return -1;
}

int
_getpid(void)
{
	return 1;
}

/* the NPU's model allocates in an interrupt: no other allocation may interrupt it */
static int locks;

void
__malloc_lock(struct _reent *r)
{
	(void)r;
	__asm__ volatile("cpsid i" ::: "memory");
	locks++;
}

void
__malloc_unlock(struct _reent *r)
{
	(void)r;
	if (!--locks)
		__asm__ volatile("cpsie i" ::: "memory");
}

/* C++ registers destructors under this handle, which crtbegin.o defines */
extern void *__dso_handle;
void *__dso_handle;

/* exit() calls it; crti.o defines it, which -nostartfiles leaves out */
void _fini(void);

void
_fini(void)
{
}

/* ---- start -------------------------------------------------------------- */

_Noreturn void
fault(void)
{
	static const char text[] = "fault\n";
	(void)_write(2, text, sizeof(text) - 1);
	_exit(3);
	for (;;)
		;
}

void __attribute__((weak))
SysTick_Handler(void)
{
	fault();
}

void __attribute__((weak))
NPU_Handler(void)
{
	fault();
}

/* not inlined: the float and vector coprocessors must be switched on first */
static void __attribute__((noinline))
start(void)
{
	memset(bss_begin, 0, (size_t)((char *)bss_end - (char *)bss_begin));
	for (void (**f)(void) = init_begin; f < init_end; f++)
		(*f)();
	exit(main());
}

_Noreturn void
reset(void)
{
	*CPACR |= 0xfu << 20;
	__asm__ volatile("dsb\n\tisb" ::: "memory");
	start();
	for (;;)
		;
}

typedef void (*handler)(void);

enum { SYSTICK = 14, IRQ_0 = 15, NPU_IRQ = 56 };

static const struct vectors {
	uint32_t *stack;
	handler handler[79]; /* reset, the core's exceptions, interrupts */
} vectors __attribute__((section(".vectors"), used)) = {
	.stack = stack_top,
	.handler = { reset, fault, fault, fault, fault, fault, fault,
		     [SYSTICK] = SysTick_Handler,
		     [IRQ_0 + NPU_IRQ] = NPU_Handler },
};
