/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends packets by child. In a batch, a `way` is a source port and destination, numbered by first
 * use; sorting by way keeps its order. */
#include "switch/serve_send.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"
#include "link/udp.h"
#include "switch/limits.h"

#define PORT_IN_USE UINT8_MAX /* another process uses the port */
/* power of two, at most half used */
#define WAYS_BUCKETS (2 * SERVE_BATCH)

_Static_assert((WAYS_BUCKETS & (WAYS_BUCKETS - 1)) == 0, "a power of two");
_Static_assert(SERVE_SENDERS_MAX < UINT8_MAX, "a sender's number and none fit a byte");

struct sender {
	struct link *link; /* NULL: unused */
	uint16_t port;
	uint64_t used_ns;
};

/* Packets of a batch that have the same source port and destination. */
struct way {
	struct udp_address to;
	uint16_t from_port;
	uint16_t count, next;
};

struct senders {
	uint32_t ip;
	int priority;
	struct link *main;
	uint64_t lost;
	/* When used ports are tried again; 0: none known. */
	uint64_t forgive_ns;
	/* by source port: 1 + index in `table`; 0: no socket; PORT_IN_USE */
	uint8_t numbers[ROCE_SOURCE_PORTS];
	struct sender table[SERVE_SENDERS_MAX];

	/* The fields from here on are about the current batch. */
	uint32_t way_count;
	struct way ways[SERVE_BATCH];
	uint16_t ways_table[WAYS_BUCKETS]; /* 1 + way; 0: free */
	uint16_t way_of[SERVE_BATCH];
	const struct datagram *list[SERVE_BATCH];
};

int serve_senders_open(uint32_t ip, int priority, struct link *main, struct senders **out)
{
	struct senders *s = calloc(1, sizeof(*s));

	if (!s)
		return DXP_ENOMEM;
	s->ip = ip;
	s->priority = priority;
	s->main = main;
	*out = s;
	return DXP_OK;
}

static void sender_close(struct senders *s, struct sender *e)
{
	link_close(e->link);
	e->link = NULL;
	s->numbers[e->port - ROCE_SOURCE_PORT] = 0;
}

void serve_senders_close(struct senders *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < ARRAY_COUNT(s->table); i++)
		if (s->table[i].link)
			sender_close(s, &s->table[i]);
	free(s);
}

void serve_senders_counters(const struct senders *s, struct senders_counters *out)
{
	*out = (struct senders_counters){.lost = s->lost};
	for (unsigned i = 0; i < ARRAY_COUNT(s->table); i++)
		out->open += s->table[i].link != NULL;
}

/* Returns a free entry; without one, closes the socket unused for longest. */
static unsigned entry_make(struct senders *s)
{
	unsigned oldest = 0;

	for (unsigned i = 0; i < ARRAY_COUNT(s->table); i++) {
		if (!s->table[i].link)
			return i;
		if (s->table[i].used_ns < s->table[oldest].used_ns)
			oldest = i;
	}
	sender_close(s, &s->table[oldest]);
	return oldest;
}

/* Logged once until such ports are tried again. */
static void in_use_note(struct senders *s, uint8_t *number, uint64_t now_ns)
{
	*number = PORT_IN_USE;
	if (s->forgive_ns != 0)
		return;
	s->forgive_ns = now_ns + SERVE_REPORT_NS;
	log_warn("hosts that use this port get no answers; \"sysctl "
		 "net.ipv4.ip_local_reserved_ports=49152-50175\" reserves it");
}

static void in_use_forget(struct senders *s)
{
	for (unsigned i = 0; i < ARRAY_COUNT(s->numbers); i++)
		if (s->numbers[i] == PORT_IN_USE)
			s->numbers[i] = 0;
	s->forgive_ns = 0;
}

void serve_senders_tidy(struct senders *s, uint64_t now_ns)
{
	if (s->forgive_ns != 0 && now_ns >= s->forgive_ns)
		in_use_forget(s);
	for (unsigned i = 0; i < ARRAY_COUNT(s->table); i++) {
		struct sender *e = &s->table[i];
		if (e->link && now_ns - e->used_ns > SERVE_SENDER_IDLE_NS)
			sender_close(s, e);
	}
}

static void sender_open(struct senders *s, uint16_t port, uint8_t *number, uint64_t now_ns)
{
	const struct link_options options = {.bind = address_v4(s->ip, port),
					     .whole = true,
					     .unconnected = true,
					     .alone = inc_packet_alone,
					     .priority = s->priority,
					     .no_gro = true};
	unsigned entry = entry_make(s);
	struct sender *e = &s->table[entry];

	if (link_open(&options, &e->link) != DXP_OK) {
		e->link = NULL;
		in_use_note(s, number, now_ns);
		return;
	}
	e->port = port;
	*number = (uint8_t)(entry + 1);
}

/* REFUSED may answer a port scan: it opens a socket only below SERVE_SENDERS_REJECTED, and never
 * closes another. */
static bool worth_opening(const struct senders *s, const struct datagram *d)
{
	unsigned open = 0;

	if (d->header_bytes < INC_UD_BYTES ||
	    d->header[INC_UD_BYTES - INC_HEADER_BYTES + INC_OFF_KIND] != INC_REFUSED)
		return true;
	for (unsigned i = 0; i < ARRAY_COUNT(s->table); i++)
		open += s->table[i].link != NULL;
	return open < SERVE_SENDERS_REJECTED;
}

/* NULL: none. */
static struct link *sender_of(struct senders *s, uint16_t port, const struct datagram *first,
			      uint64_t now_ns)
{
	if (port == ROCE_PORT)
		return s->main;
	if (port < ROCE_SOURCE_PORT)
		return NULL;
	uint8_t *number = &s->numbers[port - ROCE_SOURCE_PORT];
	if (*number == 0 && !worth_opening(s, first))
		return NULL;
	if (*number == 0)
		sender_open(s, port, number, now_ns);
	if (*number == PORT_IN_USE)
		return NULL;
	s->table[*number - 1].used_ns = now_ns;
	return s->table[*number - 1].link;
}

static uint32_t way_hash(const struct udp_address *to, uint16_t from_port)
{
	uint32_t ip;

	memcpy(&ip, to->ip + 12, sizeof(ip));
	ip ^= (uint32_t)from_port << 16 ^ to->port;
	return (uint32_t)((ip * 0x9e3779b97f4a7c15ull) >> 32);
}

static uint16_t way_number(struct senders *s, const struct udp_address *to, uint16_t from_port)
{
	uint32_t bucket = way_hash(to, from_port) % WAYS_BUCKETS;

	for (; s->ways_table[bucket] != 0; bucket = (bucket + 1) % WAYS_BUCKETS) {
		struct way *w = &s->ways[s->ways_table[bucket] - 1];
		if (w->from_port == from_port && address_equal(&w->to, to))
			return (uint16_t)(s->ways_table[bucket] - 1);
	}
	s->ways[s->way_count] = (struct way){.to = *to, .from_port = from_port};
	s->ways_table[bucket] = (uint16_t)++s->way_count;
	return (uint16_t)(s->way_count - 1);
}

/* Sorts packets by way into `list`; `next` is then the end of a way's packets. */
static void batch_order(struct senders *s, const struct inc_batch *batch)
{
	uint16_t begin = 0;

	s->way_count = 0;
	memset(s->ways_table, 0, sizeof(s->ways_table));
	for (size_t i = 0; i < batch->count; i++) {
		s->way_of[i] = way_number(s, &batch->datagrams[i].to, batch->from_ports[i]);
		s->ways[s->way_of[i]].count++;
	}
	for (uint32_t w = 0; w < s->way_count; w++) {
		s->ways[w].next = begin;
		begin = (uint16_t)(begin + s->ways[w].count);
	}
	for (size_t i = 0; i < batch->count; i++)
		s->list[s->ways[s->way_of[i]].next++] = &batch->datagrams[i];
}

static void list_send(struct senders *s, uint16_t from_port, const struct datagram *const *list,
		      size_t count, uint64_t now_ns)
{
	struct link *l = sender_of(s, from_port, list[0], now_ns);
	size_t done = 0;

	if (!l) {
		s->lost += count;
		return;
	}
	for (unsigned tries = 0; done < count && tries < SERVE_SEND_TRIES; tries++) {
		done += link_send_list(l, list + done, count - done);
		if (done < count)
			sched_yield();
	}
	s->lost += count - done;
}

void serve_senders_send(struct senders *s, const struct inc_batch *batch, uint64_t now_ns)
{
	size_t begin = 0;

	if (batch->count == 1) {
		s->list[0] = batch->datagrams;
		list_send(s, batch->from_ports[0], s->list, 1, now_ns);
		return;
	}
	batch_order(s, batch);
	for (uint32_t w = 0; w < s->way_count; w++) {
		size_t end = s->ways[w].next;
		/* Ways in a row with one source port are one system call. */
		if (w + 1 < s->way_count && s->ways[w + 1].from_port == s->ways[w].from_port)
			continue;
		list_send(s, s->ways[w].from_port, s->list + begin, end - begin, now_ns);
		begin = end;
	}
}
