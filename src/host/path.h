/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what a program's session with a node has measured of the network path. */
#ifndef HOST_PATH_H
#define HOST_PATH_H

#include <dxp/mmd.h>

#include "rltp/session.h"

/* Copies the state of the session with `node`. DXP_ENOENT: there is none. */
int path_view(struct dxp_fabric *fabric, uint16_t node, struct rltp_view *out);

#endif
