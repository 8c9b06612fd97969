/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DOOR_MAP_H
#define DOOR_MAP_H

#include "plugins/opencl/transfer.h"

/* Returns whether all flags are known and CL_MAP_WRITE_INVALIDATE_REGION, if set, is alone. */
bool map_flags_valid(cl_map_flags flags);
/* Returns whether the object's flags permit this access by the host. */
bool map_flags_allowed(cl_mem m, cl_map_flags flags);
/* Maps a rectangle of m (equal pitches on both sides) at `offset`. Sets *out at once; the bytes are
 * valid when the command has completed. */
cl_int map_make(struct command *c, cl_mem m, uint64_t offset, const struct dxp_box *box,
		cl_map_flags flags, void **out);
/* Removes a map whose command failed. Caller does not hold the lock. */
void map_cancel(cl_mem m, const void *at);

#endif
