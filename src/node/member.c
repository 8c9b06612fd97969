/* SPDX-License-Identifier: BSD-3-Clause */
/* Membership as a state machine. Invariants: only one kind of request (JOIN, RENEW or LEAVE) is
 * outstanding. Each transmission has a new, larger number. An answer is accepted only for a number
 * that was sent, and only once. */
#include "node/member.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "link/datagram.h"
#include "node/limits.h"

#define RETRY_FIRST_NS (100 * MS_NS)
#define RETRY_MAX_NS   (1 * S_NS)
#define RISK_MAX_NS    (200 * MS_NS) /* longest wait before a retry while the lease is valid */
#define ALONE_MAX_NS   (2 * S_NS)
/* time in which an authentic answer can disprove a forged rejection */
#define AUTH_WAIT_NS (300 * MS_NS)
/* if the expiry moved by more than this, the other lease was renewed */
#define BUSY_SLACK_NS (200 * MS_NS)
#define LEAVE_TRIES   3
/* unanswered requests after which the next manager is tried: one may be lost */
#define SILENT_REQUESTS 2
#define FLIGHTS         8 /* latest requests whose answers are still accepted */
#define TEXT_BYTES      320

struct flight {
	uint64_t request; /* number of the request; 0: none, or already answered */
	uint64_t sent_ns;
};

struct member {
	struct member_options options;
	struct mac *mac;
	uint8_t public_key[KEYS_BYTES];
	const uint8_t *key; /* public_key, or NULL if the node joins with the fabric key */
	struct node_table *table;
	struct member_counters counters;
	enum member_state state;
	int status;
	enum log_level notice_level;
	bool notice;    /* member_notice has not yet returned `text` */
	bool need_join; /* the manager has no entry of this node: send JOIN, not RENEW */
	bool ack_due;
	bool key_doubt_reported;
	uint16_t id;
	uint64_t run; /* epoch of the manager, from its last answer; 0: none */
	/* random number of this membership; last request number; newest request number answered */
	uint64_t nonce, request, answered;
	struct flight flights[FLIGHTS];
	uint64_t join_until_ns, lease_until_ns, renew_ns;
	uint64_t send_ns, retry_ns; /* time of the next request; wait before the request after it */
	/* arrival time of a "wrong key" rejection; 0: none, or disproved */
	uint64_t rejected_key_ns;
	/* the manager's version of the wire format; 0: the same as this node's */
	uint8_t other_version;
	/* Expiry of the other lease on this node's identity, as reported in the first rejection; 0:
	 * none. */
	uint64_t busy_until_ns;
	uint64_t busy_epoch; /* epoch of the manager that reported this lease */
	unsigned leave_tries;
	unsigned unanswered; /* requests since the last answer, or since the manager was chosen */
	char text[TEXT_BYTES];
	/* text of the last authentic rejection that may be temporary */
	char rejection[MANAGE_TEXT_BYTES];
	int rejection_status;
	struct reports reports;
	uint8_t request_frame[MANAGE_FRAME_BYTES], ack_frame[MANAGE_FRAME_BYTES];
	uint8_t report_frame[MANAGE_FRAME_BYTES];
};

static void log_status(struct member *m, enum log_level level, const char *format, ...)
	PRINTF_LIKE(3, 4);
static void log_status(struct member *m, enum log_level level, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(m->text, sizeof(m->text), format, arguments);
	va_end(arguments);
	m->notice_level = level;
	m->notice = true;
}

static const char *manager_text(const struct member *m, char out[UDP_ADDRESS_TEXT_BYTES])
{
	return address_format(&m->options.manager, out);
}

static void fail(struct member *m, int status)
{
	m->state = MEMBER_FAILED;
	m->status = status;
	m->ack_due = false;
}

static bool options_valid(const struct member_options *o)
{
	const struct node_entry *self = &o->self;

	return manage_name_valid(self->name) &&
	       (self->kind == MANAGE_HOST || self->kind == MANAGE_XPU) &&
	       self->id <= WIRE_NODE_LAST &&
	       strnlen(self->engine, sizeof(self->engine)) < sizeof(self->engine) &&
	       strnlen(self->device, sizeof(self->device)) < sizeof(self->device) &&
	       o->manager.port != 0;
}

int member_create(const struct member_options *options, uint64_t now_ns, struct member **out)
{
	uint64_t timeout_ns = options->join_timeout_ns ? options->join_timeout_ns : FABRIC_JOIN_NS;

	if (!options_valid(options))
		return DXP_EINVAL;
	struct member *m = calloc(1, sizeof(*m));
	if (!m)
		return DXP_ENOMEM;
	m->options = *options;
	int status =
		mac_create(options->identity ? options->identity->pair : options->key, &m->mac);
	if (options->identity) {
		memcpy(m->public_key, options->identity->public_key, sizeof(m->public_key));
		m->key = m->public_key;
	}
	m->options.identity = NULL;
	keys_erase(m->options.key, sizeof(m->options.key));
	if (status == DXP_OK)
		status = node_table_create(&m->table);
	if (status != DXP_OK) {
		member_destroy(m);
		return status;
	}
	options->entropy(options->entropy_context, &m->nonce, sizeof(m->nonce));
	m->id = WIRE_NODE_NONE;
	m->need_join = true;
	m->join_until_ns = timeout_ns > UINT64_MAX - now_ns ? UINT64_MAX : now_ns + timeout_ns;
	m->send_ns = now_ns;
	m->retry_ns = RETRY_FIRST_NS;
	m->renew_ns = FABRIC_RENEW_NS;
	*out = m;
	return DXP_OK;
}

void member_destroy(struct member *m)
{
	if (!m)
		return;
	node_table_destroy(m->table);
	mac_destroy(m->mac);
	free(m);
}

/* Returns the number of a new transmission and records its time. */
static uint64_t flight_begin(struct member *m, uint64_t now_ns)
{
	uint64_t request = ++m->request;

	m->flights[request % FLIGHTS] = (struct flight){request, now_ns};
	return request;
}

/* Accepts the answer to `request` if none was accepted before. Sets *sent_ns to the time at which
 * the request was sent. */
static bool flight_end(struct member *m, uint64_t request, uint64_t *sent_ns)
{
	struct flight *f = &m->flights[request % FLIGHTS];

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

/* Varies a wait by up to a quarter, so that nodes do not all send at the same time after an
 * outage. */
static uint64_t jitter(struct member *m, uint64_t wait_ns)
{
	uint16_t drawn;

	m->options.entropy(m->options.entropy_context, &drawn, sizeof(drawn));
	return wait_ns - wait_ns / 4 + wait_ns / 2 * drawn / UINT16_MAX;
}

static void request_soon(struct member *m, uint64_t at_ns)
{
	m->send_ns = at_ns;
	m->retry_ns = RETRY_FIRST_NS;
}

static void lease_report(struct member *m)
{
	char address[UDP_ADDRESS_TEXT_BYTES];

	if (m->state == MEMBER_ALONE)
		log_status(m, LOG_LEVEL_WARN, "the manager at %s is back; node %u continues",
			   manager_text(m, address), m->id);
	else if (m->state == MEMBER_JOINING)
		log_status(m, LOG_LEVEL_INFO, "joined the fabric of %s as node %u",
			   manager_text(m, address), m->id);
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
	m->id = lease.node;
	m->run = lease.epoch;
	lease_report(m);
	m->state = MEMBER_JOINED;
	m->need_join = false;
	m->key_doubt_reported = false;
	m->busy_until_ns = 0;
	m->options.self.id = lease.node;
	m->lease_until_ns = sent_ns + min_u64(lease.lease_ns, UINT64_MAX - sent_ns);
	m->renew_ns = max_u64(lease.lease_ns / FABRIC_RENEWALS, 1);
	node_table_own(m->table, lease.node);
	node_table_epoch(m->table, lease.epoch);
	request_soon(m, now_ns + min_u64(m->renew_ns, UINT64_MAX - now_ns));
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
		fail(m, DXP_EBUSY);
		log_status(m, LOG_LEVEL_ERROR,
			   "cannot join as %s: %s; stop the other node, or use another name and "
			   "identity",
			   m->options.self.name, answer->text);
		return;
	}
	if (!m->busy_until_ns)
		m->busy_until_ns = until_ns;
	/* retry when the other lease expires, or earlier */
	m->send_ns = min_u64(m->send_ns, max_u64(until_ns, now_ns + RETRY_FIRST_NS));
}

static void rejection_act(struct member *m, const struct manage_answer *answer, uint64_t now_ns)
{
	memcpy(m->rejection, answer->text, sizeof(m->rejection));
	m->rejection_status = answer->status;
	switch (answer->status) {
	case DXP_ENOENT: /* the manager restarted without its table, or removed this node */
		if (!m->need_join)
			request_soon(m, now_ns);
		m->need_join = true;
		break;
	case DXP_EAGAIN: break; /* no capacity now; retry */
	case DXP_EBUSY: busy_receive(m, answer, now_ns); break;
	default:
		fail(m, answer->status);
		log_status(m, LOG_LEVEL_ERROR, "the manager rejects %s: %s", m->options.self.name,
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
	request_soon(m, now_ns);
	return true;
}

/* Handles the rejection of a manager that is not active: the next retry goes to the next one. */
static void stands_by(struct member *m)
{
	char address[UDP_ADDRESS_TEXT_BYTES];

	snprintf(m->rejection, sizeof(m->rejection), MEMBER_STANDS_BY, manager_text(m, address));
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
	/* even if the rows are out of order, because the acknowledgement states which rows come
	 * next */
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
	    m->flights[answer.request % FLIGHTS].request != answer.request)
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
	log_status(m, LOG_LEVEL_WARN, MEMBER_OTHER_VERSION, manager_text(m, address), version,
		   WIRE_VERSION);
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

static void wrong_key(struct member *m)
{
	char address[UDP_ADDRESS_TEXT_BYTES];

	if (m->state == MEMBER_JOINING) {
		fail(m, DXP_EAUTH);
		log_status(m, LOG_LEVEL_ERROR,
			   m->key ? "the manager at %s does not know this machine's key; run `dxp "
				    "join HOST TOKEN` with a new token"
				  : "the manager at %s rejects this key; use the key file of that "
				    "fabric, or run `dxp join HOST TOKEN`",
			   manager_text(m, address));
	} else if (m->state == MEMBER_ALONE && !m->key_doubt_reported) {
		m->key_doubt_reported = true;
		log_status(
			m, LOG_LEVEL_WARN,
			"the manager at %s now has another key; node %u continues with the known "
			"nodes",
			manager_text(m, address), m->id);
	}
	m->rejected_key_ns = 0;
}

static void join_too_late(struct member *m)
{
	char address[UDP_ADDRESS_TEXT_BYTES];

	if (m->rejection_status != DXP_OK) {
		fail(m, m->rejection_status);
		log_status(m, LOG_LEVEL_ERROR, "cannot join as %s: %s", m->options.self.name,
			   m->rejection);
		return;
	}
	if (m->other_version) {
		fail(m, DXP_EUNSUPPORTED);
		log_status(m, LOG_LEVEL_ERROR, MEMBER_OTHER_VERSION, manager_text(m, address),
			   m->other_version, WIRE_VERSION);
		return;
	}
	fail(m, DXP_ETIMEDOUT);
	log_status(m, LOG_LEVEL_ERROR,
		   "no manager answers at %s; start one with `dxp up` or dxp-manager, or check the "
		   "address",
		   manager_text(m, address));
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
		log_status(
			m, LOG_LEVEL_WARN,
			"the manager at %s is silent; node %u continues with the known nodes and "
			"repeats its requests",
			manager_text(m, address), m->id);
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
	request_soon(m, now_ns);
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

void member_moved(struct member *m, uint64_t now_ns)
{
	if (m->state < MEMBER_LEAVING)
		request_soon(m, now_ns);
}

void member_report(struct member *m, const struct path_change *change)
{
	reports_add(&m->reports, change);
}

void member_leave(struct member *m, uint64_t now_ns)
{
	if (m->state >= MEMBER_LEAVING)
		return;
	if (m->id == WIRE_NODE_NONE) {
		m->state = MEMBER_LEFT; /* a lease that may still arrive will simply expire */
		return;
	}
	m->state = MEMBER_LEAVING;
	m->ack_due = false;
	request_soon(m, now_ns);
}

enum member_state member_state(const struct member *m)
{
	return m->state;
}

uint16_t member_id(const struct member *m)
{
	return m->id;
}

struct node_table *member_table(struct member *m)
{
	return m->table;
}

int member_status(const struct member *m)
{
	return m->status;
}

const char *member_text(const struct member *m)
{
	return m->text;
}

const char *member_notice(struct member *m, enum log_level *level)
{
	if (!m->notice)
		return NULL;
	m->notice = false;
	*level = m->notice_level;
	return m->text;
}

const struct member_counters *member_counters(const struct member *m)
{
	return &m->counters;
}
