/* SPDX-License-Identifier: BSD-3-Clause */
/* A pack: a device's binary of a program, with log and properties. A checksum protects it, because
 * drivers crash on damaged binaries. Packs are in cache files and, sealed (seal.h), at hosts, for
 * one kind of device. No I/O. */
#ifndef ENGINE_OCL_PACK_H
#define ENGINE_OCL_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OCL_KEY_BYTES 32 /* SHA-256 */

struct ocl_pack {
	uint8_t device[OCL_KEY_BYTES];    /* hash of the kind of device */
	uint32_t type;                    /* cl_program_binary_type */
	const void *log, *about, *binary; /* ocl_pack_read() points into its input */
	uint64_t log_bytes, about_bytes, binary_bytes;
};

/* The caller frees the pack; NULL: no memory. */
uint8_t *ocl_pack_make(const struct ocl_pack *p, size_t *bytes);

/* NULL: `out` is set; else a sentence with the error. */
const char *ocl_pack_read(const void *data, size_t bytes, struct ocl_pack *out);

#endif
