/* SPDX-License-Identifier: BSD-3-Clause */
/* Switches below this one, for readers of its counters. Anyone can forge a QUERY, so a switch that
 * only forwarded one never replaces a switch in a group. */
#include "switch/core.h"

/* `a` is to be replaced before `b`. */
static bool replaced_before(const struct below *a, const struct below *b)
{
	return a->grouped != b->grouped ? !a->grouped : a->seen_ns < b->seen_ns;
}

static bool recent(const struct below *b, uint64_t now_ns)
{
	return b->ip != 0 && now_ns - b->seen_ns < SWITCH_BELOW_NS;
}

static struct below *entry_of(struct sw *s, uint32_t ip, uint64_t now_ns)
{
	struct below *least = &s->below[0];

	for (unsigned i = 0; i < SWITCH_BELOW_MAX; i++) {
		struct below *b = &s->below[i];
		b->grouped &= recent(b, now_ns);
		if (b->ip == ip)
			return b;
		if (replaced_before(b, least))
			least = b;
	}
	return least;
}

void below_note(struct sw *s, uint32_t ip, bool grouped, uint64_t now_ns)
{
	struct below *b = entry_of(s, ip, now_ns);

	if (b->ip != ip) {
		if (b->grouped && !grouped)
			return;
		*b = (struct below){.ip = ip};
	}
	b->grouped |= grouped;
	if (b->grouped == grouped)
		b->seen_ns = now_ns;
}

unsigned switch_below(const struct sw *s, uint64_t now_ns, uint32_t *ips, unsigned space)
{
	unsigned count = 0;

	for (int grouped = 1; grouped >= 0; grouped--)
		for (unsigned i = 0; i < SWITCH_BELOW_MAX; i++)
			if (s->below[i].grouped == grouped && recent(&s->below[i], now_ns) &&
			    count < space)
				ips[count++] = s->below[i].ip;
	return count;
}
