/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends the requests of a member, and handles the times at which its state changes. */
#include <string.h>

#include <dxp/status.h>

#include "node/member_internal.h"

#define RETRY_MAX_NS (1 * S_NS)
#define RISK_MAX_NS  (200 * MS_NS) /* longest wait before a retry while the lease is valid */
#define ALONE_MAX_NS (2 * S_NS)
/* time in which an authentic answer can disprove a forged rejection */
#define AUTH_WAIT_NS (300 * MS_NS)
#define LEAVE_TRIES  3
/* unanswered requests after which the next manager is tried: one may be lost */
#define SILENT_REQUESTS 2

/* Returns the number of a new transmission and records its time. */
static uint64_t flight_begin(struct member *m, uint64_t now_ns)
{
	uint64_t request = ++m->request;

	m->flights[request % MEMBER_FLIGHTS] = (struct member_flight){request, now_ns};
	return request;
}

/* Varies a wait by up to a quarter, so that nodes do not all send at the same time after an
 * outage. */
static uint64_t jitter(struct member *m, uint64_t wait_ns)
{
	uint16_t drawn;

	m->options.entropy(m->options.entropy_context, &drawn, sizeof(drawn));
	return wait_ns - wait_ns / 4 + wait_ns / 2 * drawn / UINT16_MAX;
}

static void wrong_key(struct member *m)
{
	char address[UDP_ADDRESS_TEXT_BYTES];

	if (m->state == MEMBER_JOINING) {
		member_fail(m, DXP_EAUTH,
			    m->key ? "the manager at %s does not know this machine's key; run `dxp "
				     "join HOST TOKEN` with a new token, or write the manager's "
				     "new fingerprint to manager.pub if its key pair was replaced"
				   : "the manager at %s rejects this key; use the key file of that "
				     "fabric, or run `dxp join HOST TOKEN`",
			    member_manager_text(m, address));
	} else if (m->state == MEMBER_ALONE && !m->key_doubt_reported) {
		m->key_doubt_reported = true;
		member_log(
			m, LOG_LEVEL_WARN,
			"the manager at %s now has another key; node %u continues with the known "
			"nodes",
			member_manager_text(m, address), m->id);
	}
	m->rejected_key_ns = 0;
}

static void join_too_late(struct member *m)
{
	char address[UDP_ADDRESS_TEXT_BYTES];

	if (m->rejection_status != DXP_OK) {
		member_fail(m, m->rejection_status, "cannot join as %s: %s", m->options.self.name,
			    m->rejection);
		return;
	}
	if (m->other_version) {
		member_fail(m, DXP_EUNSUPPORTED, MEMBER_OTHER_VERSION,
			    member_manager_text(m, address), m->other_version, WIRE_VERSION);
		return;
	}
	member_fail(
		m, DXP_ETIMEDOUT,
		"no manager answers at %s; start one with `dxp up` or dxp-manager, or check the "
		"address",
		member_manager_text(m, address));
}

/* Handles everything whose time has come. */
static void advance(struct member *m, uint64_t now_ns)
{
	char address[UDP_ADDRESS_TEXT_BYTES];

	if (m->rejected_key_ns && now_ns >= m->rejected_key_ns + AUTH_WAIT_NS &&
	    m->state <= MEMBER_ALONE)
		wrong_key(m);
	if (m->state == MEMBER_JOINING && now_ns >= m->join_until_ns)
		join_too_late(m);
	if (m->state == MEMBER_JOINED && now_ns >= m->lease_until_ns) {
		m->state = MEMBER_ALONE;
		if (m->rejection_status != DXP_OK)
			member_log(m, LOG_LEVEL_WARN,
				   "the manager at %s rejects node %u: %s; it continues with the "
				   "known nodes and repeats its requests",
				   member_manager_text(m, address), m->id, m->rejection);
		else
			member_log(m, LOG_LEVEL_WARN,
				   "the manager at %s is silent; node %u continues with the known "
				   "nodes and repeats its requests",
				   member_manager_text(m, address), m->id);
	}
	if (m->state == MEMBER_LEAVING && m->leave_tries == LEAVE_TRIES && now_ns >= m->send_ns)
		m->state = MEMBER_LEFT;
}

static struct manage_renew renew_make(const struct member *m, uint64_t request)
{
	struct manage_renew renew = {
		.request = request,
		.nonce = m->nonce,
		.run = m->run,
		.incarnation = m->options.self.incarnation,
		.progress = node_table_progress(m->table),
		.key = m->key,
	};

	memcpy(renew.uuid, m->options.self.uuid, sizeof(renew.uuid));
	return renew;
}

static size_t request_encode(struct member *m, uint64_t now_ns)
{
	struct manage_join join = {.request = flight_begin(m, now_ns),
				   .nonce = m->nonce,
				   .run = m->run,
				   .self = m->options.self,
				   .key = m->key};
	struct manage_renew renew = renew_make(m, join.request);

	if (m->state == MEMBER_LEAVING)
		return manage_renew_encode(WIRE_LEAVE, m->id, &renew, m->mac, m->request_frame);
	if (m->need_join)
		return manage_join_encode(&join, m->mac, m->request_frame);
	return manage_renew_encode(WIRE_RENEW, m->id, &renew, m->mac, m->request_frame);
}

/* Returns the longest wait between two retries. */
static uint64_t retry_max(const struct member *m)
{
	switch (m->state) {
	case MEMBER_JOINED: return RISK_MAX_NS;
	case MEMBER_ALONE: return ALONE_MAX_NS;
	default: return RETRY_MAX_NS;
	}
}

static void request_schedule(struct member *m, uint64_t now_ns)
{
	uint64_t max_ns = retry_max(m);

	m->leave_tries += m->state == MEMBER_LEAVING;
	m->send_ns = now_ns + jitter(m, m->retry_ns);
	m->retry_ns = min_u64(m->retry_ns + m->retry_ns / 2, max_ns);
}

/* Detects that this process was suspended. Then extends the lease for a moment and sends a RENEW,
 * because the silence of the manager is not proved. */
static void absence_note(struct member *m, uint64_t now_ns)
{
	uint64_t deadline_ns = member_deadline(m);

	if (m->state != MEMBER_JOINED || deadline_ns == 0 || now_ns < deadline_ns ||
	    now_ns - deadline_ns < FABRIC_LATE_NS)
		return;
	m->lease_until_ns = max_u64(m->lease_until_ns, now_ns + FABRIC_LATE_NS);
	member_request_at(m, now_ns);
}

static size_t report_send(struct member *m, struct datagram *out, uint64_t now_ns)
{
	struct event_report *report = reports_next(&m->reports, m->request + 1, now_ns);

	if (!report)
		return 0;
	report->base = renew_make(m, ++m->request);
	datagram_place(out, &m->options.manager, m->report_frame,
		       event_report_encode(m->id, report, m->mac, m->report_frame));
	return 1;
}

size_t member_send(struct member *m, struct datagram *out, size_t count, uint64_t now_ns)
{
	size_t sent = 0;

	absence_note(m, now_ns);
	advance(m, now_ns);
	if (m->state > MEMBER_LEAVING)
		return 0;
	if (now_ns >= m->send_ns && sent < count) {
		if (m->unanswered >= SILENT_REQUESTS) {
			managers_next(&m->options.manager, &m->options.others);
			m->unanswered = 0;
		}
		m->unanswered++;
		size_t bytes = request_encode(m, now_ns);
		datagram_place(&out[sent++], &m->options.manager, m->request_frame, bytes);
		request_schedule(m, now_ns);
		/* a RENEW also carries the acknowledgement, so no separate one is needed */
		m->ack_due = m->ack_due && m->need_join;
	}
	if (m->ack_due && sent < count) {
		struct manage_renew ack = renew_make(m, ++m->request);
		size_t bytes =
			manage_renew_encode(WIRE_TABLE_ACK, m->id, &ack, m->mac, m->ack_frame);
		datagram_place(&out[sent++], &m->options.manager, m->ack_frame, bytes);
		m->ack_due = false;
	}
	if (m->state == MEMBER_JOINED && sent < count)
		sent += report_send(m, &out[sent], now_ns);
	return sent;
}

uint64_t member_deadline(const struct member *m)
{
	uint64_t deadline_ns = m->send_ns;

	if (m->state > MEMBER_LEAVING)
		return UINT64_MAX;
	if (m->ack_due)
		return 0;
	if (m->state == MEMBER_JOINING)
		deadline_ns = min_u64(deadline_ns, m->join_until_ns);
	if (m->state == MEMBER_JOINED)
		deadline_ns = min_u64(deadline_ns,
				      min_u64(m->lease_until_ns, reports_deadline(&m->reports)));
	if (m->rejected_key_ns)
		deadline_ns = min_u64(deadline_ns, m->rejected_key_ns + AUTH_WAIT_NS);
	return deadline_ns;
}
