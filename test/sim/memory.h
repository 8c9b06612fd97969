/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes allocations fail on request. One file of a program includes this; its linker wraps malloc,
 * calloc and realloc (CMakeLists.txt). */
#ifndef TEST_SIM_MEMORY_H
#define TEST_SIM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);

/* allocations until one fails; 1: the next; 0: none fails */
static _Atomic uint64_t countdown;
static _Atomic bool memory_gone; /* every allocation fails */

static bool fails_now(void)
{
	return memory_gone || (countdown > 0 && --countdown == 0);
}

void *__wrap_malloc(size_t bytes)
{
	return fails_now() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
	return fails_now() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *p, size_t bytes)
{
	return fails_now() ? NULL : __real_realloc(p, bytes);
}

#endif
