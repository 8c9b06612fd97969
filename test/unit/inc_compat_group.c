/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests groups in the compatible format over real switch cores: loss, a widened group beside, large
 * numbers, modes. */
#include "test/unit/inc_rig.h"

#include "wire/inc_compat.h"

#define GROUP    0x8001u
#define ELEMENTS 64 /* 256 bytes: the longest operation of this format */

static const uint8_t two_leaves[4] = {1, 1, 2, 2};
static const uint8_t one_root[3] = {0, 1, 1};

static unsigned compat_packets;
static unsigned lost_at, sent;

/* Counts compatible packets; drops packet `lost_at` of all, from 1 on. */
static unsigned watch(struct rig *r, const struct rig_packet *p)
{
	struct inc_packet packet;

	assert_int_equal(inc_packet_decode(p->data, p->bytes, &packet), DXP_OK);
	compat_packets += packet.header.kind == INC_DATA && packet.header.flags & INC_FLAG_COMPAT;
	return ++sent == lost_at ? 0 : 1;
}

static void group_make(struct rig *r, uint32_t id, enum dxp_inc_framing framing)
{
	struct inc_control n;
	uint32_t silent;
	uint64_t end_ns = r->now_ns + S_NS;

	r->framing = framing;
	rig_create_begin(r, id);
	while (inc_create_outcome(r->hosts[0].create, &n, &silent) == DXP_EAGAIN &&
	       rig_step(r, end_ns))
		;
	for (unsigned i = 0; i < r->members; i++) {
		assert_int_equal(inc_create_outcome(r->hosts[i].create, &n, &silent), DXP_OK);
		rig_group(r, i, &n);
	}
}

static void sum(struct rig *r, unsigned salt, size_t elements)
{
	static int32_t in[RIG_MEMBERS][ELEMENTS], out[RIG_MEMBERS][ELEMENTS];
	struct inc_operation o[RIG_MEMBERS];
	bool all = false;

	for (unsigned i = 0; i < r->members; i++) {
		for (unsigned k = 0; k < elements; k++)
			in[i][k] = (int32_t)(salt + 1000 * i + k);
		o[i] = (struct inc_operation){.collective = INC_ALLREDUCE,
					      .op = DXP_INC_SUM,
					      .type = DXP_INC_INT32,
					      .send = in[i],
					      .receive = out[i],
					      .elements = elements};
		assert_int_equal(inc_group_start(r->hosts[i].group, &o[i], r->now_ns), DXP_OK);
	}
	for (unsigned tries = 0; tries < 1000 && !all; tries++) {
		rig_run(r, MS_NS);
		all = true;
		for (unsigned i = 0; i < r->members; i++)
			all &= o[i].done;
	}
	assert_true(all);
	for (unsigned i = 0; i < r->members; i++) {
		assert_int_equal(o[i].status, DXP_OK);
		for (unsigned k = 0; k < elements; k++)
			assert_int_equal(out[i][k],
					 r->members * (salt + k) +
						 1000 * r->members * (r->members - 1) / 2);
	}
}

static void compat__sums(void **state)
{
	struct rig r;

	rig_open(&r, 4, two_leaves, 3, one_root);
	group_make(&r, GROUP, DXP_INC_COMPAT);
	lost_at = sent = compat_packets = 0;
	r.hook = watch;
	for (unsigned i = 0; i < 10; i++)
		sum(&r, i, 1 + i * 7);
	/* 4 contributions, 2 partial results, 2 results to leaves, 4 to members */
	assert_int_equal(compat_packets, 10 * 12);
	rig_close(&r);
}

static void compat__each_packet_lost_once(void **state)
{
	for (unsigned k = 1; k <= 2 * 12; k++) {
		struct rig r;

		rig_open(&r, 4, two_leaves, 3, one_root);
		group_make(&r, GROUP, DXP_INC_COMPAT);
		sent = 0;
		lost_at = k;
		r.hook = watch;
		sum(&r, 1, 3);
		sum(&r, 2, ELEMENTS);
		assert_false(inc_group_lost(r.hosts[0].group));
		rig_close(&r);
	}
}

/* Any one packet of the creation may be lost. */
static void compat__creation_lossy(void **state)
{
	for (unsigned k = 1; k <= 40; k++) {
		struct rig r;

		rig_open(&r, 4, two_leaves, 3, one_root);
		sent = 0;
		lost_at = k;
		r.hook = watch;
		group_make(&r, GROUP, DXP_INC_COMPAT);
		sum(&r, 1, 3);
		rig_close(&r);
	}
}

/* The same switches serve both formats alternately. */
static void compat__beside_widened(void **state)
{
	struct inc_group *widened[4];
	struct inc_create *creations[4];
	struct rig r;

	rig_open(&r, 4, two_leaves, 3, one_root);
	group_make(&r, RIG_GROUP, DXP_INC_UD);
	for (unsigned i = 0; i < 4; i++) {
		widened[i] = r.hosts[i].group;
		creations[i] = r.hosts[i].create;
		r.hosts[i].group = NULL;
	}
	group_make(&r, GROUP, DXP_INC_COMPAT);
	for (unsigned round = 0; round < 6; round++) {
		sum(&r, round, 5);
		for (unsigned i = 0; i < 4; i++) {
			struct inc_group *other = widened[i];

			widened[i] = r.hosts[i].group;
			r.hosts[i].group = other;
		}
	}
	for (unsigned i = 0; i < 4; i++) {
		inc_group_destroy(widened[i]);
		inc_create_end(creations[i]);
	}
	rig_close(&r);
}

/* Segment numbers exceed the 8 bits of req_id and the 24 bits of the PSN. */
static void compat__numbers_wrap(void **state)
{
	static const uint32_t starts[] = {250, 0xfffffa, 0xfffffffa};

	for (unsigned s = 0; s < ARRAY_COUNT(starts); s++) {
		struct rig r;

		rig_open(&r, 4, two_leaves, 3, one_root);
		group_make(&r, GROUP, DXP_INC_COMPAT);
		for (unsigned i = 0; i < 4; i++)
			inc_group_number(r.hosts[i].group, starts[s]);
		for (unsigned i = 0; i < 12; i++)
			sum(&r, i, 2);
		rig_close(&r);
	}
}

static void compat__unsupported(void **state)
{
	struct inc_operation barrier = {.collective = INC_BARRIER};
	int32_t data[ELEMENTS + 1] = {0};
	struct inc_operation longer = {.collective = INC_ALLREDUCE,
				       .op = DXP_INC_SUM,
				       .type = DXP_INC_INT32,
				       .send = data,
				       .receive = data,
				       .elements = ELEMENTS + 1};
	struct rig r;

	rig_open(&r, 4, two_leaves, 3, one_root);
	group_make(&r, GROUP, DXP_INC_COMPAT);
	assert_int_equal(inc_group_start(r.hosts[0].group, &barrier, r.now_ns), DXP_EUNSUPPORTED);
	assert_int_equal(inc_group_start(r.hosts[0].group, &longer, r.now_ns), DXP_EUNSUPPORTED);
	/* sup_data_type has bits 0 to 15, but DOUBLE_INT is type 16. */
	assert_false(inc_group_accepts(r.hosts[0].group, DXP_INC_MINLOC, DXP_INC_DOUBLE_INT, 1));
	rig_close(&r);
}

/* An element count of 0 signals EINVAL to all members. */
static void compat__disagreement(void **state)
{
	int32_t data[4] = {0};
	struct inc_operation o[4];
	struct rig r;

	rig_open(&r, 4, two_leaves, 3, one_root);
	group_make(&r, GROUP, DXP_INC_COMPAT);
	for (unsigned i = 0; i < 4; i++) {
		o[i] = (struct inc_operation){.collective = INC_ALLREDUCE,
					      .op = DXP_INC_SUM,
					      .type = DXP_INC_INT32,
					      .send = data,
					      .receive = data,
					      .elements = i == 2 ? 2 : 1};
		assert_int_equal(inc_group_start(r.hosts[i].group, &o[i], r.now_ns), DXP_OK);
	}
	rig_run(&r, S_NS);
	for (unsigned i = 0; i < 4; i++) {
		assert_true(o[i].done);
		assert_int_equal(o[i].status, DXP_EINVAL);
	}
	rig_close(&r);
}

/* `modes`: what the switches support. */
static int creation(uint16_t modes, enum dxp_inc_mode mode, uint8_t *cause)
{
	struct inc_control n = {0};
	uint32_t silent;
	struct rig r;
	int status;

	rig_open(&r, 4, two_leaves, 3, one_root);
	for (unsigned i = 0; i < 3; i++) {
		switch_destroy(r.sw[i]);
		r.sw_options[i].modes = modes;
		assert_int_equal(switch_create(&r.sw_options[i], r.now_ns, &r.sw[i]), DXP_OK);
	}
	r.framing = DXP_INC_COMPAT;
	r.mode = mode;
	rig_create_begin(&r, GROUP);
	rig_run(&r, 2 * S_NS);
	status = inc_create_outcome(r.hosts[0].create, &n, &silent);
	*cause = n.fail_cause;
	rig_close(&r);
	return status;
}

/* A switch compares the fields sup_mpi_type and master_num. It rejects a mode that it does not
 * support. */
static void compat__modes(void **state)
{
	uint8_t cause;

	assert_int_equal(creation(0, DXP_INC_NODE, &cause), DXP_OK);
	assert_int_equal(creation(1u << DXP_INC_NODE, DXP_INC_NODE, &cause), DXP_OK);
	assert_int_equal(creation(1u << DXP_INC_SOCKET, DXP_INC_SOCKET, &cause), DXP_OK);
	assert_int_equal(creation(1u << DXP_INC_SOCKET, DXP_INC_NODE, &cause), DXP_EUNSUPPORTED);
	assert_int_equal(cause, INC_CAUSE_MODE);
	assert_int_equal(creation(1u << DXP_INC_NODE, DXP_INC_SOCKET, &cause), DXP_EUNSUPPORTED);
	assert_int_equal(cause, INC_CAUSE_MODE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compat__sums),
		cmocka_unit_test(compat__each_packet_lost_once),
		cmocka_unit_test(compat__creation_lossy),
		cmocka_unit_test(compat__beside_widened),
		cmocka_unit_test(compat__numbers_wrap),
		cmocka_unit_test(compat__unsupported),
		cmocka_unit_test(compat__disagreement),
		cmocka_unit_test(compat__modes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
