/* SPDX-License-Identifier: BSD-3-Clause */
/* A process' temporary folder, removed by scratch_close, or after a kill by a later scratch_open in
 * the same place. Forked processes may use it until then. */
#ifndef BASE_SCRATCH_H
#define BASE_SCRATCH_H

struct scratch;

/* Creates the folder in `where`; NULL: in TMPDIR, or /tmp. DXP_ENOMEM; DXP_EIO, logged. */
int scratch_open(const char *where, struct scratch **out);
void scratch_close(struct scratch *s);

/* Returns an absolute path if `where` was absolute. */
char *scratch_path(const struct scratch *s);

/* Removes a folder with its content. Removes symbolic links, but not the files to which they
 * point. */
void scratch_folder_remove(const char *path);

#endif
