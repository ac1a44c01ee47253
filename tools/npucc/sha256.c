/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 of FIPS 180-4, section 6.2. */
#include "npucc.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 64, BLOCK = 64 };

struct sha256 {
	uint32_t k[ROUNDS], h[8];
};

/* The first 32 bits of a fraction; long double holds 2 + 32 bits and many more. */
static uint32_t
fraction_bits(long double x)
{
	return (uint32_t)(uint64_t)((x - floorl(x)) * 0x1p32L);
}

static uint32_t
rotate(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

/* 6.2.2 */
static void
take_block(struct sha256 *s, const uint8_t *p)
{
	uint32_t w[ROUNDS], v[8];
	for (int i = 0; i < 16; i++, p += 4)
		w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
	for (int i = 16; i < ROUNDS; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];
		w[i] = w[i - 16] + w[i - 7] +
		       (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
		       (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
	memcpy(v, s->h, sizeof(v));
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t a = v[0], e = v[4];
		uint32_t choose = (e & v[5]) ^ (~e & v[6]);
		uint32_t most = (a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]);
		uint32_t t = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
			     choose + s->k[i] + w[i];
		memmove(v + 1, v, 7 * sizeof(*v));
		v[4] += t;
		v[0] = t + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + most;
	}
	for (int i = 0; i < 8; i++)
		s->h[i] += v[i];
}

void
sha256_hex(struct bytes b, char out[65])
{
	/* 4.2.2, 5.3.3: from cube roots and square roots of the first primes */
	struct sha256 s;
	for (int n = 0, p = 2; n < ROUNDS; p++) {
		bool is_prime = true;
		for (int d = 2; d * d <= p; d++)
			is_prime &= p % d != 0;
		if (!is_prime)
			continue;
		s.k[n] = fraction_bits(cbrtl(p));
		if (n < 8)
			s.h[n] = fraction_bits(sqrtl(p));
		n++;
	}
	for (size_t i = 0; i + BLOCK <= b.n; i += BLOCK)
		take_block(&s, b.p + i);

	/* 5.1.1: a 1 bit, zeros, and the length in bits */
	uint8_t end[2 * BLOCK] = { 0 };
	size_t rest = b.n % BLOCK, n = rest + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
	uint64_t bits = (uint64_t)b.n * 8;
	if (rest)
		memcpy(end, b.p + b.n - rest, rest);
	end[rest] = 0x80;
	for (size_t i = 0; i < 8; i++)
		end[n - 1 - i] = (uint8_t)(bits >> 8 * i);
	for (size_t i = 0; i < n; i += BLOCK)
		take_block(&s, end + i);
	for (int i = 0; i < 8; i++)
		(void)snprintf(out + (size_t)(8 * i), 9, "%08x", (unsigned)s.h[i]);
}
