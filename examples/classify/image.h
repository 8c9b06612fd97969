/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts a JPEG, PNG or PPM file to a square image, the input of a network: RGB, three bytes a
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
	RESIZE_BILINEAR, /* uses the two nearest pixels on each axis */
	/* like Pillow's BILINEAR: averages all covered pixels if the image becomes smaller */
	RESIZE_PIL_BILINEAR,
};

/* Reads and decodes a file; its first bytes decide the format. Greyscale becomes RGB, and
 * transparency becomes white. The caller releases *out on success. Errors: DXP_ENOENT; DXP_EIO;
 * DXP_EMALFORMED: not an image, or damaged; DXP_ERANGE: too large. */
int image_read(const char *path, struct image *out, struct fault *fault);

/* Decodes a file that is in memory. `name` replaces the path in messages. */
int image_decode(const char *name, const uint8_t *bytes, size_t count, struct image *out,
		 struct fault *fault);

/* Cuts the largest square from the middle and scales it to side x side pixels. `to` holds 3 * side
 * * side bytes. If the square already has this size, it is only copied. Error: DXP_ENOMEM. */
int image_square(const struct image *image, uint32_t side, enum resize how, uint8_t *to);

void image_release(struct image *image);

/* The decoders that image_decode uses, one for each format. */
int image_decode_jpeg(const char *name, const uint8_t *bytes, size_t count, struct image *out,
		      struct fault *fault);
int image_decode_png(const char *name, const uint8_t *bytes, size_t count, struct image *out,
		     struct fault *fault);
int image_decode_ppm(const char *name, const uint8_t *bytes, size_t count, struct image *out,
		     struct fault *fault);

/* Allocates an image of this size after it has checked the bounds. Errors: DXP_ERANGE,
 * DXP_ENOMEM. */
int image_alloc(const char *name, uint64_t width, uint64_t height, struct image *out,
		struct fault *fault);

#endif
