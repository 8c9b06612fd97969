/* SPDX-License-Identifier: BSD-3-Clause */
/* Fetches data about a program or a device as one block. Also manages one allocation of device
 * memory for each xPU, the scratch memory, which packages and long answers pass through. It grows
 * on demand and is freed with the xPU. Caller holds the fabric's lock; a wait releases it. */
#ifndef HOST_FETCH_H
#define HOST_FETCH_H

#include "host/internal.h"

/* Waits until no other call uses the scratch memory, then reserves it. DXP_ENOMEM: device memory is
 * full. */
int fetch_scratch_acquire(struct dxp_xpu *x, uint64_t bytes, uint64_t *address);
void fetch_scratch_give(struct dxp_xpu *x);

/* Fetches up to `most` bytes (0: HOST_FETCH_BYTES). The caller frees *out. It has one byte more
 * than *bytes, for a zero byte. Sets no error text. */
int fetch_whole(struct dxp_xpu *x, uint32_t program, uint8_t what, size_t most, void **out,
		size_t *bytes);

#endif
