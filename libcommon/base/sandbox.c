/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sandbox.h"

#include "base/diag.h"

#include <stddef.h>

bool sandbox_forbidden;

/* A sanitizer's runtime opens files of its own and starts processes, for its report. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	__has_feature(memory_sanitizer)
#define SANITIZED
#endif
#endif

#if defined(__linux__) && !defined(SANITIZED)

#include "base/file.h"
#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool entered; /* global, as the sandbox is the process's */

/* ---- files: Landlock ------------------------------------------------------------------ */

/*
 * The kernel's interface, restated because linux/landlock.h of many systems is older than
 * their kernel.  The numbers of the calls are the same for all machines but Alpha.
 */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { GET_VERSION = 1, PATH_BENEATH = 1 };
enum {
	WRITE_FILE = 1 << 1, READ_FILE = 1 << 2, READ_DIR = 1 << 3, REMOVE_DIR = 1 << 4,
	REMOVE_FILE = 1 << 5, MAKE_DIR = 1 << 7, MAKE_REG = 1 << 8,
	WRITE_BESIDE = WRITE_FILE | REMOVE_FILE | MAKE_REG,
};

struct ruleset {
	uint64_t files, net, scoped;
};

struct __attribute__((packed)) path_beneath {
	uint64_t allowed;
	int32_t fd;
};

/* Everything that version N of the interface can refuse: element N - 1. */
static const struct ruleset all[] = {
	{ .files = 0x1fff },
	{ .files = 0x3fff }, /* links between directories */
	{ .files = 0x7fff }, /* truncation */
	{ .files = 0x7fff, .net = 3 }, /* TCP */
	{ .files = 0xffff, .net = 3 }, /* commands for devices */
	{ .files = 0xffff, .net = 3, .scoped = 3 }, /* sockets and signals */
};

void
sandbox_open(struct sandbox *s)
{
	s->rules = -1;
	if (sandbox_forbidden)
		return;
	long version = syscall(CREATE_RULESET, NULL, (size_t)0, GET_VERSION);
	if (version < 1)
		return;
	size_t i = (size_t)version <= ARRAY_LEN(all) ? (size_t)version - 1 : ARRAY_LEN(all) - 1;
	size_t bytes = all[i].scoped ? sizeof(*all) : all[i].net ? 2 * sizeof(uint64_t)
								 : sizeof(uint64_t);
	s->rules = (int)syscall(CREATE_RULESET, &all[i], bytes, 0);
}

/* Failures leave path forbidden; pipes and files in memory need no rule. */
static void
permit(const struct sandbox *s, const char *path, int access)
{
	int fd = s->rules < 0 ? -1 : open(path, O_PATH | O_CLOEXEC);
	struct path_beneath rule = { .allowed = (uint64_t)access, .fd = fd };
	if (fd >= 0) {
		(void)syscall(ADD_RULE, s->rules, PATH_BENEATH, &rule, 0);
		(void)close(fd);
	}
}

void
sandbox_read(const struct sandbox *s, const char *path)
{
	if (!file_is_standard(path))
		permit(s, path, file_is_directory(path) ? READ_DIR | READ_FILE : READ_FILE);
}

void
sandbox_write(const struct sandbox *s, const char *path)
{
	struct stat st;
	char *place = file_is_standard(path) ? NULL : place_of(path);
	if (!place)
		return;
	if (!stat(place, &st) && !S_ISREG(st.st_mode)) {
		permit(s, place, WRITE_FILE);
	} else {
		char *dir = place_directory(place);
		if (dir)
			permit(s, dir, WRITE_BESIDE);
		free(dir);
	}
	free(place);
}

void
sandbox_write_in(const struct sandbox *s, const char *path)
{
	if (!path)
		return;
	/* the directory that exists; what is missing is made in it */
	char *dir = strdup(path);
	while (dir && access(dir, F_OK) && errno == ENOENT && strcmp(dir, ".") != 0) {
		size_t n = strlen(dir);
		while (n > 1 && dir[n - 1] == '/')
			dir[--n] = '\0';
		char *parent = place_directory(dir);
		free(dir);
		dir = parent;
	}
	if (dir)
		permit(s, dir, WRITE_BESIDE | MAKE_DIR | REMOVE_DIR);
	free(dir);
}

/* ---- system calls: seccomp --------------------------------------------------------------- */

#if defined(__x86_64__) && defined(__LP64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define MACHINE AUDIT_ARCH_AARCH64
#endif

#ifdef MACHINE

/* Calls that a program needs after its start; which files it opens, Landlock decides. */
static const int calls[] = {
	/* files */
	SYS_read, SYS_readv, SYS_write, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_lseek,
	SYS_close, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_fadvise64, SYS_openat, SYS_faccessat,
	SYS_readlinkat, SYS_mkdirat, SYS_unlinkat, SYS_renameat, SYS_renameat2, SYS_getcwd,
	SYS_umask, SYS_fchmod, SYS_ftruncate, SYS_getdents64, SYS_dup, SYS_dup3,
#ifdef SYS_faccessat2
	SYS_faccessat2,
#endif
#ifdef SYS_open /* these are older calls, which AArch64 lacks */
	SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_mkdir, SYS_rmdir,
	SYS_unlink, SYS_rename, SYS_dup2, SYS_poll, SYS_time, SYS_getrlimit,
#endif
	/* memory */
	SYS_munmap, SYS_mremap, SYS_madvise, SYS_brk,
	/* threads */
	SYS_futex, SYS_set_robust_list, SYS_set_tid_address, SYS_sched_getaffinity,
	SYS_sched_yield, SYS_membarrier, SYS_exit, SYS_exit_group,
#ifdef SYS_rseq
	SYS_rseq,
#endif
	SYS_wait4, /* for processes that were started before */
	/* signals to itself, time, and facts about the process */
	SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack,
	SYS_restart_syscall, SYS_nanosleep, SYS_clock_nanosleep, SYS_clock_gettime,
	SYS_clock_getres, SYS_gettimeofday, SYS_times, SYS_ppoll, SYS_getpid, SYS_getppid,
	SYS_gettid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getrandom,
	SYS_getrusage, SYS_sysinfo, SYS_uname,
};

/* Calls that are permitted only with an argument whose bits `mask` are `want`. */
static const struct {
	int call, argument;
	uint32_t mask, want;
} limited[] = {
	{ SYS_clone, 0, CLONE_THREAD, CLONE_THREAD },
	{ SYS_mmap, 2, PROT_EXEC, 0 },
	{ SYS_mprotect, 2, PROT_EXEC, 0 },
	{ SYS_ioctl, 1, UINT32_MAX, TCGETS },
	{ SYS_ioctl, 1, UINT32_MAX, TIOCGWINSZ },
	{ SYS_fcntl, 1, UINT32_MAX, F_GETFD },
	{ SYS_fcntl, 1, UINT32_MAX, F_SETFD },
	{ SYS_fcntl, 1, UINT32_MAX, F_GETFL },
	{ SYS_fcntl, 1, UINT32_MAX, F_DUPFD_CLOEXEC },
	{ SYS_fcntl, 1, UINT32_MAX, F_SETPIPE_SZ },
	{ SYS_prlimit64, 0, UINT32_MAX, 0 }, /* this process */
};

enum { PER_LIMITED = 6, X32_CALLS = 0x40000000 };

/* ENOSYS, so that libc takes an older call instead, as clone() for clone3() */
static const struct sock_filter
	load_call = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	permitted = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	refused = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);

/* Adds the instructions that permit a call with one argument; 6 as PER_LIMITED. */
static struct sock_filter *
put_limited(struct sock_filter *p, int call, int argument, uint32_t mask, uint32_t want)
{
	uint32_t at = (uint32_t)offsetof(struct seccomp_data, args) + 8 * (uint32_t)argument;
	*p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 5);
	*p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at);
	*p++ = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask);
	*p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, want, 0, 1);
	*p++ = permitted;
	*p++ = load_call;
	return p;
}

static void
filter_calls(void)
{
	enum { N_LIMITED = ARRAY_LEN(limited) + 2, N_CALLS = ARRAY_LEN(calls) };
	struct sock_filter code[8 + PER_LIMITED * N_LIMITED + 2 * N_CALLS], *p = code;
	*p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					    offsetof(struct seccomp_data, arch));
	*p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0);
	*p++ = refused;
	*p++ = load_call;
	*p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_CALLS, 0, 1);
	*p++ = refused;
	for (size_t i = 0; i < N_CALLS; i++) {
		*p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						    (uint32_t)calls[i], 0, 1);
		*p++ = permitted;
	}
	for (size_t i = 0; i < ARRAY_LEN(limited); i++)
		p = put_limited(p, limited[i].call, limited[i].argument, limited[i].mask,
				limited[i].want);
	/* abort() sends a signal to its own thread, by the first call or, in musl, the second */
	p = put_limited(p, SYS_tgkill, 0, UINT32_MAX, (uint32_t)getpid());
	p = put_limited(p, SYS_tkill, 0, UINT32_MAX, (uint32_t)getpid());
	*p++ = refused;
	struct sock_fprog program = { .len = (unsigned short)(p - code), .filter = code };
	/* without SPEC_ALLOW, kernels before 5.16 slow the whole program down */
	(void)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
		      &program);
}

#else

static void
filter_calls(void)
{
}

#endif

void
sandbox_enter(struct sandbox *s)
{
	if (s->rules < 0)
		return;
	if (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !syscall(RESTRICT_SELF, s->rules, 0)) {
		entered = true;
		filter_calls();
	}
	(void)close(s->rules);
	s->rules = -1;
}

bool
sandbox_refuses(const char *path)
{
	return entered && !access(path, R_OK);
}

#else

void
sandbox_open(struct sandbox *s)
{
	s->rules = -1;
}

void
sandbox_read(const struct sandbox *s, const char *path)
{
	(void)s, (void)path;
}

void
sandbox_write(const struct sandbox *s, const char *path)
{
	(void)s, (void)path;
}

void
sandbox_write_in(const struct sandbox *s, const char *path)
{
	(void)s, (void)path;
}

void
sandbox_enter(struct sandbox *s)
{
	(void)s;
}

bool
sandbox_refuses(const char *path)
{
	(void)path;
	return false;
}

#endif
