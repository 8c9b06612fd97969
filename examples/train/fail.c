/* SPDX-License-Identifier: BSD-3-Clause */
#include "fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void fail(const char *format, ...)
{
	va_list values;

	fflush(stdout);
	fputs("cl_train: ", stderr);
	va_start(values, format);
	vfprintf(stderr, format, values);
	va_end(values);
	fputc('\n', stderr);
	exit(EXIT_FAILURE);
}

void *allocate(size_t count, size_t element_bytes)
{
	void *memory = calloc(count, element_bytes);

	if (!memory)
		fail("out of memory for %zu bytes; free some, or use fewer samples",
		     count * element_bytes);
	return memory;
}
