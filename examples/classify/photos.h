/* SPDX-License-Identifier: BSD-3-Clause */
/* The photos of a command line: files as they are, folders as the photos in them, by name. */
#ifndef CLASSIFY_PHOTOS_H
#define CLASSIFY_PHOTOS_H

#include <stdint.h>

#include "fault.h"

struct photos {
	char **paths;
	uint32_t count;
};

/* *out must be released. DXP_ENOENT nothing there, or a folder without photos (names that end in
 * .jpg, .jpeg, .png or .ppm); DXP_ERANGE too many; DXP_ENOMEM. */
int photos_find(char *const *arguments, uint32_t count, struct photos *out, struct fault *fault);
void photos_release(struct photos *p);

#endif
