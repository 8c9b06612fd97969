/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces small files, so that readers never see a part of one; explains failed writes. */
#ifndef BASE_FILE_REPLACE_H
#define BASE_FILE_REPLACE_H

#include <stdbool.h>
#include <sys/types.h>

/* Puts a new file with this text and mode in the place of `path`, also after a power failure. Of
 * several processes, the last one wins. False, with errno: the old file stays. */
bool file_replace(const char *path, const char *text, mode_t mode);

/* The next step after a failed write with this errno, to append to a message: "; free space ...";
 * "": none. */
const char *file_write_hint(int error);

#endif
