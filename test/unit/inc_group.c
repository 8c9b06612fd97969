/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests operations of a group over real switch cores, despite loss and duplicates. */
#include "test/unit/inc_rig.h"

#define ELEMENTS 2000

struct work {
	struct inc_operation call;
	int32_t *in, *out;
};

static const uint8_t two_leaves[4] = {1, 1, 2, 2};
static const uint8_t one_root[3] = {0, 1, 1};

static void fill(struct work *w, unsigned member, size_t elements, unsigned salt)
{
	for (size_t i = 0; i < elements; i++)
		w->in[i] = (int32_t)(i * 7 + member * 1000 + salt);
}

static int32_t expected(const struct rig *r, size_t i, unsigned salt)
{
	return (int32_t)(r->members * (i * 7 + salt) + 1000 * (r->members * (r->members - 1) / 2));
}

static void work_make(struct work *w, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		w[i].in = calloc(ELEMENTS, sizeof(int32_t));
		w[i].out = calloc(ELEMENTS, sizeof(int32_t));
		assert_true(w[i].in && w[i].out);
	}
}

static void work_free(struct work *w, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		free(w[i].in);
		free(w[i].out);
	}
}

static void sum_start(struct rig *r, struct work *w, unsigned member, size_t elements)
{
	w->call = (struct inc_operation){.collective = INC_ALLREDUCE,
					 .op = DXP_INC_SUM,
					 .type = DXP_INC_INT32,
					 .send = w->in,
					 .receive = w->out,
					 .elements = elements};
	assert_int_equal(inc_group_start(r->hosts[member].group, &w->call, r->now_ns), DXP_OK);
}

static void sum_check(const struct rig *r, const struct work *w, size_t elements, unsigned salt)
{
	assert_true(w->call.done);
	assert_int_equal(w->call.status, DXP_OK);
	assert_int_equal(w->call.done_elements, elements);
	for (size_t i = 0; i < elements; i++)
		assert_int_equal(w->out[i], expected(r, i, salt));
}

/* Long, short, longer; without waiting in between. */
static void three_calls(struct rig *r)
{
	static const size_t sizes[3] = {1100, 5, ELEMENTS};
	struct work w[3 * RIG_MEMBERS];

	work_make(w, 3 * r->members);
	for (unsigned c = 0; c < 3; c++)
		for (unsigned i = 0; i < r->members; i++) {
			fill(&w[c * r->members + i], i, sizes[c], c);
			sum_start(r, &w[c * r->members + i], i, sizes[c]);
		}
	uint64_t b0 = r->now_ns;
	for (unsigned z = 0; z < 3000; z++) {
		bool all = true;
		rig_run(r, 10 * MS_NS);
		for (unsigned i = 0; i < 3 * r->members; i++)
			all &= w[i].call.done;
		if (all)
			break;
	}
	if (getenv("V"))
		print_message("%lu ms\n", (unsigned long)((r->now_ns - b0) / MS_NS));
	for (unsigned c = 0; c < 3; c++)
		for (unsigned i = 0; i < r->members; i++)
			sum_check(r, &w[c * r->members + i], sizes[c], c);
	work_free(w, 3 * r->members);
}

static void group__operations_complete_right(void **state)
{
	struct rig r;
	struct dxp_inc_group_view v;

	rig_open(&r, 4, two_leaves, 3, one_root);
	rig_ready(&r);
	uint64_t before = r.count;
	three_calls(&r);
	inc_group_view(r.hosts[2].group, &v);
	assert_int_equal(v.calls, 3);
	assert_int_equal(v.segments_sent, 4 + 1 + 6);
	assert_int_equal(v.segments_repeated, 0);
	/* 4 contributions, 2 partial results, 2 results to leaves, 4 to members */
	assert_int_equal(r.count - before, 11 * 12);
	rig_close(&r);
}

static void group__one_member_alone(void **state)
{
	struct rig r;

	rig_open(&r, 1, NULL, 1, NULL);
	rig_ready(&r);
	three_calls(&r);
	rig_close(&r);
}

static void group__rc_framing_works(void **state)
{
	struct rig r;

	rig_open(&r, 3, NULL, 1, NULL);
	r.framing = DXP_INC_RC;
	rig_ready(&r);
	three_calls(&r);
	rig_close(&r);
}

static unsigned drop_one(struct rig *r, const struct rig_packet *p)
{
	return r->count == r->drop ? 0 : 1;
}

static void group__each_packet_lost_once(void **state)
{
	for (uint64_t k = 1; k <= 11 * 12; k++) {
		struct rig r;
		rig_open(&r, 4, two_leaves, 3, one_root);
		rig_ready(&r);
		r.drop = r.count + k;
		r.hook = drop_one;
		three_calls(&r);
		assert_true(!inc_group_lost(r.hosts[0].group));
		rig_close(&r);
	}
}

static unsigned twice(struct rig *r, const struct rig_packet *p)
{
	return 2;
}

static void group__everything_comes_twice(void **state)
{
	struct rig r;
	struct dxp_inc_group_view v;

	rig_open(&r, 4, two_leaves, 3, one_root);
	r.hook = twice;
	rig_ready(&r);
	three_calls(&r);
	inc_group_view(r.hosts[1].group, &v);
	assert_true(v.duplicates > 0);
	rig_close(&r);
}

static unsigned lossy(struct rig *r, const struct rig_packet *p)
{
	return rng_chance_ppm(&r->rng, 100000) ? 0 : rng_chance_ppm(&r->rng, 50000) ? 2 : 1;
}

static void group__a_tenth_is_lost(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct rig r;
		rig_open(&r, 4, two_leaves, 3, one_root);
		rig_ready(&r);
		r.hook = lossy;
		r.rng.state = seed;
		for (unsigned i = 0; i < 5; i++)
			three_calls(&r);
		rig_close(&r);
	}
}

static void group__numbers_wrap(void **state)
{
	struct rig r;

	rig_open(&r, 2, NULL, 1, NULL);
	rig_ready(&r);
	for (unsigned i = 0; i < 2; i++)
		inc_group_number(r.hosts[i].group, 0xfffffffeu);
	three_calls(&r);
	three_calls(&r);
	rig_close(&r);
}

static void group__in_place(void **state)
{
	struct rig r;
	struct work w[2];

	rig_open(&r, 2, NULL, 1, NULL);
	rig_ready(&r);
	work_make(w, 2);
	for (unsigned i = 0; i < 2; i++) {
		fill(&w[i], i, ELEMENTS, 3);
		memcpy(w[i].out, w[i].in, ELEMENTS * sizeof(int32_t));
		w[i].call = (struct inc_operation){.collective = INC_ALLREDUCE,
						   .op = DXP_INC_SUM,
						   .type = DXP_INC_INT32,
						   .send = i ? w[i].out : NULL,
						   .receive = w[i].out,
						   .elements = ELEMENTS};
		assert_int_equal(inc_group_start(r.hosts[i].group, &w[i].call, r.now_ns), DXP_OK);
	}
	r.drop = r.count + 3;
	r.hook = drop_one;
	rig_run(&r, 900 * MS_NS);
	for (unsigned i = 0; i < 2; i++)
		sum_check(&r, &w[i], ELEMENTS, 3);
	work_free(w, 2);
	rig_close(&r);
}

static void group__broadcast_reduce_barrier(void **state)
{
	struct rig r;
	struct work w[4];
	struct inc_operation barriers[4];

	rig_open(&r, 4, two_leaves, 3, one_root);
	rig_ready(&r);
	work_make(w, 4);
	for (unsigned i = 0; i < 4; i++) {
		fill(&w[i], i, 1500, 0);
		w[i].call = (struct inc_operation){.collective = INC_BROADCAST,
						   .root = 2,
						   .send = i == 2 ? w[i].in : NULL,
						   .receive = i == 2 ? NULL : w[i].out,
						   .elements = 1501};
		assert_int_equal(inc_group_start(r.hosts[i].group, &w[i].call, r.now_ns), DXP_OK);
		barriers[i] = (struct inc_operation){.collective = INC_BARRIER};
		if (i > 0)
			inc_group_start(r.hosts[i].group, &barriers[i], r.now_ns);
	}
	rig_run(&r, 100 * MS_NS);
	for (unsigned i = 0; i < 4; i++) {
		assert_true(w[i].call.done && w[i].call.status == DXP_OK);
		assert_true(i == 2 || memcmp(w[i].out, w[2].in, 1501) == 0);
		assert_false(i > 0 && barriers[i].done);
		fill(&w[i], i, 10, 0);
		memset(w[i].out, 0, 40);
		w[i].call = (struct inc_operation){.collective = INC_REDUCE,
						   .op = DXP_INC_SUM,
						   .type = DXP_INC_INT32,
						   .root = 1,
						   .send = w[i].in,
						   .receive = i == 1 ? w[i].out : NULL,
						   .elements = 10};
	}
	inc_group_start(r.hosts[0].group, &barriers[0], r.now_ns);
	for (unsigned i = 0; i < 4; i++)
		inc_group_start(r.hosts[i].group, &w[i].call, r.now_ns);
	rig_run(&r, 100 * MS_NS);
	for (unsigned i = 0; i < 4; i++)
		assert_true(barriers[i].done && barriers[i].status == DXP_OK);
	sum_check(&r, &w[1], 10, 0);
	work_free(w, 4);
	rig_close(&r);
}

static void group__what_it_rejects(void **state)
{
	struct rig r;
	int32_t data[4] = {0};
	struct inc_operation c = {.collective = INC_ALLREDUCE,
				  .op = DXP_INC_BAND,
				  .type = DXP_INC_FLOAT,
				  .receive = data,
				  .elements = 4};

	rig_open(&r, 1, NULL, 1, NULL);
	rig_ready(&r);
	assert_int_equal(inc_group_start(r.hosts[0].group, &c, r.now_ns), DXP_EINVAL);
	c.op = DXP_INC_SUM;
	c.elements = (size_t)UINT32_MAX + 1;
	assert_int_equal(inc_group_start(r.hosts[0].group, &c, r.now_ns), DXP_EUNSUPPORTED);
	c.elements = 4;
	c.root = 1;
	assert_int_equal(inc_group_start(r.hosts[0].group, &c, r.now_ns), DXP_EINVAL);
	c.root = 0;
	c.elements = 0;
	assert_int_equal(inc_group_start(r.hosts[0].group, &c, r.now_ns), DXP_OK);
	assert_true(c.done && c.status == DXP_OK);
	rig_close(&r);
}

/* A member that computes for 20 s is not lost. */
static void group__a_late_member_is_awaited(void **state)
{
	struct rig r;
	struct work w[3];

	rig_open(&r, 3, NULL, 1, NULL);
	rig_ready(&r);
	work_make(w, 3);
	for (unsigned i = 0; i < 3; i++)
		fill(&w[i], i, 20, 1);
	sum_start(&r, &w[0], 0, 20);
	sum_start(&r, &w[1], 1, 20);
	rig_run(&r, 20 * S_NS);
	assert_false(inc_group_lost(r.hosts[0].group));
	sum_start(&r, &w[2], 2, 20);
	rig_run(&r, S_NS);
	for (unsigned i = 0; i < 3; i++)
		sum_check(&r, &w[i], 20, 1);
	work_free(w, 3);
	rig_close(&r);
}

static void group__idle_for_an_hour(void **state)
{
	struct rig r;

	rig_open(&r, 4, two_leaves, 3, one_root);
	rig_ready(&r);
	rig_run(&r, 3600 * S_NS);
	three_calls(&r);
	rig_close(&r);
}

static void unknown_peer(struct rig *r, uint32_t from_ip, uint32_t qkey, uint16_t epoch)
{
	int32_t wrong = 4711;
	struct roce_path path = {from_ip, rig_host_ip(0), ROCE_SOURCE_PORT, ROCE_PORT};
	struct inc_packet p = {.roce = {.opcode = ROCE_UD_SEND_ONLY, .qkey = qkey},
			       .header = {.comm_id = RIG_GROUP,
					  .epoch = epoch,
					  .op = DXP_INC_SUM,
					  .type = DXP_INC_INT32,
					  .call_elements = 1,
					  .elements = 1,
					  .kind = INC_DATA,
					  .flags = INC_FLAG_RESULT | INC_FLAG_SHORT,
					  .collective = INC_ALLREDUCE},
			       .payload = (uint8_t *)&wrong,
			       .payload_bytes = 4};

	inc_group_receive(r->hosts[0].group, &p, &path, r->now_ns);
	p.header.kind = INC_FREEZE;
	p.header.src_rank = 1;
	inc_group_receive(r->hosts[0].group, &p, &path, r->now_ns);
	p.header.src_rank = 4000000000u;
	inc_group_receive(r->hosts[0].group, &p, &path, r->now_ns);
}

static void group__unknown_peers_are_ignored(void **state)
{
	struct rig r;
	struct work w[2];
	struct dxp_inc_group_view v;

	rig_open(&r, 2, NULL, 1, NULL);
	rig_ready(&r);
	work_make(w, 2);
	for (unsigned i = 0; i < 2; i++)
		fill(&w[i], i, 1, 0);
	sum_start(&r, &w[0], 0, 1);
	rig_run(&r, MS_NS);
	unknown_peer(&r, 0x0a0000ff, 0xbeef, 7);
	unknown_peer(&r, rig_switch_ip(0), 0xbeee, 7);
	unknown_peer(&r, rig_switch_ip(0), 0xbeef, 8);
	assert_false(w[0].call.done);
	inc_group_view(r.hosts[0].group, &v);
	assert_int_equal(v.refused, 9);
	assert_false(v.lost);
	sum_start(&r, &w[1], 1, 1);
	rig_run(&r, MS_NS);
	sum_check(&r, &w[0], 1, 0);
	work_free(w, 2);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(group__operations_complete_right),
		cmocka_unit_test(group__one_member_alone),
		cmocka_unit_test(group__rc_framing_works),
		cmocka_unit_test(group__each_packet_lost_once),
		cmocka_unit_test(group__everything_comes_twice),
		cmocka_unit_test(group__a_tenth_is_lost),
		cmocka_unit_test(group__numbers_wrap),
		cmocka_unit_test(group__in_place),
		cmocka_unit_test(group__broadcast_reduce_barrier),
		cmocka_unit_test(group__what_it_rejects),
		cmocka_unit_test(group__a_late_member_is_awaited),
		cmocka_unit_test(group__idle_for_an_hour),
		cmocka_unit_test(group__unknown_peers_are_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
