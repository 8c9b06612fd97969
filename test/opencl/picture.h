/* SPDX-License-Identifier: BSD-3-Clause */
/* An image beside its model: every pixel in host memory, rows without gaps. */
#ifndef PICTURE_H
#define PICTURE_H

#include "rig.h"

struct picture {
	cl_mem m, buffer; /* buffer: what a 1D image of a buffer is made from */
	cl_mem_object_type type;
	cl_image_format format;
	size_t pixel;   /* bytes */
	size_t size[3]; /* pixels; layers of an array count as the next dimension */
	uint8_t *model;
	size_t bytes;
};

extern const cl_mem_object_type picture_types[6];

size_t picture_channels(cl_channel_order order);
size_t picture_pixel_bytes(const cl_image_format *f);
/* Formats of the type for these flags; returns how many there are, at most `room` are written. */
size_t picture_formats(cl_mem_object_type type, cl_mem_flags flags, cl_image_format *out,
		       size_t room);
/* A descriptor for a size. */
cl_image_desc picture_desc(cl_mem_object_type type, const size_t size[3]);
/* Of a small size by chance, with contents by chance. */
struct picture picture_make(cl_mem_object_type type, const cl_image_format *format,
			    cl_mem_flags flags);
void picture_release(struct picture *p);
/* A box inside of it. */
void picture_box(const struct picture *p, size_t origin[3], size_t region[3]);
uint8_t *picture_at(const struct picture *p, size_t x, size_t y, size_t z);
/* Reads all of it on every device and compares with the model. */
void picture_check(const struct picture *p);

#endif
