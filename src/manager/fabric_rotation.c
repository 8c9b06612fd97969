/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles CHANNEL_FABRIC_ROTATE and CHANNEL_FABRIC_SHOW, and gives nodes the new key in LEASEs. The
 * new key is stored before the answer. */
#include "manager/fabric_rotation.h"

#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "keys/fabric_key.h"
#include "manager/command.h"

_Static_assert(MANAGE_SEALED_KEY_BYTES == FABRIC_SEALED_BYTES, "a LEASE has a sealed key");

/* Returns what is left of `of_ms` since the rotation, and of `term_ms` since the manager's start.
 */
static uint32_t left_ms(const struct fabric_rotation *f, uint64_t of_ms, uint64_t term_ms,
			uint64_t now_ns)
{
	const uint64_t overlap_ms = f->row.overlap_s * 1000ull;

	return rotation_clock_left_ms(&f->clock, min_u64(of_ms, overlap_ms),
				      min_u64(term_ms, overlap_ms), now_ns);
}

uint32_t fabric_rotation_use_ms(const struct fabric_rotation *f, uint64_t now_ns)
{
	return left_ms(f, FABRIC_REKEY_USE_MS, FABRIC_TERM_USE_MS, now_ns);
}

uint32_t fabric_rotation_former_ms(const struct fabric_rotation *f, uint64_t now_ns)
{
	return left_ms(f, UINT64_MAX, FABRIC_TERM_FORMER_MS, now_ns);
}

const uint8_t *registry_fabric_key(const struct registry *r)
{
	return r->fabric.row.generation ? r->fabric.row.key : r->options.key;
}

/* Makes the MAC state of the present fabric key. */
static int mac_renew(struct registry *r)
{
	struct mac *mac;
	int status = mac_create(registry_fabric_key(r), &mac);

	if (status != DXP_OK)
		return status;
	mac_destroy(r->mac);
	r->mac = mac;
	return DXP_OK;
}

int registry_fabric_load(struct registry *r, const struct fabric_row *row)
{
	if (row->generation == 0 || row->overlap_s > FABRIC_OVERLAP_MAX_S)
		return DXP_EINVAL;
	r->fabric.row = *row;
	return mac_renew(r);
}

static bool knows_rotation(const struct roster_node *n)
{
	return n->key && n->entry.capabilities & MANAGE_CAPABILITY_REKEYED;
}

/* Seals the present key for the nodes of this key pair. */
static bool key_seal(const struct registry *r, const struct key_row *row, bool former,
		     uint8_t out[FABRIC_SEALED_BYTES])
{
	uint8_t pair[KEYS_BYTES], nonce[FABRIC_NONCE_BYTES];

	r->options.entropy(r->options.entropy_context, nonce, sizeof(nonce));
	const bool good =
		registry_pair(r, row->key, former, pair) &&
		fabric_key_seal(pair, r->fabric.row.generation, nonce, r->fabric.row.key, out);
	keys_erase(pair, sizeof(pair));
	return good;
}

/* Seals the present key with the manager's present key, once for each generation. */
static bool row_seal(const struct registry *r, struct key_row *row)
{
	if (row->sealed_generation == r->fabric.row.generation)
		return true;
	if (!key_seal(r, row, false, row->sealed))
		return false;
	row->sealed_generation = r->fabric.row.generation;
	return true;
}

void registry_rekey_fill(const struct registry *r, const struct roster_node *n,
			 struct manage_rekey *out)
{
	const bool former = n->former && r->manager.overlap;

	*out = (struct manage_rekey){0};
	if (r->fabric.row.generation == 0 || !knows_rotation(n) ||
	    !(former ? key_seal(r, n->key, true, out->sealed) : row_seal(r, n->key)))
		return;
	out->generation = r->fabric.row.generation;
	out->use_ms = fabric_rotation_use_ms(&r->fabric, r->now_ns);
	out->former_ms = fabric_rotation_former_ms(&r->fabric, r->now_ns);
	if (!former)
		memcpy(out->sealed, n->key->sealed, sizeof(out->sealed));
}

/* Returns a live node that would not get the new key; NULL: there is none. */
static const struct roster_node *excluded_find(const struct registry *r)
{
	const struct roster_node *n = roster_next(&r->roster, WIRE_NODE_FIRST, false);

	while (n && (n->state != NODE_ALIVE || knows_rotation(n)))
		n = roster_next(&r->roster, n->entry.id + 1u, false);
	return n;
}

/* Returns true if a rotation may begin now. Otherwise sets the answer. */
static bool rotation_admit(const struct registry *r, const struct channel_request *request,
			   struct channel_answer *answer, uint64_t now_ns)
{
	const uint32_t former_ms = fabric_rotation_former_ms(&r->fabric, now_ns);
	const struct roster_node *excluded = excluded_find(r);

	if (request->seconds > FABRIC_OVERLAP_MAX_S) {
		MANAGER_ANSWER(answer, DXP_EINVAL, "an overlap lasts at most a day (86400 s)");
		return false;
	}
	if (r->options.admission != ADMIT_TOKEN) {
		MANAGER_ANSWER(
			answer, DXP_EUNSUPPORTED,
			"this fabric admits machines by its key alone, so no machine could get a "
			"new one; start the manager with --admit token");
		return false;
	}
	if (request->uses & CHANNEL_FORCE)
		return true;
	if (r->fabric.row.generation && former_ms) {
		MANAGER_ANSWER(answer, DXP_EBUSY,
			       "the last rotation is not complete: nodes accept the former key for "
			       "another %u s; wait, or use --force",
			       (former_ms + 999) / 1000);
		return false;
	}
	if (excluded) {
		MANAGER_ANSWER(
			answer, DXP_EUNSUPPORTED,
			"the node %s runs a release that cannot replace its fabric key, and would "
			"lose the others; update it, or use --force",
			excluded->entry.name);
		return false;
	}
	return true;
}

static void fabric_fill(const struct registry *r, struct channel_answer *answer, uint64_t now_ns)
{
	memcpy(answer->fabric_key, registry_fabric_key(r), sizeof(answer->fabric_key));
	answer->fabric = (struct channel_fabric){.present = true};
	if (r->fabric.row.generation == 0)
		return;
	answer->fabric.generation = r->fabric.row.generation;
	answer->fabric.age_s = rotation_clock_age_ms(&r->fabric.clock, now_ns) / 1000;
	answer->fabric.former_ms = fabric_rotation_former_ms(&r->fabric, now_ns);
}

void manager_fabric_show(const struct registry *r, struct channel_answer *answer, uint64_t now_ns)
{
	fabric_fill(r, answer, now_ns);
}

void manager_fabric_rotate(struct registry *r, const struct channel_request *request,
			   struct channel_answer *answer, uint64_t now_ns)
{
	const struct fabric_rotation before = r->fabric;

	if (!rotation_admit(r, request, answer, now_ns))
		return;
	r->fabric = (struct fabric_rotation){.row = {.generation = before.row.generation + 1,
						     .overlap_s = (uint32_t)request->seconds,
						     .rotated_ms = registry_wall_ms(r)},
					     .dirty = true,
					     .clock = {.at_ns = now_ns}};
	r->options.entropy(r->options.entropy_context, r->fabric.row.key, FABRIC_KEY_BYTES);
	if (!registry_saved(r)) {
		r->fabric = before;
		r->fabric.dirty = before.row.generation != 0;
		r->counters.unsaved++;
		MANAGER_ANSWER(
			answer, DXP_EIO,
			"the manager cannot record the new key, so the present one stays valid; "
			"its log has the reason; run this again after the repair");
		return;
	}
	r->counters.rekeyed++;
	REGISTRY_EVENT(r, EVENT_ROTATED, "fabric", "by %s: the fabric key has the generation %u",
		       r->sender->name, r->fabric.row.generation);
	if (mac_renew(r) != DXP_OK)
		MANAGER_ANSWER(answer, DXP_ENOMEM,
			       "the new key is recorded, but memory is short; restart the manager");
	else
		fabric_fill(r, answer, now_ns);
}
