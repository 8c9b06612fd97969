/* SPDX-License-Identifier: BSD-3-Clause */
/* An OpenCL device shared by all slots of this process: one context, and programs that are built
 * once. Any thread. */
#ifndef ENGINE_OCL_DEVICE_H
#define ENGINE_OCL_DEVICE_H

#include "engine/engine.h"
#include "engine/ocl_library.h"

struct ocl_device;

/* Selects a device by a part of its name, case-insensitive; NULL: PoCL's `basic`, else the first
 * CPU, else any. DXP_EUNSUPPORTED: none found (logged, with a list); DXP_EIO, DXP_ENOMEM. Only the
 * folders of `options` are read; an open device keeps its own. */
int ocl_device_get(const char *part, const struct engine_options *options, struct ocl_device **out);
void ocl_device_put(struct ocl_device *d);

/* See engine_folders(). Only one engine may use the device. */
void ocl_device_folders(struct ocl_device *d, const char *work, const char *cache);

cl_device_id ocl_device_id(const struct ocl_device *d);
cl_context ocl_device_context(const struct ocl_device *d);
const char *ocl_device_name(const struct ocl_device *d);
/* Returns whether the driver is PoCL, for workarounds of its faults. */
bool ocl_device_is_pocl(const struct ocl_device *d);
/* A processor that PoCL drives; see engine_description.plain. */
bool ocl_device_is_plain(const struct ocl_device *d);
/* PoCL makes files with a kernel's name, and crashes if it cannot. */
uint32_t ocl_device_name_bytes(const struct ocl_device *d);
uint32_t ocl_device_units(const struct ocl_device *d);

/* Built in this process, or loaded from the cache. */
struct ocl_build;

/* Finds or builds a program. *log as in engine_build(); *native as in struct engine. */
int ocl_build_get(struct ocl_device *d, const struct engine_source *source, struct ocl_build **out,
		  char **log, int32_t *native);
void ocl_build_put(struct ocl_device *d, struct ocl_build *b);
/* The device compiled more code: the binary is stored again when the build becomes unused. */
void ocl_build_grown(struct ocl_device *d, struct ocl_build *b);
/* Records about kernels, and binary; the caller frees *out. Statuses of engine_fetch(). */
int ocl_build_about(const struct ocl_build *b, uint8_t **out, size_t *bytes);
int ocl_build_binary(struct ocl_device *d, const struct ocl_build *b, uint8_t **out, size_t *bytes);

#endif
