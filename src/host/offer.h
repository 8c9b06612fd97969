/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the NIC of this machine that a name or path denotes, and connects to it. */
#ifndef HOST_OFFER_H
#define HOST_OFFER_H

#include <stdint.h>

#include "node/offer_folder.h"

/* Connects to the NIC `nic`, as in struct dxp_function_options, for `function`; 0: any. Writes
 * the socket's path to `path`. Errors as dxp_function_attach, with the error text set. */
int offer_connect(const char *nic, uint32_t function, uint64_t timeout_ns,
		  char path[OFFER_PATH_BYTES], int *socket);

#endif
