/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes programs with the device's compiler and linker, from sources, inputs or a binary. Caller
 * holds the device's lock. */
#ifndef ENGINE_OCL_MAKE_H
#define ENGINE_OCL_MAKE_H

#include "engine/ocl_internal.h"
#include "engine/records.h"

struct ocl_made {
	cl_program program; /* NULL: build failed, see `log` */
	cl_int error;       /* result of compiler or linker; also CL_SUCCESS if neither ran */
	uint32_t type;      /* cl_program_binary_type */
	char *log;          /* may be NULL */
};

/* A program of a device, shared by the engines that built it. Guarded by the device's lock, except
 * `key` and `made`, which do not change. */
struct ocl_build {
	struct ocl_build *next;
	uint32_t users;
	uint8_t key[OCL_KEY_BYTES];
	struct ocl_made made;
	struct records about; /* properties of the program */
	void *object;         /* binary of a loaded object or library; NULL: the driver has it */
	size_t object_bytes;
	bool from_host; /* from a binary that the host has */
	bool seen;      /* an earlier process built it too */
	bool grown;     /* the driver's binary has more code than the file on disk */
};

/* A program of one engine. */
struct engine_program {
	struct ocl_build *build;
	struct ocl_kernel *kernels; /* kernels used so far */
};

/* Computes a program's key from everything that affects its build. False: no memory. */
bool ocl_make_key(const struct ocl_device *d, const struct engine_source *s,
		  uint8_t key[OCL_KEY_BYTES]);

/* Builds SOURCE, COMPILE or LINK. DXP_OK even if the build fails; DXP_ENOMEM, DXP_EIO. */
int ocl_make(struct ocl_device *d, const struct engine_source *s, struct ocl_made *out);

/* Loads a binary that the device produced; false: rejected. */
bool ocl_made_load(struct ocl_device *d, const struct ocl_pack *pack, struct ocl_made *out);

/* Returns the binary, which the caller frees; NULL: none. */
uint8_t *ocl_made_binary(struct ocl_device *d, const struct ocl_made *m, size_t *bytes);

#endif
