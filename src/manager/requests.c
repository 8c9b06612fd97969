/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of nodes: JOIN, RENEW, LEAVE, TABLE_ACK. A node draws a nonce at each start. The number
 * of a request must exceed the numbers of all earlier requests with the same nonce. A request with
 * a new nonce must state the epoch of this run of the manager. So replayed datagrams change
 * nothing, even those from before a restart. */
#include "manager/internal.h"

#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

void requests_answer(struct registry *r, const struct udp_address *to, uint16_t node,
		     const struct manage_answer *answer)
{
	struct outbox_entry *entry = registry_outbox_reserve(r);
	uint8_t type = answer->status == DXP_OK ? WIRE_ANSWER : WIRE_REFUSE;

	if (!entry) {
		r->counters.reply_full++;
		return;
	}
	size_t bytes = manage_answer_encode(type, node, answer, MANAGE_FRAME_BYTES,
					    registry_sender_mac(r), entry->data);
	registry_outbox_commit(r, entry, to, bytes);
}

static void lease_reply(struct registry *r, struct roster_node *n, uint64_t request)
{
	struct outbox_entry *entry = registry_outbox_reserve(r);
	struct manage_lease lease = {
		.request = request,
		.nonce = n->nonce,
		.epoch = r->epoch,
		.sequence = r->roster.sequence,
		.lease_ns = r->lease_ns,
		.node = n->entry.id,
	};

	if (!entry) {
		r->counters.reply_full++;
		return;
	}
	n->former = r->sender_former;
	registry_rekey_fill(r, n, &lease.rekey);
	registry_repin_fill(r, n, &lease.repin);
	registry_outbox_commit(r, entry, &n->from,
			       manage_lease_encode(&lease, registry_node_mac(r, n), entry->data));
}

/* ---- JOIN ---- */

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

static void reject(struct registry *r, const struct udp_address *from, uint64_t request,
		   uint64_t nonce, int status, const char *text)
{
	struct manage_answer answer = {.request = request, .nonce = nonce, .status = status};

	snprintf(answer.text, sizeof(answer.text), "%s", text);
	if (status != DXP_OK && status != DXP_ENOENT)
		manager_event_refused(r, from, text, text);
	requests_answer(r, from, WIRE_NODE_NONE, &answer);
}

static void repeat_request(struct registry *r, const struct udp_address *from, uint16_t node,
			   uint64_t request, uint64_t nonce, uint64_t run)
{
	struct manage_answer answer = {.request = request,
				       .nonce = nonce,
				       .status = DXP_EAGAIN,
				       .epoch = run,
				       .text = "repeat this request with this epoch"};

	requests_answer(r, from, node, &answer);
}

/* Returns true if the request states the epoch of this run of the manager. Otherwise answers with
 * this epoch, and the node sends the request again. A recorded request cannot state an epoch that
 * did not exist when it was recorded. */
static bool run_admit(struct registry *r, const struct udp_address *from, uint16_t node,
		      uint64_t request, uint64_t nonce, uint64_t run)
{
	if (run == r->epoch)
		return true;
	r->counters.stale++;
	repeat_request(r, from, node, request, nonce, r->epoch);
	return false;
}

/* ---- keys ---- */

#define ROLE_TEXT \
	"this key has the role host; join again with a token of `dxp token create --role xpu`"

const char *manager_removed_text(const struct key_row *row)
{
	return row->replaced ? MANAGER_REPLACED_TEXT : MANAGER_REMOVED_TEXT;
}

/* Returns true if the key of this request, or the fabric key, may make this request at all.
 * Otherwise rejects the request. */
static bool key_admit(struct registry *r, const struct udp_address *from, uint64_t request,
		      uint64_t nonce)
{
	if (!r->sender && r->options.admission == ADMIT_TOKEN) {
		r->counters.key_needed++;
		reject(r, from, request, nonce, DXP_EACCESS,
		       "this fabric admits machines by token; run `dxp join HOST TOKEN` here, with "
		       "a token that `dxp token create` prints");
		return false;
	}
	if (r->sender && r->sender->removed) {
		r->counters.key_removed++;
		reject(r, from, request, nonce, DXP_EACCESS, manager_removed_text(r->sender));
		return false;
	}
	return true;
}

/* Rejects a request of a running node whose key was replaced. The node keeps its lease, and sends
 * the request again when it has read the new key. */
static void reject_replaced(struct registry *r, const struct udp_address *from, uint16_t node,
			    const struct manage_renew *renew)
{
	const struct manage_answer answer = {.request = renew->request,
					     .nonce = renew->nonce,
					     .status = DXP_EAGAIN,
					     .epoch = r->epoch,
					     .text = MANAGER_REPLACED_TEXT};

	r->counters.key_removed++;
	requests_answer(r, from, node, &answer);
}

/* Returns true if the node joined with the sender's key. If the sender uses the fabric key, returns
 * true if the node joined without a key of its own. */
static bool key_same(const struct registry *r, const struct roster_node *n)
{
	if (!r->sender)
		return n->entry.role == ROLE_NONE;
	return n->entry.role && memcmp(n->entry.key, r->sender->key, KEYS_BYTES) == 0;
}

/* Returns true if the sender's key may join as this node. Otherwise rejects the request. A node
 * that joined with a key belongs to that key, also while it is dead. */
static bool join_key_admit(struct registry *r, const struct udp_address *from,
			   const struct manage_join *join)
{
	const struct roster_node *same = roster_find_uuid(&r->roster, join->self.uuid);
	const struct roster_node *name = roster_find_name(&r->roster, join->self.name);
	char text[MANAGE_TEXT_BYTES];

	if (!key_admit(r, from, join->request, join->nonce))
		return false;
	if (r->sender && join->self.kind == MANAGE_XPU && r->sender->role < ROLE_XPU) {
		r->counters.role++;
		reject(r, from, join->request, join->nonce, DXP_EACCESS, ROLE_TEXT);
		return false;
	}
	if ((!same || same->entry.role == ROLE_NONE || key_same(r, same)) &&
	    (!name || name->entry.role == ROLE_NONE || key_same(r, name)))
		return true;
	r->counters.name_used++;
	snprintf(text, sizeof(text),
		 "%s belongs to another key; use another name and identity, or an operator runs "
		 "`dxp node remove %s`",
		 join->self.name, join->self.name);
	reject(r, from, join->request, join->nonce, DXP_EEXIST, text);
	return false;
}

void manager_key_end(struct registry *r, const struct key_row *row, uint64_t now_ns)
{
	struct roster_node *n;

	ROSTER_EACH(&r->roster, n)
	{
		if (n->key != row)
			continue;
		/* From now on another key may use the name and identity. */
		n->key = NULL;
		n->entry.role = ROLE_NONE;
		memset(n->entry.key, 0, sizeof(n->entry.key));
		if (n->state != NODE_GONE)
			roster_gone(&r->roster, n);
		roster_change(&r->roster, n);
		push_news(r, n, now_ns);
	}
}

/* ---- JOIN, continued ---- */

static bool advertises(const struct node_entry *entry)
{
	return entry->capabilities & MANAGE_CAPABILITY_ADVERTISED;
}

/* Returns the address at which other nodes reach this node: the advertised one, or the source of
 * the request. */
static const struct udp_address *published(const struct udp_address *from,
					   const struct manage_join *join)
{
	return advertises(&join->self) ? &join->self.address : from;
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
			reject(r, from, join->request, join->nonce, DXP_EEXIST,
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
	const bool may =
		!advertises(&holder->entry) || (there && !address_equal(&holder->from, from));

	if (may && registry_proved(r, address, join->nonce, join->run, now_ns)) {
		holder_end(r, holder, now_ns);
		return true;
	}
	if (may) {
		r->counters.unproved++;
		repeat_request(r, address, WIRE_NODE_NONE, join->request, join->nonce,
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

	if (!advertises(&join->self))
		return true;
	const char *wrong = address->port ? address_unreachable(address) : "without a port";
	if (!wrong && address_loopback(address) && !address_loopback(from))
		wrong = "of the node's own machine only";
	if (wrong) {
		snprintf(
			text, sizeof(text),
			"the advertised address %s is %s; advertise one that the other nodes reach",
			address_format(address, shown), wrong);
		reject(r, from, join->request, join->nonce, DXP_EINVAL, text);
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
		return run_admit(r, from, WIRE_NODE_NONE, join->request, join->nonce, join->run);
	r->counters.stale++;
	repeat_request(r, from, WIRE_NODE_NONE, join->request, join->nonce,
		       registry_proof(r, from, join->nonce, now_ns));
	return false;
}

static void join_receive(struct registry *r, const struct udp_address *from,
			 struct manage_body body, uint64_t now_ns)
{
	struct manage_join join;

	if (manage_join_decode(body, &join) != DXP_OK || join.nonce == 0) {
		r->counters.malformed++;
		return;
	}
	r->claimed = join.self.name;
	struct roster_node *n = roster_find_uuid(&r->roster, join.self.uuid);
	if (!fresh_admit(r, from, &join, n, now_ns) || !join_key_admit(r, from, &join))
		return;
	if ((n && !identity_admit(r, from, &join, n, now_ns)) ||
	    !name_admit(r, from, &join, now_ns) || !address_admit(r, from, &join, now_ns))
		return;
	if (!n)
		n = node_add(r, &join.self, now_ns);
	if (!n) {
		reject(r, from, join.request, join.nonce, DXP_EAGAIN,
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
	lease_reply(r, n, join.request);
	push_node(r, n, now_ns);
}

/* ---- RENEW, TABLE_ACK, LEAVE ---- */

/* Returns the node that sent the request; NULL: it holds no lease. */
static struct roster_node *sender_find(const struct registry *r, const struct wire_header *header,
				       const struct manage_renew *renew)
{
	struct roster_node *n = roster_find(&r->roster, header->src_node);

	if (!n || n->state != NODE_ALIVE || !key_same(r, n) ||
	    memcmp(n->entry.uuid, renew->uuid, WIRE_UUID_BYTES) != 0 ||
	    n->entry.incarnation != renew->incarnation ||
	    (n->nonce != 0 && n->nonce != renew->nonce))
		return NULL;
	return n;
}

/* Accepts a request if its number exceeds the numbers of all earlier requests with the same nonce.
 * The caller has checked that it states the epoch of this run of the manager. */
static bool request_admit(struct registry *r, struct roster_node *n, const struct udp_address *from,
			  const struct manage_renew *renew)
{
	if (n->nonce == renew->nonce && renew->request <= n->request) {
		r->counters.replayed++;
		return false;
	}
	if (n->nonce == 0)
		n->from = *from;
	n->nonce = renew->nonce;
	n->request = renew->request;
	return true;
}

static void renew_accept(struct registry *r, const struct udp_address *from, struct roster_node *n,
			 const struct manage_renew *renew, uint64_t now_ns)
{
	roster_alive(&r->roster, n, now_ns + r->lease_ns);
	r->counters.renewed++;
	n->from = *from;
	if (!advertises(&n->entry) && !address_equal(&n->entry.address, from)) {
		roster_move(&r->roster, n, from);
		r->counters.moved++;
		roster_change(&r->roster, n);
		push_news(r, n, now_ns);
	}
	lease_reply(r, n, renew->request);
	push_progress(r, n, &renew->progress, now_ns);
}

static void leave_accept(struct registry *r, struct roster_node *n, uint64_t now_ns)
{
	manager_event_left(r, n, "left the fabric");
	roster_left(&r->roster, n, now_ns);
	roster_change(&r->roster, n);
	push_news(r, n, now_ns);
	r->counters.left++;
}

static void renew_receive(struct registry *r, const struct udp_address *from,
			  const struct wire_header *header, struct manage_body body,
			  uint64_t now_ns)
{
	struct manage_renew renew;

	if (manage_renew_decode(body, &renew) != DXP_OK || renew.nonce == 0) {
		r->counters.malformed++;
		return;
	}
	if (!run_admit(r, from, header->src_node, renew.request, renew.nonce, renew.run))
		return;
	if (r->sender && r->sender->replaced) {
		reject_replaced(r, from, header->src_node, &renew);
		return;
	}
	if (!key_admit(r, from, renew.request, renew.nonce))
		return;
	struct roster_node *n = sender_find(r, header, &renew);
	if (!n)
		r->counters.unknown++;
	else if (!request_admit(r, n, from, &renew))
		return;
	if (header->type == WIRE_TABLE_ACK) {
		if (n)
			push_progress(r, n, &renew.progress, now_ns);
	} else if (header->type == WIRE_LEAVE) {
		if (n)
			leave_accept(r, n, now_ns);
		/* Also answers a node without an entry, because leaving has the same result for
		 * it. */
		reject(r, from, renew.request, renew.nonce, DXP_OK, "");
	} else if (n) {
		renew_accept(r, from, n, &renew, now_ns);
	} else {
		reject(r, from, renew.request, renew.nonce, DXP_ENOENT, "no lease; join again");
	}
}

/* Logs the change of a path. A node without a lease gets no answer; it joins again, and then sends
 * the report again. */
static void report_receive(struct registry *r, const struct udp_address *from,
			   const struct wire_header *header, struct manage_body body)
{
	struct manage_answer answer = {.status = DXP_OK, .epoch = r->epoch};
	struct event_report report;

	if (event_report_decode(body, &report) != DXP_OK) {
		r->counters.malformed++;
		return;
	}
	const struct manage_renew *base = &report.base;
	if (!run_admit(r, from, header->src_node, base->request, base->nonce, base->run) ||
	    !key_admit(r, from, base->request, base->nonce))
		return;
	struct roster_node *n = sender_find(r, header, base);
	if (!n)
		r->counters.unknown++;
	if (!n || !request_admit(r, n, from, base) || !manager_event_report(r, n, &report))
		return;
	answer.request = base->request;
	answer.nonce = base->nonce;
	requests_answer(r, from, n->entry.id, &answer);
}

void requests_receive(struct registry *r, const struct udp_address *from,
		      const struct wire_header *header, struct manage_body body, uint64_t now_ns)
{
	switch (header->type) {
	case WIRE_JOIN: join_receive(r, from, body, now_ns); break;
	case WIRE_RENEW:
	case WIRE_TABLE_ACK:
	case WIRE_LEAVE: renew_receive(r, from, header, body, now_ns); break;
	case WIRE_REPORT: report_receive(r, from, header, body); break;
	case WIRE_EVENTS: manager_requests_events(r, from, body); break;
	case WIRE_ASSIGN: manager_requests_assign(r, from, body, now_ns); break;
	case WIRE_STATUS: manager_requests_status(r, from, body); break;
	case WIRE_GRANTS: manager_requests_grants(r, from, body); break;
	case WIRE_STATS: manager_requests_stats(r, from, body, now_ns); break;
	default: r->counters.unexpected++;
	}
}
