/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by trace.c and summary.c: what a program did, for who looks at it afterwards. All with the
 * door's lock. */
#ifndef DOOR_REPORT_H
#define DOOR_REPORT_H

#include "doors/opencl/door.h"

#define REPORT_PATH_BYTES 4096

/* The path that a setting asks for, "%p" replaced by this process' id, so that programs of several
 * processes leave a file each. False: none was asked for, or it is too long (said). */
bool report_path(const char *setting, char out[REPORT_PATH_BYTES]);

/* "read buffer"; "command" for an unknown one. */
const char *report_type_name(cl_command_type type);
/* Does it move bytes over the network? */
bool report_is_transfer(cl_command_type type);

/* Devices are looked for: from now on the file is there. */
void summary_open(void);
/* A command is in a queue of this device. */
void summary_used(cl_device_id d);
void summary_event(cl_event e);
/* NULL is the host. */
void summary_moved(cl_device_id from, cl_device_id to, uint64_t bytes);
void summary_close(void);

#endif
