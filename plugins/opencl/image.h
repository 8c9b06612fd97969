/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DOOR_IMAGE_H
#define DOOR_IMAGE_H

#include "plugins/opencl/memory.h"

/* Return the distance in bytes between elements adjacent in the image's second or third
 * dimension. */
uint64_t image_second_pitch(cl_mem m);
uint64_t image_third_pitch(cl_mem m);
/* Checks that the region is not empty and inside the image. Then *at is its offset in m, *box its
 * bytes, with the image's pitches on both sides. */
bool image_region(cl_mem m, const size_t *origin, const size_t *region, uint64_t *at,
		  struct dxp_box *box);
/* Converts four floats, ints or uints, as clEnqueueFillImage gets them, to a pixel. Returns its
 * size in bytes, at most 16. */
size_t format_pack(const cl_image_format *f, const void *color, uint8_t *pixel);

#endif
