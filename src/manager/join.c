/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of nodes to join the fabric. Checks the sender's key, and that the identity, the name
 * and the address are free. */
#include "manager/requests.h"

#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "manager/limits.h"

#define ROLE_TEXT \
	"this key has the role host; join again with a token of `dxp token create --role xpu`"

static void reject_busy(struct registry *r, const struct udp_address *from,
			const struct manage_join *join, const struct roster_node *holder,
			const char *what, uint64_t now_ns)
{
	struct manage_answer answer = {.request = join->request,
				       .nonce = join->nonce,
				       .status = DXP_EBUSY,
				       .epoch = r->epoch,
				       .retry_ns = holder->lease_until_ns - now_ns};
	char address[UDP_ADDRESS_TEXT_BYTES];

	snprintf(answer.text, sizeof(answer.text),
		 "this %s is in use by the node '%s' at %s, whose lease lasts another %.1f s", what,
		 holder->entry.name, address_format(&holder->entry.address, address),
		 (double)answer.retry_ns / S_NS);
	r->counters.busy++;
	manager_event_refused(r, from, what, answer.text);
	requests_answer(r, from, WIRE_NODE_NONE, &answer);
}

/* Returns true if the sender's key may join as this node. Otherwise rejects the request. A node
 * that joined with a key belongs to that key, also while it is dead. `same`: the node with this
 * identity; NULL: there is none. */
static bool join_key_admit(struct registry *r, const struct udp_address *from,
			   const struct manage_join *join, const struct roster_node *same)
{
	const struct roster_node *name = roster_find_name(&r->roster, join->self.name);
	char text[MANAGE_TEXT_BYTES];

	if (!requests_key_admit(r, from, join->request, join->nonce))
		return false;
	if (r->sender && join->self.kind == MANAGE_XPU && r->sender->role < ROLE_XPU) {
		r->counters.role++;
		requests_reject(r, from, join->request, join->nonce, DXP_EACCESS, ROLE_TEXT);
		return false;
	}
	if ((!same || same->entry.role == ROLE_NONE || requests_key_same(r, same)) &&
	    (!name || name->entry.role == ROLE_NONE || requests_key_same(r, name)))
		return true;
	r->counters.name_used++;
	snprintf(text, sizeof(text),
		 "%s belongs to another key; use another name and identity, or an operator runs "
		 "`dxp node remove %s`",
		 join->self.name, join->self.name);
	requests_reject(r, from, join->request, join->nonce, DXP_EEXIST, text);
	return false;
}

/* Returns the address at which other nodes reach this node: the advertised one, or the source of
 * the request. */
static const struct udp_address *published(const struct udp_address *from,
					   const struct manage_join *join)
{
	return requests_advertises(&join->self) ? &join->self.address : from;
}

/* Returns true if the request comes from another address than the known run of the node uses. */
static bool sender_moved(const struct roster_node *n, const struct udp_address *from,
			 const struct manage_join *join)
{
	if (n->nonce)
		return !address_equal(&n->from, from);
	return !address_equal(&n->entry.address, published(from, join));
}

/* Returns true if this JOIN may replace the entry of a known node. Otherwise rejects the
 * request. */
static bool identity_admit(struct registry *r, const struct udp_address *from,
			   const struct manage_join *join, struct roster_node *n, uint64_t now_ns)
{
	bool alive = n->state == NODE_ALIVE;
	bool moved = sender_moved(n, from, join);

	if (join->self.incarnation < n->entry.incarnation) {
		if (alive && moved)
			reject_busy(r, from, join, n, "identity", now_ns);
		else
			requests_reject(
				r, from, join->request, join->nonce, DXP_EEXIST,
				"this identity has already joined with a later start time; correct "
				"this machine's clock, or use a new identity");
		return false;
	}
	if (join->self.incarnation == n->entry.incarnation && join->nonce == n->nonce) {
		if (join->request > n->request)
			return true;
		r->counters.replayed++;
		return false;
	}
	/* The sender is another run of the node, or a copy of its identity. Unless it uses the same
	 * socket, it must wait until the lease of the known run ends. */
	if (alive && moved && n->nonce != 0) {
		reject_busy(r, from, join, n, "identity", now_ns);
		return false;
	}
	if (alive && moved && join->self.incarnation != n->entry.incarnation) {
		reject_busy(r, from, join, n, "identity", now_ns);
		return false;
	}
	return true;
}

/* Ends a node whose name or address now belongs to another node. */
static void holder_end(struct registry *r, struct roster_node *holder, uint64_t now_ns)
{
	manager_event_left(r, holder, "another node now has its name or its address");
	roster_gone(&r->roster, holder);
	roster_change(&r->roster, holder);
	push_news(r, holder, now_ns);
}

/* Checks the name of a joining node. A live node keeps its name; a dead node loses it to the
 * joining one. */
static bool name_admit(struct registry *r, const struct udp_address *from,
		       const struct manage_join *join, uint64_t now_ns)
{
	struct roster_node *holder = roster_find_name(&r->roster, join->self.name);

	if (!holder || memcmp(holder->entry.uuid, join->self.uuid, WIRE_UUID_BYTES) == 0)
		return true;
	if (holder->state == NODE_ALIVE) {
		reject_busy(r, from, join, holder, "name", now_ns);
		return false;
	}
	holder_end(r, holder, now_ns);
	return true;
}

/* Gives a joining node the address that it advertises, although a live node has it; returns true if
 * it did. The joining node must prove that it receives there: it returns a number that was sent to
 * the address. A holder that advertises the address loses it only to a node that sends from there,
 * while the holder sends from elsewhere. */
static bool address_win(struct registry *r, const struct udp_address *from,
			const struct manage_join *join, struct roster_node *holder, uint64_t now_ns)
{
	const struct udp_address *address = &join->self.address;
	const bool there = address_equal(from, address);
	const bool may = !requests_advertises(&holder->entry) ||
			 (there && !address_equal(&holder->from, from));

	if (may && registry_proved(r, address, join->nonce, join->run, now_ns)) {
		holder_end(r, holder, now_ns);
		return true;
	}
	if (may) {
		r->counters.unproved++;
		requests_repeat(r, address, WIRE_NODE_NONE, join->request, join->nonce,
				registry_proof(r, address, join->nonce, now_ns));
	}
	if (!may || !there)
		reject_busy(r, from, join, holder, "address", now_ns);
	return false;
}

/* Checks an advertised address. Other nodes must be able to send to it, and no other live node may
 * have it, with the exception of address_win(). */
static bool address_admit(struct registry *r, const struct udp_address *from,
			  const struct manage_join *join, uint64_t now_ns)
{
	const struct udp_address *address = &join->self.address;
	char text[MANAGE_TEXT_BYTES], shown[UDP_ADDRESS_TEXT_BYTES];

	if (!requests_advertises(&join->self))
		return true;
	const char *wrong = address->port ? address_unreachable(address) : "without a port";
	if (!wrong && address_loopback(address) && !address_loopback(from))
		wrong = "of the node's own machine only";
	if (wrong) {
		snprintf(
			text, sizeof(text),
			"the advertised address %s is %s; advertise one that the other nodes reach",
			address_format(address, shown), wrong);
		requests_reject(r, from, join->request, join->nonce, DXP_EINVAL, text);
		return false;
	}
	struct roster_node *holder = roster_find_address(&r->roster, address);
	if (!holder || memcmp(holder->entry.uuid, join->self.uuid, WIRE_UUID_BYTES) == 0)
		return true;
	return address_win(r, from, join, holder, now_ns);
}

/* Copies the node's description from its JOIN into the node table. Returns true if the description
 * changed; the other nodes must then receive it. */
static bool entry_update(struct registry *r, struct roster_node *n, const struct udp_address *from,
			 const struct manage_join *join)
{
	struct node_entry entry = join->self;

	entry.role = r->sender ? r->sender->role : ROLE_NONE;
	memset(entry.key, 0, sizeof(entry.key));
	if (r->sender)
		memcpy(entry.key, r->sender->key, sizeof(entry.key));
	n->key = r->sender;
	entry.id = n->entry.id;
	entry.address = *published(from, join);
	entry.alive = entry.granted = false;
	bool changed = n->state != NODE_ALIVE || memcmp(&entry, &n->entry, sizeof(entry)) != 0;
	roster_describe(&r->roster, n, &entry);
	return changed;
}

static void node_begin(struct registry *r, struct roster_node *n, const struct udp_address *from,
		       const struct manage_join *join)
{
	if (n->nonce != join->nonce) {
		n->acked = n->sent = (struct manage_progress){0};
		n->in_flight = n->repeats = 0;
		n->rewound = false;
		list_remove(&n->by_push);
		n->reported = 0;
		r->counters.joined++;
	}
	n->nonce = join->nonce;
	n->from = *from;
	n->request = join->request;
}

/* Adds a node that is not known. Hosts come and go with each command, so they share their ids. */
static struct roster_node *node_add(struct registry *r, const struct node_entry *self,
				    uint64_t now_ns)
{
	const size_t before = r->roster.count;
	struct roster_node *n = NULL;

	if (self->kind == MANAGE_HOST && self->id == 0)
		n = roster_reuse(&r->roster, now_ns);
	if (n)
		return n;
	n = roster_add(&r->roster, self->id);
	r->counters.forgotten += n && r->roster.count == before;
	return n;
}

/* Returns true if the JOIN is new, not recorded and sent again. Otherwise answers with the number
 * that the sender must state in its next JOIN. For a node in the roster this is the epoch, because
 * the number of its last request is known. Another sender must prove that it receives at its
 * address now. */
static bool fresh_admit(struct registry *r, const struct udp_address *from,
			const struct manage_join *join, const struct roster_node *n,
			uint64_t now_ns)
{
	if (registry_proved(r, published(from, join), join->nonce, join->run, now_ns) ||
	    registry_proved(r, from, join->nonce, join->run, now_ns))
		return true;
	if (n)
		return requests_run_admit(r, from, WIRE_NODE_NONE, join->request, join->nonce,
					  join->run);
	r->counters.stale++;
	requests_repeat(r, from, WIRE_NODE_NONE, join->request, join->nonce,
			registry_proof(r, from, join->nonce, now_ns));
	return false;
}

void requests_join(struct registry *r, const struct udp_address *from, struct manage_body body,
		   uint64_t now_ns)
{
	struct manage_join join;

	if (manage_join_decode(body, &join) != DXP_OK || join.nonce == 0) {
		r->counters.malformed++;
		return;
	}
	r->claimed = join.self.name;
	struct roster_node *n = roster_find_uuid(&r->roster, join.self.uuid);
	if (!fresh_admit(r, from, &join, n, now_ns) || !join_key_admit(r, from, &join, n))
		return;
	if ((n && !identity_admit(r, from, &join, n, now_ns)) ||
	    !name_admit(r, from, &join, now_ns) || !address_admit(r, from, &join, now_ns))
		return;
	if (!n)
		n = node_add(r, &join.self, now_ns);
	if (!n) {
		requests_reject(r, from, join.request, join.nonce, DXP_EAGAIN,
				"the fabric has no free node id; stop some nodes");
		return;
	}
	const bool same = n->nonce == join.nonce, alive = n->state == NODE_ALIVE;
	bool changed = entry_update(r, n, from, &join);
	roster_alive(&r->roster, n, now_ns + r->lease_ns);
	node_begin(r, n, from, &join);
	if (!same || !alive)
		manager_event_joined(r, n, same);
	if (changed) {
		roster_change(&r->roster, n);
		push_news(r, n, now_ns);
	}
	requests_lease(r, n, join.request);
	push_node(r, n, now_ns);
}
