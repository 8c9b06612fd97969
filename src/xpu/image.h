/* SPDX-License-Identifier: BSD-3-Clause */
/* Size in memory of an OpenCL image. No I/O. */
#ifndef XPU_IMAGE_H
#define XPU_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <dxp/async.h>

/* Computes the number of bytes from the first pixel to the end of the last pixel. False: a used
 * side of the image is 0, or the number exceeds 64 bits. */
bool image_span(const struct dxp_image *image, uint64_t *bytes);

#endif
