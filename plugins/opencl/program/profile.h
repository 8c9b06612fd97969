/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes profiles of programs to the file of DXP_CL_PROFILE, for `dxp run --profile`: instructions
 * by function and source line. Lines of the file, with tabs between the fields:
 *
 *   row   node  line  instructions of warps  instructions of work-items  function  source text
 *   none  node  engine                       the node's engine counts no instructions
 */
#ifndef OPENCL_PROFILE_H
#define OPENCL_PROFILE_H

#include "plugins/opencl/program/program.h"

/* Launches of programs on this device are to be counted. If the device cannot count, writes a note
 * to the file. Caller holds the lock. */
bool profile_wanted(cl_device_id d);

/* Starts counting for this program. Caller does not hold the lock. */
bool profile_start(const struct dxp_program *node);

/* *data is NULL if there are no records. The caller frees *data, and does not hold the lock. */
void profile_fetch(const struct dxp_program *node, void **data, size_t *bytes);

/* Appends one row per source line. `source` is the text of the program and may be NULL. Caller
 * holds the lock. */
void profile_write(cl_device_id d, const struct dxp_file *source, const void *data, size_t bytes);

#endif
