/* SPDX-License-Identifier: BSD-3-Clause */
/* The zygote: a process with an open engine and a loaded compiler, which forks workers. A fork
 * takes milliseconds; a new process half a second. The zygote reaps its workers. When the daemon
 * exits, they all exit too.
 *
 *  The functions are for the daemon, except zygote_main(), which `program` must call when its first
 *  argument is ZYGOTE_ARGUMENT. Single-threaded. */
#ifndef WORKER_ZYGOTE_H
#define WORKER_ZYGOTE_H

#include "worker/limits.h"
#include "worker/message.h"
#include "worker/sandbox.h"

#define ZYGOTE_ARGUMENT "--worker"

struct zygote;

struct zygote_options {
	const char *program; /* path */
	const char *engine;  /* see engine_options.name */
	/* of files kept after the exit, see folders.h; NULL: none */
	const char *cache_folder;
	bool cache_shared;     /* hosts trust each other: they share built programs */
	uint64_t memory_bytes; /* device memory, without WORKER_TAIL_BYTES */
	/* eventfd that wakes the daemon for a message; workers do not have it */
	int wakeup_fd;
	uint32_t spin_ns; /* see worker_server_options */
	struct sandbox_options sandbox;
};

/* zygote_start() copies descriptors and label. */
struct zygote_worker {
	uint32_t id;
	/* label under which built programs are kept; "": none are */
	const char *host;
	int rings_fd;
	/* eventfd for answers while the daemon sleeps */
	int wakeup_fd;
	int memory_fd; /* the tenant's device memory, and WORKER_TAIL_BYTES */
};

/* Waits until the engine is open. Copies the options. DXP_EIO: not started; DXP_EUNSUPPORTED: the
 * STRICT sandbox lacks a part; DXP_ENOMEM; others of engine_open(). Logs failures, and in mode AUTO
 * the parts that the machine lacks. */
int zygote_open(const struct zygote_options *options, struct zygote **out,
		struct engine_description *about);
/* Stops the zygote and kills all its workers. NULL is allowed. */
void zygote_close(struct zygote *z);

/* DXP_EAGAIN: too many requests, or the zygote is lost and may not restart yet. Retry at
 * zygote_deadline(). DXP_EIO: no zygote could be started (logged). */
int zygote_start(struct zygote *z, const struct zygote_worker *worker);
/* Returns the time at which to retry zygote_start(). */
uint64_t zygote_deadline(const struct zygote *z);
/* DXP_EAGAIN: retry. */
int zygote_kill(struct zygote *z, uint32_t id);

/* How a worker ended, and zygote_news.number. */
enum zygote_end {
	ZYGOTE_EXITED, /* exit status */
	ZYGOTE_KILLED, /* signal */
	ZYGOTE_FAILED, /* not started: errno */
};
struct zygote_news {
	uint32_t id;
	uint32_t end; /* enum zygote_end */
	int32_t number;
	/* Unused compiler's folder, which zygote_next() queues for removal. 0: none. */
	uint32_t unused;
};
/* The next exit of a worker, which runs no code any more. False: none. If the zygote is lost, its
 * workers have exited without reports; sets *lost, once. */
bool zygote_next(struct zygote *z, struct zygote_news *out, bool *lost);

/* `argv`: after ZYGOTE_ARGUMENT. Exits when the daemon closes its socket. */
int zygote_main(int argc, char **argv);

#endif
