/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples: images of handwritten digits, with the digit of each. They come from two files in IDX
 * format, as tools/digits writes them, or are drawn by a generator. */
#ifndef LEARN_DIGITS_H
#define LEARN_DIGITS_H

#include <stddef.h>
#include <stdint.h>

#define DIGITS_MIN 20
#define DIGITS_MAX 1000000 /* 784 MB of images */

#define DIGITS_IMAGES "images.idx"
#define DIGITS_LABELS "labels.idx"

struct digits {
	uint32_t count;
	uint8_t *images; /* count * PIXELS bytes: rows from the top, 0 is paper, 255 is ink */
	uint8_t *labels; /* count bytes, 0 .. 9 */
	void *memory[2]; /* what digits_release frees; digits_decode leaves it to the caller */
};

struct bytes {
	const uint8_t *at;
	size_t count;
};

/* Checks the content of both files. On success, points `out` into the bytes and returns NULL.
 * Otherwise returns what is wrong with the file `*wrong` (0: images, 1: labels), as a sentence that
 * the file's name starts. */
const char *digits_decode(struct bytes images, struct bytes labels, struct digits *out, int *wrong);

/* Reads both files of the folder, or fails. */
void digits_read(const char *folder, struct digits *out);

void digits_release(struct digits *d);

/* Draws digits with random position, size, slant, strength and noise. */
void digits_draw(uint32_t count, uint64_t seed, struct digits *out);

#endif
