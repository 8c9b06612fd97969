/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes digit files (IDX): the first four bytes are the length of the images, big end first;
 * labels follow. Decoding gives an error, or samples that can be read completely. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "examples/train/digits.h"
#include "examples/train/shape.h"
#include "test/fuzz/fuzz.h"

#define LENGTH_BYTES 4

/* Copies to a block of exact size. */
static uint8_t *copy(const uint8_t *data, size_t bytes)
{
	uint8_t *block = malloc(bytes ? bytes : 1);

	if (block && bytes)
		memcpy(block, data, bytes);
	return block;
}

static void decode(struct bytes images, struct bytes labels)
{
	static volatile unsigned sink;
	struct digits digits;
	unsigned sum = 0;
	int wrong = -1;

	if (digits_decode(images, labels, &digits, &wrong)) {
		assert(wrong == 0 || wrong == 1);
		return;
	}
	assert(digits.count >= DIGITS_MIN && digits.count <= DIGITS_MAX);
	for (size_t i = 0; i < (size_t)digits.count * PIXELS; i++)
		sum += digits.images[i];
	for (uint32_t i = 0; i < digits.count; i++) {
		assert(digits.labels[i] < CLASSES);
		sum += digits.labels[i];
	}
	sink = sum;
	(void)sink;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	if (bytes < LENGTH_BYTES)
		return 0;
	size_t first = (size_t)data[0] << 24 | data[1] << 16 | data[2] << 8 | data[3];
	const size_t rest = bytes - LENGTH_BYTES;

	first = first < rest ? first : rest;
	uint8_t *images = copy(data + LENGTH_BYTES, first);
	uint8_t *labels = copy(data + LENGTH_BYTES + first, rest - first);
	if (images && labels)
		decode((struct bytes){images, first}, (struct bytes){labels, rest - first});
	free(images);
	free(labels);
	return 0;
}
