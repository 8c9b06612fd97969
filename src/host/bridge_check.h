/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks a bridge transfer on the host, so that the xPU accepts its command. No network. */
#ifndef HOST_BRIDGE_CHECK_H
#define HOST_BRIDGE_CHECK_H

#include <dxp/bridge.h>

#include "wire/command.h"

/* Returns whether a transfer of this path reads (writes) host memory. */
bool bridge_reads_host(enum dxp_bridge_path path);
bool bridge_writes_host(enum dxp_bridge_path path);

/* Fills path, mode, sizes and device addresses of *c; for DEVICE_TO_DEVICE also the peer's
 * memory. Keys of host memory are left to the caller. Caller holds the fabric's lock.
 * DXP_EINVAL, DXP_ERANGE, DXP_EUNSUPPORTED, with the error text set; it names the field. */
int bridge_check(const struct dxp_xpu *x, const struct dxp_bridge_transfer *t, struct command *c);

#endif
