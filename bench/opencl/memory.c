/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures transfers between host and devices, and between devices. */
#include <stdlib.h>
#include <string.h>

#include "bench/opencl/cases.h"

struct space {
	uint8_t *data, *back;
	cl_mem memory;
	size_t bytes;
};

static int space_open(struct bench *b, size_t bytes, struct space *r)
{
	cl_int error = CL_OUT_OF_HOST_MEMORY;

	*r = (struct space){.bytes = bytes, .data = malloc(bytes), .back = malloc(bytes)};
	if (r->data && r->back)
		r->memory = clCreateBuffer(b->context, CL_MEM_READ_WRITE, bytes, NULL, &error);
	if (!r->memory) {
		free(r->data);
		free(r->back);
		return bench_fail(b, "clCreateBuffer", error);
	}
	for (size_t i = 0; i < bytes; i++)
		r->data[i] = (uint8_t)(i * 13 + (i >> 8) + (i >> 16));
	memset(r->back, 0, bytes);
	return 0;
}

static int space_close(struct bench *b, struct space *r, int status)
{
	clReleaseMemObject(r->memory);
	free(r->data);
	free(r->back);
	(void)b;
	return status;
}

static int write_once(struct bench *b, struct space *r)
{
	uint64_t begin = bench_now_ns();

	TRY(b, "clEnqueueWriteBuffer",
	    clEnqueueWriteBuffer(b->queues[0], r->memory, CL_TRUE, 0, r->bytes, r->data, 0, NULL,
				 NULL));
	TRY(b, "clFinish", clFinish(b->queues[0]));
	bench_sample(b, bench_now_ns() - begin);
	return 0;
}

static int read_once(struct bench *b, struct space *r, cl_command_queue q)
{
	uint64_t begin = bench_now_ns();

	TRY(b, "clEnqueueReadBuffer",
	    clEnqueueReadBuffer(q, r->memory, CL_TRUE, 0, r->bytes, r->back, 0, NULL, NULL));
	bench_sample(b, bench_now_ns() - begin);
	return 0;
}

static int same(struct bench *b, const struct space *r)
{
	return memcmp(r->data, r->back, r->bytes) == 0 ? 0
						       : bench_fail(b, "the bytes read differ", 0);
}

static int case_write(struct bench *b, size_t bytes, uint32_t count)
{
	struct space r;

	if (space_open(b, bytes, &r))
		return -1;
	/* the driver allocates before the measurement */
	int status = write_once(b, &r);
	b->sample_count = 0;
	for (uint32_t i = 0; status == 0 && i < count; i++)
		status = write_once(b, &r);
	uint32_t samples = b->sample_count;
	if (status == 0)
		status = read_once(b, &r, b->queues[0]);
	b->sample_count = samples;
	return space_close(b, &r, status ? status : same(b, &r));
}

static int case_read(struct bench *b, size_t bytes, uint32_t count)
{
	struct space r;

	if (space_open(b, bytes, &r))
		return -1;
	int status = write_once(b, &r);
	if (status == 0)
		status = read_once(b, &r, b->queues[0]);
	b->sample_count = 0;
	for (uint32_t i = 0; status == 0 && i < count; i++)
		status = read_once(b, &r, b->queues[0]);
	return space_close(b, &r, status ? status : same(b, &r));
}

static int move_once(struct bench *b, struct space *r, int from)
{
	const uint8_t mark = (uint8_t)(from + 1);
	cl_command_queue at = b->queues[from], to = b->queues[1 - from];

	TRY(b, "clEnqueueFillBuffer",
	    clEnqueueFillBuffer(at, r->memory, &mark, 1, 0, r->bytes, 0, NULL, NULL));
	TRY(b, "clFinish", clFinish(at));
	uint64_t begin = bench_now_ns();
	TRY(b, "clEnqueueMigrateMemObjects",
	    clEnqueueMigrateMemObjects(to, 1, &r->memory, 0, 0, NULL, NULL));
	TRY(b, "clFinish", clFinish(to));
	bench_sample(b, bench_now_ns() - begin);
	memset(r->data, mark, r->bytes < 4096 ? r->bytes : 4096);
	return 0;
}

static int case_copy(struct bench *b, size_t bytes, uint32_t count)
{
	struct space r;

	if (space_open(b, bytes, &r))
		return -1;
	/* the driver allocates on both devices before the measurement */
	int status = move_once(b, &r, 0);
	if (status == 0)
		status = move_once(b, &r, 1);
	b->sample_count = 0;
	for (uint32_t i = 0; status == 0 && i < count; i++)
		status = move_once(b, &r, (int)(i % 2));
	uint32_t samples = b->sample_count;
	if (status == 0)
		status = read_once(b, &r, b->queues[1 - (count - 1) % 2]);
	b->sample_count = samples;
	memset(r.data, (int)((count - 1) % 2 + 1), bytes);
	return space_close(b, &r, status ? status : same(b, &r));
}

const struct bench_case bench_memory_cases[] = {
	{"write", case_write},
	{"read", case_read},
	{"copy", case_copy},
	{NULL, NULL},
};
