/* SPDX-License-Identifier: BSD-3-Clause */
/* The zygote: a process that has opened the engine and loaded its compiler, and forks workers on
 * request. A fork takes milliseconds; a new process takes half a second. Workers are children of
 * the zygote, and the zygote reaps them. When the daemon exits, the zygote and its workers exit
 * too.
 *
 * The functions below are for the daemon, except zygote_main(), which runs the zygote. `program`
 * must call zygote_main() when its first argument is ZYGOTE_ARGUMENT. Single-threaded. */
#ifndef WORKER_ZYGOTE_H
#define WORKER_ZYGOTE_H

#include "worker/limits.h"
#include "worker/message.h"
#include "worker/sandbox.h"

#define ZYGOTE_ARGUMENT "--worker"

struct zygote;

struct zygote_options {
	const char *program; /* path of the program to start as zygote */
	const char *engine;  /* name of the engine, see engine_options.name */
	/* folder of files that are kept after the zygote exits, see folders.h; NULL: none */
	const char *cache_folder;
	bool cache_shared;     /* hosts trust each other, so they share built programs */
	uint64_t memory_bytes; /* bytes of device memory, without WORKER_TAIL_BYTES */
	/* an eventfd that wakes the daemon when the zygote sends a message; workers do not have
	 * it */
	int wakeup_fd;
	uint32_t spin_ns; /* ns of spinning, see worker_server_options */
	struct sandbox_options sandbox;
};

/* A worker to start. After zygote_start() the caller may close the descriptors and free the
 * label. */
struct zygote_worker {
	uint32_t id;
	/* label of the tenant, under which built programs are kept; "": no programs are kept */
	const char *host;
	int rings_fd;
	/* an eventfd that the worker writes when it answers while the daemon sleeps */
	int wakeup_fd;
	int memory_fd; /* the tenant's device memory, and WORKER_TAIL_BYTES behind it */
};

/* Starts the zygote and waits until its engine is open. Copies the options. DXP_EIO: the zygote
 * cannot be started; DXP_EUNSUPPORTED: the sandbox is STRICT and lacks a part; DXP_ENOMEM; other
 * statuses of engine_open(). Logs failures. In mode AUTO, also logs the parts of the sandbox that
 * the machine lacks. */
int zygote_open(const struct zygote_options *options, struct zygote **out,
		struct engine_description *about);
/* Stops the zygote and kills all its workers. NULL is allowed. */
void zygote_close(struct zygote *z);

/* Requests a worker.
 * DXP_EAGAIN: there are too many requests, or the zygote is lost and may not be restarted yet.
 * Retry at zygote_deadline(). DXP_EIO: no zygote could be started (logged). */
int zygote_start(struct zygote *z, const struct zygote_worker *worker);
/* Returns the time at which to retry zygote_start(). */
uint64_t zygote_deadline(const struct zygote *z);
/* Requests that a worker be killed, if it has not exited. DXP_EAGAIN: retry. */
int zygote_kill(struct zygote *z, uint32_t id);

/* How a worker ended, and what zygote_news.number is. */
enum zygote_end {
	ZYGOTE_EXITED, /* `number` is the exit status */
	ZYGOTE_KILLED, /* `number` is the signal */
	ZYGOTE_FAILED, /* the worker could not be started; `number` is the errno */
};
struct zygote_news {
	uint32_t id;
	uint32_t end; /* enum zygote_end */
	int32_t number;
	/* Number of a compiler's folder that is not used any more; zygote_next() queues the folder
	 * for removal. 0: none. */
	uint32_t unused;
};
/* Fetches the next exit of a worker. The worker no longer runs any code. Returns false if no
 * further worker has exited. If the zygote itself is lost, its workers have exited without reports;
 * the function then sets *lost, once. */
bool zygote_next(struct zygote *z, struct zygote_news *out, bool *lost);

/* Runs the zygote. `argv` starts after ZYGOTE_ARGUMENT. Does not return: the process exits when the
 * daemon closes its socket. */
int zygote_main(int argc, char **argv);

#endif
