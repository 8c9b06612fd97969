/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the sender on a CUDA device: gpu.cu if nvcc was present at build time, otherwise
 * gpu_none.c. */
#ifndef KERNEL_PUT_GPU_H
#define KERNEL_PUT_GPU_H

#include <stddef.h>

#include "blocks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Opens the device. Returns NULL, or the reason for the failure. */
const char *gpu_open(void);
/* Lets the device load and store these bytes of host memory. Writes their device address to
 * *device. Returns NULL, or the reason for the failure. */
const char *gpu_map(void *base, size_t bytes, void **device);
/* Runs the sender until it completes. All pointers except `s` and `r` are device addresses. Returns
 * NULL, or the reason for the failure. */
const char *gpu_send(struct dxp_window *nic, dxp_u8 *image, const struct shape *s,
		     const struct route *r, struct report *report);
void gpu_unmap(void *base);

#ifdef __cplusplus
}
#endif
#endif
