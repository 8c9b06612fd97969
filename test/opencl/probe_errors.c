/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases for test/net/opencl_errors.sh, on nodes with a driver that rejects kernels named refuse_N
 * with error -N. A program must get the node's own errors, and only for the commands that
 * failed. */
#include "rig.h"

static const char source[] = "kernel void refuse_5(global uint *a) { a[0] = 1; }\n"
			     "kernel void refuse_54(global uint *a) { a[0] = 2; }\n"
			     "kernel void refuse_9999(global uint *a) { a[0] = 3; }\n"
			     "kernel void good(global uint *a) { a[0] += 10; }\n";

static cl_event launch(cl_command_queue q, cl_kernel k, cl_mem m)
{
	size_t one = 1;
	cl_event e = NULL;

	SET(k, 0, m);
	OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &one, NULL, 0, NULL, &e));
	return e;
}

static void errors__of_a_command(void)
{
	static const int errors[] = {-5, -54, -9999};
	cl_program p = rig_program(source, NULL);
	cl_kernel good = clCreateKernel(p, "good", ERR);

	MADE(good);
	for (cl_uint d = 0; d < rig.device_count; d++) {
		for (size_t i = 0; i < COUNT_OF(errors); i++) {
			char name[32];
			uint32_t word = 7;
			cl_mem m = rig_buffer(CL_MEM_COPY_HOST_PTR, 4, &word);
			snprintf(name, sizeof(name), "refuse_%d", -errors[i]);
			cl_kernel bad = clCreateKernel(p, name, ERR);
			MADE(bad);
			cl_event e = launch(rig.queues[d], bad, m);
			FAILS(clWaitForEvents(1, &e), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
			EQUAL(rig_status(e), errors[i]);
			OK(clReleaseEvent(e));
			e = launch(rig.queues[d], good, m);
			OK(clWaitForEvents(1, &e));
			EQUAL(rig_status(e), CL_COMPLETE);
			rig_read(rig.queues[d], m, &word, 4);
			EQUAL(word, 17);
			OK(clReleaseEvent(e));
			OK(clReleaseKernel(bad));
			OK(clReleaseMemObject(m));
		}
	}
	OK(clReleaseKernel(good));
	OK(clReleaseProgram(p));
}

/* A command that waits for a rejected one gets another error code. */
static void errors__of_waiting_commands(void)
{
	uint32_t word = 7;
	size_t one = 1;
	cl_program p = rig_program(source, NULL);
	cl_kernel bad = clCreateKernel(p, "refuse_54", ERR), good = clCreateKernel(p, "good", ERR);
	cl_mem m = rig_buffer(CL_MEM_COPY_HOST_PTR, 4, &word);
	cl_event e = launch(rig.queues[0], bad, m), after = NULL;

	SET(good, 0, m);
	OK(clEnqueueNDRangeKernel(rig.queues[rig.device_count - 1], good, 1, NULL, &one, NULL, 1,
				  &e, &after));
	FAILS(clWaitForEvents(1, &after), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	EQUAL(rig_status(e), -54);
	EQUAL(rig_status(after), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	OK(clReleaseEvent(e));
	OK(clReleaseEvent(after));
	OK(clReleaseKernel(bad));
	OK(clReleaseKernel(good));
	OK(clReleaseProgram(p));
	OK(clReleaseMemObject(m));
}

RIG_MAIN(CASE(errors__of_a_command), CASE(errors__of_waiting_commands))
