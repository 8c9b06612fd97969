/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of groups at switches: control packets and operations. */
#ifndef TEST_UNIT_SWITCH_RIG_H
#define TEST_UNIT_SWITCH_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "test/support/switch_net.h"

#define SPINE(i) (0x0a0000f0u + (i))
#define LEAF(i)  (0x0a000001u + (i))

static struct switch_net net;
static struct swnet_group group;

UNUSED static void done(void)
{
	assert_string_equal(net.wrong, "");
	swnet_close(&net);
}

UNUSED static struct sw_counters counters(uint32_t ip)
{
	struct sw_counters c;

	switch_counters(swnet_switch_at(&net, ip), &c);
	return c;
}

UNUSED static struct inc_control query_of(uint32_t member)
{
	struct inc_control c = swnet_control(&group, member);

	c.path_count = 0;
	c.planes = INC_PLANE_USER | INC_PLANE_KERNEL;
	c.lease_ms = UINT32_MAX;
	memset(c.path, 0, sizeof(c.path));
	return c;
}

UNUSED static void control_send(uint8_t kind, uint32_t member, const struct inc_control *c,
				const struct roce_path *path)
{
	swnet_control_send(&net, &group, kind, member, c, path);
	swnet_run(&net);
}

UNUSED static void query(uint32_t member, const struct inc_control *c)
{
	const struct swnet_member *m = &group.members[member];
	struct roce_path path = {m->ip, m->path[0], m->port, ROCE_PORT};

	control_send(INC_QUERY, member, c, &path);
}

UNUSED static bool first_receives(uint8_t kind, struct inc_control *out)
{
	struct swnet_packet *p =
		swnet_dequeue(&net, group.members[0].ip, group.members[0].port, kind);

	if (!p)
		return false;
	assert_int_equal(p->path.to_port, group.members[0].port);
	assert_int_equal(p->path.from_port, ROCE_PORT);
	assert_int_equal(inc_control_decode(p->decoded.payload, p->decoded.payload_bytes, out),
			 DXP_OK);
	free(p);
	return true;
}

UNUSED static void open_one(const struct sw_options *options, uint32_t count)
{
	struct sw_options o = *options;

	swnet_open(&net);
	o.ip = LEAF(0);
	assert_non_null(swnet_switch(&net, &o));
	swnet_group_plan(&group, count, NULL, 0, LEAF(0));
}

UNUSED static void data_send(uint32_t member, uint32_t seq)
{
	struct inc_header h = swnet_call(seq, DXP_INC_SUM, DXP_INC_INT32, 1);

	swnet_contribute(&net, &group, member, &h, "abcd", 4);
	swnet_run(&net);
}

UNUSED static void works(uint32_t seq)
{
	for (uint32_t m = 0; m < group.count; m++)
		data_send(m, seq);
	for (uint32_t m = 0; m < group.count; m++) {
		struct swnet_packet *p = swnet_result(&net, &group, m);

		assert_non_null(p);
		free(p);
	}
}

UNUSED static void works_not(void)
{
	struct swnet_packet *p;

	data_send(0, 1000);
	p = swnet_dequeue(&net, group.members[0].ip, group.members[0].port, INC_REFUSED);
	assert_non_null(p);
	assert_int_equal(p->decoded.header.status, -DXP_ENOENT);
	assert_int_equal(p->decoded.header.req_id, 1000);
	assert_int_equal(p->decoded.header.comm_id, group.id);
	assert_int_equal(p->decoded.header.epoch, group.epoch);
	assert_int_equal(p->decoded.roce.qkey, group.qkey);
	assert_int_equal(p->path.to_port, ROCE_PORT);
	free(p);
	assert_null(swnet_result(&net, &group, 0));
}

#endif
