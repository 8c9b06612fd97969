/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles CHANNEL_ROTATE: the owner of a key replaces it by a new one. The channel proves the old
 * key, the request proves the new one. Name, role and grants stay, because they belong to the
 * name of the key. The new key, the rejection of the old one and the rows of the nodes are stored
 * before the answer: in SQLite in one transaction, in etcd in several if there are many. */
#include "manager/command.h"

#include <string.h>

#include <dxp/status.h>

static bool proof_valid(const struct registry *r, const struct manager_channel *c,
			const struct channel_request *request)
{
	uint8_t pair[KEYS_BYTES], proof[KEYS_BYTES];
	bool good = keys_pair(r->options.private_key, request->psk, r->public_key, pair) &&
		    keys_rotation_proof(pair, c->noise.peer, proof) &&
		    keys_equal(proof, request->proof, sizeof(proof));

	keys_erase(pair, sizeof(pair));
	keys_erase(proof, sizeof(proof));
	return good;
}

/* Gives the nodes of key `from` to key `to`. */
static void nodes_move(struct registry *r, const struct key_row *from, struct key_row *to)
{
	struct roster_node *n;

	ROSTER_EACH(&r->roster, n)
	{
		if (n->key != from)
			continue;
		n->key = to;
		memcpy(n->entry.key, to->key, sizeof(n->entry.key));
		roster_change(&r->roster, n);
	}
}

static void nodes_publish(struct registry *r, const struct key_row *key, uint64_t now_ns)
{
	struct roster_node *n;

	ROSTER_EACH(&r->roster, n)
	{
		if (n->key == key && n->state != NODE_GONE)
			push_news(r, n, now_ns);
	}
}

/* Replaces `old` and stores the change. Returns the new row; NULL: nothing has changed, and the
 * answer has the reason. */
static struct key_row *key_replace(struct registry *r, struct key_row *old,
				   const uint8_t key[KEYS_BYTES], struct channel_answer *answer)
{
	struct key_row row = *old, displaced;

	memcpy(row.key, key, sizeof(row.key));
	struct key_row *added = keyring_add(&r->keyring, &row, &displaced);
	if (!added) {
		MANAGER_ANSWER(
			answer, DXP_ENOMEM,
			"the manager has no space for more keys; remove some: `dxp node remove "
			"NAME`, then run this again");
		return NULL;
	}
	old->removed = old->replaced = true;
	keyring_change(&r->keyring, old);
	nodes_move(r, old, added);
	if (registry_saved(r))
		return added;
	old->removed = old->replaced = false;
	keyring_change(&r->keyring, old);
	nodes_move(r, added, old);
	keyring_undo_add(&r->keyring, added, &displaced);
	r->counters.unsaved++;
	MANAGER_ANSWER(
		answer, DXP_EIO,
		"the manager cannot record the new key, so the old one stays valid; its log has "
		"the "
		"reason; run this again after the repair");
	return NULL;
}

void manager_rotate(struct registry *r, const struct manager_channel *c,
		    const struct channel_request *request, struct channel_answer *answer,
		    uint64_t now_ns)
{
	struct key_row *old = keyring_find(&r->keyring, c->noise.peer);

	if (!old) {
		r->counters.key_unknown++;
		MANAGER_ANSWER(answer, DXP_EACCESS,
			       "this key is not admitted; run `dxp join HOST TOKEN`");
	} else if (!proof_valid(r, c, request)) {
		r->counters.key_unproved++;
		MANAGER_ANSWER(answer, DXP_EAUTH,
			       "the request does not prove the new key; update dxp");
	} else if (keyring_find(&r->keyring, request->psk)) {
		MANAGER_ANSWER(
			answer, DXP_EEXIST,
			"the manager knows the new key already; remove node.key.next, then run "
			"this "
			"again");
	} else {
		struct key_row *added = key_replace(r, old, request->psk, answer);
		if (!added)
			return;
		r->counters.rotated++;
		manager_event_rotated(r, added);
		answer->role = added->role;
		MANAGER_ANSWER(answer, DXP_OK, "%s", added->name);
		nodes_publish(r, added, now_ns);
	}
}
