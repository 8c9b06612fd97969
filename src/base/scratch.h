/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder for files that one process needs while it runs. It is gone with scratch_close; one that
 * a process left behind when it was killed is removed by whoever opens the next in the same place.
 * Processes that are forked from its owner may use it as well, for as long as the owner has it. */
#ifndef BASE_SCRATCH_H
#define BASE_SCRATCH_H

struct scratch;

/* Below `where`, which is there; NULL: below TMPDIR, or /tmp. DXP_ENOMEM; DXP_EIO,
 * logged. */
int scratch_open(const char *where, struct scratch **out);
void scratch_close(struct scratch *s);

/* Absolute when `where` was. */
char *scratch_path(const struct scratch *s);

/* Removes a folder and all that is in it. Links in it are removed and not followed. */
void folder_remove(const char *path);

#endif
