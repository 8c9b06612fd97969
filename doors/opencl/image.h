/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DOOR_IMAGE_H
#define DOOR_IMAGE_H

#include "doors/opencl/memory.h"

/* Distance in bytes between what follows each other in the image's second and third dimension. */
uint64_t image_second_pitch(cl_mem m);
uint64_t image_third_pitch(cl_mem m);
/* Is the region not empty and inside? Then *at is where it begins in m, and *box are its bytes,
 * both sides as in the image. */
bool image_region(cl_mem m, const size_t *origin, const size_t *region, uint64_t *at,
		  struct dxp_box *box);
/* A pixel of this format from four floats, ints or uints as clEnqueueFillImage gets them. Returns
 * its bytes, at most 16. */
size_t format_pack(const cl_image_format *f, const void *color, uint8_t *pixel);

#endif
