/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests buffers: creation, queries, writes, reads, copies. Sub-buffers are in subbuffers.c,
 * rectangles in rects.c, maps in maps.c. */
#include "rig.h"

#define KIB 1024u
#define MIB (1024u * 1024u)

static const cl_mem_flags accesses[] = {CL_MEM_READ_WRITE, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY};

static void buffers__write_and_read_by_chance(void)
{
	for (int round = 0; round < 60; round++) {
		size_t bytes = 1 + rig_below(round % 10 ? 5000 : 3000000);
		size_t offset = rig_below(bytes), part = 1 + rig_below(bytes - offset);
		uint8_t *model = rig_noise(bytes), *piece = rig_noise(part),
			*back = rig_memory(bytes);
		cl_command_queue q = rig.queues[round % (int)rig.device_count];
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
		cl_command_queue q = rig.queues[round % (int)rig.device_count];
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

static void buffers__copy_within_one(void)
{
	uint8_t *model = rig_noise(8192), *back = rig_memory(8192);
	cl_mem m = rig_buffer(CL_MEM_COPY_HOST_PTR, 8192, model);
	cl_command_queue q = rig.queues[0];

	OK(clEnqueueCopyBuffer(q, m, m, 100, 4196, 4096 - 100, 0, NULL, NULL));
	memcpy(model + 4196, model + 100, 4096 - 100);
	rig_read(q, m, back, 8192);
	SAME_BYTES(back, model, 8192);
	FAILS(clEnqueueCopyBuffer(q, m, m, 0, 50, 100, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
	FAILS(clEnqueueCopyBuffer(q, m, m, 50, 0, 100, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
	OK(clReleaseMemObject(m));
}

/* Sizes around the limits of inline data, packets and pieces. */
static void buffers__every_size_that_may_matter(void)
{
	static const size_t sizes[] = {
		1,    2,    3,     4,     7,     8,     63,      64,   65,      127,        128,
		129,  255,  256,   257,   511,   512,   513,     1023, 1024,    1025,       1400,
		1500, 1900, 2047,  2048,  2049,  4095,  4096,    4097, 8191,    8192,       8960,
		9000, 9001, 16384, 65535, 65536, 65537, MIB - 1, MIB,  MIB + 1, 5 * MIB + 3};
	uint8_t *in = rig_noise(6 * MIB), *out = rig_memory(6 * MIB);
	cl_mem m = rig_buffer(0, 6 * MIB, NULL);

	for (size_t i = 0; i < COUNT_OF(sizes); i++)
		for (cl_bool blocking = 0; blocking < 2; blocking++) {
			cl_command_queue q = rig.queues[i % rig.device_count];
			size_t at = rig_below(64);
			rig_scramble(in, sizes[i] < 64 ? sizes[i] : 64);
			OK(clEnqueueWriteBuffer(q, m, blocking, at, sizes[i], in, 0, NULL, NULL));
			memset(out, 0, sizes[i]);
			OK(clEnqueueReadBuffer(q, m, blocking, at, sizes[i], out, 0, NULL, NULL));
			OK(clFinish(q));
			SAME_BYTES(out, in, sizes[i]);
		}
	OK(clReleaseMemObject(m));
}

static void buffers__a_large_one(void)
{
	size_t bytes = 96 * MIB;
	uint8_t *in = rig_noise(bytes), *out = rig_memory(bytes);
	cl_mem a = rig_buffer(0, bytes, NULL), b = rig_buffer(0, bytes, NULL);

	rig_write(rig.queues[0], a, in, bytes);
	OK(clEnqueueCopyBuffer(rig.queues[0], a, b, 0, 0, bytes, 0, NULL, NULL));
	OK(clFinish(rig.queues[0]));
	rig_read(rig.queues[rig.device_count - 1], b, out, bytes);
	SAME_BYTES(out, in, bytes);
	OK(clReleaseMemObject(a));
	OK(clReleaseMemObject(b));
}

/* A non-blocking write may read the program's memory until its event completes, so each write has
 * its own memory. */
static void buffers__many_small_writes_in_order(void)
{
	enum { WRITES = 2000 };
	uint32_t *numbers = rig_memory(WRITES * 4), *back = rig_memory(256 * 4);
	cl_mem m = rig_buffer(0, 256 * 4, NULL);

	for (uint32_t i = 0; i < WRITES; i++) {
		numbers[i] = i;
		OK(clEnqueueWriteBuffer(rig.queues[0], m, CL_FALSE, i % 256 * 4, 4, &numbers[i], 0,
					NULL, NULL));
	}
	rig_read(rig.queues[0], m, back, 256 * 4);
	for (uint32_t i = 0; i < 256; i++)
		EQUAL(back[i], (WRITES - 1 - i) / 256 * 256 + i < WRITES
				       ? (WRITES - 1 - i) / 256 * 256 + i
				       : 0);
	OK(clReleaseMemObject(m));
}

static void buffers__queries(void)
{
	uint32_t data[16];
	cl_mem m = rig_buffer(CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, sizeof(data), data);
	cl_mem_object_type type = 0;
	cl_mem_flags flags = 0;
	size_t size = 0, offset = 1, bytes = 0;
	void *host = NULL;
	cl_uint maps = 1, references = 0;
	cl_context c = NULL;
	cl_mem parent = m;

	OK(clGetMemObjectInfo(m, CL_MEM_TYPE, sizeof(type), &type, &bytes));
	EQUAL(type, CL_MEM_OBJECT_BUFFER);
	EQUAL(bytes, sizeof(type));
	OK(clGetMemObjectInfo(m, CL_MEM_FLAGS, sizeof(flags), &flags, NULL));
	EQUAL(flags, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR);
	OK(clGetMemObjectInfo(m, CL_MEM_SIZE, sizeof(size), &size, NULL));
	EQUAL(size, sizeof(data));
	OK(clGetMemObjectInfo(m, CL_MEM_HOST_PTR, sizeof(host), &host, NULL));
	CHECK(host == data);
	OK(clGetMemObjectInfo(m, CL_MEM_MAP_COUNT, sizeof(maps), &maps, NULL));
	EQUAL(maps, 0);
	OK(clGetMemObjectInfo(m, CL_MEM_REFERENCE_COUNT, sizeof(references), &references, NULL));
	EQUAL(references, 1);
	OK(clGetMemObjectInfo(m, CL_MEM_CONTEXT, sizeof(c), &c, NULL));
	CHECK(c == rig.context);
	OK(clGetMemObjectInfo(m, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof(parent), &parent, NULL));
	CHECK(!parent);
	OK(clGetMemObjectInfo(m, CL_MEM_OFFSET, sizeof(offset), &offset, NULL));
	EQUAL(offset, 0);
	FAILS(clGetMemObjectInfo(m, CL_MEM_SIZE, 1, &size, NULL), CL_INVALID_VALUE);
	FAILS(clGetMemObjectInfo(m, 0x1, sizeof(size), &size, NULL), CL_INVALID_VALUE);
	FAILS(clGetMemObjectInfo(NULL, CL_MEM_SIZE, sizeof(size), &size, NULL),
	      CL_INVALID_MEM_OBJECT);
	OK(clRetainMemObject(m));
	OK(clReleaseMemObject(m));
	OK(clReleaseMemObject(m));
}

static void buffers__not_made(void)
{
	uint32_t data[16];
	cl_ulong most = 0, other = 0;

	for (cl_uint i = 0; i < rig.device_count; i++) {
		OK(clGetDeviceInfo(rig.devices[i], CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(other),
				   &other, NULL));
		most = other > most ? other : most;
	}
	REJECTED(clCreateBuffer(NULL, 0, 64, NULL, ERR), CL_INVALID_CONTEXT);
	REJECTED(clCreateBuffer(rig.context, 0, 0, NULL, ERR), CL_INVALID_BUFFER_SIZE);
	REJECTED(clCreateBuffer(rig.context, 0, most + 1, NULL, ERR), CL_INVALID_BUFFER_SIZE);
	REJECTED(clCreateBuffer(rig.context, (cl_mem_flags)1 << 50, 64, NULL, ERR),
		 CL_INVALID_VALUE);
	REJECTED(clCreateBuffer(rig.context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 64, NULL, ERR),
		 CL_INVALID_VALUE);
	REJECTED(clCreateBuffer(rig.context, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY, 64, NULL, ERR),
		 CL_INVALID_VALUE);
	REJECTED(clCreateBuffer(rig.context, CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_READ_ONLY, 64,
				NULL, ERR),
		 CL_INVALID_VALUE);
	REJECTED(clCreateBuffer(rig.context, CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR, 64, data,
				ERR),
		 CL_INVALID_VALUE);
	REJECTED(clCreateBuffer(rig.context, CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, 64, data,
				ERR),
		 CL_INVALID_VALUE);
	REJECTED(clCreateBuffer(rig.context, CL_MEM_USE_HOST_PTR, 64, NULL, ERR),
		 CL_INVALID_HOST_PTR);
	REJECTED(clCreateBuffer(rig.context, CL_MEM_COPY_HOST_PTR, 64, NULL, ERR),
		 CL_INVALID_HOST_PTR);
	REJECTED(clCreateBuffer(rig.context, 0, 64, data, ERR), CL_INVALID_HOST_PTR);
	FAILS(clRetainMemObject(NULL), CL_INVALID_MEM_OBJECT);
	FAILS(clReleaseMemObject(NULL), CL_INVALID_MEM_OBJECT);
}

static void buffers__transfers_rejected(void)
{
	uint8_t data[64] = {0};
	cl_mem m = rig_buffer(0, 64, NULL);
	cl_command_queue q = rig.queues[0];
	cl_event none = NULL;

	FAILS(clEnqueueReadBuffer(NULL, m, 1, 0, 4, data, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
	FAILS(clEnqueueReadBuffer(q, NULL, 1, 0, 4, data, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
	FAILS(clEnqueueReadBuffer(q, m, 1, 0, 4, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
	FAILS(clEnqueueReadBuffer(q, m, 1, 0, 65, data, 0, NULL, NULL), CL_INVALID_VALUE);
	FAILS(clEnqueueReadBuffer(q, m, 1, 61, 4, data, 0, NULL, NULL), CL_INVALID_VALUE);
	FAILS(clEnqueueReadBuffer(q, m, 1, SIZE_MAX, 2, data, 0, NULL, NULL), CL_INVALID_VALUE);
	FAILS_BUT_POCL(clEnqueueReadBuffer(q, m, 1, 2, SIZE_MAX, data, 0, NULL, NULL),
		       CL_INVALID_VALUE);
	FAILS(clEnqueueReadBuffer(q, m, 1, 0, 4, data, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
	FAILS(clEnqueueReadBuffer(q, m, 1, 0, 4, data, 0, &none, NULL), CL_INVALID_EVENT_WAIT_LIST);
	FAILS(clEnqueueReadBuffer(q, m, 1, 0, 4, data, 1, &none, NULL), CL_INVALID_EVENT_WAIT_LIST);
	FAILS(clEnqueueWriteBuffer(NULL, m, 1, 0, 4, data, 0, NULL, NULL),
	      CL_INVALID_COMMAND_QUEUE);
	FAILS(clEnqueueWriteBuffer(q, NULL, 1, 0, 4, data, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
	FAILS(clEnqueueWriteBuffer(q, m, 1, 0, 4, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
	FAILS(clEnqueueWriteBuffer(q, m, 1, 64, 1, data, 0, NULL, NULL), CL_INVALID_VALUE);
	FAILS(clEnqueueCopyBuffer(NULL, m, m, 0, 32, 4, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
	FAILS(clEnqueueCopyBuffer(q, NULL, m, 0, 32, 4, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
	FAILS(clEnqueueCopyBuffer(q, m, NULL, 0, 32, 4, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
	FAILS(clEnqueueCopyBuffer(q, m, m, 0, 62, 4, 0, NULL, NULL), CL_INVALID_VALUE);
	FAILS(clEnqueueCopyBuffer(q, m, m, 62, 0, 4, 0, NULL, NULL), CL_INVALID_VALUE);
	OK(clFinish(q));
	OK(clReleaseMemObject(m));
}

/* Commands that move 0 bytes are valid since OpenCL 2.1, and they keep their order. */
static void buffers__nothing_to_move(void)
{
	uint8_t wanted[64], data[64];
	cl_mem m = rig_buffer(CL_MEM_COPY_HOST_PTR, 64, rig_noise(64));
	cl_command_queue q = rig.queues[0];
	cl_event first = clCreateUserEvent(rig.context, ERR), last = NULL;

	rig_read(q, m, wanted, 64);
	OK(clEnqueueReadBuffer(q, m, CL_TRUE, 64, 0, data, 0, NULL, NULL));
	FAILS(clEnqueueReadBuffer(q, m, CL_TRUE, 65, 0, data, 0, NULL, NULL), CL_INVALID_VALUE);
	FAILS(clEnqueueReadBuffer(q, m, CL_TRUE, 0, 0, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
	OK(clEnqueueFillBuffer(q, m, data, 4, 8, 0, 0, NULL, NULL));
	if (!rig.pocl)
		OK(clEnqueueCopyBuffer(q, m, m, 5, 5, 0, 0, NULL, NULL));
	OK(clEnqueueWriteBuffer(q, m, CL_FALSE, 3, 0, data, 1, &first, &last));
	EQUAL(rig_status(last) > CL_COMPLETE, true);
	OK(clSetUserEventStatus(first, CL_COMPLETE));
	OK(clWaitForEvents(1, &last));
	rig_read(q, m, data, 64);
	SAME_BYTES(data, wanted, 64);
	OK(clReleaseEvent(first));
	OK(clReleaseEvent(last));
	OK(clReleaseMemObject(m));
}

/* A blocking write is complete when it returns, so commands in other queues need no event to see
 * its bytes. */
static void buffers__blocking_writes_have_ended(void)
{
	cl_mem m = rig_buffer(0, 4096, NULL);
	cl_command_queue other = rig_queue(0, 0);
	cl_event event = NULL;

	for (uint32_t i = 1; i < 300; i++) {
		uint32_t back = 0;
		OK(clEnqueueWriteBuffer(rig.queues[0], m, CL_TRUE, 0, sizeof(i), &i, 0, NULL,
					&event));
		EQUAL(rig_status(event), CL_COMPLETE);
		rig_read(i % 2 ? other : rig.queues[rig.device_count - 1], m, &back, sizeof(back));
		EQUAL(back, i);
		OK(clReleaseEvent(event));
	}
	OK(clReleaseCommandQueue(other));
	OK(clReleaseMemObject(m));
}

static void CL_CALLBACK gone(cl_mem m, void *user)
{
	char *order = user;
	order[strlen(order)] = (char)('1' + strlen(order));
}

static void CL_CALLBACK gone_first(cl_mem m, void *user)
{
	char *order = user;
	order[strlen(order)] = 'f';
}

static void buffers__destructors(void)
{
	char order[16] = "";
	cl_mem m = rig_buffer(0, 64, NULL);

	OK(clSetMemObjectDestructorCallback(m, gone, order));
	OK(clSetMemObjectDestructorCallback(m, gone_first, order));
	FAILS(clSetMemObjectDestructorCallback(m, NULL, order), CL_INVALID_VALUE);
	FAILS(clSetMemObjectDestructorCallback(NULL, gone, order), CL_INVALID_MEM_OBJECT);
	EQUAL(order[0], 0);
	OK(clReleaseMemObject(m));
	for (uint64_t end = rig_now_ns() + 5000000000u; strlen(order) < 2 && rig_now_ns() < end;)
		;
	CHECK(strcmp(order, "f2") == 0);
}

RIG_MAIN(CASE(buffers__write_and_read_by_chance), CASE(buffers__copy_by_chance),
	 CASE(buffers__copy_within_one), CASE(buffers__every_size_that_may_matter),
	 CASE(buffers__a_large_one), CASE(buffers__many_small_writes_in_order),
	 CASE(buffers__queries), CASE(buffers__not_made), CASE(buffers__transfers_rejected),
	 CASE(buffers__nothing_to_move), CASE(buffers__blocking_writes_have_ended),
	 CASE(buffers__destructors))
