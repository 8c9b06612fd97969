/* SPDX-License-Identifier: BSD-3-Clause */
/* What the device's compiler and linker do: from sources, inputs or a binary to a program. Caller
 * holds the device's lock. */
#ifndef ENGINE_OCL_MAKE_H
#define ENGINE_OCL_MAKE_H

#include "engine/ocl_internal.h"

struct ocl_made {
	cl_program program; /* NULL: it does not build, and the log says why */
	cl_int error;       /* what compiler or linker said; CL_SUCCESS: it was not asked */
	uint32_t type;      /* cl_program_binary_type */
	char *log;          /* may be NULL */
};

/* What a program is known by: whatever changes what comes out. False: no memory. */
bool ocl_make_key(const struct ocl_device *d, const struct engine_source *s,
		  uint8_t key[OCL_KEY_BYTES]);

/* SOURCE, COMPILE, LINK. DXP_OK also when it does not build; DXP_ENOMEM, DXP_EIO. */
int ocl_make(struct ocl_device *d, const struct engine_source *s, struct ocl_made *out);

/* From a binary that the device gave before; false: it does not take it. */
bool ocl_made_load(struct ocl_device *d, const struct ocl_pack *pack, struct ocl_made *out);

/* For the caller to free; NULL: the device gives none. */
uint8_t *ocl_made_binary(struct ocl_device *d, const struct ocl_made *m, size_t *bytes);

/* ocl.c; what LINK's inputs are */
const struct ocl_build *ocl_program_build(const struct engine_program *p);

#endif
