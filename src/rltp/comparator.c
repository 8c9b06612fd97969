/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways of finding losses that RLTP is compared with, as their papers have them; for benchmarks
 * and tests. IRN (SIGCOMM 2018): what the bitmap misses below its highest packet is lost, once; a
 * repeat that is lost too waits for the timeout. Go-back-N (InfiniBand): everything from the gap on
 * is sent again. */
#include "rltp/internal.h"

void irn_losses(struct rltp_session *s, uint32_t highest)
{
	struct rltp_io *io = s->io;

	for (struct tx_slot *slot = slot_first(io, &io->sent), *next; slot; slot = next) {
		next = slot_next(io, slot);
		if (slot->tries == 1 && seq_before(slot->psn, highest)) {
			slot_lost(s, slot);
			slot->cause = DATAGRAM_CAUSE_GAP;
			s->counters.retransmitted_gap++;
		}
	}
}

/* The ring, not the list: repeats are sent in the order of their numbers. */
void gbn_rewind(struct rltp_session *s)
{
	struct rltp_io *io = s->io;

	for (uint32_t psn = io->tx_una; psn != s->tx_next; psn++) {
		struct tx_slot *slot = tx_slot_at(io, psn);
		if (slot->state == TX_SENT) {
			slot_lost(s, slot);
			slot->cause = DATAGRAM_CAUSE_GAP;
			s->counters.retransmitted_gap++;
		}
	}
}
