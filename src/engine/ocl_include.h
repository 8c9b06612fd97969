/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces `#include <dxp/device.h>` in a program from the network by the header's text, before
 * compilation. No other file can be included in this way: hosts have no access to a node's
 * files. */
#ifndef ENGINE_OCL_INCLUDE_H
#define ENGINE_OCL_INCLUDE_H

#include <stddef.h>

extern const char
	/* Text of include/dxp/window.h, shared.h and device.h; the build generates it. */
	ocl_device_header[];

/* Returns `text` with each such #include line expanded; the caller frees it. The compiler's
 * messages keep the line numbers of the program. NULL: no memory. */
char *ocl_source_expand(const char *text, size_t bytes, size_t *out_bytes);

#endif
