/* SPDX-License-Identifier: BSD-3-Clause */
/* The sender on CUDA: gpu.cu, or gpu_none.c if the build had no nvcc. */
#ifndef KERNEL_PUT_GPU_H
#define KERNEL_PUT_GPU_H

#include <stddef.h>

#include "blocks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns NULL, or why it failed. */
const char *gpu_open(void);
/* Maps host memory for loads and stores of the device. Returns NULL, or why it failed. */
const char *gpu_map(void *base, size_t bytes, void **device);
/* Runs the sender to its end. Pointers except `s` and `r` are device addresses. Returns NULL, or
 * why it failed. */
const char *gpu_send(struct dxp_window *nic, dxp_u8 *image, const struct shape *s,
		     const struct route *r, struct report *report);
void gpu_unmap(void *base);

#ifdef __cplusplus
}
#endif
#endif
