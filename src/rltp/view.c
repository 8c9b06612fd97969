/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshot of a session for display, and names of its options. */
#include <string.h>

#include "rltp/internal.h"

_Static_assert((int)RLTP_IRN == (int)WIRE_RECOVERY_IRN &&
		       (int)RLTP_GBN_RTO == (int)WIRE_RECOVERY_GBN_RTO,
	       "the numbers are the wire's");

static const char *const recovery_names[RLTP_RECOVERIES] = {"rack", "irn", "gbn_nak", "gbn_rto"};

void rltp_session_view(const struct rltp_session *s, struct rltp_view *out)
{
	*out = (struct rltp_view){
		.node = s->node,
		.state = s->state,
		.unit = s->unit,
		.agreed = s->agreed,
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
	out->window = session_window(s);
	out->window_fine = cc_window_fine(&s->io->cc);
	out->delay_ns = s->io->cc.delay_ns;
	out->min_delay_ns = s->io->cc.min_delay_ns;
	out->inflight = s->io->sent.count;
	out->lost = s->io->lost.count;
	out->waiting = s->io->waiting.count;
	out->reorder_window_ns = (uint32_t)reorder_window(s);
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
