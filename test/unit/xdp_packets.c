/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests which packets the XDP program handles; others pass unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/xdp_rig.h"

#include "base/rng.h"
#include "switch/limits.h"

/* A valid contribution. Its group has one member, so it gets an answer at once. */
static void good(struct xdp_frame *f)
{
	static uint32_t req_id;
	struct roce_path path = rig_path(0);
	struct inc_header h = rig_header(0, ++req_id, DXP_INC_SUM, DXP_INC_INT64, 1);
	int64_t value = 1;

	rig_frame(&h, &path, QKEY, &value, 8, f);
}

static void passes(struct rig *r, const struct xdp_frame *in)
{
	struct xdp_frame out;

	assert_int_equal(rig_run(r, in, &out), ACT_PASS);
	assert_int_equal(out.count, in->count);
	assert_memory_equal(out.bytes, in->bytes, in->count);
}

#define AT_IP  ETHERNET
#define AT_UDP (ETHERNET + IP)
#define AT_BTH (AT_UDP + UDP)
#define AT_INC (AT_BTH + ROCE_BTH_BYTES + ROCE_DETH_BYTES)

/* Each changed byte makes other traffic. */
static void xdp_packets__ordinary_traffic_passes(void **state)
{
	static const struct {
		uint32_t at;
		uint8_t value;
	} changes[] = {
		{12, 0x86},         /* EtherType */
		{13, 0x06},         /* ARP */
		{AT_IP, 0x46},      /* IP options */
		{AT_IP, 0x65},      /* IPv6 */
		{AT_IP + 6, 0x20},  /* more fragments */
		{AT_IP + 7, 0x01},  /* later fragment */
		{AT_IP + 9, 6},     /* TCP */
		{AT_UDP + 3, 0xb8}, /* port 4792 */
		{AT_BTH, 0x04},     /* BTH: RC */
		{AT_BTH, 0x65},     /* BTH: UD with immediate data */
		{AT_INC, 0x45},     /* no tag */
		/* to another host, bridged */
		{AT_IP + 19, 0x0a},
	};
	struct xdp_frame f;

	rig_group(*state, 1, 0);
	for (size_t i = 0; i < ARRAY_COUNT(changes); i++) {
		good(&f);
		f.bytes[changes[i].at] = changes[i].value;
		passes(*state, &f);
	}
	/* VLAN tag */
	good(&f);
	memmove(f.bytes + 16, f.bytes + 12, f.count - 12);
	put_be16(f.bytes + 12, 0x8100);
	put_be16(f.bytes + 14, 5);
	f.count += 4;
	passes(*state, &f);
}

static void xdp_packets__every_short_length_passes(void **state)
{
	struct xdp_frame f;

	rig_group(*state, 1, 0);
	good(&f);
	for (uint32_t n = f.count - 1; n >= ETHERNET; n--) {
		f.count = n;
		passes(*state, &f);
	}
}

static void xdp_packets__trailing_bytes_are_padding(void **state)
{
	struct xdp_frame f, out;

	rig_group(*state, 1, 0);
	good(&f);
	memset(f.bytes + f.count, 0x55, 9);
	f.count += 9;
	assert_int_equal(rig_run(*state, &f, &out), ACT_TX);
	assert_int_equal(out.count, f.count - 9);
}

static void counted(struct rig *r, enum kernel_counter which, const struct xdp_frame *f, int action)
{
	uint64_t before = rig_count(r, which);
	struct xdp_frame out;

	assert_int_equal(rig_run(r, f, &out), action);
	assert_int_equal(rig_count(r, which), before + 1);
}

/* Only bits that routers may change leave the answer. */
static void xdp_packets__every_bit_flipped(void **state)
{
	struct xdp_frame f, out;
	uint32_t answered = 0;

	good(&f);
	for (uint32_t bit = 0; bit < (f.count - ETHERNET) * 8; bit++) {
		uint32_t at = ETHERNET + bit / 8;
		bool free_to_change = at == AT_IP + 1 || at == AT_IP + 8 || at == AT_IP + 10 ||
				      at == AT_IP + 11 || at == AT_UDP + 6 || at == AT_UDP + 7 ||
				      at == AT_BTH + 4 || at == AT_IP + 4 || at == AT_IP + 5 ||
				      (at == AT_IP + 6 && bit % 8 == 6);

		rig_group(*state, 1, 0);
		f.bytes[at] ^= (uint8_t)(1u << bit % 8);
		if (rig_run(*state, &f, &out) == ACT_TX) {
			assert_true(free_to_change);
			answered++;
		}
		f.bytes[at] ^= (uint8_t)(1u << bit % 8);
	}
	assert_int_equal(answered, 10 * 8 - 7 + 0);
}

static void xdp_packets__bad_ones_are_counted(void **state)
{
	struct rig *r = *state;
	struct roce_path path = rig_path(0), unknown_peer = rig_path(1), port = rig_path(0);
	struct inc_header h = rig_header(0, 0, DXP_INC_SUM, DXP_INC_INT64, 1), bad;
	int64_t values[2] = {1, 2};
	struct xdp_frame f;

	rig_group(r, 1, 0);
	good(&f);
	f.bytes[f.count - 5] ^= 1;
	counted(r, KERNEL_ICRC_WRONG, &f, ACT_DROP);
	rig_frame(&h, &path, QKEY + 1, values, 8, &f);
	counted(r, KERNEL_REJECTED, &f, ACT_PASS);
	rig_frame(&h, &unknown_peer, QKEY, values, 8, &f);
	counted(r, KERNEL_REJECTED, &f, ACT_PASS);
	port.from_port++;
	rig_frame(&h, &port, QKEY, values, 8, &f);
	counted(r, KERNEL_REJECTED, &f, ACT_PASS);
	bad = h;
	bad.epoch++;
	rig_frame(&bad, &path, QKEY, values, 8, &f);
	counted(r, KERNEL_REJECTED, &f, ACT_PASS);
	bad = h;
	bad.src_rank = 1;
	rig_frame(&bad, &path, QKEY, values, 8, &f);
	counted(r, KERNEL_REJECTED, &f, ACT_PASS);
	bad = h;
	bad.flags |= INC_FLAG_SWITCH;
	rig_frame(&bad, &path, QKEY, values, 8, &f);
	counted(r, KERNEL_REJECTED, &f, ACT_PASS);
	rig_frame(&h, &path, QKEY, values, 16, &f);
	counted(r, KERNEL_MALFORMED, &f, ACT_PASS);
	/* status of a member */
	bad = h;
	bad.status = 5;
	rig_frame(&bad, &path, QKEY, values, 8, &f);
	counted(r, KERNEL_MALFORMED, &f, ACT_PASS);
	/* no such group */
	bad = h;
	bad.comm_id++;
	rig_frame(&bad, &path, QKEY, values, 8, &f);
	passes(r, &f);
}

static void xdp_packets__slow_calls_pass(void **state)
{
	static const uint8_t payload[512];
	struct roce_path path = rig_path(0);
	struct inc_header h;
	struct xdp_frame f;

	rig_group(*state, 1, 0);
	h = rig_header(0, 1, DXP_INC_PROD, DXP_INC_DOUBLE, 1);
	rig_frame(&h, &path, QKEY, payload, 8, &f);
	passes(*state, &f);
	h = rig_header(0, 1, DXP_INC_SUM, DXP_INC_FP16, 1);
	rig_frame(&h, &path, QKEY, payload, 2, &f);
	passes(*state, &f);
	h = rig_header(0, 1, DXP_INC_SUM, DXP_INC_DOUBLE, 33);
	rig_frame(&h, &path, QKEY, payload, 264, &f);
	passes(*state, &f);
	h = rig_header(0, 1, DXP_INC_SUM, DXP_INC_DOUBLE, 2);
	h.flags = 0;
	rig_frame(&h, &path, QKEY, payload, 16, &f);
	passes(*state, &f);
	h = rig_header(0, 1, DXP_INC_NOOP, DXP_INC_BYTES, 8);
	h.collective = INC_BROADCAST;
	rig_frame(&h, &path, QKEY, payload, 8, &f);
	passes(*state, &f);
}

/* Only control packets to this switch teach neighbours' MAC addresses. */
static void xdp_packets__neighbours(void **state)
{
	struct rig *r = *state;
	struct roce_path path = {0x0a000a01, SWITCH_IP, ROCE_SOURCE_PORT, ROCE_PORT};
	uint32_t ip_be = __builtin_bswap32(path.from_ip);
	struct inc_header h = {.comm_id = INC_COMM_CONTROL, .kind = INC_RENEW};
	static const uint8_t payload[INC_CONTROL_BYTES_MAX];
	struct kernel_neighbour n;
	struct xdp_frame f;

	path.to_ip++; /* to another host */
	rig_frame(&h, &path, INC_CONTROL_QKEY, payload, 72, &f);
	passes(r, &f);
	path.to_ip--;
	rig_frame(&h, &path, QKEY, payload, 72, &f);
	passes(r, &f);
	rig_frame(&h, &path, INC_CONTROL_QKEY, payload, 72, &f);
	f.bytes[f.count - 1] ^= 1; /* wrong ICRC */
	passes(r, &f);
	f.bytes[f.count - 1] ^= 1;
	f.bytes[6] |= 1; /* multicast sender */
	passes(r, &f);
	assert_int_not_equal(bpf_map_lookup_elem(r->plane.program.neighbours, &ip_be, &n), 0);
	rig_frame(&h, &path, INC_CONTROL_QKEY, payload, 72, &f);
	passes(r, &f);
	assert_int_equal(bpf_map_lookup_elem(r->plane.program.neighbours, &ip_be, &n), 0);
	assert_int_equal(n.ifindex, LOCAL_PORT);
	assert_memory_equal(n.own_mac, rig_switch_mac, 6);
	assert_memory_equal(n.mac, f.bytes + 6, 6);
}

/* Random bytes behind a valid start are passed or dropped, never answered. */
static void xdp_packets__random_bytes(void **state)
{
	struct rng rng = {99};
	struct xdp_frame f, out;

	rig_group(*state, 1, 0);
	for (int i = 0; i < 20000; i++) {
		uint32_t from = (uint32_t)rng_below(&rng, 80) + AT_INC + 4 - 40;
		int action;

		good(&f);
		for (uint32_t at = from; at < f.count; at++)
			if (rng_below(&rng, 4) == 0)
				f.bytes[at] = (uint8_t)rng_next(&rng);
		f.bytes[f.count - 1] ^= 1;
		f.count += (uint32_t)rng_below(&rng, 3);
		action = rig_run(*state, &f, &out);
		assert_true(action == ACT_PASS || action == ACT_DROP);
	}
}

static void xdp_packets__groups_rejected(void **state)
{
	struct rig *r = *state;
	struct sw_group_view view = {.id = 1,
				     .members = 1,
				     .planes = INC_PLANE_KERNEL,
				     .child_count = 1,
				     .children = r->children};

	rig_group(r, 1, 0);
	for (view.id = 1; view.id < SWITCH_KERNEL_GROUPS; view.id++)
		assert_true(plane_install(&r->plane, &view));
	assert_false(plane_install(&r->plane, &view));
	plane_remove_group(&r->plane, 1);
	assert_true(plane_install(&r->plane, &view));
	for (uint32_t id = 2; id <= SWITCH_KERNEL_GROUPS; id++)
		plane_remove_group(&r->plane, id);
	view.planes = INC_PLANE_USER;
	assert_false(plane_install(&r->plane, &view));
	view.planes = INC_PLANE_KERNEL;
	view.parent_ip = 0x01020304; /* MAC address unknown */
	assert_false(plane_install(&r->plane, &view));
	view.parent_ip = 0;
	r->children[0].ip = 0x01020304;
	assert_false(plane_install(&r->plane, &view));
}

/* An entry keeps its map of ports once it was free for long enough; a recently freed one gets
 * another. */
static void xdp_packets__places_rest(void **state)
{
	struct rig *r = *state;
	struct plane_groups *g = &r->plane.groups;
	struct sw_group_view view = {.id = 1,
				     .members = 1,
				     .planes = INC_PLANE_KERNEL,
				     .child_count = 1,
				     .children = r->children};

	rig_group(r, 1, 0);
	for (view.id = 1; view.id < SWITCH_KERNEL_GROUPS; view.id++)
		assert_true(plane_install(&r->plane, &view));
	g->next = 7;
	int map = g->at[7].ports;
	plane_remove_group(&r->plane, g->at[7].id);
	g->at[7].freed_ns -= PLANE_REST_NS;
	view.id = 1000;
	assert_true(plane_install(&r->plane, &view));
	assert_int_equal(g->at[7].id, 1000);
	assert_int_equal(g->at[7].ports, map);
	plane_remove_group(&r->plane, 1000);
	assert_true(plane_install(&r->plane, &view));
	assert_int_equal(g->at[7].id, 1000);
	assert_int_not_equal(g->at[7].ports, map);
}

/* Each entry has its map before the first group. */
static void xdp_packets__maps_before_groups(void **state)
{
	struct rig *r = *state;
	const struct plane_groups *g = &r->plane.groups;
	int maps[SWITCH_KERNEL_GROUPS];

	plane_groups_free(&r->plane.groups);
	memset(&r->plane.groups, 0, sizeof(r->plane.groups));
	plane_groups_fill(&r->plane);
	for (uint32_t i = 0; i < SWITCH_KERNEL_GROUPS; i++) {
		maps[i] = g->at[i].ports;
		assert_true(maps[i] > 0);
	}
	rig_group(r, 1, 0);
	for (uint32_t i = 0; i < SWITCH_KERNEL_GROUPS; i++)
		assert_int_equal(g->at[i].ports, maps[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(xdp_packets__ordinary_traffic_passes),
		cmocka_unit_test(xdp_packets__every_short_length_passes),
		cmocka_unit_test(xdp_packets__trailing_bytes_are_padding),
		cmocka_unit_test(xdp_packets__every_bit_flipped),
		cmocka_unit_test(xdp_packets__bad_ones_are_counted),
		cmocka_unit_test(xdp_packets__slow_calls_pass),
		cmocka_unit_test(xdp_packets__neighbours),
		cmocka_unit_test(xdp_packets__random_bytes),
		cmocka_unit_test(xdp_packets__groups_rejected),
		cmocka_unit_test(xdp_packets__places_rest),
		cmocka_unit_test(xdp_packets__maps_before_groups),
	};

	return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
