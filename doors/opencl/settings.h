/* SPDX-License-Identifier: BSD-3-Clause */
/* How the texts of settings are read; for settings.c, device choice and their tests. */
#ifndef DOOR_SETTINGS_H
#define DOOR_SETTINGS_H

#include "doors/opencl/door.h"

/* "1048576", "512M", "2GiB". False: it is no size; *out as it was. */
bool settings_bytes(const char *text, uint64_t *out);
/* "cpu", "gpu", "accelerator". */
bool settings_type(const char *text, cl_device_type *out);
/* The place of `name` in a comma-separated list, from 1 on; 0: it is not there. */
uint32_t settings_names(const char *list, const char *name);

#endif
