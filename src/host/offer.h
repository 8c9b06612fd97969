/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds a NIC of this machine by name or path, and connects to it. */
#ifndef HOST_OFFER_H
#define HOST_OFFER_H

#include <stdint.h>

#include "node/offer_folder.h"

/* Connects to `nic` for `function` and `qp` (see struct dxp_function_options). Writes the path of
 * the socket to `path`. Sets the error text; errors of dxp_function_attach(). */
int offer_connect(const char *nic, uint32_t function, uint32_t qp, uint64_t timeout_ns,
		  char path[OFFER_PATH_BYTES], int *socket);

#endif
