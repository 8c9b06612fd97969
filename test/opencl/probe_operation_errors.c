/* SPDX-License-Identifier: BSD-3-Clause */
/* Each error of each operation of the extension cl_dxp_collective, for
 * test/net/opencl_collective.sh. */
#include "operations.h"

#define COUNT 500u

static cl_mem from[2], to[2];

static void begin(void)
{
	operations_find();
	CHECK(rig.device_count >= 2);
	for (cl_uint m = 0; m < 2; m++) {
		from[m] = rig_buffer(CL_MEM_READ_WRITE, 2 * COUNT * sizeof(cl_float), NULL);
		to[m] = rig_buffer(CL_MEM_READ_WRITE, 2 * COUNT * sizeof(cl_float), NULL);
	}
}

static void end(void)
{
	for (cl_uint m = 0; m < 2; m++) {
		OK(clReleaseMemObject(from[m]));
		OK(clReleaseMemObject(to[m]));
	}
}

static struct call good(void)
{
	return (struct call){.queue = rig.queues[0],
			     .n = 2,
			     .devices = rig.devices,
			     .from = from,
			     .to = to,
			     .count = COUNT,
			     .type = CL_TYPE_FLOAT_DXP};
}

/* The call with this change must fail with this error. */
#define BAD(operation, wanted, change)                                         \
	do {                                                                   \
		struct call bad = good();                                      \
		bad.change;                                                    \
		FAILS(operation_call(operation, &bad, 0, NULL, NULL), wanted); \
	} while (0)

static bool combines(enum reference o)
{
	return o <= REDUCE_SCATTER;
}

static bool has_root(enum reference o)
{
	return o == REDUCE || o == BROADCAST;
}

static void errors__names(void)
{
	static const char *const unknown[] = {"clEnqueueGatherDXP", "clEnqueueReduceDXP_fn",
					      "clEnqueueReduce", ""};

	cl_name_version extensions[16] = {0};
	cl_version version = 0;
	size_t bytes = 0;

	begin();
	for (size_t i = 0; i < COUNT_OF(unknown); i++)
		CHECK(!clGetExtensionFunctionAddressForPlatform(rig.platform, unknown[i]));
	OK(clGetPlatformInfo(rig.platform, CL_PLATFORM_EXTENSIONS_WITH_VERSION, sizeof(extensions),
			     extensions, &bytes));
	for (size_t i = 0; i < bytes / sizeof(extensions[0]); i++)
		if (strcmp(extensions[i].name, CL_DXP_COLLECTIVE_EXTENSION_NAME) == 0)
			version = extensions[i].version;
	EQUAL(version, CL_MAKE_VERSION(1, 2, 0));
	end();
}

static void errors__numbers(void)
{
	begin();
	for (enum reference o = ALLREDUCE; o < OPERATION_COUNT; o++) {
		BAD(o, CL_INVALID_VALUE, n = 0);
		BAD(o, CL_INVALID_VALUE, n = 65);
		BAD(o, CL_INVALID_VALUE, count = 0);
		BAD(o, CL_INVALID_VALUE, count = 2 * COUNT + 1);
		BAD(o, CL_INVALID_VALUE, count = SIZE_MAX / 2);
		BAD(o, CL_INVALID_VALUE, count = SIZE_MAX / 8 + 1);
		BAD(o, CL_INVALID_VALUE, type = DXP_TYPES);
		BAD(o, CL_INVALID_VALUE, type = (cl_uint)-1);
		BAD(o, CL_INVALID_VALUE, from_at = 2);
		BAD(o, CL_INVALID_VALUE, to_at = 2);
		BAD(o, CL_INVALID_VALUE, from_at = (2 * COUNT + 1) * sizeof(cl_float));
		BAD(o, CL_INVALID_VALUE, to_at = SIZE_MAX - 3);
		if (operations[o].from == N || operations[o].to == N)
			BAD(o, CL_INVALID_VALUE, count = COUNT + 1);
		if (combines(o))
			BAD(o, CL_INVALID_VALUE, reduction = DXP_REDUCTIONS);
		if (combines(o) && o != ALLREDUCE)
			BAD(o, CL_INVALID_VALUE, reduction = CL_WAY_RING_DXP);
		if (has_root(o))
			BAD(o, CL_INVALID_VALUE, root = 2);
	}
	end();
}

static void errors__devices(void)
{
	static const cl_device_id none[2] = {NULL, NULL};
	const cl_device_id handles[2] = {rig.devices[0], (cl_device_id)(void *)rig.context};

	begin();
	for (enum reference o = ALLREDUCE; o < OPERATION_COUNT; o++) {
		BAD(o, CL_INVALID_COMMAND_QUEUE, queue = NULL);
		BAD(o, CL_INVALID_COMMAND_QUEUE, queue = (cl_command_queue)(void *)rig.context);
		BAD(o, CL_INVALID_VALUE, devices = NULL);
		BAD(o, CL_INVALID_DEVICE, devices = none);
		BAD(o, CL_INVALID_DEVICE, devices = handles);
	}
	end();
}

static void errors__buffers(void)
{
	begin();
	cl_mem released = rig_buffer(0, 64, NULL);
	OK(clReleaseMemObject(released));
	const cl_mem nothing[2] = {NULL, NULL}, gone[2] = {released, released};
	const cl_mem handles[2] = {(cl_mem)(void *)rig.context, (cl_mem)(void *)rig.queues[0]};
	for (enum reference o = ALLREDUCE; o < OPERATION_COUNT; o++) {
		BAD(o, CL_INVALID_MEM_OBJECT, from = nothing);
		BAD(o, CL_INVALID_MEM_OBJECT, to = nothing);
		BAD(o, CL_INVALID_MEM_OBJECT, from = handles);
		BAD(o, CL_INVALID_MEM_OBJECT, to = handles);
		BAD(o, CL_INVALID_MEM_OBJECT, from = gone);
		BAD(o, CL_INVALID_MEM_OBJECT, to = gone);
		if (o != ALL_GATHER && o != BROADCAST)
			BAD(o, CL_INVALID_VALUE, from = NULL);
		if (o != REDUCE_SCATTER && o != REDUCE)
			BAD(o, CL_INVALID_VALUE, to = NULL);
	}
	/* A list is missing, which means in place, but its offset is given. */
	struct call c = good();
	c.count = 10;
	c.from = NULL;
	c.from_at = 4;
	FAILS(operation_call(ALL_GATHER, &c, 0, NULL, NULL), CL_INVALID_VALUE);
	c = good();
	c.count = 10;
	c.to = NULL;
	c.to_at = 4;
	FAILS(operation_call(REDUCE_SCATTER, &c, 0, NULL, NULL), CL_INVALID_VALUE);
	end();
}

static void errors__overlaps(void)
{
	begin();
	const cl_mem twice[2] = {to[0], to[0]}, crossed[2] = {from[1], from[0]};
	for (enum reference o = ALLREDUCE; o < OPERATION_COUNT; o++) {
		if (o != REDUCE)
			BAD(o, CL_MEM_COPY_OVERLAP, to = twice);
		BAD(o, CL_MEM_COPY_OVERLAP, to = crossed);
	}
	struct call c = good();
	c.to = from;
	FAILS(operation_call(ALL_TO_ALL, &c, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
	c.count = 10;
	c.to_at = 4;
	for (enum reference o = ALLREDUCE; o < OPERATION_COUNT; o++)
		FAILS(operation_call(o, &c, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
	/* In place at another part than the device's own. */
	c.to_at = 0;
	FAILS(operation_call(REDUCE_SCATTER, &c, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
	FAILS(operation_call(ALL_GATHER, &c, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
	/* Ranges that only touch do not overlap. */
	c.to_at = 40;
	OK(operation_call(ALLREDUCE, &c, 0, NULL, NULL));
	OK(operation_call(REDUCE, &c, 0, NULL, NULL));
	c.to_at = 80;
	OK(operation_call(ALL_TO_ALL, &c, 0, NULL, NULL));
	end();
}

/* Queue, devices, buffers and events of two contexts are mixed. */
static void errors__contexts(void)
{
	begin();
	cl_context other = clCreateContext(NULL, 1, rig.devices, NULL, NULL, ERR);
	MADE(other);
	cl_command_queue q = clCreateCommandQueue(other, rig.devices[0], 0, ERR);
	MADE(q);
	cl_event foreign = clCreateUserEvent(other, ERR);
	MADE(foreign);
	cl_mem alien[2];
	for (cl_uint m = 0; m < 2; m++) {
		alien[m] = clCreateBuffer(other, 0, 2 * COUNT * sizeof(cl_float), NULL, ERR);
		MADE(alien[m]);
	}
	for (enum reference o = ALLREDUCE; o < OPERATION_COUNT; o++) {
		struct call c = good();
		BAD(o, CL_INVALID_CONTEXT, queue = q);
		BAD(o, CL_INVALID_CONTEXT, from = alien);
		BAD(o, CL_INVALID_CONTEXT, to = alien);
		FAILS(operation_call(o, &c, 1, &foreign, NULL), CL_INVALID_CONTEXT);
		/* The context of the queue lacks the second device. */
		c.queue = q;
		c.from = from;
		c.devices = rig.devices + 1;
		c.n = 1;
		FAILS(operation_call(o, &c, 0, NULL, NULL), CL_INVALID_DEVICE);
	}
	for (cl_uint m = 0; m < 2; m++)
		OK(clReleaseMemObject(alien[m]));
	OK(clReleaseEvent(foreign));
	OK(clReleaseCommandQueue(q));
	OK(clReleaseContext(other));
	end();
}

static void errors__wait_lists(void)
{
	const cl_event none = NULL;
	cl_event never = (cl_event)(uintptr_t)1;

	begin();
	cl_event gate = clCreateUserEvent(rig.context, ERR);
	MADE(gate);
	for (enum reference o = ALLREDUCE; o < OPERATION_COUNT; o++) {
		struct call c = good();
		FAILS(operation_call(o, &c, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
		FAILS(operation_call(o, &c, 0, &gate, NULL), CL_INVALID_EVENT_WAIT_LIST);
		FAILS(operation_call(o, &c, 1, &none, NULL), CL_INVALID_EVENT_WAIT_LIST);
		/* A call that fails returns no event. */
		c.count = 0;
		FAILS(operation_call(o, &c, 1, &gate, &never), CL_INVALID_VALUE);
		CHECK(never == (cl_event)(uintptr_t)1);
	}
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	OK(clReleaseEvent(gate));
	end();
}

RIG_MAIN(CASE(errors__names), CASE(errors__numbers), CASE(errors__devices), CASE(errors__buffers),
	 CASE(errors__overlaps), CASE(errors__contexts), CASE(errors__wait_lists))
