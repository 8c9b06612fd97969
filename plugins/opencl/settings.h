/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the parsers of setting texts, for settings.c, device selection and their tests. */
#ifndef DOOR_SETTINGS_H
#define DOOR_SETTINGS_H

#include "plugins/opencl/door.h"

/* Parses "1048576", "512M", "2GiB". False: not a size; *out is unchanged. */
bool settings_bytes(const char *text, uint64_t *out);
/* Parses "cpu", "gpu", "accelerator". */
bool settings_type(const char *text, cl_device_type *out);
/* Returns the position of `name` in a comma-separated list, from 1 on; 0: absent. */
uint32_t settings_names(const char *list, const char *name);

#endif
