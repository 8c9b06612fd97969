/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a video or camera as binary PPM images (P6), from `ffmpeg -i VIDEO -c:v ppm -f image2pipe
 * -`. */
#ifndef CLASSIFY_FRAMES_H
#define CLASSIFY_FRAMES_H

#include <stdio.h>

#include "fault.h"
#include "image.h"

/* The caller releases *out. Errors: DXP_ENOENT: end of stream; DXP_EIO; DXP_EMALFORMED: not PPM, or
 * truncated; DXP_EUNSUPPORTED: not 8 bits a colour; DXP_ERANGE and DXP_ENOMEM as image_alloc(). An
 * error leaves the stream's position undefined. */
int frames_next(FILE *in, struct image *out, struct fault *fault);

#endif
