/* SPDX-License-Identifier: BSD-3-Clause */
/* Fetches data about a program or a device as one block. Also manages one buffer in the device
 * memory of each xPU, the transit buffer. Packages and long answers pass through it. It grows on
 * demand and is freed when the xPU is closed. Caller holds the fabric's lock; a wait releases
 * it. */
#ifndef HOST_FETCH_H
#define HOST_FETCH_H

#include "host/internal.h"

/* Waits until no other call uses the transit buffer, then reserves it. DXP_ETIMEDOUT: the buffer
 * stays in use. DXP_ENOMEM: device memory is full. Other statuses: the xPU is lost, or does not
 * answer. */
int fetch_scratch_acquire(struct dxp_xpu *x, uint64_t bytes, uint64_t *address);
void fetch_scratch_give(struct dxp_xpu *x);

/* Fetches up to `most` bytes (0: HOST_FETCH_BYTES). The caller frees *out. It has one byte more
 * than *bytes, so that the caller can append a zero byte. Sets no error text. */
int fetch_whole(struct dxp_xpu *x, uint32_t program, uint8_t what, size_t most, void **out,
		size_t *bytes);

#endif
