/* SPDX-License-Identifier: Apache-2.0 */
/* Reads FLAC, Ogg and AIFF, if built with libsndfile. */
#include "samples/samples.h"

#include <string.h>

#ifdef HAVE_SNDFILE
#include <sndfile.h>

struct memory {
	struct bytes file;
	sf_count_t at;
};

static sf_count_t
memory_length(void *p)
{
	return (sf_count_t)((struct memory *)p)->file.n;
}

static sf_count_t
memory_seek(sf_count_t offset, int whence, void *p)
{
	struct memory *m = p;
	sf_count_t n = memory_length(p);
	sf_count_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? m->at : n;
	if (offset < -from || offset > n - from)
		return -1;
	return m->at = from + offset;
}

static sf_count_t
memory_read(void *to, sf_count_t count, void *p)
{
	struct memory *m = p;
	sf_count_t left = memory_length(p) - m->at;
	count = count < left ? count : left;
	memcpy(to, m->file.p + m->at, (size_t)count);
	m->at += count;
	return count;
}

static sf_count_t
memory_write(const void *from, sf_count_t count, void *p)
{
	(void)from;
	(void)count;
	(void)p;
	return 0;
}

static sf_count_t
memory_tell(void *p)
{
	return ((struct memory *)p)->at;
}

/* 23 minutes at 48 kHz: larger than any input, and half a gigabyte of numbers */
enum { MAX_FRAMES = 1 << 26, MAX_SOUND_CHANNELS = 64, STEP = 1024 };

bool
load_sndfile(struct arena *a, struct bytes file, struct data *d, struct err *e)
{
	/*
	 * Only the formats that the manual names. libsndfile recognises MPEG in any bytes, and
	 * its MPEG reader writes messages of its own to standard error.
	 */
	static const char magic[][5] = { "fLaC", "OggS", "FORM" };
	bool is_named = false;
	for (size_t i = 0; i < ARRAY_LEN(magic); i++)
		is_named |= file.n >= 4 && !memcmp(file.p, magic[i], 4);
	if (!is_named)
		return err_at(e, d->name, 0, "not a WAV, FLAC, Ogg or AIFF file");
	struct memory m = { .file = file };
	SF_VIRTUAL_IO io = { .get_filelen = memory_length, .seek = memory_seek,
			     .read = memory_read, .write = memory_write,
			     .tell = memory_tell };
	SF_INFO info = { 0 };
	SNDFILE *s = sf_open_virtual(&io, SFM_READ, &info, &m);
	if (!s)
		return err_at(e, d->name, 0, "%s", sf_strerror(NULL));
	bool ok = info.frames >= 0 && info.frames <= MAX_FRAMES &&
		  info.channels >= 1 && info.channels <= MAX_SOUND_CHANNELS;
	if (ok) {
		/* until the file ends: the frame count in the file's header is not trusted */
		double frames[STEP * MAX_SOUND_CHANNELS];
		size_t cap = 0;
		sf_count_t n;
		while (d->n < MAX_FRAMES && (n = sf_readf_double(s, frames, STEP)) > 0)
			for (sf_count_t i = 0; i < n; i++) {
				double sum = 0;
				for (int c = 0; c < info.channels; c++)
					sum += frames[i * info.channels + c];
				agrow(a, d->v, d->n, &cap);
				d->v[d->n++] = sum / info.channels;
			}
		d->rate = (unsigned)info.samplerate;
		d->rank = 1;
		d->dim[0] = (int64_t)d->n;
		d->list = true;
	}
	(void)sf_close(s);
	return ok || err_at(e, d->name, 0, "the sound has %lld frames of %d channels; at most "
			    "%d of %d are supported", (long long)info.frames, info.channels,
			    (int)MAX_FRAMES, (int)MAX_SOUND_CHANNELS);
}

#else

bool
load_sndfile(struct arena *a, struct bytes file, struct data *d, struct err *e)
{
	(void)a;
	(void)file;
	return err_at(e, d->name, 0, "not a WAV file: this program was built without "
		      "libsndfile, which reads others");
}
#endif
