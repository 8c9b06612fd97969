/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes devices for binaries, so that a binary is accepted by matching devices only. */
#ifndef DOOR_PROGRAM_DEVICE_H
#define DOOR_PROGRAM_DEVICE_H

#include "plugins/opencl/door.h"

#define DEVICE_SENTENCE_BYTES 1024

/* Writes name, version and driver version of the device, as its node reports them. Two nodes of the
 * same kind have equal sentences. Returns the length in bytes. */
size_t device_sentence(cl_device_id d, char sentence[DEVICE_SENTENCE_BYTES]);

#endif
