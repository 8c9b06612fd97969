/* SPDX-License-Identifier: BSD-3-Clause */
/* An image and its model, which holds every pixel in host memory, in rows without gaps. */
#ifndef PICTURE_H
#define PICTURE_H

#include "rig.h"

struct picture {
	cl_mem m, buffer; /* buffer: that of an image made from a buffer */
	cl_mem_object_type type;
	cl_image_format format;
	size_t pixel;
	/* pixels in each dimension; the layers of an array are the next dimension */
	size_t size[3];
	uint8_t *model;
	size_t bytes;
};

extern const cl_mem_object_type picture_types[6];

size_t picture_channels(cl_channel_order order);
size_t picture_pixel_bytes(const cl_image_format *f);
/* Writes at most `space` formats. Returns how many there are. */
size_t picture_formats(cl_mem_object_type type, cl_mem_flags flags, cl_image_format *out,
		       size_t space);
cl_image_desc picture_desc(cl_mem_object_type type, const size_t size[3]);
/* Small random size, random contents. */
struct picture picture_make(cl_mem_object_type type, const cl_image_format *format,
			    cl_mem_flags flags);
void picture_release(struct picture *p);
void picture_rect(const struct picture *p, size_t origin[3], size_t region[3]);
uint8_t *picture_at(const struct picture *p, size_t x, size_t y, size_t z);
/* Compares the whole picture on every device with the model. */
void picture_check(const struct picture *p);

#endif
