/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers: made, asked about, written, read and copied. */
#include "rig.h"

static const cl_mem_flags accesses[] = {CL_MEM_READ_WRITE, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY};

static void buffers__write_and_read_by_chance(void)
{
	for (int round = 0; round < 60; round++) {
		size_t bytes = 1 + rig_below(round % 10 ? 5000 : 3000000);
		size_t offset = rig_below(bytes), part = 1 + rig_below(bytes - offset);
		uint8_t *model = rig_noise(bytes), *piece = rig_noise(part),
			*back = rig_memory(bytes);
		cl_command_queue q = rig.queues[round % rig.device_count];
		cl_mem m = rig_buffer(accesses[round % 3], bytes, NULL);

		rig_write(q, m, model, bytes);
		OK(clEnqueueWriteBuffer(q, m, round & 1, offset, part, piece, 0, NULL, NULL));
		memcpy(model + offset, piece, part);
		rig_read(q, m, back, bytes);
		SAME_BYTES(back, model, bytes);
		OK(clEnqueueReadBuffer(q, m, CL_TRUE, offset, part, back, 0, NULL, NULL));
		SAME_BYTES(back, piece, part);
		OK(clReleaseMemObject(m));
	}
}

static void buffers__copy_by_chance(void)
{
	for (int round = 0; round < 60; round++) {
		size_t a_bytes = 1 + rig_below(20000), b_bytes = 1 + rig_below(20000);
		uint8_t *a_model = rig_noise(a_bytes), *b_model = rig_noise(b_bytes),
			*back = rig_memory(b_bytes);
		size_t from = rig_below(a_bytes), to = rig_below(b_bytes);
		size_t most = a_bytes - from < b_bytes - to ? a_bytes - from : b_bytes - to;
		size_t part = 1 + rig_below(most);
		cl_command_queue q = rig.queues[round % rig.device_count];
		cl_mem a = rig_buffer(CL_MEM_COPY_HOST_PTR, a_bytes, a_model);
		cl_mem b = rig_buffer(CL_MEM_COPY_HOST_PTR, b_bytes, b_model);

		OK(clEnqueueCopyBuffer(q, a, b, from, to, part, 0, NULL, NULL));
		memcpy(b_model + to, a_model + from, part);
		rig_read(q, b, back, b_bytes);
		SAME_BYTES(back, b_model, b_bytes);
		OK(clReleaseMemObject(a));
		OK(clReleaseMemObject(b));
	}
}

RIG_MAIN(CASE(buffers__write_and_read_by_chance), CASE(buffers__copy_by_chance))
