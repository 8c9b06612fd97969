/* SPDX-License-Identifier: BSD-3-Clause */
/* Temporary folder of one process. scratch_close removes it. If the process was killed, a later
 * scratch_open in the same place removes the folder. Forked processes may use it until the owner
 * closes it. */
#ifndef BASE_SCRATCH_H
#define BASE_SCRATCH_H

struct scratch;

/* Creates the folder in the existing folder `where`; NULL: in TMPDIR, or /tmp. DXP_ENOMEM: out of
 * memory. DXP_EIO: the folder cannot be created (logged). */
int scratch_open(const char *where, struct scratch **out);
void scratch_close(struct scratch *s);

/* Returns the path of the folder. It is absolute if `where` was absolute. */
char *scratch_path(const struct scratch *s);

/* Removes a folder with its content. Removes symbolic links, but not the files to which they
 * point. */
void scratch_folder_remove(const char *path);

#endif
