/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements a group member without the library: three sockets, and functions that encode or decode
 * one packet. Measurements and tests of the switch use it. */
#ifndef BENCH_INC_END_H
#define BENCH_INC_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/inc.h"

struct inc_end {
	int out; /* sends; bound to the endpoint's port */
	/* receives packets to this member; bound to port 4791 and connected to the switch */
	int in;
	int shared; /* receives packets to all members; bound to the group's address */
	uint32_t ip, switch_ip;
	uint16_t port;
	uint8_t buffer[2048];
};

/* Opens the sockets in the network namespace of this thread. Returns DXP_EIO, logged, on
 * failure. */
int inc_end_open(uint32_t ip, uint16_t port, uint32_t switch_ip, uint32_t multicast_ip,
		 struct inc_end *out);
void inc_end_close(struct inc_end *e);

/* An encoded packet to the switch. */
struct inc_ready {
	uint8_t data[2048];
	size_t bytes;
};
void inc_end_make(const struct inc_end *e, const struct inc_header *h, uint32_t qkey,
		  const void *payload, size_t bytes, struct inc_ready *out);

/* Sends the packet. Ignores errors: a packet that cannot be sent counts as lost. */
void inc_end_give(const struct inc_end *e, const struct inc_ready *packet);
void inc_end_send(const struct inc_end *e, const struct inc_header *h, uint32_t qkey,
		  const void *payload, size_t bytes);

/* Receives one packet from either socket; reads the group's socket first if `shared_first` is set.
 * Checks the packet and its ICRC. Returns false on timeout. */
bool inc_end_receive(struct inc_end *e, bool shared_first, uint64_t timeout_ns,
		     struct inc_packet *out);

#endif
