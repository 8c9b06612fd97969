/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives a switch's counters to programs that have the fabric key, by STATS frames
 * (wire/stats_service.h) at a UDP port of its own. A thread of its own checks and answers requests,
 * so that they cost the switch's loop one relaxed load, and one copy of the counters for each
 * answer. */
#ifndef SWITCH_REPORT_H
#define SWITCH_REPORT_H

#include "base/limits.h"
#include "link/udp.h"
#include "switch/switch.h"

struct report;

struct report_options {
	struct udp_address bind;
	const uint8_t *key; /* FABRIC_KEY_BYTES; copied */
	/* Makes the loop call report_serve soon. */
	void (*wake)(void *context);
	void *context;
};

/* Opens the port and starts the thread. DXP_EBUSY: the port is in use; DXP_EIO, DXP_ENOMEM; all
 * logged. */
int report_open(const struct report_options *options, struct report **out);
/* Accepts NULL. */
void report_close(struct report *r);

/* Loop: returns whether the thread waits for report_serve. Accepts NULL. */
bool report_wanted(const struct report *r);
/* Loop: copies the counters for the thread. */
void report_serve(struct report *r, const struct sw *s, uint64_t now_ns);

#endif
