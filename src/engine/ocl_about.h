/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of an OpenCL device and of programs, as records (dxp/about.h). Only properties of
 * features that work through the fabric are reported. */
#ifndef ENGINE_OCL_ABOUT_H
#define ENGINE_OCL_ABOUT_H

#include "engine/ocl_device.h"
#include "engine/records.h"

/* ocl_about.c
 * Adds records about a program's type and kernels. Returns false if memory is short. */
bool ocl_about_program(const struct ocl_library *cl, cl_device_id device, cl_program program,
		       struct records *out);

/* ocl_about_device.c
 * Adds records about the device. `images`: images work. Returns false if memory is short. */
bool ocl_about_device(const struct ocl_library *cl, cl_device_id device, cl_context context,
		      bool images, struct records *out);

#endif
