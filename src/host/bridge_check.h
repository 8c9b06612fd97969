/* SPDX-License-Identifier: BSD-3-Clause */
/* A transfer over a bridge, checked where it is ordered: what goes out is a command that the xPU
 * will carry out. No network. */
#ifndef HOST_BRIDGE_CHECK_H
#define HOST_BRIDGE_CHECK_H

#include <dxp/bridge.h>

#include "wire/command.h"

/* Which host memory a transfer of this path reads and writes. */
bool bridge_reads_host(enum dxp_bridge_path path);
bool bridge_writes_host(enum dxp_bridge_path path);

/* Fills path, mode, sizes and device addresses of *c, and for DEVICE_TO_DEVICE what names the other
 * side's memory; keys of host memory are the caller's to add. Caller holds the fabric's lock.
 * DXP_EINVAL, DXP_ERANGE, DXP_EUNSUPPORTED, with the sentence set: it names the field. */
int bridge_check(const struct dxp_xpu *x, const struct dxp_bridge_transfer *t, struct command *c);

#endif
