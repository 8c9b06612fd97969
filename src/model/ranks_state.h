/* SPDX-License-Identifier: BSD-3-Clause */
/* State of one run, for ranks.c and ranks_match.c. */
#ifndef MODEL_RANKS_STATE_H
#define MODEL_RANKS_STATE_H

#include "model/queue.h"
#include "model/ranks.h"

#define NO_ENTRY UINT32_MAX

/* A message that is not received yet, or a posted receive. */
struct entry {
	int64_t at_ps; /* message: its arrival; receive: its post */
	uint64_t bytes;
	uint32_t from, to, tag, next;
	uint32_t send_op, receive_op;
	uint8_t receive;
	uint8_t request; /* announces a message that waits for its receive */
	uint8_t granted; /* the message's receive is known: receive_op */
};

struct bucket {
	uint32_t head, tail;
};

/* Messages and receives by (from, to, tag). Those of one key are ordered by arrival, and are either
 * all messages or all receives. */
struct match {
	struct entry *entries;
	uint32_t used, space, unused; /* unused: head of the list of free entries */
	struct bucket *buckets;
	uint32_t mask;
};

int model_match_open(struct match *m, uint32_t ranks);
void model_match_close(struct match *m);
/* Returns the index of a copy; NO_ENTRY: no memory. */
uint32_t model_match_new(struct match *m, const struct entry *e);
void model_match_free(struct match *m, uint32_t index);
void model_match_store(struct match *m, uint32_t index);
/* Removes and returns the oldest entry with this key, if it is a receive (`receive`) or a message
 * (otherwise); NO_ENTRY: none. */
uint32_t model_match_find(struct match *m, uint32_t from, uint32_t to, uint32_t tag, bool receive);
/* Returns the stored receive (`receive`) or message of the lowest rank; NULL: none. */
const struct entry *model_match_any(const struct match *m, bool receive);

#endif
