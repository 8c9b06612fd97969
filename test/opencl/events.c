/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests events: queries, wait lists, callbacks, user events, markers and barriers. */
#include "rig.h"

#include <unistd.h>

static cl_event user_event(void)
{
	cl_event e = clCreateUserEvent(rig.context, ERR);

	MADE(e);
	return e;
}

static void events__queries(void)
{
	cl_mem m = rig_buffer(0, 64, NULL);
	uint32_t data[16] = {0};
	cl_event e = NULL;
	cl_command_queue q = NULL;
	cl_context c = NULL;
	cl_command_type type = 0;
	cl_uint references = 0;

	OK(clEnqueueWriteBuffer(rig.queues[0], m, CL_FALSE, 0, 64, data, 0, NULL, &e));
	OK(clGetEventInfo(e, CL_EVENT_COMMAND_QUEUE, sizeof(q), &q, NULL));
	CHECK(q == rig.queues[0]);
	OK(clGetEventInfo(e, CL_EVENT_CONTEXT, sizeof(c), &c, NULL));
	CHECK(c == rig.context);
	OK(clGetEventInfo(e, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL));
	EQUAL(type, CL_COMMAND_WRITE_BUFFER);
	OK(clWaitForEvents(1, &e));
	EQUAL(rig_status(e), CL_COMPLETE);
	OK(clGetEventInfo(e, CL_EVENT_REFERENCE_COUNT, sizeof(references), &references, NULL));
	CHECK(references >= 1);
	OK(clRetainEvent(e));
	OK(clReleaseEvent(e));
	FAILS(clGetEventInfo(e, 0x1, sizeof(q), &q, NULL), CL_INVALID_VALUE);
	FAILS(clGetEventInfo(e, CL_EVENT_COMMAND_QUEUE, 1, &q, NULL), CL_INVALID_VALUE);
	FAILS(clGetEventInfo(NULL, CL_EVENT_COMMAND_QUEUE, sizeof(q), &q, NULL), CL_INVALID_EVENT);
	FAILS(clRetainEvent(NULL), CL_INVALID_EVENT);
	FAILS(clReleaseEvent(NULL), CL_INVALID_EVENT);
	FAILS(clWaitForEvents(0, NULL), CL_INVALID_VALUE);
	FAILS(clWaitForEvents(1, NULL), CL_INVALID_VALUE);
	FAILS_BUT_POCL(clSetUserEventStatus(e, CL_COMPLETE), CL_INVALID_EVENT);
	OK(clReleaseEvent(e));
	OK(clReleaseMemObject(m));
}

/* The event of each of these ten commands reports its type. */
static void events__types_of_commands(void)
{
	uint8_t data[64] = {0};
	size_t at[3] = {0, 0, 0}, region[3] = {8, 2, 1}, one = 1;
	cl_mem a = rig_buffer(0, 64, NULL), b = rig_buffer(0, 64, NULL);
	cl_kernel k = rig_kernel("kernel void f(global uint *a) { a[0] = 1; }", "f");
	cl_command_queue q = rig.queues[0];
	cl_event e[10];
	static const cl_command_type types[] = {CL_COMMAND_READ_BUFFER,
						CL_COMMAND_WRITE_BUFFER_RECT,
						CL_COMMAND_READ_BUFFER_RECT,
						CL_COMMAND_COPY_BUFFER,
						CL_COMMAND_COPY_BUFFER_RECT,
						CL_COMMAND_FILL_BUFFER,
						CL_COMMAND_MIGRATE_MEM_OBJECTS,
						CL_COMMAND_NDRANGE_KERNEL,
						CL_COMMAND_MARKER,
						CL_COMMAND_BARRIER};

	SET(k, 0, a);
	OK(clEnqueueReadBuffer(q, a, CL_FALSE, 0, 64, data, 0, NULL, &e[0]));
	OK(clEnqueueWriteBufferRect(q, a, CL_FALSE, at, at, region, 0, 0, 0, 0, data, 0, NULL,
				    &e[1]));
	OK(clEnqueueReadBufferRect(q, a, CL_FALSE, at, at, region, 0, 0, 0, 0, data, 0, NULL,
				   &e[2]));
	OK(clEnqueueCopyBuffer(q, a, b, 0, 0, 64, 0, NULL, &e[3]));
	OK(clEnqueueCopyBufferRect(q, a, b, at, at, region, 0, 0, 0, 0, 0, NULL, &e[4]));
	OK(clEnqueueFillBuffer(q, a, data, 4, 0, 64, 0, NULL, &e[5]));
	OK(clEnqueueMigrateMemObjects(q, 1, &a, 0, 0, NULL, &e[6]));
	OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &one, NULL, 0, NULL, &e[7]));
	OK(clEnqueueMarkerWithWaitList(q, 0, NULL, &e[8]));
	OK(clEnqueueBarrierWithWaitList(q, 0, NULL, &e[9]));
	OK(clWaitForEvents(COUNT_OF(e), e));
	for (size_t i = 0; i < COUNT_OF(e); i++) {
		cl_command_type type = 0;
		OK(clGetEventInfo(e[i], CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL));
		EQUAL(type, types[i]);
		EQUAL(rig_status(e[i]), CL_COMPLETE);
		OK(clReleaseEvent(e[i]));
	}
	OK(clReleaseKernel(k));
	OK(clReleaseMemObject(a));
	OK(clReleaseMemObject(b));
}

static const char step_source[] =
	"kernel void chain(global uint *a, uint n) { a[0] = a[0] * 3 + n; }\n";

/* Each step of a chain waits for the previous one on another device. */
static void events__chain_over_devices(void)
{
	enum { STEPS = 200 };
	cl_kernel k = rig_kernel(step_source, "chain");
	uint32_t value = 1, model = 1;
	cl_mem m = rig_buffer(CL_MEM_COPY_HOST_PTR, 4, &value);
	cl_event list[STEPS];
	size_t one = 1;

	SET(k, 0, m);
	for (uint32_t i = 0; i < STEPS; i++) {
		SET(k, 1, i);
		OK(clEnqueueNDRangeKernel(rig.queues[i % rig.device_count], k, 1, NULL, &one, NULL,
					  i ? 1 : 0, i ? &list[i - 1] : NULL, &list[i]));
		model = model * 3 + i;
	}
	for (cl_uint d = 0; d < rig.device_count; d++)
		OK(clFinish(rig.queues[d]));
	for (uint32_t i = 0; i < STEPS; i++) {
		if (rig_status(list[i]) != CL_COMPLETE)
			rig_fail(__FILE__, __LINE__, "step %u has status %d", i,
				 rig_status(list[i]));
		OK(clReleaseEvent(list[i]));
	}
	rig_read(rig.queues[0], m, &value, 4);
	EQUAL(value, model);
	OK(clReleaseKernel(k));
	OK(clReleaseMemObject(m));
}

static void events__wait_list_of_hundred(void)
{
	enum { COUNT = 100 };
	uint32_t numbers[COUNT], back[COUNT] = {0};
	cl_event list[COUNT], last = NULL;
	cl_mem m = rig_buffer(0, sizeof(numbers), NULL),
	       copy = rig_buffer(0, sizeof(numbers), NULL);

	rig_scramble(numbers, sizeof(numbers));
	for (cl_uint i = 0; i < COUNT; i++)
		OK(clEnqueueWriteBuffer(rig.queues[i % rig.device_count], m, CL_FALSE, i * 4, 4,
					&numbers[i], 0, NULL, &list[i]));
	OK(clEnqueueCopyBuffer(rig.queues[rig.device_count - 1], m, copy, 0, 0, sizeof(numbers),
			       COUNT, list, &last));
	OK(clEnqueueReadBuffer(rig.queues[0], copy, CL_TRUE, 0, sizeof(back), back, 1, &last,
			       NULL));
	SAME_BYTES(back, numbers, sizeof(back));
	OK(clWaitForEvents(COUNT, list));
	for (cl_uint i = 0; i < COUNT; i++)
		OK(clReleaseEvent(list[i]));
	OK(clReleaseEvent(last));
	OK(clReleaseMemObject(m));
	OK(clReleaseMemObject(copy));
}

static void user__holds_a_command_back(void)
{
	uint32_t data = 0, number = 5;
	cl_mem m = rig_buffer(0, 4, NULL);
	cl_event u = user_event(), write = NULL, read = NULL;
	cl_command_type type = 0;
	cl_command_queue q = (cl_command_queue)1;

	EQUAL(rig_status(u), CL_SUBMITTED);
	OK(clGetEventInfo(u, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL));
	EQUAL(type, CL_COMMAND_USER);
	OK(clGetEventInfo(u, CL_EVENT_COMMAND_QUEUE, sizeof(q), &q, NULL));
	CHECK(!q);
	OK(clEnqueueWriteBuffer(rig.queues[0], m, CL_FALSE, 0, 4, &number, 1, &u, &write));
	OK(clEnqueueReadBuffer(rig.queues[0], m, CL_FALSE, 0, 4, &data, 0, NULL, &read));
	OK(clFlush(rig.queues[0]));
	usleep(50000);
	CHECK(rig_status(write) > CL_COMPLETE && rig_status(read) > CL_COMPLETE);
	OK(clSetUserEventStatus(u, CL_COMPLETE));
	OK(clWaitForEvents(1, &read));
	EQUAL(data, 5);
	EQUAL(rig_status(u), CL_COMPLETE);
	FAILS(clSetUserEventStatus(u, CL_COMPLETE), CL_INVALID_OPERATION);
	OK(clReleaseEvent(u));
	OK(clReleaseEvent(write));
	OK(clReleaseEvent(read));
	OK(clReleaseMemObject(m));
}

/* One command on each device waits for its own user event; these are set in reverse order. */
static void user__on_every_device_at_once(void)
{
	cl_event u[RIG_DEVICES_MAX], done[RIG_DEVICES_MAX];
	cl_mem m[RIG_DEVICES_MAX];
	cl_kernel k = rig_kernel(step_source, "chain");
	size_t one = 1;

	for (cl_uint d = 0; d < rig.device_count; d++) {
		uint32_t start = 10 + d, n = 7;
		m[d] = rig_buffer(CL_MEM_COPY_HOST_PTR, 4, &start);
		u[d] = user_event();
		SET(k, 0, m[d]);
		SET(k, 1, n);
		OK(clEnqueueNDRangeKernel(rig.queues[d], k, 1, NULL, &one, NULL, 1, &u[d],
					  &done[d]));
		OK(clFlush(rig.queues[d]));
	}
	for (cl_uint d = rig.device_count; d-- > 0;) {
		OK(clSetUserEventStatus(u[d], CL_COMPLETE));
		OK(clWaitForEvents(1, &done[d]));
		for (cl_uint other = 0; other < d; other++)
			CHECK(rig_status(done[other]) > CL_COMPLETE);
	}
	for (cl_uint d = 0; d < rig.device_count; d++) {
		uint32_t value = 0;
		rig_read(rig.queues[d], m[d], &value, 4);
		EQUAL(value, (10 + d) * 3 + 7);
		OK(clReleaseEvent(u[d]));
		OK(clReleaseEvent(done[d]));
		OK(clReleaseMemObject(m[d]));
	}
	OK(clReleaseKernel(k));
}

/* Many commands on all devices wait for one user event, and one command for all of them. */
static void user__fans_out(void)
{
	enum { COUNT = 60 };
	cl_event u = user_event(), list[COUNT], end = NULL;
	cl_mem m[COUNT];
	uint32_t x = 0x12345678;

	for (cl_uint i = 0; i < COUNT; i++) {
		m[i] = rig_buffer(0, 400, NULL);
		OK(clEnqueueFillBuffer(rig.queues[i % rig.device_count], m[i], &x, 4, 0, 400, 1, &u,
				       &list[i]));
	}
	OK(clEnqueueMarkerWithWaitList(rig.queues[0], COUNT, list, &end));
	for (cl_uint d = 0; d < rig.device_count; d++)
		OK(clFlush(rig.queues[d]));
	usleep(20000);
	CHECK(rig_status(end) > CL_COMPLETE);
	OK(clSetUserEventStatus(u, CL_COMPLETE));
	OK(clWaitForEvents(1, &end));
	for (cl_uint i = 0; i < COUNT; i++) {
		EQUAL(rig_status(list[i]), CL_COMPLETE);
		OK(clReleaseEvent(list[i]));
		OK(clReleaseMemObject(m[i]));
	}
	OK(clReleaseEvent(end));
	OK(clReleaseEvent(u));
}

/* Commands that wait for a user event with a negative status complete with an error. */
static void user__fails(void)
{
	cl_event u = user_event(), write = NULL, after = NULL;
	cl_mem m = rig_buffer(0, 4, NULL), other = rig_buffer(0, 4, NULL);
	uint32_t number = 5;
	cl_command_queue q = rig_queue(0, 0), second = rig_queue(rig.device_count - 1, 0);

	FAILS(clSetUserEventStatus(u, CL_RUNNING), CL_INVALID_VALUE);
	FAILS(clSetUserEventStatus(NULL, CL_COMPLETE), CL_INVALID_EVENT);
	REJECTED(clCreateUserEvent(NULL, ERR), CL_INVALID_CONTEXT);
	OK(clEnqueueWriteBuffer(q, m, CL_FALSE, 0, 4, &number, 1, &u, &write));
	OK(clEnqueueFillBuffer(second, other, &number, 4, 0, 4, 1, &write, &after));
	OK(clFlush(q));
	OK(clFlush(second));
	OK(clSetUserEventStatus(u, -77));
	EQUAL(rig_status(u), -77);
	FAILS(clWaitForEvents(1, &write), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	FAILS(clWaitForEvents(1, &after), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	CHECK(rig_status(write) < 0 && rig_status(after) < 0);
	OK(clReleaseEvent(u));
	OK(clReleaseEvent(write));
	OK(clReleaseEvent(after));
	OK(clReleaseCommandQueue(q));
	OK(clReleaseCommandQueue(second));
	OK(clReleaseMemObject(m));
	OK(clReleaseMemObject(other));
}

struct record {
	volatile int count;
	volatile cl_int status[8];
	volatile cl_event event;
};

static void CL_CALLBACK callback_record(cl_event e, cl_int status, void *user)
{
	struct record *h = user;

	h->event = e;
	h->status[h->count % 8] = status;
	__atomic_fetch_add(&h->count, 1, __ATOMIC_RELEASE);
}

static bool until(volatile int *count, int wanted)
{
	for (uint64_t end = rig_now_ns() + 10000000000u; rig_now_ns() < end; usleep(200))
		if (__atomic_load_n(count, __ATOMIC_ACQUIRE) >= wanted)
			return true;
	return false;
}

static void callbacks__of_commands(void)
{
	struct record record = {0}, late = {0};
	uint32_t number = 5;
	cl_mem m = rig_buffer(0, 4, NULL);
	cl_event u = user_event(), write = NULL;

	OK(clEnqueueWriteBuffer(rig.queues[0], m, CL_FALSE, 0, 4, &number, 1, &u, &write));
	OK(clSetEventCallback(write, CL_COMPLETE, callback_record, &record));
	FAILS(clSetEventCallback(write, CL_COMPLETE, NULL, NULL), CL_INVALID_VALUE);
	FAILS(clSetEventCallback(write, 17, callback_record, &record), CL_INVALID_VALUE);
	FAILS(clSetEventCallback(NULL, CL_COMPLETE, callback_record, &record), CL_INVALID_EVENT);
	OK(clFlush(rig.queues[0]));
	usleep(20000);
	EQUAL(record.count, 0);
	OK(clSetUserEventStatus(u, CL_COMPLETE));
	/* although no thread is in a waiting call */
	CHECK(until(&record.count, 1));
	CHECK(record.event == write);
	EQUAL(record.status[0], CL_COMPLETE);
	/* the command is already complete, so the callback is called at once */
	OK(clSetEventCallback(write, CL_COMPLETE, callback_record, &late));
	CHECK(until(&late.count, 1));
	usleep(5000);
	EQUAL(record.count, 1);
	OK(clReleaseEvent(write));
	OK(clReleaseEvent(u));
	OK(clReleaseMemObject(m));
}

static const char spin_source[] =
	"kernel void spin(global uint *a, uint rounds) {\n"
	" uint x = a[0]; for (uint i = 0; i < rounds; i++) x = x * 1664525 + 1013904223;\n"
	" a[0] = x; }\n";

#define LONG_ROUNDS 300000000u /* iterations that take at least 0.3 s */

static cl_event spin(cl_kernel k, cl_mem m, uint32_t rounds)
{
	size_t one = 1;
	cl_event e = NULL;

	SET(k, 0, m);
	SET(k, 1, rounds);
	OK(clEnqueueNDRangeKernel(rig.queues[0], k, 1, NULL, &one, &one, 0, NULL, &e));
	return e;
}

/* While a long kernel runs, its event reports it as running, and that of the next kernel as
 * waiting. */
static void events__running_is_seen(void)
{
	struct record running = {0}, submitted = {0}, ended = {0};
	cl_kernel k = rig_kernel(spin_source, "spin");
	cl_mem m = rig_buffer(0, 4, NULL);
	cl_event short_one = spin(k, m, 1);

	OK(clWaitForEvents(1, &short_one));
	cl_event first = spin(k, m, LONG_ROUNDS), second = spin(k, m, 1);
	OK(clSetEventCallback(first, CL_SUBMITTED, callback_record, &submitted));
	OK(clSetEventCallback(first, CL_RUNNING, callback_record, &running));
	OK(clSetEventCallback(first, CL_COMPLETE, callback_record, &ended));
	OK(clFlush(rig.queues[0]));
	CHECK(rig_until(first, CL_RUNNING, 10));
	CHECK(rig_status(second) >= CL_SUBMITTED);
	CHECK(until(&submitted.count, 1) && until(&running.count, 1));
	EQUAL(ended.count, 0);
	EQUAL(rig_status(first), CL_RUNNING);
	EQUAL(running.status[0], CL_RUNNING);
	EQUAL(submitted.status[0], CL_SUBMITTED);
	OK(clWaitForEvents(1, &second));
	CHECK(until(&ended.count, 1));
	EQUAL(ended.status[0], CL_COMPLETE);
	EQUAL(running.count, 1);
	OK(clReleaseEvent(short_one));
	OK(clReleaseEvent(first));
	OK(clReleaseEvent(second));
	OK(clReleaseMemObject(m));
}

/* Callbacks for all three states are called in this order, even if a state is too short to be seen
 * by polling. */
static void callbacks__of_every_state(void)
{
	static const cl_int states[] = {CL_SUBMITTED, CL_RUNNING, CL_COMPLETE};
	struct record record = {0};
	uint32_t number = 5;
	cl_mem m = rig_buffer(0, 4, NULL);
	cl_event u = user_event(), write = NULL;

	OK(clEnqueueWriteBuffer(rig.queues[0], m, CL_FALSE, 0, 4, &number, 1, &u, &write));
	for (size_t i = 0; i < COUNT_OF(states); i++)
		OK(clSetEventCallback(write, states[i], callback_record, &record));
	OK(clSetUserEventStatus(u, CL_COMPLETE));
	CHECK(until(&record.count, 3));
	for (int i = 0; i < 3; i++)
		EQUAL(record.status[i], states[i]);
	OK(clReleaseEvent(write));
	OK(clReleaseEvent(u));
	OK(clReleaseMemObject(m));
}

static void callbacks__of_user_events(void)
{
	struct record good = {0}, bad = {0};
	cl_event a = user_event(), b = user_event();

	OK(clSetEventCallback(a, CL_COMPLETE, callback_record, &good));
	OK(clSetEventCallback(b, CL_COMPLETE, callback_record, &bad));
	OK(clSetUserEventStatus(a, CL_COMPLETE));
	OK(clSetUserEventStatus(b, -5));
	CHECK(until(&good.count, 1));
	EQUAL(good.status[0], CL_COMPLETE);
	if (!rig.pocl) { /* PoCL does not call this callback */
		CHECK(until(&bad.count, 1));
		EQUAL(bad.status[0], -5);
	}
	OK(clReleaseEvent(a));
	OK(clReleaseEvent(b));
}

struct chain {
	volatile int count;
	cl_mem m;
	uint32_t number;
};

static void CL_CALLBACK go_on(cl_event e, cl_int status, void *user)
{
	struct chain *c = user;
	cl_event next = NULL;

	if (__atomic_add_fetch(&c->count, 1, __ATOMIC_ACQ_REL) >= 10 || status != CL_COMPLETE)
		return;
	c->number++;
	if (clEnqueueFillBuffer(rig.queues[0], c->m, &c->number, 4, 0, 4, 0, NULL, &next) == 0) {
		clSetEventCallback(next, CL_COMPLETE, go_on, c);
		clFlush(rig.queues[0]);
		clReleaseEvent(next);
	}
}

static void callbacks__enqueue_more(void)
{
	struct chain c = {0};
	cl_event first = NULL;
	uint32_t value = 0;

	c.m = rig_buffer(0, 4, NULL);
	OK(clEnqueueFillBuffer(rig.queues[0], c.m, &c.number, 4, 0, 4, 0, NULL, &first));
	OK(clSetEventCallback(first, CL_COMPLETE, go_on, &c));
	OK(clFlush(rig.queues[0]));
	CHECK(until(&c.count, 10));
	rig_read(rig.queues[0], c.m, &value, 4);
	EQUAL(value, 9);
	OK(clReleaseEvent(first));
	OK(clReleaseMemObject(c.m));
}

static void markers__of_all_kinds(void)
{
	cl_event u = user_event(), marker = NULL, old = NULL, barrier = NULL;
	cl_command_queue q = rig.queues[0];

	OK(clEnqueueMarkerWithWaitList(q, 1, &u, &marker));
	OK(clEnqueueMarker(q, &old));
	OK(clEnqueueBarrierWithWaitList(q, 1, &marker, &barrier));
	OK(clEnqueueBarrier(q));
	if (!rig.pocl) /* this call crashes PoCL */
		OK(clEnqueueWaitForEvents(q, 1, &u));
	OK(clFlush(q));
	usleep(10000);
	CHECK(rig_status(marker) > CL_COMPLETE && rig_status(barrier) > CL_COMPLETE);
	OK(clSetUserEventStatus(u, CL_COMPLETE));
	OK(clFinish(q));
	EQUAL(rig_status(marker), CL_COMPLETE);
	EQUAL(rig_status(old), CL_COMPLETE);
	EQUAL(rig_status(barrier), CL_COMPLETE);
	FAILS(clEnqueueMarker(q, NULL), CL_INVALID_VALUE);
	FAILS(clEnqueueMarker(NULL, &old), CL_INVALID_COMMAND_QUEUE);
	FAILS(clEnqueueBarrier(NULL), CL_INVALID_COMMAND_QUEUE);
	FAILS_BUT_POCL(clEnqueueWaitForEvents(q, 0, NULL), CL_INVALID_VALUE);
	FAILS(clEnqueueMarkerWithWaitList(q, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
	FAILS(clEnqueueBarrierWithWaitList(q, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
	OK(clReleaseEvent(u));
	OK(clReleaseEvent(marker));
	OK(clReleaseEvent(old));
	OK(clReleaseEvent(barrier));
}

RIG_MAIN(CASE(events__queries), CASE(events__types_of_commands), CASE(events__chain_over_devices),
	 CASE(events__wait_list_of_hundred), CASE(user__holds_a_command_back),
	 CASE(user__on_every_device_at_once), CASE(user__fans_out), CASE(user__fails),
	 CASE(events__running_is_seen), CASE(callbacks__of_every_state),
	 CASE(callbacks__of_commands), CASE(callbacks__of_user_events),
	 CASE(callbacks__enqueue_more), CASE(markers__of_all_kinds))
