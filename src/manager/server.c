/* SPDX-License-Identifier: BSD-3-Clause */
/* The manager's loop: receives a batch, stores the changes, sends. A new id is in the store before
 * a node gets it. With several managers, only the active one has a registry; the others answer as
 * standby.h describes. */
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
#include "link/datagram.h"
#include "manager/secrets.h"
#include "manager/standby.h"
#include "manager/store_etcd.h"

#define STORE_RETRY_NS (1 * S_NS)
/* interval between checks that the database file still exists */
#define STORE_CHECK_NS (1 * S_NS)
/* interval between these checks after the file could not be recreated */
#define STORE_LOST_NS (30 * S_NS)
#define SEND_RETRY_NS (1 * MS_NS)
/* batches of datagrams that are read before answers are sent */
#define BATCHES_MAX 16

struct server {
	struct link *link;
	struct store *store;
	struct registry *registry; /* NULL: this manager stands by */
	uint64_t term;             /* term of the store in which the registry was loaded */
	struct standby standby;
	struct server_options options;
	uint64_t step_ns; /* when store_step is due */
	atomic_bool stop;
	/* time in ns before which nothing is saved; 0: the last save succeeded */
	uint64_t store_retry_ns;
	uint64_t store_check_ns;
	struct datagram out[DATAGRAM_BATCH];
	bool operator_token;
	uint64_t log_from;          /* first event that is not in the log of the process yet */
	struct event_losses losses; /* of earlier terms */
	/* number of datagrams in `out`; number of those that were sent, which is smaller if the
	 * kernel's buffer was full */
	size_t out_count, out_sent;
};

/* Returns true if the registry is that of the present term. */
static bool acting(const struct server *s)
{
	return s->registry && s->term == store_term(s->store);
}

static uint64_t wall_read(void *context)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec > 0 ? (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / MS_NS : 0;
}

/* Sets the name of the machine and the process id, for answers to STATS. */
static void about_set(struct registry_options *o)
{
	char host[HOST_NAME_MAX + 1] = "";

	gethostname(host, sizeof(host) - 1);
	snprintf(o->name, sizeof(o->name), "%.*s", (int)sizeof(o->name) - 1, host);
	o->pid = (uint32_t)getpid();
}

/* Makes a token for an operator if the options request one, or if no operator exists yet, because
 * an operator makes all other tokens. */
static int operator_token_make(struct server *s)
{
	const struct server_options *options = &s->options;

	if (options->admission != ADMIT_TOKEN ||
	    (registry_has_operator(s->registry) && (!options->operator_token || s->operator_token)))
		return DXP_OK;
	int status = secrets_operator_token(options->state_folder, s->registry,
					    wall_read(NULL) / 1000 + OPERATOR_TOKEN_S);
	s->operator_token = status == DXP_OK;
	return status;
}

/* Stores the changes at once. Implements registry_options.save. */
static int save_now(void *context)
{
	struct server *s = context;
	int status = store_save(s->store, s->registry);

	if (status != DXP_OK)
		s->store_retry_ns = clock_now_ns() + STORE_RETRY_NS;
	return status;
}

static int registry_open(struct server *s)
{
	struct registry_options registry_options = {.policy = s->options.policy,
						    .events = s->options.events,
						    .admission = s->options.admission,
						    .entropy = rng_entropy_kernel,
						    .wall_ms = wall_read,
						    .save = save_now,
						    .save_context = s};

	about_set(&registry_options);
	memcpy(registry_options.key, s->options.key, sizeof(registry_options.key));
	memcpy(registry_options.private_key, s->standby.private_key, KEYS_BYTES);
	int status = registry_create(&registry_options, &s->registry);
	keys_erase(&registry_options, sizeof(registry_options));
	if (status == DXP_OK)
		status = store_load(s->store, s->registry);
	if (status == DXP_OK)
		status = operator_token_make(s);
	if (status == DXP_OK) {
		s->log_from = registry_events(s->registry)->next;
		event_journal_begin(registry_events(s->registry), &s->losses);
		registry_start(s->registry, clock_now_ns());
	}
	return status;
}

/* Counts the events that are lost with the registry. */
static void events_lose(struct server *s)
{
	const uint64_t unsaved = event_journal_end(registry_events(s->registry), &s->losses);

	if (unsaved)
		log_warn("the store does not have the last %llu events of this manager",
			 (unsigned long long)unsaved);
}

/* Drops the registry, and all datagrams, which are in its memory. */
static void registry_close(struct server *s)
{
	if (s->registry)
		events_lose(s);
	registry_destroy(s->registry);
	s->registry = NULL;
	s->out_count = s->out_sent = 0;
	s->store_retry_ns = 0;
}

/* Calls store_step, then loads or drops the registry as the store's term demands. After an error
 * this manager stands by. */
static int role_follow(struct server *s)
{
	if (clock_now_ns() >= s->step_ns || !acting(s)) {
		const uint64_t wait_ns = store_step(s->store);
		s->step_ns = wait_ns == UINT64_MAX ? UINT64_MAX : clock_now_ns() + wait_ns;
	}
	if (acting(s))
		return DXP_OK;
	registry_close(s);
	s->term = store_term(s->store);
	if (!s->term)
		return DXP_OK;
	int status = registry_open(s);
	if (status == DXP_OK)
		return DXP_OK;
	registry_close(s);
	store_resign(s->store);
	s->step_ns = 0;
	return status;
}

/* Writes the address at which nodes reach this manager. */
static void address_choose(const struct server *s, char out[UDP_ADDRESS_TEXT_BYTES])
{
	static const struct udp_address none;
	struct udp_address own, address = s->options.advertise;

	link_address(s->link, &own);
	if (address_equal(&address, &none))
		address = own;
	else if (!address.port)
		address.port = own.port;
	address_format(&address, out);
}

static int etcd_store_open(struct server *s)
{
	char address[UDP_ADDRESS_TEXT_BYTES];
	struct store_etcd_options options = {.address = address};
	const char *folder = s->options.state_folder;
	int status = secrets_store_key(folder, s->options.key, options.fabric_key);

	address_choose(s, address);
	options.place = *s->options.etcd;
	if (status == DXP_OK)
		status = etcd_http_open(&options.place, &s->options.tls, &options.transport);
	if (status == DXP_OK)
		status = store_etcd_open(&options, &s->store);
	if (status == DXP_OK)
		status = secrets_store_key_keep(folder, options.fabric_key);
	/* the fabric key before the first rotation */
	memcpy(s->options.key, options.fabric_key, sizeof(s->options.key));
	keys_erase(&options, sizeof(options));
	return status;
}

static int server_store_open(struct server *s)
{
	uint8_t private_key[KEYS_BYTES];
	int status = s->options.etcd ? etcd_store_open(s)
				     : store_open(s->options.state_folder, &s->store);

	if (status == DXP_OK)
		status = store_private_key(s->store, private_key);
	if (status == DXP_OK)
		status = standby_open(s->options.key, private_key, &s->standby);
	keys_erase(private_key, sizeof(private_key));
	return status;
}

int server_open(const struct server_options *options, struct server **out)
{
	struct server *s = calloc(1, sizeof(*s));
	struct link_options link_options = {.bind = options->bind};
	int status;

	if (!s)
		return DXP_ENOMEM;
	s->options = *options;
	/* Opens the port first. If another manager runs, this fails here, and the state folder is
	 * unchanged. */
	status = link_open(&link_options, &s->link);
	if (status == DXP_OK)
		status = server_store_open(s);
	if (status == DXP_OK)
		status = role_follow(s);
	if (status != DXP_OK) {
		server_close(s);
		return status;
	}
	*out = s;
	return DXP_OK;
}

void server_close(struct server *s)
{
	if (!s)
		return;
	if (acting(s))
		store_log_save(s->store, s->registry, true);
	registry_close(s);
	store_close(s->store);
	standby_close(&s->standby);
	if (s->link)
		link_close(s->link);
	keys_erase(&s->options, sizeof(s->options));
	free(s);
}

void server_address(const struct server *s, struct udp_address *out)
{
	link_address(s->link, out);
}

const uint8_t *server_public_key(const struct server *s)
{
	return s->registry ? registry_public_key(s->registry) : s->standby.public_key;
}

bool server_active(const struct server *s)
{
	return s->registry != NULL;
}

bool server_operator_token(const struct server *s)
{
	return s->operator_token;
}

/* Receives what waits in the socket, so that the requests of a burst share few saves. */
static void receive(struct server *s)
{
	struct datagram_arrival arrivals[DATAGRAM_BATCH];
	unsigned batches = 0;
	size_t count;

	/* bounded, because answers, saves and leases wait meanwhile */
	do {
		count = link_receive(s->link, arrivals, DATAGRAM_BATCH);
		const uint64_t now_ns = clock_now_ns();
		for (size_t i = 0; i < count; i++)
			registry_receive(s->registry, &arrivals[i].from, arrivals[i].data,
					 arrivals[i].bytes, now_ns);
	} while (count == DATAGRAM_BATCH && ++batches < BATCHES_MAX &&
		 registry_space(s->registry) >= DATAGRAM_BATCH);
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
		if (!acting(s))
			/* role_follow drops these datagrams, because a change may not be stored */
			return true;
		s->out_sent += link_send(s->link, s->out + s->out_sent, s->out_count - s->out_sent);
		if (s->out_sent < s->out_count)
			return false;
	} while (s->out_count == DATAGRAM_BATCH);
	return true;
}

/* Answers a batch of datagrams as a manager that is not active, and waits. */
static void stand_by(struct server *s)
{
	struct datagram_arrival arrivals[DATAGRAM_BATCH];
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
	const size_t count = link_receive(s->link, arrivals, DATAGRAM_BATCH);

	for (size_t i = 0; i < count; i++) {
		struct datagram out;
		const size_t bytes =
			standby_answer(&s->standby, arrivals[i].data, arrivals[i].bytes,
				       store_other(s->store), clock_now_ns(), frame);
		if (bytes == 0)
			continue;
		datagram_place(&out, &arrivals[i].from, frame, bytes);
		link_send(s->link, &out, 1);
	}
	link_wait(s->link, s->step_ns);
}

static void act(struct server *s)
{
	bool sent = s->out_sent == s->out_count;

	/* Receives only if all is sent, because receiving overwrites unsent datagrams in the
	 * registry's memory. */
	if (sent)
		receive(s);
	save(s, clock_now_ns());
	sent = send(s);
	const uint64_t wait_ns =
		acting(s) ? store_log_save(s->store, s->registry, false) : UINT64_MAX;
	uint64_t deadline_ns = min_u64(registry_deadline(s->registry), s->store_check_ns);
	if (wait_ns != UINT64_MAX)
		deadline_ns = min_u64(deadline_ns, clock_now_ns() + wait_ns);
	if (!sent)
		deadline_ns = clock_now_ns() + SEND_RETRY_NS;
	if (s->store_retry_ns)
		deadline_ns = min_u64(deadline_ns, s->store_retry_ns);
	link_wait(s->link, min_u64(deadline_ns, s->step_ns));
}

int server_run(struct server *s)
{
	while (!atomic_load(&s->stop)) {
		int status = role_follow(s);
		if (status == DXP_EMALFORMED || status == DXP_EUNSUPPORTED)
			return status;
		if (s->registry)
			act(s);
		else
			stand_by(s);
	}
	return DXP_OK;
}

void server_stop(struct server *s)
{
	atomic_store(&s->stop, true);
	link_wake(s->link);
}

void server_report(const struct server *s)
{
	if (!s->registry)
		return;
	const struct registry_counters *c = registry_counters(s->registry);
	log_info("nodes: %zu alive, %zu dead", registry_node_count(s->registry, NODE_ALIVE),
		 registry_node_count(s->registry, NODE_DEAD));
#define REPORT(name, text) \
	if (c->name)       \
		log_info("%s: %llu (%s)", #name, (unsigned long long)c->name, text);
	REGISTRY_COUNTERS(REPORT)
#undef REPORT
}
