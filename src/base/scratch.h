/* SPDX-License-Identifier: BSD-3-Clause */
/* Temporary folder of one process. scratch_close removes it. If its process was killed, the next
 * scratch_open in the same place removes it. Processes forked from its owner may use it while the
 * owner holds it. */
#ifndef BASE_SCRATCH_H
#define BASE_SCRATCH_H

struct scratch;

/* Creates the folder in the existing folder `where`; NULL: in TMPDIR, or /tmp. DXP_ENOMEM; DXP_EIO,
 * logged. */
int scratch_open(const char *where, struct scratch **out);
void scratch_close(struct scratch *s);

/* Returns the path; absolute if `where` was. */
char *scratch_path(const struct scratch *s);

/* Removes a folder with its content. Links in it are removed, not followed. */
void scratch_folder_remove(const char *path);

#endif
