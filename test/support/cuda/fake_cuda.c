/* SPDX-License-Identifier: BSD-3-Clause */
/* A CUDA driver without a device: the libcuda.so.1 of tests. Device memory is host memory, a stream
 * is a thread, and kernels are functions with the names of those in kernels.ptx. Tests can make any
 * call fail, slow down copies, and hang the device. After a kernel's error every call fails, as in
 * CUDA.
 *
 *  One lock protects everything. Live objects are counted. */
#include "fake_internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ERROR_OTHER  999
#define ERROR_LOCKED 712
#define BLOCKS_MAX   64
/* added to the address of mapped host memory, so that kernels can use only the device's address */
#define MAPPED_AT (1ull << 56)

/* The runtime compiler NVRTC, if present, requests this function from every driver. */
API int cuGetExportTable(const void **table, const void *id);

struct cuda_event {
	unsigned recorded, done;
};

struct cuda_stream {
	pthread_t thread;
	struct task *first, **last;
	bool closing, busy;
};

/* Header of each object that the caller gets. Tests make some releases fail; the list keeps these
 * objects reachable for the leak checker. */
struct object {
	struct object *next;
	long double bytes[]; /* aligned for any type */
};

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct {
	uint64_t at;
	size_t bytes;
} blocks[BLOCKS_MAX];
/* locked ranges of host memory */
static struct {
	const uint8_t *at;
	size_t bytes;
	bool mapped;
} locked[BLOCKS_MAX];
static unsigned calls, fail_at, alive;
/* error that fake_cuda_fail selected; error of a kernel, which every later call returns */
static int fail_error, stays;
static uint64_t delay_ns;
static struct object *objects;
static unsigned hangs;

void fake_cuda_fail(unsigned n, int error)
{
	pthread_mutex_lock(&fake_lock);
	calls = 0;
	fail_at = n;
	fail_error = error ? error : ERROR_OTHER;
	pthread_mutex_unlock(&fake_lock);
}

unsigned fake_cuda_calls(void)
{
	pthread_mutex_lock(&fake_lock);
	unsigned n = calls;
	pthread_mutex_unlock(&fake_lock);
	return n;
}

void fake_cuda_delay(uint64_t ns)
{
	pthread_mutex_lock(&fake_lock);
	delay_ns = ns;
	pthread_mutex_unlock(&fake_lock);
}

void fake_cuda_hang(unsigned kinds)
{
	pthread_mutex_lock(&fake_lock);
	hangs = kinds;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&fake_lock);
}

void fake_cuda_heal(void)
{
	pthread_mutex_lock(&fake_lock);
	stays = CUDA_OK;
	pthread_mutex_unlock(&fake_lock);
}

unsigned fake_cuda_alive(void)
{
	pthread_mutex_lock(&fake_lock);
	unsigned n = alive;
	pthread_mutex_unlock(&fake_lock);
	return n;
}

void *fake_object_new(size_t bytes)
{
	struct object *o = calloc(1, sizeof(*o) + bytes);

	if (!o)
		abort();
	o->next = objects;
	objects = o;
	alive++;
	return o->bytes;
}

void fake_object_free(void *bytes)
{
	struct object **at = &objects;

	while ((*at)->bytes != bytes)
		at = &(*at)->next;
	struct object *o = *at;
	*at = o->next;
	free(o);
	alive--;
}

/* The range lies in one allocation of the device. Caller holds the lock. */
static bool device_range(uint64_t pointer, size_t bytes)
{
	for (unsigned i = 0; i < BLOCKS_MAX; i++)
		if (blocks[i].at && pointer >= blocks[i].at &&
		    pointer + bytes <= blocks[i].at + blocks[i].bytes)
			return true;
	return false;
}

/* Caller holds the lock, which is released during a copy, so that other calls can run. */
static void task_run(struct task *t)
{
	uint64_t wait_ns = delay_ns;
	int error = stays;

	pthread_mutex_unlock(&fake_lock);
	if (t->bytes > 0 && wait_ns > 0)
		nanosleep(&(struct timespec){.tv_nsec = (long)wait_ns}, NULL);
	if (error == CUDA_OK && t->bytes > 0)
		memcpy(t->to, t->from, t->bytes);
	if (error == CUDA_OK && t->entry)
		error = t->entry->run(t);
	pthread_mutex_lock(&fake_lock);
	if (stays == CUDA_OK)
		stays = error;
	if (t->event)
		t->event->done++;
}

static void *stream_run(void *argument)
{
	struct cuda_stream *s = argument;

	pthread_mutex_lock(&fake_lock);
	while (!s->closing || s->first) {
		struct task *t = s->first;
		if (!t || (hangs & t->kind)) {
			pthread_cond_wait(&changed, &fake_lock);
			continue;
		}
		s->first = t->next;
		if (!s->first)
			s->last = &s->first;
		s->busy = true;
		task_run(t);
		s->busy = false;
		free(t);
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&fake_lock);
	return NULL;
}

int fake_task_add(struct cuda_stream *s, const struct task *task)
{
	struct task *t = malloc(sizeof(*t));

	if (!t)
		return CUDA_OUT_OF_MEMORY;
	*t = *task;
	t->kind = task->kind ? task->kind : 2;
	t->next = NULL;
	*s->last = t;
	s->last = &t->next;
	pthread_cond_broadcast(&changed);
	return CUDA_OK;
}

int fake_fate(void)
{
	if (++calls == fail_at)
		return fail_error;
	return stays;
}

int cuInit(unsigned flags)
{
	CALL({});
}

int cuGetExportTable(const void **table, const void *id)
{
	*table = NULL;
	return CUDA_NOT_FOUND;
}

int cuGetErrorString(int error, const char **text)
{
	*text = error == ERROR_FAULT ? "an illegal memory access was encountered"
		: error == ERROR_PTX ? "a PTX JIT compilation failed"
				     : "a fake error";
	return CUDA_OK;
}

int cuDeviceGetCount(int *count)
{
	CALL(*count = 2);
}

int cuDeviceGet(int *device, int ordinal)
{
	CALL(*device = ordinal);
}

int cuDeviceGetName(char *name, int bytes, int device)
{
	CALL(snprintf(name, (size_t)bytes, "Fake GPU %c", 'A' + device));
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	CALL(*value = attribute == CUDA_DEVICE_PROCESSORS         ? 4
		      : attribute == CUDA_DEVICE_MAPS_HOST        ? 1
		      : attribute == CUDA_DEVICE_CAPABILITY_MAJOR ? 7
								  : 5);
}

int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags)
{
	CALL(error = flags == CUDA_CONTEXT_MAP_HOST ? CUDA_OK : CUDA_INVALID_VALUE);
}

int cuDevicePrimaryCtxRetain(struct cuda_context **context, int device)
{
	CALL({
		*context = (struct cuda_context *)&fake_lock;
		alive++;
	});
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
	CALL(alive--);
}

int cuCtxSetCurrent(struct cuda_context *context)
{
	CALL({});
}

int cuMemGetInfo_v2(size_t *unused, size_t *total)
{
	CALL(*unused = *total = 1u << 30);
}

/* Caller holds the lock. */
static int block_add(uint64_t *pointer, size_t bytes)
{
	for (unsigned i = 0; i < BLOCKS_MAX; i++)
		if (!blocks[i].at) {
			void *at =
				bytes >> 30 ? NULL : aligned_alloc(512, (bytes + 511) / 512 * 512);
			if (!at)
				return CUDA_OUT_OF_MEMORY;
			blocks[i].at = *pointer = (uint64_t)(uintptr_t)at;
			blocks[i].bytes = bytes;
			alive++;
			return CUDA_OK;
		}
	return CUDA_OUT_OF_MEMORY;
}

static int block_remove(uint64_t pointer)
{
	for (unsigned i = 0; i < BLOCKS_MAX; i++)
		if (blocks[i].at == pointer) {
			free((void *)(uintptr_t)pointer);
			blocks[i].at = 0;
			alive--;
			return CUDA_OK;
		}
	return CUDA_INVALID_VALUE;
}

int cuMemAlloc_v2(uint64_t *pointer, size_t bytes)
{
	CALL(error = block_add(pointer, bytes));
}

int cuMemFree_v2(uint64_t pointer)
{
	CALL(error = block_remove(pointer));
}

/* A range can be locked once. Caller holds the lock. */
static int locked_add(const uint8_t *base, size_t bytes, unsigned flags)
{
	int place = -1;

	if (!base)
		return CUDA_INVALID_VALUE;
	for (int i = 0; i < BLOCKS_MAX; i++) {
		if (!locked[i].at)
			place = i;
		else if (base < locked[i].at + locked[i].bytes && locked[i].at < base + bytes)
			return ERROR_LOCKED;
	}
	if (place < 0)
		return CUDA_OUT_OF_MEMORY;
	locked[place].at = base;
	locked[place].bytes = bytes;
	locked[place].mapped = flags & CUDA_HOST_MAPPED;
	alive++;
	return CUDA_OK;
}

static int locked_find(const void *base)
{
	for (int i = 0; i < BLOCKS_MAX; i++)
		if (base && locked[i].at == base)
			return i;
	return -1;
}

/* A release that a test lets fail does unlock the range, which can then be locked again. */
static int locked_remove(const void *base, int fate)
{
	int i = locked_find(base);

	if (i < 0)
		return CUDA_INVALID_VALUE;
	locked[i].at = NULL;
	alive -= fate == CUDA_OK;
	return fate;
}

void *fake_address(uint64_t pointer)
{
	void *host = (void *)(uintptr_t)(pointer - MAPPED_AT);

	if (pointer < MAPPED_AT)
		return (void *)(uintptr_t)pointer;
	pthread_mutex_lock(&fake_lock);
	int i = locked_find(host);
	bool mapped = i >= 0 && locked[i].mapped;
	pthread_mutex_unlock(&fake_lock);
	return mapped ? host : NULL;
}

int cuMemHostRegister_v2(void *base, size_t bytes, unsigned flags)
{
	CALL(error = locked_add(base, bytes, flags));
}

int cuMemHostGetDevicePointer_v2(uint64_t *pointer, void *base, unsigned flags)
{
	CALL({
		int i = locked_find(base);
		if (i < 0 || !locked[i].mapped)
			error = CUDA_INVALID_VALUE;
		else
			*pointer = (uint64_t)(uintptr_t)base + MAPPED_AT;
	});
}

int cuMemHostUnregister(void *base)
{
	pthread_mutex_lock(&fake_lock);
	int error = locked_remove(base, fake_fate());
	pthread_mutex_unlock(&fake_lock);
	return error;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, struct cuda_stream *stream)
{
	const struct task t = {
		.to = (void *)(uintptr_t)to, .from = from, .bytes = bytes, .kind = 1};

	CALL(error = device_range(to, bytes) ? fake_task_add(stream, &t) : CUDA_INVALID_VALUE);
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, struct cuda_stream *stream)
{
	const struct task t = {.to = to, .from = (void *)(uintptr_t)from, .bytes = bytes};

	CALL(error = device_range(from, bytes) ? fake_task_add(stream, &t) : CUDA_INVALID_VALUE);
}

/* CUDA's result is undefined for overlapping ranges. */
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, struct cuda_stream *stream)
{
	const struct task t = {
		.to = (void *)(uintptr_t)to, .from = (void *)(uintptr_t)from, .bytes = bytes};

	CALL(error = device_range(from, bytes) && device_range(to, bytes) &&
				     (to + bytes <= from || from + bytes <= to)
			     ? fake_task_add(stream, &t)
			     : CUDA_INVALID_VALUE);
}

/* Caller holds the lock. */
static int stream_make(struct cuda_stream **out)
{
	struct cuda_stream *s = fake_object_new(sizeof(*s));

	s->last = &s->first;
	if (pthread_create(&s->thread, NULL, stream_run, s) != 0) {
		fake_object_free(s);
		return CUDA_OUT_OF_MEMORY;
	}
	*out = s;
	return CUDA_OK;
}

int cuStreamCreate(struct cuda_stream **stream, unsigned flags)
{
	CALL(error = stream_make(stream));
}

int cuStreamDestroy_v2(struct cuda_stream *stream)
{
	pthread_mutex_lock(&fake_lock);
	int error = fake_fate();
	bool goes = error == CUDA_OK || error == stays;
	stream->closing |= goes;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&fake_lock);
	if (!goes)
		return error;
	pthread_join(stream->thread, NULL);
	pthread_mutex_lock(&fake_lock);
	fake_object_free(stream);
	pthread_mutex_unlock(&fake_lock);
	return error;
}

int cuStreamSynchronize(struct cuda_stream *stream)
{
	CALL({
		while (stream->first || stream->busy)
			pthread_cond_wait(&changed, &fake_lock);
		error = stays;
	});
}

int cuEventCreate(struct cuda_event **event, unsigned flags)
{
	CALL(*event = fake_object_new(sizeof(**event)));
}

int cuEventDestroy_v2(struct cuda_event *event)
{
	CALL(fake_object_free(event));
}

int cuEventRecord(struct cuda_event *event, struct cuda_stream *stream)
{
	const struct task t = {.event = event};

	CALL({
		error = fake_task_add(stream, &t);
		event->recorded++;
	});
}

int cuEventSynchronize(struct cuda_event *event)
{
	CALL({
		while (event->done < event->recorded)
			pthread_cond_wait(&changed, &fake_lock);
		error = stays;
	});
}
