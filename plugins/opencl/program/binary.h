/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes and decodes the binaries of clGetProgramInfo and clCreateProgramWithBinary: the node's
 * own binary after a header that names the kind of device. No I/O.
 *
 *   bytes  field
 *   8      "DXPCLBIN"
 *   4      version, 1
 *   4      cl_program_binary_type
 *   4      length of the device sentence
 *   4      0
 *   8      length of the node's binary
 *   8      FNV-1a, 64 bits, of everything before and after it
 *   -      the device sentence, then the node's binary; numbers are little-endian */
#ifndef OPENCL_BINARY_H
#define OPENCL_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BINARY_HEAD_BYTES 40

struct binary {
	uint32_t type;
	/* device sentence (node/device.h); the binary is for devices with the same sentence */
	const char *device;
	size_t device_bytes;
	const void *data;
	size_t bytes;
};

size_t binary_size(const struct binary *b);
/* Writes binary_size() bytes to `to`. */
void binary_write(const struct binary *b, uint8_t *to);
/* *out points into `from`. False: this is no binary, or it is corrupt. */
bool binary_read(struct binary *out, const void *from, size_t bytes);

#endif
