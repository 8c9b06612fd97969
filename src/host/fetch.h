/* SPDX-License-Identifier: BSD-3-Clause */
/* Fetches data about a program or device in one piece. Also manages the device memory for
 * packages and long answers: allocated once, grown on demand, freed with the xPU. Caller holds
 * the fabric's lock, which is released while waiting. */
#ifndef HOST_FETCH_H
#define HOST_FETCH_H

#include "host/internal.h"

/* Reserves this memory, after its present user. DXP_ENOMEM: no space on the device. */
int fetch_scratch_acquire(struct dxp_xpu *x, uint64_t bytes, uint64_t *address);
void fetch_scratch_give(struct dxp_xpu *x);

/* Fetches up to `most` bytes; 0: HOST_FETCH_BYTES. The caller frees *out, which has space for
 * one more byte. Sets no error text. */
int fetch_whole(struct dxp_xpu *x, uint32_t program, uint8_t what, size_t most, void **out,
		size_t *bytes);

#endif
