/* SPDX-License-Identifier: BSD-3-Clause */
/* Labelled images of handwritten digits, from two IDX files as tools/digits writes them, or from a
 * generator. */
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
	uint8_t *images; /* count * PIXELS: top row first, 0 paper, 255 ink */
	uint8_t *labels; /* count bytes, 0 .. 9 */
	void *memory[2]; /* for digits_release; digits_decode does not own it */
};

struct bytes {
	const uint8_t *at;
	size_t count;
};

/* On success `out` points into the bytes. Otherwise returns the end of a sentence that the name of
 * file `*wrong` (0: images, 1: labels) starts. */
const char *digits_decode(struct bytes images, struct bytes labels, struct digits *out, int *wrong);

void digits_read(const char *folder, struct digits *out);

void digits_release(struct digits *d);

/* Draws random position, size, slant, strength and noise. */
void digits_draw(uint32_t count, uint64_t seed, struct digits *out);

#endif
