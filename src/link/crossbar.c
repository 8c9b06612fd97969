/* SPDX-License-Identifier: BSD-3-Clause */
/* The queues of the crossbar are rings of records. A record is a head and one whole datagram. A
 * record that does not fit before the end of the ring is stored at the beginning.
 *
 * Invariant: released <= read <= written <= released + lines, free-running positions in lines of 64
 * bytes. */
#include "link/crossbar.h"

#include <assert.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <dxp/status.h>

#include "base/util.h"
#include "link/endpoint.h"

#define LINE 64 /* bytes: records begin at cache lines, because aligned copies are fast */

/* The datagram follows. */
struct record {
	alignas(LINE) struct udp_address from;
	uint8_t ecn;
	/* no datagram; the next record is at the beginning of the ring */
	bool gap;
	uint32_t bytes;
	uint64_t at_ns;
};
_Static_assert(sizeof(struct record) == LINE, "a head is one cache line");

struct crossbar_port {
	struct crossbar *crossbar;
	const struct link *link;
	struct record *ring;
	uint64_t lines; /* size of the ring */
	uint64_t written, read, released;
	uint64_t drops;
};

struct crossbar {
	struct crossbar_port *ports[LINK_CROSSBAR_PORTS];
	unsigned count;
	unsigned last; /* of the port that the last crossbar_find returned */
};

int crossbar_create(struct crossbar **out)
{
	struct crossbar *c = calloc(1, sizeof(*c));

	if (!c)
		return DXP_ENOMEM;
	*out = c;
	return DXP_OK;
}

void crossbar_destroy(struct crossbar *c)
{
	assert(!c || c->count == 0);
	free(c);
}

int crossbar_port_add(struct crossbar *c, const struct link *l, size_t bytes,
		      struct crossbar_port **out)
{
	if (c->count == LINK_CROSSBAR_PORTS)
		return DXP_EBUSY;
	struct crossbar_port *p = calloc(1, sizeof(*p));
	if (!p)
		return DXP_ENOMEM;
	p->lines = max_u64(bytes, 4 * DATAGRAM_BYTES_MAX) / LINE;
	/* mmap, because pages never written use no memory */
	void *ring = mmap(NULL, p->lines * LINE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ring == MAP_FAILED) {
		free(p);
		return DXP_ENOMEM;
	}
	p->ring = ring;
	p->crossbar = c;
	p->link = l;
	c->ports[c->count++] = p;
	*out = p;
	return DXP_OK;
}

void crossbar_port_remove(struct crossbar_port *p)
{
	if (!p)
		return;
	struct crossbar *c = p->crossbar;
	unsigned i = 0;
	while (c->ports[i] != p)
		i++;
	c->ports[i] = c->ports[--c->count];
	c->last = 0;
	munmap(p->ring, p->lines * LINE);
	free(p);
}

static bool port_is(const struct crossbar_port *p, const struct udp_address *to)
{
	struct udp_address own;

	link_address(p->link, &own);
	return own.port == to->port && address_equal(&own, to);
}

struct crossbar_port *crossbar_find(struct crossbar *c, const struct udp_address *to)
{
	if (c->count == 0)
		return NULL;
	if (port_is(c->ports[c->last], to))
		return c->ports[c->last];
	for (unsigned i = 0; i < c->count; i++)
		if (port_is(c->ports[i], to)) {
			c->last = i;
			return c->ports[i];
		}
	return NULL;
}

static struct record *record_at(const struct crossbar_port *p, uint64_t position)
{
	return &p->ring[position % p->lines];
}

static uint64_t record_lines(size_t bytes)
{
	return 1 + (bytes + LINE - 1) / LINE;
}

/* NULL: the ring is full. */
static struct record *record_reserve(struct crossbar_port *p, uint64_t lines)
{
	uint64_t left = p->lines - p->written % p->lines;
	uint64_t gap = left < lines ? left : 0;

	if (p->written - p->released + gap + lines > p->lines)
		return NULL;
	if (gap > 0)
		*record_at(p, p->written) = (struct record){.gap = true};
	p->written += gap;
	return record_at(p, p->written);
}

bool crossbar_port_put(struct crossbar_port *p, const struct udp_address *from,
		       const struct datagram *d, uint64_t now_ns)
{
	size_t bytes = batch_datagram_bytes(d);
	struct record *r = record_reserve(p, record_lines(bytes));

	if (!r) {
		p->drops++;
		return false;
	}
	*r = (struct record){
		.from = *from, .ecn = d->ecn, .bytes = (uint32_t)bytes, .at_ns = now_ns};
	uint8_t *to = (uint8_t *)(r + 1);
	memcpy(to, d->header, d->header_bytes);
	to += d->header_bytes;
	for (uint8_t i = 0; i < d->slice_count; i++) {
		memcpy(to, d->slices[i].base, d->slices[i].bytes);
		to += d->slices[i].bytes;
	}
	p->written += record_lines(bytes);
	return true;
}

bool crossbar_port_pending(const struct crossbar_port *p)
{
	return p->read != p->written;
}

/* Frees the datagrams of the last crossbar_port_dequeue. An empty queue starts again at the
 * beginning, which is still in the cache. */
static void port_release(struct crossbar_port *p)
{
	p->released = p->read;
	if (p->released == p->written)
		p->released = p->read = p->written = 0;
}

size_t crossbar_port_dequeue(struct crossbar_port *p, struct datagram_arrival *arrivals,
			     size_t count)
{
	size_t dequeued = 0;

	port_release(p);
	while (dequeued < count && crossbar_port_pending(p)) {
		const struct record *r = record_at(p, p->read);
		if (r->gap) {
			p->read += p->lines - p->read % p->lines;
			continue;
		}
		arrivals[dequeued++] = (struct datagram_arrival){
			.from = r->from,
			.data = (const uint8_t *)(r + 1),
			.bytes = r->bytes,
			.arrived_ns = r->at_ns,
			.ecn = r->ecn,
			.stamped = true,
		};
		p->read += record_lines(r->bytes);
	}
	return dequeued;
}

size_t crossbar_port_waiting(const struct crossbar_port *p, size_t *bytes)
{
	*bytes = p->lines * LINE;
	return (p->written - p->read) * LINE;
}

uint64_t crossbar_port_drops(const struct crossbar_port *p)
{
	return p->drops;
}
