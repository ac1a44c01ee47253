/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a call, in place of base/block.c: a list of all blocks, so that a call that
 * ends early frees them all.  The caller's functions allocate the blocks, if it has any.
 */
#include "lib.h"

#include "base/attempt.h"
#include "base/block.h"

#include <stdlib.h>
#include <string.h>

/* stands before each block */
struct header {
	_Alignas(16) struct header *next;
	struct header *before;
	void (*release)(void *context, void *p); /* NULL: free() */
	void *context;
};

static void
link_block(struct memory *m, struct header *h)
{
	(void)pthread_mutex_lock(&m->lock);
	h->before = NULL;
	h->next = m->first;
	if (h->next)
		h->next->before = h;
	m->first = h;
	(void)pthread_mutex_unlock(&m->lock);
}

static void
unlink_block(struct memory *m, const struct header *h)
{
	(void)pthread_mutex_lock(&m->lock);
	if (h->next)
		h->next->before = h->before;
	if (h->before)
		h->before->next = h->next;
	else
		m->first = h->next;
	(void)pthread_mutex_unlock(&m->lock);
}

static void *
allocate(const struct nputools_options *o, size_t n)
{
	const bool is_own = o->allocate;
	if (n > SIZE_MAX / 2)
		return NULL;
	n += sizeof(struct header);
	struct header *h = is_own ? o->allocate(o->memory_context, n) : calloc(1, n);
	if (!h)
		return NULL;
	if (is_own)
		memset(h, 0, n);
	h->release = is_own ? o->release : NULL;
	h->context = o->memory_context;
	return h + 1;
}

void *
memory_result(const struct nputools_options *o, size_t n)
{
	return allocate(o, n);
}

void
memory_free(void *p)
{
	struct header *h = p ? (struct header *)p - 1 : NULL;
	if (h && h->release)
		h->release(h->context, h);
	else
		free(h);
}

void
memory_open(struct memory *m)
{
	(void)pthread_mutex_init(&m->lock, NULL);
	m->first = NULL;
}

void
memory_close(struct memory *m)
{
	for (struct header *h = m->first, *next; h; h = next) {
		next = h->next;
		memory_free(h + 1);
	}
	(void)pthread_mutex_destroy(&m->lock);
}

void *
block_alloc(size_t n)
{
	struct call *c = attempt_call();
	struct header *h = c ? allocate(&c->o, n) : NULL;
	if (h)
		link_block(&c->memory, h - 1);
	return h;
}

bool
block_is_mapped(size_t n)
{
	(void)n;
	return false;
}

void *
block_grow(void *p, size_t n, size_t more)
{
	struct call *c = attempt_call();
	if (p && c && !c->o.allocate) {
		/* realloc() moves a large block without copying it */
		struct header *h = (struct header *)p - 1;
		unlink_block(&c->memory, h);
		struct header *moved = more > SIZE_MAX / 2 ? NULL : realloc(h, sizeof(*h) + more);
		link_block(&c->memory, moved ? moved : h);
		return moved ? moved + 1 : NULL;
	}
	void *q = block_alloc(more);
	if (!p || !q)
		return q;
	memcpy(q, p, n < more ? n : more);
	block_free(p, n);
	return q;
}

void
block_free(void *p, size_t n)
{
	struct call *c = attempt_call();
	(void)n;
	if (!p || !c)
		return;
	unlink_block(&c->memory, (struct header *)p - 1);
	memory_free(p);
}
