/* SPDX-License-Identifier: Apache-2.0 */
#include "base/human.h"

#include "base/text.h"

/* 9.96 is 9.96, 99.6 is 99.6 and 996 is 996; 1000 has no fraction */
static const char *
three_digits(struct arena *a, double v, const char *unit)
{
	const double ten = 9.995, hundred = 99.95;
	int digits = v < ten ? 2 : v < hundred ? 1 : 0;
	return arena_printf(a, "%.*f %s", digits, v, unit);
}

const char *
human_bytes(struct arena *a, double v)
{
	static const char *const units[] = { "KiB", "MiB", "GiB" };
	const double step = 1024;
	size_t i = 0;
	if (v < step)
		return arena_printf(a, "%.0f bytes", v);
	for (v /= step; v >= step && i + 1 < ARRAY_LEN(units); i++)
		v /= step;
	return three_digits(a, v, units[i]);
}

const char *
human_ms(struct arena *a, double ms)
{
	const double thousand = 1000;
	if (ms >= thousand)
		return three_digits(a, ms / thousand, "s");
	return ms < 1 ? three_digits(a, ms * thousand, "\xc2\xb5s") : three_digits(a, ms, "ms");
}

const char *
human_clock(struct arena *a, double hz)
{
	const double mega = 1e6, giga = 1e9;
	return hz >= giga ? arena_printf(a, "%.4g GHz", hz / giga)
			  : arena_printf(a, "%.4g MHz", hz / mega);
}

const char *
human_count(struct arena *a, double v)
{
	const char *s = arena_printf(a, "%.0f", v);
	struct text t = { 0 };
	size_t n = 0;
	while (s[n])
		n++;
	for (size_t i = 0; i < n; i++) {
		text_putc(&t, s[i]);
		if ((n - i) % 3 == 1 && i + 1 < n && s[i] != '-')
			text_putc(&t, ',');
	}
	s = arena_strndup(a, t.p, t.n);
	text_free(&t);
	return s;
}

int
bytes_suffix_shift(const char *suffix)
{
	static const struct { char letter; int shift; } units[] = {
		{ 'k', 10 }, { 'K', 10 }, { 'm', 20 }, { 'M', 20 },
		{ 'g', 30 }, { 'G', 30 },
	};
	for (size_t i = 0; *suffix && !suffix[1] && i < ARRAY_LEN(units); i++)
		if (*suffix == units[i].letter)
			return units[i].shift;
	return 0;
}
