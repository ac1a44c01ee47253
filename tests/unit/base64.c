/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_base64 converts twelve bytes at a time, and base64_decode whole lines.  Here a
 * simple decoder of single digits determines the correct result for each byte at each
 * position of a text, and for lines of other lengths.
 */
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BYTES = 150, ROOM = 512 };

static int
value_of(int c)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *p = c ? strchr(digits, c) : NULL;

	return p ? (int)(p - digits) : -1;
}

/* the bytes of a text; -1 if it is not base64 */
static int
plain(const char *s, size_t len, uint8_t *out)
{
	uint32_t v = 0;
	int n = 0, have = 0, pad = 0;

	for (size_t i = 0; i < len; i++) {
		int digit = value_of((unsigned char)s[i]);
		if (s[i] == '\n' || s[i] == '\r')
			continue;
		if (s[i] == '=') {
			pad++;
			continue;
		}
		if (pad || digit < 0)
			return -1;
		v = v << 6 | (uint32_t)digit;
		if (++have % 4 != 1)
			out[n++] = (uint8_t)(v >> (8 - have % 4 * 2) % 8);
	}
	bool whole = pad ? have % 4 + pad == 4 && have % 4 > 1 : have % 4 != 1;
	return whole ? n : -1;
}

static bool
agrees(const char *s, size_t len)
{
	uint8_t want[ROOM], got[ROOM];
	int n = plain(s, len, want);
	size_t room = n < 0 ? BYTES : (size_t)n;

	bool ok = base64_decode(s, len, got, room) == (n >= 0) &&
		  (n < 0 || !memcmp(want, got, room));
	if (n > 0)
		ok = ok && !base64_decode(s, len, got, room - 1) &&
		     !base64_decode(s, len, got, room + 1);
	memcpy(got, s, len); /* and in place */
	ok = ok && base64_decode((char *)got, len, got, room) == (n >= 0) &&
	     (n < 0 || !memcmp(want, got, room));
	if (!ok)
		printf("not as digit by digit: %.*s\n", (int)len, s);
	return ok;
}

/* each byte at each position */
static bool
check_places(const char *text, size_t len)
{
	char s[ROOM];
	bool ok = true;

	for (size_t at = 0; ok && at < len; at++) {
		memcpy(s, text, len);
		for (int c = 0; ok && c < 256; c++) {
			s[at] = (char)c;
			ok = agrees(s, len);
		}
	}
	return ok;
}

/* newlines after each `width` digits, for every width */
static bool
check_lines(const char *text, size_t len)
{
	bool ok = true;

	for (size_t width = 1; ok && width < len; width++) {
		char s[2 * ROOM];
		size_t n = 0, digits = 0;
		for (size_t i = 0; i < len; i++) {
			if (text[i] == '\n')
				continue;
			s[n++] = text[i];
			if (++digits % width == 0)
				s[n++] = '\n';
		}
		ok = agrees(s, n);
	}
	return ok;
}

/* every digit at every position of two lines, and of all shorter ones */
static bool
check_digits(void)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	bool ok = true;
	for (unsigned from = 0; ok && from < 64; from++) {
		uint8_t data[BYTES] = { 0 };
		char want[ROOM];
		for (unsigned i = 0; i < BYTES / 3 * 4; i++) {
			uint32_t v = (from + i * 29) % 64;
			unsigned bit = 6 * i;
			want[i] = digits[v];
			data[bit / 8] |= (uint8_t)(v << 2 >> bit % 8);
			if (bit % 8 > 2)
				data[bit / 8 + 1] |= (uint8_t)(v << (10 - bit % 8));
		}
		for (size_t n = 3; ok && n <= BYTES; n += 3) {
			struct text t = { 0 };
			size_t k = 0;
			text_base64(&t, data, n);
			for (size_t i = 0; ok && i < t.n; i++)
				ok = t.p[i] == '\n' || t.p[i] == want[k++];
			ok = ok && k == n / 3 * 4;
			text_free(&t);
		}
	}
	if (!ok)
		printf("a digit is wrong\n");
	return ok;
}

int
main(void)
{
	uint8_t data[BYTES];
	bool ok = check_digits();

	for (size_t i = 0; i < BYTES; i++)
		data[i] = (uint8_t)(i * 151 + i / 7);
	for (size_t n = BYTES - 3; ok && n <= BYTES; n++) {
		struct text t = { 0 };
		text_base64(&t, data, n);
		ok = agrees(t.p, t.n) && check_places(t.p, t.n) &&
		     check_lines(t.p, t.n);
		text_free(&t);
	}
	return ok ? 0 : 1;
}
