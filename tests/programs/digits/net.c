/* SPDX-License-Identifier: Apache-2.0 */
/* The network in float: layers, forward and backward. */
#include "digits.h"

#include <math.h>
#include <string.h>

/* clang-format off */
const struct plan plan[N_LAYERS] = {
	{ .name = "stem",    .kind = CONV,      .kernel = 3, .stride = 2, .channels = 16, .relu = true },
	{ .name = "dw1",     .kind = DEPTHWISE, .kernel = 3, .stride = 1, .channels = 16, .relu = true },
	{ .name = "pw1",     .kind = CONV,      .kernel = 1, .stride = 1, .channels = 24, .relu = true },
	{ .name = "dw2",     .kind = DEPTHWISE, .kernel = 3, .stride = 1, .channels = 24, .relu = true },
	{ .name = "pw2",     .kind = CONV,      .kernel = 1, .stride = 1, .channels = 24 },
	{ .name = "residual", .kind = ADD, .also_from = 3, .relu = true },
	{ .name = "dw3",     .kind = DEPTHWISE, .kernel = 3, .stride = 2, .channels = 24, .relu = true },
	{ .name = "pw3",     .kind = CONV,      .kernel = 1, .stride = 1, .channels = 32, .relu = true },
	{ .name = "pw4",     .kind = CONV,      .kernel = 1, .stride = 1, .channels = 32, .relu = true },
	{ .name = "pool",    .kind = POOL,      .kernel = 3, .stride = 2, .valid = true },
	/* a convolution as large as its input: fully connected */
	{ .name = "logits",  .kind = CONV,      .kernel = 3, .stride = 1, .channels = CLASSES, .valid = true },
};
/* clang-format on */

static int
count(struct shape s)
{
	return s.h * s.w * s.c;
}

static void
shape_layer(const struct plan *p, struct layer *l)
{
	int c = p->channels ? p->channels : l->in.c;
	if (p->kind == ADD) {
		l->out = l->in;
		return;
	}
	int room = p->valid ? p->kernel - 1 : 0;
	l->out.h = (l->in.h - room + p->stride - 1) / p->stride;
	l->out.w = (l->in.w - room + p->stride - 1) / p->stride;
	l->out.c = c;
	int need = (l->out.h - 1) * p->stride + p->kernel - l->in.h;
	l->pad_top = l->pad_left = need > 0 ? need / 2 : 0;
}

static void
make_weights(struct arena *a, const struct plan *p, struct layer *l,
	     struct rng *r)
{
	if (p->kind != CONV && p->kind != DEPTHWISE)
		return;
	int fan_in = p->kernel * p->kernel * (p->kind == CONV ? l->in.c : 1);
	l->n_b = l->out.c;
	l->n_w = fan_in * l->out.c;
	l->w = anew(a, float, (size_t)l->n_w);
	l->gw = anew(a, float, (size_t)l->n_w);
	l->b_ = anew(a, float, (size_t)l->n_b);
	l->gb = anew(a, float, (size_t)l->n_b);
	float deviation = sqrtf(2.0f / (float)fan_in);
	for (int i = 0; i < l->n_w; i++)
		l->w[i] = deviation * rng_normal(r);
}

struct net *
net_new(struct arena *a, struct rng *r)
{
	struct net *n = anew(a, struct net, 1);
	struct shape shape[N_LAYERS + 1] = { { .h = SIDE, .w = SIDE, .c = 1 } };
	for (int i = 0; i < N_LAYERS; i++) {
		struct layer *l = &n->layer[i];
		l->a = i;
		l->b = plan[i].kind == ADD ? i + 1 - plan[i].also_from : i;
		l->in = shape[l->a];
		shape_layer(&plan[i], l);
		make_weights(a, &plan[i], l, r);
		shape[i + 1] = l->out;
	}
	for (int i = 0; i <= N_LAYERS; i++) {
		n->n_value[i] = count(shape[i]);
		n->value[i] = anew(a, float, (size_t)n->n_value[i]);
		n->grad[i] = anew(a, float, (size_t)n->n_value[i]);
	}
	return n;
}

/* ---- one pass ----------------------------------------------------------- */

/* a sum of products in 8 lanes: vector code with a fixed order of additions */
static float
dot(const float *restrict x, const float *restrict y, int n)
{
	float lane[8] = { 0 };
	int i = 0;
	for (; i + 8 <= n; i += 8)
		for (int k = 0; k < 8; k++)
			lane[k] += x[i + k] * y[i + k];
	for (; i < n; i++)
		lane[0] += x[i] * y[i];
	float s = 0;
	for (int k = 0; k < 8; k++)
		s += lane[k];
	return s;
}

static void
axpy(float *restrict y, float k, const float *restrict x, int n)
{
	for (int i = 0; i < n; i++)
		y[i] += k * x[i];
}

/*
 * The work of a layer for one output position and one kernel tap; forward adds to the
 * output, backward to the gradients.
 */
struct tap {
	const struct layer *l;
	const float *in, *w;
	float *out;
	float *g_in, *gw; /* backward only */
	const float *g_out;
	float share; /* POOL: 1 / positions */
};

static void
tap_forward(enum layer_kind kind, const struct tap *t)
{
	int n_in = t->l->in.c, n_out = t->l->out.c;
	switch (kind) {
	case CONV:
		for (int i = 0; i < n_in; i++)
			axpy(t->out, t->in[i], t->w + i * n_out, n_out);
		break;
	case DEPTHWISE:
		for (int i = 0; i < n_out; i++)
			t->out[i] += t->in[i] * t->w[i];
		break;
	case POOL:
		axpy(t->out, t->share, t->in, n_out);
		break;
	case ADD:
		break;
	}
}

static void
tap_backward(enum layer_kind kind, const struct tap *t)
{
	int n_in = t->l->in.c, n_out = t->l->out.c;
	switch (kind) {
	case CONV:
		for (int i = 0; i < n_in; i++) {
			axpy(t->gw + i * n_out, t->in[i], t->g_out, n_out);
			t->g_in[i] += dot(t->w + i * n_out, t->g_out, n_out);
		}
		break;
	case DEPTHWISE:
		for (int i = 0; i < n_out; i++) {
			t->gw[i] += t->in[i] * t->g_out[i];
			t->g_in[i] += t->w[i] * t->g_out[i];
		}
		break;
	case POOL:
		axpy(t->g_in, t->share, t->g_out, n_out);
		break;
	case ADD:
		break;
	}
}

static void
each_tap(struct net *n, int i, int oy, int ox, bool back)
{
	struct layer *l = &n->layer[i];
	const struct plan *p = &plan[i];
	int at = (oy * l->out.w + ox) * l->out.c;
	int step = p->kind == CONV ? l->in.c * l->out.c :
		   p->kind == DEPTHWISE ? l->out.c : 0;
	struct tap t = {
		.l = l,
		.share = 1.0f / (float)(p->kernel * p->kernel),
		.out = n->value[i + 1] + at,
		.g_out = n->grad[i + 1] + at,
	};
	for (int k = 0; k < p->kernel * p->kernel; k++) {
		int y = oy * p->stride + k / p->kernel - l->pad_top;
		int x = ox * p->stride + k % p->kernel - l->pad_left;
		if (y < 0 || y >= l->in.h || x < 0 || x >= l->in.w)
			continue;
		int from = (y * l->in.w + x) * l->in.c;
		t.in = n->value[l->a] + from;
		t.g_in = n->grad[l->a] + from;
		t.w = step ? l->w + k * step : NULL;
		t.gw = step ? l->gw + k * step : NULL;
		if (back)
			tap_backward(p->kind, &t);
		else
			tap_forward(p->kind, &t);
	}
}

static void
layer_forward(struct net *n, int i)
{
	const struct layer *l = &n->layer[i];
	float *out = n->value[i + 1];
	if (plan[i].kind == ADD)
		for (int k = 0; k < n->n_value[i + 1]; k++)
			out[k] = n->value[l->a][k] + n->value[l->b][k];
	for (int y = 0; y < l->out.h && plan[i].kind != ADD; y++)
		for (int x = 0; x < l->out.w; x++) {
			float *o = out + (y * l->out.w + x) * l->out.c;
			for (int c = 0; c < l->out.c; c++)
				o[c] = l->b_ ? l->b_[c] : 0;
			each_tap(n, i, y, x, false);
		}
	if (plan[i].relu)
		for (int k = 0; k < n->n_value[i + 1]; k++)
			if (out[k] < 0)
				out[k] = 0;
}

static void
layer_backward(struct net *n, int i)
{
	struct layer *l = &n->layer[i];
	float *g = n->grad[i + 1];
	if (plan[i].relu)
		for (int k = 0; k < n->n_value[i + 1]; k++)
			if (n->value[i + 1][k] <= 0)
				g[k] = 0;
	if (plan[i].kind == ADD) {
		axpy(n->grad[l->a], 1, g, n->n_value[i + 1]);
		axpy(n->grad[l->b], 1, g, n->n_value[i + 1]);
		return;
	}
	for (int y = 0; y < l->out.h; y++)
		for (int x = 0; x < l->out.w; x++) {
			if (l->gb)
				axpy(l->gb, 1,
				     g + (y * l->out.w + x) * l->out.c,
				     l->out.c);
			each_tap(n, i, y, x, true);
		}
}

void
net_forward(struct net *n, const struct picture *p)
{
	for (int i = 0; i < PIXELS; i++)
		n->value[0][i] = (float)p->pixel[i] / 255.0f;
	for (int i = 0; i < N_LAYERS; i++)
		layer_forward(n, i);
}

int
net_answer(const struct net *n)
{
	const float *logit = n->value[N_LAYERS];
	int best = 0;
	for (int i = 1; i < CLASSES; i++)
		if (logit[i] > logit[best])
			best = i;
	return best;
}

/* e^x for x <= 0, computed with additions and products only: the same on every
 * machine */
static float
exp_negative(float x)
{
	if (x < -40)
		return 0;
	double t = (double)x / 64, term = 1, sum = 1;
	for (int i = 1; i < 12; i++) {
		term *= t / i;
		sum += term;
	}
	for (int i = 0; i < 6; i++)
		sum *= sum;
	return (float)sum;
}

void
net_backward(struct net *n, int digit)
{
	const float *logit = n->value[N_LAYERS];
	float top = logit[net_answer(n)], sum = 0;
	for (int i = 0; i <= N_LAYERS; i++)
		memset(n->grad[i], 0, (size_t)n->n_value[i] * sizeof(float));
	float *g = n->grad[N_LAYERS];
	for (int i = 0; i < CLASSES; i++)
		sum += g[i] = exp_negative(logit[i] - top);
	for (int i = 0; i < CLASSES; i++)
		g[i] = g[i] / sum - (i == digit ? 1.0f : 0.0f);
	for (int i = N_LAYERS; i-- > 0;)
		layer_backward(n, i);
}
