/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests programs with many objects and long queues. No number of objects is rejected.
 *
 *   MANY_COUNT      number of objects in each case (default: above every bound of earlier versions)
 *   MANY_RATES      set: prints the time of each step */
#include "rig.h"

static unsigned many_count(unsigned otherwise)
{
	const char *text = getenv("MANY_COUNT");

	return text ? (unsigned)strtoul(text, NULL, 0) : otherwise;
}

/* Prints the time since *since_ns, and sets it for the next step. */
static void step(const char *what, unsigned count, uint64_t *since_ns)
{
	uint64_t now_ns = rig_now_ns();

	if (getenv("MANY_RATES"))
		printf("%s: %u, %.2f us each\n", what, count,
		       (double)(now_ns - *since_ns) / 1000 / count);
	*since_ns = rig_now_ns();
}

/* Each of many buffers has its own bytes on the device. */
static void many__buffers(void)
{
	unsigned count = many_count(6000);
	cl_mem *m = rig_memory(count * sizeof(cl_mem));
	cl_uint *value = rig_noise(count * sizeof(cl_uint));
	uint64_t since_ns = rig_now_ns();

	for (cl_uint i = 0; i < count; i++) {
		m[i] = clCreateBuffer(rig.context, CL_MEM_READ_WRITE, 64, NULL, ERR);
		MADE(m[i]);
	}
	step("create", count, &since_ns);
	for (cl_uint i = 0; i < count; i++)
		OK(clEnqueueWriteBuffer(rig.queues[0], m[i], CL_FALSE, 0, sizeof(value[i]),
					&value[i], 0, NULL, NULL));
	OK(clFinish(rig.queues[0]));
	step("allocate and write", count, &since_ns);
	for (cl_uint i = 0; i < count; i += count / 500 + 1) {
		cl_uint got = 0;
		OK(clEnqueueReadBuffer(rig.queues[0], m[i], CL_TRUE, 0, sizeof(got), &got, 0, NULL,
				       NULL));
		EQUAL(got, value[i]);
	}
	since_ns = rig_now_ns();
	for (cl_uint i = 0; i < count; i += 2)
		OK(clReleaseMemObject(m[i]));
	step("release every second", count / 2, &since_ns);
	for (cl_uint i = 1; i < count; i += 2)
		OK(clReleaseMemObject(m[i]));
	step("release the others", count / 2, &since_ns);
}

static cl_kernel increment(cl_mem m)
{
	cl_kernel k = rig_kernel("kernel void k(global int *v) { v[0]++; }", "k");

	SET(k, 0, m);
	return k;
}

static void launches_enqueue(cl_kernel k, unsigned count, cl_uint wait_count, const cl_event *wait)
{
	const size_t one = 1;

	for (unsigned i = 0; i < count; i++)
		OK(clEnqueueNDRangeKernel(rig.queues[0], k, 1, NULL, &one, NULL, wait_count, wait,
					  NULL));
}

static void many__commands(void)
{
	unsigned count = many_count(20000);
	cl_int v = 0;
	cl_mem m = rig_buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(v), &v);
	cl_kernel k = increment(m);
	uint64_t since_ns = rig_now_ns();

	launches_enqueue(k, count, 0, NULL);
	step("enqueue", count, &since_ns);
	OK(clFinish(rig.queues[0]));
	step("rest", count, &since_ns);
	rig_read(rig.queues[0], m, &v, sizeof(v));
	EQUAL(v, count);
	OK(clReleaseKernel(k));
	OK(clReleaseMemObject(m));
}

/* An enqueue must not wait for a completion, because this program has only one thread. */
static void many__commands_behind_an_event(void)
{
	unsigned count = many_count(12000);
	cl_int v = 0;
	cl_mem m = rig_buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(v), &v);
	cl_kernel k = increment(m);
	cl_event gate = clCreateUserEvent(rig.context, ERR);

	MADE(gate);
	OK(clFinish(rig.queues[0]));
	uint64_t since_ns = rig_now_ns();
	launches_enqueue(k, 1, 1, &gate);
	launches_enqueue(k, count - 1, 0, NULL);
	step("enqueue", count, &since_ns);
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	OK(clFinish(rig.queues[0]));
	step("run", count, &since_ns);
	rig_read(rig.queues[0], m, &v, sizeof(v));
	EQUAL(v, count);
	OK(clReleaseEvent(gate));
	OK(clReleaseKernel(k));
	OK(clReleaseMemObject(m));
}

/* Transfers that wait for a kernel use more ranges of host memory than a NIC has memory regions. */
static void many__transfers_behind_a_kernel(void)
{
	unsigned count = many_count(2300);
	size_t bytes = 4096;
	uint8_t *from = rig_noise(bytes), *to = rig_memory(bytes * 2);
	cl_mem m = rig_buffer(CL_MEM_READ_WRITE, bytes, NULL);
	cl_event gate = clCreateUserEvent(rig.context, ERR);
	cl_int one = 1;
	cl_mem v = rig_buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(one), &one);
	cl_kernel k = increment(v);

	MADE(gate);
	OK(clFinish(rig.queues[0]));
	uint64_t since_ns = rig_now_ns();
	launches_enqueue(k, 1, 1, &gate);
	for (unsigned i = 0; i < count; i++) {
		OK(clEnqueueWriteBuffer(rig.queues[0], m, CL_FALSE, 0, bytes, from, 0, NULL, NULL));
		OK(clEnqueueReadBuffer(rig.queues[0], m, CL_FALSE, 0, bytes, to + i % 2 * bytes, 0,
				       NULL, NULL));
	}
	step("enqueue", 2 * count, &since_ns);
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	OK(clFinish(rig.queues[0]));
	step("run", 2 * count, &since_ns);
	SAME_BYTES(to, from, bytes);
	SAME_BYTES(to + bytes, from, bytes);
	OK(clReleaseEvent(gate));
	OK(clReleaseKernel(k));
	OK(clReleaseMemObject(v));
	OK(clReleaseMemObject(m));
}

#define LIST 1000 /* events in one wait list */

static void many__events(void)
{
	/* with more events, PoCL 3.1 takes minutes */
	unsigned count = rig.pocl ? LIST : many_count(12000);
	cl_event *e = rig_memory(count * sizeof(cl_event)), all;
	cl_command_queue queue = rig_queue(0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_event gate = clCreateUserEvent(rig.context, ERR);
	uint64_t since_ns = rig_now_ns();

	MADE(gate);
	for (unsigned i = 0; i < count; i++)
		OK(clEnqueueMarkerWithWaitList(queue, 1, &gate, &e[i]));
	step("enqueue markers", count, &since_ns);
	OK(clEnqueueMarkerWithWaitList(queue, LIST, e + count - LIST, &all));
	step("wait list", LIST, &since_ns);
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	OK(clWaitForEvents(1, &all));
	step("run", count, &since_ns);
	OK(clFinish(queue));
	for (unsigned i = 0; i < count; i++)
		OK(clReleaseEvent(e[i]));
	step("release", count, &since_ns);
	OK(clReleaseEvent(all));
	OK(clReleaseEvent(gate));
	OK(clReleaseCommandQueue(queue));
}

RIG_MAIN(CASE(many__buffers), CASE(many__commands), CASE(many__commands_behind_an_event),
	 CASE(many__transfers_behind_a_kernel), CASE(many__events))
