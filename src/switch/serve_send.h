/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends from the source ports that packets name: 4791 is the receiving socket; others open at first
 * use and close when unused. A child's packets go in order, as GSO batches. If the kernel's buffer
 * stays full, packets are dropped, and hosts retransmit. */
#ifndef SWITCH_SERVE_SEND_H
#define SWITCH_SERVE_SEND_H

#include <stdint.h>

#include "link/udp.h"
#include "wire/inc.h"

struct senders;

struct senders_counters {
	/* dropped: full buffer, or a used source port */
	uint64_t lost;
	uint32_t open;
};

/* `main`: socket of port 4791, still the caller's. `priority`: as in link_options. DXP_ENOMEM. */
int serve_senders_open(uint32_t ip, int priority, struct link *main, struct senders **out);
void serve_senders_close(struct senders *s);

/* Sends at most SERVE_BATCH packets. */
void serve_senders_send(struct senders *s, const struct inc_batch *batch, uint64_t now_ns);

/* Closes sockets unused for SERVE_SENDER_IDLE_NS. Cheap enough for periodic calls. */
void serve_senders_tidy(struct senders *s, uint64_t now_ns);

void serve_senders_counters(const struct senders *s, struct senders_counters *out);

#endif
