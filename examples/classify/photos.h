/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists photos of a command line: files, or folders with all their photos in order of name. */
#ifndef CLASSIFY_PHOTOS_H
#define CLASSIFY_PHOTOS_H

#include <stdint.h>

#include "fault.h"

struct photos {
	char **paths;
	uint32_t count;
};

/* The caller releases *out. Errors: DXP_ENOENT: no such file, or a folder without .jpg, .jpeg, .png
 * or .ppm; DXP_EIO; DXP_ERANGE: too many; DXP_ENOMEM. */
int photos_find(char *const *arguments, uint32_t count, struct photos *out, struct fault *fault);
void photos_release(struct photos *p);

#endif
