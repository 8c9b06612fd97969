/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes programs with the device's compiler and linker, from sources, other programs or a binary.
 * Caller holds the device's lock. */
#ifndef ENGINE_OCL_MAKE_H
#define ENGINE_OCL_MAKE_H

#include "engine/ocl_internal.h"
#include "engine/records.h"

struct ocl_made {
	cl_program program; /* NULL: failed */
	cl_int error;       /* CL_SUCCESS also if neither compiler nor linker ran */
	uint32_t type;      /* cl_program_binary_type */
	char *log;          /* may be NULL */
};

/* A program, shared by all engines that built it. The device's lock guards it, except `key` and
 * `made`, which do not change. */
struct ocl_build {
	struct ocl_build *next;
	uint32_t users;
	uint8_t key[OCL_KEY_BYTES];
	struct ocl_made made;
	struct records about;
	/* binary of a loaded object or library; NULL: the driver has it */
	void *object;
	size_t object_bytes;
	bool from_host; /* a binary from the host, which need not be stored */
	bool seen;      /* built before, by any process */
	bool grown;     /* has more compiled code than the file on disk */
};

/* A program of one engine. */
struct engine_program {
	struct ocl_build *build;
	struct ocl_kernel *kernels; /* launched so far */
};

/* Computes a hash of everything that affects the build. False: out of memory. */
bool ocl_make_key(const struct ocl_device *d, const struct engine_source *s,
		  uint8_t key[OCL_KEY_BYTES]);

/* Makes a program of kind SOURCE, COMPILE or LINK. Returns DXP_OK even if the build fails
 * (out->program is NULL); DXP_ENOMEM, DXP_EIO. */
int ocl_make(struct ocl_device *d, const struct engine_source *s, struct ocl_made *out);

/* Loads a binary that this device made. False: the device rejected it. */
bool ocl_made_load(struct ocl_device *d, const struct ocl_pack *pack, struct ocl_made *out);

/* The caller frees it; NULL: none. */
uint8_t *ocl_made_binary(struct ocl_device *d, const struct ocl_made *m, size_t *bytes);

#endif
