/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of an OpenCL device and of programs, as records (dxp/about.h), only of features that
 * work through the fabric. */
#ifndef ENGINE_OCL_ABOUT_H
#define ENGINE_OCL_ABOUT_H

#include "engine/ocl_device.h"
#include "engine/records.h"

/* ocl_about.c. False: out of memory. */
bool ocl_about_program(const struct ocl_library *cl, cl_device_id device, cl_program program,
		       struct records *out);

/* ocl_about_device.c. `images`: images work. False: out of memory. */
bool ocl_about_device(const struct ocl_library *cl, cl_device_id device, cl_context context,
		      bool images, struct records *out);

#endif
