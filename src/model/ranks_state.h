/* SPDX-License-Identifier: BSD-3-Clause */
/* State of one run, for ranks.c and ranks_match.c. */
#ifndef MODEL_RANKS_STATE_H
#define MODEL_RANKS_STATE_H

#include "model/queue.h"
#include "model/ranks.h"

#define NO_ENTRY UINT32_MAX

/* A message that is not received yet, or a receive that was posted. */
struct entry {
	/* for a message, time of its arrival; for a receive, time of its post */
	int64_t at_ps;
	uint64_t bytes;
	uint32_t from, to, tag, next;
	uint32_t send_op, receive_op;
	uint8_t receive;
	uint8_t request; /* 1: announces a message that waits for its receive */
	uint8_t granted; /* 1: the receive of the message is known, receive_op */
};

struct bucket {
	uint32_t head, tail;
};

/* Messages and receives, found by the key (from, to, tag). Entries with the same key are in the
 * order of arrival, and are either all messages or all receives. */
struct match {
	struct entry *entries;
	/* `unused`: head of the list of free entries */
	uint32_t used, space, unused;
	struct bucket *buckets;
	uint32_t mask;
};

int model_match_open(struct match *m, uint32_t ranks);
void model_match_close(struct match *m);
/* Returns the index of a copy of *e; NO_ENTRY: no memory. */
uint32_t model_match_new(struct match *m, const struct entry *e);
void model_match_free(struct match *m, uint32_t index);
void model_match_store(struct match *m, uint32_t index);
/* Finds the oldest entry with this key, removes it and returns it. `receive`: looks for a receive,
 * else for a message. NO_ENTRY: there is none. */
uint32_t model_match_find(struct match *m, uint32_t from, uint32_t to, uint32_t tag, bool receive);
/* Returns the stored entry of the lowest rank. `receive`: of receives, else of messages. NULL:
 * there is none. */
const struct entry *model_match_any(const struct match *m, bool receive);

#endif
