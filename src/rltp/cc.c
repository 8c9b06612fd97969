/* SPDX-License-Identifier: BSD-3-Clause */
/* Common part of congestion control: bounds, delays, round trips, pauses, the receiver's buffer. */
#include <assert.h>
#include <string.h>

#include "rltp/cc_internal.h"
#include "wire/limits.h"

static const struct cc_ops *const modules[CC_KINDS] = {
	[CC_SWIFT] = &cc_swift,
	[CC_NONE] = &cc_none,
	[CC_DCTCP] = &cc_dctcp,
	[CC_RENO] = &cc_reno,
};

_Static_assert(sizeof(struct cc) <= 80, "each active session holds one");
_Static_assert(WIRE_WINDOW_MAX <= UINT16_MAX, "most is 16 bits");

void cc_init(struct cc *c, enum cc_kind kind, uint32_t most, uint64_t now_ns)
{
	assert((unsigned)kind < CC_KINDS && most >= 1 && most <= WIRE_WINDOW_MAX);
	*c = (struct cc){
		.kind = (uint8_t)kind,
		.starting = !modules[kind]->steady,
		.most = (uint16_t)most,
		.host_window = most * CC_ONE,
		.threshold = UINT32_MAX,
		.round_ns = now_ns,
	};
	window_set(c, (modules[kind]->steady ? most : RLTP_CC_INITIAL) * CC_ONE, CC_ONE);
}

void cc_counts_clear(struct cc *c)
{
	c->acked = c->lost = c->marked = 0;
}

void cc_double(struct cc *c, const struct cc_ack *ack)
{
	if (!ack->limited)
		return;
	window_set(c, (uint64_t)c->window + (uint64_t)ack->acked * CC_ONE, RLTP_CC_WINDOW_MIN);
	if (c->window >= c->threshold)
		c->starting = false;
}

void cc_restart(struct cc *c, uint32_t least, uint64_t now_ns)
{
	uint32_t half = c->window / 2;

	window_cut(c, min_u64(half, RLTP_CC_INITIAL * CC_ONE), least, now_ns);
	c->threshold = half;
	c->starting = c->window < half;
}

void cc_resume(struct cc *c, uint64_t now_ns)
{
	uint64_t pause_ns = elapsed(now_ns, c->round_ns);

	if (pause_ns < RLTP_CC_IDLE_NS || modules[c->kind]->steady)
		return;
	uint64_t halvings = min_u64(pause_ns / RLTP_CC_IDLE_NS, 31);
	uint64_t rested = max_u64(c->window >> halvings, RLTP_CC_INITIAL * CC_ONE);
	if (rested < c->window) {
		c->threshold = c->window;
		c->starting = true;
		window_set(c, rested, CC_ONE);
	}
	c->delay_ns = c->round_delay_ns = 0;
	c->limited = c->marks = false;
	c->floored = (uint32_t)(now_ns >> 20);
	c->round_ns = now_ns;
	cc_counts_clear(c);
}

static uint32_t lower(uint32_t known, uint32_t sample)
{
	return known == 0 || sample < known ? sample : known;
}

static void delay_sample(struct cc *c, uint32_t delay_ns)
{
	if (delay_ns == 0)
		return;
	c->min_delay_ns = lower(c->min_delay_ns, delay_ns);
	c->round_delay_ns = lower(c->round_delay_ns, delay_ns);
	if (c->delay_ns == 0)
		c->delay_ns = delay_ns;
	else /* 1/4: a round trip has few samples */
		c->delay_ns = (uint32_t)((3 * (uint64_t)c->delay_ns + delay_ns + 2) / 4);
}

/* Includes the time in the hosts; without it, one round trip would count twice. */
static void rtt_sample(struct cc *c, uint32_t rtt_ns)
{
	if (c->rtt_ns == 0)
		c->rtt_ns = rtt_ns;
	else if (rtt_ns != 0)
		c->rtt_ns = (uint32_t)((7 * (uint64_t)c->rtt_ns + rtt_ns) / 8);
}

/* Adapts the window to the receiver's buffer once per round trip, like the ncwnd of Google's
 * Falcon. */
static void host_round(struct cc *c, uint8_t level)
{
	uint64_t most = (uint64_t)c->most * CC_ONE, w = c->host_window;

	if (level > RLTP_CC_HOST_LEVEL) {
		w = min_u64(w, c->window);
		w -= w * (min_u64(level, 31) - RLTP_CC_HOST_LEVEL) / 31;
	} else {
		w += w / 8 + CC_ONE;
	}
	c->host_window = (uint32_t)clamp_u64(w, CC_ONE, most);
}

/* Saturates, because peers send the counts. */
static uint32_t count_add(uint32_t count, uint32_t more)
{
	return (uint32_t)min_u64((uint64_t)count + more, INT32_MAX);
}

void cc_handshake_done(struct cc *c, uint64_t rtt_ns)
{
	c->min_delay_ns = c->path_ns = (uint32_t)clamp_u64(rtt_ns, 1, RLTP_DEAD_NS);
}

void cc_acked(struct cc *c, const struct cc_ack *ack)
{
	const struct cc_ops *module = modules[c->kind];

	rtt_sample(c, ack->rtt_ns);
	delay_sample(c, ack->delay_ns);
	c->acked = count_add(c->acked, ack->acked);
	c->marked = count_add(c->marked, ack->marked);
	c->marks |= ack->marked > 0;
	c->limited |= ack->limited;
	module->acked(c, ack);
	if (elapsed(ack->now_ns, c->round_ns) < round_length(c))
		return;
	module->round(c, ack);
	if (!module->steady)
		host_round(c, ack->rx_level);
	c->round_ns = ack->now_ns;
	c->round_delay_ns = 0;
	c->limited = c->marks = false;
}

void cc_lost(struct cc *c, uint32_t count, uint32_t inflight, uint64_t now_ns)
{
	if (count == 0)
		return;
	c->lost = count_add(c->lost, count);
	modules[c->kind]->lost(c, inflight, now_ns);
}

void cc_timeout(struct cc *c, uint64_t now_ns)
{
	modules[c->kind]->timeout(c, now_ns);
	cc_counts_clear(c);
}

uint32_t cc_window(const struct cc *c)
{
	return (uint32_t)max_u64(min_u64(c->window, c->host_window) / CC_ONE, 1);
}

uint32_t cc_window_fine(const struct cc *c)
{
	if (modules[c->kind]->steady)
		return CC_UNPACED;
	return (uint32_t)min_u64(c->window, c->host_window);
}

bool cc_wants_ecn(enum cc_kind kind)
{
	return (unsigned)kind < CC_KINDS && modules[kind]->ecn;
}

bool cc_parse(const char *text, enum cc_kind *out)
{
	for (int kind = 0; kind < CC_KINDS; kind++) {
		if (strcmp(text, modules[kind]->name) == 0) {
			*out = (enum cc_kind)kind;
			return true;
		}
	}
	return false;
}

const char *cc_name(enum cc_kind kind)
{
	return (unsigned)kind < CC_KINDS ? modules[kind]->name : NULL;
}
