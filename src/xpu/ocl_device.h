/* SPDX-License-Identifier: BSD-3-Clause */
/* An OpenCL device as all slots of this process share it: one context, and the programs built in
 * it, so that the same source is built once. Any thread. */
#ifndef XPU_OCL_DEVICE_H
#define XPU_OCL_DEVICE_H

#include "base/limits.h"
#include "xpu/engine.h"
#include "xpu/ocl_library.h"

struct ocl_device;

/* By a part of its name, upper or lower case; NULL: PoCL's `basic` device, or else the first CPU,
 * or else any. Each success must be put back. DXP_EUNSUPPORTED: there is none (logged, with what
 * there is); DXP_EIO, DXP_ENOMEM. */
int ocl_device_get(const char *part, struct ocl_device **out);
void ocl_device_put(struct ocl_device *d);

cl_device_id ocl_device_id(const struct ocl_device *d);
cl_context ocl_device_context(const struct ocl_device *d);
const char *ocl_device_name(const struct ocl_device *d);
uint32_t ocl_device_units(const struct ocl_device *d);

/* A program of this device, built now or before. */
struct ocl_build;

/* DXP_OK: *out must be put back. *log as engine_build. */
int ocl_build_get(struct ocl_device *d, const struct engine_source *source, struct ocl_build **out,
		  char **log);
void ocl_build_put(struct ocl_device *d, struct ocl_build *b);
cl_program ocl_build_program(const struct ocl_build *b);

#endif
