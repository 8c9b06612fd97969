/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests to a manager that need no membership. A request that changes grants must state the
 * version of the grants which it changes. So it takes two rounds: the manager rejects the first one
 * and returns the version. A table arrives in pages; each request states the first row that it
 * needs. */
#include "node/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "link/datagram.h"
#include "node/limits.h"

#define RETRY_FIRST_NS (100 * MS_NS)
#define RETRY_MAX_NS   (500 * MS_NS)
#define AUTH_WAIT_NS   (300 * MS_NS)
/* wait after the answer of a manager that stands by */
#define STANDBY_WAIT_NS (50 * MS_NS)

struct query {
	struct query_options options;
	struct mac *mac;
	uint8_t public_key[KEYS_BYTES];
	const uint8_t *key; /* public_key, or NULL if the query uses the fabric key */
	struct manage_assign assign;
	struct node_entry *rows;
	/* for GRANTS: `count` rows, of version `version` in epoch `epoch` */
	struct grants_row *grants;
	/* for EVENTS: `count` rows; the last page, and the number that the next request states */
	struct event_row *events;
	struct events_page page;
	bool paged; /* a page has arrived, perhaps without rows */
	uint64_t from;
	uint64_t epoch, version;
	bool explicit;
	size_t count, space;
	bool done;
	int status;
	uint16_t first; /* for NODES, the first id of the next page; for GRANTS, its first row */
	uint64_t nonce, request;
	uint64_t send_ns, retry_ns, until_ns;
	unsigned tries; /* transmissions of this round */
	uint64_t rejected_key_ns;
	bool standing_by; /* a manager has answered that another one is active */
	/* the manager's version of the wire format; 0: the same as this program's */
	uint8_t other_version;
	char text[MANAGE_TEXT_BYTES + 64];
	uint8_t frame[MANAGE_FRAME_BYTES];
};

static bool name_copy(char to[FABRIC_NAME_BYTES], const char *from)
{
	if (!from || (!manage_name_valid(from) && strcmp(from, "*") != 0))
		return false;
	snprintf(to, FABRIC_NAME_BYTES, "%s", from);
	return true;
}

/* Returns true if the request changes grants. */
static bool assigns(const struct query *a)
{
	return a->options.kind == QUERY_GRANT || a->options.kind == QUERY_REVOKE;
}

int query_create(const struct query_options *options, uint64_t now_ns, struct query **out)
{
	struct query *a = calloc(1, sizeof(*a));
	int status = DXP_OK;

	if (!a)
		return DXP_ENOMEM;
	a->options = *options;
	if (assigns(a) &&
	    (!name_copy(a->assign.host, options->host) || !name_copy(a->assign.xpu, options->xpu)))
		status = DXP_EINVAL;
	if (status == DXP_OK)
		status = mac_create(options->identity ? options->identity->pair : options->key,
				    &a->mac);
	if (status != DXP_OK) {
		query_destroy(a);
		return status;
	}
	if (options->identity) {
		memcpy(a->public_key, options->identity->public_key, sizeof(a->public_key));
		a->key = a->public_key;
	}
	a->options.identity = NULL;
	keys_erase(a->options.key, sizeof(a->options.key));
	options->entropy(options->entropy_context, &a->nonce, sizeof(a->nonce));
	a->assign.action = options->kind == QUERY_GRANT ? MANAGE_GRANT : MANAGE_REVOKE;
	a->from = options->events.from;
	a->first = options->kind == QUERY_NODES ? WIRE_NODE_FIRST : 0;
	a->send_ns = now_ns;
	a->retry_ns = RETRY_FIRST_NS;
	a->until_ns = now_ns + (options->timeout_ns ? options->timeout_ns : FABRIC_JOIN_NS);
	*out = a;
	return DXP_OK;
}

void query_destroy(struct query *a)
{
	if (!a)
		return;
	mac_destroy(a->mac);
	free(a->rows);
	free(a->grants);
	free(a->events);
	free(a);
}

static void finish(struct query *a, int status, const char *text)
{
	a->done = true;
	a->status = status;
	snprintf(a->text, sizeof(a->text), "%s", text);
}

/* Schedules the next round now, and resets the retry time. */
static void again(struct query *a, uint64_t now_ns)
{
	a->send_ns = now_ns;
	a->retry_ns = RETRY_FIRST_NS;
	a->tries = 0;
}

static void answer_receive(struct query *a, struct manage_body body, uint64_t now_ns)
{
	struct manage_answer answer;

	if (manage_answer_decode(body, &answer) != DXP_OK)
		return;
	if (answer.status == DXP_EAGAIN && answer.epoch == 0) {
		a->standing_by = true; /* the next try goes to the next manager */
		a->send_ns = min_u64(a->send_ns, now_ns + STANDBY_WAIT_NS);
		return;
	}
	if (answer.status != DXP_EAGAIN || !assigns(a)) {
		finish(a, answer.status, answer.text);
		return;
	}
	a->assign.epoch = answer.epoch;
	a->assign.version = answer.version;
	again(a, now_ns);
}

static bool row_add(struct query *a, const struct node_entry *entry)
{
	if (a->count == FABRIC_NODES_MAX)
		return false;
	if (a->count == a->space) {
		size_t space = a->space ? 2 * a->space : 64;
		struct node_entry *rows = realloc(a->rows, space * sizeof(*rows));
		if (!rows)
			return false;
		a->rows = rows;
		a->space = space;
	}
	a->rows[a->count++] = *entry;
	return true;
}

static void page_receive(struct query *a, struct manage_body body, uint64_t now_ns)
{
	struct manage_rows rows;
	struct manage_reader reader;
	struct node_entry entry;
	bool removed;

	if (manage_rows_decode(WIRE_NODE_TABLE, body, &rows, &reader) != DXP_OK ||
	    rows.first != a->first)
		return;
	while (manage_rows_next(&reader, &entry, &removed))
		if (!row_add(a, &entry)) {
			finish(a, DXP_ENOMEM, "not enough memory for the node table");
			return;
		}
	a->first = rows.next;
	if (a->first == 0)
		finish(a, DXP_OK, "");
	else
		again(a, now_ns);
}

/* Appends the rows of a page. Starts again with the first page if the grants have changed since the
 * last page. */
static void grants_receive(struct query *a, struct manage_body body, uint64_t now_ns)
{
	struct grants_page page;

	if (grants_page_decode(body, &page) != DXP_OK || page.first != a->first)
		return;
	if (a->first > 0 && (page.epoch != a->epoch || page.version != a->version)) {
		a->first = 0;
		a->count = 0;
		again(a, now_ns);
		return;
	}
	struct grants_row *rows = realloc(a->grants, (a->count + page.count + 1) * sizeof(*rows));
	if (!rows) {
		finish(a, DXP_ENOMEM, "not enough memory for the grants");
		return;
	}
	memcpy(rows + a->count, page.rows, page.count * sizeof(*rows));
	a->grants = rows;
	a->count += page.count;
	a->epoch = page.epoch;
	a->version = page.version;
	a->explicit = page.rule == GRANTS_RULE_EXPLICIT;
	a->first = page.next;
	if (a->first == 0)
		finish(a, DXP_OK, "");
	else
		again(a, now_ns);
}

/* Appends the rows of a page. The query is done at the end of the log, or if no further page fits.
 * Starts again if the page is of another run of the manager than the last one. */
static void events_receive(struct query *a, struct manage_body body, uint64_t now_ns)
{
	struct events_page page;

	if (events_page_decode(body, &page) != DXP_OK || page.from != a->from)
		return;
	if (a->paged && page.epoch != a->page.epoch) {
		a->from = a->options.events.from;
		a->paged = false;
		a->count = 0;
		again(a, now_ns);
		return;
	}
	struct event_row *rows = realloc(a->events, (a->count + page.count + 1) * sizeof(*rows));
	if (!rows) {
		finish(a, DXP_ENOMEM, "not enough memory for the events");
		return;
	}
	memcpy(rows + a->count, page.rows, page.count * sizeof(*rows));
	a->events = rows;
	a->count += page.count;
	a->page = page;
	a->paged = true;
	a->from = page.next;
	if (page.next > page.newest || a->count + EVENTS_PAGE_ROWS > QUERY_EVENTS_MAX)
		finish(a, DXP_OK, "");
	else
		again(a, now_ns);
}

void query_receive(struct query *a, const struct udp_address *from, const uint8_t *data,
		   size_t bytes, uint64_t now_ns)
{
	struct wire_header header;
	struct manage_body body;
	struct manage_answer answer;
	uint64_t request, nonce;
	int status = manage_open(data, bytes, a->mac, &header, &body);

	if (status == DXP_EMALFORMED &&
	    managers_have(&a->options.manager, &a->options.others, from))
		a->other_version = wire_other_version(data, bytes);
	if (a->done || (status != DXP_OK && status != DXP_EAUTH) ||
	    !manage_prefix(body, &request, &nonce) || nonce != a->nonce || request != a->request ||
	    request == 0)
		return;
	if (status == DXP_EAUTH) {
		if (header.type == WIRE_REFUSE &&
		    managers_have(&a->options.manager, &a->options.others, from) &&
		    manage_answer_decode(body, &answer) == DXP_OK && answer.status == DXP_EAUTH &&
		    !a->rejected_key_ns)
			a->rejected_key_ns = now_ns;
		return;
	}
	a->rejected_key_ns = 0;
	managers_use(&a->options.manager, &a->options.others, from);
	if (header.type == WIRE_REFUSE || header.type == WIRE_ANSWER)
		answer_receive(a, body, now_ns);
	else if (header.type == WIRE_NODE_TABLE && a->options.kind == QUERY_NODES)
		page_receive(a, body, now_ns);
	else if (header.type == WIRE_GRANTS_PAGE && a->options.kind == QUERY_GRANTS)
		grants_receive(a, body, now_ns);
	else if (header.type == WIRE_EVENTS_PAGE && a->options.kind == QUERY_EVENTS)
		events_receive(a, body, now_ns);
}

static void advance(struct query *a, uint64_t now_ns)
{
	char address[UDP_ADDRESS_TEXT_BYTES], text[sizeof(a->text)];

	address_format(&a->options.manager, address);
	if (a->rejected_key_ns && now_ns >= a->rejected_key_ns + AUTH_WAIT_NS) {
		snprintf(text, sizeof(text),
			 a->key ? "the manager at %s does not know this machine's key; run `dxp "
				  "join HOST TOKEN` with a new token"
				: "the manager at %s rejects this key; use the key file of that "
				  "fabric",
			 address);
		finish(a, DXP_EAUTH, text);
	} else if (now_ns >= a->until_ns && a->other_version) {
		snprintf(text, sizeof(text), MEMBER_OTHER_VERSION, address, a->other_version,
			 WIRE_VERSION);
		finish(a, DXP_EUNSUPPORTED, text);
	} else if (now_ns >= a->until_ns) {
		snprintf(text, sizeof(text),
			 a->standing_by ? MEMBER_STANDS_BY
			 : a->options.kind == QUERY_EVENTS
				 ? "no manager answers at %s; check that one runs there, of this "
				   "release or a later one"
				 : "no manager answers at %s; check that one runs there",
			 address);
		finish(a, DXP_ETIMEDOUT, text);
	}
}

static size_t events_encode(struct query *a)
{
	struct events_request request = a->options.events;

	request.request = a->request;
	request.nonce = a->nonce;
	request.from = a->from;
	request.key = a->key;
	return events_request_encode(&request, a->mac, a->frame);
}

static size_t request_encode(struct query *a)
{
	struct manage_status status = {
		.request = ++a->request, .nonce = a->nonce, .first = a->first, .key = a->key};

	const struct grants_request grants = {
		.request = a->request, .nonce = a->nonce, .first = a->first, .key = a->key};

	if (a->options.kind == QUERY_EVENTS)
		return events_encode(a);
	if (a->options.kind == QUERY_GRANTS)
		return grants_request_encode(&grants, a->mac, a->frame);
	if (a->options.kind == QUERY_NODES)
		return manage_status_encode(&status, a->mac, a->frame);
	a->assign.request = a->request;
	a->assign.nonce = a->nonce;
	return manage_assign_encode(&a->assign, a->mac, a->frame);
}

size_t query_send(struct query *a, struct datagram *out, uint64_t now_ns)
{
	if (!a->done)
		advance(a, now_ns);
	if (a->done || now_ns < a->send_ns || a->rejected_key_ns)
		return 0;
	if (a->tries++ > 0)
		managers_next(&a->options.manager, &a->options.others);
	datagram_place(out, &a->options.manager, a->frame, request_encode(a));
	a->send_ns = now_ns + a->retry_ns;
	a->retry_ns = min_u64(a->retry_ns + a->retry_ns / 2, RETRY_MAX_NS);
	return 1;
}

uint64_t query_deadline(const struct query *a)
{
	if (a->done)
		return UINT64_MAX;
	uint64_t next_ns = a->rejected_key_ns ? a->rejected_key_ns + AUTH_WAIT_NS : a->send_ns;
	return min_u64(next_ns, a->until_ns);
}

bool query_done(const struct query *a)
{
	return a->done;
}

int query_status(const struct query *a)
{
	return a->status;
}

const char *query_text(const struct query *a)
{
	return a->text;
}

struct udp_address query_manager(const struct query *a)
{
	return a->options.manager;
}

size_t query_nodes(const struct query *a, const struct node_entry **rows)
{
	*rows = a->rows;
	return a->count;
}

size_t query_grants(const struct query *a, const struct grants_row **rows)
{
	*rows = a->grants;
	return a->count;
}

size_t query_events(const struct query *a, const struct event_row **rows,
		    const struct events_page **last)
{
	*rows = a->events;
	*last = &a->page;
	return a->count;
}

bool query_explicit(const struct query *a)
{
	return a->explicit;
}
