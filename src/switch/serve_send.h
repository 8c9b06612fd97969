/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends a switch's packets, each from the source port that it names. Port 4791 uses the receiving
 * socket; other ports have sockets of their own, opened on first use and closed after long
 * idleness. Packets to one child leave together and in order, as GSO batches. If the kernel has no
 * space, sends are retried briefly, then the packets are dropped: hosts retransmit. */
#ifndef SWITCH_SERVE_SEND_H
#define SWITCH_SERVE_SEND_H

#include <stdint.h>

#include "link/udp.h"
#include "wire/inc.h"

struct senders;

struct senders_counters {
	uint64_t lost; /* packets dropped: no space in the kernel, or port in use */
	uint32_t open; /* sockets */
};

/* Creates the senders. `main` stays the caller's. DXP_ENOMEM. */
int serve_senders_open(uint32_t ip, struct link *main, struct senders **out);
void serve_senders_close(struct senders *s);

/* Sends the batch, at most SERVE_BATCH packets. */
void serve_senders_send(struct senders *s, const struct inc_batch *batch, uint64_t now_ns);

/* Closes sockets that were idle for long. Cheap enough for periodic calls. */
void serve_senders_tidy(struct senders *s, uint64_t now_ns);

void serve_senders_counters(const struct senders *s, struct senders_counters *out);

#endif
