/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements a group member without the library, for measurements and tests of the switch: three
 * sockets, one packet at a time. */
#ifndef BENCH_INC_END_H
#define BENCH_INC_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/inc.h"

struct inc_end {
	int out; /* sends; has the endpoint's port */
	/* packets to this member; port 4791, connected to the switch */
	int in;
	int shared; /* packets to all; has the group's address */
	uint32_t ip, switch_ip;
	uint16_t port;
	uint8_t buffer[2048];
};

/* Uses this thread's network namespace. Returns DXP_EIO, logged, on failure. */
int inc_end_open(uint32_t ip, uint16_t port, uint32_t switch_ip, uint32_t multicast_ip,
		 struct inc_end *out);
void inc_end_close(struct inc_end *e);

struct inc_ready {
	uint8_t data[2048];
	size_t bytes;
};
void inc_end_make(const struct inc_end *e, const struct inc_header *h, uint32_t qkey,
		  const void *payload, size_t bytes, struct inc_ready *out);

/* Sends the packet; one that cannot be sent counts as lost. */
void inc_end_give(const struct inc_end *e, const struct inc_ready *packet);
void inc_end_send(const struct inc_end *e, const struct inc_header *h, uint32_t qkey,
		  const void *payload, size_t bytes);

/* Receives one packet, first from the group's socket if `shared_first`. Checks it and its ICRC.
 * Returns false on timeout. */
bool inc_end_receive(struct inc_end *e, bool shared_first, uint64_t timeout_ns,
		     struct inc_packet *out);

#endif
