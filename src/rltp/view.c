/* SPDX-License-Identifier: BSD-3-Clause */
/* Accessors of a session, and names of its options. */
#include <assert.h>
#include <string.h>

#include "rltp/internal.h"

_Static_assert((int)RLTP_IRN == (int)WIRE_RECOVERY_IRN &&
		       (int)RLTP_GBN_RTO == (int)WIRE_RECOVERY_GBN_RTO,
	       "the numbers are the wire's");

static const char *const recovery_names[RLTP_RECOVERIES] = {"rack", "irn", "gbn_nak", "gbn_rto"};

struct rltp_peer_info rltp_session_peer(const struct rltp_session *s)
{
	return (struct rltp_peer_info){
		.node = s->node,
		.outside = s->outside,
		.address = s->address,
		.incarnation = s->peer_incarnation,
		.payload_bytes = s->payload_bytes,
		.patience_ns = s->patience_ns,
	};
}

const struct udp_address *rltp_session_address(const struct rltp_session *s)
{
	return &s->address;
}

bool rltp_session_is_outside(const struct rltp_session *s)
{
	return s->outside;
}

bool rltp_session_is_open(const struct rltp_session *s)
{
	return s->state == RLTP_OPEN;
}

bool rltp_session_is_active(const struct rltp_session *s)
{
	return s->io != NULL;
}

uint16_t rltp_session_credit(const struct rltp_session *s)
{
	return s->peer_credit;
}

uint64_t rltp_session_received_ns(const struct rltp_session *s)
{
	return s->received_ns;
}

bool rltp_session_is_watched(const struct rltp_session *s)
{
	return s->watched;
}

const struct rltp_counters *rltp_session_counters(const struct rltp_session *s)
{
	return &s->counters;
}

void *rltp_session_owner(const struct rltp_session *s)
{
	return s->owner;
}

void rltp_session_owner_set(struct rltp_session *s, void *owner)
{
	s->owner = owner;
}

void rltp_session_await(struct rltp_session *s, uint64_t now_ns)
{
	if (s->awaited == 0 && !rltp_session_busy(s))
		s->received_ns = now_ns;
	s->awaited++;
}

void rltp_session_answered(struct rltp_session *s)
{
	assert(s->awaited > 0);
	s->awaited--;
}

void rltp_session_held(struct rltp_session *s)
{
	s->partial++;
}

void rltp_session_released(struct rltp_session *s)
{
	assert(s->partial > 0);
	s->partial--;
}

void rltp_session_view(const struct rltp_session *s, struct rltp_view *out)
{
	*out = (struct rltp_view){
		.node = s->node,
		.state = s->state,
		.unit = (uint16_t)(min_u64(s->unit, s->whole) - session_overhead(s)),
		.longest = (uint16_t)(s->unit - session_overhead(s)),
		.protect = s->protect,
		.keyed = s->seal && s->shared->seal->keyed(s->seal),
		.payload_crc = s->protect == WIRE_PROTECT_NONE && !(s->path & RLTP_PATH_INTACT),
		.agreed = (uint16_t)(s->whole - session_overhead(s)),
		.peer_window = s->peer_window,
		.srtt_ns = s->srtt_ns,
		.min_rtt_ns = s->min_rtt_ns,
		.min_delay_ns = s->path_ns,
		.pace_bps = UINT64_MAX,
		.counters = s->counters,
	};
	if (s->state != RLTP_OPEN)
		return;
	if (!s->io)
		return;
	out->searching = !pmtu_resting(s);
	out->window = session_window(s);
	out->window_fine = cc_window_fine(&s->io->cc);
	out->delay_ns = s->io->cc.delay_ns;
	out->min_delay_ns = s->io->cc.min_delay_ns;
	out->inflight = s->io->sent.count;
	out->lost = s->io->lost.count;
	out->waiting = s->io->waiting.count;
	out->reorder_window_ns = (uint32_t)recovery_reorder_window(s);
	if (s->io->pace.cost != 0)
		out->pace_bps = s->io->pace.rate_bps;
}

const char *rltp_recovery_name(enum rltp_recovery recovery)
{
	return recovery_names[recovery];
}

bool rltp_recovery_parse(const char *text, enum rltp_recovery *out)
{
	for (int i = 0; i < RLTP_RECOVERIES; i++) {
		if (strcmp(text, recovery_names[i]) == 0) {
			*out = (enum rltp_recovery)i;
			return true;
		}
	}
	return false;
}
