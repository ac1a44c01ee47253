/* SPDX-License-Identifier: Apache-2.0 */
/* npucc: runs the stages as one pipe, and passes each option to its stage. */
#include "npucc.h"

#include "base/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool
is_tosa(const void *p, ssize_t n)
{
	return n >= 8 && !memcmp((const char *)p + 4, "TOSA", 4);
}

/*
 * Detects a TOSA graph instead of a model.  Standard input and pipes, which can be read once,
 * are read completely.
 */
static bool
tell_front_end(struct npucc *c)
{
	char b[8];
	struct stat st = { .st_mode = S_IFIFO };
	if (c->o->in && stat(c->o->in, &st))
		return true; /* the first stage reports it */
	if (S_ISFIFO(st.st_mode)) {
		bool ok = file_read(c->a, c->o->in, INT32_MAX, &c->piped, c->e);
		c->tosa = ok && is_tosa(c->piped.p, (ssize_t)c->piped.n);
		return ok;
	}
	int fd = open(c->o->in, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && S_ISREG(st.st_mode))
		c->tosa = is_tosa(b, pread(fd, b, sizeof(b), 0));
	if (fd > STDIN_FILENO)
		(void)close(fd);
	return true;
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
	const char *made = NULL; /* NULL: already written to standard output */
	struct bytes summary = { 0 };
	if (o->in && access(o->in, R_OK))
		return err_at(c->e, o->in, 0, "can't read the file: %s", strerror(errno));
	if (!o->in && isatty(STDIN_FILENO))
		return err_set(c->e, "no model: name a file, or give the model on "
				     "standard input");
	if (!o->report && o->out && !strcmp(o->out, "-") && isatty(STDOUT_FILENO))
		return err_set(c->e, "a compiled model is binary and is not written to a "
				     "terminal: use -o FILE or redirect");
	/* started before reading, so that the wait for standard input is guarded, too */
	if (!places_open(c) || !tell_front_end(c))
		return false;
	const char *odd = c->tosa ? o->tflite_only : o->tosa_only;
	if (odd)
		return err_at(c->e, file_name(o->in), 0, "%s is for %s only, and this is a %s; "
			      "leave it out", odd, c->tosa ? "TFLite models" : "TOSA graphs",
			      c->tosa ? "TOSA graph" : "TFLite model");
	if (!programs_find(c))
		return false;
	bool ok = o->keep    ? compile_kept(c, &made)
		  : needs_model(o) ? compile_to_model(c, &made)
			     : compile_plain(c, &made);
	if (!ok && !o->errors_only)
		tell_operators(c);
	ok = ok && check_result(c, made);
	if (!ok && !o->errors_only)
		tell_fitting_option(c);
	if (ok && o->chose_out && !o->errors_only)
		tell_replaced(c, c->compiled ? c->compiled : made);
	ok = ok && (!(o->page || o->summary) || tell_made(c, c->compiled ? c->compiled : made, &summary)) &&
	     deliver(c, made);
	return ok && (!o->summary || file_write(NULL, summary.p, summary.n, false, c->e));
}

int
main(int argc, char **argv)
{
	struct err e = { 0 };
	/*
	 * Opens closed standard streams, so that no pipe gets the number of such a stream; in the
	 * wrong direction, so that every use fails.
	 */
	static const int flags[] = { O_WRONLY, O_RDONLY, O_RDONLY };
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)open("/dev/null", flags[fd]);
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
