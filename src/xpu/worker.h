/* SPDX-License-Identifier: BSD-3-Clause */
/* The slot's side of a worker, in which kernels run. A worker is a thread of this process that
 * serves all hosts, or a process that serves one host. Both run the same code behind the same two
 * rings (server.h). Orders run one after another. Each order completes once, even if the worker is
 * lost.
 *
 * Used by the slot's thread only. */
#ifndef XPU_WORKER_H
#define XPU_WORKER_H

#include <pthread.h>
#include <stdbool.h>

#include "worker/message.h"

struct slot;
struct tenant;
struct order;

struct order_end {
	int status;
	int32_t native; /* the device driver's code of a failure; 0: none */
	/* true: the worker reported the end of the order; false: the worker was lost or never
	 * started */
	bool ran;
	uint64_t started_ns, ended_ns;
	const char *text; /* sentence that explains a failure, or "" */
};

struct order_ops {
	/* Receives output of the order: WORKER_LOG or WORKER_DATA. NULL: it has none. */
	void (*data)(struct order *o, uint32_t kind, const void *data, uint32_t bytes);
	void (*end)(struct order *o, const struct order_end *end); /* last call for the order */
	/* Describes the order, as the subject of a sentence. NULL: the subject is the process
	 * itself. */
	void (*describe)(const struct order *o, char *out, size_t space);
};

/* An order, as a part of its owner's struct. The struct, and the data that `parts` points to, must
 * stay valid until `end` is called. */
struct order {
	struct order *next;
	struct tenant *tenant;
	const struct order_ops *ops;
	uint32_t kind; /* enum worker_order_kind */
	struct worker_parts parts;
};

struct worker {
	struct slot *slot;
	struct tenant *tenant; /* host of the worker; NULL: a thread for all hosts */
	uint32_t id;           /* number of the process */
	int rings_fd;          /* rings of a process that may have to be started; else -1 */
	int wakeup_fd;         /* eventfd of the process; open while `rings_fd` is open */
	uint32_t starts;       /* start requests sent to the zygote */
	bool requested;        /* the present zygote has got the start request */
	struct worker_rings *rings;
	struct worker_side orders, answers;
	struct order *first, **tail; /* orders that have not completed, oldest first */
	struct order *unposted;      /* first order that waits for space in the ring */
	uint32_t ended;              /* number of completed orders */
	struct {
		uint32_t ended;      /* value of `ended` when the first order became first */
		bool seen, notified; /* since_ns is valid; the host was notified of this order */
		uint64_t since_ns;   /* time when a poll first found the oldest order running */
	} running;
	uint8_t print_last; /* last byte that kernels printed */
	uint32_t commands;  /* engine commands that were posted and have not completed */
	bool started;       /* the thread exists, or the exit of the process will be reported */
	bool ends;          /* the process must be killed */
	bool notified;      /* the zygote has got the request to kill the process */
	pthread_t thread;
};

/* Starts a worker thread. Returns DXP_ENOMEM, or DXP_EIO if no thread could be created (logged). */
int worker_open_thread(struct slot *s, struct worker **out);
/* Starts a worker process. The caller must then let it map its host's memory and rebuild the host's
 * programs. If the start fails later, the worker counts as lost. DXP_ENOMEM, DXP_EIO: it cannot be
 * started. */
int worker_open_process(struct tenant *t, struct worker **out);
/* Returns true if the process cannot be started yet: its zygote is lost, and the next zygote may
 * not start so soon. Its orders wait. */
bool worker_waits(const struct worker *c);
/* Tries to start the process. DXP_EAGAIN: not possible yet. DXP_EIO: the worker has already
 * dequeued an order, so it cannot start again. Other statuses: see zygote_start(). */
int worker_begin(struct worker *c);
/* Handles the loss of the zygote. True: the process had accepted no order, and waits to be started
 * again. */
bool worker_begin_again(struct worker *c);
/* Frees a worker. A thread first completes the order that it runs; other orders complete with
 * DXP_ECLOSED. A process must have exited. */
void worker_close(struct worker *c);

/* Posts an order. The worker owns the order until it calls the order's `end`. */
void worker_post(struct worker *c, struct order *o);
/* Requests the end of a process. worker_lost follows soon. */
void worker_kill(struct worker *c);
/* Processes answers, and posts orders that the ring has space for. Returns the number of both; 0:
 * there was nothing to do. */
uint32_t worker_poll(struct worker *c);
/* Handle the exit of a worker. Call worker_last first, which processes the last answers, unless
 * worker_kill was called. Then worker_lost completes all other orders with `status`, and the first
 * of them with `text`. */
void worker_last(struct worker *c);
void worker_lost(struct worker *c, int status, const char *text);
/* Notifies the host, once per command, of a command that has run for XPU_BEGUN_NS. Returns the
 * number of notifications: 0 or 1. */
uint32_t worker_begun_notify(struct worker *c, uint64_t now_ns);
/* Returns the time at which worker_begun_notify must be called again; UINT64_MAX: never. */
uint64_t worker_begun_deadline(const struct worker *c);
/* Announces that the slot's thread will sleep. False: there is work for worker_poll. */
bool worker_sleeping(struct worker *c);
void worker_resumed(struct worker *c);

#endif
