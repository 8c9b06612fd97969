/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the fake CUDA driver: its lock, its objects, and the tasks of a stream. */
#ifndef FAKE_INTERNAL_H
#define FAKE_INTERNAL_H

#include <pthread.h>
#include <stdalign.h>

#include "fake_cuda.h"
#include "engine/cuda_library.h"

#define API         __attribute__((visibility("default")))
#define ERROR_PTX   218
#define ERROR_FAULT 700

#define FAKE_PARAMETERS_MAX 6

#define DECLARE(name, parameters) API int name parameters;
CUDA_FUNCTIONS(DECLARE)
#undef DECLARE
#define DECLARE(type, name, parameters) API type name parameters;
FAKE_CUDA_FUNCTIONS(DECLARE)
#undef DECLARE

struct task {
	struct task *next;
	void *to;
	const void *from;
	size_t bytes;
	unsigned kind;             /* a bit as in fake_cuda_hang */
	struct cuda_event *event;  /* to record when the task completes, or NULL */
	const struct entry *entry; /* to run, or NULL */
	unsigned grid, block;
	struct parameter {
		alignas(8) uint8_t bytes[32];
	} parameters[FAKE_PARAMETERS_MAX];
};

struct entry {
	const char *name;
	unsigned parameter_count;
	size_t parameter_bytes[FAKE_PARAMETERS_MAX];
	int (*run)(const struct task *t);
};

/* Returns the memory at a device address; NULL: host memory that is not mapped now. Without the
 * lock. */
void *fake_address(uint64_t pointer);

extern pthread_mutex_t fake_lock;

/* Allocates an object and counts it. Caller holds the lock. */
void *fake_object_new(size_t bytes); /* never returns NULL */
void fake_object_free(void *bytes);
int fake_task_add(struct cuda_stream *s, const struct task *task);
/* Returns the error that the present call must return, or CUDA_OK. */
int fake_fate(void);

/* Body of a driver function. Holds the lock while it runs `body`, which sets `error`. If a test
 * makes this call fail, returns the test's error instead. */
#define CALL(body)                                \
	do {                                      \
		pthread_mutex_lock(&fake_lock);   \
		int error = fake_fate();          \
		if (error == CUDA_OK)             \
			body;                     \
		pthread_mutex_unlock(&fake_lock); \
		return error;                     \
	} while (0)

#endif
