/* SPDX-License-Identifier: BSD-3-Clause */
/* A process with the engine open and its compiler loaded, which forks workers on request: a fork
 * takes milliseconds, a fresh process half a second. Workers are its children, and it reaps them.
 * It exits when the daemon exits, and its workers exit with it.
 *
 * The daemon's side is below. The process itself is zygote_main, which `program` must call when its
 * first argument is ZYGOTE_ARGUMENT. Single-threaded. */
#ifndef WORKER_ZYGOTE_H
#define WORKER_ZYGOTE_H

#include "worker/limits.h"
#include "worker/message.h"
#include "worker/sandbox.h"

#define ZYGOTE_ARGUMENT "--worker"

struct zygote;

struct zygote_options {
	const char *program;      /* to start, with its path */
	const char *engine;       /* see engine_options.name */
	const char *cache_folder; /* folder of files that are kept, see folders.h; NULL: none */
	bool cache_shared;        /* hosts trust each other, so they share built programs */
	uint64_t memory_bytes;    /* bytes of device memory, without WORKER_TAIL_BYTES */
	int wakeup_fd;    /* an eventfd that wakes the daemon for news; workers do not have it */
	uint32_t spin_ns; /* see worker_server_options */
	struct sandbox_options sandbox;
};

/* Describes a worker to start. The caller may close the descriptors and free the label after
 * zygote_start. */
struct zygote_worker {
	uint32_t id;
	const char *host; /* label of the tenant, whose programs are kept; "": nothing is kept */
	int rings_fd;
	/* an eventfd that the worker writes when it answers while the daemon sleeps */
	int wakeup_fd;
	int memory_fd; /* the tenant's device memory, and WORKER_TAIL_BYTES behind it */
};

/* Starts the zygote and waits until its engine is open; copies the options. DXP_EIO: it cannot be
 * started; DXP_EUNSUPPORTED: the sandbox is STRICT and lacks a part; other statuses of
 * engine_open(). Logs failures, and parts of the sandbox that the machine lacks in mode AUTO. */
int zygote_open(const struct zygote_options *options, struct zygote **out,
		struct engine_description *about);
/* Stops the zygote and kills all its workers. NULL is allowed. */
void zygote_close(struct zygote *z);

/* Requests a worker.
 * DXP_EAGAIN: too many requests, or the zygote is lost and may not be restarted yet: retry at
 * zygote_deadline. DXP_EIO: no zygote could be started (logged). */
int zygote_start(struct zygote *z, const struct zygote_worker *worker);
/* Returns when to retry zygote_start. */
uint64_t zygote_deadline(const struct zygote *z);
/* Kills a worker soon, if it has not exited. DXP_EAGAIN: retry. */
int zygote_kill(struct zygote *z, uint32_t id);

enum zygote_end {
	ZYGOTE_EXITED, /* `number`: its exit status */
	ZYGOTE_KILLED, /* `number`: the signal */
	ZYGOTE_FAILED, /* `number`: the errno of the failed start */
};
struct zygote_news {
	uint32_t id;
	uint32_t end; /* enum zygote_end */
	int32_t number;
	/* if not 0: number of an unused folder, which zygote_next() queues for removal */
	uint32_t unused;
};
/* Fetches the next exit of a worker, which no longer runs any code. Returns false if there is none.
 * If the zygote itself is lost, all its workers have exited without a report: sets *lost, once. */
bool zygote_next(struct zygote *z, struct zygote_news *out, bool *lost);

/* Runs the zygote; `argv` starts behind ZYGOTE_ARGUMENT. Does not return: the process exits when
 * the daemon closes its socket. */
int zygote_main(int argc, char **argv);

#endif
