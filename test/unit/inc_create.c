/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the creation of groups: choice of the tree, loss, causes of failure. */
#include "inc/limits.h"
#include "test/unit/inc_rig.h"

/* Masks of the switches above each: spines 2 and 3 above leaves 0 and 1. */
static const uint8_t two_spines[4] = {0x0c, 0x0c, 0, 0};
static const uint8_t halves[4] = {0, 0, 1, 1};
static const uint8_t chain[4] = {0x02, 0x04, 0x08, 0}; /* from 0 at the bottom to 3 */
static const uint8_t chain_leaves[4] = {0, 1, 0, 2};

static int outcome(struct rig *r, unsigned member, struct inc_control *n, uint32_t *silent)
{
	uint64_t end_ns = r->now_ns + 2 * S_NS;
	bool more = true;

	while (more && inc_create_outcome(r->hosts[member].create, n, silent) == DXP_EAGAIN)
		more = rig_step(r, end_ns);
	return inc_create_outcome(r->hosts[member].create, n, silent);
}

static void creates_end(struct rig *r)
{
	for (unsigned i = 0; i < r->members; i++) {
		inc_create_end(r->hosts[i].create);
		r->hosts[i].create = NULL;
	}
}

static unsigned groups_of(struct rig *r, unsigned s)
{
	struct inc_answer a;

	switch_answer(r->sw[s], &(struct inc_inquiry){.section = INC_SECTION_SWITCH}, r->now_ns,
		      &a);
	return a.self.groups;
}

static void kill(struct rig *r)
{
	uint32_t next = 0;
	size_t n = 1;

	while (n > 0) {
		struct inc_batch b = rig_batch(r);
		n = inc_create_kill(r->hosts[0].create, &next, &b);
		rig_put(r, rig_host_ip(0), &b);
	}
	rig_settle(r);
}

static void create__one_leaf_needs_no_spine(void **state)
{
	struct rig r;
	struct inc_control n;
	uint32_t silent;

	rig_open(&r, 4, NULL, 4, two_spines);
	rig_create_begin(&r, 99);
	assert_int_equal(outcome(&r, 0, &n, &silent), DXP_OK);
	assert_int_equal(n.path_count, 1);
	assert_int_equal(n.path[0].ip, rig_switch_ip(0));
	assert_int_equal(n.path[0].children, 4);
	assert_int_equal(inc_create_above(r.hosts[0].create), 1);
	assert_int_equal(groups_of(&r, 0), 1);
	assert_int_equal(groups_of(&r, 2) + groups_of(&r, 3), 0);
	kill(&r);
	assert_int_equal(groups_of(&r, 0), 0);
	rig_close(&r);
}

/* The wait for QUERYs of other paths depends on the speed of the first: here below INC_CHOICE_NS /
 * 2. */
static void create__soon_on_a_fast_network(void **state)
{
	struct rig r;
	struct inc_control n;
	uint32_t silent;

	rig_open(&r, 4, halves, 4, two_spines);
	rig_create_begin(&r, 99);
	rig_run(&r, INC_CHOICE_NS / 2);
	assert_int_equal(inc_create_outcome(r.hosts[0].create, &n, &silent), DXP_OK);
	rig_close(&r);
}

static void create__the_emptier_spine(void **state)
{
	struct rig r;
	struct inc_control n;
	uint32_t silent;

	rig_open(&r, 4, halves, 4, two_spines);
	rig_create_begin(&r, 1);
	assert_int_equal(outcome(&r, 0, &n, &silent), DXP_OK);
	assert_int_equal(n.path_count, 2);
	/* at equal load, the lower index */
	assert_int_equal(n.path[1].ip, rig_switch_ip(2));
	creates_end(&r);
	rig_create_begin(&r, 2);
	assert_int_equal(outcome(&r, 0, &n, &silent), DXP_OK);
	assert_int_equal(groups_of(&r, 0), 2);
	assert_int_equal(groups_of(&r, 2), 1);
	assert_int_equal(groups_of(&r, 3), 1);
	kill(&r);
	assert_int_equal(groups_of(&r, 0), 1);
	assert_int_equal(groups_of(&r, 3), 0);
	rig_close(&r);
}

/* The members' leaf switches have different heights in one chain of switches. The group's root is
 * switch 2, the lowest switch above all members. */
static void create__uneven_heights(void **state)
{
	struct rig r;
	struct inc_control n;
	uint32_t silent;

	rig_open(&r, 4, chain_leaves, 4, chain);
	rig_create_begin(&r, 5);
	assert_int_equal(outcome(&r, 0, &n, &silent), DXP_OK);
	assert_int_equal(n.path_count, 3);
	assert_int_equal(outcome(&r, 1, &n, &silent), DXP_OK);
	assert_int_equal(n.path_count, 2);
	assert_int_equal(n.path[0].ip, rig_switch_ip(1));
	/* switch 0, with members 0 and 2, and member 1 */
	assert_int_equal(n.path[0].children, 2);
	assert_int_equal(n.path[0].index, 1);
	assert_int_equal(outcome(&r, 3, &n, &silent), DXP_OK);
	assert_int_equal(n.path_count, 1);
	assert_int_equal(groups_of(&r, 3), 0);
	rig_close(&r);
}

static unsigned drop_one(struct rig *r, const struct rig_packet *p)
{
	return r->count == r->drop ? 0 : 1;
}

static void create__each_packet_lost_once(void **state)
{
	uint64_t packets = 1;

	for (uint64_t k = 0; k <= packets; k++) {
		struct rig r;
		struct inc_control n;
		uint32_t silent;

		rig_open(&r, 4, halves, 4, two_spines);
		r.drop = k;
		r.hook = drop_one;
		rig_create_begin(&r, 1);
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(outcome(&r, i, &n, &silent), DXP_OK);
		packets = k == 0 ? r.count : packets;
		rig_close(&r);
	}
	assert_in_range(packets, 30, 100);
}

static unsigned lossy(struct rig *r, const struct rig_packet *p)
{
	return rng_chance_ppm(&r->rng, 200000) ? 0 : rng_chance_ppm(&r->rng, 100000) ? 2 : 1;
}

/* A creation may time out, but if it succeeds at member 0, it succeeds at all. */
static void create__a_fifth_is_lost(void **state)
{
	unsigned good = 0;

	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct rig r;
		struct inc_control n;
		uint32_t silent;

		rig_open(&r, 4, halves, 4, two_spines);
		r.hook = lossy;
		r.rng.state = seed;
		rig_create_begin(&r, 1);
		if (outcome(&r, 0, &n, &silent) == DXP_OK) {
			good++;
			for (unsigned i = 1; i < 4; i++)
				assert_int_equal(inc_create_outcome(r.hosts[i].create, &n, &silent),
						 DXP_OK);
		}
		rig_close(&r);
	}
	assert_in_range(good, 30, 50);
}

static void create__no_common_switch(void **state)
{
	struct rig r;
	struct inc_control n;
	uint32_t silent;

	rig_open(&r, 2, (const uint8_t[]){0, 1}, 2, NULL);
	rig_create_begin(&r, 1);
	uint64_t begin_ns = r.now_ns;
	assert_int_equal(outcome(&r, 0, &n, &silent), DXP_EUNSUPPORTED);
	assert_int_equal(outcome(&r, 1, &n, &silent), DXP_EUNSUPPORTED);
	assert_in_range(r.now_ns - begin_ns, 1, 600 * MS_NS);
	rig_close(&r);
}

static void create__silent_switch(void **state)
{
	struct rig r;
	struct inc_control n;
	uint32_t silent;

	rig_open(&r, 4, halves, 4, two_spines);
	switch_destroy(r.sw[1]);
	r.sw[1] = NULL;
	rig_create_begin(&r, 1);
	assert_int_equal(outcome(&r, 0, &n, &silent), DXP_ENOENT);
	assert_int_equal(silent, 2);
	assert_int_equal(outcome(&r, 3, &n, &silent), DXP_ENOENT);
	rig_close(&r);
}

static void create__full_and_drained(void **state)
{
	struct rig r;
	struct inc_control n;
	uint32_t silent;

	rig_open(&r, 4, halves, 4, two_spines);
	switch_emit(r.sw[2], true);
	rig_create_begin(&r, 1);
	assert_int_equal(outcome(&r, 0, &n, &silent), DXP_OK);
	assert_int_equal(n.path[1].ip, rig_switch_ip(3)); /* spine 2 is drained */
	creates_end(&r);
	switch_emit(r.sw[3], true);
	rig_create_begin(&r, 2);
	assert_int_equal(outcome(&r, 0, &n, &silent), DXP_EBUSY);
	assert_int_equal(n.fail_cause, INC_CAUSE_DRAINED);
	assert_true(n.cause_ip == rig_switch_ip(2) || n.cause_ip == rig_switch_ip(3));
	assert_int_equal(outcome(&r, 2, &n, &silent), DXP_EBUSY);
	assert_int_equal(n.fail_cause, INC_CAUSE_DRAINED);
	rig_close(&r);
}

/* Another job uses the id. */
static void create__id_in_use(void **state)
{
	struct rig r;
	struct inc_control n;
	uint32_t silent;
	struct inc_create *first[2];

	rig_open(&r, 2, NULL, 1, NULL);
	rig_create_begin(&r, 7);
	assert_int_equal(outcome(&r, 0, &n, &silent), DXP_OK);
	for (unsigned i = 0; i < 2; i++) {
		first[i] = r.hosts[i].create;
		r.hosts[i].create = NULL;
	}
	r.qkey = 0xbad;
	rig_create_begin(&r, 7);
	assert_int_equal(outcome(&r, 0, &n, &silent), DXP_EEXIST);
	assert_int_equal(n.fail_cause, INC_CAUSE_ID);
	assert_int_equal(groups_of(&r, 0), 1);
	for (unsigned i = 0; i < 2; i++)
		inc_create_end(first[i]);
	rig_close(&r);
}

/* The switch reports the wrong source of a replayed QUERY, but member 0 keeps the answer to the
 * true one. */
static void create__replayed_query(void **state)
{
	struct rig r;
	struct inc_control n, q;
	uint32_t silent;
	uint8_t payload[INC_CONTROL_BYTES_MAX];
	struct roce_path path = {rig_switch_ip(0), rig_host_ip(0), ROCE_PORT, ROCE_SOURCE_PORT};
	struct inc_packet p = {.header = {.comm_id = INC_COMM_CONTROL,
					  .epoch = 7,
					  .src_rank = 1,
					  .kind = INC_QUERY},
			       .payload = payload};

	rig_open(&r, 2, NULL, 1, NULL);
	rig_create_begin(&r, 99);
	rig_run(&r, MS_NS);
	q = (struct inc_control){.path_count = 1,
				 .fail_cause = INC_CAUSE_ADDRESS,
				 .cause_ip = rig_switch_ip(0),
				 .true_comm_id = 99,
				 .qkey = r.qkey,
				 .member_ip = rig_host_ip(1),
				 .member_port = ROCE_SOURCE_PORT,
				 .path = {{.ip = rig_switch_ip(0)}}};
	p.payload_bytes = inc_control_encode(&q, payload);
	uint64_t end_ns = r.now_ns + S_NS;
	do {
		inc_create_receive(r.hosts[0].create, &p, &path, r.now_ns);
	} while (inc_create_outcome(r.hosts[0].create, &n, &silent) == DXP_EAGAIN &&
		 rig_step(&r, end_ns));
	assert_int_equal(inc_create_outcome(r.hosts[0].create, &n, &silent), DXP_OK);
	rig_close(&r);
}

/* Loses the first QUERY of member r->drop through spine 2, the spine of lower index. */
static unsigned first_way_lost(struct rig *r, const struct rig_packet *p)
{
	struct inc_packet packet;

	if (p->path.to_ip != rig_switch_ip(2) ||
	    inc_packet_decode(p->data, p->bytes, &packet) != DXP_OK ||
	    packet.header.kind != INC_QUERY || packet.header.src_rank != r->drop)
		return 1;
	r->drop = UINT64_MAX;
	return 0;
}

static void create__losses_do_not_choose_the_tree(void **state)
{
	for (unsigned member = 0; member < 4; member++) {
		struct rig r;
		struct inc_control n;
		uint32_t silent;

		rig_open(&r, 4, halves, 4, two_spines);
		r.hook = first_way_lost;
		r.drop = member;
		rig_create_begin(&r, 99);
		assert_int_equal(outcome(&r, 0, &n, &silent), DXP_OK);
		assert_int_equal(r.drop, UINT64_MAX);
		assert_int_equal(n.path[1].ip, rig_switch_ip(2));
		rig_close(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(create__one_leaf_needs_no_spine),
		cmocka_unit_test(create__soon_on_a_fast_network),
		cmocka_unit_test(create__the_emptier_spine),
		cmocka_unit_test(create__uneven_heights),
		cmocka_unit_test(create__each_packet_lost_once),
		cmocka_unit_test(create__a_fifth_is_lost),
		cmocka_unit_test(create__no_common_switch),
		cmocka_unit_test(create__silent_switch),
		cmocka_unit_test(create__full_and_drained),
		cmocka_unit_test(create__replayed_query),
		cmocka_unit_test(create__losses_do_not_choose_the_tree),
		cmocka_unit_test(create__id_in_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
