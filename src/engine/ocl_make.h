/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes programs with the device's compiler and linker, from sources, other programs or a binary.
 * Caller holds the device's lock. */
#ifndef ENGINE_OCL_MAKE_H
#define ENGINE_OCL_MAKE_H

#include "engine/ocl_internal.h"
#include "engine/records.h"

struct ocl_made {
	cl_program program; /* NULL: the build failed */
	cl_int error;       /* error of compiler or linker; CL_SUCCESS if neither ran */
	uint32_t type;      /* cl_program_binary_type */
	char *log;          /* messages of compiler or linker; may be NULL */
};

/* A program of a device. All engines that built it share it. The device's lock guards it, except
 * `key` and `made`, which do not change. */
struct ocl_build {
	struct ocl_build *next;
	uint32_t users;
	uint8_t key[OCL_KEY_BYTES];
	struct ocl_made made;
	struct records about; /* properties of the program */
	/* binary of an object or library that was loaded; NULL: the driver has the binary */
	void *object;
	size_t object_bytes;
	bool from_host; /* made from a binary that the host sent, so it need not be stored */
	bool seen;      /* it was built before, by this process or another one */
	bool grown;     /* the driver has compiled more code for it than the file on disk has */
};

/* A program of one engine. */
struct engine_program {
	struct ocl_build *build;
	struct ocl_kernel *kernels; /* kernels that were launched so far */
};

/* Computes the key of a program: a hash of everything that affects its build. Returns false if
 * memory is short. */
bool ocl_make_key(const struct ocl_device *d, const struct engine_source *s,
		  uint8_t key[OCL_KEY_BYTES]);

/* Builds SOURCE, COMPILE or LINK. Returns DXP_OK even if the build fails (out->program is then
 * NULL); DXP_ENOMEM, DXP_EIO. */
int ocl_make(struct ocl_device *d, const struct engine_source *s, struct ocl_made *out);

/* Loads a binary that this device made before. Returns false if the device rejects it. */
bool ocl_made_load(struct ocl_device *d, const struct ocl_pack *pack, struct ocl_made *out);

/* Returns the binary of a program, which the caller frees; NULL: there is none. */
uint8_t *ocl_made_binary(struct ocl_device *d, const struct ocl_made *m, size_t *bytes);

#endif
