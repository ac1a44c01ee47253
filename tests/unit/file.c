/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_write replaces a file at once: a reader sees the old content or the new
 * content, complete, while the file is written again and again.  No other file is
 * left beside it.
 */
#include "base/arena.h"
#include "base/file.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 200000, TIMES = 300 };

static const char name[] = "out";

static bool
is_whole(struct bytes b)
{
	if (b.n != SIZE || (b.p[0] != 'a' && b.p[0] != 'b'))
		return false;
	for (size_t i = 0; i < b.n; i++)
		if (b.p[i] != b.p[0])
			return false;
	return true;
}

/* reads until it is stopped, or until it sees incomplete content */
static int
watch(void)
{
	for (;;) {
		struct arena *a = arena_open();
		struct err e = { 0 };
		struct bytes b;
		bool ok = file_read(a, name, SIZE, &b, &e) && is_whole(b);
		arena_close(a);
		if (!ok)
			return 1;
	}
}

static bool
write_times(void)
{
	static char text[SIZE];
	struct err e = { 0 };
	bool ok = true;
	for (int i = 0; ok && i < TIMES; i++) {
		memset(text, i % 2 ? 'b' : 'a', SIZE);
		ok = file_write(name, text, SIZE, true, &e);
	}
	return ok;
}

static bool
write_watched(void)
{
	int status = 0;
	pid_t pid = fork();
	if (!pid)
		_exit(watch());
	bool ok = pid > 0 && write_times();
	ok = pid > 0 && !waitpid(pid, &status, WNOHANG) && ok;
	if (pid > 0 && !kill(pid, SIGKILL))
		(void)waitpid(pid, &status, 0);
	return ok;
}

/* the number of names, without "." and ".." */
static int
names(void)
{
	DIR *d = opendir(".");
	int n = -2;
	while (d && readdir(d))
		n++;
	if (d)
		(void)closedir(d);
	return n;
}

static bool
holds(const char *path, const char *text)
{
	/* without file_read(), because a file that it read is never overwritten */
	char b[SIZE];
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(b, 1, sizeof(b), f) : 0;
	return f && !fclose(f) && n == strlen(text) && !memcmp(b, text, n);
}

/* an input is not overwritten, also through a link, and one name has one output */
static bool
check_inputs(void)
{
	struct arena *a = arena_open();
	struct err e[3] = { 0 };
	struct bytes b;
	struct file_set *s = file_set_open(a);
	bool ok = file_write("in", "x", 1, true, &e[0]) && !symlink("in", "link") &&
		  file_read(a, "in", SIZE, &b, &e[0]) &&
		  !file_write("link", "y", 1, true, &e[0]) &&
		  !strcmp(e[0].place, "link") && strstr(e[0].text, "the output would overwrite the input in;") &&
		  file_set_add(s, "in", "y", 1, true, &e[1]) && !file_set_commit(s, &e[1]) &&
		  strstr(e[1].text, "would overwrite the input in;") && holds("in", "x") &&
		  file_set_add(s, "new", "y", 1, true, &e[2]) &&
		  file_set_add(s, "./new", "z", 1, true, &e[2]) && !file_set_commit(s, &e[2]) &&
		  !strcmp(e[2].place, "./new") && strstr(e[2].text, "two outputs have this name;") &&
		  access("new", F_OK) && !unlink("link") && !unlink("in");
	arena_close(a);
	return ok;
}

/* links stay links; a new file does not change the file that is open under its name */
static bool
check_links(void)
{
	struct err e = { 0 };
	struct stat st;
	char open_file[40];
	FILE *f = fopen("file", "w");
	if (!f || symlink("file", "link") || symlink("new", "dangling"))
		return false;
	(void)snprintf(open_file, sizeof(open_file), "/proc/self/fd/%d", fileno(f));
	bool ok = file_write(open_file, "abc", 3, true, &e) && !fstat(fileno(f), &st) &&
		  st.st_size == 3 && st.st_nlink == 1 && holds("file", "abc");
	(void)fclose(f);
	if (!ok || symlink("none/file", "nowhere") || symlink("loop", "loop") ||
	    file_write("nowhere", "z", 1, true, &e) ||
	    file_write("loop", "z", 1, true, &e) || unlink("nowhere") ||
	    unlink("loop"))
		return false;
	e = (struct err){ 0 };
	return file_write("link", "x", 1, true, &e) && holds("file", "x") &&
	       file_write("dangling", "y", 1, true, &e) && holds("new", "y") &&
	       !lstat("link", &st) && S_ISLNK(st.st_mode) &&
	       !lstat("dangling", &st) && S_ISLNK(st.st_mode) &&
	       !unlink("link") && !unlink("dangling") && !unlink("file") &&
	       !unlink("new");
}

/* removes a directory with the files that it contains */
static bool
remove_all(const char *path)
{
	DIR *d = opendir(path);
	const struct dirent *f;
	while (d && (f = readdir(d)))
		(void)unlinkat(dirfd(d), f->d_name, 0);
	return d && !closedir(d) && !rmdir(path);
}

/* both files appear or neither; an old file keeps its content */
static bool
check_sets(void)
{
	struct err e = { 0 };
	struct arena *a = arena_open();
	struct file_set *s = file_set_open(a);
	bool ok = file_write("one", "old", 3, true, &e) &&
		  file_set_add(s, "one", "1", 1, true, &e) &&
		  file_set_add(s, "two", "2", 1, true, &e) && holds("one", "old") &&
		  access("two", F_OK) && file_set_commit(s, &e) &&
		  holds("one", "1") && holds("two", "2");
	/* the last file cannot get its name: no file has a new content */
	ok = ok && !unlink("two") && file_set_add(s, "one", "3", 1, true, &e) &&
	     file_set_add(s, "two", "4", 1, true, &e) &&
	     file_set_adopt(s, "three", "missing", &e) && !file_set_commit(s, &e) &&
	     e.status == EXIT_TROUBLE && holds("one", "1") && access("two", F_OK);
	/* nor can a file in a directory that does not exist */
	file_set_directory(s, "new");
	ok = ok && file_set_add(s, "new/one", "5", 1, true, &e) &&
	     file_set_add(s, "one", "6", 1, true, &e) &&
	     file_set_add(s, "none/two", "7", 1, true, &e) &&
	     !file_set_commit(s, &e) && holds("one", "1") && access("new", F_OK);
	/* directories are made for the files in them; complete files are moved */
	file_set_directory(s, "new");
	ok = ok && file_write("whole", "8", 1, true, &e) &&
	     file_set_add(s, "new/one", "5", 1, true, &e) &&
	     file_set_adopt(s, "one", "whole", &e) && file_set_commit(s, &e) &&
	     holds("new/one", "5") && holds("one", "8") && access("whole", F_OK);
	/* lent bytes are read at the commit; added bytes are copied */
	char lent[] = "9", copied[] = "9";
	struct bytes b = { .p = (const uint8_t *)lent, .n = 1 };
	ok = ok && file_set_lend(s, "new/one", b, true, &e) &&
	     file_set_add(s, "one", copied, 1, true, &e);
	lent[0] = copied[0] = '0';
	ok = ok && file_set_commit(s, &e) && holds("new/one", "0") && holds("one", "9");
	ok = ok && remove_all("new") && !unlink("one");
	arena_close(a);
	return ok;
}

/* a name may have 255 bytes, although a temporary name stands beside it */
static bool
check_long_name(void)
{
	char longest[256], longer[257];
	struct err e = { 0 };
	memset(longest, 'n', 255);
	memset(longer, 'n', 256);
	longest[255] = longer[256] = '\0';
	return file_write(longest, "x", 1, true, &e) && holds(longest, "x") &&
	       file_write(longest, "y", 1, true, &e) && holds(longest, "y") &&
	       !unlink(longest) && !file_write(longer, "x", 1, true, &e);
}

static bool
check(void)
{
	struct err e = { 0 };
	struct stat st;
	(void)umask(027);
	if (!file_write(name, "", 0, true, &e) || stat(name, &st) ||
	    (st.st_mode & 0777) != 0640)
		return false;
	if (!write_times() || !write_watched() || names() != 1)
		return false;
	if (mkdir("dir", 0777) || file_write("dir", "", 0, true, &e) ||
	    file_write("none/out", "", 0, true, &e))
		return false;
	return check_links() && check_inputs() && check_sets() && check_long_name() && names() == 2;
}

int
main(void)
{
	char dir[] = "/tmp/file.XXXXXX";
	if (!mkdtemp(dir) || chdir(dir))
		return 1;
	bool ok = check();
	(void)unlink(name);
	(void)rmdir("dir");
	return ok && !rmdir(dir) ? 0 : 1;
}
