/* SPDX-License-Identifier: BSD-3-Clause */
/* An OpenCL device as all slots of this process share it: one context, and the programs built in
 * it, so that the same source is built once. Any thread. */
#ifndef ENGINE_OCL_DEVICE_H
#define ENGINE_OCL_DEVICE_H

#include "base/limits.h"
#include "engine/engine.h"
#include "engine/ocl_library.h"

struct ocl_device;

/* By a part of its name, upper or lower case; NULL: PoCL's `basic` device, or else the first CPU,
 * or else any. Each success must be put back. DXP_EUNSUPPORTED: there is none (logged, with what
 * there is); DXP_EIO, DXP_ENOMEM. Of the options only the folders count: the first ones that are
 * given for a device hold for all. */
int ocl_device_get(const char *part, const struct engine_options *options, struct ocl_device **out);
void ocl_device_put(struct ocl_device *d);

cl_device_id ocl_device_id(const struct ocl_device *d);
cl_context ocl_device_context(const struct ocl_device *d);
const char *ocl_device_name(const struct ocl_device *d);
/* Some of what it does needs to be known. */
bool ocl_device_is_pocl(const struct ocl_device *d);
/* The longest name of a kernel that it can run: PoCL has files of that name, and dies where it
 * cannot make them. */
uint32_t ocl_device_name_bytes(const struct ocl_device *d);
uint32_t ocl_device_units(const struct ocl_device *d);

/* A program of this device, built now or before. */
struct ocl_build;

/* DXP_OK: *out must be put back. *log as engine_build, *native as struct engine's. */
int ocl_build_get(struct ocl_device *d, const struct engine_source *source, struct ocl_build **out,
		  char **log, int32_t *native);
void ocl_build_put(struct ocl_device *d, struct ocl_build *b);
/* The device has compiled something more for it: its binary is kept anew when nobody uses it. */
void ocl_build_grown(struct ocl_device *d, struct ocl_build *b);
/* As engine_fetch. */
int ocl_build_about(const struct ocl_build *b, uint8_t **out, size_t *bytes);
int ocl_build_binary(struct ocl_device *d, const struct ocl_build *b, uint8_t **out, size_t *bytes);
uint32_t ocl_build_type(const struct ocl_build *b); /* cl_program_binary_type */
const uint8_t *ocl_build_key(const struct ocl_build *b);
cl_program ocl_build_program(const struct ocl_build *b);

#endif
