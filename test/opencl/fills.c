/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests buffer fills: every pattern size, any whole number of patterns, any offset. */
#include "rig.h"

#define BYTES 300000u

static void fills__every_pattern_size(void)
{
	uint8_t *model = rig_noise(BYTES), *back = rig_memory(BYTES), pattern[128];
	cl_mem m = rig_buffer(CL_MEM_COPY_HOST_PTR, BYTES, model);

	for (size_t size = 1; size <= 128; size *= 2)
		for (int round = 0; round < 8; round++) {
			cl_command_queue q = rig.queues[rig_below(rig.device_count)];
			size_t space = BYTES / size, first = rig_below(space);
			size_t count = 1 + rig_below(round == 0 ? space - first : 3);
			if (count > space - first)
				count = space - first;
			rig_scramble(pattern, size);
			OK(clEnqueueFillBuffer(q, m, pattern, size, first * size, count * size, 0,
					       NULL, NULL));
			/* the program may change the pattern as soon as the call returns */
			memset(pattern, 0, 0);
			for (size_t i = 0; i < count; i++)
				memcpy(model + (first + i) * size, pattern, size);
			memset(pattern, 0xee, sizeof(pattern));
			OK(clFinish(q));
		}
	rig_read(rig.queues[0], m, back, BYTES);
	SAME_BYTES(back, model, BYTES);
	OK(clReleaseMemObject(m));
}

static void fills__many_in_order(void)
{
	uint32_t *back = rig_memory(1000 * 4);
	cl_mem m = rig_buffer(0, 1000 * 4, NULL);

	for (uint32_t i = 0; i < 1000; i++)
		OK(clEnqueueFillBuffer(rig.queues[0], m, &i, 4, i * 4, (1000 - i) * 4, 0, NULL,
				       NULL));
	rig_read(rig.queues[0], m, back, 1000 * 4);
	for (uint32_t i = 0; i < 1000; i++)
		EQUAL(back[i], i);
	OK(clReleaseMemObject(m));
}

static void fills__rejected(void)
{
	uint8_t pattern[256] = {0};
	cl_mem m = rig_buffer(0, 1024, NULL);
	cl_command_queue q = rig.queues[0];

	FAILS(clEnqueueFillBuffer(NULL, m, pattern, 4, 0, 64, 0, NULL, NULL),
	      CL_INVALID_COMMAND_QUEUE);
	FAILS(clEnqueueFillBuffer(q, NULL, pattern, 4, 0, 64, 0, NULL, NULL),
	      CL_INVALID_MEM_OBJECT);
	FAILS(clEnqueueFillBuffer(q, m, NULL, 4, 0, 64, 0, NULL, NULL), CL_INVALID_VALUE);
	FAILS(clEnqueueFillBuffer(q, m, pattern, 0, 0, 64, 0, NULL, NULL), CL_INVALID_VALUE);
	FAILS(clEnqueueFillBuffer(q, m, pattern, 3, 0, 63, 0, NULL, NULL), CL_INVALID_VALUE);
	FAILS(clEnqueueFillBuffer(q, m, pattern, 256, 0, 256, 0, NULL, NULL), CL_INVALID_VALUE);
	FAILS(clEnqueueFillBuffer(q, m, pattern, 4, 2, 64, 0, NULL, NULL), CL_INVALID_VALUE);
	FAILS(clEnqueueFillBuffer(q, m, pattern, 4, 0, 63, 0, NULL, NULL), CL_INVALID_VALUE);
	FAILS(clEnqueueFillBuffer(q, m, pattern, 4, 1000, 64, 0, NULL, NULL), CL_INVALID_VALUE);
	OK(clReleaseMemObject(m));
}

RIG_MAIN(CASE(fills__every_pattern_size), CASE(fills__many_in_order), CASE(fills__rejected))
