/* SPDX-License-Identifier: BSD-3-Clause */
/* Detects that a measured path becomes blocked or slow, or is restored, for the event log. Pure.
 *
 * Blocked: PROBE_BLOCKED short probes in a row without answer. Slow: each of the last PROBE_RECENT
 * round trips exceeds PROBE_SLOW_NS and PROBE_SLOW_FACTOR times the lower median of the shortest
 * round trips of this node's paths. A slow path is restored at half of that. */
#ifndef NODE_PATH_CHANGES_H
#define NODE_PATH_CHANGES_H

#include "wire/events.h"

struct probe;

struct path_change {
	uint8_t kind; /* EVENT_PATH_... */
	char peer[FABRIC_NAME_BYTES];
	uint64_t rtt_ns, typical_ns; /* 0: none */
};

/* Returns the next change that was not returned before, or false. */
bool path_changes_next(struct probe *p, struct path_change *out);

#endif
