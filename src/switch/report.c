/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/report.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "link/datagram.h"
#include "wire/stats_service.h"

/* the thread's wait for the loop; then the reader repeats its request */
#define LOOP_WAIT_NS (500 * MS_NS)

/* X(field of struct inc_switch_row, whether it can fall). */
#define ROW_VALUES(X)                  \
	X(groups, true)                \
	X(groups_max, true)            \
	X(memory_bytes, true)          \
	X(memory_max, true)            \
	X(received, false)             \
	X(sent, false)                 \
	X(contributions, false)        \
	X(results, false)              \
	X(repeats, false)              \
	X(duplicates, false)           \
	X(stale, false)                \
	X(foreign, false)              \
	X(malformed, false)            \
	X(icrc_wrong, false)           \
	X(refused, false)              \
	X(kernel_contributions, false) \
	X(kernel_results, false)       \
	X(kernel_passed, false)        \
	X(limited, false)              \
	X(expired, false)              \
	X(forwarded_queued, false)     \
	X(computed_queued, false)      \
	X(forwarded_first, false)      \
	X(computed_first, false)       \
	X(forwarded_dropped, false)    \
	X(computed_dropped, false)

/* Counters of requests for counters. */
struct served {
	uint64_t answered, malformed, unauthentic, limited;
};

struct report {
	struct report_options options;
	struct link *link;
	struct mac *mac;
	pthread_t thread;
	bool started;
	_Atomic bool stop, wanted;
	pthread_mutex_t lock; /* `row`, `below`, `fresh` */
	pthread_cond_t served;
	struct inc_switch_row row;
	uint32_t below[STATS_SERVICE_NEIGHBOURS];
	unsigned below_count;
	bool fresh;
	/* only the thread's */
	struct served counters;
	struct stats_service_limit limit;
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
};

bool report_wanted(const struct report *r)
{
	return r && atomic_load_explicit(&r->wanted, memory_order_relaxed);
}

void report_serve(struct report *r, const struct sw *s, uint64_t now_ns)
{
	const struct inc_inquiry q = {.section = INC_SECTION_SWITCH};
	struct inc_answer a;

	atomic_store(&r->wanted, false);
	switch_answer(s, &q, now_ns, &a);
	pthread_mutex_lock(&r->lock);
	r->row = a.self;
	r->below_count = switch_below(s, now_ns, r->below, STATS_SERVICE_NEIGHBOURS);
	r->fresh = true;
	pthread_cond_signal(&r->served);
	pthread_mutex_unlock(&r->lock);
}

struct counted {
	struct inc_switch_row row;
	uint32_t below[STATS_SERVICE_NEIGHBOURS];
	unsigned below_count;
};

/* False: the loop does not run. */
static bool counted_get(struct report *r, struct counted *out)
{
	const uint64_t until_ns = clock_now_ns() + LOOP_WAIT_NS;
	const struct timespec until = {(time_t)(until_ns / S_NS), (long)(until_ns % S_NS)};
	int late = 0;

	pthread_mutex_lock(&r->lock);
	r->fresh = false;
	atomic_store(&r->wanted, true);
	r->options.wake(r->options.context);
	while (!r->fresh && late == 0)
		late = pthread_cond_timedwait(&r->served, &r->lock, &until);
	const bool fresh = r->fresh;
	out->row = r->row;
	out->below_count = r->below_count;
	memcpy(out->below, r->below, sizeof(out->below));
	pthread_mutex_unlock(&r->lock);
	return fresh;
}

static size_t values_fill(const struct report *r, const struct counted *c,
			  struct stats_value *values)
{
	const struct inc_switch_row *row = &c->row;
	size_t count = 0;

#define VALUE(name, level) stats_value_add(values, &count, #name, level, row->name);
	ROW_VALUES(VALUE)
#undef VALUE
	stats_value_add(values, &count, "stats_answered", false, r->counters.answered);
	stats_value_add(values, &count, "stats_malformed", false, r->counters.malformed);
	stats_value_add(values, &count, "stats_unauthentic", false, r->counters.unauthentic);
	stats_value_add(values, &count, "stats_limited", false, r->counters.limited);
	for (unsigned i = 0; i < row->parent_count; i++)
		stats_neighbour_add(values, &count, true, i, row->parents[i]);
	for (unsigned i = 0; i < c->below_count; i++)
		stats_neighbour_add(values, &count, false, i, c->below[i]);
	return count;
}

static void answer(struct report *r, const struct udp_address *to,
		   const struct stats_request *request)
{
	struct stats_value values[STATS_SERVICE_VALUES_MAX];
	struct counted counted;
	struct stats_service_page page = {
		.request = request->request,
		.nonce = request->nonce,
		.first = request->first,
		.service = {.role = STATS_ROLE_SWITCH, .pid = (uint32_t)getpid()}};

	if (!counted_get(r, &counted))
		return;
	r->counters.answered++;
	page.service.up_ns = counted.row.uptime_ms * MS_NS;
	snprintf(page.service.name, sizeof(page.service.name), "%s", counted.row.name);
	strcpy(page.service.program, "dxp-switch");
	stats_service_page_fill(&page, values, values_fill(r, &counted, values));
	const size_t bytes = stats_service_page_encode(&page, WIRE_NODE_NONE, r->mac, r->frame);
	struct datagram out;

	datagram_place(&out, to, r->frame, bytes);
	link_send(r->link, &out, 1);
}

static void request_process(struct report *r, const struct datagram_arrival *a)
{
	struct stats_request request;
	struct wire_header header;
	struct manage_body body;

	/* before the MAC, so that a flood costs little */
	if (!stats_service_allowed(&r->limit, clock_now_ns())) {
		r->counters.limited++;
		return;
	}
	int status = manage_open(a->data, a->bytes, r->mac, &header, &body);
	if (status == DXP_EAUTH) {
		r->counters.unauthentic++;
		return;
	}
	if (status != DXP_OK || header.type != WIRE_STATS || header.dst_node != WIRE_NODE_NONE ||
	    stats_service_request_decode(body, &request) != DXP_OK) {
		r->counters.malformed++;
		return;
	}
	answer(r, &a->from, &request);
}

static void *run(void *argument)
{
	struct datagram_arrival arrivals[DATAGRAM_BATCH];
	struct report *r = argument;

	while (!atomic_load(&r->stop)) {
		size_t count = link_receive(r->link, arrivals, DATAGRAM_BATCH);
		for (size_t i = 0; i < count && !atomic_load(&r->stop); i++)
			request_process(r, &arrivals[i]);
		if (count == 0)
			link_wait(r->link, UINT64_MAX);
	}
	return NULL;
}

static void locks_init(struct report *r)
{
	pthread_condattr_t attributes;

	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&r->served, &attributes);
	pthread_condattr_destroy(&attributes);
}

int report_open(const struct report_options *options, struct report **out)
{
	const struct link_options link = {.bind = options->bind};
	struct report *r = calloc(1, sizeof(*r));

	if (!r)
		return DXP_ENOMEM;
	locks_init(r);
	r->options = *options;
	r->options.key = NULL;
	int status = mac_create(options->key, &r->mac);
	if (status == DXP_OK)
		status = link_open(&link, &r->link);
	if (status == DXP_OK && pthread_create(&r->thread, NULL, run, r) != 0) {
		log_error("cannot start a thread: not enough memory");
		status = DXP_EIO;
	}
	r->started = status == DXP_OK;
	if (status != DXP_OK) {
		report_close(r);
		return status;
	}
	*out = r;
	return DXP_OK;
}

void report_close(struct report *r)
{
	if (!r)
		return;
	atomic_store(&r->stop, true);
	if (r->started) {
		link_wake(r->link);
		pthread_join(r->thread, NULL);
	}
	link_close(r->link);
	mac_destroy(r->mac);
	pthread_cond_destroy(&r->served);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
