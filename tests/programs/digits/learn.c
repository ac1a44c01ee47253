/* SPDX-License-Identifier: Apache-2.0 */
/* Trains in float, and counts the recognised drawings. */
#include "digits.h"

#include <math.h>

enum { BATCH = 32 };

/* Adam: Kingma, Ba, "A method for stochastic optimization" */
struct adam {
	float *m, *v;
	float rate, bias1, bias2;
};

static void
adam_step(const struct adam *k, float *m, float *v, float *w, float *g, int n)
{
	for (int i = 0; i < n; i++) {
		float d = g[i] / BATCH;
		m[i] = 0.9f * m[i] + 0.1f * d;
		v[i] = 0.999f * v[i] + 0.001f * d * d;
		w[i] -= k->rate * (m[i] / k->bias1) /
			(sqrtf(v[i] / k->bias2) + 1e-8f);
		g[i] = 0;
	}
}

static void
step_layers(struct net *n, const struct adam *k)
{
	float *m = k->m, *v = k->v;
	for (int i = 0; i < N_LAYERS; i++) {
		struct layer *l = &n->layer[i];
		adam_step(k, m, v, l->w, l->gw, l->n_w);
		adam_step(k, m + l->n_w, v + l->n_w, l->b_, l->gb, l->n_b);
		m += l->n_w + l->n_b;
		v += l->n_w + l->n_b;
	}
}

void
learn(struct arena *a, struct net *n, int n_pictures)
{
	struct rng r = rng_seeded(SEED_TRAIN);
	size_t n_w = 0;
	for (int i = 0; i < N_LAYERS; i++)
		n_w += (size_t)(n->layer[i].n_w + n->layer[i].n_b);
	struct adam k = { .m = anew(a, float, n_w), .v = anew(a, float, n_w) };
	float beta1 = 1, beta2 = 1;
	int n_steps = n_pictures / BATCH;

	for (int step = 0; step < n_steps; step++) {
		for (int i = 0; i < BATCH; i++) {
			struct picture p;
			draw_any(&r, &p);
			net_forward(n, &p);
			net_backward(n, p.digit);
		}
		beta1 *= 0.9f;
		beta2 *= 0.999f;
		k.bias1 = 1 - beta1;
		k.bias2 = 1 - beta2;
		/* falls linearly to 0 */
		k.rate = 0.004f * (float)(n_steps - step) / (float)n_steps;
		step_layers(n, &k);
	}
}

double
accuracy_float(struct net *n, int n_pictures)
{
	struct rng r = rng_seeded(SEED_TEST);
	int right = 0;
	for (int i = 0; i < n_pictures; i++) {
		struct picture p;
		draw_any(&r, &p);
		net_forward(n, &p);
		right += net_answer(n) == p.digit;
	}
	return (double)right / n_pictures;
}
