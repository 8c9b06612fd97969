/* SPDX-License-Identifier: BSD-3-Clause */
/* The slot's side of a worker, in which kernels run: a thread of this process for all hosts, or a
 * process for one, with the same code behind the same two rings (server.h). Orders run one after
 * another. Each completes once, even if the worker is lost.
 *
 * Only for the slot's thread. */
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
	int32_t native; /* driver's code; 0: none */
	/* false: the worker was lost or never started it */
	bool ran;
	uint64_t started_ns, ended_ns;
	const char *text; /* explains a failure, or "" */
	struct dxp_event_cycles cycles;
};

struct order_ops {
	/* WORKER_LOG or WORKER_DATA. NULL: none. */
	void (*data)(struct order *o, uint32_t kind, const void *data, uint32_t bytes);
	void (*end)(struct order *o, const struct order_end *end); /* last call for the order */
	/* Writes the order as the subject of a sentence. NULL: the process itself. */
	void (*describe)(const struct order *o, char *out, size_t space);
};

/* Part of its owner's struct; it and what `parts` names stay valid until `end`. */
struct order {
	struct order *next;
	struct tenant *tenant;
	const struct order_ops *ops;
	uint32_t kind; /* enum worker_order_kind */
	struct worker_parts parts;
};

struct worker {
	struct slot *slot;
	struct tenant *tenant; /* NULL: a thread for all hosts */
	uint32_t id;           /* id of the process */
	int rings_fd;          /* of a process that may have to be started; else -1 */
	int wakeup_fd;         /* open while `rings_fd` is */
	uint32_t starts;       /* requests sent to the zygote */
	bool requested;        /* of the present zygote */
	struct worker_rings *rings;
	struct worker_side orders, answers;
	struct order *first, **tail; /* incomplete, oldest first */
	struct order *unposted;      /* first without space in the ring */
	uint32_t ended;              /* completed orders */
	struct {
		uint32_t ended;      /* when the first order became first */
		bool seen, notified; /* since_ns is valid; the host was notified */
		uint64_t since_ns;   /* when a poll first found the oldest order running */
	} running;
	uint8_t print_last; /* last byte that kernels printed */
	uint32_t commands;  /* incomplete engine commands */
	uint64_t run_ns;    /* moving average of run times */
	bool started;       /* the thread exists, or an exit will be reported */
	bool ends;          /* the process must be killed */
	bool notified;      /* the zygote has the request to kill it */
	pthread_t thread;
};

/* DXP_ENOMEM, DXP_EIO: no thread (logged). */
int worker_open_thread(struct slot *s, struct worker **out);
/* The caller must then map the host's memory and rebuild its programs. If the start fails later,
 * the worker counts as lost. DXP_ENOMEM, DXP_EIO: it cannot be started. */
int worker_open_process(struct tenant *t, struct worker **out);
/* The zygote is lost, and the next may not start so soon: orders wait. */
bool worker_waits(const struct worker *c);
/* DXP_EAGAIN: not possible yet. DXP_EIO: the worker has dequeued an order. Others: see
 * zygote_start(). */
int worker_begin(struct worker *c);
/* The zygote is lost. True: no order was accepted, so the process waits for a new start. */
bool worker_begin_again(struct worker *c);
/* A thread first completes its running order; others complete with DXP_ECLOSED. A process must have
 * exited. */
void worker_close(struct worker *c);

/* The worker owns the order until it calls `end`. */
void worker_post(struct worker *c, struct order *o);
/* worker_lost follows soon. */
void worker_kill(struct worker *c);
/* Processes answers and posts orders; returns the number of both. */
uint32_t worker_poll(struct worker *c);
/* These are called after a worker's exit. worker_last processes the last answers, unless
 * worker_kill was called. Then worker_lost completes all other orders with `status`, and the first
 * with `text`. */
void worker_last(struct worker *c);
void worker_lost(struct worker *c, int status, const char *text);
/* Once, for a command that has run for XPU_BEGUN_NS. Returns 0 or 1. */
uint32_t worker_begun_notify(struct worker *c, uint64_t now_ns);
uint64_t worker_begun_deadline(const struct worker *c);
/* Announces a sleep. False: there is work for worker_poll. */
bool worker_sleeping(struct worker *c);
void worker_resumed(struct worker *c);

#endif
