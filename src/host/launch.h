/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks a launch on the host, by the xPU's rules. No network. */
#ifndef HOST_LAUNCH_H
#define HOST_LAUNCH_H

#include <dxp/mmd.h>

#include "wire/command.h"

/* Fills the RUN fields of *c. Buffers must lie below `memory_bytes`. `nic`: kernels have a NIC
 * function. Arguments in *c point into the launch or, if converted, into `packed`
 * (COMMAND_PACKED_BYTES). DXP_EINVAL, with an error text that names the field. */
int launch_check(const struct dxp_launch *l, uint64_t memory_bytes, bool nic, uint8_t *packed,
		 struct command *c);

#endif
