/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between zygote.c and zygote_main.c over their socket. Each is one struct. */
#ifndef WORKER_ZYGOTE_INTERNAL_H
#define WORKER_ZYGOTE_INTERNAL_H

#include "worker/zygote.h"

/* Inherited descriptors. ZYGOTE_MEMORY: in the zygote, a page in which it counts its messages; in a
 * worker, its tenant's device memory. */
enum zygote_fd { ZYGOTE_SOCKET = 3, ZYGOTE_MEMORY, ZYGOTE_WAKEUP, ZYGOTE_FDS };

/* to the zygote when its parent exits */
#define ZYGOTE_ORPHAN_SIGNAL SIGUSR2
#define ZYGOTE_START_FDS     3    /* carried by a START */
#define ZYGOTE_NEWS_BYTES    4096 /* of the page shared with the daemon */

/* First message: result of the start, and facts about the engine. */
struct zygote_hello {
	int32_t status;
	uint32_t kind; /* enum engine_kind */
	uint32_t compute_units;
	uint8_t memory_kind, streams, reaches_host;
	char name[32];
	char device[FABRIC_DEVICE_BYTES];
};

/* zygote_warm.c. Waits for a permit to warm the engine, of which there is one per two CPUs, or
 * until the socket is readable. Returns a descriptor that holds the permit, or -1. `cache`: a
 * folder of this user; NULL: no permits. */
int zygote_warm_wait(const char *cache, int socket);

enum zygote_action { ZYGOTE_START, ZYGOTE_KILL };
struct zygote_request {
	/* enum zygote_action; a START carries the descriptors of struct zygote_worker, in this
	 * order */
	uint32_t action;
	uint32_t id;
	char host[WORKER_LABEL_BYTES]; /* START */
};

#endif
