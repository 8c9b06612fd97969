/* SPDX-License-Identifier: BSD-3-Clause */
/* What an OpenCL device says of itself and of programs, as records (dxp/about.h). Honest: only what
 * works through the fabric. */
#ifndef ENGINE_OCL_ABOUT_H
#define ENGINE_OCL_ABOUT_H

#include "engine/ocl_device.h"
#include "engine/records.h"

/* ocl_about.c: the kernels of a built program, and its type. False: no memory. */
bool ocl_about_program(const struct ocl_library *cl, cl_device_id device, cl_program program,
		       struct records *out);

/* ocl_about_device.c; `images`: do images work here? False: no memory. */
bool ocl_about_device(const struct ocl_library *cl, cl_device_id device, cl_context context,
		      bool images, struct records *out);

#endif
