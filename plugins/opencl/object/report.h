/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by trace.c and summary.c. Callers hold the plugin's lock. */
#ifndef OPENCL_REPORT_H
#define OPENCL_REPORT_H

#include "plugins/opencl/object/object.h"

#define REPORT_PATH_BYTES 4096

/* Expands "%p" in a setting to the id of this process, so that each process writes a file of its
 * own. False: the setting is empty, or the path is too long, which is reported. */
bool report_path(const char *setting, char out[REPORT_PATH_BYTES]);

/* Returns a name such as "read buffer", or "command" for an unknown type. */
const char *report_type_name(cl_command_type type);
/* Commands of this type move bytes over the network. */
bool report_is_transfer(cl_command_type type);

/* Called at the first search for devices. */
void summary_open(void);
/* A command was enqueued on this device. */
void summary_used(cl_device_id d);
void summary_event(cl_event e);
/* Counts moved bytes. NULL: the host. */
void summary_moved(cl_device_id from, cl_device_id to, uint64_t bytes);
void summary_close(void);

#endif
