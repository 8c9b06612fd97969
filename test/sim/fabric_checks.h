/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the tables of the simulated fabric with its state. */
#ifndef TEST_SIM_FABRIC_CHECKS_H
#define TEST_SIM_FABRIC_CHECKS_H

#include "test/sim/fabric_network.h"

static bool fabric_granted(const struct fabric *f, const char *host, const char *xpu)
{
	if (f->options.policy == GRANTS_ANY)
		return true;
	for (size_t i = 0; i < f->grant_count; i++)
		if (grants_match(f->grants[i].host, host) && grants_match(f->grants[i].xpu, xpu))
			return true;
	return false;
}

/* The row of a running process is right in every field; other rows may also be missing. */
static void row_check(const struct fabric *f, const struct fabric_member *viewer,
		      const struct fabric_member *subject)
{
	const struct node_entry *row =
		node_table_find_name(member_table(viewer->m), subject->self.name);
	bool hosts = viewer->self.kind == MANAGE_HOST && subject->self.kind == MANAGE_HOST;
	bool visible =
		viewer->self.kind == subject->self.kind
			? viewer == subject || !hosts
			: fabric_granted(f,
					 viewer->self.kind == MANAGE_HOST ? viewer->self.name
									  : subject->self.name,
					 viewer->self.kind == MANAGE_HOST ? subject->self.name
									  : viewer->self.name);
	bool alive = subject->m && member_state(subject->m) == MEMBER_JOINED;

	if (!alive || !visible) {
		assert_true(!row || (visible && !row->alive));
		return;
	}
	assert_non_null(row);
	assert_true(row->alive);
	assert_int_equal(row->id, member_id(subject->m));
	assert_true(row->granted);
	assert_int_equal(row->magic, subject->self.magic);
	assert_true(row->incarnation == subject->self.incarnation);
	assert_true(address_equal(&row->address,
				  subject->self.capabilities & MANAGE_CAPABILITY_ADVERTISED
					  ? &subject->self.address
					  : &subject->address));
	if (subject == viewer)
		return;
	const struct fabric_peer *peer = &viewer->peers[row->id];
	assert_true(peer->alive && peer->granted && peer->incarnation == row->incarnation);
	assert_true(address_equal(&peer->address, &row->address) && peer->magic == row->magic);
}

/* All running members have joined and have exactly the right rows; peers that count as alive
 * exist. */
UNUSED static void fabric_check(const struct fabric *f)
{
	for (size_t v = 0; v < f->count; v++) {
		const struct fabric_member *viewer = &f->members[v];
		size_t alive = 0, believed = 0;
		if (!viewer->m)
			continue;
		if (member_state(viewer->m) != MEMBER_JOINED)
			print_message("%s: %s\n", viewer->self.name, member_text(viewer->m));
		assert_int_equal(member_state(viewer->m), MEMBER_JOINED);
		for (size_t s = 0; s < f->count; s++)
			row_check(f, viewer, &f->members[s]);
		for (size_t i = 0; i < node_table_count(member_table(viewer->m)); i++) {
			const struct node_entry *row = node_table_at(member_table(viewer->m), i);
			alive += row->alive && row->id != member_id(viewer->m);
		}
		for (unsigned id = 0; id < FABRIC_IDS; id++)
			believed += viewer->peers[id].alive;
		assert_int_equal(alive, believed);
	}
}

#endif
