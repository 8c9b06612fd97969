/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels store outside their argument on devices that check each access (engine rv32): the command
 * must fail, and neighbouring buffers must keep their bytes. test/net/rv32.sh runs this and reads
 * the node's log. Some buffers share an allocation of the device, others have their own. */
#include "rig.h"

static const char source[] =
	"kernel void store(global uchar *out, uint at) {\n"
	"	if (get_global_id(0) == 5) out[at] = 1; }\n"
	"kernel void wide(global uchar *out, uint at) {\n"
	"	if (get_global_id(0) == 5) *(global uint *)(out + at) = 0x01010101; }\n"
	"kernel void fill(global uchar *out, uint at) { out[get_global_id(0)] = at; }\n";

/* Returns the status of the kernel's event. */
static cl_int run(cl_program program, const char *name, cl_mem out, cl_uint at)
{
	const size_t items = 16;
	cl_int status = CL_SUCCESS;
	cl_event event;
	cl_kernel k;

	MADE(k = clCreateKernel(program, name, ERR));
	SET(k, 0, out);
	SET(k, 1, at);
	OK(clEnqueueNDRangeKernel(rig.queues[0], k, 1, NULL, &items, NULL, 0, NULL, &event));
	clFinish(rig.queues[0]);
	status = rig_status(event);
	OK(clReleaseEvent(event));
	OK(clReleaseKernel(k));
	return status;
}

/* The store must fail, and a later command must work. */
static void outside(cl_program program, const char *name, cl_mem out, cl_uint at)
{
	CHECK(run(program, name, out, at) < 0);
	EQUAL(run(program, "fill", out, 7), CL_COMPLETE);
}

static cl_mem buffer(cl_program program, size_t bytes, uint8_t byte)
{
	uint8_t *from = rig_memory(bytes);
	cl_mem m;

	memset(from, byte, bytes);
	MADE(m = clCreateBuffer(rig.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, from,
				ERR));
	EQUAL(run(program, "fill", m, byte), CL_COMPLETE);
	return m;
}

/* `wanted`: the value of each of the first 16 bytes, of each byte between, and of the last byte. */
static void check(cl_program program, cl_mem m, size_t bytes, const uint8_t wanted[3])
{
	uint8_t *got = rig_memory(bytes);

	OK(clEnqueueReadBuffer(rig.queues[0], m, CL_TRUE, 0, bytes, got, 0, NULL, NULL));
	for (size_t i = 0; i < bytes; i++)
		EQUAL(got[i], wanted[i < 16 ? 0 : i < bytes - 1 ? 1 : 2]);
}

static void neighbours(size_t bytes)
{
	const uint8_t before[] = {1, 1, 1}, stored[] = {7, 2, 1}, behind[] = {3, 3, 3};
	const cl_program program = rig_program(source, NULL);
	const cl_uint last = (cl_uint)bytes - 1;
	cl_mem m[3];

	for (int i = 0; i < 3; i++)
		m[i] = buffer(program, bytes, (uint8_t)(i + 1));
	EQUAL(run(program, "store", m[1], last), CL_COMPLETE);
	outside(program, "store", m[1], last + 1);
	outside(program, "store", m[1], last + 300);
	outside(program, "wide", m[1], last - 2);
	check(program, m[0], bytes, before);
	check(program, m[1], bytes, stored);
	check(program, m[2], bytes, behind);
	for (int i = 0; i < 3; i++)
		OK(clReleaseMemObject(m[i]));
	OK(clReleaseProgram(program));
}

static void bounds__small_buffers(void)
{
	neighbours(100);
	neighbours(101);
}

static void bounds__large_buffers(void)
{
	neighbours((3 << 20) + 1);
}

/* A store after the end of a sub-buffer is outside, although the parent continues. */
static void bounds__sub_buffer(void)
{
	const cl_program program = rig_program(source, NULL);
	const uint8_t wanted[] = {9, 9, 9};
	const size_t bytes = 64 << 10;
	cl_mem parent = buffer(program, bytes, 9), part;
	const cl_buffer_region region = {32 << 10, 1001};

	MADE(part = clCreateSubBuffer(parent, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
				      &region, ERR));
	CHECK(run(program, "store", part, 1001) < 0);
	check(program, parent, bytes, wanted);
	OK(clReleaseMemObject(part));
	OK(clReleaseMemObject(parent));
	OK(clReleaseProgram(program));
}

RIG_MAIN(CASE(bounds__small_buffers), CASE(bounds__large_buffers), CASE(bounds__sub_buffer))
