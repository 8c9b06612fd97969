/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces small files, so that readers never see a part of one; explains failed writes. */
#ifndef BASE_FILE_REPLACE_H
#define BASE_FILE_REPLACE_H

#include <stdbool.h>
#include <sys/types.h>

/* Puts a new file with this text and mode in the place of `path`, also after a power failure.
 * Several processes may do so at the same time; the last one wins. Returns false with errno; then
 * the old file stays. */
bool file_replace(const char *path, const char *text, mode_t mode);

/* Returns the next step if a file or folder was not written because of this errno, to append to a
 * message: "; free space ..."; "" if the errno suggests none. The text is valid until the next call
 * in the same thread. */
const char *file_write_hint(int error);

#endif
