/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded before libc (LD_PRELOAD): does what hostile input might make a program do, when the
 * program reads its first file.  For each deed that succeeds, a line in the file with the
 * number INTRUDE_REPORT, and at the end the line "tried".
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int report = -1;

static void
say(const char *deed)
{
	(void)!write(report, deed, strlen(deed));
	(void)!write(report, "\n", 1);
}

/* True if a system call returned a file descriptor, which stays open. */
static bool
got(int fd)
{
	return fd >= 0;
}

static void *
in_thread(void *unused)
{
	if (got(open("/etc/passwd", O_RDONLY)))
		say("opened a file in a thread");
	return unused;
}

static void
intrude(void)
{
	pthread_t t;
	char *const argv[] = { "true", NULL };
	if (got(open("/etc/passwd", O_RDONLY)))
		say("opened a file");
	if (got(openat(AT_FDCWD, "..", O_RDONLY | O_DIRECTORY)))
		say("listed a directory");
	if (got(open("intruder", O_WRONLY | O_CREAT, 0600)))
		say("created a file");
	if (got(open("secret", O_WRONLY)) || !truncate("secret", 0))
		say("changed a file");
	if (!chmod("secret", 0777) || !unlink("secret") || !rename("secret", "stolen"))
		say("changed a directory");
	if (got(socket(AF_UNIX, SOCK_STREAM, 0)) || got(socket(AF_INET, SOCK_STREAM, 0)))
		say("opened a socket");
	if (!kill(getppid(), 0))
		say("could send a signal");
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0); /* cppcheck-suppress invalidFunctionArg */
	if (code != MAP_FAILED)
		say("made executable memory");
	if (!pthread_create(&t, NULL, in_thread, NULL))
		(void)pthread_join(t, NULL);
	else
		say("could not start a thread");
	if (fork() >= 0)
		say("started a process");
	(void)execv("/bin/true", argv);
	say("tried");
}

/* Only in the program that the test starts: not in processes and programs that it starts. */
static pid_t own;

__attribute__((constructor)) static void
load(void)
{
	const char *number = getenv("INTRUDE_REPORT");
	if (!number)
		return;
	report = atoi(number);
	own = getpid();
	(void)unsetenv("INTRUDE_REPORT");
}

ssize_t
read(int fd, void *p, size_t n)
{
	static ssize_t (*libc)(int, void *, size_t);
	if (!libc)
		*(void **)&libc = dlsym(RTLD_NEXT, "read");
	if (own == getpid()) {
		own = 0;
		intrude();
	}
	return libc(fd, p, n);
}
