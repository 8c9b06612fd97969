/* SPDX-License-Identifier: BSD-3-Clause */
/* The sender on a CUDA device: gpu.cu where nvcc was there at build time, else gpu_none.c. */
#ifndef KERNEL_PUT_GPU_H
#define KERNEL_PUT_GPU_H

#include <stddef.h>

#include "blocks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NULL, or why there is no device. */
const char *gpu_open(void);
/* The device may load and store these bytes of ours; *device is where it sees them. NULL, or why
 * not. */
const char *gpu_map(void *base, size_t bytes, void **device);
/* Runs the sender; all but `s` and `r` as the device sees them. Returns when it has ended. NULL, or
 * why it did not. */
const char *gpu_send(struct dxp_window *nic, dxp_u8 *image, const struct shape *s,
		     const struct route *r, struct report *report);
void gpu_unmap(void *base);

#ifdef __cplusplus
}
#endif
#endif
