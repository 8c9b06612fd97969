/* SPDX-License-Identifier: BSD-3-Clause */
/* Manages OpenCL handles. Each kind of object has a pool that only grows, so a released handle
 * still points to an object: a free one, or a new one of the same kind. The pool is first in, first
 * out, so an object stays free as long as possible, and a released handle can be recognized. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/opencl/object/object.h"

#define POOL_GROWTH 64 /* objects that a pool allocates at once */

/* Kinds that a program can get by a query of another object. Wrappers for C++ and Python retain
 * such handles, even if the program has released all its references. */
#define FOUND_KINDS \
	(1u << OBJECT_CONTEXT | 1u << OBJECT_QUEUE | 1u << OBJECT_MEMORY | 1u << OBJECT_PROGRAM)

struct pool {
	struct object *first, *last; /* list of objects with kind OBJECT_FREE */
	void (*end)(void *handle);
	size_t bytes;
};

static struct pool pools[OBJECT_KINDS];

void object_end_with(enum object_kind kind, void (*end)(void *handle))
{
	pools[kind].end = end;
}

static void give_back(struct pool *p, struct object *o)
{
	o->kind = OBJECT_FREE;
	o->next = NULL;
	if (p->last)
		p->last->next = o;
	else
		p->first = o;
	p->last = o;
}

/* Objects that were allocated together. A global list links all blocks, so that leak checkers find
 * them. */
struct grown {
	struct grown *next;
	max_align_t objects[];
};
static struct grown *all_grown;

static bool grow(struct pool *p)
{
	struct grown *g = calloc(1, sizeof(*g) + POOL_GROWTH * p->bytes);

	if (!g)
		return false;
	g->next = all_grown;
	all_grown = g;
	char *objects = (char *)g->objects;
	for (size_t i = 0; i < POOL_GROWTH; i++)
		give_back(p, (void *)(objects + i * p->bytes));
	return true;
}

void *object_new(enum object_kind kind, size_t bytes)
{
	struct pool *p = &pools[kind];

	bytes = (bytes + 15) & ~(size_t)15;
	assert(!p->bytes || p->bytes == bytes);
	p->bytes = bytes;
	if (!p->first && !grow(p))
		return NULL;
	struct object *o = p->first;
	p->first = o->next;
	if (!p->first)
		p->last = NULL;
	memset(o, 0, bytes);
	o->dispatch = &opencl_dispatch;
	o->kind = kind;
	o->references = 1;
	return o;
}

bool object_is(const void *handle, enum object_kind kind)
{
	const struct object *o = handle;

	if (!o || ((uintptr_t)o & 7) != 0 || o->kind != kind)
		return false;
	return o->references > 0 || (o->holds > 0 && (FOUND_KINDS & 1u << kind));
}

bool object_is_owned(const void *handle, enum object_kind kind)
{
	return object_is(handle, kind) && ((const struct object *)handle)->references > 0;
}

static void end_if_unused(struct object *o)
{
	if (o->references || o->holds)
		return;
	struct pool *p = &pools[o->kind];
	if (p->end)
		p->end(o);
	give_back(p, o);
}

void object_retain(void *handle)
{
	struct object *o = handle;

	o->references++;
}

void object_release(void *handle)
{
	struct object *o = handle;

	assert(o->references > 0);
	o->references--;
	end_if_unused(o);
}

void object_hold(void *handle)
{
	struct object *o = handle;

	if (o)
		o->holds++;
}

void object_drop(void *handle)
{
	struct object *o = handle;

	if (!o)
		return;
	assert(o->holds > 0);
	o->holds--;
	end_if_unused(o);
}
