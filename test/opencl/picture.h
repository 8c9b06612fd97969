/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares an image and its model. The model holds every pixel in host memory, in rows without
 * gaps. */
#ifndef PICTURE_H
#define PICTURE_H

#include "rig.h"

struct picture {
	cl_mem m, buffer; /* buffer: the buffer of a 1D image that is made from a buffer */
	cl_mem_object_type type;
	cl_image_format format;
	size_t pixel; /* bytes of one pixel */
	/* pixels in each dimension; the layers of an array are the next dimension */
	size_t size[3];
	uint8_t *model;
	size_t bytes;
};

extern const cl_mem_object_type picture_types[6];

size_t picture_channels(cl_channel_order order);
size_t picture_pixel_bytes(const cl_image_format *f);
/* Writes at most `space` formats of the type for these flags. Returns how many formats there
 * are. */
size_t picture_formats(cl_mem_object_type type, cl_mem_flags flags, cl_image_format *out,
		       size_t space);
/* Returns the descriptor of an image with this size. */
cl_image_desc picture_desc(cl_mem_object_type type, const size_t size[3]);
/* Makes a picture of a small random size with random contents. */
struct picture picture_make(cl_mem_object_type type, const cl_image_format *format,
			    cl_mem_flags flags);
void picture_release(struct picture *p);
/* Draws a random region inside the picture. */
void picture_rect(const struct picture *p, size_t origin[3], size_t region[3]);
uint8_t *picture_at(const struct picture *p, size_t x, size_t y, size_t z);
/* Reads the whole picture on every device and compares it with the model. */
void picture_check(const struct picture *p);

#endif
