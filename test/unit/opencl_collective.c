/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what the commands of cl_dxp_collective pass to groups, and each call that can fail. The
 * groups are fakes, whose operations are marks at their members. */
#include "plugins/opencl/entry/extension.h"
#include "plugins/opencl/entry/groups.h"
#include "test/unit/opencl_memory_rig.h"

#include <dxp/collective.h>

#define NODE_BYTES (64u << 20)
#define COUNT      100u
#define BYTES      (COUNT * sizeof(cl_float))

struct dxp_group {
	struct dxp_xpu *members[2];
	int status;
};

static struct {
	uint32_t created, destroyed;
	/* Number of the fallible call that fails, counted down; 0: none. */
	uint32_t fail_at;
	int fail_status;
	bool loses; /* true: an operation that fails makes its group lost */
	bool busy;  /* true: all groups have outstanding commands */
	struct dxp_collective last;
	struct dxp_part parts[2];
	const char *operation;
} fake;

static int call_fails(void)
{
	return fake.fail_at && --fake.fail_at == 0 ? fake.fail_status : DXP_OK;
}

int dxp_group_create(struct dxp_fabric *fabric, struct dxp_xpu *const *members, uint32_t count,
		     const struct dxp_group_options *options, struct dxp_group **out)
{
	int status = call_fails();

	if (status != DXP_OK)
		return status;
	*out = calloc(1, sizeof(**out));
	assert_non_null(*out);
	memcpy((*out)->members, members, min_u64(count, 2) * sizeof(*members));
	fake.created++;
	return DXP_OK;
}

void dxp_group_destroy(struct dxp_group *group)
{
	fake.destroyed += group != NULL;
	free(group);
}

void dxp_group_abort(struct dxp_group *group)
{
	group->status = DXP_ECLOSED;
}

int dxp_group_wait(struct dxp_group *group, uint64_t timeout_ns)
{
	assert_int_equal(timeout_ns, 0);
	return fake.busy ? DXP_ETIMEDOUT : group->status;
}

int dxp_group_status(struct dxp_group *group)
{
	return group->status;
}

int __real_dxp_mark(struct dxp_xpu *xpu, const struct dxp_waits *waits, dxp_event *event);
int __wrap_dxp_mark(struct dxp_xpu *xpu, const struct dxp_waits *waits, dxp_event *event);
int __wrap_dxp_mark(struct dxp_xpu *xpu, const struct dxp_waits *waits, dxp_event *event)
{
	int status = call_fails();

	return status != DXP_OK ? status : __real_dxp_mark(xpu, waits, event);
}

static int operation_start(const char *name, struct dxp_group *g, const struct dxp_collective *c)
{
	int status = call_fails();

	if (status != DXP_OK) {
		g->status = fake.loses ? status : DXP_OK;
		return status;
	}
	fake.operation = name;
	fake.last = *c;
	memcpy(fake.parts, c->parts, sizeof(fake.parts));
	for (uint32_t m = 0; m < 2; m++) {
		const struct dxp_waits waits = {.events = c->parts[m].wait,
						.count = c->parts[m].wait_count};
		status = __real_dxp_mark(g->members[m], &waits, &c->events[m]);
		if (status != DXP_OK) {
			g->status = status;
			return status;
		}
	}
	return DXP_OK;
}

#define OPERATION(name)                                                                         \
	int name##_sized(struct dxp_group *group, const struct dxp_collective *c, size_t bytes) \
	{                                                                                       \
		assert_int_equal(bytes, sizeof(*c));                                            \
		return operation_start(#name, group, c);                                        \
	}
OPERATION(dxp_allreduce)
OPERATION(dxp_reduce)
OPERATION(dxp_reduce_scatter)
OPERATION(dxp_all_gather)
OPERATION(dxp_broadcast)
OPERATION(dxp_all_to_all)

/* The second device requires twice the alignment of the first, 128 bytes. */
cl_uint __wrap_device_uint(cl_device_id d, cl_uint param, cl_uint otherwise);
cl_uint __wrap_device_uint(cl_device_id d, cl_uint param, cl_uint otherwise)
{
	if (param != CL_DEVICE_MEM_BASE_ADDR_ALIGN)
		return otherwise;
	return d == devices[1] ? 2048 : 1024;
}

/* ---- what a group gets ---- */

static cl_mem from[2], to[2];

static void buffers_open(size_t bytes)
{
	for (int i = 0; i < 2; i++) {
		from[i] = buffer(0, bytes, NULL);
		to[i] = buffer(0, bytes, NULL);
	}
}

static void buffers_close(void)
{
	for (int i = 0; i < 2; i++) {
		dxp_clFinish(queues[i]);
		release(from[i]);
		release(to[i]);
	}
}

static void bytes_are(const char *operation, uint64_t from0, uint64_t to0, uint64_t from1,
		      uint64_t to1)
{
	assert_string_equal(fake.operation, operation);
	assert_int_equal(fake.last.count, COUNT);
	assert_int_equal(fake.last.type, DXP_FLOAT);
	assert_int_equal(fake.parts[0].from_bytes, from0);
	assert_int_equal(fake.parts[0].to_bytes, to0);
	assert_int_equal(fake.parts[1].from_bytes, from1);
	assert_int_equal(fake.parts[1].to_bytes, to1);
}

static int allreduce(void)
{
	return dxp_clEnqueueAllreduceDXP(queues[0], 2, devices, from, to, 0, 0, COUNT,
					 CL_TYPE_FLOAT_DXP, CL_REDUCTION_SUM_DXP, 0, NULL, NULL);
}

static void collective__parts(void **state)
{
	buffers_open(2 * BYTES);
	assert_int_equal(allreduce(), CL_SUCCESS);
	bytes_are("dxp_allreduce", BYTES, BYTES, BYTES, BYTES);
	assert_int_equal(dxp_clEnqueueReduceDXP(queues[0], 2, devices, from, to[0], 4, 8, COUNT,
						CL_TYPE_FLOAT_DXP, CL_REDUCTION_MAX_DXP, 1, 0, NULL,
						NULL),
			 CL_SUCCESS);
	bytes_are("dxp_reduce", BYTES, 0, BYTES, BYTES);
	assert_int_equal(fake.last.root, 1);
	assert_int_equal(fake.last.reduction, DXP_MAX);
	assert_int_equal(dxp_clEnqueueBroadcastDXP(queues[0], 2, devices, from[0], to, 4, 8, COUNT,
						   CL_TYPE_FLOAT_DXP, 1, 0, NULL, NULL),
			 CL_SUCCESS);
	bytes_are("dxp_broadcast", 0, BYTES, BYTES, BYTES);
	assert_int_equal(dxp_clEnqueueAllToAllDXP(queues[0], 2, devices, from, to, 0, 0, COUNT,
						  CL_TYPE_FLOAT_DXP, 0, NULL, NULL),
			 CL_SUCCESS);
	bytes_are("dxp_all_to_all", 2 * BYTES, 2 * BYTES, 2 * BYTES, 2 * BYTES);
	buffers_close();
}

/* Member i's part is i parts behind the beginning of the other range. */
static void collective__in_place(void **state)
{
	buffers_open(64 + 2 * BYTES);
	assert_int_equal(dxp_clEnqueueReduceScatterDXP(queues[0], 2, devices, from, NULL, 64, 0,
						       COUNT, CL_TYPE_FLOAT_DXP,
						       CL_REDUCTION_SUM_DXP, 0, NULL, NULL),
			 CL_SUCCESS);
	bytes_are("dxp_reduce_scatter", 2 * BYTES, BYTES, 2 * BYTES, BYTES);
	for (uint32_t m = 0; m < 2; m++)
		assert_int_equal(fake.parts[m].to, fake.parts[m].from + m * BYTES);
	assert_int_equal(dxp_clEnqueueAllGatherDXP(queues[0], 2, devices, NULL, to, 0, 64, COUNT,
						   CL_TYPE_FLOAT_DXP, 0, NULL, NULL),
			 CL_SUCCESS);
	bytes_are("dxp_all_gather", BYTES, 2 * BYTES, BYTES, 2 * BYTES);
	for (uint32_t m = 0; m < 2; m++)
		assert_int_equal(fake.parts[m].from, fake.parts[m].to + m * BYTES);
	buffers_close();
}

/* The earlier bytes of an output, on another device, are not moved: all of them are replaced. */
static void collective__outputs_need_no_transfer(void **state)
{
	buffers_open(BYTES);
	fill(1, to[0], 7, 0, BYTES);
	fill(1, from[0], 7, 0, BYTES);
	dxp_clFinish(queues[1]);
	assert_int_equal(allreduce(), CL_SUCCESS);
	dxp_clFinish(queues[0]);
	assert_int_equal(fake_sent, BYTES); /* the input */
	buffers_close();
}

/* The queue's device is the first. */
static void collective__alignment_of_the_member(void **state)
{
	const cl_buffer_region region = {128, BYTES};
	cl_int error;

	buffers_open(128 + BYTES);
	cl_mem part =
		dxp_clCreateSubBuffer(from[0], 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
	assert_int_equal(error, CL_SUCCESS);
	const cl_mem first[] = {part, from[1]}, second[] = {from[1], part};
	for (int i = 0; i < 2; i++)
		assert_int_equal(dxp_clEnqueueAllreduceDXP(
					 queues[0], 2, devices, i ? second : first, to, 0, 0, COUNT,
					 CL_TYPE_FLOAT_DXP, CL_REDUCTION_SUM_DXP, 0, NULL, NULL),
				 i ? CL_MISALIGNED_SUB_BUFFER_OFFSET : CL_SUCCESS);
	dxp_clFinish(queues[0]);
	release(part);
	buffers_close();
}

/* At exit, groups are destroyed once; a later command needs another. */
static void collective__groups_end_with_the_program(void **state)
{
	buffers_open(BYTES);
	assert_int_equal(allreduce(), CL_SUCCESS);
	dxp_clFinish(queues[0]);
	fake.created = fake.destroyed = 0;
	groups_detach();
	assert_int_equal(fake.destroyed, 0);
	groups_close();
	groups_close();
	assert_int_equal(fake.destroyed, 1);
	assert_int_equal(allreduce(), CL_SUCCESS);
	assert_int_equal(fake.created, 1);
	buffers_close();
}

/* Eight idle groups are kept. A busy one is not destroyed, since that would wait. */
static void collective__idle_groups_are_replaced(void **state)
{
	cl_device_id list[4];
	int status;

	groups_detach();
	groups_close();
	fake.created = fake.destroyed = 0;
	for (uint32_t i = 0; i < 13; i++) {
		for (uint32_t k = 0; k < 4; k++)
			list[k] = devices[i >> k & 1];
		fake.busy = i < 11;
		assert_non_null(groups_get(list, 4, &status));
		assert_int_equal(status, DXP_OK);
		assert_int_equal(fake.destroyed, i < 11 ? 0 : i - 7);
	}
	assert_int_equal(fake.created, 13);
	assert_non_null(groups_get(list, 4, &status)); /* the newest is kept */
	assert_int_equal(fake.created, 13);
	groups_detach();
	groups_close();
	assert_int_equal(fake.destroyed, 13);
}

/* ---- calls that fail ---- */

static void fail_call(uint32_t at, int status, bool loses)
{
	fake.fail_at = at;
	fake.fail_status = status;
	fake.loses = loses;
	fake.created = fake.destroyed = 0;
}

/* Fails in turn: the creation of the group, the operation, and the mark that joins its ends. The
 * second failure leaves the group, so the mark is the second call after it. */
static void collective__each_call_fails_once(void **state)
{
	static const uint32_t calls[] = {1, 2, 2};

	buffers_open(BYTES);
	fail_call(1, DXP_EPEERLOST, true);
	assert_int_equal(allreduce(), CL_DEVICE_NOT_AVAILABLE); /* now there is no group */
	for (uint32_t i = 0; i < ARRAY_COUNT(calls); i++) {
		fail_call(calls[i], DXP_ENOMEM, false);
		assert_int_equal(allreduce(), CL_OUT_OF_RESOURCES);
		assert_int_equal(fake.fail_at, 0);
		/* Only after the operation has started, commands are outstanding. */
		assert_int_equal(fake.destroyed, i == 2);
	}
	fail_call(4, DXP_ENOMEM, false);
	assert_int_equal(allreduce(), CL_SUCCESS);
	assert_int_equal(fake.fail_at, 1);
	fake.fail_at = 0;
	buffers_close();
}

static void collective__refusal_keeps_the_group(void **state)
{
	buffers_open(BYTES);
	assert_int_equal(allreduce(), CL_SUCCESS);
	fail_call(1, DXP_EUNSUPPORTED, false);
	assert_int_equal(allreduce(), CL_INVALID_OPERATION);
	assert_int_equal(allreduce(), CL_SUCCESS);
	assert_int_equal(fake.created + fake.destroyed, 0);
	fail_call(1, DXP_EPEERRESET, true);
	assert_int_equal(allreduce(), CL_DEVICE_NOT_AVAILABLE);
	assert_int_equal(fake.destroyed, 1);
	assert_int_equal(allreduce(), CL_SUCCESS);
	assert_int_equal(fake.created, 1);
	buffers_close();
}

/* Five buffers of a quarter of the node's memory do not fit. */
static void collective__no_device_memory(void **state)
{
	cl_mem large[5];
	cl_int error = CL_SUCCESS;
	uint32_t count = 0;

	buffers_open(BYTES);
	while (error == CL_SUCCESS && count < ARRAY_COUNT(large)) {
		large[count] = buffer(0, NODE_BYTES / 4, NULL);
		const cl_mem list[] = {to[0], large[count++]};
		error = dxp_clEnqueueBroadcastDXP(queues[0], 2, devices, from[0], list, 0, 0, COUNT,
						  CL_TYPE_FLOAT_DXP, 0, 0, NULL, NULL);
	}
	assert_int_equal(error, CL_MEM_OBJECT_ALLOCATION_FAILURE);
	while (count)
		release(large[--count]);
	buffers_close();
}

static void collective__dead_device(void **state)
{
	buffers_open(BYTES);
	assert_int_equal(allreduce(), CL_SUCCESS);
	fail_call(0, DXP_OK, false);
	fake_lose(1);
	assert_int_equal(allreduce(), CL_DEVICE_NOT_AVAILABLE);
	buffers_close();
	assert_int_equal(fake.destroyed, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(collective__parts),
		TEST(collective__in_place),
		TEST(collective__outputs_need_no_transfer),
		TEST(collective__alignment_of_the_member),
		TEST(collective__groups_end_with_the_program),
		TEST(collective__idle_groups_are_replaced),
		TEST(collective__each_call_fails_once),
		TEST(collective__refusal_keeps_the_group),
		TEST(collective__no_device_memory),
		TEST(collective__dead_device),
	};

	for (int i = 0; i < 2; i++)
		fake_node(NODE_BYTES, true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
