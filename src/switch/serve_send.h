/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends a switch's packets from the source ports that they name. Port 4791 is the receiving socket.
 * Each other port has a socket of its own, which is opened at first use and closed when it was
 * unused for long. Packets to one child are sent in order, as GSO batches. If the kernel's buffer
 * is full, sending is retried for a short time; then the packets are dropped, and hosts
 * retransmit. */
#ifndef SWITCH_SERVE_SEND_H
#define SWITCH_SERVE_SEND_H

#include <stdint.h>

#include "link/udp.h"
#include "wire/inc.h"

struct senders;

struct senders_counters {
	/* packets dropped because the kernel's buffer was full, or another process used the source
	 * port */
	uint64_t lost;
	uint32_t open;
};

/* Creates the senders. `main` is the socket of port 4791; the caller still owns it. `priority`: as
 * in link_options. DXP_ENOMEM. */
int serve_senders_open(uint32_t ip, int priority, struct link *main, struct senders **out);
void serve_senders_close(struct senders *s);

/* Sends a batch of at most SERVE_BATCH packets. */
void serve_senders_send(struct senders *s, const struct inc_batch *batch, uint64_t now_ns);

/* Closes sockets that were unused for SERVE_SENDER_IDLE_NS. Cheap enough for periodic calls. */
void serve_senders_tidy(struct senders *s, uint64_t now_ns);

void serve_senders_counters(const struct senders *s, struct senders_counters *out);

#endif
