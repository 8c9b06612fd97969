/* SPDX-License-Identifier: BSD-3-Clause */
/* Loss detection methods as in their papers, for comparison.
 * - IRN (SIGCOMM 2018): a packet missing in the bitmap below the highest one is lost, once. If the
 *   retransmission is lost too, IRN waits for the timeout.
 * - Go-back-N (InfiniBand): retransmits all packets from the first missing one. */
#include "rltp/internal.h"

void comparator_irn_losses(struct rltp_session *s, uint32_t highest)
{
	struct rltp_io *io = s->io;

	for (struct tx_entry *entry = tx_entry_first(io, &io->sent), *next; entry; entry = next) {
		next = tx_entry_next(io, entry);
		if (entry->tries == 1 && seq_before(entry->psn, highest)) {
			recovery_entry_lost(s, entry);
			entry->cause = DATAGRAM_CAUSE_GAP;
			s->counters.retransmitted_gap++;
		}
	}
}

/* Walks the ring, not the list, so that retransmissions are in order of packet numbers. */
void comparator_gbn_rewind(struct rltp_session *s)
{
	struct rltp_io *io = s->io;

	for (uint32_t psn = io->tx_una; psn != s->tx_next; psn++) {
		struct tx_entry *entry = tx_entry_at(io, psn);
		if (entry->state == TX_SENT) {
			recovery_entry_lost(s, entry);
			entry->cause = DATAGRAM_CAUSE_GAP;
			s->counters.retransmitted_gap++;
		}
	}
}
