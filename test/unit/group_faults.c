/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests rejected arguments, dead members and freed memory: messages name the member, and every wait
 * returns. */
#include "test/unit/group_rig.h"

#define GROUP   3
#define ENDS_NS (30 * S_NS) /* ns; a lost xPU is detected within 4.5 s on an idle machine */

static int open_rig(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));

	*state = r;
	return r && rig_open(r, "ocl", GROUP + 1, "ocl", 1) ? 0 : -1;
}

static int close_rig(void **state)
{
	rig_close(*state);
	free(*state);
	return 0;
}

static struct dxp_collective ints(struct rig *r, uint64_t count)
{
	return (struct dxp_collective){.parts = parts_of(r), .count = count, .type = DXP_INT32};
}

static void group__create_rejects(void **state)
{
	struct rig *r = *state;
	struct dxp_xpu *none[2] = {r->xpus[0], NULL};
	struct dxp_group_options o = {.scratch_bytes = 100};
	struct dxp_group *g = NULL;

	assert_int_equal(dxp_group_create(r->fabric, r->xpus, 0, NULL, &g), DXP_EINVAL);
	assert_int_equal(dxp_group_create(r->fabric, r->xpus, DXP_GROUP_MEMBERS_MAX + 1, NULL, &g),
			 DXP_EINVAL);
	has_text("use 1 to 64");
	assert_int_equal(dxp_group_create(r->fabric, none, 2, NULL, &g), DXP_EINVAL);
	has_text("member 1");
	assert_int_equal(dxp_group_create(r->fabric, r->xpus, 2, &o, &g), DXP_EINVAL);
	has_text("scratch_bytes");
	o = (struct dxp_group_options){.way = (enum dxp_way)7};
	assert_int_equal(dxp_group_create(r->fabric, r->xpus, 2, &o, &g), DXP_EINVAL);
	has_text("way");
	assert_null(g);
	dxp_group_destroy(NULL);
}

static void rejected(struct dxp_group *g, const struct dxp_collective *c, int status,
		     const char *text)
{
	assert_int_equal(dxp_allreduce(g, c), status);
	has_text("allreduce");
	has_text(text);
	ok(dxp_group_status(g));
}

/* The message names the argument, and its member if it has one. */
static void group__arguments_rejected(void **state)
{
	struct rig *r = *state;
	struct dxp_group *g = group_open(r, GROUP, DXP_WAY_AUTO);
	struct dxp_collective c = ints(r, 100);

	assert_int_equal(dxp_allreduce(g, NULL), DXP_EINVAL);
	c.parts = NULL;
	rejected(g, &c, DXP_EINVAL, "parts");
	c = ints(r, 100);
	c.type = DXP_TYPES;
	rejected(g, &c, DXP_EINVAL, "enum dxp_type");
	c = ints(r, 100);
	c.reduction = DXP_REDUCTIONS;
	rejected(g, &c, DXP_EINVAL, "enum dxp_reduction");
	c = ints(r, 100);
	c.way = DXP_WAYS;
	rejected(g, &c, DXP_EINVAL, "enum dxp_way");
	c = ints(r, 100);
	c.root = GROUP;
	rejected(g, &c, DXP_EINVAL, "root 3");
	c = ints(r, UINT64_MAX / 2);
	rejected(g, &c, DXP_EINVAL, "elements");
	c = ints(r, 100);
	r->parts[1].from_bytes = 399;
	rejected(g, &c, DXP_EINVAL, "member 1 (xPU 'xpu2'): `from` has 399 bytes");
	c = ints(r, 100);
	r->parts[2].to_bytes = 0;
	rejected(g, &c, DXP_EINVAL, "member 2 (xPU 'xpu3'): `to` has 0 bytes");
	c = ints(r, 100);
	r->parts[0].to += 2;
	rejected(g, &c, DXP_EINVAL, "member 0 (xPU 'xpu1'): `to` is");
	c = ints(r, 100);
	r->parts[0].from = UINT64_MAX - 3;
	rejected(g, &c, DXP_ERANGE, "member 0 (xPU 'xpu1'): `from`: 400 bytes");
	c = ints(r, 100);
	r->parts[0].to = r->parts[0].from + 4;
	rejected(g, &c, DXP_EINVAL, "overlap");
	c = ints(r, 100);
	r->parts[1].wait_count = 1;
	rejected(g, &c, DXP_EINVAL, "wait list");
	dxp_group_destroy(g);
}

/* The message names the member and the reason; another group still works. */
static void group__freed_buffer(void **state)
{
	struct rig *r = *state;
	struct dxp_group *g = group_open(r, GROUP, DXP_WAY_RING);
	const struct dxp_collective c = ints(r, 1000);
	uint64_t freed;

	/* The first operation allocates scratch memory, which later could get the freed range. */
	ok(dxp_allreduce(g, &c));
	ok(dxp_group_wait(g, LONG_NS));
	ok(dxp_mem_alloc(r->xpus[1], 4096, &freed));
	ok(dxp_mem_free(r->xpus[1], freed));
	r->parts[1].from = freed;
	ok(dxp_allreduce(g, &c));
	assert_int_equal(dxp_group_wait(g, ENDS_NS), DXP_ERANGE);
	has_text("allreduce, member 1 (xPU 'xpu2')");
	has_text("in no allocation");
	assert_int_equal(dxp_group_status(g), DXP_ERANGE);
	assert_int_equal(dxp_allreduce(g, &c), DXP_ERANGE);
	has_text("member 1 (xPU 'xpu2')");
	dxp_group_destroy(g);

	g = group_open(r, GROUP, DXP_WAY_RING);
	const struct dxp_collective good = ints(r, 1000);
	ok(dxp_allreduce(g, &good));
	ok(dxp_group_wait(g, LONG_NS));
	dxp_group_destroy(g);
}

/* A collective does not run after a failed event. */
static void group__failed_wait(void **state)
{
	struct rig *r = *state;
	struct dxp_group *g = group_open(r, GROUP, DXP_WAY_AUTO);
	const struct dxp_collective c = ints(r, 10);
	dxp_event gate;

	ok(dxp_event_create(r->fabric, &gate));
	r->parts[2].wait = &gate;
	r->parts[2].wait_count = 1;
	ok(dxp_allreduce(g, &c));
	ok(dxp_event_set(r->fabric, gate, DXP_EDEVICE));
	assert_int_equal(dxp_group_wait(g, ENDS_NS), DXP_ECANCELED);
	has_text("wait lists");
	dxp_event_forget(r->fabric, gate);
	dxp_group_destroy(g);
}

/* After an abort, all calls return at once. */
static void group__abort(void **state)
{
	struct rig *r = *state;
	struct dxp_group *g = group_open(r, GROUP, DXP_WAY_AUTO);
	const struct dxp_collective c = ints(r, 10);
	dxp_event gate;

	ok(dxp_event_create(r->fabric, &gate));
	r->parts[0].wait = &gate;
	r->parts[0].wait_count = 1;
	ok(dxp_allreduce(g, &c));
	dxp_group_abort(g);
	assert_int_equal(dxp_allreduce(g, &c), DXP_ECLOSED);
	has_text("aborted");
	assert_int_equal(dxp_group_wait(g, LONG_NS), DXP_ECLOSED);
	const uint64_t begin_ns = clock_now_ns();
	dxp_group_destroy(g);
	assert_in_range(clock_now_ns() - begin_ns, 0, 2 * S_NS);
	ok(dxp_event_set(r->fabric, gate, DXP_OK));
	dxp_event_forget(r->fabric, gate);
}

/* ---- xPUs die; these tests come last, because they stop the daemons ---- */

static void lost_check(struct dxp_group *g, const struct dxp_collective *c)
{
	assert_int_equal(dxp_group_wait(g, ENDS_NS), DXP_EPEERLOST);
	has_text("member 3 (xPU 'xpu4')");
	assert_int_equal(dxp_group_status(g), DXP_EPEERLOST);
	assert_int_equal(dxp_allreduce(g, c), DXP_EPEERLOST);
	has_text("xpu4");
}

/* The member dies before or after some of its commands. All operations complete with its name, and
 * a group of the others works. */
static void group__member_dies(void **state)
{
	struct rig *r = *state;
	struct dxp_group *g = group_open(r, GROUP + 1, DXP_WAY_RING);
	struct dxp_collective c = ints(r, BUFFER_BYTES / 4);
	dxp_event ends[GROUP + 1];
	dxp_event gate;

	c.events = ends;
	ok(dxp_allreduce(g, &c));
	ok(dxp_group_wait(g, LONG_NS));
	for (uint32_t m = 0; m <= GROUP; m++)
		ok(dxp_event_wait(r->fabric, ends[m], LONG_NS, NULL));
	ok(dxp_event_create(r->fabric, &gate));
	for (int i = 0; i < 4; i++) {
		/* It waits for `gate`, so it begins after the death. */
		r->parts[0].wait = &gate;
		r->parts[0].wait_count = i == 3;
		c.events = i == 3 ? ends : NULL;
		ok(dxp_allreduce(g, &c));
	}
	test_daemon_stop(&r->victim);
	ok(dxp_event_set(r->fabric, gate, DXP_OK));
	lost_check(g, &c);
	for (uint32_t m = 0; m <= GROUP; m++)
		assert_true(dxp_event_wait(r->fabric, ends[m], ENDS_NS, NULL) < 0);
	dxp_event_forget(r->fabric, gate);
	dxp_group_destroy(g);

	g = group_open(r, GROUP, DXP_WAY_AUTO);
	c = ints(r, 5000);
	ok(dxp_allreduce(g, &c));
	ok(dxp_group_wait(g, LONG_NS));
	dxp_group_destroy(g);
}

/* A member is dead before the creation of the group, or before an operation. */
static void group__member_is_dead(void **state)
{
	struct rig *r = *state;
	const struct dxp_collective c = ints(r, 10);
	struct dxp_group *g = NULL;

	assert_int_equal(dxp_group_create(r->fabric, r->xpus, GROUP + 1, NULL, &g), DXP_EPEERLOST);
	has_text("xpu4");
	g = group_open(r, GROUP, DXP_WAY_AUTO);
	ok(dxp_allreduce(g, &c));
	ok(dxp_group_wait(g, LONG_NS));
	test_daemon_stop(&r->daemon);
	/* by the lease, or by a failed command */
	for (uint64_t end_ns = clock_now_ns() + ENDS_NS;
	     dxp_group_status(g) == DXP_OK && clock_now_ns() < end_ns;)
		if (dxp_allreduce(g, &c) == DXP_OK)
			dxp_group_wait(g, ENDS_NS);
	assert_int_equal(dxp_allreduce(g, &c), DXP_EPEERLOST);
	has_text("allreduce, member");
	dxp_group_destroy(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(group__create_rejects),
		cmocka_unit_test(group__arguments_rejected),
		cmocka_unit_test(group__freed_buffer),
		cmocka_unit_test(group__failed_wait),
		cmocka_unit_test(group__abort),
		cmocka_unit_test(group__member_dies),
		cmocka_unit_test(group__member_is_dead),
	};

	if (!daemons_opencl()) {
		printf("no OpenCL device that works in host memory\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, open_rig, close_rig);
}
