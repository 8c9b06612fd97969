/* SPDX-License-Identifier: BSD-3-Clause */
/* The manager's loop: receives a batch, stores the changes, sends. A new id is on disk before a
 * node gets it. */
#include "manager/server.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "manager/secrets.h"
#include "manager/store.h"

#define STORE_RETRY_NS (1 * S_NS)
/* interval between checks that the database file still exists */
#define STORE_CHECK_NS (1 * S_NS)
/* interval between these checks after the file could not be recreated */
#define STORE_LOST_NS (30 * S_NS)
#define SEND_RETRY_NS (1 * MS_NS)

struct server {
	struct link *link;
	struct store *store;
	struct registry *registry;
	atomic_bool stop;
	/* time in ns before which nothing is saved; 0: the last save succeeded */
	uint64_t store_retry_ns;
	uint64_t store_check_ns;
	struct datagram out[DATAGRAM_BATCH];
	bool operator_token;
	uint64_t log_from; /* first event that is not in the log of the process yet */
	/* datagrams in `out`; how many of them were sent, which is fewer if the kernel's buffer was
	 * full */
	size_t out_count, out_sent;
};

static uint64_t wall_read(void *context)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec > 0 ? (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / MS_NS : 0;
}

/* Sets what answers to STATS state about this process. */
static void about_set(struct registry_options *o)
{
	char host[HOST_NAME_MAX + 1] = "";

	gethostname(host, sizeof(host) - 1);
	snprintf(o->name, sizeof(o->name), "%.*s", (int)sizeof(o->name) - 1, host);
	o->pid = (uint32_t)getpid();
}

/* Makes a token for an operator if the options request one, or if no operator exists yet, because
 * an operator makes all other tokens. */
static int operator_token_make(struct server *s, const struct server_options *options)
{
	if (options->admission != ADMIT_TOKEN ||
	    (registry_has_operator(s->registry) && !options->operator_token))
		return DXP_OK;
	int status = secrets_operator_token(options->state_folder, s->registry,
					    wall_read(NULL) / 1000 + OPERATOR_TOKEN_S);
	s->operator_token = status == DXP_OK;
	return status;
}

/* Stores the changes at once; for registry_options.save. */
static int save_now(void *context)
{
	struct server *s = context;
	int status = store_save(s->store, s->registry);

	if (status != DXP_OK)
		s->store_retry_ns = clock_now_ns() + STORE_RETRY_NS;
	return status;
}

static int registry_open(struct server *s, const struct server_options *options)
{
	struct registry_options registry_options = {.policy = options->policy,
						    .events = options->events,
						    .admission = options->admission,
						    .entropy = rng_entropy_kernel,
						    .wall_ms = wall_read,
						    .save = save_now,
						    .save_context = s};
	int status = secrets_manager_key(options->state_folder, registry_options.private_key);

	about_set(&registry_options);
	memcpy(registry_options.key, options->key, sizeof(registry_options.key));
	if (status == DXP_OK)
		status = registry_create(&registry_options, &s->registry);
	keys_erase(&registry_options, sizeof(registry_options));
	if (status == DXP_OK)
		status = store_load(s->store, s->registry);
	return status == DXP_OK ? operator_token_make(s, options) : status;
}

int server_open(const struct server_options *options, struct server **out)
{
	struct server *s = calloc(1, sizeof(*s));
	struct link_options link_options = {.bind = options->bind};
	int status;

	if (!s)
		return DXP_ENOMEM;
	/* Opens the port first. If another manager runs, this fails here, and the state folder is
	 * unchanged. */
	status = link_open(&link_options, &s->link);
	if (status == DXP_OK)
		status = store_open(options->state_folder, &s->store);
	if (status == DXP_OK)
		status = registry_open(s, options);
	if (status != DXP_OK) {
		server_close(s);
		return status;
	}
	s->log_from = registry_events(s->registry)->next;
	registry_start(s->registry, clock_now_ns());
	*out = s;
	return DXP_OK;
}

void server_close(struct server *s)
{
	if (!s)
		return;
	registry_destroy(s->registry);
	store_close(s->store);
	if (s->link)
		link_close(s->link);
	free(s);
}

void server_address(const struct server *s, struct udp_address *out)
{
	link_address(s->link, out);
}

const uint8_t *server_public_key(const struct server *s)
{
	return registry_public_key(s->registry);
}

bool server_operator_token(const struct server *s)
{
	return s->operator_token;
}

static void receive(struct server *s)
{
	struct datagram_arrival arrivals[DATAGRAM_BATCH];
	size_t count = link_receive(s->link, arrivals, DATAGRAM_BATCH);
	uint64_t now_ns = clock_now_ns();

	for (size_t i = 0; i < count; i++)
		registry_receive(s->registry, &arrivals[i].from, arrivals[i].data,
				 arrivals[i].bytes, now_ns);
}

/* Writes the new events to the log of the process. */
static void events_log(struct server *s)
{
	const struct event_journal *l = registry_events(s->registry);

	if (log_enabled(LOG_LEVEL_INFO))
		for (const struct event_row *e = event_journal_next(l, s->log_from); e;
		     e = event_journal_next(l, e->sequence + 1))
			log_info("event=%s seq=%llu subject=%s: %s", event_kind_name(e->kind),
				 (unsigned long long)e->sequence, e->subject, e->text);
	s->log_from = l->next;
}

/* Saves changes. If the store fails, the fabric continues from memory, and the save is retried each
 * second. */
static void save(struct server *s, uint64_t now_ns)
{
	events_log(s);
	if (now_ns >= s->store_check_ns) {
		int status = store_check(s->store, s->registry);
		bool soon = status == DXP_OK || status == DXP_EBUSY;
		s->store_check_ns = now_ns + (soon ? STORE_CHECK_NS : STORE_LOST_NS);
	}
	if (now_ns < s->store_retry_ns)
		return;
	s->store_retry_ns =
		store_save(s->store, s->registry) == DXP_OK ? 0 : now_ns + STORE_RETRY_NS;
}

/* Sends the datagrams that are due. Returns false if the kernel's buffer is full; the other
 * datagrams stay queued. */
static bool send(struct server *s)
{
	do {
		if (s->out_sent == s->out_count) {
			s->out_count =
				registry_send(s->registry, s->out, DATAGRAM_BATCH, clock_now_ns());
			s->out_sent = 0;
			save(s, clock_now_ns()); /* save leases that expired in registry_send */
		}
		s->out_sent += link_send(s->link, s->out + s->out_sent, s->out_count - s->out_sent);
		if (s->out_sent < s->out_count)
			return false;
	} while (s->out_count == DATAGRAM_BATCH);
	return true;
}

void server_run(struct server *s)
{
	while (!atomic_load(&s->stop)) {
		bool sent = s->out_sent == s->out_count;
		/* Receives only if all is sent, because receiving overwrites unsent datagrams in
		 * the registry's memory. */
		if (sent)
			receive(s);
		save(s, clock_now_ns());
		sent = send(s);
		uint64_t deadline_ns = min_u64(registry_deadline(s->registry), s->store_check_ns);
		if (!sent)
			deadline_ns = clock_now_ns() + SEND_RETRY_NS;
		if (s->store_retry_ns)
			deadline_ns = min_u64(deadline_ns, s->store_retry_ns);
		link_wait(s->link, deadline_ns);
	}
}

void server_stop(struct server *s)
{
	atomic_store(&s->stop, true);
	link_wake(s->link);
}

void server_report(const struct server *s)
{
	const struct registry_counters *c = registry_counters(s->registry);

	log_info("nodes: %zu alive, %zu dead", registry_node_count(s->registry, NODE_ALIVE),
		 registry_node_count(s->registry, NODE_DEAD));
#define REPORT(name, text) \
	if (c->name)       \
		log_info("%s: %llu (%s)", #name, (unsigned long long)c->name, text);
	REGISTRY_COUNTERS(REPORT)
#undef REPORT
}
