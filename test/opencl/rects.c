/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests rectangles of buffers: reads, writes and copies with random pitches, compared with a model
 * in host memory. */
#include "rig.h"

#define SPACE 40000u /* of each side */

struct side {
	size_t origin[3], row, slice;
};

/* Leaves enough space for the region. */
static struct side side_by_chance(const size_t region[3])
{
	for (;;) {
		struct side s = {{rig_below(20), rig_below(8), rig_below(4)}, 0, 0};
		/* a row must hold origin and region; a pitch of 0 means the width of the region */
		s.row = region[0] + s.origin[0] + rig_below(16);
		/* a whole number of rows: some drivers reject other slice pitches */
		s.slice = s.row * (region[1] + s.origin[1] + rig_below(3));
		size_t end =
			(s.origin[2] + region[2]) * s.slice + s.row * (s.origin[1] + region[1]);
		if (end <= SPACE)
			return s;
	}
}

static void region_by_chance(size_t region[3])
{
	region[0] = 1 + rig_below(60);
	region[1] = 1 + rig_below(12);
	region[2] = rig_below(3) ? 1 + rig_below(6) : 1;
}

static size_t offset_of(const struct side *s, size_t y, size_t z)
{
	return (s->origin[2] + z) * s->slice + (s->origin[1] + y) * s->row + s->origin[0];
}

static void model_copy(uint8_t *to, const struct side *ts, const uint8_t *from,
		       const struct side *fs, const size_t region[3])
{
	for (size_t z = 0; z < region[2]; z++)
		for (size_t y = 0; y < region[1]; y++)
			memcpy(to + offset_of(ts, y, z), from + offset_of(fs, y, z), region[0]);
}

static void rects__write_by_chance(void)
{
	uint8_t *model = rig_noise(SPACE), *back = rig_memory(SPACE);
	cl_mem m = rig_buffer(CL_MEM_COPY_HOST_PTR, SPACE, model);

	for (int round = 0; round < 100; round++) {
		size_t region[3];
		region_by_chance(region);
		struct side b = side_by_chance(region), h = side_by_chance(region);
		uint8_t *host = rig_noise(SPACE);
		cl_command_queue q = rig.queues[rig_below(rig.device_count)];
		OK(clEnqueueWriteBufferRect(q, m, round & 1, b.origin, h.origin, region, b.row,
					    b.slice, h.row, h.slice, host, 0, NULL, NULL));
		model_copy(model, &b, host, &h, region);
		OK(clFinish(q));
		if (round % 5 == 0) {
			rig_read(q, m, back, SPACE);
			SAME_BYTES(back, model, SPACE);
		}
	}
	rig_read(rig.queues[0], m, back, SPACE);
	SAME_BYTES(back, model, SPACE);
	OK(clReleaseMemObject(m));
}

static void rects__read_by_chance(void)
{
	uint8_t *model = rig_noise(SPACE);
	cl_mem m = rig_buffer(CL_MEM_COPY_HOST_PTR, SPACE, model);

	for (int round = 0; round < 100; round++) {
		size_t region[3];
		region_by_chance(region);
		struct side b = side_by_chance(region), h = side_by_chance(region);
		uint8_t *host = rig_noise(SPACE), *wanted = rig_memory(SPACE);
		cl_command_queue q = rig.queues[rig_below(rig.device_count)];
		memcpy(wanted, host, SPACE);
		model_copy(wanted, &h, model, &b, region);
		OK(clEnqueueReadBufferRect(q, m, round & 1, b.origin, h.origin, region, b.row,
					   b.slice, h.row, h.slice, host, 0, NULL, NULL));
		OK(clFinish(q));
		SAME_BYTES(host, wanted, SPACE); /* the bytes between the rows */
	}
	OK(clReleaseMemObject(m));
}

static void rects__copy_by_chance(void)
{
	uint8_t *a_model = rig_noise(SPACE), *b_model = rig_noise(SPACE), *back = rig_memory(SPACE);
	cl_mem a = rig_buffer(CL_MEM_COPY_HOST_PTR, SPACE, a_model);
	cl_mem b = rig_buffer(CL_MEM_COPY_HOST_PTR, SPACE, b_model);

	for (int round = 0; round < 100; round++) {
		size_t region[3];
		region_by_chance(region);
		struct side from = side_by_chance(region), to = side_by_chance(region);
		cl_command_queue q = rig.queues[rig_below(rig.device_count)];
		OK(clEnqueueCopyBufferRect(q, a, b, from.origin, to.origin, region, from.row,
					   from.slice, to.row, to.slice, 0, NULL, NULL));
		OK(clFinish(q));
		model_copy(b_model, &to, a_model, &from, region);
	}
	rig_read(rig.queues[0], b, back, SPACE);
	SAME_BYTES(back, b_model, SPACE);
	OK(clReleaseMemObject(a));
	OK(clReleaseMemObject(b));
}

/* Tests pitches of 0: rows and slices follow without gaps. */
static void rects__without_pitches(void)
{
	size_t region[3] = {10, 5, 3}, at[3] = {0, 0, 0}, up[3] = {0, 0, 1};
	uint8_t *model = rig_noise(300), *host = rig_noise(300), *back = rig_memory(300);
	cl_mem m = rig_buffer(CL_MEM_COPY_HOST_PTR, 300, model);
	cl_command_queue q = rig.queues[0];

	OK(clEnqueueWriteBufferRect(q, m, CL_TRUE, up, at, region, 0, 0, 0, 0, host, 0, NULL,
				    NULL));
	memcpy(model + 50, host, 150);
	rig_read(q, m, back, 300);
	SAME_BYTES(back, model, 300);
	memset(back, 0, 300);
	OK(clEnqueueReadBufferRect(q, m, CL_TRUE, up, at, region, 0, 0, 0, 0, back, 0, NULL, NULL));
	SAME_BYTES(back, host, 150);
	OK(clReleaseMemObject(m));
}

static void rects__copy_within_one(void)
{
	size_t region[3] = {16, 8, 1}, left[3] = {0, 0, 0}, right[3] = {32, 0, 0},
	       near_by[3] = {8, 2, 0};
	uint8_t *model = rig_noise(64 * 64), *back = rig_memory(64 * 64);
	cl_mem m = rig_buffer(CL_MEM_COPY_HOST_PTR, 64 * 64, model);
	cl_command_queue q = rig.queues[0];

	OK(clEnqueueCopyBufferRect(q, m, m, left, right, region, 64, 0, 64, 0, 0, NULL, NULL));
	for (size_t y = 0; y < 8; y++)
		memcpy(model + y * 64 + 32, model + y * 64, 16);
	rig_read(q, m, back, 64 * 64);
	SAME_BYTES(back, model, 64 * 64);
	FAILS(clEnqueueCopyBufferRect(q, m, m, left, near_by, region, 64, 0, 64, 0, 0, NULL, NULL),
	      CL_MEM_COPY_OVERLAP);
	OK(clReleaseMemObject(m));
}

static void rects__rejected(void)
{
	size_t region[3] = {16, 4, 2}, flat[3] = {16, 0, 1}, at[3] = {0, 0, 0}, far[3] = {0, 0, 99};
	uint8_t data[1024];
	cl_mem m = rig_buffer(0, 1024, NULL), other = rig_buffer(0, 1024, NULL);
	cl_command_queue q = rig.queues[0];

#define READ(queue, mem, buffer_at, size, row, slice, host_row, host_slice, to)                 \
	clEnqueueReadBufferRect(queue, mem, CL_TRUE, buffer_at, at, size, row, slice, host_row, \
				host_slice, to, 0, NULL, NULL)
	FAILS(READ(NULL, m, at, region, 0, 0, 0, 0, data), CL_INVALID_COMMAND_QUEUE);
	FAILS(READ(q, NULL, at, region, 0, 0, 0, 0, data), CL_INVALID_MEM_OBJECT);
	FAILS(READ(q, m, at, region, 0, 0, 0, 0, NULL), CL_INVALID_VALUE);
	FAILS(READ(q, m, at, flat, 0, 0, 0, 0, data), CL_INVALID_VALUE);
	FAILS(READ(q, m, far, region, 0, 0, 0, 0, data), CL_INVALID_VALUE);
	FAILS(READ(q, m, at, region, 15, 0, 0, 0, data), CL_INVALID_VALUE);
	FAILS(READ(q, m, at, region, 0, 0, 15, 0, data), CL_INVALID_VALUE);
	FAILS(READ(q, m, at, region, 0, 63, 0, 0, data), CL_INVALID_VALUE);
	FAILS(READ(q, m, at, region, 0, 0, 0, 63, data), CL_INVALID_VALUE);
	/* the slice pitch is not a whole number of rows */
	FAILS(READ(q, m, at, region, 20, 90, 0, 0, data), CL_INVALID_VALUE);
#undef READ
	FAILS(clEnqueueWriteBufferRect(q, m, CL_TRUE, far, at, region, 0, 0, 0, 0, data, 0, NULL,
				       NULL),
	      CL_INVALID_VALUE);
	FAILS(clEnqueueWriteBufferRect(q, NULL, CL_TRUE, at, at, region, 0, 0, 0, 0, data, 0, NULL,
				       NULL),
	      CL_INVALID_MEM_OBJECT);
	FAILS(clEnqueueCopyBufferRect(q, m, other, at, far, region, 0, 0, 0, 0, 0, NULL, NULL),
	      CL_INVALID_VALUE);
	FAILS_BUT_POCL(
		clEnqueueCopyBufferRect(q, m, NULL, at, at, region, 0, 0, 0, 0, 0, NULL, NULL),
		CL_INVALID_MEM_OBJECT);
	FAILS_BUT_POCL(
		clEnqueueCopyBufferRect(q, m, m, at, at, region, 20, 0, 24, 0, 0, NULL, NULL),
		/* within one buffer, source and destination must have the same pitches */
		CL_INVALID_VALUE);
	OK(clReleaseMemObject(m));
	OK(clReleaseMemObject(other));
}

RIG_MAIN(CASE(rects__write_by_chance), CASE(rects__read_by_chance), CASE(rects__copy_by_chance),
	 CASE(rects__without_pitches), CASE(rects__copy_within_one), CASE(rects__rejected))
