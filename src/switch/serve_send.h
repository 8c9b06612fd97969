/* SPDX-License-Identifier: BSD-3-Clause */
/* What a switch sends, by the port that each packet must leave from: 4791 by the endpoint that also
 * receives, every other by an endpoint of its own that is opened when it is first wanted and closed
 * when it was not for long. Packets to one child leave together, in their order, so that they form
 * trains; what the kernel has no room for is waited for shortly, then lost: hosts repeat. */
#ifndef SWITCH_SERVE_SEND_H
#define SWITCH_SERVE_SEND_H

#include <stdint.h>

#include "link/udp.h"
#include "wire/inc.h"

struct senders;

struct senders_counters {
	uint64_t lost; /* packets the kernel never had room for, or whose port is taken */
	uint32_t open; /* endpoints */
};

/* `main` stays the caller's. DXP_ENOMEM. */
int senders_open(uint32_t ip, struct link *main, struct senders **out);
void senders_close(struct senders *s);

/* At most SERVE_BATCH packets. */
void senders_send(struct senders *s, const struct inc_batch *batch, uint64_t now_ns);

/* Closes endpoints that nobody wanted for long. Cheap; call it now and then. */
void senders_tidy(struct senders *s, uint64_t now_ns);

void senders_counters(const struct senders *s, struct senders_counters *out);

#endif
