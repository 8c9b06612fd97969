/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks a launch on the host, by the same rules as the xPU. Sends nothing. */
#ifndef HOST_LAUNCH_H
#define HOST_LAUNCH_H

#include <dxp/mmd.h>

#include "wire/command.h"

/* Fills in the fields of command RUN in *c. Buffers must be below address `memory_bytes`. `nic`:
 * true if kernels have a NIC function. Arguments in *c point into the launch, or into `packed` if
 * they were converted (COMMAND_PACKED_BYTES). DXP_EINVAL, with an error text that names the
 * field. */
int launch_check(const struct dxp_launch *l, uint64_t memory_bytes, bool nic, uint8_t *packed,
		 struct command *c);

#endif
