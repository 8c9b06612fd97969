/* SPDX-License-Identifier: BSD-3-Clause */
/* What a node knows of a program or its device, in one piece; and the device memory through which
 * packages and long answers go: taken once, grown when it must be, given back with the xPU. The
 * lock is held, and released while waiting. */
#ifndef HOST_FETCH_H
#define HOST_FETCH_H

#include "host/internal.h"

/* Waits until nobody else uses it. DXP_ENOMEM: no room there. */
int scratch_take(struct dxp_xpu *x, uint64_t bytes, uint64_t *address);
void scratch_give(struct dxp_xpu *x);

/* `most`: bytes at most; 0: HOST_FETCH_BYTES. *out is to be freed, and has room for one byte more.
 * Nothing is explained. */
int fetch_whole(struct dxp_xpu *x, uint32_t program, uint8_t what, size_t most, void **out,
		size_t *bytes);

#endif
