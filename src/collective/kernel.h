/* SPDX-License-Identifier: BSD-3-Clause */
/* The program that combines contributions: OpenCL C source with macros (combine.cl). */
#ifndef COLLECTIVE_KERNEL_H
#define COLLECTIVE_KERNEL_H

#include <stddef.h>

#include <dxp/collective.h>

#define KERNEL_OPTIONS_BYTES 128

extern const char kernel_source[];

/* Writes the compiler options (macro definitions) for a type and a reduction. */
void kernel_options(enum dxp_type type, enum dxp_reduction reduction,
		    char out[KERNEL_OPTIONS_BYTES]);

#endif
