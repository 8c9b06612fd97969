/* SPDX-License-Identifier: BSD-3-Clause */
/* Loss detection methods for comparison, as in their papers; for benchmarks and tests. IRN (SIGCOMM
 * 2018): a packet missing in the bitmap below its highest one is lost, once. A lost retransmission
 * waits for the timeout. Go-back-N (InfiniBand): retransmits everything from the gap. */
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

/* Walks the ring, not the list: retransmissions leave in order of packet numbers. */
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
