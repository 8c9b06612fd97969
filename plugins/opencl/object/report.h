/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares functions that trace.c and summary.c share. Callers hold the plugin's lock. */
#ifndef OPENCL_REPORT_H
#define OPENCL_REPORT_H

#include "plugins/opencl/object/object.h"

#define REPORT_PATH_BYTES 4096

/* Expands the path in a setting: "%p" becomes this process's id, so each process writes its own
 * file. False: not set, or too long (reported). */
bool report_path(const char *setting, char out[REPORT_PATH_BYTES]);

/* Returns a name such as "read buffer"; "command" for an unknown type. */
const char *report_type_name(cl_command_type type);
/* Returns whether the command moves bytes over the network. */
bool report_is_transfer(cl_command_type type);

/* Opens the summary file, when devices are first searched for. */
void summary_open(void);
/* Records that a command was enqueued on this device. */
void summary_used(cl_device_id d);
void summary_event(cl_event e);
/* Counts bytes moved; NULL is the host. */
void summary_moved(cl_device_id from, cl_device_id to, uint64_t bytes);
void summary_close(void);

#endif
