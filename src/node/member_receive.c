/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles the frames that the manager sends to a member. */
#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "keys/fabric_key.h"
#include "node/member_internal.h"

/* if the expiry moved by more than this, the other lease was renewed */
#define BUSY_SLACK_NS (200 * MS_NS)

/* Accepts the answer to `request` if none was accepted before. Sets *sent_ns to the time at which
 * the request was sent. */
static bool flight_end(struct member *m, uint64_t request, uint64_t *sent_ns)
{
	struct member_flight *f = &m->flights[request % MEMBER_FLIGHTS];

	if (request == 0 || f->request != request || request <= m->answered) {
		m->counters.stale++;
		return false;
	}
	f->request = 0;
	m->answered = request;
	m->unanswered = 0;
	*sent_ns = f->sent_ns;
	return true;
}

static void lease_report(struct member *m)
{
	char address[UDP_ADDRESS_TEXT_BYTES];

	if (m->state == MEMBER_ALONE)
		member_log(m, LOG_LEVEL_WARN, "the manager at %s is back; node %u continues",
			   member_manager_text(m, address), m->id);
	else if (m->state == MEMBER_JOINING)
		member_log(m, LOG_LEVEL_INFO, "joined the fabric of %s as node %u",
			   member_manager_text(m, address), m->id);
}

/* Takes the fabric key of a LEASE if it is another one. A key that cannot be opened, because memory
 * is short, comes again with the next LEASE. */
static void rekey_receive(struct member *m, const struct manage_rekey *rekey, uint64_t now_ns)
{
	if (!rekey->generation || rekey->generation == m->rekey.generation || !m->key ||
	    !fabric_key_open(m->pair, rekey->generation, rekey->sealed, m->rekey.key))
		return;
	m->rekey.generation = rekey->generation;
	m->rekey.use_ns = now_ns + rekey->use_ms * MS_NS;
	m->rekey.former_until_ns = now_ns + rekey->former_ms * MS_NS;
	m->rekey_new = true;
}

static void lease_receive(struct member *m, const struct udp_address *from, struct manage_body body,
			  uint64_t now_ns)
{
	struct manage_lease lease;
	uint64_t sent_ns;

	if (manage_lease_decode(body, &lease) != DXP_OK) {
		m->counters.malformed++;
		return;
	}
	if (m->state > MEMBER_ALONE || !flight_end(m, lease.request, &sent_ns))
		return;
	managers_use(&m->options.manager, &m->options.others, from);
	rekey_receive(m, &lease.rekey, now_ns);
	if (lease.repin.generation && m->key) {
		memcpy(m->repin, lease.repin.key, sizeof(m->repin));
		m->repin_new = true;
	}
	m->id = lease.node;
	m->run = lease.epoch;
	lease_report(m);
	m->state = MEMBER_JOINED;
	m->need_join = false;
	m->key_doubt_reported = false;
	m->rejection_status = DXP_OK;
	m->busy_until_ns = 0;
	m->options.self.id = lease.node;
	m->lease_until_ns = sent_ns + min_u64(lease.lease_ns, UINT64_MAX - sent_ns);
	m->renew_ns = max_u64(lease.lease_ns / FABRIC_RENEWALS, 1);
	node_table_own(m->table, lease.node);
	node_table_epoch(m->table, lease.epoch);
	member_request_at(m, now_ns + min_u64(m->renew_ns, UINT64_MAX - now_ns));
}

/* Handles a rejection because another lease has this node's name or uuid. If the lease belongs to
 * this node's previous run, it will expire, so waits for that. If the lease was renewed since the
 * first rejection, another node has the same identity, so fails. A restarted manager extends all
 * leases once. So after a new epoch, the comparison starts again. */
static void busy_receive(struct member *m, const struct manage_answer *answer, uint64_t now_ns)
{
	uint64_t until_ns = now_ns + min_u64(answer->retry_ns, UINT64_MAX - now_ns);

	if (answer->epoch != m->busy_epoch)
		m->busy_until_ns = 0;
	m->busy_epoch = answer->epoch;
	if (answer->retry_ns == 0 ||
	    (m->busy_until_ns && until_ns > m->busy_until_ns + BUSY_SLACK_NS)) {
		member_fail(m, DXP_EBUSY,
			    "cannot join as %s: %s; stop the other node, or use another name and "
			    "identity",
			    m->options.self.name, answer->text);
		return;
	}
	if (!m->busy_until_ns)
		m->busy_until_ns = until_ns;
	/* retry when the other lease expires, or earlier */
	m->send_ns = min_u64(m->send_ns, max_u64(until_ns, now_ns + MEMBER_RETRY_FIRST_NS));
}

static void rejection_act(struct member *m, const struct manage_answer *answer, uint64_t now_ns)
{
	memcpy(m->rejection, answer->text, sizeof(m->rejection));
	m->rejection_status = answer->status;
	switch (answer->status) {
	case DXP_ENOENT: /* the manager restarted without its table, or removed this node */
		if (!m->need_join)
			member_request_at(m, now_ns);
		m->need_join = true;
		break;
	case DXP_EAGAIN: break; /* no capacity now; retry */
	case DXP_EBUSY: busy_receive(m, answer, now_ns); break;
	default:
		member_fail(m, answer->status, "the manager rejects %s: %s", m->options.self.name,
			    answer->text);
	}
}

/* Repeats the request with the manager's new epoch, because the manager has started or restarted.
 * Returns true if the answer only reported the epoch. */
static bool run_learned(struct member *m, const struct manage_answer *answer, uint64_t now_ns)
{
	if (answer->status != DXP_EAGAIN || answer->epoch == 0 || answer->epoch == m->run)
		return false;
	m->run = answer->epoch;
	member_request_at(m, now_ns);
	return true;
}

/* Handles the rejection of a manager that is not active: the next retry goes to the next one. */
static void stands_by(struct member *m)
{
	char address[UDP_ADDRESS_TEXT_BYTES];

	snprintf(m->rejection, sizeof(m->rejection), MEMBER_STANDS_BY,
		 member_manager_text(m, address));
	m->rejection_status = DXP_EAGAIN;
	managers_next(&m->options.manager, &m->options.others);
}

static void answer_receive(struct member *m, uint8_t type, struct manage_body body, uint64_t now_ns)
{
	struct manage_answer answer;
	uint64_t sent_ns;

	if (manage_answer_decode(body, &answer) != DXP_OK ||
	    (type == WIRE_REFUSE) != (answer.status != DXP_OK)) {
		m->counters.malformed++;
		return;
	}
	if (reports_answered(&m->reports, answer.request, type == WIRE_ANSWER)) {
		run_learned(m, &answer, now_ns);
		return;
	}
	if (m->state > MEMBER_LEAVING || !flight_end(m, answer.request, &sent_ns) ||
	    run_learned(m, &answer, now_ns))
		return;
	if (answer.status == DXP_EAGAIN && answer.epoch == 0) {
		stands_by(m);
		return;
	}
	if (m->state == MEMBER_LEAVING)
		/* A rejection also means that the manager has no entry of this node, so the node
		 * has left. */
		m->state = MEMBER_LEFT;
	else if (type == WIRE_REFUSE)
		rejection_act(m, &answer, now_ns);
}

static void rows_receive(struct member *m, uint8_t type, struct manage_body body)
{
	struct manage_rows rows;
	struct manage_reader reader;

	if (manage_rows_decode(type, body, &rows, &reader) != DXP_OK) {
		m->counters.malformed++;
		return;
	}
	if ((m->state != MEMBER_JOINED && m->state != MEMBER_ALONE) || rows.request != 0) {
		m->counters.unexpected++;
		return;
	}
	if (node_table_apply(m->table, type, &rows, reader) != DXP_OK)
		m->counters.stale++;
	/* Acknowledges rows out of order too, because the acknowledgement states which rows come
	 * next. */
	m->ack_due = true;
}

/* Handles a frame whose authentication failed. A "wrong key" rejection can never be authentic. It
 * counts only if it repeats this node's nonce and the number of an outstanding request. Only
 * machines on the path know both. */
static void unauthentic_receive(struct member *m, const struct udp_address *from, uint8_t type,
				struct manage_body body, uint64_t now_ns)
{
	struct manage_answer answer;

	m->counters.unauthentic++;
	if (type != WIRE_REFUSE || !managers_have(&m->options.manager, &m->options.others, from) ||
	    manage_answer_decode(body, &answer) != DXP_OK || answer.status != DXP_EAUTH ||
	    answer.nonce != m->nonce || answer.request == 0 ||
	    m->flights[answer.request % MEMBER_FLIGHTS].request != answer.request)
		return;
	if (!m->rejected_key_ns)
		m->rejected_key_ns = now_ns;
}

/* Records that the manager has another version of the wire format. The frame cannot be
 * authenticated, so the node only reports the version, and continues to try. */
static void other_version_receive(struct member *m, const struct udp_address *from, uint8_t version)
{
	char address[UDP_ADDRESS_TEXT_BYTES];

	if (!address_equal(from, &m->options.manager) || m->state != MEMBER_JOINING ||
	    m->other_version)
		return;
	m->other_version = version;
	member_log(m, LOG_LEVEL_WARN, MEMBER_OTHER_VERSION, member_manager_text(m, address),
		   version, WIRE_VERSION);
}

void member_receive(struct member *m, const struct udp_address *from, const uint8_t *data,
		    size_t bytes, uint64_t now_ns)
{
	struct wire_header header;
	struct manage_body body;
	uint64_t request, nonce;
	int status = manage_open(data, bytes, m->mac, &header, &body);

	if (status == DXP_EAUTH) {
		unauthentic_receive(m, from, header.type, body, now_ns);
		return;
	}
	if (status != DXP_OK || !manage_prefix(body, &request, &nonce)) {
		*(status == DXP_EIO ? &m->counters.damaged : &m->counters.malformed) += 1;
		if (status == DXP_EMALFORMED && wire_other_version(data, bytes))
			other_version_receive(m, from, wire_other_version(data, bytes));
		return;
	}
	if (nonce != m->nonce || header.src_node != WIRE_NODE_MANAGER) {
		m->counters.stale++;
		return;
	}
	m->rejected_key_ns = 0;
	switch (header.type) {
	case WIRE_LEASE: lease_receive(m, from, body, now_ns); break;
	case WIRE_REFUSE:
	case WIRE_ANSWER: answer_receive(m, header.type, body, now_ns); break;
	case WIRE_NODE_TABLE:
	case WIRE_NODE_DELTA: rows_receive(m, header.type, body); break;
	default: m->counters.unexpected++;
	}
}
