/* SPDX-License-Identifier: BSD-3-Clause */
/* A launch, checked where it is made: the message that goes out is one that the xPU will
 * understand. No network. */
#ifndef HOST_LAUNCH_H
#define HOST_LAUNCH_H

#include <dxp/mmd.h>

#include "wire/command.h"

/* Fills the RUN fields of *c. DXP_EINVAL, with the sentence set, names the field that is wrong.
 * `memory_bytes`: buffers must lie below; `nic`: there is a function for kernels. Arguments of *c
 * lead into the launch, and those that have to be made into `packed`, which has
 * COMMAND_PACKED_BYTES. */
int launch_check(const struct dxp_launch *l, uint64_t memory_bytes, bool nic, uint8_t *packed,
		 struct command *c);

#endif
