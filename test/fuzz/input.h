/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads an input byte by byte as a program; aborts on an error. Define FUZZ_NAME before
 * including. */
#ifndef TEST_FUZZ_INPUT_H
#define TEST_FUZZ_INPUT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct input {
	const uint8_t *at, *end;
};

static inline void die(const char *what)
{
	fprintf(stderr, FUZZ_NAME ": %s\n", what);
	abort();
}

/* 0 after the end */
static inline uint8_t take8(struct input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

static inline uint32_t take32(struct input *in)
{
	uint32_t value = take8(in);

	for (int i = 0; i < 3; i++)
		value = value << 8 | take8(in);
	return value;
}

#endif
