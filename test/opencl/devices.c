/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests several devices in one context: buffers used on several devices, programs for some devices,
 * explicit migration. With one device it tests less. */
#include "rig.h"

static const char add_source[] =
	"kernel void add(global uint *a, uint n) { a[get_global_id(0)] += n; }\n"
	"kernel void sum(global uint *to, global const uint *a, global const uint *b)\n"
	"{ size_t i = get_global_id(0); to[i] = a[i] + b[i]; }\n";

static cl_command_queue last_queue(void)
{
	return rig.queues[rig.device_count - 1];
}

static void enqueue(cl_command_queue q, cl_kernel k, size_t global)
{
	OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 0, NULL, NULL));
}

static void devices__buffer_goes_to_and_fro(void)
{
	enum { COUNT = 70000 };
	uint32_t *model = rig_noise(COUNT * 4), *back = rig_memory(COUNT * 4);
	cl_mem m = rig_buffer(CL_MEM_COPY_HOST_PTR, COUNT * 4, model);
	cl_program p = rig_program(add_source, NULL);
	cl_kernel k = clCreateKernel(p, "add", ERR);

	MADE(k);
	SET(k, 0, m);
	for (uint32_t round = 0; round < 20; round++) {
		cl_command_queue q = rig.queues[round % rig.device_count];
		SET(k, 1, round);
		enqueue(q, k, COUNT);
		OK(clFinish(q));
		for (size_t i = 0; i < COUNT; i++)
			model[i] += round;
	}
	rig_read(rig.queues[0], m, back, COUNT * 4);
	SAME_BYTES(back, model, COUNT * 4);
	rig_read(last_queue(), m, back, COUNT * 4);
	SAME_BYTES(back, model, COUNT * 4);
	OK(clReleaseKernel(k));
	OK(clReleaseProgram(p));
	OK(clReleaseMemObject(m));
}

/* Each device writes its part of one buffer, then each reads all of it. */
static void devices__parts_of_one_buffer(void)
{
	enum { PART = 10000 };
	size_t count = PART * rig.device_count;
	uint32_t *model = rig_noise(count * 4), *back = rig_memory(count * 4);
	cl_mem m = rig_buffer(CL_MEM_COPY_HOST_PTR, count * 4, model);
	cl_program p = rig_program(add_source, NULL);
	cl_kernel k = clCreateKernel(p, "add", ERR);

	MADE(k);
	SET(k, 0, m);
	for (uint32_t round = 0; round < 4; round++)
		for (cl_uint d = 0; d < rig.device_count; d++) {
			size_t offset = PART * d, global = PART;
			uint32_t n = d * 100 + round;
			SET(k, 1, n);
			OK(clEnqueueNDRangeKernel(rig.queues[d], k, 1, &offset, &global, NULL, 0,
						  NULL, NULL));
			OK(clFinish(rig.queues[d]));
			for (size_t i = 0; i < PART; i++)
				model[offset + i] += n;
		}
	for (cl_uint d = 0; d < rig.device_count; d++) {
		rig_read(rig.queues[d], m, back, count * 4);
		SAME_BYTES(back, model, count * 4);
	}
	OK(clReleaseKernel(k));
	OK(clReleaseProgram(p));
	OK(clReleaseMemObject(m));
}

/* All devices read a buffer and none writes it, so all copies stay valid. */
static void devices__read_one_buffer_at_once(void)
{
	enum { COUNT = 5000 };
	uint32_t *a_model = rig_noise(COUNT * 4), *back = rig_memory(COUNT * 4);
	cl_mem a = rig_buffer(CL_MEM_COPY_HOST_PTR | CL_MEM_READ_ONLY, COUNT * 4, a_model);
	cl_program p = rig_program(add_source, NULL);
	cl_kernel k = clCreateKernel(p, "sum", ERR);
	cl_mem to[RIG_DEVICES_MAX];

	MADE(k);
	for (cl_uint d = 0; d < rig.device_count; d++) {
		to[d] = rig_buffer(0, COUNT * 4, NULL);
		SET(k, 0, to[d]);
		SET(k, 1, a);
		SET(k, 2, a);
		enqueue(rig.queues[d], k, COUNT);
		OK(clFlush(rig.queues[d]));
	}
	for (cl_uint d = 0; d < rig.device_count; d++) {
		rig_read(rig.queues[d], to[d], back, COUNT * 4);
		for (size_t i = 0; i < COUNT; i++)
			EQUAL(back[i], (uint32_t)(a_model[i] * 2));
		OK(clReleaseMemObject(to[d]));
	}
	OK(clReleaseKernel(k));
	OK(clReleaseProgram(p));
	OK(clReleaseMemObject(a));
}

static void devices__migration_by_wish(void)
{
	enum { BYTES = 1 << 20 };
	uint8_t *model = rig_noise(BYTES), *back = rig_memory(BYTES);
	cl_mem list[3] = {rig_buffer(CL_MEM_COPY_HOST_PTR, BYTES, model),
			  rig_buffer(CL_MEM_COPY_HOST_PTR, BYTES, model),
			  rig_buffer(CL_MEM_COPY_HOST_PTR, BYTES, model)};
	cl_event e = NULL;

	for (cl_uint d = 0; d < rig.device_count; d++) {
		OK(clEnqueueMigrateMemObjects(rig.queues[d], 3, list, 0, 0, NULL, &e));
		OK(clWaitForEvents(1, &e));
		OK(clReleaseEvent(e));
		rig_read(rig.queues[d], list[d % 3], back, BYTES);
		SAME_BYTES(back, model, BYTES);
	}
	OK(clEnqueueMigrateMemObjects(last_queue(), 2, list, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL,
				      NULL));
	OK(clFinish(last_queue()));
	rig_read(rig.queues[0], list[1], back, BYTES);
	SAME_BYTES(back, model, BYTES);
	/* the buffer can be written again after its content was dropped */
	OK(clEnqueueMigrateMemObjects(last_queue(), 1, &list[2],
				      CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, 0, NULL, NULL));
	rig_write(last_queue(), list[2], model, BYTES);
	rig_read(rig.queues[0], list[2], back, BYTES);
	SAME_BYTES(back, model, BYTES);
	FAILS(clEnqueueMigrateMemObjects(rig.queues[0], 0, list, 0, 0, NULL, NULL),
	      CL_INVALID_VALUE);
	FAILS(clEnqueueMigrateMemObjects(rig.queues[0], 1, NULL, 0, 0, NULL, NULL),
	      CL_INVALID_VALUE);
	FAILS(clEnqueueMigrateMemObjects(rig.queues[0], 1, list, (cl_mem_migration_flags)1 << 20, 0,
					 NULL, NULL),
	      CL_INVALID_VALUE);
	FAILS(clEnqueueMigrateMemObjects(NULL, 1, list, 0, 0, NULL, NULL),
	      CL_INVALID_COMMAND_QUEUE);
	for (size_t i = 0; i < COUNT_OF(list); i++)
		OK(clReleaseMemObject(list[i]));
}

static void devices__copies_between_them(void)
{
	static const size_t sizes[] = {4, 4096, 100000, 3000000};

	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		size_t bytes = sizes[i];
		uint8_t *in = rig_noise(bytes), *out = rig_memory(bytes);
		cl_mem a = rig_buffer(0, bytes, NULL), b = rig_buffer(0, bytes, NULL);
		cl_event written = NULL, copied = NULL;
		OK(clEnqueueWriteBuffer(rig.queues[0], a, CL_FALSE, 0, bytes, in, 0, NULL,
					&written));
		OK(clEnqueueCopyBuffer(last_queue(), a, b, 0, 0, bytes, 1, &written, &copied));
		OK(clEnqueueReadBuffer(rig.queues[0], b, CL_TRUE, 0, bytes, out, 1, &copied, NULL));
		SAME_BYTES(out, in, bytes);
		OK(clReleaseEvent(written));
		OK(clReleaseEvent(copied));
		OK(clReleaseMemObject(a));
		OK(clReleaseMemObject(b));
	}
}

static void devices__programs_for_some(void)
{
	const char *text = add_source;
	cl_uint last = rig.device_count - 1;
	cl_program p = clCreateProgramWithSource(rig.context, 1, &text, NULL, ERR);
	cl_build_status status = 1000;
	uint32_t value = 5, n = 6;

	MADE(p);
	OK(clBuildProgram(p, 1, &rig.devices[last], NULL, NULL, NULL));
	OK(clGetProgramBuildInfo(p, rig.devices[last], CL_PROGRAM_BUILD_STATUS, sizeof(status),
				 &status, NULL));
	EQUAL(status, CL_BUILD_SUCCESS);
	cl_kernel k = clCreateKernel(p, "add", ERR);
	MADE(k);
	cl_mem m = rig_buffer(CL_MEM_COPY_HOST_PTR, 4, &value);
	SET(k, 0, m);
	SET(k, 1, n);
	rig_run(rig.queues[last], k, 1);
	rig_read(rig.queues[0], m, &value, 4);
	EQUAL(value, 11);
	OK(clReleaseKernel(k));
	OK(clReleaseProgram(p));
	OK(clReleaseMemObject(m));
}

static void devices__constants_and_host_memory(void)
{
	enum { COUNT = 3000 };
	uint32_t *host = rig_noise(COUNT * 4), *model = rig_memory(COUNT * 4);
	cl_program p = rig_program(add_source, NULL);
	cl_kernel k = clCreateKernel(p, "add", ERR);

	MADE(k);
	memcpy(model, host, COUNT * 4);
	cl_mem m = rig_buffer(CL_MEM_USE_HOST_PTR, COUNT * 4, host);
	SET(k, 0, m);
	for (uint32_t round = 1; round <= 6; round++) {
		cl_command_queue q = rig.queues[round % rig.device_count];
		SET(k, 1, round);
		enqueue(q, k, COUNT);
		uint32_t *map = clEnqueueMapBuffer(q, m, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
						   COUNT * 4, 0, NULL, NULL, ERR);
		MADE(map);
		CHECK(map == host);
		for (size_t i = 0; i < COUNT; i++)
			model[i] += round;
		SAME_BYTES(host, model, COUNT * 4);
		host[round] = model[round] = round * 77;
		OK(clEnqueueUnmapMemObject(q, m, map, 0, NULL, NULL));
		OK(clFinish(q));
	}
	OK(clReleaseKernel(k));
	OK(clReleaseProgram(p));
	OK(clReleaseMemObject(m));
}

RIG_MAIN(CASE(devices__buffer_goes_to_and_fro), CASE(devices__parts_of_one_buffer),
	 CASE(devices__read_one_buffer_at_once), CASE(devices__migration_by_wish),
	 CASE(devices__copies_between_them), CASE(devices__programs_for_some),
	 CASE(devices__constants_and_host_memory))
