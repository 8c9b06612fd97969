/* SPDX-License-Identifier: BSD-3-Clause */
/* A device's binary of a program with log and properties, protected by a checksum: drivers crash on
 * damaged binaries. For cache files and, with a seal (seal.h), for hosts. Valid for
 * one kind of device. Pure. */
#ifndef ENGINE_OCL_PACK_H
#define ENGINE_OCL_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OCL_KEY_BYTES 32 /* SHA-256 */

struct ocl_pack {
	uint8_t device[OCL_KEY_BYTES];    /* hash that identifies the kind of device */
	uint32_t type;                    /* cl_program_binary_type */
	const void *log, *about, *binary; /* ocl_pack_read sets pointers into its input */
	uint64_t log_bytes, about_bytes, binary_bytes;
};

/* Returns the bytes, which the caller frees; NULL: no memory. */
uint8_t *ocl_pack_make(const struct ocl_pack *p, size_t *bytes);

/* Returns NULL and sets `out`, or a sentence that states the error. */
const char *ocl_pack_read(const void *data, size_t bytes, struct ocl_pack *out);

#endif
