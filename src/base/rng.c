/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void rng_entropy_kernel(void *context, void *out, uint64_t bytes)
{
	uint8_t *p = out;

	while (bytes > 0) {
		ssize_t got = getrandom(p, bytes, 0);
		if (got <= 0)
			abort(); /* cannot fail on a supported kernel */
		p += got;
		bytes -= (uint64_t)got;
	}
}

void rng_entropy_rng(void *context, void *out, uint64_t bytes)
{
	uint8_t *p = out;

	while (bytes > 0) {
		uint64_t word = rng_next(context);
		uint64_t part = bytes < sizeof(word) ? bytes : sizeof(word);
		memcpy(p, &word, part);
		p += part;
		bytes -= part;
	}
}
