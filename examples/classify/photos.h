/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the photos of a command line. An argument is a file or a folder; a folder stands for all
 * photos in it, in order of name. */
#ifndef CLASSIFY_PHOTOS_H
#define CLASSIFY_PHOTOS_H

#include <stdint.h>

#include "fault.h"

struct photos {
	char **paths;
	uint32_t count;
};

/* Lists the photos; the caller releases *out. Errors: DXP_ENOENT: no such file, or a folder without
 * photos (names in .jpg, .jpeg, .png or .ppm); DXP_EIO; DXP_ERANGE: too many photos; DXP_ENOMEM. */
int photos_find(char *const *arguments, uint32_t count, struct photos *out, struct fault *fault);
void photos_release(struct photos *p);

#endif
