/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers of the stream core for each of its users, such as the hosts of an xPU: settings, and
 * the result of the last stream. Any thread may call these functions. */
#ifndef ENGINE_BOARD_OWNERS_H
#define ENGINE_BOARD_OWNERS_H

#include <pthread.h>
#include <stdint.h>

/* They apply from a stream's start to its end. */
struct board_core_task {
	uint32_t core;
	uint32_t operand;
};

struct board_owner;

struct board_owners {
	pthread_mutex_t lock;
	struct board_core_task first; /* task of owners that have set none */
	struct board_owner *list;
};

void board_owners_open(struct board_owners *o, const struct board_core_task *first);
void board_owners_close(struct board_owners *o);

/* DXP_ENOMEM. */
int board_owners_set(struct board_owners *o, uint32_t owner, const struct board_core_task *task);
void board_owners_get(struct board_owners *o, uint32_t owner, struct board_core_task *task,
		      uint64_t *result);
/* Without memory for a new owner, its result stays 0. */
void board_owners_result(struct board_owners *o, uint32_t owner, uint64_t result);
/* The owner must have no running stream. */
void board_owners_drop(struct board_owners *o, uint32_t owner);

#endif
