/* SPDX-License-Identifier: BSD-3-Clause */
/* A process' temporary folder, removed by scratch_close, or after a kill by a later scratch_open in
 * the same place. Forked processes may use it until then. */
#ifndef BASE_SCRATCH_H
#define BASE_SCRATCH_H

struct scratch;

/* In the folder `where`; NULL: TMPDIR, or /tmp. DXP_ENOMEM; DXP_EIO, logged. */
int scratch_open(const char *where, struct scratch **out);
void scratch_close(struct scratch *s);

/* Absolute if `where` was. */
char *scratch_path(const struct scratch *s);

/* With its content; of symbolic links, not their files. */
void scratch_folder_remove(const char *path);

#endif
