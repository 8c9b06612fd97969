/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a video or a camera as a stream of frames. The stream is a sequence of binary PPM images
 * (P6), as `ffmpeg -i VIDEO -c:v ppm -f image2pipe -` writes them. */
#ifndef CLASSIFY_FRAMES_H
#define CLASSIFY_FRAMES_H

#include <stdio.h>

#include "fault.h"
#include "image.h"

/* Reads the next frame; the caller releases *out. Errors: DXP_ENOENT: the stream is at its end;
 * DXP_EIO; DXP_EMALFORMED: not PPM, or truncated; DXP_EUNSUPPORTED: not 8 bits a colour; DXP_ERANGE
 * and DXP_ENOMEM as image_alloc(). After an error, the position in the stream is undefined. */
int frames_next(FILE *in, struct image *out, struct fault *fault);

#endif
