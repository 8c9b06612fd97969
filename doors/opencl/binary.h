/* SPDX-License-Identifier: BSD-3-Clause */
/* What clGetProgramInfo gives as a program's binary and clCreateProgramWithBinary takes, in this
 * process or in a later one: the node's own binary behind a head that tells which kind of device it
 * is for. Pure.
 *
 *   bytes  what
 *   8      "DXPCLBIN"
 *   4      version, 1
 *   4      cl_program_binary_type
 *   4      length of the device's sentence
 *   4      0
 *   8      length of the node's binary
 *   8      FNV-1a, 64 bits, of everything before and behind it
 *   -      the device's sentence, then the node's binary; numbers are little-endian */
#ifndef DOOR_BINARY_H
#define DOOR_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BINARY_HEAD_BYTES 40

struct binary {
	uint32_t type;
	const char *device; /* what only devices that take it say of themselves */
	size_t device_bytes;
	const void *data;
	size_t bytes;
};

size_t binary_size(const struct binary *b);
/* `to` has binary_size() bytes. */
void binary_write(const struct binary *b, uint8_t *to);
/* False: it is none, or was changed. *out points into it. */
bool binary_read(struct binary *out, const void *from, size_t bytes);

#endif
