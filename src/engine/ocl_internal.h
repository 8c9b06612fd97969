/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by ocl_device.c, ocl_build.c and ocl_make.c only. */
#ifndef ENGINE_OCL_INTERNAL_H
#define ENGINE_OCL_INTERNAL_H

#include <pthread.h>

#include "engine/ocl_device.h"
#include "engine/ocl_pack.h"

struct ocl_device {
	struct ocl_device *next;
	const struct ocl_library *cl;
	uint32_t users; /* guarded by the list's lock in ocl_device.c */
	cl_device_id id;
	cl_context context;
	char name[FABRIC_DEVICE_BYTES];
	uint32_t units;
	uint8_t sum[OCL_KEY_BYTES]; /* tells it from devices that take other binaries */
	char *scratch;              /* for what lives during one build; NULL: no memory */
	char *folder;               /* of built programs; NULL: none */
	pthread_mutex_t lock;       /* guards the builds; held while one is being built */
	struct ocl_build *builds;   /* latest use first */
	uint32_t idle_builds;       /* of these, used by nobody */
};

/* With nobody using any. */
void ocl_builds_free(struct ocl_device *d);

#endif
