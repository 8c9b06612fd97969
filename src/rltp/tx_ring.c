/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring of packets in flight, by packet number. Lists link sent packets in send order, lost ones
 * in order of detection, and rejected ones. Links are indices, so that the ring can be reallocated.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "rltp/internal.h"

static void list_clear(struct tx_list *list)
{
	*list = (struct tx_list){TX_NONE, TX_NONE, 0};
}

void tx_ring_reset(struct rltp_io *io)
{
	memset(io->tx, 0, io->tx_size * sizeof(*io->tx));
	list_clear(&io->sent);
	list_clear(&io->lost);
	list_clear(&io->waiting);
	io->inflight = 0;
}

int tx_ring_create(struct rltp_io *io)
{
	io->tx_size = RLTP_TX_RING_MIN;
	io->tx = malloc(io->tx_size * sizeof(*io->tx));
	if (!io->tx)
		return DXP_ENOMEM;
	tx_ring_reset(io);
	return DXP_OK;
}

static uint16_t moved(const struct rltp_io *io, uint16_t index, uint32_t mask)
{
	return index == TX_NONE ? TX_NONE : (uint16_t)(io->tx[index].psn & mask);
}

static void list_move(const struct rltp_io *io, struct tx_list *list, uint32_t mask)
{
	list->first = moved(io, list->first, mask);
	list->last = moved(io, list->last, mask);
}

static bool tx_ring_grow(struct rltp_io *io, uint32_t next)
{
	uint32_t size = 2 * io->tx_size, mask = size - 1;
	struct tx_entry *tx = calloc(size, sizeof(*tx));

	if (!tx)
		return false;
	for (uint32_t psn = io->tx_una; psn != next; psn++) {
		struct tx_entry *entry = &tx[psn & mask];
		*entry = *tx_entry_at(io, psn);
		entry->previous = moved(io, entry->previous, mask);
		entry->next = moved(io, entry->next, mask);
	}
	list_move(io, &io->sent, mask);
	list_move(io, &io->lost, mask);
	list_move(io, &io->waiting, mask);
	free(io->tx);
	io->tx = tx;
	io->tx_size = size;
	return true;
}

/* Out of memory is no error: the window stays shorter. */
bool tx_ring_has_space(struct rltp_session *s)
{
	uint32_t span = s->tx_next - s->io->tx_una;

	if (span >= WIRE_WINDOW_MAX)
		return false;
	if (span < s->io->tx_size || tx_ring_grow(s->io, s->tx_next))
		return true;
	s->io->ring_short = true;
	return false;
}

static struct tx_list *list_of(struct rltp_io *io, enum tx_state state)
{
	return state == TX_SENT ? &io->sent : state == TX_LOST ? &io->lost : &io->waiting;
}

void tx_entry_enter(struct rltp_io *io, struct tx_entry *entry, enum tx_state state)
{
	struct tx_list *list = list_of(io, state);
	uint16_t index = (uint16_t)(entry - io->tx);

	if (state == TX_SENT)
		io->inflight += entry->message->weight;
	entry->state = (uint8_t)state;
	entry->previous = list->last;
	entry->next = TX_NONE;
	if (list->last == TX_NONE)
		list->first = index;
	else
		io->tx[list->last].next = index;
	list->last = index;
	list->count++;
}

void tx_entry_leave(struct rltp_io *io, struct tx_entry *entry)
{
	assert(entry->state == TX_SENT || entry->state == TX_LOST || entry->state == TX_WAIT);
	struct tx_list *list = list_of(io, (enum tx_state)entry->state);

	if (entry->state == TX_SENT)
		io->inflight -= entry->message->weight;
	if (entry->previous == TX_NONE)
		list->first = entry->next;
	else
		io->tx[entry->previous].next = entry->next;
	if (entry->next == TX_NONE)
		list->last = entry->previous;
	else
		io->tx[entry->next].previous = entry->previous;
	list->count--;
}

struct tx_entry *tx_entry_first(struct rltp_io *io, const struct tx_list *list)
{
	return list->first == TX_NONE ? NULL : &io->tx[list->first];
}

struct tx_entry *tx_entry_next(struct rltp_io *io, const struct tx_entry *entry)
{
	return entry->next == TX_NONE ? NULL : &io->tx[entry->next];
}
