/* SPDX-License-Identifier: BSD-3-Clause */
#include "frames.h"

#include <ctype.h>
#include <stdbool.h>
#include <errno.h>
#include <string.h>

#include <dxp/status.h>

#define NAME       "standard input"
#define NUMBER_MAX 99999999 /* larger than every image bound */

/* Skips spaces and comments, then reads a decimal number and one byte after it. */
static bool number_read(FILE *in, uint64_t *number)
{
	int c = getc(in);

	while (c == '#' || isspace(c)) {
		for (bool comment = c == '#'; comment && c != '\n' && c != EOF;)
			c = getc(in);
		c = getc(in);
	}
	if (!isdigit(c))
		return false;
	for (*number = 0; isdigit(c) && *number <= NUMBER_MAX; c = getc(in))
		*number = *number * 10 + (uint64_t)(c - '0');
	return isspace(c);
}

int frames_next(FILE *in, struct image *out, struct fault *fault)
{
	uint64_t width, height, most;
	struct image image;
	int c = getc(in);

	if (c == EOF)
		return ferror(in) ? fault_set(fault, DXP_EIO, "%s: %s", NAME, strerror(errno))
				  : DXP_ENOENT;
	if (c != 'P' || getc(in) != '6' || !number_read(in, &width) || !number_read(in, &height) ||
	    !number_read(in, &most))
		return fault_set(fault, DXP_EMALFORMED,
				 "%s: a frame is not binary PPM; with ffmpeg, write "
				 "-c:v ppm -f image2pipe -",
				 NAME);
	if (most != 255)
		return fault_set(fault, DXP_EUNSUPPORTED, "%s: PPM with other than 8 bits a colour",
				 NAME);
	int status = image_alloc(NAME, width, height, &image, fault);
	if (status != DXP_OK)
		return status;
	if (fread(image.rgb, 3 * image.width, image.height, in) != image.height) {
		image_release(&image);
		return fault_set(fault, DXP_EMALFORMED, "%s: the last frame is cut short", NAME);
	}
	*out = image;
	return DXP_OK;
}
