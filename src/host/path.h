/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what a session with a node has measured on the network path. */
#ifndef HOST_PATH_H
#define HOST_PATH_H

#include <dxp/mmd.h>

#include "rltp/session.h"

/* Copies the state of the session with `node` to *out. DXP_ENOENT: there is no session. */
int path_view(struct dxp_fabric *fabric, uint16_t node, struct rltp_view *out);

#endif
