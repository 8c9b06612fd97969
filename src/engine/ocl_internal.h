/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface between ocl_device.c, ocl_build.c, ocl_make.c and ocl_probe.c only. */
#ifndef ENGINE_OCL_INTERNAL_H
#define ENGINE_OCL_INTERNAL_H

#include <pthread.h>

#include "engine/ocl_device.h"
#include "engine/ocl_pack.h"

struct ocl_device {
	struct ocl_device *next;
	const struct ocl_library *cl;
	uint32_t users; /* engines; guarded by list_lock in ocl_device.c */
	cl_device_id id;
	cl_context context;
	char name[FABRIC_DEVICE_BYTES];
	uint32_t units;
	uint8_t sum[OCL_KEY_BYTES]; /* identifies device and driver in binaries */
	char *scratch;              /* for temporary files of builds; NULL: none */
	char *folder;               /* of built programs; NULL: none */
	pthread_mutex_t lock;       /* guards the builds; held during a build */
	struct ocl_build *builds;   /* most recently used first */
	uint32_t idle_builds;       /* unused */
};

/* No program may use them. */
void ocl_builds_free(struct ocl_device *d);

#endif
