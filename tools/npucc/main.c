/* SPDX-License-Identifier: Apache-2.0 */
/* npucc: the stages as one pipe, each option at the stage that it is for. */
#include "npucc.h"

#include "base/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* a pipe must not get the number of a standard stream that somebody closed */
static void
open_standard(void)
{
	/* the wrong way round: who uses one gets an error */
	static const int flags[] = { O_WRONLY, O_RDONLY, O_RDONLY };
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)open("/dev/null", flags[fd]);
}

static bool
check_streams(const struct options *o, struct err *e)
{
	if (o->in && access(o->in, R_OK))
		return err_set(e, "%s: error: cannot be read: %s", o->in,
			       strerror(errno));
	if (!o->in && isatty(STDIN_FILENO))
		return err_set(e, "no model, and standard input is a terminal");
	if (!o->report && o->out && !strcmp(o->out, "-") && isatty(STDOUT_FILENO))
		return err_set(e, "standard output is a terminal, and a model binary");
	return true;
}

/* a graph of TOSA's, not a model; what is piped is taken for a model */
static void
tell_front_end(struct npucc *c)
{
	char b[8];
	struct stat st;
	bool file = c->o->in && !stat(c->o->in, &st) && S_ISREG(st.st_mode);
	FILE *f = file ? fopen(c->o->in, "rbe") : NULL;
	c->tosa = f && fread(b, 1, sizeof(b), f) == sizeof(b) &&
		  !memcmp(b + 4, "TOSA", 4);
	if (f)
		(void)fclose(f);
}

static bool
deliver(struct npucc *c, const char *made)
{
	struct bytes b;
	if (c->o->out && strcmp(c->o->out, "-") != 0) {
		if (!file_set_adopt(c->files, c->o->out, made, c->e))
			return false;
	} else if (c->o->out && made) {
		if (!file_read(c->a, made, SIZE_MAX / 4, &b, c->e) ||
		    !file_write(NULL, b.p, b.n, true, c->e))
			return false;
	}
	return places_commit(c);
}

static bool
run(struct npucc *c)
{
	const struct options *o = c->o;
	const char *made = NULL; /* NULL: it has been written already */
	if (!check_streams(o, c->e))
		return false;
	tell_front_end(c);
	if (!programs_find(c) || !places_open(c))
		return false;
	bool ok = o->keep    ? compile_kept(c, &made)
		  : o->check ? compile_checked(c, &made)
			     : compile_plain(c, &made);
	return ok && deliver(c, made);
}

int
main(int argc, char **argv)
{
	struct err e = { 0 };
	open_standard();
	struct arena *a = arena_open();
	struct options o = { .a = a };
	options_parse(&o, argc, argv);
	struct npucc c = { .a = a, .e = &e, .o = &o };
	(void)run(&c);
	places_close(&c);
	arena_close(a);
	int status = cli_finish(&e);
	return status ? status : c.status;
}
