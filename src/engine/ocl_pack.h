/* SPDX-License-Identifier: BSD-3-Clause */
/* A device's binary of a program with what else is known of it, as bytes that notice when they were
 * damaged: drivers crash on binaries that are. The file of the cache, and what hosts get as a
 * program's binary. Made and read on one kind of device, by whatever node has it. Pure. */
#ifndef ENGINE_OCL_PACK_H
#define ENGINE_OCL_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OCL_KEY_BYTES 32 /* SHA-256 */

struct ocl_pack {
	uint8_t device[OCL_KEY_BYTES]; /* whose binary it is: a sum over what tells devices apart */
	uint32_t type;                 /* cl_program_binary_type */
	const void *log, *about, *binary; /* of a pack that was read: inside its bytes */
	uint64_t log_bytes, about_bytes, binary_bytes;
};

/* For the caller to free; NULL: no memory. */
uint8_t *ocl_pack_make(const struct ocl_pack *p, size_t *bytes);

/* NULL: `out` is what was packed; else a sentence that says what is wrong. */
const char *ocl_pack_read(const void *data, size_t bytes, struct ocl_pack *out);

#endif
