/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles CHANNEL_MANAGER_ROTATE and CHANNEL_MANAGER_SHOW, and gives nodes the new public key. The
 * new key pair is stored before the answer. */
#include "manager/manager_rotation.h"

#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "manager/command.h"

uint32_t manager_rotation_former_ms(const struct manager_rotation *m, uint64_t now_ns)
{
	if (!m->overlap)
		return 0;
	return rotation_clock_left_ms(&m->clock, m->row.overlap_s * 1000ull,
				      MANAGER_OVERLAP_MIN_S * 1000ull, now_ns);
}

/* Uses the key pair of the row from now on. False: a key is unusable. */
static bool pair_use(struct registry *r)
{
	static const uint8_t none[KEYS_BYTES];
	struct manager_rotation *m = &r->manager;
	uint8_t public_key[KEYS_BYTES];

	m->overlap = memcmp(m->row.former, none, sizeof(none)) != 0;
	if (!keys_public(m->row.key, public_key) ||
	    (m->overlap && !keys_public(m->row.former, m->former_public)))
		return false;
	memcpy(r->options.private_key, m->row.key, KEYS_BYTES);
	memcpy(r->public_key, public_key, KEYS_BYTES);
	return true;
}

int registry_manager_load(struct registry *r, const struct manager_row *row)
{
	if (row->generation == 0 || row->overlap_s > MANAGER_OVERLAP_MAX_S)
		return DXP_EINVAL;
	r->manager.row = *row;
	return pair_use(r) ? DXP_OK : DXP_EINVAL;
}

void registry_manager_pass(struct registry *r, uint64_t now_ns)
{
	struct manager_rotation *m = &r->manager;

	if (!m->overlap || manager_rotation_former_ms(m, now_ns))
		return;
	m->overlap = false;
	m->dirty = true;
	keys_erase(m->row.former, sizeof(m->row.former));
	keyring_former_end(&r->keyring);
}

void registry_repin_fill(const struct registry *r, const struct roster_node *n,
			 struct manage_repin *out)
{
	*out = (struct manage_repin){0};
	if (!r->manager.overlap || !n->former || !n->key ||
	    !(n->entry.capabilities & MANAGE_CAPABILITY_REPINNED))
		return;
	out->generation = r->manager.row.generation;
	memcpy(out->key, r->public_key, sizeof(out->key));
}

/* Returns a live node that would not learn the new key; NULL: there is none. */
static const struct roster_node *excluded_find(const struct registry *r)
{
	const struct roster_node *n = roster_next(&r->roster, WIRE_NODE_FIRST, false);

	while (n && (n->state != NODE_ALIVE || !n->key ||
		     n->entry.capabilities & MANAGE_CAPABILITY_REPINNED))
		n = roster_next(&r->roster, n->entry.id + 1u, false);
	return n;
}

/* Returns true if a rotation may begin now. Otherwise sets the answer. */
static bool rotation_admit(const struct registry *r, const struct channel_request *request,
			   struct channel_answer *answer, uint64_t now_ns)
{
	const uint32_t former_ms = manager_rotation_former_ms(&r->manager, now_ns);
	const struct roster_node *excluded = excluded_find(r);

	if (request->seconds < MANAGER_OVERLAP_MIN_S || request->seconds > MANAGER_OVERLAP_MAX_S) {
		MANAGER_ANSWER(answer, DXP_EINVAL,
			       "an overlap of the manager's keys lasts %d s to 40 days (%d s): the "
			       "nodes learn the new key in it",
			       MANAGER_OVERLAP_MIN_S, MANAGER_OVERLAP_MAX_S);
		return false;
	}
	if (request->uses & CHANNEL_FORCE)
		return true;
	if (former_ms) {
		MANAGER_ANSWER(answer, DXP_EBUSY,
			       "the manager accepts its former key for another %u s; wait, or use "
			       "--force: machines that have not learned the present key are lost",
			       (former_ms + 999) / 1000);
		return false;
	}
	if (excluded) {
		MANAGER_ANSWER(answer, DXP_EUNSUPPORTED,
			       "the node %s runs a release that cannot learn a new key of the "
			       "manager, and would be lost after the overlap; update it, or use "
			       "--force",
			       excluded->entry.name);
		return false;
	}
	return true;
}

void manager_key_show(const struct registry *r, struct channel_answer *answer, uint64_t now_ns)
{
	memcpy(answer->fabric_key, r->public_key, sizeof(answer->fabric_key));
	answer->fabric = (struct channel_fabric){.present = true};
	if (r->manager.row.generation == 0)
		return;
	answer->fabric.generation = r->manager.row.generation;
	answer->fabric.age_s = rotation_clock_age_ms(&r->manager.clock, now_ns) / 1000;
	answer->fabric.former_ms = manager_rotation_former_ms(&r->manager, now_ns);
}

/* All nodes used the key pair that is the former one now. */
static void nodes_mark(struct registry *r)
{
	struct roster_node *n;

	ROSTER_EACH(&r->roster, n)
	n->former = n->key != NULL;
}

void manager_key_rotate(struct registry *r, const struct channel_request *request,
			struct channel_answer *answer, uint64_t now_ns)
{
	struct manager_rotation before = r->manager;
	uint8_t private_key[KEYS_BYTES], public_key[KEYS_BYTES];

	if (!rotation_admit(r, request, answer, now_ns))
		return;
	memcpy(private_key, r->options.private_key, KEYS_BYTES);
	memcpy(public_key, r->public_key, KEYS_BYTES);
	r->manager = (struct manager_rotation){.row = {.generation = before.row.generation + 1,
						       .overlap_s = (uint32_t)request->seconds,
						       .rotated_ms = registry_wall_ms(r)},
					       .dirty = true,
					       .clock = {.at_ns = now_ns}};
	r->options.entropy(r->options.entropy_context, r->manager.row.key, KEYS_BYTES);
	memcpy(r->manager.row.former, r->options.private_key, KEYS_BYTES);
	const bool good = pair_use(r) && registry_saved(r);
	if (!good) {
		r->manager = before;
		r->manager.dirty = before.row.generation != 0;
		memcpy(r->options.private_key, private_key, KEYS_BYTES);
		memcpy(r->public_key, public_key, KEYS_BYTES);
		r->counters.unsaved++;
		MANAGER_ANSWER(answer, DXP_EIO,
			       "the manager cannot record the new key pair, so the present one "
			       "stays valid; its log has the reason; run this again after the "
			       "repair");
	}
	keys_erase(private_key, sizeof(private_key));
	keys_erase((uint8_t *)&before.row, sizeof(before.row));
	if (!good)
		return;
	keyring_former_begin(&r->keyring);
	nodes_mark(r);
	r->counters.repinned++;
	REGISTRY_EVENT(r, EVENT_ROTATED, "manager", "by %s: its key pair has the generation %u",
		       r->sender->name, r->manager.row.generation);
	manager_key_show(r, answer, now_ns);
}
