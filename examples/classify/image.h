/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts JPEG, PNG or PPM to a square network input: RGB, three bytes a pixel, top row first. */
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
	RESIZE_BILINEAR, /* two nearest pixels per axis */
	/* like Pillow's BILINEAR: averages all covered pixels when shrinking */
	RESIZE_PIL_BILINEAR,
};

/* The first bytes decide the format. Greyscale becomes RGB, transparency white. The caller releases
 * *out on success. Errors: DXP_ENOENT; DXP_EIO; DXP_EMALFORMED: not an image, or damaged;
 * DXP_ERANGE: too large. */
int image_read(const char *path, struct image *out, struct fault *fault);

/* `name` replaces the path in messages. */
int image_decode(const char *name, const uint8_t *bytes, size_t count, struct image *out,
		 struct fault *fault);

/* Scales the largest central square to side x side pixels (copies it at equal size) into `to`, 3 *
 * side * side bytes. Error: DXP_ENOMEM. */
int image_square(const struct image *image, uint32_t side, enum resize how, uint8_t *to);

void image_release(struct image *image);

int image_decode_jpeg(const char *name, const uint8_t *bytes, size_t count, struct image *out,
		      struct fault *fault);
int image_decode_png(const char *name, const uint8_t *bytes, size_t count, struct image *out,
		     struct fault *fault);
int image_decode_ppm(const char *name, const uint8_t *bytes, size_t count, struct image *out,
		     struct fault *fault);

/* Errors: DXP_ERANGE, DXP_ENOMEM. */
int image_alloc(const char *name, uint64_t width, uint64_t height, struct image *out,
		struct fault *fault);

#endif
