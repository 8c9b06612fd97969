/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of nodes: RENEW, LEAVE, TABLE_ACK, REPORT, and what JOIN shares with them. A node draws
 * a nonce at each start. The number of a request must exceed the numbers of all earlier requests
 * with the same nonce. A request with a new nonce must state the epoch of this run of the manager.
 * So replayed datagrams change nothing, even those from before a restart. */
#include "manager/requests.h"

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

void requests_lease(struct registry *r, struct roster_node *n, uint64_t request)
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

/* ---- rejections ---- */

void requests_reject(struct registry *r, const struct udp_address *from, uint64_t request,
		     uint64_t nonce, int status, const char *text)
{
	struct manage_answer answer = {.request = request, .nonce = nonce, .status = status};

	snprintf(answer.text, sizeof(answer.text), "%s", text);
	if (status != DXP_OK && status != DXP_ENOENT)
		manager_event_refused(r, from, text, text);
	requests_answer(r, from, WIRE_NODE_NONE, &answer);
}

void requests_repeat(struct registry *r, const struct udp_address *from, uint16_t node,
		     uint64_t request, uint64_t nonce, uint64_t run)
{
	struct manage_answer answer = {.request = request,
				       .nonce = nonce,
				       .status = DXP_EAGAIN,
				       .epoch = run,
				       .text = "repeat this request with this epoch"};

	requests_answer(r, from, node, &answer);
}

bool requests_run_admit(struct registry *r, const struct udp_address *from, uint16_t node,
			uint64_t request, uint64_t nonce, uint64_t run)
{
	if (run == r->epoch)
		return true;
	r->counters.stale++;
	requests_repeat(r, from, node, request, nonce, r->epoch);
	return false;
}

/* ---- keys ---- */

const char *manager_removed_text(const struct key_row *row)
{
	return row->replaced ? MANAGER_REPLACED_TEXT : MANAGER_REMOVED_TEXT;
}

bool requests_key_admit(struct registry *r, const struct udp_address *from, uint64_t request,
			uint64_t nonce)
{
	if (!r->sender && r->options.admission == ADMIT_TOKEN) {
		r->counters.key_needed++;
		requests_reject(r, from, request, nonce, DXP_EACCESS,
				"this fabric admits machines by token; run `dxp join HOST TOKEN` "
				"here, with "
				"a token that `dxp token create` prints");
		return false;
	}
	if (r->sender && r->sender->removed) {
		r->counters.key_removed++;
		requests_reject(r, from, request, nonce, DXP_EACCESS,
				manager_removed_text(r->sender));
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

bool requests_key_same(const struct registry *r, const struct roster_node *n)
{
	if (!r->sender)
		return n->entry.role == ROLE_NONE;
	return n->entry.role && memcmp(n->entry.key, r->sender->key, KEYS_BYTES) == 0;
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

/* ---- RENEW, TABLE_ACK, LEAVE ---- */

/* Returns the node that sent the request; NULL: it holds no lease. */
static struct roster_node *sender_find(const struct registry *r, const struct wire_header *header,
				       const struct manage_renew *renew)
{
	struct roster_node *n = roster_find(&r->roster, header->src_node);

	if (!n || n->state != NODE_ALIVE || !requests_key_same(r, n) ||
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
	if (!requests_advertises(&n->entry) && !address_equal(&n->entry.address, from)) {
		roster_move(&r->roster, n, from);
		r->counters.moved++;
		roster_change(&r->roster, n);
		push_news(r, n, now_ns);
	}
	requests_lease(r, n, renew->request);
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
	if (!requests_run_admit(r, from, header->src_node, renew.request, renew.nonce, renew.run))
		return;
	if (r->sender && r->sender->replaced) {
		reject_replaced(r, from, header->src_node, &renew);
		return;
	}
	if (!requests_key_admit(r, from, renew.request, renew.nonce))
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
		requests_reject(r, from, renew.request, renew.nonce, DXP_OK, "");
	} else if (n) {
		renew_accept(r, from, n, &renew, now_ns);
	} else {
		requests_reject(r, from, renew.request, renew.nonce, DXP_ENOENT,
				"no lease; join again");
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
	if (!requests_run_admit(r, from, header->src_node, base->request, base->nonce, base->run) ||
	    !requests_key_admit(r, from, base->request, base->nonce))
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
	case WIRE_JOIN: requests_join(r, from, body, now_ns); break;
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
