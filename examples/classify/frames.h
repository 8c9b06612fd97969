/* SPDX-License-Identifier: BSD-3-Clause */
/* A video or a camera as a stream of frames: binary PPM (P6) one after another, as
 * `ffmpeg -i VIDEO -c:v ppm -f image2pipe -` writes them. */
#ifndef CLASSIFY_FRAMES_H
#define CLASSIFY_FRAMES_H

#include <stdio.h>

#include "fault.h"
#include "image.h"

/* Reads the next frame; the caller releases *out. DXP_ENOENT: the stream is at its end; DXP_EIO;
 * DXP_EMALFORMED: not PPM, or cut short; DXP_EUNSUPPORTED: not 8 bits a colour; DXP_ERANGE,
 * DXP_ENOMEM as image_alloc. After an error the stream's position is lost. */
int frames_next(FILE *in, struct image *out, struct fault *fault);

#endif
