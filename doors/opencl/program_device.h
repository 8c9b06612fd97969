/* SPDX-License-Identifier: BSD-3-Clause */
/* How binaries name the devices that take them. */
#ifndef DOOR_PROGRAM_DEVICE_H
#define DOOR_PROGRAM_DEVICE_H

#include "doors/opencl/door.h"

#define DEVICE_SENTENCE_BYTES 1024

/* Name, version and driver version of the device, as its node tells them: what two nodes of the
 * same kind have in common. Returns its length. */
size_t device_sentence(cl_device_id d, char sentence[DEVICE_SENTENCE_BYTES]);

#endif
