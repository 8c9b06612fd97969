/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of zygote.c and zygote_main.c over their socket, one struct each. */
#ifndef WORKER_ZYGOTE_INTERNAL_H
#define WORKER_ZYGOTE_INTERNAL_H

#include "worker/zygote.h"

/* Numbers of the descriptors that the zygote inherits. MEMORY: a page that counts its messages; in
 * a worker, its tenant's device memory. */
enum zygote_fd { ZYGOTE_SOCKET = 3, ZYGOTE_MEMORY, ZYGOTE_WAKEUP, ZYGOTE_FDS };

#define ZYGOTE_ORPHAN_SIGNAL SIGUSR2 /* the kernel sends it when the parent process exits */
#define ZYGOTE_START_FDS     3       /* descriptors beside a START */
#define ZYGOTE_NEWS_BYTES    4096    /* shared by daemon and zygote: a page */

/* The zygote's first message. */
struct zygote_hello {
	int32_t status;
	uint32_t kind; /* enum engine_kind */
	uint32_t compute_units;
	uint8_t memory_kind, streams, reaches_host;
	char name[32];
	char device[FABRIC_DEVICE_BYTES];
};

/* zygote_warm.c: waits for a permit to warm the engine, or until the socket is readable. There is
 * one permit per two CPUs of the machine. Returns a descriptor that holds the permit until it is
 * closed, or -1. `cache`: a folder of this user; NULL: there are no permits. */
int zygote_warm_wait(const char *cache, int socket);

enum zygote_action { ZYGOTE_START, ZYGOTE_KILL };
struct zygote_request {
	uint32_t action; /* START carries the descriptors of struct zygote_worker, in its order */
	uint32_t id;
	char host[WORKER_LABEL_BYTES]; /* START */
};

#endif
