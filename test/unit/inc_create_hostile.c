/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the creation of a group with control packets that know the group's key, but have values out
 * of range, another format, or another sender. */
#include "inc/limits.h"
#include "test/unit/inc_rig.h"

#define OUTSIDER 0x0b000001u

struct change {
	const char *what;
	void (*make)(struct inc_header *h, struct inc_control *n, struct roce_path *path);
};

#define CHANGE(name, statements)                                                    \
	static void name(UNUSED struct inc_header *h, UNUSED struct inc_control *n, \
			 UNUSED struct roce_path *path)                             \
	{                                                                           \
		statements                                                          \
	}

CHANGE(window_zero, n->window = 0;)
CHANGE(window_odd, n->window = 3;)
CHANGE(window_large, n->window = 2048;)
CHANGE(window_largest, n->window = 0x8000;)
CHANGE(segment_short, n->segment_bytes = 240;)
CHANGE(segment_long, n->segment_bytes = 1424;)
CHANGE(segment_longest, n->segment_bytes = 0xfff0;)
CHANGE(ops_more, n->sup_op |= 1u << 31;)
CHANGE(types_more, n->sup_type |= 1u << 31;)
CHANGE(planes_none, n->planes = 0;)
CHANGE(planes_kernel, n->planes |= INC_PLANE_KERNEL;)
CHANGE(planes_more, n->planes |= 0x80;)
CHANGE(lease_zero, n->lease_ms = 0;)
CHANGE(members_more, n->members = 3;)
CHANGE(path_none, n->path_count = 0;)
CHANGE(path_elsewhere, n->path[0].ip = rig_switch_ip(3);)
CHANGE(path_zero, n->path[0].ip = 0;)
CHANGE(path_zero_above, n->path[n->path_count++].ip = 0;)
CHANGE(path_twice, n->path[n->path_count++] = n->path[0];)
CHANGE(rank_other, h->src_rank = 0;)
CHANGE(rank_none, h->src_rank = 77;)
CHANGE(status_other, h->status = 3;)
CHANGE(epoch_other, h->epoch++;)
CHANGE(key_other, n->qkey++;)
CHANGE(member_ip_other, n->member_ip++;)
CHANGE(member_port_other, n->member_port++;)
CHANGE(from_outsider, path->from_ip = OUTSIDER;)
CHANGE(from_port_other, path->from_port = ROCE_SOURCE_PORT + 9;)
CHANGE(format_other, h->flags = INC_FLAG_COMPAT; n->true_comm_id = 5; n->window = 1;)
#define ROW(name)           \
	{                   \
#name, name \
	}

static void give(struct rig *r, unsigned member, const struct inc_header *h,
		 const struct inc_control *n, const struct roce_path *path)
{
	uint8_t payload[INC_CONTROL_BYTES_MAX];
	const struct inc_packet p = {
		.roce = {.opcode = ROCE_UD_SEND_ONLY, .qkey = INC_CONTROL_QKEY},
		.header = *h,
		.payload = payload,
		.payload_bytes = inc_packet_control_encode(h, n, payload)};

	inc_create_receive(r->hosts[member].create, &p, path, r->now_ns);
}

/* A valid packet of the only switch about member `about`, to member `to`. */
static void make(const struct rig *r, enum inc_kind kind, unsigned about, unsigned to,
		 struct inc_header *h, struct inc_control *n, struct roce_path *path)
{
	*h = (struct inc_header){
		.src_rank = about, .comm_id = INC_COMM_CONTROL, .epoch = 7, .kind = (uint8_t)kind};
	*n = (struct inc_control){.sup_comm_type = 0x1e,
				  .sup_op = (1u << DXP_INC_OPS) - 2,
				  .sup_type = (1u << DXP_INC_TYPES) - 1,
				  .segment_bytes = 1408,
				  .window = 8,
				  .planes = INC_PLANE_USER,
				  .members = r->members,
				  .true_comm_id = 5,
				  .qkey = r->qkey,
				  .free_groups = 4,
				  .lease_ms = 30000,
				  .member_ip = rig_host_ip(about),
				  .member_port = ROCE_SOURCE_PORT,
				  .first_ip = rig_host_ip(0),
				  .first_port = ROCE_SOURCE_PORT,
				  .hop = 1,
				  .path_count = 1,
				  .path = {{.ip = rig_switch_ip(0), .children = 2}}};
	*path = (struct roce_path){rig_switch_ip(0), rig_host_ip(to), ROCE_PORT, ROCE_SOURCE_PORT};
}

/* Opens a rig whose switch is silent, and begins to create a group. */
static void open(struct rig *r)
{
	rig_open(r, 2, NULL, 1, NULL);
	switch_destroy(r->sw[0]);
	r->sw[0] = NULL;
	rig_create_begin(r, 5);
}

static int status_of(const struct rig *r, unsigned member)
{
	struct inc_control n;
	uint32_t silent;

	return inc_create_outcome(r->hosts[member].create, &n, &silent);
}

static void create__hostile_notices(void **state)
{
	static const struct change changes[] = {
		ROW(window_zero),     ROW(window_odd),    ROW(window_large),
		ROW(window_largest),  ROW(segment_short), ROW(segment_long),
		ROW(segment_longest), ROW(ops_more),      ROW(types_more),
		ROW(planes_none),     ROW(planes_kernel), ROW(planes_more),
		ROW(lease_zero),      ROW(members_more),  ROW(path_none),
		ROW(path_elsewhere),  ROW(path_zero),     ROW(path_zero_above),
		ROW(path_twice),      ROW(rank_other),    ROW(rank_none),
		ROW(status_other),    ROW(epoch_other),   ROW(key_other),
		ROW(member_ip_other), ROW(from_outsider), ROW(member_port_other),
		ROW(format_other),
	};
	struct inc_header h;
	struct inc_control n;
	struct roce_path path;
	struct rig r;

	open(&r);
	for (size_t i = 0; i < ARRAY_COUNT(changes); i++) {
		make(&r, INC_NOTIFY, 1, 1, &h, &n, &path);
		changes[i].make(&h, &n, &path);
		give(&r, 1, &h, &n, &path);
		if (status_of(&r, 1) != DXP_EAGAIN)
			fail_msg("%s is accepted", changes[i].what);
	}
	make(&r, INC_NOTIFY, 1, 1, &h, &n, &path);
	give(&r, 1, &h, &n, &path);
	assert_int_equal(status_of(&r, 1), DXP_OK);
	rig_close(&r);
}

/* Drops all packets, and counts NOTIFYs. */
static unsigned notices_count(struct rig *r, const struct rig_packet *p)
{
	struct inc_packet packet;

	assert_int_equal(inc_packet_decode(p->data, p->bytes, &packet), DXP_OK);
	r->drop += packet.header.kind == INC_NOTIFY;
	return 0;
}

static void create__hostile_queries(void **state)
{
	static const struct change changes[] = {
		ROW(window_large),    ROW(segment_long),  ROW(ops_more),
		ROW(types_more),      ROW(planes_kernel), ROW(planes_more),
		ROW(lease_zero),      ROW(members_more),  ROW(path_none),
		ROW(path_elsewhere),  ROW(path_zero),     ROW(path_zero_above),
		ROW(path_twice),      ROW(rank_none),     ROW(epoch_other),
		ROW(key_other),       ROW(from_outsider), ROW(from_port_other),
		ROW(member_ip_other), ROW(format_other),
	};
	struct inc_header h;
	struct inc_control n;
	struct roce_path path;

	for (size_t i = 0; i <= ARRAY_COUNT(changes); i++) {
		struct rig r;
		open(&r);
		r.hook = notices_count;
		make(&r, INC_QUERY, 0, 0, &h, &n, &path);
		give(&r, 0, &h, &n, &path);
		make(&r, INC_QUERY, 1, 0, &h, &n, &path);
		if (i < ARRAY_COUNT(changes))
			changes[i].make(&h, &n, &path);
		give(&r, 0, &h, &n, &path);
		rig_run(&r, INC_CHOICE_MAX_NS);
		if ((r.drop == 0) != (i < ARRAY_COUNT(changes)))
			fail_msg("query %zu: %llu NOTIFYs", i, (unsigned long long)r.drop);
		rig_close(&r);
	}
}

/* Only the switch that rejects a group can report this to member 0. */
static void create__hostile_rejections(void **state)
{
	struct inc_header h;
	struct inc_control n;
	struct roce_path path;
	struct rig r;

	open(&r);
	r.hook = notices_count;
	for (unsigned m = 0; m < 2; m++) {
		make(&r, INC_QUERY, m, 0, &h, &n, &path);
		give(&r, 0, &h, &n, &path);
	}
	rig_run(&r, INC_CHOICE_MAX_NS);
	assert_true(r.drop > 0);
	make(&r, INC_NOTIFIED, 1, 0, &h, &n, &path);
	n.fail_cause = INC_CAUSE_GROUPS;
	n.cause_ip = rig_switch_ip(0);
	path.from_ip = OUTSIDER;
	give(&r, 0, &h, &n, &path);
	assert_int_equal(status_of(&r, 0), DXP_EAGAIN);
	path.from_ip = rig_switch_ip(0);
	give(&r, 0, &h, &n, &path);
	assert_int_equal(status_of(&r, 0), DXP_EBUSY);
	rig_close(&r);
}

/* In the compatible format, a path has at most three switches. */
static void create__long_path_in_the_compatible_format(void **state)
{
	struct inc_header h;
	struct inc_control n;
	struct roce_path path;
	struct rig r;

	rig_open(&r, 2, NULL, 1, NULL);
	switch_destroy(r.sw[0]);
	r.sw[0] = NULL;
	r.framing = DXP_INC_COMPAT;
	r.segment_bytes = 256;
	rig_create_begin(&r, 5);
	r.hook = notices_count;
	for (unsigned m = 0; m < 2; m++) {
		make(&r, INC_QUERY, m, 0, &h, &n, &path);
		n.window = 1;
		n.segment_bytes = 256;
		n.sup_op &= UINT16_MAX;
		n.sup_type &= UINT16_MAX;
		for (unsigned i = 1; i < INC_PATH_MAX; i++)
			n.path[i].ip = m == 0 ? rig_switch_ip(10 + i) : rig_switch_ip(20 + i);
		n.path_count = INC_PATH_MAX;
		n.path[INC_PATH_MAX - 1].ip = path.from_ip = rig_switch_ip(7);
		n.path[0].ip = rig_switch_ip(0);
		give(&r, 0, &h, &n, &path);
	}
	rig_run(&r, INC_CHOICE_MAX_NS);
	assert_int_equal(r.drop, 0);
	rig_close(&r);
}

/* However short a lease is, renewals are not a flood. */
static void create__shortest_lease(void **state)
{
	struct inc_header h;
	struct inc_control n;
	struct roce_path path;
	struct rig r;

	open(&r);
	make(&r, INC_NOTIFY, 1, 1, &h, &n, &path);
	n.lease_ms = 1;
	rig_group(&r, 1, &n);
	assert_true(inc_group_deadline(r.hosts[1].group) >= r.now_ns + INC_RENEW_MIN_NS);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(create__hostile_notices),
		cmocka_unit_test(create__hostile_queries),
		cmocka_unit_test(create__hostile_rejections),
		cmocka_unit_test(create__long_path_in_the_compatible_format),
		cmocka_unit_test(create__shortest_lease),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
