/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes whole files: models, photos, labels. */
#ifndef CLASSIFY_FILE_H
#define CLASSIFY_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "fault.h"

/* Reads a regular file of at most `most` bytes. The caller frees *bytes; a zero byte follows the
 * data. Errors: DXP_ENOENT, DXP_ERANGE too long, DXP_EIO, DXP_ENOMEM. */
int file_read(const char *path, size_t most, uint8_t **bytes, size_t *count, struct fault *fault);

/* Replaces the file. Error: DXP_EIO. */
int file_write(const char *path, const void *bytes, size_t count, struct fault *fault);

#endif
