/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares all operations of the extension cl_dxp_collective with a reference on the host, for
 * test/net/opencl_collective.sh: types, reductions, lengths, 1 to 4 devices, in place or not. Also
 * their order among other commands. */
#include <unistd.h>

#include "operation_case.h"

/* ---- results ---- */

/* Each type with a sum and with one more reduction, on two devices. Each pair costs a build on each
 * device; unit/group has them all. */
static void operations__types_and_reductions(void)
{
	begin();
	for (enum reference o = ALLREDUCE; o < OPERATION_COUNT; o++)
		for (cl_uint t = 0; t < DXP_TYPES; t++)
			for (cl_uint r = 0; r < (o <= REDUCE_SCATTER ? DXP_REDUCTIONS : 1); r++)
				if (r == CL_REDUCTION_SUM_DXP || r == t % DXP_REDUCTIONS)
					run_case(o,
						 (struct call){.n = 2,
							       .count = 97,
							       .type = t,
							       .reduction = r,
							       .root = (t + r) % 2},
						 (t + r) % 2);
	end();
}

static void operations__lengths(void)
{
	static const size_t counts[] = {1, 97, COUNT_MAX};
	static const cl_uint types[] = {CL_TYPE_FLOAT_DXP, CL_TYPE_INT16_DXP, CL_TYPE_UINT64_DXP};

	begin();
	for (enum reference o = ALLREDUCE; o < OPERATION_COUNT; o++)
		for (cl_uint n = 1; n <= members; n++)
			for (cl_uint k = 0; k < COUNT_OF(counts); k++)
				for (int in_place = 0; in_place < 2; in_place++)
					run_case(o,
						 (struct call){.n = n,
							       .count = counts[k],
							       .type = types[(n + k) % 3],
							       .reduction = CL_REDUCTION_MAX_DXP,
							       .root = (n + k) % n},
						 in_place);
	end();
}

/* A device is two members, with buffers of its own for each. */
static void operations__device_twice(void)
{
	const cl_device_id devices[] = {rig.devices[0], rig.devices[1], rig.devices[0]};

	begin();
	if (members < 3)
		rig_skip("fewer than 3 devices");
	for (enum reference o = ALLREDUCE; o < OPERATION_COUNT; o++)
		run_case(o,
			 (struct call){
				 .n = 3, .devices = devices, .count = 97, .type = 10, .root = 2},
			 false);
	end();
}

/* The part of a buffer that is exactly the output, as a sub-buffer, is in place. */
static void operations__sub_buffers(void)
{
	const size_t bytes = 4096, count = bytes / sizeof(cl_float);
	struct places p;
	cl_mem parts[MEMBERS_MAX];

	begin();
	for (cl_uint m = 0; m < members; m++) {
		const cl_buffer_region region = {m * bytes, bytes};
		parts[m] =
			clCreateSubBuffer(from[m], 0, CL_BUFFER_CREATE_TYPE_REGION, &region, ERR);
		MADE(parts[m]);
	}
	struct call c = {.queue = rig.queues[0],
			 .n = members,
			 .devices = rig.devices,
			 .from = from,
			 .to = parts,
			 .count = count,
			 .type = CL_TYPE_FLOAT_DXP};
	places_set(&p, &c);
	for (cl_uint m = 0; m < members; m++)
		p.out[m] = parts[m];
	inputs_write(&p, REDUCE_SCATTER, &c);
	OK(operation_call(REDUCE_SCATTER, &c, 0, NULL, NULL));
	outputs_check(&p, REDUCE_SCATTER, &c);
	c.from = parts;
	c.to = from;
	for (cl_uint m = 0; m < members; m++) {
		p.in[m] = parts[m];
		p.out[m] = from[m];
	}
	inputs_write(&p, ALL_GATHER, &c);
	OK(operation_call(ALL_GATHER, &c, 0, NULL, NULL));
	outputs_check(&p, ALL_GATHER, &c);
	for (cl_uint m = 0; m < members; m++)
		OK(clReleaseMemObject(parts[m]));
	end();
}

/* Flags of buffers restrict kernels and the host. These commands are neither. */
static void operations__flags(void)
{
	const cl_float number = 7;
	const cl_float *mapped;
	cl_mem in[2], out[2];

	begin();
	for (cl_uint m = 0; m < 2; m++) {
		in[m] = rig_buffer(CL_MEM_WRITE_ONLY | CL_MEM_COPY_HOST_PTR, sizeof(number),
				   (void *)&number);
		out[m] = rig_buffer(CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY, sizeof(number), NULL);
	}
	const struct call c = {.queue = rig.queues[0],
			       .n = 2,
			       .devices = rig.devices,
			       .from = in,
			       .to = out,
			       .count = 1,
			       .type = CL_TYPE_FLOAT_DXP};
	OK(operation_call(ALLREDUCE, &c, 0, NULL, NULL));
	mapped = clEnqueueMapBuffer(rig.queues[0], out[1], CL_TRUE, CL_MAP_READ, 0, sizeof(number),
				    0, NULL, NULL, ERR);
	MADE(mapped);
	EQUAL(*mapped, 14);
	OK(clEnqueueUnmapMemObject(rig.queues[0], out[1], (void *)(uintptr_t)mapped, 0, NULL,
				   NULL));
	for (cl_uint m = 0; m < 2; m++) {
		OK(clReleaseMemObject(in[m]));
		OK(clReleaseMemObject(out[m]));
	}
	end();
}

/* Engine rv32 cannot compute with doubles, but it can copy them. A refused command does not disturb
 * one that is outstanding with the same devices. */
static void operations__no_double(void)
{
	cl_device_fp_config config = 0;
	cl_event gate, done = NULL;

	OK(clGetDeviceInfo(rig.devices[0], CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(config), &config,
			   NULL));
	if (config)
		rig_skip("the devices have doubles");
	begin();
	struct places p;
	struct call c = {.queue = rig.queues[0],
			 .n = members,
			 .devices = rig.devices,
			 .from = from,
			 .to = to,
			 .count = 97,
			 .type = CL_TYPE_FLOAT_DXP};
	places_set(&p, &c);
	inputs_write(&p, ALLREDUCE, &c);
	gate = clCreateUserEvent(rig.context, ERR);
	MADE(gate);
	OK(operation_call(ALLREDUCE, &c, 1, &gate, &done));
	c.type = CL_TYPE_DOUBLE_DXP;
	c.queue = rig.queues[1];
	for (enum reference o = ALLREDUCE; o < OPERATION_COUNT; o++)
		if (o <= REDUCE_SCATTER)
			FAILS(operation_call(o, &c, 0, NULL, NULL), CL_INVALID_OPERATION);
	CHECK(rig_status(done) > CL_COMPLETE);
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	OK(clWaitForEvents(1, &done));
	c.type = CL_TYPE_FLOAT_DXP;
	outputs_check(&p, ALLREDUCE, &c);
	for (enum reference o = ALLREDUCE; o < OPERATION_COUNT; o++)
		if (o > REDUCE_SCATTER)
			run_case(o, (struct call){.n = members, .count = 97, .type = 11}, false);
	OK(clReleaseEvent(gate));
	OK(clReleaseEvent(done));
	end();
}

/* ---- order ---- */

static struct call small_call(void)
{
	return (struct call){.queue = rig.queues[0],
			     .n = members,
			     .devices = rig.devices,
			     .from = from,
			     .to = to,
			     .count = 10,
			     .type = CL_TYPE_FLOAT_DXP};
}

/* Each operation waits for a user event, and fails if that gets a negative status. So does one that
 * the same devices were given meanwhile, in another queue. A later one is not affected. */
static void operations__user_events(void)
{
	begin();
	for (enum reference o = ALLREDUCE; o < OPERATION_COUNT; o++)
		for (int failing = 0; failing < 2; failing++) {
			const cl_int status =
				failing ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
			struct call c = small_call();
			cl_event gate = clCreateUserEvent(rig.context, ERR), done, next;
			MADE(gate);
			OK(operation_call(o, &c, 1, &gate, &done));
			c.queue = rig.queues[1];
			OK(operation_call(ALL_TO_ALL, &c, 0, NULL, &next));
			CHECK(rig_status(done) > CL_COMPLETE);
			CHECK(rig_status(next) > CL_COMPLETE);
			OK(clSetUserEventStatus(gate, failing ? -7 : CL_COMPLETE));
			FAILS(clWaitForEvents(1, &done), status);
			FAILS(clWaitForEvents(1, &next), status);
			EQUAL(rig_status(done), status);
			EQUAL(rig_status(next), status);
			OK(clReleaseEvent(done));
			OK(clReleaseEvent(next));
			OK(clReleaseEvent(gate));
			run_case(o, (struct call){.n = members, .count = 1, .type = 4}, false);
		}
	end();
}

static void event_check(cl_event e, enum reference operation, cl_ulong start)
{
	static const cl_profiling_info names[] = {
		CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
		CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
	cl_command_type type = 0;
	cl_ulong times[4];

	OK(clGetEventInfo(e, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL));
	EQUAL(type, CL_COMMAND_ALLREDUCE_DXP + operation);
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		OK(clGetEventProfilingInfo(e, names[i], sizeof(times[i]), &times[i], NULL));
		CHECK(i == 0 || times[i] >= times[i - 1]);
	}
	EQUAL(times[2], start);
}

/* The event names its command and has times. START is the END of the last command that it waited
 * for; these wait for a user event, so none completes before the enqueue. */
static void operations__events(void)
{
	const cl_uint zero = 0;

	begin();
	for (enum reference o = ALLREDUCE; o < OPERATION_COUNT; o++) {
		const struct call c = small_call();
		cl_event filled[MEMBERS_MAX], done, gate = clCreateUserEvent(rig.context, ERR);
		cl_ulong latest = 0;
		MADE(gate);
		for (cl_uint m = 0; m < members; m++)
			OK(clEnqueueFillBuffer(rig.queues[m], from[m], &zero, sizeof(zero), 0,
					       1 << 20, 1, &gate, &filled[m]));
		OK(operation_call(o, &c, members, filled, &done));
		OK(clSetUserEventStatus(gate, CL_COMPLETE));
		OK(clWaitForEvents(1, &done));
		for (cl_uint m = 0; m < members; m++) {
			cl_ulong ended = 0;
			OK(clGetEventProfilingInfo(filled[m], CL_PROFILING_COMMAND_END,
						   sizeof(ended), &ended, NULL));
			latest = ended > latest ? ended : latest;
			OK(clReleaseEvent(filled[m]));
		}
		event_check(done, o, latest);
		OK(clReleaseEvent(done));
		OK(clReleaseEvent(gate));
	}
	end();
}

#define ROUNDS 20

/* Many independent commands are outstanding in an out-of-order queue. */
static void operations__outstanding(void)
{
	cl_mem out[OPERATION_COUNT][MEMBERS_MAX];
	struct places p;

	begin();
	cl_command_queue q = rig_queue(0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	struct call c = small_call();
	c.queue = q;
	places_set(&p, &c);
	inputs_write(&p, ALL_TO_ALL, &c);
	for (enum reference o = ALLREDUCE; o < OPERATION_COUNT; o++)
		for (cl_uint m = 0; m < members; m++)
			out[o][m] = rig_buffer(0, members * c.count * sizeof(cl_float), NULL);
	for (int round = 0; round < ROUNDS; round++)
		for (enum reference o = ALLREDUCE; o < OPERATION_COUNT; o++) {
			c.to = out[o];
			OK(operation_call(o, &c, 0, NULL, NULL));
		}
	OK(clFinish(q));
	for (enum reference o = ALLREDUCE; o < OPERATION_COUNT; o++) {
		memcpy(p.out, out[o], sizeof(p.out));
		outputs_check(&p, o, &c);
		for (cl_uint m = 0; m < members; m++)
			OK(clReleaseMemObject(out[o][m]));
	}
	OK(clReleaseCommandQueue(q));
	end();
}

static volatile cl_uint destroyed;

static void CL_CALLBACK count_destroyed(cl_mem m, void *unused)
{
	destroyed++;
}

static bool all_destroyed(void)
{
	const uint64_t end_ns = rig_now_ns() + 120000000000ull;

	while (destroyed < 2 * members && rig_now_ns() < end_ns)
		usleep(1000);
	return destroyed == 2 * members;
}

/* Buffers that the program releases while commands are outstanding stay until these complete. A
 * reduce-scatter and an all-gather make an allreduce. */
static void operations__released_buffers(void)
{
	cl_mem in[MEMBERS_MAX], middle[MEMBERS_MAX];
	struct places p;
	cl_event scattered = NULL, gate = clCreateUserEvent(rig.context, ERR);

	MADE(gate);
	begin();
	destroyed = 0;
	struct call c = small_call();
	const size_t bytes = c.n * part_bytes(&c);
	places_set(&p, &c);
	for (cl_uint m = 0; m < members; m++) {
		p.in[m] = in[m] = rig_buffer(0, bytes, NULL);
		middle[m] = rig_buffer(0, bytes / c.n, NULL);
		OK(clSetMemObjectDestructorCallback(in[m], count_destroyed, NULL));
		OK(clSetMemObjectDestructorCallback(middle[m], count_destroyed, NULL));
	}
	inputs_write(&p, REDUCE_SCATTER, &c);
	c.from = in;
	c.to = middle;
	OK(operation_call(REDUCE_SCATTER, &c, 1, &gate, &scattered));
	c.from = middle;
	c.to = to;
	c.queue = rig.queues[1];
	OK(operation_call(ALL_GATHER, &c, 1, &scattered, NULL));
	for (cl_uint m = 0; m < members; m++) {
		OK(clReleaseMemObject(in[m]));
		OK(clReleaseMemObject(middle[m]));
	}
	OK(clReleaseEvent(scattered));
	EQUAL(destroyed, 0);
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	OK(clReleaseEvent(gate));
	c.count *= members;
	outputs_check(&p, ALLREDUCE, &c);
	OK(clFinish(rig.queues[0]));
	CHECK(all_destroyed());
	end();
}

/* ---- a device that dies ---- */

/* Starts all operations. Returns false if one of them found the device lost. */
static bool all_start(cl_uint n, cl_event events[OPERATION_COUNT])
{
	struct call c = small_call();

	c.n = n;
	c.count = COUNT_MAX;
	for (enum reference o = ALLREDUCE; o < OPERATION_COUNT; o++) {
		cl_int error = operation_call(o, &c, 0, NULL, &events[o]);
		if (error == CL_SUCCESS)
			continue;
		EQUAL(error, CL_DEVICE_NOT_AVAILABLE);
		return false;
	}
	return true;
}

static bool all_wait(cl_event events[OPERATION_COUNT])
{
	bool complete = true;

	for (enum reference o = ALLREDUCE; o < OPERATION_COUNT; o++) {
		if (!events[o])
			continue;
		clWaitForEvents(1, &events[o]);
		const cl_int status = rig_status(events[o]);
		CHECK(status == CL_COMPLETE || status == CL_DEVICE_NOT_AVAILABLE ||
		      status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
		complete = complete && status == CL_COMPLETE;
		OK(clReleaseEvent(events[o]));
	}
	return complete;
}

/* Another xPU may have found the device lost before this host does. Until then, calls succeed and
 * their events fail. */
static void loss_wait(void)
{
	const uint64_t end_ns = rig_now_ns() + 120000000000ull;
	const struct call c = small_call();
	cl_event done;

	while (operation_call(ALLREDUCE, &c, 0, NULL, &done) == CL_SUCCESS) {
		clWaitForEvents(1, &done);
		CHECK(rig_status(done) < 0 && rig_now_ns() < end_ns);
		OK(clReleaseEvent(done));
	}
}

/* While all operations are under way, the script kills the last device. The others continue. Prints
 * "running" first. */
static void operations__device_lost(void)
{
	bool alive = true;

	if (!getenv("PROBE_LOST"))
		rig_skip("no device will be killed");
	begin();
	for (int round = 0; alive; round++) {
		cl_event events[OPERATION_COUNT] = {NULL};
		alive = all_start(members, events);
		if (round == 2) {
			printf("running\n");
			fflush(stdout);
		}
		alive = all_wait(events) && alive;
	}
	loss_wait();
	for (enum reference o = ALLREDUCE; o < OPERATION_COUNT; o++) {
		const struct call c = small_call();
		FAILS(operation_call(o, &c, 0, NULL, NULL), CL_DEVICE_NOT_AVAILABLE);
	}
	cl_command_queue q = rig_queue(0, 0);
	for (enum reference o = ALLREDUCE; o < OPERATION_COUNT; o++)
		run_case(o,
			 (struct call){.queue = q,
				       .n = members - 1,
				       .count = COUNT_MAX,
				       .type = CL_TYPE_INT32_DXP},
			 false);
	OK(clReleaseCommandQueue(q));
	end();
}

RIG_MAIN(CASE(operations__types_and_reductions), CASE(operations__lengths),
	 CASE(operations__device_twice), CASE(operations__sub_buffers), CASE(operations__flags),
	 CASE(operations__no_double), CASE(operations__user_events), CASE(operations__events),
	 CASE(operations__outstanding), CASE(operations__released_buffers),
	 CASE(operations__device_lost))
