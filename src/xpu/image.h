/* SPDX-License-Identifier: BSD-3-Clause */
/* Size in memory of an OpenCL image. No I/O. */
#ifndef XPU_IMAGE_H
#define XPU_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <dxp/async.h>

/* Computes the bytes from the first to the last pixel. False: a used side is 0, or more than 64
 * bits. */
bool image_span(const struct dxp_image *image, uint64_t *bytes);

#endif
