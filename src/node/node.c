/* SPDX-License-Identifier: BSD-3-Clause */
/* A node that is open: one poll of its loop, sleep and wakeup, and its end. */
#include "node/node.h"

#include <stdlib.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "node/internal.h"
#include "node/limits.h"
#include "wire/ids.h"

#define SEND_ROUNDS 4 /* batches that a poll sends before the next poll receives */
/* attempts to send while the kernel's buffer is full; RLTP retransmits datagrams that still do not
 * fit */
#define SEND_RETRIES 1000

static size_t datagrams_send(struct node *n, size_t count)
{
	size_t sent = 0;

	for (int tries = 0; sent < count && tries < SEND_RETRIES; tries++)
		sent += link_send(n->link, n->batch + sent, count - sent);
	return count;
}

static size_t management_send(struct node *n, uint64_t now_ns)
{
	if (now_ns < member_deadline(n->member))
		return 0;
	size_t count = member_send(n->member, n->batch, DATAGRAM_BATCH, now_ns);
	return datagrams_send(n, count);
}

/* Closes each session with one datagram, so that peers need not wait for a timeout. */
static void peers_leave(struct node *n)
{
	size_t count;

	if (!n->nic || !n->link)
		return;
	rltp_endpoint_close(nic_endpoint(n->nic));
	while ((count = nic_send(n->nic, n->batch, DATAGRAM_BATCH, clock_now_ns())) > 0)
		datagrams_send(n, count);
}

void node_leave(struct node *n)
{
	/* Closes the sessions first. Otherwise the peers would close them when the manager reports
	 * that this node left. */
	peers_leave(n);
	if (n->member && n->link && member_id(n->member) != WIRE_NODE_NONE) {
		uint64_t now_ns = clock_now_ns();
		member_leave(n->member, now_ns);
		datagrams_send(n, member_send(n->member, n->batch, DATAGRAM_BATCH, now_ns));
	}
}

void node_close(struct node *n)
{
	if (!n)
		return;
	node_leave(n);
	offers_close(n->offers);
	observe_close(n);
	member_destroy(n->member);
	rotation_end(&n->rotation);
	free(n->silent);
	nic_destroy(n->nic);
	seal_destroy(n->seal);
	free(n->window);
	link_close(n->link);
	mac_destroy(n->mac);
	fabric_keys_end(&n->keys);
	free(n);
}

static void arrival_process(struct node *n, const struct datagram_arrival *a, uint64_t now_ns)
{
	const int status = nic_receive(n->nic, a, now_ns);

	/* A manager of another release: the member reports its version. */
	if (status == DXP_EMALFORMED && n->member && wire_other_version(a->data, a->bytes))
		member_receive(n->member, &a->from, a->data, a->bytes, now_ns);
	/* The NIC returns DXP_EUNSUPPORTED for frames of other protocols. */
	if (status != DXP_EUNSUPPORTED)
		return;
	if (a->data[WIRE_OFF_TYPE] == WIRE_STATS)
		observe_serve(n, a, now_ns);
	else if (a->data[WIRE_OFF_TYPE] == WIRE_PROBE || a->data[WIRE_OFF_TYPE] == WIRE_PROBE_REPLY)
		paths_receive(n, a, now_ns);
	else if (n->member)
		member_receive(n->member, &a->from, a->data, a->bytes, now_ns);
}

/* Logs a new message about the membership, and applies a new id. Returns 1 if there was a message,
 * else 0. */
static uint32_t membership_note(struct node *n)
{
	enum log_level level;
	const char *text = member_notice(n->member, &level);

	if (text && level == LOG_LEVEL_INFO)
		log_info("event=joined subject=%s: %s", n->name, text);
	else if (text)
		log_write(level, "%s: %s", n->name, text);
	if (member_id(n->member) != n->id) {
		n->id = member_id(n->member);
		nic_node_set(n->nic, n->id);
	}
	return text != NULL;
}

/* Applies a new key pair of the manager and a new fabric key, and the steps of its introduction. */
static void keys_poll(struct node *n, uint64_t now_ns)
{
	struct member_rekey rekey;
	uint8_t manager[KEYS_BYTES];

	if (member_repinned(n->member, manager))
		rotation_repin(&n->rotation, n->member, manager, n->name, now_ns);
	if (member_rekeyed(n->member, &rekey)) {
		if (fabric_keys_rekey(&n->keys, n->seal, &rekey, n->name, now_ns) != DXP_OK) {
			member_rekey_again(n->member);
			log_error("%s: not enough memory for a new fabric key; the next lease "
				  "brings it again; free memory, or restart this program",
				  n->name);
		}
		keys_erase(&rekey, sizeof(rekey));
	}
	if (now_ns >= fabric_keys_deadline(&n->keys))
		fabric_keys_advance(&n->keys, n->seal, now_ns);
}

static uint32_t membership_poll(struct node *n, uint64_t now_ns)
{
	uint32_t work = (uint32_t)management_send(n, now_ns);
	work += membership_note(n);
	keys_poll(n, now_ns);
	if (now_ns >= n->probe.due_ns)
		paths_send(n, now_ns);
	return work + peers_update(n, now_ns);
}

static uint32_t due_send(struct node *n, uint64_t now_ns)
{
	uint32_t work = 0;
	size_t count = DATAGRAM_BATCH;

	/* If a batch is not full, nothing more is due. */
	for (int round = 0; round < SEND_ROUNDS && count == DATAGRAM_BATCH; round++) {
		count = nic_send(n->nic, n->batch, DATAGRAM_BATCH, now_ns);
		work += (uint32_t)datagrams_send(n, count);
	}
	protect_report(n, now_ns);
	/* Reports a session that timed out in the same poll as the failed completions of its
	 * requests. */
	return work + peers_ended(n);
}

static uint32_t doorbells_poll(struct node *n)
{
	uint64_t now_ns = clock_now_ns();
	uint32_t work = nic_doorbells(n->nic, now_ns);

	return work + due_send(n, now_ns);
}

/* Wakes users. Write errors are harmless: either a wakeup is already pending in a full descriptor,
 * or the user has exited. */
static void users_wake(struct node *n, uint32_t users)
{
	const uint64_t one = 1;

	for (; users; users &= users - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(users);
		if (n->user_fds[i] >= 0 && write(n->user_fds[i], &one, sizeof(one)) < 0)
			log_debug("%s: cannot wake user %u of the NIC: %m", n->name, i);
	}
}

/* Returns true if this poll need not read the socket: the last read is less than NODE_QUIET_LOOK_NS
 * ago, and nothing arrived for NODE_QUIET_NS. That saves a system call when local functions cause
 * frequent polls. */
static bool network_waits(const struct node *n)
{
	return !link_pending(n->link) && n->received_ns - n->arrived_ns >= NODE_QUIET_NS &&
	       clock_now_ns() - n->received_ns < NODE_QUIET_LOOK_NS;
}

static void users_poll(struct node *n)
{
	uint32_t wakes = nic_wakes(n->nic);

	if (wakes)
		users_wake(n, wakes);
}

uint32_t node_poll(struct node *n)
{
	uint32_t work = 0;

	/* Processes doorbells before it receives, because users wait for their doorbells, and a
	 * receive takes 0.25 us. */
	if (nic_doorbell_ready(n->nic))
		work += doorbells_poll(n);
	if (network_waits(n)) {
		users_poll(n);
		return work;
	}
	size_t count = link_receive(n->link, n->arrivals, DATAGRAM_BATCH);
	/* Reads the clock after the receive, so that no arrival is later than `now_ns`. */
	uint64_t now_ns = clock_now_ns();
	n->received_ns = now_ns;
	if (count > 0)
		n->arrived_ns = now_ns;
	if (count == DATAGRAM_BATCH || now_ns >= n->news_ns)
		news_link(n, now_ns);
	for (size_t i = 0; i < count; i++)
		arrival_process(n, &n->arrivals[i], now_ns);
	work += (uint32_t)count;
	if (n->member)
		work += membership_poll(n, now_ns);
	work += nic_doorbells(n->nic, now_ns);
	work += due_send(n, now_ns);
	if (n->offers && (link_watched(n->link) || now_ns >= n->offers_ns)) {
		n->offers_ns = now_ns + OFFER_LOOK_NS;
		work += offers_poll(n->offers, now_ns);
	}
	users_poll(n);
	observe_look(n, &n->observe, work, now_ns);
	return work;
}

uint32_t node_doorbells_accept(struct node *n)
{
	return nic_doorbell_ready(n->nic) ? nic_doorbells(n->nic, clock_now_ns()) : 0;
}

uint64_t node_deadline(const struct node *n)
{
	uint64_t deadline_ns = min_u64(nic_deadline(n->nic), n->observe.due_ns);

	if (link_pending(n->link))
		return 0; /* datagrams in the crossbar wake no sleeping thread, so poll now */
	if (n->offers)
		deadline_ns = min_u64(deadline_ns, offers_deadline(n->offers));
	if (!n->member)
		return deadline_ns;
	deadline_ns = min_u64(deadline_ns, n->probe.due_ns);
	deadline_ns = min_u64(deadline_ns, fabric_keys_deadline(&n->keys));
	return min_u64(min_u64(deadline_ns, n->silent_ns), member_deadline(n->member));
}

int node_join(struct node *n, uint64_t deadline_ns)
{
	while (n->member && member_state(n->member) != MEMBER_JOINED) {
		if (member_state(n->member) == MEMBER_FAILED)
			return member_status(n->member);
		if (clock_now_ns() >= deadline_ns)
			return DXP_ETIMEDOUT;
		if (node_poll(n) == 0)
			node_wait(n, deadline_ns);
	}
	return DXP_OK;
}

const char *node_error(const struct node *n)
{
	return n->member ? member_text(n->member) : "";
}

uint8_t node_other_version(const struct node *n)
{
	return n->member ? member_other_version(n->member) : 0;
}

bool node_sleep_announce(struct node *n)
{
	atomic_store(&n->sleeping, true); /* must come before the fence in nic_sleep_announce */
	if (nic_sleep_announce(n->nic) && !node_armed(n))
		return true;
	node_sleep_end(n);
	return false;
}

void node_sleep_end(struct node *n)
{
	atomic_store_explicit(&n->sleeping, false, memory_order_relaxed);
	nic_sleep_end(n->nic);
}

/* The load is sequentially consistent. It acts as a load behind the fence after need_wakeup
 * (nic/wake.c). */
bool node_armed(const struct node *n)
{
	return atomic_load(&n->armed) > 0;
}

void node_arm(struct node *n, int delta)
{
	atomic_fetch_add(&n->armed, delta);
	if (delta > 0)
		node_wake(n);
}

void node_user_fd(struct node *n, uint32_t user, int fd)
{
	n->user_fds[user] = fd;
}

void node_wait(struct node *n, uint64_t deadline_ns)
{
	if (!node_sleep_announce(n))
		return;
	link_wait(n->link, min_u64(deadline_ns, node_deadline(n)));
	node_sleep_end(n);
}

void node_wait_clear(struct node *n)
{
	link_wait(n->link, 0);
}

void node_wake(struct node *n)
{
	dxp_fence(); /* the fence between doorbell and need_wakeup, see nic/wake.c */
	if (atomic_load_explicit(&n->sleeping, memory_order_acquire))
		link_wake(n->link);
}

int node_offer(struct node *n, uint32_t functions, const char *path)
{
	if (n->offers)
		return DXP_EEXIST;
	return functions > 0 && functions < NIC_FUNCTIONS
		       ? offers_open(n, functions, path, &n->offers)
		       : DXP_EINVAL;
}

int node_watch(struct node *n, int fd)
{
	return link_watch(n->link, fd, true);
}

int node_fd(struct node *n)
{
	return link_fd(n->link);
}

uint64_t node_incarnation(const struct node *n)
{
	return n->incarnation;
}

uint16_t node_id(const struct node *n)
{
	return n->id;
}

struct nic *node_nic(struct node *n)
{
	return n->nic;
}

struct dxp_window *node_window(struct node *n)
{
	return n->window;
}

const struct node_table *node_table(const struct node *n)
{
	return n->member ? member_table(n->member) : NULL;
}

void node_address(const struct node *n, struct udp_address *out)
{
	link_address(n->link, out);
}

bool node_advertised(const struct node *n, struct udp_address *out)
{
	static const struct udp_address none;
	struct udp_address bound;

	if (address_equal(&n->options.advertise, &none))
		return false;
	link_address(n->link, &bound);
	*out = n->options.advertise;
	out->port = out->port ? out->port : bound.port;
	return true;
}
