/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DOOR_MAP_H
#define DOOR_MAP_H

#include "doors/opencl/transfer.h"

/* None that is unknown, and the one that excludes others alone. */
bool map_flags_valid(cl_map_flags flags);
/* Does the object let the host do so? */
bool map_flags_allowed(cl_mem m, cl_map_flags flags);
/* Maps a box of m (both sides alike) that begins at `offset`: *out is where, at once; the bytes are
 * there when the command has ended. */
cl_int map_make(struct command *c, cl_mem m, uint64_t offset, const struct dxp_box *box,
		cl_map_flags flags, void **out);
/* Takes back a map whose command failed. Without the lock. */
void map_cancel(cl_mem m, const void *at);

#endif
