/* SPDX-License-Identifier: BSD-3-Clause */
/* What `#include <dxp/device.h>` means in a program that came over the network: the header's own
 * text, put in its place before the compiler sees it. Nothing else can be included: a node has no
 * files for its hosts. */
#ifndef ENGINE_OCL_INCLUDE_H
#define ENGINE_OCL_INCLUDE_H

#include <stddef.h>

extern const char
	ocl_device_header[]; /* include/dxp/window.h, shared.h and device.h, made by the build */

/* `text` with every such line replaced, for the caller to free; the compiler's messages go on
 * counting the program's own lines. NULL: no memory. */
char *ocl_source_expand(const char *text, size_t bytes, size_t *out_bytes);

#endif
