/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares functions that trace.c and summary.c both use. Callers hold the plugin's lock. */
#ifndef OPENCL_REPORT_H
#define OPENCL_REPORT_H

#include "plugins/opencl/object/object.h"

#define REPORT_PATH_BYTES 4096

/* Expands the path in a setting: "%p" becomes the id of this process, so that each process writes a
 * file of its own. Returns false if the setting is empty, or if the path is too long; the latter is
 * reported. */
bool report_path(const char *setting, char out[REPORT_PATH_BYTES]);

/* Returns the name of a command type, such as "read buffer", or "command" if it is unknown. */
const char *report_type_name(cl_command_type type);
/* Returns true if commands of this type move bytes over the network. */
bool report_is_transfer(cl_command_type type);

/* Opens the summary file. Called at the first search for devices. */
void summary_open(void);
/* Records that a command was enqueued on this device. */
void summary_used(cl_device_id d);
void summary_event(cl_event e);
/* Counts bytes that are moved. NULL stands for the host. */
void summary_moved(cl_device_id from, cl_device_id to, uint64_t bytes);
void summary_close(void);

#endif
