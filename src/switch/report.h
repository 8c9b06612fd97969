/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch's counters for holders of the fabric key, by STATS frames (wire/stats_service.h) at its
 * own UDP port and thread. They cost the loop one relaxed load, and one copy per answer. */
#ifndef SWITCH_REPORT_H
#define SWITCH_REPORT_H

#include "base/limits.h"
#include "link/udp.h"
#include "switch/switch.h"

struct report;

struct report_options {
	struct udp_address bind;
	const uint8_t *key; /* FABRIC_KEY_BYTES; copied */
	/* The loop then calls report_serve soon. */
	void (*wake)(void *context);
	void *context;
};

/* DXP_EBUSY: the port is in use; DXP_EIO, DXP_ENOMEM; all logged. */
int report_open(const struct report_options *options, struct report **out);
/* Accepts NULL. */
void report_close(struct report *r);

/* Loop: the thread waits for report_serve. Accepts NULL. */
bool report_wanted(const struct report *r);
/* Loop: copies the counters for the thread. */
void report_serve(struct report *r, const struct sw *s, uint64_t now_ns);

#endif
