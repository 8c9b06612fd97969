/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the NICs of this machine is meant, and the way there. */
#ifndef HOST_PLACE_H
#define HOST_PLACE_H

#include <stdint.h>

#include "node/offer_place.h"

/* Connects to the NIC that `nic` names as struct dxp_function_options has it, for function
 * `function`; 0: any. The socket's path goes to `path`. Errors as dxp_function_attach, with the
 * sentence set. */
int place_connect(const char *nic, uint32_t function, uint64_t timeout_ns,
		  char path[OFFER_PATH_BYTES], int *socket);

#endif
