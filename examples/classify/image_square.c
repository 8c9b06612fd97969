/* SPDX-License-Identifier: BSD-3-Clause */
/* Crops the centre and resizes it in two ways. Samples lie at pixel centres: output i is at (i +
 * 0.5) * side / n - 0.5 of the input. */
#include "image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

struct square {
	const uint8_t *rgb; /* first pixel of the square */
	size_t row_bytes;
	uint32_t side;
};

static struct square centre(const struct image *image)
{
	uint32_t side = image->width < image->height ? image->width : image->height;
	uint32_t left = (image->width - side) / 2, top = (image->height - side) / 2;
	size_t row = (size_t)image->width * 3;

	return (struct square){image->rgb + top * row + (size_t)left * 3, row, side};
}

/* Two neighbours on one axis; `share` weighs the second. */
struct taps {
	uint32_t a, b;
	double share;
};

static struct taps taps_of(uint32_t i, uint32_t side, uint32_t n)
{
	double at = ((double)i + 0.5) * side / n - 0.5;

	if (at < 0)
		at = 0;
	if (at > side - 1)
		at = side - 1;
	uint32_t a = (uint32_t)at;
	return (struct taps){a, a + 1 < side ? a + 1 : side - 1, at - a};
}

static void bilinear(const struct square *s, uint32_t n, uint8_t *to)
{
	for (uint32_t y = 0; y < n; y++) {
		struct taps v = taps_of(y, s->side, n);
		const uint8_t *upper = s->rgb + v.a * s->row_bytes,
			      *lower = s->rgb + v.b * s->row_bytes;
		for (uint32_t x = 0; x < n; x++) {
			struct taps h = taps_of(x, s->side, n);
			for (uint32_t c = 0; c < 3; c++) {
				double first = upper[h.a * 3 + c] * (1 - h.share) +
					       upper[h.b * 3 + c] * h.share;
				double second = lower[h.a * 3 + c] * (1 - h.share) +
						lower[h.b * 3 + c] * h.share;
				*to++ = (uint8_t)lround(first * (1 - v.share) + second * v.share);
			}
		}
	}
}

#define PIL_BITS 22 /* fraction bits of Pillow's 8-bit coefficients */

/* Weights of one output pixel on one axis, for `count` input pixels from `first`. */
struct filter {
	uint32_t first, count;
	int32_t *weights;
};

/* The weights form a triangle of half-width max(scale, 1) around the centre, with sum one. */
static void filter_fill(uint32_t i, uint32_t side, uint32_t n, struct filter *f)
{
	double scale = (double)side / n, reach = scale > 1 ? scale : 1,
	       centre_at = (i + 0.5) * scale;
	double sum = 0, from = floor(centre_at - reach + 0.5), to = floor(centre_at + reach + 0.5);

	f->first = from > 0 ? (uint32_t)from : 0;
	f->count = (to < side ? (uint32_t)to : side) - f->first;
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t k = 0; k < f->count; k++) {
			double w = 1 - fabs((k + f->first - centre_at + 0.5) / reach);
			w = w > 0 ? w : 0;
			if (pass == 0)
				sum += w;
			else
				f->weights[k] = (int32_t)lround(w / sum * (1 << PIL_BITS));
		}
	}
}

static uint8_t filter_apply(const struct filter *f, const uint8_t *from, size_t step)
{
	int64_t sum = 1 << (PIL_BITS - 1);

	for (uint32_t k = 0; k < f->count; k++)
		sum += (int64_t)f->weights[k] * from[k * step];
	sum >>= PIL_BITS;
	return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

/* Rounds rows to bytes before filtering columns, as Pillow does. */
static int pil_bilinear(const struct square *s, uint32_t n, uint8_t *to)
{
	uint32_t most = (uint32_t)ceil(fmax((double)s->side / n, 1)) * 2 + 1;
	uint8_t *strip = malloc((size_t)n * s->side * 3);
	int32_t *weights = malloc(most * sizeof(*weights));
	struct filter f = {.weights = weights};

	if (!strip || !weights) {
		free(strip);
		free(weights);
		return DXP_ENOMEM;
	}
	for (uint32_t x = 0; x < n; x++) {
		filter_fill(x, s->side, n, &f);
		for (uint32_t y = 0; y < s->side; y++)
			for (uint32_t c = 0; c < 3; c++)
				strip[((size_t)y * n + x) * 3 + c] = filter_apply(
					&f, s->rgb + y * s->row_bytes + (size_t)f.first * 3 + c, 3);
	}
	for (uint32_t y = 0; y < n; y++) {
		filter_fill(y, s->side, n, &f);
		for (size_t i = 0; i < (size_t)n * 3; i++)
			to[(size_t)y * n * 3 + i] = filter_apply(
				&f, strip + (size_t)f.first * n * 3 + i, (size_t)n * 3);
	}
	free(strip);
	free(weights);
	return DXP_OK;
}

int image_square(const struct image *image, uint32_t side, enum resize how, uint8_t *to)
{
	struct square s = centre(image);

	if (s.side == side) {
		for (uint32_t y = 0; y < side; y++)
			memcpy(to + (size_t)y * side * 3, s.rgb + y * s.row_bytes,
			       (size_t)side * 3);
		return DXP_OK;
	}
	if (how == RESIZE_PIL_BILINEAR)
		return pil_bilinear(&s, side, to);
	bilinear(&s, side, to);
	return DXP_OK;
}
