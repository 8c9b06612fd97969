/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/path_changes.h"

#include <string.h>

#include "base/median.h"
#include "base/util.h"
#include "node/probe.h"

/* Returns the lower median of the shortest round trips; 0: none. */
static uint64_t typical(const struct probe *p)
{
	uint64_t all[PROBE_PATHS];
	unsigned count = 0;

	for (unsigned i = 0; i < p->count; i++)
		if (p->paths[i].min_rtt_ns)
			all[count++] = p->paths[i].min_rtt_ns;
	return median_lower(all, count);
}

/* Returns the shortest of the last PROBE_RECENT round trips; 0 if there are fewer. */
static uint64_t recent(const struct probe_path *path)
{
	uint64_t least = path->recent_ns[0];

	for (unsigned i = 1; i < PROBE_RECENT; i++)
		least = min_u64(least, path->recent_ns[i]);
	return least;
}

static uint8_t kind_now(const struct probe_path *path, uint64_t rtt_ns, uint64_t typical_ns)
{
	const uint64_t scale = path->reported == EVENT_PATH_SLOW ? 2 : 1;

	if (path->unanswered >= PROBE_BLOCKED)
		return EVENT_PATH_BLOCKED;
	if (path->unanswered > 0)
		return path->reported; /* not known yet */
	if (rtt_ns * scale > PROBE_SLOW_NS && rtt_ns * scale > PROBE_SLOW_FACTOR * typical_ns)
		return EVENT_PATH_SLOW;
	return path->reported == 0 ? 0 : EVENT_PATH_RESTORED;
}

bool path_changes_next(struct probe *p, struct path_change *out)
{
	const uint64_t typical_ns = typical(p);

	for (unsigned i = 0; i < p->count; i++) {
		struct probe_path *path = &p->paths[i];
		const uint64_t rtt_ns = recent(path);
		const uint8_t kind = kind_now(path, rtt_ns, typical_ns);
		if (kind == path->reported)
			continue;
		path->reported = kind;
		*out = (struct path_change){
			.kind = kind, .rtt_ns = rtt_ns, .typical_ns = typical_ns};
		memcpy(out->peer, path->name, sizeof(out->peer));
		return true;
	}
	return false;
}
