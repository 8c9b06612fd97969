/* SPDX-License-Identifier: BSD-3-Clause */
/* A member of an in-network group by hand: three sockets, and packets made and read one by one.
 * What a measurement of the switch alone, or a test of it, wants instead of the library. */
#ifndef BENCH_INC_END_H
#define BENCH_INC_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/inc.h"

struct inc_end {
	int out;    /* bound to the endpoint's port: sends */
	int in;     /* bound to 4791, connected to the switch: what is for this member alone */
	int shared; /* bound to the group's address: what is for all */
	uint32_t ip, switch_ip;
	uint16_t port;
	uint8_t buffer[2048];
};

/* In the network namespace of this thread. DXP_EIO: logged. */
int inc_end_open(uint32_t ip, uint16_t port, uint32_t switch_ip, uint32_t multicast_ip,
		 struct inc_end *out);
void inc_end_close(struct inc_end *e);

/* A packet to the switch, ready to be sent. */
struct inc_ready {
	uint8_t data[2048];
	size_t bytes;
};
void inc_end_make(const struct inc_end *e, const struct inc_header *h, uint32_t qkey,
		  const void *payload, size_t bytes, struct inc_ready *out);

/* Whatever becomes of it: a packet that cannot be sent is a lost one. */
void inc_end_give(const struct inc_end *e, const struct inc_ready *packet);
void inc_end_send(const struct inc_end *e, const struct inc_header *h, uint32_t qkey,
		  const void *payload, size_t bytes);

/* Takes one packet, if one comes to either socket in time: of the group's address first where
 * `shared_first`. Checks it and its ICRC. */
bool inc_end_receive(struct inc_end *e, bool shared_first, uint64_t timeout_ns,
		     struct inc_packet *out);

#endif
