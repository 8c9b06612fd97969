/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts a JPEG, PNG or PPM file to the square of bytes that a network reads: RGB, three bytes a
 * pixel, rows from the top. */
#ifndef CLASSIFY_IMAGE_H
#define CLASSIFY_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "fault.h"
#include "bounds.h"

struct image {
	uint32_t width, height; /* 1 .. PHOTO_SIDE_MAX */
	uint8_t *rgb;
};

enum resize {
	RESIZE_BILINEAR,     /* the two nearest pixels on each axis */
	RESIZE_PIL_BILINEAR, /* like Pillow's BILINEAR: averages all pixels when shrinking */
};

/* Reads and decodes a file; its first bytes decide the format. Greyscale becomes RGB, transparency
 * white. The caller releases *out on success. Errors: DXP_ENOENT, DXP_EIO, DXP_EMALFORMED not an
 * image or damaged, DXP_ERANGE too large. */
int image_read(const char *path, struct image *out, struct fault *fault);

/* Decodes a file in memory; `name` replaces the path in messages. */
int image_decode(const char *name, const uint8_t *bytes, size_t count, struct image *out,
		 struct fault *fault);

/* Cuts the largest square from the middle and scales it to side x side; `to` holds 3 * side * side
 * bytes. A square of that side is only copied. Error: DXP_ENOMEM. */
int image_square(const struct image *image, uint32_t side, enum resize how, uint8_t *to);

void image_release(struct image *image);

/* The decoders behind image_decode, by format. */
int image_decode_jpeg(const char *name, const uint8_t *bytes, size_t count, struct image *out,
		      struct fault *fault);
int image_decode_png(const char *name, const uint8_t *bytes, size_t count, struct image *out,
		     struct fault *fault);
int image_decode_ppm(const char *name, const uint8_t *bytes, size_t count, struct image *out,
		     struct fault *fault);

/* Allocates an image of that size after checking the bounds. Errors: DXP_ERANGE, DXP_ENOMEM. */
int image_alloc(const char *name, uint64_t width, uint64_t height, struct image *out,
		struct fault *fault);

#endif
