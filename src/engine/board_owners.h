/* SPDX-License-Identifier: BSD-3-Clause */
/* The stream core's registers for each of its users, such as the hosts of an xPU: what a user sets
 * applies to its own streams, and it reads the result of its own last stream. Any thread may call
 * these functions. */
#ifndef ENGINE_BOARD_OWNERS_H
#define ENGINE_BOARD_OWNERS_H

#include <pthread.h>
#include <stdint.h>

/* Settings at a stream's start. */
struct board_core_task {
	uint32_t core; /* enum engine_core */
	uint32_t operand;
};

struct board_owner;

struct board_owners {
	pthread_mutex_t lock;         /* guards all below */
	struct board_core_task first; /* settings of owners that have set none */
	struct board_owner *list;
};

void board_owners_open(struct board_owners *o, const struct board_core_task *first);
void board_owners_close(struct board_owners *o);

/* DXP_ENOMEM. */
int board_owners_set(struct board_owners *o, uint32_t owner, const struct board_core_task *task);
void board_owners_get(struct board_owners *o, uint32_t owner, struct board_core_task *task,
		      uint64_t *result);
/* Stores the result of an owner's stream. If memory for a new owner is short, the result stays
 * 0. */
void board_owners_result(struct board_owners *o, uint32_t owner, uint64_t result);
/* Forgets an owner that has no stream. */
void board_owners_drop(struct board_owners *o, uint32_t owner);

#endif
