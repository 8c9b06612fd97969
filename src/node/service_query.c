/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/service_query.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "link/datagram.h"
#include "node/limits.h"

#define RETRY_FIRST_NS (100 * MS_NS)
#define RETRY_MAX_NS   (400 * MS_NS)
/* switches that can be silent within the time of a query */
#define SILENT_MAX (STATS_QUERY_WHOLE_NS / STATS_QUERY_NS * SERVICE_QUERY_MAX)

struct reading {
	bool done;
	bool answered;    /* an authentic answer has arrived */
	uint64_t request; /* number of the outstanding request */
	uint16_t first;   /* first value that it requests */
	uint64_t send_ns, retry_ns, silent_ns;
	uint8_t frame[MANAGE_FRAME_BYTES];
};

struct service_query {
	struct mac *mac;       /* computes MACs with the fabric key */
	struct mac *keyed_mac; /* used for managers; NULL: `mac` is used */
	uint8_t public_key[KEYS_BYTES];
	uint64_t nonce, request; /* number of the last request */
	uint64_t until_ns;       /* time in ns at which targets count as too slow */
	size_t given;            /* targets of the options */
	size_t count;            /* targets, with those that `follow` has added */
	bool follow;
	/* switches that `follow` had added, and that never answered */
	struct udp_address silent[SILENT_MAX];
	size_t silent_count;
	struct reading readings[SERVICE_QUERY_MAX];
	struct service_view views[SERVICE_QUERY_MAX];
	struct stats_service_page page; /* page decoded from the last frame */
};

static void reading_request(struct service_query *q, struct reading *s, uint16_t first,
			    uint64_t now_ns)
{
	s->request = ++q->request;
	s->first = first;
	s->send_ns = now_ns;
	s->retry_ns = RETRY_FIRST_NS;
	s->silent_ns = now_ns + STATS_QUERY_NS;
}

static int macs_create(struct service_query *q, const struct service_query_options *options)
{
	int status = mac_create(options->key, &q->mac);

	if (status != DXP_OK || !options->identity)
		return status;
	memcpy(q->public_key, options->identity->public_key, sizeof(q->public_key));
	return mac_create(options->identity->pair, &q->keyed_mac);
}

int service_query_create(const struct service_query_options *options, uint64_t now_ns,
			 struct service_query **out)
{
	if (options->count > SERVICE_QUERY_MAX)
		return DXP_EINVAL;
	struct service_query *q = calloc(1, sizeof(*q));
	if (!q)
		return DXP_ENOMEM;
	int status = macs_create(q, options);
	if (status != DXP_OK) {
		service_query_destroy(q);
		return status;
	}
	options->entropy(options->entropy_context, &q->nonce, sizeof(q->nonce));
	q->until_ns = now_ns + STATS_QUERY_WHOLE_NS;
	q->given = q->count = options->count;
	q->follow = options->follow;
	for (size_t i = 0; i < q->count; i++) {
		q->views[i].target = options->targets[i];
		q->views[i].missing = "no answer";
		reading_request(q, &q->readings[i], 0, now_ns);
	}
	*out = q;
	return DXP_OK;
}

void service_query_destroy(struct service_query *q)
{
	if (!q)
		return;
	mac_destroy(q->mac);
	mac_destroy(q->keyed_mac);
	free(q);
}

static bool is_manager(const struct service_query *q, size_t i)
{
	return q->views[i].target.role == STATS_ROLE_MANAGER;
}

static struct mac *reading_mac(const struct service_query *q, size_t i)
{
	return is_manager(q, i) && q->keyed_mac ? q->keyed_mac : q->mac;
}

static void reading_end(struct service_query *q, size_t i, const char *missing)
{
	q->views[i].missing = missing;
	q->readings[i].done = true;
}

/* Adds a switch that another one names, unless it is known or there is no space. */
static void target_add(struct service_query *q, const struct udp_address *address, uint64_t now_ns)
{
	if (q->count == SERVICE_QUERY_MAX)
		return;
	for (size_t i = 0; i < q->silent_count; i++)
		if (address_equal(&q->silent[i], address))
			return;
	for (size_t i = 0; i < q->count; i++)
		if (q->views[i].target.role == STATS_ROLE_SWITCH &&
		    address_equal(&q->views[i].target.address, address))
			return;
	q->views[q->count] = (struct service_view){.target = {*address, STATS_ROLE_SWITCH},
						   .missing = "no answer"};
	q->readings[q->count] = (struct reading){.done = false};
	reading_request(q, &q->readings[q->count++], 0, now_ns);
}

static void neighbours_follow(struct service_query *q, const struct service_view *v,
			      uint64_t now_ns)
{
	for (unsigned i = 0; q->follow && i < v->neighbour_count; i++) {
		const struct udp_address next =
			address_v4(v->neighbours[i], v->target.address.port);
		target_add(q, &next, now_ns);
	}
}

/* Removes a switch that `follow` has added, and that never answered: a forged packet may have
 * named it. The free space is for switches for which there was none. */
static void target_remove(struct service_query *q, size_t i, uint64_t now_ns)
{
	const size_t after = --q->count - i;

	if (q->silent_count < SILENT_MAX)
		q->silent[q->silent_count++] = q->views[i].target.address;
	memmove(&q->views[i], &q->views[i + 1], after * sizeof(q->views[0]));
	memmove(&q->readings[i], &q->readings[i + 1], after * sizeof(q->readings[0]));
	for (size_t k = 0; k < q->count && q->silent_count < SILENT_MAX; k++)
		if (q->readings[k].done)
			neighbours_follow(q, &q->views[k], now_ns);
}

static void neighbour_append(struct service_view *v, bool above, uint32_t ip)
{
	if (v->neighbour_count == STATS_SERVICE_NEIGHBOURS)
		return;
	v->neighbours[v->neighbour_count++] = ip;
	v->above += above; /* a switch names those above first */
}

static void value_append(struct service_view *v, const struct stats_value *value)
{
	bool above;
	uint32_t ip;

	if (v->target.role == STATS_ROLE_SWITCH && stats_neighbour_get(value, &above, &ip))
		neighbour_append(v, above, ip);
	else
		v->values[v->count++] = *value;
}

/* Appends the values of the page. Starts again if the service has restarted since the last one. */
static void page_process(struct service_query *q, size_t i, uint64_t now_ns)
{
	const struct stats_service_page *page = &q->page;
	struct service_view *v = &q->views[i];

	if (page->first > 0 &&
	    (page->service.pid != v->about.pid || page->service.up_ns < v->about.up_ns)) {
		v->count = 0;
		v->above = v->neighbour_count = 0;
		reading_request(q, &q->readings[i], 0, now_ns);
		return;
	}
	v->about = page->service;
	for (unsigned k = 0; k < page->count && v->count < STATS_SERVICE_VALUES_MAX; k++)
		value_append(v, &page->values[k]);
	if (page->next != 0 && v->count < STATS_SERVICE_VALUES_MAX) {
		reading_request(q, &q->readings[i], page->next, now_ns);
		return;
	}
	reading_end(q, i, NULL);
	neighbours_follow(q, v, now_ns);
}

static void frame_process(struct service_query *q, size_t i, uint8_t type, struct manage_body body,
			  uint64_t now_ns)
{
	q->readings[i].answered = true;
	if (type == WIRE_REFUSE) {
		reading_end(q, i, "refused: the key does not permit it");
		return;
	}
	int status = stats_service_page_decode(body, &q->page);
	if (status == DXP_EUNSUPPORTED)
		reading_end(q, i, "another version of Direct xPU");
	else if (status == DXP_OK && q->page.first == q->readings[i].first &&
		 q->page.service.role == q->views[i].target.role)
		page_process(q, i, now_ns);
}

void service_query_receive(struct service_query *q, const uint8_t *data, size_t bytes,
			   uint64_t now_ns)
{
	struct wire_header header;
	struct manage_body body;
	uint64_t request, nonce;

	if (manage_parse(data, bytes, &header, &body) != DXP_OK ||
	    (header.type != WIRE_STATS_PAGE && header.type != WIRE_REFUSE) ||
	    !manage_prefix(body, &request, &nonce) || nonce != q->nonce)
		return;
	for (size_t i = 0; i < q->count; i++) {
		if (q->readings[i].done || q->readings[i].request != request)
			continue;
		/* The rejection of a wrong key has no MAC, so any machine may have sent it. */
		if (manage_authentic(data, body, reading_mac(q, i)))
			frame_process(q, i, header.type, body, now_ns);
		return;
	}
}

/* Returns true if the time of the outstanding request is over. Then the target is complete, or
 * removed. */
static bool reading_late(struct service_query *q, size_t i, uint64_t now_ns)
{
	const struct reading *s = &q->readings[i];

	if (now_ns < s->silent_ns && now_ns < q->until_ns)
		return false;
	if (i >= q->given && !s->answered)
		target_remove(q, i, now_ns);
	else
		reading_end(q, i, now_ns >= s->silent_ns ? "no answer" : "incomplete answer");
	return true;
}

static size_t reading_send(struct service_query *q, size_t i, struct datagram *out, uint64_t now_ns)
{
	struct reading *s = &q->readings[i];
	const struct stats_request request = {
		.request = s->request, .nonce = q->nonce, .first = s->first};

	if (now_ns < s->send_ns)
		return 0;
	size_t bytes = stats_service_request_encode(
		&request, is_manager(q, i) ? WIRE_NODE_MANAGER : WIRE_NODE_NONE,
		is_manager(q, i) && q->keyed_mac ? q->public_key : NULL, reading_mac(q, i),
		s->frame);
	datagram_place(out, &q->views[i].target.address, s->frame, bytes);
	s->send_ns = now_ns + s->retry_ns;
	s->retry_ns = min_u64(s->retry_ns + s->retry_ns / 2, RETRY_MAX_NS);
	return 1;
}

size_t service_query_send(struct service_query *q, struct datagram *out, size_t count,
			  uint64_t now_ns)
{
	size_t sent = 0;

	for (size_t i = 0; i < q->count && sent < count;) {
		if (!q->readings[i].done && reading_late(q, i, now_ns))
			continue; /* perhaps another target has its place now */
		if (!q->readings[i].done)
			sent += reading_send(q, i, &out[sent], now_ns);
		i++;
	}
	return sent;
}

uint64_t service_query_deadline(const struct service_query *q)
{
	uint64_t deadline_ns = UINT64_MAX;

	if (!service_query_done(q))
		deadline_ns = q->until_ns;
	for (size_t i = 0; i < q->count; i++)
		if (!q->readings[i].done)
			deadline_ns = min_u64(deadline_ns, min_u64(q->readings[i].send_ns,
								   q->readings[i].silent_ns));
	return deadline_ns;
}

bool service_query_done(const struct service_query *q)
{
	for (size_t i = 0; i < q->count; i++)
		if (!q->readings[i].done)
			return false;
	return true;
}

size_t service_query_count(const struct service_query *q)
{
	return q->count;
}

const struct service_view *service_query_views(const struct service_query *q)
{
	return q->views;
}
